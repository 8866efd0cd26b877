// SPDX-License-Identifier: BSD-3-Clause
/*
 * Functions of src/core/mpi that entry points call: checks of arguments, and steps that do not fit
 * into abi/entry_points.txt. A function that returns int returns MPI_SUCCESS, or an error class
 * whose sentence was recorded by weft_error_set; the entry point raises the error when it leaves.
 * The arguments are those of the MPI function, with objects instead of handles that were resolved.
 */
#ifndef WEFT_MPI_ENTRY_H
#define WEFT_MPI_ENTRY_H

#include "core/base/callback.h"
#include "core/coll/stage.h"
#include "core/comm/comm_make.h"
#include "core/comm/connect.h"
#include "core/comm/names.h"
#include "core/comm/spawn.h"
#include "core/file/file.h"
#include "core/mpi/arg.h"
#include "core/mpi/request_call.h"
#include "core/mpi/tool_arg.h"
#include "core/pt2pt/bsend.h"
#include "core/rma/win.h"

/* abi.c */
void weft_mpi_abi_get_fortran_booleans(int size, void *is_true, void *is_false, int *is_set);
int weft_mpi_abi_get_fortran_info(MPI_Info *info);
int weft_mpi_abi_set_fortran_booleans(int size, void *is_true, void *is_false);
int weft_mpi_abi_set_fortran_info(struct weft_info *info);
int weft_mpi_check_logical(int size, void *is_true, void *is_false);
int weft_mpi_describe_abi(struct weft_info **made);

/* attr.c */
int weft_mpi_create_keyval(enum weft_kind kind, union weft_attribute_copy copy,
                           union weft_attribute_delete delete, int *number, void *extra);
int weft_mpi_delete_attr(struct weft_attributed of, int number);
int weft_mpi_free_keyval(enum weft_kind kind, int *number);
int weft_mpi_get_attr(struct weft_attributed of, int number, void *value, int *flag);
int weft_mpi_set_attr(struct weft_attributed of, int number, void *value);

/* bsend.c */
int weft_mpi_buffer_attach(struct weft_bsend_owner owner, void *buffer, MPI_Count size);
int weft_mpi_buffer_detach(struct weft_bsend_owner owner, void *buffer_addr, MPI_Count *size);
int weft_mpi_buffer_detach_int(struct weft_bsend_owner owner, void *buffer_addr, int *size);

/* cancel.c */
int weft_mpi_cancel(MPI_Request *handle, struct weft_comm **comm);
int weft_mpi_request_free(MPI_Request *handle, struct weft_comm **comm);

/* comm.c */
int weft_mpi_check_color(int color);
int weft_mpi_check_port(struct weft_comm *comm, int root, const char *name, MPI_Info info);
int weft_mpi_check_leaders(struct weft_comm *local, int leader, MPI_Comm peer, int remote_leader,
                           int tag, const MPI_Comm *newcomm);
int weft_mpi_check_made(struct weft_comm *comm, struct weft_group *group, int tag,
                        const MPI_Comm *newcomm);
int weft_mpi_check_split_type(int type);
int weft_mpi_check_subgroup(struct weft_comm *comm, struct weft_group *group);
int weft_mpi_comm_compare(struct weft_comm *one, struct weft_comm *two, int *result);
int weft_mpi_comm_disconnect(struct weft_comm *comm);
int weft_mpi_comm_free(struct weft_comm *comm);

/* spawn.c */
int weft_mpi_check_spawn_root(struct weft_comm *comm, int root);
int weft_mpi_comm_spawn(const char *command, char **argv, int maxprocs, MPI_Info info, int root,
                        struct weft_comm *comm, int *errcodes, struct weft_comm **made);
int weft_mpi_comm_spawn_multiple(int count, char **commands, char ***argvs, const int *maxprocs,
                                 const MPI_Info *infos, int root, struct weft_comm *comm,
                                 int *errcodes, struct weft_comm **made);

/* datatype.c */
MPI_Datatype weft_mpi_pair_type(MPI_Datatype value_type, MPI_Datatype index_type);
int weft_mpi_status_set_elements(MPI_Status *status, struct weft_datatype *type, MPI_Count count);
int weft_mpi_type_dup(struct weft_datatype *old, struct weft_datatype **made);
int weft_mpi_type_free(struct weft_datatype *type);
int weft_mpi_type_match_size(int typeclass, int size, MPI_Datatype *datatype);
int weft_mpi_type_set_name(struct weft_datatype *type, const char *name);

/* datatype_contents.c */
int weft_mpi_check_derived(struct weft_datatype *type);
int weft_mpi_check_results(bool given);
int weft_mpi_check_small(struct weft_datatype *type, const char *function);
/* A handle that the program frees (weft_datatype_return), and that handle after an error. */
int weft_mpi_type_return(const struct weft_datatype *type, MPI_Datatype *handle);
void weft_mpi_type_take_back(MPI_Datatype handle);
int weft_mpi_type_get_contents(struct weft_datatype *type, MPI_Count max_integers,
                               MPI_Count max_addresses, MPI_Count max_large, MPI_Count max_types,
                               int integers[], MPI_Aint addresses[], MPI_Count large[],
                               MPI_Datatype types[]);
void weft_mpi_type_get_envelope(struct weft_datatype *type, int *num_integers, int *num_addresses,
                                int *num_datatypes, int *combiner);
void weft_mpi_type_get_envelope_c(struct weft_datatype *type, MPI_Count *num_integers,
                                  MPI_Count *num_addresses, MPI_Count *num_large_counts,
                                  MPI_Count *num_datatypes, int *combiner);

/* dist_graph.c */
int weft_mpi_check_edges(struct weft_comm *comm, int n, const int *sources, const int *degrees,
                         const int *targets, const int *weights);
int weft_mpi_check_neighbors(struct weft_comm *comm, int in, const int *sources,
                             const int *source_weights, int out, const int *destinations,
                             const int *destination_weights);
int weft_mpi_dist_graph_create(struct weft_comm *comm, int n, const int *sources,
                               const int *degrees, const int *targets, const int *weights,
                               struct weft_info *info, int reorder, struct weft_comm **made);
int weft_mpi_dist_graph_create_adjacent(struct weft_comm *comm, int in, const int *sources,
                                        const int *source_weights, int out, const int *destinations,
                                        const int *destination_weights, struct weft_info *info,
                                        int reorder, struct weft_comm **made);
int weft_mpi_dist_graph_neighbors(struct weft_comm *comm, int maxin, int sources[],
                                  int source_weights[], int maxout, int destinations[],
                                  int destination_weights[]);

/* env.c */
int weft_mpi_describe_hardware(struct weft_info **made);
void weft_mpi_get_library_version(char *version, int *length);
void weft_mpi_get_processor_name(char *name, int *length);

/* errhandler.c */
MPI_Errhandler weft_mpi_give_errhandler(struct weft_errhandler *errhandler);
int weft_mpi_error_class(int errorcode, int *errorclass);
int weft_mpi_error_string(int errorcode, char *string, int *resultlen);
void weft_mpi_replace_errhandler(struct weft_errhandler **where, struct weft_errhandler *handler);

/* For a call on the communicator, or on its window or file. */
static inline bool weft_arg_is_revoked(const struct weft_comm *comm)
{
    return weft_entry_flags & WEFT_ENTRY_REVOKED && comm->revoked;
}

/* file.c */
struct weft_file_buffer {
    const void *at;
    MPI_Count count;
    MPI_Datatype type;
};
int weft_arg_file(MPI_File handle, struct weft_file **file);
int weft_arg_file_or_null(MPI_File handle, struct weft_file **file);
int weft_enter_file(const char *function, MPI_File handle); /* with the file's VCI */
int weft_leave_file(struct weft_file *file, int code, const char *function);
int weft_mpi_file_access(struct weft_file *file, unsigned flags, MPI_Offset offset,
                         const struct weft_file_buffer *buffer, MPI_Status *status);
int weft_mpi_file_begin(struct weft_file *file, unsigned flags, MPI_Offset offset,
                        const struct weft_file_buffer *buffer);
int weft_mpi_file_type_extent(const struct weft_file *file, const struct weft_datatype *type,
                              MPI_Aint *extent);
int weft_mpi_file_check_pointer(const struct weft_file *file);
int weft_mpi_file_end(struct weft_file *file, unsigned flags, MPI_Status *status);
struct weft_errhandler **weft_mpi_file_errhandler(struct weft_file *file);
int weft_mpi_file_get_view(const struct weft_file *file, MPI_Offset *disp, MPI_Datatype *etype,
                           MPI_Datatype *filetype, char *representation);
int weft_mpi_file_open(struct weft_comm *comm, const char *name, int amode,
                       const struct weft_info *info, struct weft_file **made);
int weft_mpi_file_set_view(struct weft_file *file, MPI_Offset disp, MPI_Datatype etype,
                           MPI_Datatype filetype, const char *representation, MPI_Info info);
int weft_mpi_file_start(struct weft_file *file, unsigned flags, MPI_Offset offset,
                        const struct weft_file_buffer *buffer, struct weft_request **started);

/* group.c */
int weft_mpi_check_members(struct weft_group *group, int n, const int *ranks);
int weft_mpi_check_translation(struct weft_group *group, int n, const int *ranks, int *translated);
struct weft_group *weft_mpi_group_leave_out(struct weft_group *group, int n, const int *ranks);
int weft_mpi_group_ranges(struct weft_group *group, int n, int ranges[][3], bool include,
                          struct weft_group **made);

/* info.c */
int weft_mpi_check_key(const char *key);
int weft_mpi_check_value(const char *value);
int weft_mpi_info_create_env(int argc, char *argv[], struct weft_info **made);
int weft_mpi_info_delete(struct weft_info *info, const char *key);
int weft_mpi_info_get(struct weft_info *info, const char *key, int length, char *value, int *flag);
int weft_mpi_info_get_nthkey(struct weft_info *info, int n, char *key);
int weft_mpi_info_get_string(struct weft_info *info, const char *key, int *space, char *value,
                             int *flag);
int weft_mpi_info_get_valuelen(struct weft_info *info, const char *key, int *length, int *flag);

/* memory.c */
int weft_mpi_alloc_mem(MPI_Aint size, struct weft_info *info, void *baseptr);
int weft_mpi_free_mem(void *base);

/* op.c */
int weft_mpi_check_local_buffers(const void *inbuf, void *inoutbuf, MPI_Count count,
                                 struct weft_datatype *type);
int weft_mpi_grequest_complete(MPI_Request handle);
int weft_mpi_op_free(struct weft_op *op);

/* pack.c */
int weft_mpi_check_external(const char *name);
int weft_mpi_pack_external(const void *inbuf, MPI_Count incount, struct weft_datatype *type,
                           void *outbuf, MPI_Count outsize, MPI_Count *position);
int weft_mpi_pack_external_size(MPI_Count count, struct weft_datatype *type, MPI_Count *size);
int weft_mpi_unpack_external(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                             MPI_Count outcount, struct weft_datatype *type);

/* partitioned.c */
int weft_mpi_parrived(struct weft_request *request, int partition, int *flag);
int weft_mpi_pready(struct weft_request *send, int partition);
int weft_mpi_pready_list(struct weft_request *send, int length, const int partitions[]);
int weft_mpi_pready_range(struct weft_request *send, int low, int high);

/* persistent.c */
int weft_mpi_start(MPI_Request *handle, struct weft_comm **comm);
int weft_mpi_startall(int count, MPI_Request handles[], struct weft_comm **comm);

/* probe.c */
int weft_mpi_imrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                    MPI_Request *request, struct weft_comm **comm);
int weft_mpi_mrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                   MPI_Status *status, struct weft_comm **comm);

/* request.c */
int weft_mpi_any(const char *function, enum weft_how how, int count, MPI_Request *handles,
                 int *index, int *flag, MPI_Status *status);
int weft_mpi_some(const char *function, enum weft_how how, int count, MPI_Request *handles,
                  int *outcount, int *indices, MPI_Status *statuses);
int weft_mpi_test(const char *function, enum weft_how how, MPI_Request *handle, int *flag,
                  MPI_Status *status);
int weft_mpi_test_all(const char *function, enum weft_how how, int count, MPI_Request *handles,
                      int *flag, MPI_Status *statuses);

/* session.c */
int weft_mpi_check_group_leaders(struct weft_group *local, int leader, MPI_Group remote_group,
                                 int remote_leader);
int weft_mpi_check_members_call(struct weft_group *group, const char *tag);
int weft_mpi_session_get_nth_pset(int n, int *length, char *name);
int weft_mpi_session_get_pset_info(struct weft_session *session, const char *name,
                                   struct weft_info **made);

/* tool.c */
int weft_mpi_category_get_index(const char *name, int *index);
void weft_mpi_category_get_info(int category, char *name, int *name_len, char *desc, int *desc_len,
                                int *num_cvars, int *num_pvars, int *num_categories);
int weft_mpi_category_list(enum weft_category_kind kind, int category, int len, int indices[]);
int weft_mpi_cvar_get_index(const char *name, int *index);
void weft_mpi_cvar_get_info(int index, char *name, int *name_len, int *verbosity,
                            MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                            int *bind, int *scope);
void weft_mpi_enum_get_item(const struct weft_tool_enum *enumeration, int index, int *value,
                            char *name, int *name_len);
void weft_mpi_event_copy(struct weft_event_instance *instance, void *buffer);
int weft_mpi_event_get_index(const char *name, int *index);
int weft_mpi_event_get_info(int index, char *name, int *name_len, int *verbosity,
                            MPI_Datatype types[], MPI_Aint displacements[], int *num_elements,
                            MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len,
                            int *bind);
int weft_mpi_no_hints(MPI_Info *info);
int weft_mpi_pvar_each(struct weft_pvar_session *session, MPI_T_pvar_handle handle,
                       int (*act)(struct weft_pvar_handle *));
int weft_mpi_pvar_get_index(const char *name, int var_class, int *index);
void weft_mpi_pvar_get_info(int index, char *name, int *name_len, int *verbosity, int *var_class,
                            MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                            int *bind, int *readonly, int *continuous, int *atomic);
int weft_mpi_source_get_info(char *name, int *name_len, char *desc, int *desc_len,
                             MPI_T_source_order *ordering, MPI_Count *ticks_per_second,
                             MPI_Count *max_ticks, MPI_Info *info);

/* topology.c */
int weft_mpi_cart_coords(struct weft_comm *comm, int rank, int maxdims, int coords[]);
int weft_mpi_cart_create(struct weft_comm *comm, int ndims, const int *dims, const int *periods,
                         int reorder, struct weft_comm **made);
int weft_mpi_cart_get(struct weft_comm *comm, int maxdims, int dims[], int periods[], int coords[]);
void weft_mpi_cart_map(struct weft_comm *comm, int ndims, const int *dims, int *newrank);
int weft_mpi_cart_rank(struct weft_comm *comm, const int *coords, int *rank);
int weft_mpi_cart_sub(struct weft_comm *comm, const int *remain, struct weft_comm **out);
int weft_mpi_check_dimension(struct weft_comm *comm, int direction);
int weft_mpi_check_graph(struct weft_comm *comm, int nnodes, const int *index, const int *edges);
int weft_mpi_check_grid(struct weft_comm *comm, int ndims, const int *dims, const int *periods);
int weft_mpi_check_remain(struct weft_comm *comm, const int *remain);
int weft_mpi_dims_create(int nnodes, int ndims, int dims[]);
int weft_mpi_graph_create(struct weft_comm *comm, int nnodes, const int *index, const int *edges,
                          int reorder, struct weft_comm **made);
int weft_mpi_graph_get(struct weft_comm *comm, int maxindex, int maxedges, int index[],
                       int edges[]);
void weft_mpi_graph_map(struct weft_comm *comm, int nnodes, const int *index, const int *edges,
                        int *newrank);
int weft_mpi_graph_neighbors(struct weft_comm *comm, int rank, int maxneighbors, int neighbors[]);
int weft_mpi_graph_neighbors_count(struct weft_comm *comm, int rank, int *nneighbors);

/* win.c */
int weft_mpi_check_lock_type(int lock_type);
int weft_mpi_check_predefined(MPI_Datatype datatype);
int weft_mpi_check_shared(struct weft_win *win, int rank);
int weft_mpi_win_get_attr(struct weft_win *win, int number, void *value, int *flag);
int weft_mpi_win_make(struct weft_comm *comm, int flavor, void *base, MPI_Aint size,
                      MPI_Aint disp_unit, MPI_Info info, struct weft_win **made);
int weft_mpi_win_free(struct weft_win *win);
int weft_mpi_win_shared_query(const struct weft_win *win, int rank, MPI_Aint *size, int *disp_unit,
                              void *baseptr);

#endif
