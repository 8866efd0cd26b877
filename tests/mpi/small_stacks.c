// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=shm,shm-coll,rxm,net-soft,nodes seconds=60
/*
 * A thread with a stack of 16 KiB, the least that the system permits, may make all these calls on a
 * node, at once or after a wait that is long enough for the hang check. Where the job has a network
 * it needs 32 KiB: libfabric alone has 12 KiB of events on its stack when it polls sockets.
 */
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>

enum {
    STACK = 16 << 10,
    STACK_NET = 32 << 10,
    COUNT = 4096,
    LONG = 1 << 20,
    LATE_US = 20000,
    TURNS = 2
};

static int in[COUNT], out[COUNT], all[4 * COUNT];
static char long_in[LONG], long_out[LONG];

static void neighbors(int *to, int *from)
{
    *to = (check.rank + 1) % check.size;
    *from = (check.rank + check.size - 1) % check.size;
}

static void send_and_receive(void)
{
    int to, from;
    neighbors(&to, &from);
    if (check.rank)
        MPI_Recv(in, COUNT, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, COUNT, MPI_INT, to, 0, MPI_COMM_WORLD);
    if (!check.rank)
        MPI_Recv(in, COUNT, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange(void)
{
    int to, from;
    neighbors(&to, &from);
    MPI_Sendrecv(out, COUNT, MPI_INT, to, 1, in, COUNT, MPI_INT, from, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(long_out, LONG, MPI_BYTE, to, 2, long_in, LONG, MPI_BYTE, from, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void move_data(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(in, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gather(out, COUNT, MPI_INT, all, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(out, COUNT, MPI_INT, all, COUNT, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(out, COUNT / 4, MPI_INT, in, COUNT / 4, MPI_INT, MPI_COMM_WORLD);
}

static void reduce(void)
{
    MPI_Request request;
    MPI_Reduce(out, in, COUNT, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void communicate(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, check.rank % 2, 0, &comm);
    MPI_Comm_free(&comm);
}

static const struct {
    const char *name;
    void (*make)(void);
} calls[] = {{"MPI_Send and MPI_Recv", send_and_receive},
             {"MPI_Sendrecv", exchange},
             {"collectives that move data", move_data},
             {"reductions", reduce},
             {"communicators", communicate}};

static void *start(void *arg)
{
    calls[*(int *)arg].make();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_attr_t attributes;
    pthread_t thread;
    bool net = getenv("WEFT_PROVIDER") != NULL;
    check_begin_threads(&argc, &argv, 2);
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, net ? STACK_NET : STACK) == 0,
          "the stack is too small for the system");
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < (int)(sizeof calls / sizeof calls[0]); i++) {
            check_step("%s, turn %d", calls[i].name, turn);
            if (check.rank == turn)
                usleep(LATE_US);
            CHECK(pthread_create(&thread, &attributes, start, &i) == 0, "no thread");
            pthread_join(thread, NULL);
        }
    pthread_attr_destroy(&attributes);
    return check_done();
}
