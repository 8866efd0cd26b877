// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-soft,shm,mixed seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Threads that probe (MPI 5.0, 3.8.2): with MPI_Probe and MPI_Recv one thread can take the message
 * that another has probed; with MPI_Mprobe and MPI_Mrecv what was probed is what is received.
 * Several threads take messages of many lengths from any source, each with a buffer of just the
 * right size.
 */
#include "../mpi/check.h"

#include <pthread.h>

enum { TAG = 14, THREADS = 3, EACH = 150, LONG = 30000 };

struct header {
    int source, index;
};

static int seen[64][EACH], wrong[THREADS], taken;

static int bytes_of(int i)
{
    static const int sizes[] = {8, 63, 64, 65, 1000, 17000, LONG};
    return sizes[i % 7];
}

/* Who takes the last message tells all threads to end: a message of length 0 for each. */
static void count_one(void)
{
    if (__atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED) == EACH) {
        for (int t = 0; t < THREADS; t++) {
            MPI_Send(NULL, 0, MPI_BYTE, check.rank, TAG, MPI_COMM_WORLD);
        }
    }
}

static void *take(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (;;) {
        MPI_Message message;
        MPI_Status probed, st;
        int bytes, got;
        struct header header;
        MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message, &probed);
        MPI_Get_count(&probed, MPI_BYTE, &bytes);
        unsigned char *in = check_alloc((size_t)bytes);
        MPI_Mrecv(in, bytes, MPI_BYTE, &message, &st);
        MPI_Get_count(&st, MPI_BYTE, &got);
        if (bytes == 0) {
            free(in);
            return NULL;
        }
        memcpy(&header, in, sizeof header);
        if (got != bytes || st.MPI_SOURCE != probed.MPI_SOURCE || message != MPI_MESSAGE_NULL ||
            header.source != st.MPI_SOURCE || header.index < 0 || header.index >= EACH ||
            bytes != bytes_of(header.index)) {
            fprintf(stderr, "rank %d thread %d: %d of %d bytes from rank %d, which is message %d\n",
                    check.rank, me, got, bytes, st.MPI_SOURCE, header.index);
            wrong[me]++;
        } else {
            __atomic_fetch_add(&seen[header.source][header.index], 1, __ATOMIC_RELAXED);
        }
        free(in);
        count_one();
    }
}

static void send_all(void)
{
    static unsigned char out[LONG];
    int up = (check.rank + 1) % check.size, other = (check.rank + 2) % check.size;
    for (int i = 0; i < EACH; i++) {
        struct header header = {check.rank, i};
        memcpy(out, &header, sizeof header);
        MPI_Send(out, bytes_of(i), MPI_BYTE, i % 2 ? up : other, TAG, MPI_COMM_WORLD);
    }
}

/* From this rank's neighbours, as send_all sends: each message once. */
static void verify(void)
{
    int down = (check.rank + check.size - 1) % check.size;
    int other = (check.rank + 2 * check.size - 2) % check.size;
    for (int r = 0; r < check.size; r++) {
        for (int i = 0; i < EACH; i++) {
            int expected = r == (i % 2 ? down : other);
            CHECK(seen[r][i] == expected, "message %d of rank %d came %d times, not %d", i, r,
                  seen[r][i], expected);
        }
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    check_begin_threads(&argc, &argv, 1);
    check_step("%d threads probing", THREADS);
    for (int t = 0; t < THREADS; t++) {
        pthread_create(&threads[t], NULL, take, (void *)(intptr_t)t);
    }
    send_all();
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        check.failures += wrong[t];
    }
    verify();
    return check_done();
}
