// SPDX-License-Identifier: BSD-3-Clause
/*
 * Faults that users reported to other MPIs and to other layers between MPIs, in what such a layer
 * converts; compiled by the other MPI's mpicc, on 2 ranks. Each function names the project and the
 * number of the report.
 */
#include <mpi.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int rank;

/* MPICH 7003: a file's error handler gets another handle than the program has. */
static MPI_File seen_file;
static MPI_Win seen_win;
static MPI_Comm seen_comm;
static int seen_code;

static void on_file(MPI_File *file, int *code, ...)
{
    seen_file = *file;
    seen_code = *code;
}

static void on_win(MPI_Win *win, int *code, ...)
{
    seen_win = *win;
    seen_code = *code;
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    seen_comm = *comm;
    seen_code = *code;
}

static void handlers(void)
{
    MPI_File file;
    MPI_Win win;
    MPI_Errhandler handler, got;
    int memory = 0;
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_create_errhandler(on_file, &handler);
    MPI_File_set_errhandler(file, handler);
    CHECK(MPI_File_call_errhandler(file, MPI_ERR_NO_SPACE) == MPI_SUCCESS);
    CHECK(seen_file == file && class_of(seen_code) == MPI_ERR_NO_SPACE);
    MPI_File_get_errhandler(file, &got);
    CHECK(got == handler);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&handler);
    MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL);
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_errhandler(on_win, &handler);
    MPI_Win_set_errhandler(win, handler);
    CHECK(class_of(MPI_Put(&memory, 1, MPI_INT, 99, 0, 1, MPI_INT, win)) == MPI_ERR_RANK);
    CHECK(seen_win == win && class_of(seen_code) == MPI_ERR_RANK);
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&win);
    /* the handler of an error on a predefined communicator */
    MPI_Comm_create_errhandler(on_comm, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    CHECK(MPI_Send(&memory, 1, MPI_INT, 99, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(seen_comm == MPI_COMM_WORLD && class_of(seen_code) == MPI_ERR_RANK);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
}

/* Open MPI 12206: a duplicate has the error handler of its origin. MPICH 6028: not all predefined
 * handlers can be set. mpi4py 514: the class of an invalid one is unknown to the program. */
static void inherited(void)
{
    MPI_Comm copy;
    MPI_Errhandler got;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_get_errhandler(copy, &got);
    CHECK(got == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&got);
    CHECK(class_of(MPI_Comm_set_errhandler(copy, MPI_ERRHANDLER_NULL)) == MPI_ERR_ARG);
    CHECK(MPI_Comm_set_errhandler(copy, MPI_ERRORS_ARE_FATAL) == MPI_SUCCESS);
#ifdef MPI_ERRORS_ABORT
    CHECK(MPI_Comm_set_errhandler(copy, MPI_ERRORS_ABORT) == MPI_SUCCESS);
    MPI_Comm_get_errhandler(copy, &got);
    CHECK(got == MPI_ERRORS_ABORT);
#endif
    MPI_Comm_free(&copy);
}

/* MPICH 7916: callbacks of attributes of a predefined datatype end the process. */
static MPI_Datatype seen_type;
static int deleted;

static int on_delete(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)key, (void)value, (void)extra;
    seen_type = type;
    deleted++;
    return MPI_SUCCESS;
}

static int on_copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void)key, (void)extra;
    seen_type = type;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int key, flag;
    void *value;
    MPI_Datatype copy;
    MPI_Type_create_keyval(on_copy, on_delete, &key, NULL);
    CHECK(MPI_Type_set_attr(MPI_INT, key, &key) == MPI_SUCCESS);
    CHECK(MPI_Type_set_attr(MPI_INT, key, &flag) == MPI_SUCCESS);
    CHECK(deleted == 1 && seen_type == MPI_INT);
    seen_type = MPI_DATATYPE_NULL;
    CHECK(MPI_Type_dup(MPI_INT, &copy) == MPI_SUCCESS && seen_type == MPI_INT);
    CHECK(MPI_Type_get_attr(copy, key, &value, &flag) == MPI_SUCCESS && flag && value == &flag);
    MPI_Datatype before = copy;
    MPI_Type_free(&copy);
    CHECK(deleted == 2 && seen_type == before);
    CHECK(MPI_Type_delete_attr(MPI_INT, key) == MPI_SUCCESS && deleted == 3);
    MPI_Type_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
    /* MPI.jl: constants that are functions of the library */
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_set_attr(MPI_INT, key, &key);
    MPI_Type_dup(MPI_INT, &copy);
    MPI_Type_get_attr(copy, key, &value, &flag);
    CHECK(flag && value == &key);
    MPI_Type_free(&copy);
    MPI_Type_delete_attr(MPI_INT, key);
    MPI_Type_free_keyval(&key);
}

/* MPICH 7835: classes and sentences of errors are those of another class. */
static void error_classes(void)
{
    static const struct {
        int class;
        const char *word;
    } rows[] = {{MPI_ERR_CONVERSION, "conver"}, {MPI_ERR_FILE_EXISTS, "exist"},
                {MPI_ERR_DUP_DATAREP, "data"},  {MPI_ERR_NO_SUCH_FILE, "file"},
                {MPI_ERR_RMA_SYNC, "sync"},     {MPI_ERR_QUOTA, "quota"},
                {MPI_ERR_TRUNCATE, "trunc"},    {MPI_ERR_IN_STATUS, "status"}};
    char text[MPI_MAX_ERROR_STRING];
    int length, code, class, other;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK(class_of(rows[i].class) == rows[i].class);
        CHECK(MPI_Error_string(rows[i].class, text, &length) == MPI_SUCCESS);
        if (!strcasestr(text, rows[i].word)) {
            printf("class %d: %s\n", rows[i].class, text);
            bad++;
        }
    }
    MPI_File file = MPI_FILE_NULL;
    code = MPI_File_open(MPI_COMM_SELF, "/none/such", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    CHECK(class_of(code) == MPI_ERR_NO_SUCH_FILE && file == MPI_FILE_NULL);
    /* classes and codes of the user's */
    CHECK(MPI_Add_error_class(&class) == MPI_SUCCESS && class > MPI_ERR_LASTCODE);
    CHECK(MPI_Add_error_code(class, &code) == MPI_SUCCESS && class_of(code) == class);
    CHECK(MPI_Add_error_code(MPI_ERR_TAG, &other) == MPI_SUCCESS && other != code);
    CHECK(class_of(other) == MPI_ERR_TAG);
    MPI_Add_error_string(code, "mine");
    MPI_Error_string(code, text, &length);
    CHECK(length == 4 && strcmp(text, "mine") == 0);
}

/* MPICH 7930: entries beyond the contents of a datatype are changed. */
static void contents(void)
{
    MPI_Datatype made, types[5], before[5];
    MPI_Aint addresses[5];
    int integers[5] = {7, 7, 7, 7, 7}, i, n[3], combiner, lengths[2] = {1, 2};
    MPI_Aint at[2] = {0, 8};
    MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE};
    memset(types, 0x5a, sizeof types);
    memcpy(before, types, sizeof types);
    MPI_Type_create_struct(2, lengths, at, parts, &made);
    MPI_Type_get_envelope(made, &n[0], &n[1], &n[2], &combiner);
    CHECK(n[0] == 3 && n[1] == 2 && n[2] == 2 && combiner == MPI_COMBINER_STRUCT);
    CHECK(MPI_Type_get_contents(made, 5, 5, 5, integers, addresses, types) == MPI_SUCCESS);
    CHECK(types[0] == MPI_INT && types[1] == MPI_DOUBLE && integers[3] == 7);
    for (i = 2; i < 5; i++)
        CHECK(memcmp(&types[i], &before[i], sizeof types[i]) == 0);
    MPI_Type_free(&made);
    /* a distributed array: constants of both kinds come back */
    int sizes[2] = {4, 4}, distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
    int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 1}, all[13];
    MPI_Type_create_darray(2, rank, 2, sizes, distribs, dargs, grid, MPI_ORDER_FORTRAN, MPI_INT,
                           &made);
    MPI_Type_get_contents(made, 13, 0, 1, all, addresses, types);
    CHECK(all[5] == MPI_DISTRIBUTE_BLOCK && all[6] == MPI_DISTRIBUTE_NONE);
    CHECK(all[7] == MPI_DISTRIBUTE_DFLT_DARG && all[11] == MPI_ORDER_FORTRAN);
    MPI_Type_free(&made);
}

/* A block size of a distributed array is the value of the standard's MPI_DISTRIBUTE_DFLT_DARG. */
static void block_sizes(void)
{
    enum { ALL = 400 };
    int all = ALL, two = 2, in[ALL], packed[ALL], n, contents[8];
    MPI_Datatype made, types[1];
    MPI_Aint none[1];
    for (int i = 0; i < ALL; i++)
        in[i] = i;
    for (int block = 1; block <= 40; block++) {
        int cyclic = MPI_DISTRIBUTE_CYCLIC, kind = MPI_DISTRIBUTE_BLOCK, at = 0, bytes, wrong = 0;
        CHECK(MPI_Type_create_darray(2, rank, 1, &all, &cyclic, &block, &two, MPI_ORDER_C, MPI_INT,
                                     &made) == MPI_SUCCESS);
        MPI_Type_get_contents(made, 8, 0, 1, contents, none, types);
        CHECK(contents[5] == block);
        MPI_Type_commit(&made);
        MPI_Type_size(made, &bytes);
        MPI_Pack(in, 1, made, packed, (int)sizeof packed, &at, MPI_COMM_SELF);
        n = 0;
        for (int i = 0; i < ALL; i++)
            if (i / block % 2 == rank)
                wrong += packed[n++] != i;
        CHECK(n * (int)sizeof(int) == bytes && at == bytes && !wrong);
        MPI_Type_free(&made);
        /* two blocks that together are larger than the array */
        n = block + block / 2;
        CHECK(MPI_Type_create_darray(2, rank, 1, &n, &kind, &block, &two, MPI_ORDER_C, MPI_INT,
                                     &made) == MPI_SUCCESS);
        MPI_Type_size(made, &bytes);
        CHECK(bytes == (rank ? n - block : block) * (int)sizeof(int));
        MPI_Type_free(&made);
    }
    int no_size = -2147483647 - 1, kind = MPI_DISTRIBUTE_CYCLIC;
    CHECK(class_of(MPI_Type_create_darray(2, rank, 1, &all, &kind, &no_size, &two, MPI_ORDER_C,
                                          MPI_INT, &made)) == MPI_ERR_ARG);
}

/* Mukautuva 13, Open MPI 5459 and 6813: arguments that MPI_IN_PLACE makes insignificant are read;
 * arrays of types are read after a nonblocking call has returned. */
static void in_place(void)
{
    int values[2] = {rank, rank}, counts[2] = {1, 1}, places[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Datatype *kept = malloc(sizeof types), *wild = (MPI_Datatype *)8;
    MPI_Request request;
    memcpy(kept, types, sizeof types);
    CHECK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, wild, values, counts, places, types,
                        MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(values[0] == 0 && values[1] == 1);
    CHECK(MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, values, counts, places, kept,
                         MPI_COMM_WORLD, &request) == MPI_SUCCESS);
    memset(kept, 0xff, sizeof types);
    free(kept);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(values[0] == (rank ? 1 : 0) && values[1] == (rank ? 1 : 0));
    values[0] = values[1] = rank + 1;
    CHECK(MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(values[0] == 3);
    /* insignificant at all but the root */
    CHECK(MPI_Gather(&rank, 1, MPI_INT, rank ? NULL : values, rank ? -1 : 1,
                     rank ? MPI_DATATYPE_NULL : MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
}

/* MPI.jl 958: MPI_IN_PLACE in a neighborhood collective ends the process. */
static void neighbors(void)
{
    MPI_Comm graph;
    int one[1], value = 0, got[2], in, out, weighted, peers[2], weights[2];
    one[0] = rank;
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, one, MPI_UNWEIGHTED, 1, one,
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph) == MPI_SUCCESS);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && !weighted);
    CHECK(MPI_Dist_graph_neighbors(graph, 1, peers, MPI_UNWEIGHTED, 1, peers + 1, MPI_UNWEIGHTED) ==
          MPI_SUCCESS);
    CHECK(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, got, 1, MPI_INT, graph) != MPI_SUCCESS);
    CHECK(MPI_Neighbor_alltoall(&value, 1, MPI_INT, got, 1, MPI_INT, graph) == MPI_SUCCESS);
    MPI_Comm_free(&graph);
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, one, MPI_WEIGHTS_EMPTY, 0, one,
                                         MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
                                         &graph) == MPI_SUCCESS);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in == 0 && out == 0 && weighted);
    CHECK(MPI_Dist_graph_neighbors(graph, 0, peers, weights, 0, peers, weights) == MPI_SUCCESS);
    MPI_Comm_free(&graph);
}

/* A graph with weights, whose neighbors are asked for without them: constants are no arrays. */
static void no_weights(void)
{
    enum { EDGES = 5 };
    MPI_Comm graph;
    int ranks[EDGES], six[EDGES] = {6, 6, 6, 6, 6}, from[EDGES], to[EDGES], weights[EDGES];
    for (int i = 0; i < EDGES; i++)
        ranks[i] = i % 2;
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, EDGES, ranks, six, EDGES, ranks, six,
                                         MPI_INFO_NULL, 0, &graph) == MPI_SUCCESS);
    CHECK(MPI_Dist_graph_neighbors(graph, EDGES, from, MPI_UNWEIGHTED, EDGES, to, weights) ==
          MPI_SUCCESS);
    CHECK(from[4] == 0 && to[3] == 1 && weights[4] == 6);
    CHECK(MPI_Dist_graph_neighbors(graph, EDGES, from, weights, EDGES, to, MPI_UNWEIGHTED) ==
          MPI_SUCCESS);
#ifdef MPICH
    CHECK(MPI_UNWEIGHTED[0] == 0 && MPI_UNWEIGHTED[1] == 0);
#endif
    MPI_Comm_free(&graph);
}

/* MPICH 7369 and MPI.jl 983: handles through Fortran's integers, in arrays of requests, too. */
static void integers(void)
{
    int x = 0, y = 1;
    MPI_Request requests[2];
    MPI_Fint both[2];
    MPI_Datatype type;
    MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&y, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++) {
        both[i] = MPI_Request_c2f(requests[i]);
        requests[i] = MPI_Request_f2c(both[i]);
    }
    CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS && x == 1);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    MPI_Type_contiguous(3, MPI_INT, &type);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(type)) == type);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
    MPI_Type_free(&type);
    CHECK(dlsym(RTLD_DEFAULT, "MPI_Type_f2c") || sizeof type == sizeof(int));
}

/* Open MPI 13967 and mana 204: codes of MPI_Testall with statuses; statuses that are ignored are
 * written. MPI_Test and the like leave the status if the flag is false. */
static void statuses(void)
{
    int x = 0, flag = 1, index, n, indices[2];
    char small;
    MPI_Request requests[2];
    MPI_Status status[2], one;
    memset(&one, 0x5a, sizeof one);
    MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &requests[0]);
    requests[1] = MPI_REQUEST_NULL;
    MPI_Test(&requests[0], &flag, &one);
    CHECK(!flag && one.MPI_SOURCE == 0x5a5a5a5a && one.MPI_ERROR == 0x5a5a5a5a);
    CHECK(MPI_Testall(2, requests, &flag, status) == MPI_SUCCESS && !flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD);
    for (flag = 0; !flag;)
        CHECK(MPI_Testall(2, requests, &flag, status) == MPI_SUCCESS);
    CHECK(status[0].MPI_SOURCE == 1 - rank && status[0].MPI_TAG == 2 && x == 1 - rank);
    CHECK(status[1].MPI_SOURCE == MPI_ANY_SOURCE && status[1].MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(&status[1], MPI_INT, &n);
    CHECK(n == 0);
    CHECK(MPI_Waitany(2, requests, &index, &one) == MPI_SUCCESS && index == MPI_UNDEFINED);
    CHECK(MPI_Testsome(2, requests, &n, indices, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(n == MPI_UNDEFINED);
    /* an error of one of two */
    MPI_Irecv(&small, 1, MPI_CHAR, 1 - rank, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD);
    CHECK(class_of(MPI_Waitall(2, requests, status)) == MPI_ERR_IN_STATUS);
    CHECK(class_of(status[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
    CHECK(status[1].MPI_ERROR == MPI_SUCCESS || status[1].MPI_ERROR == MPI_ERR_PENDING);
    if (requests[1] != MPI_REQUEST_NULL)
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    /* what a program sets comes back, also beyond an int */
    MPI_Status_set_elements_x(&one, MPI_CHAR, 5000000000);
    MPI_Status_set_cancelled(&one, 1);
    MPI_Count large;
    MPI_Get_elements_x(&one, MPI_CHAR, &large);
    MPI_Test_cancelled(&one, &flag);
    CHECK(large == 5000000000 && flag);
    MPI_Get_count(&one, MPI_CHAR, &n);
    CHECK(n == MPI_UNDEFINED);
}

/* MPItrampoline 23: constants of windows are missing or are another MPI's. */
static void window_constants(void)
{
    MPI_Win win;
    int *flavor, *model, *unit, flag, memory[2] = {0};
    MPI_Aint *size;
    void *base;
    MPI_Win_create(memory, sizeof memory, (int)sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag) == MPI_SUCCESS && flag);
    CHECK(base == memory);
    CHECK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag) == MPI_SUCCESS && flag);
    CHECK(*size == sizeof memory);
    CHECK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag) == MPI_SUCCESS && flag);
    CHECK(*unit == sizeof(int));
    CHECK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag) == MPI_SUCCESS && flag);
    CHECK(*flavor == MPI_WIN_FLAVOR_CREATE);
    CHECK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag) == MPI_SUCCESS && flag);
    CHECK(*model == MPI_WIN_UNIFIED);
    /* the value of one window remains when that of another is read */
    MPI_Win other;
    int *flavor_of_other;
    void *allocated;
    MPI_Win_allocate(sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &other);
    CHECK(MPI_Win_get_attr(other, MPI_WIN_CREATE_FLAVOR, &flavor_of_other, &flag) == MPI_SUCCESS);
    CHECK(*flavor_of_other == MPI_WIN_FLAVOR_ALLOCATE && *flavor == MPI_WIN_FLAVOR_CREATE);
    MPI_Win_free(&other);
    CHECK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win) == MPI_SUCCESS);
    CHECK(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE, win) == MPI_SUCCESS);
    CHECK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, win) == MPI_SUCCESS || rank == 1);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
}

/* VAPAA, mpi-issues 654: the datatype that a user's reduction gets is not the program's. */
static MPI_Datatype reduced;

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int size;
    reduced = *type;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *n * size / (int)sizeof(int); i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void reductions(void)
{
    MPI_Op op;
    MPI_Datatype pair;
    int in[2] = {rank, 1}, out[2];
    MPI_Op_create(add, 1, &op);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    CHECK(MPI_Allreduce(in, out, 2, MPI_INT, op, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(reduced == MPI_INT && out[0] == 1 && out[1] == 2);
    CHECK(MPI_Allreduce(in, out, 1, pair, op, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(reduced == pair && out[0] == 1 && out[1] == 2);
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
}

/* MPICH 6872: every thread is the main thread. */
static void *other_thread(void *flag)
{
    MPI_Is_thread_main(flag);
    return NULL;
}

static void threads(void)
{
    int flag = -1, level = -1;
    pthread_t thread;
    MPI_Is_thread_main(&flag);
    CHECK(flag == 1);
    pthread_create(&thread, NULL, other_thread, &flag);
    pthread_join(thread, NULL);
    CHECK(flag == 0);
    CHECK(MPI_Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE);
}

/* Wi4MPI: ranks with a meaning, in results and in arrays. */
static void ranks(void)
{
    MPI_Comm cart;
    MPI_Group world, self;
    int two = 2, no = 0, source, dest, in[3] = {0, 1, MPI_PROC_NULL}, out[3];
    MPI_Cart_create(MPI_COMM_WORLD, 1, &two, &no, 0, &cart);
    MPI_Cart_shift(cart, 0, 1, &source, &dest);
    CHECK(source == (rank ? 0 : MPI_PROC_NULL) && dest == (rank ? MPI_PROC_NULL : 1));
    MPI_Comm_group(cart, &world);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Group_translate_ranks(world, 3, in, self, out);
    CHECK(out[rank] == 0 && out[1 - rank] == MPI_UNDEFINED && out[2] == MPI_PROC_NULL);
    int kind = -1, result = -1;
    MPI_Topo_test(cart, &kind);
    MPI_Comm_compare(cart, MPI_COMM_WORLD, &result);
    CHECK(kind == MPI_CART && result == MPI_CONGRUENT);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK(kind == MPI_UNDEFINED);
    MPI_Group_free(&world);
    MPI_Group_free(&self);
    MPI_Comm_free(&cart);
}

/* MPICH 1762: a predefined info that is no usual constant. mpi4py: the longest keys and values. */
static void infos(void)
{
    MPI_Info info, used;
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1], got[MPI_MAX_INFO_KEY + 1];
    int flag, n;
    CHECK(MPI_Info_get_nkeys(MPI_INFO_ENV, &n) == MPI_SUCCESS && n > 0);
    CHECK(MPI_Info_dup(MPI_INFO_ENV, &info) == MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Info_create(&info);
    memset(key, 'k', sizeof key);
    key[MPI_MAX_INFO_KEY - 1] = 0;
    CHECK(MPI_Info_set(info, key, "v") == MPI_SUCCESS);
    CHECK(MPI_Info_get_nthkey(info, 0, got) == MPI_SUCCESS && strcmp(key, got) == 0);
    CHECK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag) == MPI_SUCCESS && flag);
    CHECK(class_of(MPI_Info_get_nthkey(info, 7, got)) != MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);
    CHECK(MPI_Comm_get_info(MPI_COMM_WORLD, &used) == MPI_SUCCESS && used != MPI_INFO_NULL);
    MPI_Info_free(&used);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    handlers();
    inherited();
    attributes();
    error_classes();
    contents();
    block_sizes();
    in_place();
    neighbors();
    no_weights();
    integers();
    statuses();
    window_constants();
    reductions();
    threads();
    ranks();
    infos();
    MPI_Finalize();
    return bad != 0;
}
