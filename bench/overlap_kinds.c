// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_overlap KIND [--all] [-m BYTES] [-i ITERATIONS] [-t TIMES]: how much of a communication is
 * hidden behind computation. KIND: isend (rank 0 computes while it sends), irecv (rank 0 computes
 * while it receives), ibcast (rank 0 computes and is not the root), iallreduce, ialltoall,
 * iwrite_all (a file in the folder BENCH_FOLDER, else /tmp; rank 0 writes, with --all each rank,
 * over the same bytes each time). BYTES: of the message, or of one rank's data for another.
 *
 * Each iteration has three parts: the communication alone, the computation alone (TIMES, 1,
 * as long as the communication was in a trial), and the communication started before the
 * computation and completed after it. Overlap = 1 - (both - computation) / communication, at least
 * 0, of the lower quartiles; as in the OSU benchmarks, but both parts are measured side by side,
 * because the machine's speed varies. Only rank 0 computes; with --all every rank does. The other
 * ranks wait inside MPI.
 *
 * Rank 0's main thread has the first core for itself, all other threads, the progress threads among
 * them, share the other cores: they stand for the free core that a progress thread needs. With
 * --all nothing is bound.
 *
 * Prints "overlap KIND BYTES COMMUNICATION COMPUTATION BOTH OVERLAP", in microseconds.
 */
#include "figures.h"

#include <dirent.h>
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { ISEND, IRECV, IBCAST, IALLREDUCE, IALLTOALL, IWRITE_ALL, KINDS };
enum { TAG = 7, WARMUP = 20, MOST = 10000 };

static const char *const names[KINDS] = {"isend",      "irecv",     "ibcast",
                                         "iallreduce", "ialltoall", "iwrite_all"};

static struct {
    enum kind kind;
    int rank, size, bytes, iterations, times;
    bool all;
    char *from, *to;
    uint64_t work; /* turns of the computation's loop */
    MPI_File file;
} run;

/* In registers only, so that it takes the same time beside a copy of memory. */
static void compute(uint64_t turns)
{
    uint64_t x = turns | 1;
    for (uint64_t i = 0; i < turns; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
        __asm__ volatile("" : "+r"(x));
    }
}

static void start(MPI_Request *request)
{
    int sends = run.kind == ISEND ? 0 : 1;
    switch (run.kind) {
    case ISEND:
    case IRECV:
        *request = MPI_REQUEST_NULL;
        if (run.rank == sends)
            MPI_Isend(run.from, run.bytes, MPI_BYTE, 1 - sends, TAG, MPI_COMM_WORLD, request);
        else if (run.rank == 1 - sends)
            MPI_Irecv(run.to, run.bytes, MPI_BYTE, sends, TAG, MPI_COMM_WORLD, request);
        break;
    case IBCAST:
        MPI_Ibcast(run.to, run.bytes, MPI_BYTE, 1, MPI_COMM_WORLD, request);
        break;
    case IALLREDUCE:
        MPI_Iallreduce(run.from, run.to, run.bytes, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD, request);
        break;
    case IWRITE_ALL:
        MPI_File_iwrite_at_all(run.file, run.rank * (MPI_Offset)run.bytes, run.from,
                               run.all || run.rank == 0 ? run.bytes : 0, MPI_BYTE, request);
        break;
    default:
        MPI_Ialltoall(run.from, run.bytes, MPI_BYTE, run.to, run.bytes, MPI_BYTE, MPI_COMM_WORLD,
                      request);
    }
}

/* Microseconds of a communication with so much computation inside. */
static double communicate(uint64_t work)
{
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = bench_seconds();
    start(&request);
    if (work && (run.all || run.rank == 0))
        compute(work);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return 1e6 * (bench_seconds() - begin);
}

/* The lower one: most of what disturbs an iteration makes it longer. */
static double quartile(double *list, int n)
{
    qsort(list, (size_t)n, sizeof *list, bench_by_value);
    return list[n / 4];
}

/* Sets run.work such that the computation takes as long as the communication, on rank 0. */
static void calibrate(double *list)
{
    for (int i = 0; i < WARMUP; i++)
        communicate(0);
    for (int i = 0; i < WARMUP; i++)
        list[i] = communicate(0);
    double wanted = quartile(list, WARMUP), turns = 1e5;
    for (int i = 0; i < WARMUP; i++) {
        double begin = bench_seconds();
        compute((uint64_t)turns);
        list[i] = 1e6 * (bench_seconds() - begin);
    }
    run.work = (uint64_t)(turns * run.times * wanted / quartile(list, WARMUP)) + 1;
    MPI_Bcast(&run.work, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
}

/* Binds the threads of this process. */
static void bind_threads(void)
{
    cpu_set_t first, others;
    DIR *dir = opendir("/proc/self/task");
    CPU_ZERO(&first);
    CPU_ZERO(&others);
    CPU_SET(0, &first);
    for (int core = 1; core < sysconf(_SC_NPROCESSORS_ONLN); core++)
        CPU_SET(core, &others);
    if (!dir || !CPU_COUNT(&others)) {
        fprintf(stderr, "weft_overlap: two cores are needed, and /proc\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        pid_t thread = (pid_t)atoi(entry->d_name);
        bool computes = run.rank == 0 && thread == getpid();
        if (thread > 0)
            sched_setaffinity(thread, sizeof first, computes ? &first : &others);
    }
    closedir(dir);
}

static void measure(void)
{
    double *alone = calloc(MOST, sizeof *alone), *computed = calloc(MOST, sizeof *computed),
           *both = calloc(MOST, sizeof *both);
    if (!alone || !computed || !both) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    calibrate(alone);
    for (int i = 0; i < run.iterations; i++) {
        alone[i] = communicate(0);
        double begin = bench_seconds();
        compute(run.work);
        computed[i] = 1e6 * (bench_seconds() - begin);
        both[i] = communicate(run.work);
    }
    double a = quartile(alone, run.iterations), c = quartile(computed, run.iterations),
           b = quartile(both, run.iterations), overlap = 1 - (b - c) / a;
    if (run.rank == 0)
        printf("overlap %s %d %.1f %.1f %.1f %.3f\n", names[run.kind], run.bytes, a, c, b,
               overlap < 0   ? 0
               : overlap > 1 ? 1
                             : overlap);
    free(alone);
    free(computed);
    free(both);
}

/* The file is removed when it is closed. */
static void open_file(void)
{
    char name[4096];
    const char *folder = getenv("BENCH_FOLDER");
    snprintf(name, sizeof name, "%s/weft-overlap-%ld", folder ? folder : "/tmp", (long)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_WORLD, name,
                  MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &run.file);
}

static bool parse(int argc, char **argv)
{
    run.bytes = 1 << 20;
    run.iterations = 200;
    run.times = 1;
    run.kind = KINDS;
    for (int k = 0; k < KINDS && argc > 1; k++)
        if (strcmp(argv[1], names[k]) == 0)
            run.kind = (enum kind)k;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0)
            run.all = true;
        else if (strcmp(argv[i], "-m") == 0 && i + 1 < argc)
            run.bytes = atoi(argv[++i]);
        else if (strcmp(argv[i], "-i") == 0 && i + 1 < argc)
            run.iterations = atoi(argv[++i]);
        else if (strcmp(argv[i], "-t") == 0 && i + 1 < argc)
            run.times = atoi(argv[++i]);
        else
            return false;
    }
    return run.kind < KINDS && run.bytes > 0 && run.times > 0 && run.iterations > 0 &&
           run.iterations <= MOST;
}

int main(int argc, char **argv)
{
    bool good = parse(argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.size);
    if (!good || run.size < 2) {
        if (run.rank == 0)
            fprintf(stderr,
                    "usage: weft_overlap isend|irecv|ibcast|iallreduce|ialltoall|iwrite_all "
                    "[--all] [-m BYTES] [-i ITERATIONS] [-t TIMES], on 2 or more ranks\n");
        MPI_Finalize();
        return 2;
    }
    size_t bytes = (size_t)run.bytes * (size_t)run.size;
    run.from = calloc(bytes, 1);
    run.to = calloc(bytes, 1);
    if (!run.from || !run.to)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(run.from, 1, bytes);
    memset(run.to, 1, bytes);
    if (run.kind == IWRITE_ALL)
        open_file();
    if (!run.all)
        bind_threads();
    measure();
    if (run.kind == IWRITE_ALL)
        MPI_File_close(&run.file);
    free(run.from);
    free(run.to);
    MPI_Finalize();
    return 0;
}
