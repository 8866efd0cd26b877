// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=15 lanes=chosen,shm deaths=yes seconds=60
/*
 * Pairs of ranks contact each other for the first time, both at once, after other ranks have died:
 * no message is lost over the provider that Weft chooses for a job that goes on.
 *
 * libfabric's net and tcp lose some: WEFT_PROVIDER=net (1.17) or tcp shows it.
 */
#include "deaths.h"

enum { WORKERS = 8, VICTIMS = WORKERS - 1, EACH_MS = 60, TAG_CONTACT = 1, TAG_START, TAG_PAIR };

static void sleep_until(long ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL))
        ;
}

/* Each worker has a connection with each victim, whose end the provider then handles. */
static void contact_victims(void)
{
    int none = 0;
    check_step("contacting the victims");
    for (int i = 0; i < (check.rank < WORKERS ? VICTIMS : WORKERS); i++)
        if (check.rank < WORKERS)
            MPI_Send(&none, 1, MPI_INT, WORKERS + i, TAG_CONTACT, MPI_COMM_WORLD);
        else
            MPI_Recv(&none, 1, MPI_INT, i, TAG_CONTACT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The time at which the rounds begin, on the clock of the node; without a contact among workers. */
static long begin(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    long start = time.tv_sec * 1000 + time.tv_nsec / 1000000 + 200;
    check_step("waiting for the start");
    if (check.rank != WORKERS)
        MPI_Recv(&start, 1, MPI_LONG, WORKERS, TAG_START, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int to = 0; check.rank == WORKERS && to < check.size; to++)
        if (to != WORKERS)
            MPI_Send(&start, 1, MPI_LONG, to, TAG_START, MPI_COMM_WORLD);
    return start;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, WORKERS + VICTIMS);
    check_errors_return();
    contact_victims();
    long start = begin();
    for (int round = 1; round <= VICTIMS; round++) {
        int other = check.rank ^ round, got = -1;
        check_step("round %d", round);
        sleep_until(start + round * EACH_MS);
        if (check.rank == WORKERS + round - 1)
            die();
        if (check.rank >= WORKERS)
            continue;
        CHECK_CLASS(MPI_Sendrecv(&check.rank, 1, MPI_INT, other, TAG_PAIR, &got, 1, MPI_INT, other,
                                 TAG_PAIR, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
        CHECK(got == other, "round %d: got %d from rank %d", round, got, other);
    }
    return check_survived();
}
