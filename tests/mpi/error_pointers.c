// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * Null pointers where a call needs one: a request is missing (MPI_ERR_REQUEST), or a place for a
 * result, a status, or an array (MPI_ERR_ARG); and other arguments that can be seen to be wrong:
 * memory that was never allocated, arrays longer than memory, handles of another kind. The call
 * does nothing, and what it was called on goes on.
 */
#include "check.h"

static int value[2];

static void single(MPI_Request *request)
{
    int flag;
    check_step("one request");
    CHECK_CLASS(MPI_Wait(NULL, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Test(NULL, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Test(request, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cancel(NULL), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(NULL), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_get_status(*request, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Start(NULL), MPI_ERR_REQUEST);
}

static void several(MPI_Request *request)
{
    int flag, n, indices[1];
    MPI_Status *no = MPI_STATUSES_IGNORE;
    check_step("several requests");
    CHECK_CLASS(MPI_Waitall(1, NULL, no), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Waitany(1, NULL, &n, no), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Waitsome(1, NULL, &n, indices, no), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Testall(1, NULL, &flag, no), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Testany(1, NULL, &n, &flag, no), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Testsome(1, NULL, &n, indices, no), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_get_status_all(1, NULL, &flag, no), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Startall(1, NULL), MPI_ERR_REQUEST);

    CHECK_CLASS(MPI_Waitany(1, request, NULL, no), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Waitsome(1, request, NULL, indices, no), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Waitsome(1, request, &n, NULL, no), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Testall(1, request, NULL, no), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Testany(1, request, NULL, &flag, no), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Testany(1, request, &n, NULL, no), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Testsome(1, request, NULL, indices, no), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Testsome(1, request, &n, NULL, no), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Request_get_status_all(1, request, NULL, no), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Request_get_status_any(1, request, NULL, &flag, no), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Request_get_status_any(1, request, &n, NULL, no), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Request_get_status_some(1, request, NULL, indices, no), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Request_get_status_some(1, request, &n, NULL, no), MPI_ERR_ARG);

    /* Of nothing, nothing is needed. */
    CHECK_CLASS(MPI_Waitall(0, NULL, no), MPI_SUCCESS);
    CHECK_CLASS(MPI_Waitsome(0, NULL, &n, NULL, no), MPI_SUCCESS);
    CHECK(n == MPI_UNDEFINED, "MPI_Waitsome of nothing: %d", n);
    CHECK_CLASS(MPI_Testsome(0, NULL, &n, NULL, no), MPI_SUCCESS);
    CHECK(n == MPI_UNDEFINED, "MPI_Testsome of nothing: %d", n);
}

static void starts(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    check_step("calls that hand out a request");
    CHECK_CLASS(MPI_Isend(value, 1, MPI_INT, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Issend(value, 1, MPI_INT, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Irsend(value, 1, MPI_INT, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Ibsend(value, 1, MPI_INT, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Irecv(value, 1, MPI_INT, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Isend_c(value, 1, MPI_INT, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Irecv_c(value, 1, MPI_INT, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Irecv(value, 1, MPI_INT, MPI_PROC_NULL, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Isend(value, 1, MPI_INT, MPI_PROC_NULL, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Isend(value, -1, MPI_INT, 0, 1, world, NULL), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Send_init(value, 1, MPI_INT, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Ssend_init(value, 1, MPI_INT, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Rsend_init(value, 1, MPI_INT, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Bsend_init(value, 1, MPI_INT, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Recv_init(value, 1, MPI_INT, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Isendrecv(value, 1, MPI_INT, 0, 1, value + 1, 1, MPI_INT, 0, 1, world, NULL),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_Isendrecv_replace(value, 1, MPI_INT, 0, 1, 0, 1, world, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Grequest_start(NULL, NULL, NULL, NULL, NULL), MPI_ERR_ARG);
}

static void probes(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Message message = MPI_MESSAGE_NO_PROC;
    int flag;
    check_step("probes");
    CHECK_CLASS(MPI_Iprobe(0, 1, world, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Mprobe(0, 1, world, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Improbe(0, 1, world, NULL, &message, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Improbe(0, 1, world, &flag, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Mrecv(value, 1, MPI_INT, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Imrecv(value, 1, MPI_INT, &message, NULL), MPI_ERR_ARG);
}

static void statuses(void)
{
    MPI_Status st, *no = MPI_STATUS_IGNORE;
    MPI_Count large;
    int n;
    check_step("statuses");
    MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &st);
    CHECK_CLASS(MPI_Get_count(no, MPI_INT, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_count(&st, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_count_c(no, MPI_INT, &large), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_count_c(&st, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_elements(no, MPI_INT, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_elements(&st, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_elements_c(&st, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Test_cancelled(no, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Test_cancelled(&st, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_get_source(no, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_get_tag(&st, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_get_error(no, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_set_source(no, 1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_set_tag(no, 1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_set_error(no, 1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_set_cancelled(no, 1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_set_elements(no, MPI_INT, 1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_set_elements(&st, MPI_INT, -1), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Status_set_elements(&st, MPI_DATATYPE_NULL, 1), MPI_ERR_TYPE);
}

/* Calls that are allowed at any time, and others that hand out something plain. */
static void environment(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    void *address;
    MPI_Count large;
    int n, logical = 0;
    check_step("the environment");
    CHECK_CLASS(MPI_Initialized(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Finalized(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Query_thread(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Is_thread_main(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_version(NULL, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_version(&n, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_library_version(NULL, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_library_version(text, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_processor_name(NULL, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_processor_name(text, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Abi_get_version(NULL, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Abi_get_version(&n, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Abi_set_fortran_booleans(sizeof logical, NULL, &logical), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Abi_set_fortran_booleans(sizeof logical, &logical, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Get_address(value, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Buffer_detach(NULL, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Buffer_detach(&address, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Buffer_detach_c(NULL, &large), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_detach_buffer(MPI_COMM_WORLD, NULL, &n), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &address, NULL), MPI_ERR_ARG);
}

static void memory(void)
{
    enum { BLOCKS = 40 };
    void *block[BLOCKS];
    check_step("memory of the library's");
    CHECK_CLASS(MPI_Alloc_mem(8, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    for (int i = 0; i < BLOCKS; i++)
        CHECK_CLASS(MPI_Alloc_mem(i, MPI_INFO_NULL, &block[i]), MPI_SUCCESS);
    CHECK_CLASS(MPI_Free_mem(value), MPI_ERR_BASE);
    CHECK_CLASS(MPI_Free_mem((char *)block[9] + 1), MPI_ERR_BASE);
    for (int i = 0; i < BLOCKS; i++)
        CHECK_CLASS(MPI_Free_mem(block[i * 7 % BLOCKS]), MPI_SUCCESS);
    CHECK_CLASS(MPI_Free_mem(block[0]), MPI_ERR_BASE);
    CHECK_CLASS(MPI_Free_mem(NULL), MPI_SUCCESS);
}

/* Arrays that are missing, or longer than memory can be. */
static void arrays(void)
{
    const MPI_Count huge = (MPI_Count)1 << 61;
    int ones[2] = {1, 1};
    MPI_Aint places[2] = {0, 8}, position = 0;
    MPI_Count large[2] = {1, 1};
    MPI_Datatype type;
    MPI_Comm made;
    check_step("arrays");
    CHECK_CLASS(MPI_Type_indexed(2, NULL, ones, MPI_INT, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_indexed(2, ones, NULL, MPI_INT, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_hindexed(2, ones, NULL, MPI_INT, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_struct(2, ones, places, NULL, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_struct(2, NULL, places, NULL, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_subarray(2, NULL, ones, ones, MPI_ORDER_C, MPI_INT, &type),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_indexed_c(huge, large, large, MPI_INT, &type), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Type_create_hindexed_c(huge, large, large, MPI_INT, &type), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Type_create_indexed_block_c(huge, 1, large, MPI_INT, &type), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, ones, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, ones, NULL, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, NULL, ones, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, ones, NULL, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Unpack_external(NULL, value, 8, &position, value, 1, MPI_INT), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Unpack_external("external32", NULL, 8, &position, value, 1, MPI_INT),
                MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Unpack_external("external32", value, 8, NULL, value, 1, MPI_INT), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Unpack_external("external32", value, 8, &position, NULL, 1, MPI_INT),
                MPI_ERR_BUFFER);
}

static void messages(void)
{
    MPI_Message message = (MPI_Message)MPI_COMM_WORLD;
    MPI_Request request;
    MPI_Comm dup;
    check_step("handles of other kinds for messages");
    CHECK_CLASS(MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Imrecv(value, 1, MPI_INT, &message, &request), MPI_ERR_REQUEST);
    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    message = (MPI_Message)dup;
    CHECK_CLASS(MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Imrecv(value, 1, MPI_INT, &message, &request), MPI_ERR_REQUEST);
    MPI_Comm_free(&dup);
}

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Status st;
    int word = check.size;
    check_begin(&argc, &argv, 1);
    check_errors_return();
    MPI_Irecv(value, 1, MPI_INT, check.rank, 9, MPI_COMM_WORLD, &request);
    single(&request);
    several(&request);
    starts();
    probes();
    statuses();
    environment();
    memory();
    arrays();
    messages();
    check_step("the receive that all of this was tried on");
    MPI_Send(&word, 1, MPI_INT, check.rank, 9, MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Wait(&request, &st), MPI_SUCCESS);
    CHECK_STATUS(st, check.rank, 9, sizeof word);
    int flag = -1;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0, "a call that failed has sent something");
    return check_done();
}
