// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions of the standard that are not built yet: each reports MPI_ERR_UNSUPPORTED_OPERATION
 * to the error handler of its communicator, or of MPI_COMM_NULL's when it takes none. Those of the
 * tools interface return an error and call no handler, as the standard asks. Written by
 * abi/generate.py from abi/functions.tsv; do not edit.
 */
#include "core/mpi/api.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

WEFT_EXPORT(Close_port);
int PMPI_Close_port(const char *port_name)
{
    return weft_api_unsupported("MPI_Close_port", MPI_COMM_NULL);
}

WEFT_EXPORT(Comm_accept);
int PMPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm *newcomm)
{
    return weft_api_unsupported("MPI_Comm_accept", comm);
}

WEFT_EXPORT(Comm_connect);
int PMPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm *newcomm)
{
    return weft_api_unsupported("MPI_Comm_connect", comm);
}

WEFT_EXPORT(Comm_join);
int PMPI_Comm_join(int fd, MPI_Comm *intercomm)
{
    return weft_api_unsupported("MPI_Comm_join", MPI_COMM_NULL);
}

WEFT_EXPORT(Comm_spawn);
int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    return weft_api_unsupported("MPI_Comm_spawn", comm);
}

WEFT_EXPORT(Comm_spawn_multiple);
int PMPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                             const int array_of_maxprocs[], const MPI_Info array_of_info[],
                             int root, MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    return weft_api_unsupported("MPI_Comm_spawn_multiple", comm);
}

WEFT_EXPORT(File_close);
int PMPI_File_close(MPI_File *fh)
{
    return weft_api_unsupported("MPI_File_close", MPI_COMM_NULL);
}

WEFT_EXPORT(File_delete);
int PMPI_File_delete(const char *filename, MPI_Info info)
{
    return weft_api_unsupported("MPI_File_delete", MPI_COMM_NULL);
}

WEFT_EXPORT(File_get_amode);
int PMPI_File_get_amode(MPI_File fh, int *amode)
{
    return weft_api_unsupported("MPI_File_get_amode", MPI_COMM_NULL);
}

WEFT_EXPORT(File_get_atomicity);
int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
    return weft_api_unsupported("MPI_File_get_atomicity", MPI_COMM_NULL);
}

WEFT_EXPORT(File_get_byte_offset);
int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
    return weft_api_unsupported("MPI_File_get_byte_offset", MPI_COMM_NULL);
}

WEFT_EXPORT(File_get_group);
int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    return weft_api_unsupported("MPI_File_get_group", MPI_COMM_NULL);
}

WEFT_EXPORT(File_get_info);
int PMPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{
    return weft_api_unsupported("MPI_File_get_info", MPI_COMM_NULL);
}

WEFT_EXPORT(File_get_position);
int PMPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
    return weft_api_unsupported("MPI_File_get_position", MPI_COMM_NULL);
}

WEFT_EXPORT(File_get_position_shared);
int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    return weft_api_unsupported("MPI_File_get_position_shared", MPI_COMM_NULL);
}

WEFT_EXPORT(File_get_size);
int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    return weft_api_unsupported("MPI_File_get_size", MPI_COMM_NULL);
}

WEFT_EXPORT(File_get_type_extent);
int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent)
{
    return weft_api_unsupported("MPI_File_get_type_extent", MPI_COMM_NULL);
}

WEFT_EXPORT(File_get_type_extent_c);
int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent)
{
    return weft_api_unsupported("MPI_File_get_type_extent_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_get_view);
int PMPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                       char *datarep)
{
    return weft_api_unsupported("MPI_File_get_view", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iread);
int PMPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iread", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iread_c);
int PMPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iread_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iread_all);
int PMPI_File_iread_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                        MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iread_all", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iread_all_c);
int PMPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iread_all_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iread_at);
int PMPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iread_at", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iread_at_c);
int PMPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iread_at_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iread_at_all);
int PMPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                           MPI_Datatype datatype, MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iread_at_all", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iread_at_all_c);
int PMPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iread_at_all_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iread_shared);
int PMPI_File_iread_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iread_shared", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iread_shared_c);
int PMPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iread_shared_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iwrite);
int PMPI_File_iwrite(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                     MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iwrite", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iwrite_c);
int PMPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iwrite_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iwrite_all);
int PMPI_File_iwrite_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                         MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iwrite_all", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iwrite_all_c);
int PMPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iwrite_all_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iwrite_at);
int PMPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                        MPI_Datatype datatype, MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iwrite_at", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iwrite_at_c);
int PMPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iwrite_at_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iwrite_at_all);
int PMPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                            MPI_Datatype datatype, MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iwrite_at_all", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iwrite_at_all_c);
int PMPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iwrite_at_all_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iwrite_shared);
int PMPI_File_iwrite_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                            MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iwrite_shared", MPI_COMM_NULL);
}

WEFT_EXPORT(File_iwrite_shared_c);
int PMPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Request *request)
{
    return weft_api_unsupported("MPI_File_iwrite_shared_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_open);
int PMPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    return weft_api_unsupported("MPI_File_open", comm);
}

WEFT_EXPORT(File_preallocate);
int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    return weft_api_unsupported("MPI_File_preallocate", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read);
int PMPI_File_read(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_c);
int PMPI_File_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_all);
int PMPI_File_read_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_all", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_all_c);
int PMPI_File_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_all_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_all_begin);
int PMPI_File_read_all_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    return weft_api_unsupported("MPI_File_read_all_begin", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_all_begin_c);
int PMPI_File_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return weft_api_unsupported("MPI_File_read_all_begin_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_all_end);
int PMPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_all_end", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_at);
int PMPI_File_read_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_at", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_at_c);
int PMPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_at_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_at_all);
int PMPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                          MPI_Datatype datatype, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_at_all", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_at_all_c);
int PMPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_at_all_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_at_all_begin);
int PMPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, int count,
                                MPI_Datatype datatype)
{
    return weft_api_unsupported("MPI_File_read_at_all_begin", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_at_all_begin_c);
int PMPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                                  MPI_Datatype datatype)
{
    return weft_api_unsupported("MPI_File_read_at_all_begin_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_at_all_end);
int PMPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_at_all_end", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_ordered);
int PMPI_File_read_ordered(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_ordered", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_ordered_c);
int PMPI_File_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_ordered_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_ordered_begin);
int PMPI_File_read_ordered_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    return weft_api_unsupported("MPI_File_read_ordered_begin", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_ordered_begin_c);
int PMPI_File_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return weft_api_unsupported("MPI_File_read_ordered_begin_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_ordered_end);
int PMPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_ordered_end", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_shared);
int PMPI_File_read_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_shared", MPI_COMM_NULL);
}

WEFT_EXPORT(File_read_shared_c);
int PMPI_File_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_read_shared_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_seek);
int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
    return weft_api_unsupported("MPI_File_seek", MPI_COMM_NULL);
}

WEFT_EXPORT(File_seek_shared);
int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    return weft_api_unsupported("MPI_File_seek_shared", MPI_COMM_NULL);
}

WEFT_EXPORT(File_set_atomicity);
int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
    return weft_api_unsupported("MPI_File_set_atomicity", MPI_COMM_NULL);
}

WEFT_EXPORT(File_set_info);
int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
    return weft_api_unsupported("MPI_File_set_info", MPI_COMM_NULL);
}

WEFT_EXPORT(File_set_size);
int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    return weft_api_unsupported("MPI_File_set_size", MPI_COMM_NULL);
}

WEFT_EXPORT(File_set_view);
int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                       const char *datarep, MPI_Info info)
{
    return weft_api_unsupported("MPI_File_set_view", MPI_COMM_NULL);
}

WEFT_EXPORT(File_sync);
int PMPI_File_sync(MPI_File fh)
{
    return weft_api_unsupported("MPI_File_sync", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write);
int PMPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                    MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_c);
int PMPI_File_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_all);
int PMPI_File_write_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                        MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_all", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_all_c);
int PMPI_File_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_all_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_all_begin);
int PMPI_File_write_all_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    return weft_api_unsupported("MPI_File_write_all_begin", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_all_begin_c);
int PMPI_File_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                MPI_Datatype datatype)
{
    return weft_api_unsupported("MPI_File_write_all_begin_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_all_end);
int PMPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_all_end", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_at);
int PMPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                       MPI_Datatype datatype, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_at", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_at_c);
int PMPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_at_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_at_all);
int PMPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                           MPI_Datatype datatype, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_at_all", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_at_all_c);
int PMPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_at_all_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_at_all_begin);
int PMPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                                 MPI_Datatype datatype)
{
    return weft_api_unsupported("MPI_File_write_at_all_begin", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_at_all_begin_c);
int PMPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                                   MPI_Datatype datatype)
{
    return weft_api_unsupported("MPI_File_write_at_all_begin_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_at_all_end);
int PMPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_at_all_end", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_ordered);
int PMPI_File_write_ordered(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_ordered", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_ordered_c);
int PMPI_File_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_ordered_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_ordered_begin);
int PMPI_File_write_ordered_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    return weft_api_unsupported("MPI_File_write_ordered_begin", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_ordered_begin_c);
int PMPI_File_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                    MPI_Datatype datatype)
{
    return weft_api_unsupported("MPI_File_write_ordered_begin_c", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_ordered_end);
int PMPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_ordered_end", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_shared);
int PMPI_File_write_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_shared", MPI_COMM_NULL);
}

WEFT_EXPORT(File_write_shared_c);
int PMPI_File_write_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status)
{
    return weft_api_unsupported("MPI_File_write_shared_c", MPI_COMM_NULL);
}

WEFT_EXPORT(Lookup_name);
int PMPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)
{
    return weft_api_unsupported("MPI_Lookup_name", MPI_COMM_NULL);
}

WEFT_EXPORT(Open_port);
int PMPI_Open_port(MPI_Info info, char *port_name)
{
    return weft_api_unsupported("MPI_Open_port", MPI_COMM_NULL);
}

WEFT_EXPORT(Publish_name);
int PMPI_Publish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    return weft_api_unsupported("MPI_Publish_name", MPI_COMM_NULL);
}

WEFT_EXPORT(Register_datarep);
int PMPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
                          MPI_Datarep_conversion_function *write_conversion_fn,
                          MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    return weft_api_unsupported("MPI_Register_datarep", MPI_COMM_NULL);
}

WEFT_EXPORT(Register_datarep_c);
int PMPI_Register_datarep_c(const char *datarep,
                            MPI_Datarep_conversion_function_c *read_conversion_fn,
                            MPI_Datarep_conversion_function_c *write_conversion_fn,
                            MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    return weft_api_unsupported("MPI_Register_datarep_c", MPI_COMM_NULL);
}

WEFT_EXPORT(Unpublish_name);
int PMPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    return weft_api_unsupported("MPI_Unpublish_name", MPI_COMM_NULL);
}
