// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls functions of every family through the wrappers of pmpi_test, in two ranks.
 *
 * Invariant: each call is seen once, and nothing else is seen beside it: the library calls no MPI_
 * name, not for its own messages either.
 */
#define _GNU_SOURCE
#include "pmpi_calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, made;

static void forget(void)
{
    for (int i = 0; i < pmpi_count; i++)
        pmpi_calls[i] = 0;
}

/* Exactly this one was called, and once. */
static void expect(const char *name)
{
    int found = 0;
    made++;
    for (int i = 0; i < pmpi_count; i++) {
        int expected = strcmp(pmpi_functions[i].name, name) == 0;
        found += expected;
        if (pmpi_calls[i] != (unsigned)expected) {
            fprintf(stderr, "a call of %s: %s was seen %u times\n", name, pmpi_functions[i].name,
                    pmpi_calls[i]);
            failures++;
        }
    }
    if (!found) {
        fprintf(stderr, "%s is in no table\n", name);
        failures++;
    }
}

#define CALL(function, ...)                                                                        \
    do {                                                                                           \
        forget();                                                                                  \
        (void)function(__VA_ARGS__);                                                               \
        expect(#function);                                                                         \
    } while (0)

/* Both names of every function lead where they should: to the wrapper and into the library. */
static void check_names(void)
{
    for (int i = 0; i < pmpi_count; i++) {
        const struct pmpi_function *f = &pmpi_functions[i];
        Dl_info real;
        if (!dladdr(f->real, &real) || !strstr(real.dli_fname, "libmpi_abi")) {
            fprintf(stderr, "P%s is not the library's\n", f->name);
            failures++;
        }
        if (f->real == f->wrapper) {
            fprintf(stderr, "%s cannot be replaced\n", f->name);
            failures++;
        }
    }
}

static int rank, other;
static char data[1 << 20], more[1 << 20];

static void messages(void)
{
    MPI_Request r[2], one;
    MPI_Status status, statuses[2];
    MPI_Message message;
    int flag, index, n, indices[2];
    char space[4096];
    void *back;
    CALL(MPI_Irecv, more, 8, MPI_CHAR, other, 1, MPI_COMM_WORLD, &r[0]);
    CALL(MPI_Isend, data, 8, MPI_CHAR, other, 1, MPI_COMM_WORLD, &r[1]);
    CALL(MPI_Waitall, 2, r, statuses);
    CALL(MPI_Get_count, &statuses[0], MPI_CHAR, &n);
    CALL(MPI_Irecv_c, more, sizeof more, MPI_CHAR, other, 1, MPI_COMM_WORLD, &one);
    CALL(MPI_Send, data, sizeof data, MPI_CHAR, other, 1, MPI_COMM_WORLD);
    CALL(MPI_Wait, &one, &status);
    CALL(MPI_Sendrecv, data, 9, MPI_CHAR, other, 2, more, 9, MPI_CHAR, other, 2, MPI_COMM_WORLD,
         &status);
    CALL(MPI_Sendrecv_replace, data, 9, MPI_CHAR, other, 2, other, 2, MPI_COMM_WORLD, &status);
    CALL(MPI_Isend, data, 5, MPI_CHAR, other, 3, MPI_COMM_WORLD, &one);
    CALL(MPI_Probe, other, 3, MPI_COMM_WORLD, &status);
    CALL(MPI_Mprobe, other, 3, MPI_COMM_WORLD, &message, &status);
    CALL(MPI_Mrecv, more, 5, MPI_CHAR, &message, &status);
    CALL(MPI_Waitany, 1, &one, &index, &status);
    CALL(MPI_Iprobe, other, 99, MPI_COMM_WORLD, &flag, &status);
    CALL(MPI_Recv_init, more, 4, MPI_CHAR, other, 4, MPI_COMM_WORLD, &r[0]);
    CALL(MPI_Send_init, data, 4, MPI_CHAR, other, 4, MPI_COMM_WORLD, &r[1]);
    CALL(MPI_Startall, 2, r);
    CALL(MPI_Waitsome, 2, r, &n, indices, statuses);
    CALL(MPI_Waitall, 2, r, statuses);
    CALL(MPI_Request_free, &r[0]);
    CALL(MPI_Request_free, &r[1]);
    CALL(MPI_Irecv, more, 1, MPI_CHAR, other, 5, MPI_COMM_WORLD, &one);
    CALL(MPI_Cancel, &one);
    CALL(MPI_Wait, &one, &status);
    CALL(MPI_Test_cancelled, &status, &flag);
    CALL(MPI_Buffer_attach, space, sizeof space);
    CALL(MPI_Bsend, data, 6, MPI_CHAR, other, 6, MPI_COMM_WORLD);
    CALL(MPI_Recv, more, 6, MPI_CHAR, other, 6, MPI_COMM_WORLD, &status);
    CALL(MPI_Buffer_detach, &back, &n);
    CALL(MPI_Precv_init, more, 2, 8, MPI_CHAR, other, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    CALL(MPI_Psend_init, data, 2, 8, MPI_CHAR, other, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    CALL(MPI_Startall, 2, r);
    CALL(MPI_Pready, 0, r[1]);
    CALL(MPI_Pready_range, 1, 1, r[1]);
    CALL(MPI_Waitall, 2, r, statuses);
    CALL(MPI_Request_free, &r[0]);
    CALL(MPI_Request_free, &r[1]);
}

static void collectives(void)
{
    int in[2] = {1, 2}, out[4] = {0}, sum = 0, counts[2] = {1, 1}, at[2] = {0, 1};
    MPI_Request one;
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    CALL(MPI_Bcast, data, 100000, MPI_CHAR, 0, MPI_COMM_WORLD);
    CALL(MPI_Allreduce, in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CALL(MPI_Reduce, in, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    CALL(MPI_Gather, in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CALL(MPI_Allgatherv, in, 1, MPI_INT, out, counts, at, MPI_INT, MPI_COMM_WORLD);
    CALL(MPI_Alltoall_c, in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    CALL(MPI_Scan, in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CALL(MPI_Reduce_scatter_block, in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CALL(MPI_Ibcast, data, 10, MPI_CHAR, 0, MPI_COMM_WORLD, &one);
    CALL(MPI_Wait, &one, MPI_STATUS_IGNORE);
    CALL(MPI_Allreduce_init, in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &one);
    CALL(MPI_Start, &one);
    CALL(MPI_Wait, &one, MPI_STATUS_IGNORE);
    CALL(MPI_Request_free, &one);
}

static void communicators(void)
{
    MPI_Comm dup, split, cart, inter, merged;
    MPI_Group group, part;
    MPI_Info info;
    MPI_Request one;
    int keyval, value, flag, two = 2, yes = 1, first = 0, name_len;
    void *attribute;
    char name[MPI_MAX_OBJECT_NAME];
    CALL(MPI_Comm_dup, MPI_COMM_WORLD, &dup);
    CALL(MPI_Comm_set_name, dup, "a name");
    CALL(MPI_Comm_get_name, dup, name, &name_len);
    CALL(MPI_Comm_create_keyval, MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    CALL(MPI_Comm_set_attr, dup, keyval, &value);
    CALL(MPI_Comm_get_attr, dup, keyval, &attribute, &flag);
    CALL(MPI_Comm_free_keyval, &keyval);
    CALL(MPI_Comm_idup, dup, &split, &one);
    CALL(MPI_Wait, &one, MPI_STATUS_IGNORE);
    CALL(MPI_Comm_free, &split);
    CALL(MPI_Comm_split, dup, rank, 0, &split);
    CALL(MPI_Intercomm_create, split, 0, dup, other, 1, &inter);
    CALL(MPI_Intercomm_merge, inter, rank, &merged);
    CALL(MPI_Comm_compare, dup, merged, &flag);
    CALL(MPI_Comm_free, &merged);
    CALL(MPI_Comm_free, &inter);
    CALL(MPI_Comm_free, &split);
    CALL(MPI_Cart_create, dup, 1, &two, &yes, 0, &cart);
    CALL(MPI_Cart_shift, cart, 0, 1, &value, &flag);
    CALL(MPI_Neighbor_allgather, &rank, 1, MPI_INT, (int[2]){0}, 1, MPI_INT, cart);
    CALL(MPI_Comm_free, &cart);
    CALL(MPI_Dims_create, 2, 1, (int[1]){0});
    CALL(MPI_Comm_group, dup, &group);
    CALL(MPI_Group_incl, group, 1, &first, &part);
    CALL(MPI_Group_free, &part);
    CALL(MPI_Comm_create_group, dup, group, 3, &split);
    CALL(MPI_Comm_free, &split);
    CALL(MPI_Group_free, &group);
    CALL(MPI_Comm_get_info, dup, &info);
    CALL(MPI_Info_free, &info);
    CALL(MPI_Comm_disconnect, &dup);
    CALL(MPI_Comm_toint, MPI_COMM_WORLD);
    CALL(MPI_Comm_fromint, 1);
}

static void types_and_operations(void)
{
    MPI_Datatype type, large;
    MPI_Aint at;
    int position = 0, size;
    CALL(MPI_Type_vector, 2, 1, 2, MPI_INT, &type);
    CALL(MPI_Type_commit, &type);
    CALL(MPI_Type_size, type, &size);
    CALL(MPI_Type_contiguous_c, 5, type, &large);
    CALL(MPI_Pack, data, 1, type, more, sizeof more, &position, MPI_COMM_WORLD);
    CALL(MPI_Pack_size, 1, type, MPI_COMM_WORLD, &size);
    CALL(MPI_Type_free, &large);
    CALL(MPI_Type_free, &type);
    CALL(MPI_Get_address, data, &at);
    CALL(MPI_Aint_add, at, 8);
    CALL(MPI_Reduce_local, data, more, 2, MPI_INT, MPI_MAX);
    CALL(MPI_Op_commutative, MPI_SUM, &size);
}

static void errors_info_sessions(void)
{
    MPI_Errhandler handler;
    MPI_Info info;
    MPI_Session session;
    int class, code, length, flag;
    char text[MPI_MAX_ERROR_STRING];
    void *memory;
    CALL(MPI_Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CALL(MPI_Comm_set_errhandler, MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CALL(MPI_Comm_get_errhandler, MPI_COMM_WORLD, &handler);
    CALL(MPI_Errhandler_free, &handler);
    CALL(MPI_Send, data, -1, MPI_CHAR, other, 1, MPI_COMM_WORLD); /* an error */
    CALL(MPI_Add_error_class, &class);
    CALL(MPI_Add_error_code, class, &code);
    CALL(MPI_Add_error_string, code, "text");
    CALL(MPI_Error_string, code, text, &length);
    CALL(MPI_Error_class, code, &class);
    CALL(MPI_Info_create, &info);
    CALL(MPI_Info_set, info, "key", "value");
    length = sizeof text;
    CALL(MPI_Info_get_string, info, "key", &length, text, &flag);
    CALL(MPI_Alloc_mem, 100, info, &memory);
    CALL(MPI_Free_mem, memory);
    CALL(MPI_Info_free, &info);
    CALL(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    CALL(MPI_Session_get_num_psets, session, MPI_INFO_NULL, &length);
    CALL(MPI_Session_finalize, &session);
    CALL(MPI_Get_hw_resource_info, &info);
    CALL(MPI_Info_free, &info);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    (void)status;
    return MPI_SUCCESS;
}

static int end(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void others(void)
{
    MPI_Request one;
    MPI_T_pvar_session session;
    MPI_Info info;
    MPI_Win win;
    MPI_File file;
    MPI_Comm children;
    int major, minor, number, length, codes[1];
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    CALL(MPI_Grequest_start, query, end, cancel, NULL, &one);
    CALL(MPI_Grequest_complete, one);
    CALL(MPI_Wait, &one, MPI_STATUS_IGNORE);
    CALL(MPI_T_init_thread, MPI_THREAD_SINGLE, &number);
    CALL(MPI_T_cvar_get_num, &number);
    CALL(MPI_T_pvar_session_create, &session);
    CALL(MPI_T_pvar_session_free, &session);
    CALL(MPI_T_event_get_num, &number);
    CALL(MPI_T_category_get_num, &number);
    CALL(MPI_T_source_get_num, &number);
    CALL(MPI_T_finalize);
    CALL(MPI_Pcontrol, 2);
    CALL(MPI_Pcontrol, 1, "more", 3.0);
    CALL(MPI_Abi_get_version, &major, &minor);
    CALL(MPI_Abi_get_info, &info);
    CALL(MPI_Info_free, &info);
    CALL(MPI_Get_version, &major, &minor);
    CALL(MPI_Get_library_version, text, &length);
    CALL(MPI_Get_processor_name, text, &length);
    CALL(MPI_Wtime);
    CALL(MPI_Wtick);
    CALL(MPI_Query_thread, &number);
    CALL(MPI_Initialized, &number);
    /* Not supported: they say so, and are seen all the same. */
    CALL(MPI_Win_create, data, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CALL(MPI_Put, data, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, MPI_WIN_NULL);
    CALL(MPI_File_open, MPI_COMM_WORLD, "no such file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    CALL(MPI_Comm_spawn, "no such program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
         &children, codes);
}

int main(int argc, char **argv)
{
    int size, provided, flag;
    check_names();
    CALL(MPI_Init_thread, &argc, &argv, MPI_THREAD_SINGLE, &provided);
    CALL(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    CALL(MPI_Comm_size, MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "this test needs 2 ranks and got %d\n", size);
        MPI_Abort(MPI_COMM_WORLD, 96);
    }
    other = 1 - rank;
    messages();
    collectives();
    communicators();
    types_and_operations();
    errors_info_sessions();
    others();
    CALL(MPI_Finalize);
    CALL(MPI_Finalized, &flag);
    if (rank == 0)
        printf("%d calls, each seen once; %d functions have wrappers\n", made, pmpi_count);
    return failures > 0;
}
