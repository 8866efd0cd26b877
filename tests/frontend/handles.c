// SPDX-License-Identifier: BSD-3-Clause
/*
 * Handles, sizes and constants of a front end, compiled by the other MPI's mpicc, on 2 ranks: what
 * is no handle is an error and stays as it is, variables of MPI_T are bound to that MPI's handles,
 * attached buffers come back as they were, and MPI_Comm_split_type takes all of that MPI's kinds.
 */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Values that are no handles: small ones, also some that the standard predefines, and, if handles
 * are ints, numbers that no object has. */
static const long garbage[] = {
    1,     0x101, 0x2ff,      0x300,      0x3ff,      0xfff,
#ifdef MPICH
    0x180, 4999,  0x12345678, 0x2c000007, 0x40ffffff, 0x7fffffff, -1,
#endif
};

/* The value as a handle of a type */
#ifdef MPICH
#define AS(type, value) ((type)(value))
#else
#define AS(type, value) ((type)(void *)(value))
#endif

static void wrong_requests(long value)
{
    MPI_Request request = AS(MPI_Request, value), both[2] = {MPI_REQUEST_NULL, request};
    const MPI_Request before = request;
    MPI_Status status, statuses[2];
    int flag, index;
    CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Wait(&request, &status)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Test(&request, &flag, MPI_STATUS_IGNORE)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Start(&request)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Cancel(&request)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Request_free(&request)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Request_get_status(request, &flag, &status)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Waitall(2, both, statuses)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Waitany(2, both, &index, &status)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Startall(1, &request)) == MPI_ERR_REQUEST);
    CHECK(request == before && both[0] == MPI_REQUEST_NULL && both[1] == before);
}

static void wrong_objects(long value)
{
    MPI_Comm comm = AS(MPI_Comm, value);
    MPI_Datatype type = AS(MPI_Datatype, value);
    MPI_Group group = AS(MPI_Group, value);
    MPI_Info info = AS(MPI_Info, value);
    MPI_Op op = AS(MPI_Op, value);
    MPI_Win win = AS(MPI_Win, value);
    MPI_Errhandler errhandler = AS(MPI_Errhandler, value);
    MPI_Message message = AS(MPI_Message, value);
    int n;
    CHECK(class_of(MPI_Comm_size(comm, &n)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Comm_free(&comm)) == MPI_ERR_COMM && comm == AS(MPI_Comm, value));
    CHECK(class_of(MPI_Type_size(type, &n)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Type_free(&type)) == MPI_ERR_TYPE && type == AS(MPI_Datatype, value));
    CHECK(class_of(MPI_Group_size(group, &n)) == MPI_ERR_GROUP);
    CHECK(class_of(MPI_Info_get_nkeys(info, &n)) == MPI_ERR_INFO);
    CHECK(class_of(MPI_Info_free(&info)) == MPI_ERR_INFO && info == AS(MPI_Info, value));
    CHECK(class_of(MPI_Op_commutative(op, &n)) == MPI_ERR_OP);
    CHECK(class_of(MPI_Win_fence(0, win)) == MPI_ERR_WIN);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler) != MPI_SUCCESS);
    CHECK(class_of(MPI_Mrecv(&n, 1, MPI_INT, &message, MPI_STATUS_IGNORE)) == MPI_ERR_REQUEST);
    CHECK(message == AS(MPI_Message, value));
}

/* A variable with an element for each rank, bound to communicators. */
static void bound_variables(void)
{
    MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL, MPI_COMM_NULL};
    static const int lengths[] = {2, 1, 2};
    int provided, variables, found = 0;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&variables);
    for (int i = 0; i < variables; i++) {
        int bind = -1, count = 0;
        MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL,
                            NULL);
        if (bind != MPI_T_BIND_MPI_COMM)
            continue;
        for (int j = 0; j < 3; j++) {
            int code = MPI_T_pvar_handle_alloc(session, i, &comms[j], &handle, &count);
            CHECK(code == MPI_SUCCESS && count == lengths[j]);
            found += code == MPI_SUCCESS;
            if (code == MPI_SUCCESS)
                MPI_T_pvar_handle_free(session, &handle);
        }
        CHECK(MPI_T_pvar_handle_alloc(session, i, &comms[3], &handle, &count) != MPI_SUCCESS);
        CHECK(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count) != MPI_SUCCESS);
    }
    CHECK(found > 0);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Comm_free(&comms[2]);
}

static void buffers(void)
{
    static char buffer[1000];
    void *address = NULL;
    int size = -1;
    CHECK(class_of(MPI_Buffer_attach(buffer, -4)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Buffer_attach(NULL, 4)) == MPI_ERR_BUFFER);
    CHECK(MPI_Buffer_attach(buffer, (int)sizeof buffer) == MPI_SUCCESS);
    CHECK(class_of(MPI_Buffer_attach(buffer, (int)sizeof buffer)) == MPI_ERR_BUFFER);
    CHECK(MPI_Buffer_detach(&address, NULL) != MPI_SUCCESS);
    CHECK(MPI_Buffer_detach(&address, &size) == MPI_SUCCESS);
    CHECK(address == buffer && size == (int)sizeof buffer);
#if MPI_VERSION >= 4
    MPI_Count large = 0;
    CHECK(MPI_Buffer_attach_c(buffer, 3221225472) == MPI_SUCCESS);
    CHECK(MPI_Buffer_detach_c(&address, &large) == MPI_SUCCESS && large == 3221225472);
    CHECK(MPI_Buffer_attach_c(buffer, 3221225472) == MPI_SUCCESS);
    CHECK(MPI_Buffer_detach(&address, &size) == MPI_SUCCESS && size == MPI_UNDEFINED);
#endif
}

/* Functions of MPI 4.1, which the header of the other MPI lacks. The buffer has space for the
 * overhead of that MPI. */
#ifdef MPICH
#define AUTOMATIC ((void *)-2)
#else
#define AUTOMATIC ((void *)4)
#endif

static void buffers_of_communicators(void)
{
    enum { N = 100 };
    int (*attach)(MPI_Comm, void *, int), (*detach)(MPI_Comm, void *, int *), rank, size, n;
    int data[N] = {0}, got[N];
    char buffer[N * sizeof(int) + MPI_BSEND_OVERHEAD];
    void *address, *self = dlopen(NULL, RTLD_LAZY), *both[] = {buffer, AUTOMATIC};
    MPI_Comm comm;
    *(void **)&attach = dlsym(self, "MPI_Comm_attach_buffer");
    *(void **)&detach = dlsym(self, "MPI_Comm_detach_buffer");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 2; i++) {
        n = i == 0 ? (int)sizeof buffer : 0;
        data[N - 1] = i + 1;
        CHECK(attach(comm, both[i], n) == MPI_SUCCESS);
        CHECK(class_of(attach(comm, buffer, (int)sizeof buffer)) == MPI_ERR_BUFFER);
        CHECK(MPI_Bsend(data, N, MPI_INT, 1 - rank, 0, comm) == MPI_SUCCESS);
        MPI_Recv(got, N, MPI_INT, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
        CHECK(got[N - 1] == i + 1);
        CHECK(detach(comm, &address, &size) == MPI_SUCCESS && address == both[i] && size == n);
        CHECK(class_of(detach(comm, &address, &size)) == MPI_ERR_BUFFER);
    }
    CHECK(class_of(attach(comm, NULL, 4)) == MPI_ERR_BUFFER);
    CHECK(class_of(attach(MPI_COMM_NULL, buffer, 4)) == MPI_ERR_COMM);
    MPI_Comm_free(&comm);
#if MPI_VERSION >= 4
    MPI_Session session;
    int (*attach_session)(MPI_Session, void *, int), (*detach_session)(MPI_Session, void *, int *);
    *(void **)&attach_session = dlsym(self, "MPI_Session_attach_buffer");
    *(void **)&detach_session = dlsym(self, "MPI_Session_detach_buffer");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    CHECK(attach_session(session, buffer, (int)sizeof buffer) == MPI_SUCCESS);
    CHECK(detach_session(session, &address, &size) == MPI_SUCCESS && address == buffer);
    CHECK(size == (int)sizeof buffer);
    MPI_Session_finalize(&session);
#endif
}

static int size_of_split(int type)
{
    MPI_Comm made = MPI_COMM_NULL;
    int size = -1;
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, MPI_INFO_NULL, &made) == MPI_SUCCESS);
    if (made == MPI_COMM_NULL)
        return 0;
    MPI_Comm_size(made, &size);
    MPI_Comm_free(&made);
    return size;
}

static void splits(void)
{
    int node = size_of_split(MPI_COMM_TYPE_SHARED);
    CHECK(node >= 1);
    CHECK(size_of_split(MPI_UNDEFINED) == 0);
#ifdef OPEN_MPI
    CHECK(size_of_split(OMPI_COMM_TYPE_CLUSTER) == 2 && size_of_split(OMPI_COMM_TYPE_CU) == 2);
    CHECK(size_of_split(OMPI_COMM_TYPE_HOST) == node &&
          size_of_split(OMPI_COMM_TYPE_BOARD) == node);
    for (int type = OMPI_COMM_TYPE_HWTHREAD; type <= OMPI_COMM_TYPE_NUMA; type++) {
        int size = size_of_split(type);
        CHECK(size >= 1 && size <= node);
    }
    /* beside a process with MPI_UNDEFINED, twice, so that calls of one kind do not meet the next */
    MPI_Comm made;
    int rank, alone;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int type = 0; type <= OMPI_COMM_TYPE_CLUSTER; type++) {
        alone = size_of_split(rank == 0 ? type : MPI_UNDEFINED);
        CHECK(alone == (rank == 0));
        alone = size_of_split(rank == 1 ? type : MPI_UNDEFINED);
        CHECK(alone == (rank == 1));
    }
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, 77, 0, MPI_INFO_NULL, &made) != MPI_SUCCESS);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, OMPI_COMM_TYPE_CORE, 0, MPI_INFO_NULL, NULL) !=
          MPI_SUCCESS);
#endif
}

/* Not at the root, where the info argument is significant: rank 0 of MPI_COMM_SELF is another. */
static void info_at_root(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Info nothing = (MPI_Info)0x11111000;
    CHECK(MPI_Comm_accept("", nothing, 1, MPI_COMM_SELF, &made) != MPI_SUCCESS);
    CHECK(MPI_Comm_connect("", nothing, 1, MPI_COMM_SELF, &made) != MPI_SUCCESS);
}

/* The answer is that of MPI_COMM_WORLD's memory kinds; argument: the kind that the job has. */
static void memory_kinds(const char *kind)
{
    CHECK(MPIX_Query_cuda_support() == (strcmp(kind, "cuda") == 0));
#ifdef MPICH
    int supported = -1;
    CHECK(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported) == MPI_SUCCESS);
    CHECK(supported == (strcmp(kind, "cuda") == 0));
    CHECK(MPIX_GPU_query_support(7, &supported) != MPI_SUCCESS);
    CHECK(MPIX_Query_hip_support() == 0 && MPIX_Query_ze_support() == 0);
#endif
}

int main(int argc, char **argv)
{
    setenv("WEFT_COUNTERS", "all", 1); /* all variables */
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (unsigned i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        wrong_requests(garbage[i]);
        wrong_objects(garbage[i]);
    }
    bound_variables();
    buffers();
    buffers_of_communicators();
    splits();
    info_at_root();
    memory_kinds(argc > 1 ? argv[1] : "");
    MPI_Finalize();
    return bad != 0;
}
