// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm seconds=40
/*
 * A child that a rank forks shares the rank's connections and memory with it, so its calls would
 * take the rank's messages. Each call returns an error there, MPI_Abort ends the child alone, and
 * the rank's messages are complete.
 */
#include "check.h"

#include <sys/wait.h>

enum { ABORTED = 23, ROUNDS = 200 };

static int value, buffer[1000];
static MPI_Comm comm;
static MPI_Request request;
static MPI_Win win;

static int send_short(void)
{
    return MPI_Send(&value, 1, MPI_INT, 1 - check.rank, 7, MPI_COMM_WORLD);
}
static int send_long(void)
{
    return MPI_Send(buffer, 1000, MPI_INT, 1 - check.rank, 7, comm);
}
static int isend(void)
{
    return MPI_Isend(&value, 1, MPI_INT, 1 - check.rank, 7, comm, &request);
}
static int recv_one(void)
{
    return MPI_Recv(&value, 1, MPI_INT, 1 - check.rank, 7, comm, MPI_STATUS_IGNORE);
}
static int irecv(void)
{
    return MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, &request);
}
static int iprobe(void)
{
    int flag;
    return MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
}
static int wait_one(void)
{
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int test_one(void)
{
    int flag;
    return MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}
static int barrier(void)
{
    return MPI_Barrier(comm);
}
static int allreduce(void)
{
    int sum;
    return MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
}
static int dup_comm(void)
{
    MPI_Comm other;
    return MPI_Comm_dup(comm, &other);
}
static int put(void)
{
    return MPI_Put(&value, 1, MPI_INT, 1 - check.rank, 0, 1, MPI_INT, win);
}
static int session(void)
{
    MPI_Session made;
    return MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
}
static int finalize(void)
{
    return MPI_Finalize();
}

static const struct {
    const char *name;
    int (*call)(void);
} calls[] = {{"MPI_Send", send_short},      {"MPI_Send of 4000 bytes", send_long},
             {"MPI_Isend", isend},          {"MPI_Recv", recv_one},
             {"MPI_Irecv", irecv},          {"MPI_Iprobe", iprobe},
             {"MPI_Wait", wait_one},        {"MPI_Test", test_one},
             {"MPI_Barrier", barrier},      {"MPI_Allreduce", allreduce},
             {"MPI_Comm_dup", dup_comm},    {"MPI_Put", put},
             {"MPI_Session_init", session}, {"MPI_Finalize", finalize}};

/* The status of a child that makes the calls and then aborts: ABORTED if each call has failed. */
static void run_child(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        int class = MPI_SUCCESS, code = calls[i].call();
        MPI_Error_class(code, &class);
        if (class != MPI_ERR_OTHER) {
            printf("in a forked child %s returned class %d\n", calls[i].name, class);
            fflush(stdout);
            _exit(1);
        }
    }
    MPI_Abort(MPI_COMM_WORLD, ABORTED);
    _exit(2);
}

static void exchange(int from, int to)
{
    for (int i = from; i < to; i++) {
        int out = i, in = -1;
        MPI_Sendrecv(&out, 1, MPI_INT, 1 - check.rank, 7, &in, 1, MPI_INT, 1 - check.rank, 7, comm,
                     MPI_STATUS_IGNORE);
        CHECK(in == i, "message %d has %d", i, in);
    }
}

int main(int argc, char **argv)
{
    int status = 0, *memory;
    check_begin(&argc, &argv, 2);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
    MPI_Win_fence(0, win);
    exchange(0, ROUNDS);
    MPI_Irecv(&value, 1, MPI_INT, 1 - check.rank, 8, comm, &request);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_child();
    exchange(ROUNDS, 2 * ROUNDS);
    CHECK(waitpid(child, &status, 0) == child, "the child is not there");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == ABORTED, "the child ended with status %x",
          (unsigned)status);
    exchange(2 * ROUNDS, 3 * ROUNDS);
    MPI_Send(&status, 1, MPI_INT, 1 - check.rank, 8, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&comm);
    return check_done();
}
