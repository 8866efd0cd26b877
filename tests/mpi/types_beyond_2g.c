// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm seconds=180 memory=4
/*
 * Messages with holes of more than 2^31 bytes, for real: runs that overlap at the sender, so that
 * it needs little memory, and one run of memory of which few pages were touched, both into runs
 * with holes.
 */
#include "check.h"

#include <sys/mman.h>

/* A run is a huge page, if the kernel has them: small ones cost ten times as long. */
enum { TAG = 3, RUN = 1 << 21, RUNS = 1050, STEP = 1 << 12 };

/* Address space without memory behind it until it is touched; it begins at a multiple of RUN. */
static unsigned char *sparse(size_t bytes)
{
    char *p = mmap(NULL, bytes + RUN, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    p += RUN - (uintptr_t)p % RUN;
    madvise(p, bytes, MADV_HUGEPAGE);
    return (unsigned char *)p;
}

static unsigned char value(size_t i)
{
    return (unsigned char)(i * 7 + (i >> 9) + (i >> 17));
}

/* Byte k of run i of the first message is byte i * STEP + k of the buffer. */
static void send_both(void)
{
    size_t overlapping = (size_t)RUNS * STEP + RUN;
    unsigned char *some = check_alloc(overlapping), *all = sparse((size_t)RUNS * RUN);
    MPI_Datatype type;
    for (size_t i = 0; i < overlapping; i++)
        some[i] = value(i);
    MPI_Type_create_hvector(RUNS, RUN, STEP, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    check_step("sending runs that overlap");
    MPI_Send(some, 1, type, 1, TAG, MPI_COMM_WORLD);
    for (int i = 0; i < RUNS; i += 100)
        all[(size_t)i * RUN + (size_t)i] = (unsigned char)(i % 255 + 1);
    check_step("sending a run");
    MPI_Send_c(all, (MPI_Count)RUNS * RUN, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    free(some);
    munmap(all, (size_t)RUNS * RUN);
}

static void receive_both(void)
{
    size_t span = 2 * (size_t)RUNS * RUN, wrong = 0;
    unsigned char *data = sparse(span);
    MPI_Count got = 0;
    MPI_Datatype type;
    MPI_Status status;
    MPI_Type_create_hvector(RUNS, RUN, 2 * (MPI_Aint)RUN, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    check_step("receiving runs that overlapped");
    MPI_Recv(data, 1, type, 0, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_elements_c(&status, type, &got);
    CHECK(got == (MPI_Count)RUNS * RUN, "%lld bytes came", (long long)got);
    for (size_t i = 0; i < RUNS; i++)
        for (size_t k = i % 61; k < RUN; k += 61)
            wrong += data[2 * i * RUN + k] != value(i * STEP + k);
    CHECK(wrong == 0, "%zu bytes of the first message are wrong", wrong);
    check_step("receiving a run");
    MPI_Recv(data, 1, type, 0, TAG, MPI_COMM_WORLD, &status);
    for (size_t i = wrong = 0; i < RUNS; i++)
        for (size_t k = i % 61; k < RUN; k += 61)
            if (data[2 * i * RUN + k] != 0)
                wrong += i % 100 || k != i;
    for (size_t i = 0; i < RUNS; i += 100)
        wrong += data[2 * i * RUN + i] != (unsigned char)(i % 255 + 1);
    CHECK(wrong == 0, "%zu bytes of the second message are wrong", wrong);
    MPI_Type_free(&type);
    munmap(data, span);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    if (check.rank == 0)
        send_both();
    else if (check.rank == 1)
        receive_both();
    return check_done();
}
