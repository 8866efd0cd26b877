// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3,5 lanes=shm,rxm,rxm-soft,net-soft,sockets,mixed,nodes seconds=90
/*
 * What is left of a communicator is not seen by later ones: after a collective that one rank or all
 * refuse, and after user messages that nobody receives, the communicator is freed or disconnected;
 * of the communicators that come and go later each gets its own data. The messages themselves do
 * not stay: the counter of unexpected messages comes back.
 */
#include "tool.h"

enum { ROUNDS = 3, DUPLICATES = 70, COUNT = 300 };

static int in[8 * COUNT], out[8 * COUNT];

static int wrong_call(int kind, int count, MPI_Comm comm)
{
    switch (kind % 6) {
    case 0:
        return MPI_Bcast(in, count, MPI_INT, 0, comm);
    case 1:
        return MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, 0, comm);
    case 2:
        return MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, 0, comm);
    case 3:
        return MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm);
    case 4:
        return MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, 0, comm);
    default:
        return MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
    }
}

static MPI_Comm duplicate(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

/* The call has the number that the wrong call had on its communicator. */
static void check_bcast(int value)
{
    MPI_Comm comm = duplicate();
    int got[COUNT], wrong = 0;
    for (int i = 0; i < COUNT; i++)
        got[i] = check.rank == 0 ? value : -1;
    CHECK_CLASS(MPI_Bcast(got, COUNT, MPI_INT, 0, comm), MPI_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        wrong += got[i] != value;
    CHECK(!wrong, "%d values are not %d", wrong, value);
    MPI_Comm_free(&comm);
}

static void check_messages(int value)
{
    MPI_Comm comm = duplicate();
    int flag = 0, got = -1, next = (check.rank + 1) % check.size;
    MPI_Status status;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
    CHECK(!flag, "a message of an earlier communicator is there");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&value, 1, MPI_INT, next, 0, comm);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &status);
    CHECK(got == value, "got %d, not %d", got, value);
    MPI_Comm_free(&comm);
}

static void come_and_go(void)
{
    for (int i = 0; i < DUPLICATES; i++) {
        MPI_Comm comm = duplicate();
        MPI_Comm_free(&comm);
    }
}

static void leave_collectives(int round)
{
    for (int kind = 0; kind < 6; kind++) {
        check_step("collective %d, refused by rank %d and by all", kind, round % check.size);
        MPI_Comm one = duplicate(), all = duplicate();
        for (int i = 0; i < 8 * COUNT; i++)
            in[i] = -1000 - round;
        bool refuses = check.rank == round % check.size;
        int code = wrong_call(kind, refuses ? -1 : COUNT, one);
        CHECK(!refuses || check_class(code) == MPI_ERR_COUNT, "the wrong call returned %d", code);
        CHECK_CLASS(wrong_call(kind, -1, all), MPI_ERR_COUNT);
        if (round % 2)
            MPI_Comm_free(&one);
        else
            MPI_Comm_disconnect(&one);
        MPI_Comm_free(&all);
    }
}

static void leave_messages(int round)
{
    check_step("messages that nobody receives");
    for (int i = 0; i < 5; i++) {
        MPI_Comm comm = duplicate();
        in[0] = -2000 - round;
        MPI_Send(in, i * COUNT + 1, MPI_INT, (check.rank + 1) % check.size, 0, comm);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int round = 0; round < ROUNDS; round++) {
        leave_collectives(round);
        leave_messages(round);
        check_step("later communicators");
        for (int i = 0; i < DUPLICATES; i++) {
            check_bcast(100 * round + i);
            check_messages(i);
        }
    }
    come_and_go();
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t left = tool_unexpected();
    CHECK(left < 2 * check.size + 4, "%lld messages are still kept", (long long)left);
    return check_done();
}
