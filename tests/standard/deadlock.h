// SPDX-License-Identifier: BSD-3-Clause
/*
 * A deadlock on purpose, diagnosed and dissolved: stderr goes through a pipe to a second thread,
 * which waits until the library's report (WEFT_HANG_TIMEOUT, one second here) names what this rank
 * waits for, agrees with its neighbours that theirs have too, and then does what the program lacks,
 * so that the rank comes out of its call. Everything read is passed on to the real stderr.
 *
 * Invariant: a rank leaves its deadlock only after its own report was read and found right.
 */
#ifndef WEFT_TESTS_DEADLOCK_H
#define WEFT_TESTS_DEADLOCK_H

#include "../mpi/check.h"

#include <pthread.h>

enum { DEADLOCK_SEEN = 4001, DEADLOCK_TEXT = 1 << 16 };

static struct {
    int from, to; /* the pipe's end to read, and the real stderr */
    char text[DEADLOCK_TEXT];
    size_t used, looked; /* lines that end before `looked` were there before this deadlock */
} deadlock;

/* Called before MPI_Init: the setting, and the pipe in the place of stderr. */
static void deadlock_begin(int *argc, char ***argv)
{
    int ends[2], provided = -1;
    deadlock.to = dup(STDERR_FILENO);
    if (deadlock.to < 0 || pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0) {
        perror("a pipe for stderr");
        exit(96);
    }
    close(ends[1]);
    deadlock.from = ends[0];
    check_watch(); /* by the setting of whoever started this */
    setenv("WEFT_HANG_TIMEOUT", "1", 1);
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    check_world(1);
    CHECK(provided == MPI_THREAD_MULTIPLE, "MPI_Init_thread provided %d", provided);
}

/* More of stderr. False at its end, or when there is too much of it. */
static bool deadlock_read(void)
{
    char *room = deadlock.text + deadlock.used;
    ssize_t n = read(deadlock.from, room, DEADLOCK_TEXT - 1 - deadlock.used);
    if (n <= 0) {
        return false;
    }
    ssize_t shown = write(deadlock.to, room, (size_t)n);
    deadlock.used += (size_t)n;
    deadlock.text[deadlock.used] = 0;
    return shown == n;
}

/* Whether one line of this deadlock's report has both words. */
static bool deadlock_says(const char *a, const char *b)
{
    for (const char *line = deadlock.text + deadlock.looked, *end;
         (end = strchr(line, '\n')) != NULL; line = end + 1) {
        const char *first = strstr(line, a), *second = strstr(line, b);
        if (first && first < end && second && second < end) {
            return true;
        }
    }
    return false;
}

/* What the report must say of this rank, and how the rank is freed. */
struct deadlock_case {
    const char *function;  /* "MPI_Recv" */
    const char *operation; /* "receive of up to 8 bytes from rank" */
    int peer, tag;
    void (*dissolve)(void);
};

static void *deadlock_watch(void *arg)
{
    const struct deadlock_case *it = arg;
    char where[64], who[32], what[160], tag[64];
    snprintf(where, sizeof where, "s in %s without progress", it->function);
    snprintf(who, sizeof who, "weft: rank %d on", check.rank);
    snprintf(what, sizeof what, "  %s %d on ", it->operation, it->peer);
    snprintf(tag, sizeof tag, ", tag %d, MPI_COMM_WORLD: ", it->tag);
    while (!deadlock_says(who, where) || !deadlock_says(what, tag)) {
        if (!deadlock_read()) {
            fprintf(stdout, "rank %d: stderr ended before the report\n", check.rank);
            exit(96);
        }
    }
    deadlock.looked = deadlock.used;
    /* The neighbours' reports too: what frees them would come before theirs otherwise. */
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    MPI_Request requests[4];
    MPI_Irecv(NULL, 0, MPI_INT, up, DEADLOCK_SEEN, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(NULL, 0, MPI_INT, down, DEADLOCK_SEEN + 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(NULL, 0, MPI_INT, down, DEADLOCK_SEEN, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(NULL, 0, MPI_INT, up, DEADLOCK_SEEN + 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    it->dissolve();
    return NULL;
}

/* Starts the watch; the caller then walks into the deadlock and joins the thread behind it. */
static pthread_t deadlock_expect(struct deadlock_case *it)
{
    pthread_t thread;
    MPI_Barrier(MPI_COMM_WORLD);
    if (pthread_create(&thread, NULL, deadlock_watch, it)) {
        perror("pthread_create");
        exit(96);
    }
    return thread;
}

/* stderr is itself again; what it still held is passed on. */
static void deadlock_end(void)
{
    fflush(stderr);
    dup2(deadlock.to, STDERR_FILENO);
    deadlock.used = 0;
    while (deadlock_read()) {
        deadlock.used = 0;
    }
    close(deadlock.from);
}

#endif
