// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions of the standard that are not built yet: each reports MPI_ERR_UNSUPPORTED_OPERATION
 * to the error handler of its communicator, or of MPI_COMM_NULL's when it takes none. Those of the
 * tools interface return an error and call no handler, as the standard asks. Written by
 * abi/generate.py from abi/functions.tsv; do not edit.
 */
#include "core/mpi/api.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

WEFT_EXPORT(Accumulate);
int PMPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    return weft_api_unsupported("MPI_Accumulate", MPI_COMM_NULL);
}

WEFT_EXPORT(Accumulate_c);
int PMPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    return weft_api_unsupported("MPI_Accumulate_c", MPI_COMM_NULL);
}

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

WEFT_EXPORT(Compare_and_swap);
int PMPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                          MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    return weft_api_unsupported("MPI_Compare_and_swap", MPI_COMM_NULL);
}

WEFT_EXPORT(Fetch_and_op);
int PMPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    return weft_api_unsupported("MPI_Fetch_and_op", MPI_COMM_NULL);
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

WEFT_EXPORT(Get);
int PMPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    return weft_api_unsupported("MPI_Get", MPI_COMM_NULL);
}

WEFT_EXPORT(Get_c);
int PMPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win)
{
    return weft_api_unsupported("MPI_Get_c", MPI_COMM_NULL);
}

WEFT_EXPORT(Get_accumulate);
int PMPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        void *result_addr, int result_count, MPI_Datatype result_datatype,
                        int target_rank, MPI_Aint target_disp, int target_count,
                        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    return weft_api_unsupported("MPI_Get_accumulate", MPI_COMM_NULL);
}

WEFT_EXPORT(Get_accumulate_c);
int PMPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count,
                          MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                          MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win)
{
    return weft_api_unsupported("MPI_Get_accumulate_c", MPI_COMM_NULL);
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

WEFT_EXPORT(Put);
int PMPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
             MPI_Win win)
{
    return weft_api_unsupported("MPI_Put", MPI_COMM_NULL);
}

WEFT_EXPORT(Put_c);
int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win)
{
    return weft_api_unsupported("MPI_Put_c", MPI_COMM_NULL);
}

WEFT_EXPORT(Raccumulate);
int PMPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, int target_count,
                     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return weft_api_unsupported("MPI_Raccumulate", MPI_COMM_NULL);
}

WEFT_EXPORT(Raccumulate_c);
int PMPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count,
                       MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                       MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                       MPI_Request *request)
{
    return weft_api_unsupported("MPI_Raccumulate_c", MPI_COMM_NULL);
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

WEFT_EXPORT(Rget);
int PMPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request *request)
{
    return weft_api_unsupported("MPI_Rget", MPI_COMM_NULL);
}

WEFT_EXPORT(Rget_c);
int PMPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    return weft_api_unsupported("MPI_Rget_c", MPI_COMM_NULL);
}

WEFT_EXPORT(Rget_accumulate);
int PMPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                         void *result_addr, int result_count, MPI_Datatype result_datatype,
                         int target_rank, MPI_Aint target_disp, int target_count,
                         MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return weft_api_unsupported("MPI_Rget_accumulate", MPI_COMM_NULL);
}

WEFT_EXPORT(Rget_accumulate_c);
int PMPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count,
                           MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                           MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                           MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                           MPI_Win win, MPI_Request *request)
{
    return weft_api_unsupported("MPI_Rget_accumulate_c", MPI_COMM_NULL);
}

WEFT_EXPORT(Rput);
int PMPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
              int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
              MPI_Win win, MPI_Request *request)
{
    return weft_api_unsupported("MPI_Rput", MPI_COMM_NULL);
}

WEFT_EXPORT(Rput_c);
int PMPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    return weft_api_unsupported("MPI_Rput_c", MPI_COMM_NULL);
}

WEFT_EXPORT(Unpublish_name);
int PMPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
{
    return weft_api_unsupported("MPI_Unpublish_name", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_allocate);
int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                      MPI_Win *win)
{
    return weft_api_unsupported("MPI_Win_allocate", comm);
}

WEFT_EXPORT(Win_allocate_c);
int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                        void *baseptr, MPI_Win *win)
{
    return weft_api_unsupported("MPI_Win_allocate_c", comm);
}

WEFT_EXPORT(Win_allocate_shared);
int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                             void *baseptr, MPI_Win *win)
{
    return weft_api_unsupported("MPI_Win_allocate_shared", comm);
}

WEFT_EXPORT(Win_allocate_shared_c);
int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                               void *baseptr, MPI_Win *win)
{
    return weft_api_unsupported("MPI_Win_allocate_shared_c", comm);
}

WEFT_EXPORT(Win_attach);
int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    return weft_api_unsupported("MPI_Win_attach", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_call_errhandler);
int PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
    return weft_api_unsupported("MPI_Win_call_errhandler", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_complete);
int PMPI_Win_complete(MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_complete", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_create);
int PMPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                    MPI_Win *win)
{
    return weft_api_unsupported("MPI_Win_create", comm);
}

WEFT_EXPORT(Win_create_c);
int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win *win)
{
    return weft_api_unsupported("MPI_Win_create_c", comm);
}

WEFT_EXPORT(Win_create_dynamic);
int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    return weft_api_unsupported("MPI_Win_create_dynamic", comm);
}

WEFT_EXPORT(Win_delete_attr);
int PMPI_Win_delete_attr(MPI_Win win, int win_keyval)
{
    return weft_api_unsupported("MPI_Win_delete_attr", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_detach);
int PMPI_Win_detach(MPI_Win win, const void *base)
{
    return weft_api_unsupported("MPI_Win_detach", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_fence);
int PMPI_Win_fence(int assert, MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_fence", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_flush);
int PMPI_Win_flush(int rank, MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_flush", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_flush_all);
int PMPI_Win_flush_all(MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_flush_all", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_flush_local);
int PMPI_Win_flush_local(int rank, MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_flush_local", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_flush_local_all);
int PMPI_Win_flush_local_all(MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_flush_local_all", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_free);
int PMPI_Win_free(MPI_Win *win)
{
    return weft_api_unsupported("MPI_Win_free", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_get_attr);
int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{
    return weft_api_unsupported("MPI_Win_get_attr", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_get_errhandler);
int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
    return weft_api_unsupported("MPI_Win_get_errhandler", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_get_group);
int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    return weft_api_unsupported("MPI_Win_get_group", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_get_info);
int PMPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
    return weft_api_unsupported("MPI_Win_get_info", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_get_name);
int PMPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)
{
    return weft_api_unsupported("MPI_Win_get_name", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_lock);
int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_lock", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_lock_all);
int PMPI_Win_lock_all(int assert, MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_lock_all", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_post);
int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_post", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_set_attr);
int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
{
    return weft_api_unsupported("MPI_Win_set_attr", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_set_errhandler);
int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
    return weft_api_unsupported("MPI_Win_set_errhandler", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_set_info);
int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    return weft_api_unsupported("MPI_Win_set_info", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_set_name);
int PMPI_Win_set_name(MPI_Win win, const char *win_name)
{
    return weft_api_unsupported("MPI_Win_set_name", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_shared_query);
int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    return weft_api_unsupported("MPI_Win_shared_query", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_shared_query_c);
int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                            void *baseptr)
{
    return weft_api_unsupported("MPI_Win_shared_query_c", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_start);
int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_start", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_sync);
int PMPI_Win_sync(MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_sync", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_test);
int PMPI_Win_test(MPI_Win win, int *flag)
{
    return weft_api_unsupported("MPI_Win_test", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_unlock);
int PMPI_Win_unlock(int rank, MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_unlock", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_unlock_all);
int PMPI_Win_unlock_all(MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_unlock_all", MPI_COMM_NULL);
}

WEFT_EXPORT(Win_wait);
int PMPI_Win_wait(MPI_Win win)
{
    return weft_api_unsupported("MPI_Win_wait", MPI_COMM_NULL);
}
