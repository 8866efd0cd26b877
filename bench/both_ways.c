// SPDX-License-Identifier: BSD-3-Clause
/*
 * both_ways: two ranks that send to each other at the same time, beside a plain TCP connection
 * between the same two processes, in turns, so that both meet the same load of the machine.
 *
 *     both_ways ADDRESS PORT TURNS SIZE:COUNT...
 *
 * Rank 1 listens at ADDRESS. For each SIZE and COUNT a line: the Mbit/s each way of COUNT messages
 * of SIZE bytes, medians over TURNS turns, and the median, the least and the list of MPI's share of
 * TCP's in each turn. Then the time of 4 bytes that are sent behind twelve messages of 512 KiB.
 * Runs with every MPI library.
 */
#include "figures.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_TURNS = 100, BULK = 12, BULK_BYTES = 512 << 10 };

static int rank;

static void fail(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static int connect_ranks(const char *address, int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || inet_pton(AF_INET, address, &at.sin_addr) != 1)
        fail(address);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (rank == 1 && (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 1)))
        fail("listen");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && connect(fd, (struct sockaddr *)&at, sizeof at))
        fail("connect");
    if (rank == 1) {
        int listener = fd;
        fd = accept(listener, NULL, NULL);
        close(listener);
    }
    if (fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK))
        fail("accept");
    return fd;
}

/* The bytes of one call, or 0 if the socket is not ready. */
static size_t moved(ssize_t bytes)
{
    if (bytes > 0)
        return (size_t)bytes;
    if (bytes == 0 || (errno != EAGAIN && errno != EINTR))
        fail("the connection");
    return 0;
}

static void exchange_by_tcp(int fd, char *out, char *in, size_t bytes)
{
    size_t sent = 0, received = 0;
    while (sent < bytes || received < bytes) {
        struct pollfd poll_fd = {.fd = fd};
        poll_fd.events = (short)((sent < bytes ? POLLOUT : 0) | (received < bytes ? POLLIN : 0));
        poll(&poll_fd, 1, -1);
        if (poll_fd.revents & POLLOUT)
            sent += moved(send(fd, out + sent, bytes - sent, 0));
        if (poll_fd.revents & POLLIN)
            received += moved(recv(fd, in + received, bytes - received, 0));
    }
}

static void exchange_by_mpi(char *out, char *in, int size, int count, MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        MPI_Irecv(in + (size_t)i * (size_t)size, size, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD,
                  &requests[i]);
    for (int i = 0; i < count; i++)
        MPI_Isend(out + (size_t)i * (size_t)size, size, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD,
                  &requests[count + i]);
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
}

/* Seconds until both ranks have ended. */
static double since(double start)
{
    double own = MPI_Wtime() - start, longest;
    MPI_Allreduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

static double median(const double *values, int n)
{
    double sorted[MOST_TURNS];
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    return bench_median(sorted, n);
}

static void compare(int fd, int size, int count, int turns)
{
    size_t bytes = (size_t)size * (size_t)count;
    char *out = calloc(1, bytes), *in = calloc(1, bytes);
    MPI_Request *requests = calloc(2 * (size_t)count, sizeof *requests);
    double tcp[MOST_TURNS], mpi[MOST_TURNS], share[MOST_TURNS], least = 1e9;
    if (!out || !in || !requests)
        fail("memory");
    for (int turn = -1; turn < turns; turn++) { /* the first one is not counted */
        int at = turn < 0 ? 0 : turn;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        exchange_by_tcp(fd, out, in, bytes);
        tcp[at] = 8e-6 * (double)bytes / since(start);
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        exchange_by_mpi(out, in, size, count, requests);
        mpi[at] = 8e-6 * (double)bytes / since(start);
        share[at] = mpi[at] / tcp[at];
    }
    for (int i = 0; i < turns; i++)
        least = share[i] < least ? share[i] : least;
    if (rank == 0) {
        printf("%9d %5d %8.1f %8.1f %8.2f %8.2f  ", size, count, median(tcp, turns),
               median(mpi, turns), median(share, turns), least);
        for (int i = 0; i < turns; i++)
            printf(" %.2f", share[i]);
        printf("\n");
        fflush(stdout);
    }
    free(out);
    free(in);
    free(requests);
}

/* Rank 0 sends long messages and then 4 bytes, which rank 1 has received first. */
static void send_behind(int turns)
{
    char *bulk = calloc(BULK, BULK_BYTES);
    int word = 1;
    double ms[MOST_TURNS], most = 0;
    if (!bulk)
        fail("memory");
    for (int turn = 0; turn < turns; turn++) {
        MPI_Request requests[BULK + 1];
        for (int i = 0; rank == 1 && i < BULK; i++)
            MPI_Irecv(bulk + (size_t)i * BULK_BYTES, BULK_BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
                      &requests[i]);
        if (rank == 1)
            MPI_Irecv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[BULK]);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int i = 0; rank == 0 && i < BULK; i++)
            MPI_Isend(bulk + (size_t)i * BULK_BYTES, BULK_BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD,
                      &requests[i]);
        if (rank == 0)
            MPI_Isend(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[BULK]);
        MPI_Wait(&requests[BULK], MPI_STATUS_IGNORE);
        ms[turn] = 1e3 * (MPI_Wtime() - start);
        MPI_Waitall(BULK, requests, MPI_STATUSES_IGNORE);
        most = ms[turn] > most ? ms[turn] : most;
    }
    if (rank == 1)
        printf("# 4 bytes behind %d messages of %d bytes: median %.1f ms, at most %.1f ms\n", BULK,
               BULK_BYTES, median(ms, turns), most);
    free(bulk);
}

int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int turns = argc > 3 ? atoi(argv[3]) : 0;
    if (ranks != 2 || argc < 5 || turns < 1 || turns > MOST_TURNS) {
        fprintf(stderr, "usage: both_ways ADDRESS PORT TURNS SIZE:COUNT... (2 ranks)\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int fd = connect_ranks(argv[1], atoi(argv[2]));
    for (int i = 4; i < argc; i++) {
        const char *colon = strchr(argv[i], ':');
        compare(fd, atoi(argv[i]), colon ? atoi(colon + 1) : 1, turns);
    }
    send_behind(turns);
    close(fd);
    MPI_Finalize();
    return 0;
}
