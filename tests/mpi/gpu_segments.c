// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,rxm,shm-hip seconds=120
// run: ranks=3 lanes=shm,net-soft seconds=120
// run: ranks=4 lanes=coll-3,nodes seconds=120
/*
 * Long reductions of buffers in GPU memory, which are combined in segments: the results are those
 * of the host, for operations that do not commute, types with holes, and elements longer than a
 * segment; a segment is combined while the next one and the one before are copied; and the memory
 * on the host is bounded.
 */
#include "gpu.h"

#include <sys/resource.h>

enum { LONG = 1200000 /* int, more than is staged as a whole */, SEGMENT = 256 << 10 };

static int n, me;

/* ---- Results */

/* (a, b) o (c, d) = (a c, a d + b), modulo 2^32: maps x -> a x + b, which do not commute. */
static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const unsigned *left = in;
    unsigned *right = inout;
    (void)type;
    for (int i = 0; i < *len; i++, left += 2, right += 2) {
        right[1] = left[0] * right[1] + left[1];
        right[0] = left[0] * right[0];
    }
}

enum { HUGE_INTS = SEGMENT / 2 }; /* elements of two segments */

static void add_huge(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len * HUGE_INTS; i++)
        ((unsigned *)inout)[i] += ((unsigned *)in)[i];
}

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static void reduce_all(enum form form, const void *in, void *out, int count, MPI_Datatype type,
                       MPI_Op op)
{
    MPI_Request request;
    if (form == BLOCKING)
        MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD);
    if (form == NONBLOCKING)
        MPI_Iallreduce(in, out, count, type, op, MPI_COMM_WORLD, &request);
    if (form == PERSISTENT) {
        MPI_Allreduce_init(in, out, count, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    if (form != BLOCKING)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT)
        MPI_Request_free(&request);
}

/* At rank `host`, if any, the operand is on the host. */
static void compare(const char *what, size_t element, MPI_Datatype type, MPI_Op op, int count,
                    enum form form, int host)
{
    size_t bytes = (size_t)count * element;
    struct gpu_buffer in = gpu_buffer_new(me == host ? GPU_HOST : GPU_DEVICE, bytes);
    struct gpu_buffer out = gpu_buffer_new(GPU_DEVICE, bytes);
    char *expected = check_zeroed(bytes);
    check_step("%s, form %d, rank %d on the host", what, form, host);
    for (size_t i = 0; i < bytes / sizeof(int); i++)
        ((int *)(void *)in.host)[i] = (int)(check_mix((uint64_t)me * 7919 + i) % 1000);
    memset(out.host, 0, bytes);
    gpu_put(&in);
    gpu_put(&out);
    reduce_all(BLOCKING, in.host, expected, count, type, op);
    reduce_all(form, in.data, out.data, count, type, op);
    gpu_get(&out);
    CHECK(!memcmp(out.host, expected, bytes), "%s: wrong allreduce", what);
    gpu_put(&in);
    reduce_all(form, MPI_IN_PLACE, in.data, count, type, op);
    gpu_get(&in);
    memset(out.host, 0, bytes);
    gpu_put(&out);
    for (size_t i = 0; i < bytes / sizeof(int); i++)
        ((int *)(void *)out.host)[i] = (int)(check_mix((uint64_t)me * 7919 + i) % 1000);
    gpu_put(&out);
    MPI_Reduce(me == n - 1 ? MPI_IN_PLACE : out.data, out.data, count, type, op, n - 1,
               MPI_COMM_WORLD);
    gpu_get(&out);
    CHECK(me != n - 1 || !memcmp(out.host, in.host, bytes), "%s: wrong reduce in place", what);
    free(expected);
    gpu_buffer_free(&in);
    gpu_buffer_free(&out);
}

static void results(void)
{
    MPI_Op maps, huge_sum;
    MPI_Datatype map, huge;
    MPI_Op_create(compose, 0, &maps);
    MPI_Op_create(add_huge, 1, &huge_sum);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &map);
    MPI_Type_contiguous(HUGE_INTS, MPI_INT, &huge);
    MPI_Type_commit(&map);
    MPI_Type_commit(&huge);
    for (int form = 0; form < FORMS; form++)
        compare("sum of int", sizeof(int), MPI_INT, MPI_SUM, LONG, (enum form)form, form - 1);
    compare("maps", 8, map, maps, LONG / 2 + 77, BLOCKING, -1);
    compare("the greatest double", 16, MPI_DOUBLE_INT, MPI_MAXLOC, LONG / 3, BLOCKING, -1);
    compare("huge elements", HUGE_INTS * sizeof(int), huge, huge_sum, 11, BLOCKING, 0);
    MPI_Type_free(&map);
    MPI_Type_free(&huge);
    MPI_Op_free(&maps);
    MPI_Op_free(&huge_sum);
}

/* ---- Overlap, as the stand-in executes copies when their end is awaited */

static const int *queued; /* by the driver: from device memory, to it */
static int calls, with_next, with_former;

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    calls++;
    with_next += queued[0] > 0;
    with_former += queued[1] > 0;
    for (int i = 0; i < *len; i++)
        ((unsigned *)inout)[i] += ((unsigned *)in)[i];
}

static void overlap(void)
{
    enum { SEGMENTS = 9, COUNT = SEGMENTS * SEGMENT / sizeof(int) - 3 };
    struct gpu_buffer a = gpu_buffer_new(GPU_DEVICE, COUNT * sizeof(int));
    struct gpu_buffer b = gpu_buffer_new(GPU_DEVICE, LONG * sizeof(int));
    MPI_Op op;
    check_step("overlap");
    MPI_Op_create(add, 1, &op);
    MPI_Reduce_local(a.data, b.data, COUNT, MPI_INT, op);
    CHECK(calls == SEGMENTS, "%d segments", calls);
    CHECK(with_next == SEGMENTS - 1, "%d were combined while the next one was copied", with_next);
    CHECK(with_former == SEGMENTS - 1, "%d, while the one before was copied", with_former);
    calls = with_next = with_former = 0;
    MPI_Allreduce(MPI_IN_PLACE, b.data, LONG, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(with_next >= calls / 2 && with_former >= calls / 2,
          "allreduce: of %d segments %d and %d were combined during a copy", calls, with_next,
          with_former);
    MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* some have none */
    CHECK(calls >= LONG / (SEGMENT / (int)sizeof(int)), "allreduce: %d segments", calls);
    MPI_Op_free(&op);
    gpu_buffer_free(&a);
    gpu_buffer_free(&b);
}

/* ---- Memory: what the process may allocate is limited. */

enum { MiB = 1 << 20, BYTES = 64 * MiB };

static void limit_memory(rlim_t more)
{
    struct rlimit limit;
    char line[256];
    unsigned long long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && !kib && fgets(line, sizeof line, status))
        sscanf(line, "VmData: %llu", &kib);
    fclose(status);
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = more ? kib * 1024 + more : limit.rlim_max;
    CHECK(!setrlimit(RLIMIT_DATA, &limit), "setrlimit");
}

static void memory(void)
{
    char *a = gpu_alloc(GPU_DEVICE, BYTES), *b = gpu_alloc(GPU_DEVICE, BYTES);
    check_step("memory");
    MPI_Allreduce(MPI_IN_PLACE, b, LONG, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* connects */
    limit_memory(4 * MiB);
    MPI_Reduce_local(a, b, BYTES / sizeof(int), MPI_INT, MPI_SUM);
    /* Of the host an allreduce needs as much as the operand. */
    limit_memory(BYTES + 24 * MiB);
    MPI_Allreduce(a, b, BYTES / sizeof(int), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    limit_memory(0);
    gpu_free(GPU_DEVICE, a);
    gpu_free(GPU_DEVICE, b);
}

int main(int argc, char **argv)
{
    gpu_begin();
    check_begin(&argc, &argv, 2);
    n = check.size;
    me = check.rank;
    queued = dlsym(gpu.driver, "stand_in_queued");
    results();
    if (queued)
        overlap();
    if (!getenv("WEFT_TEST_SHORT")) /* sanitizers have memory of their own */
        memory();
    return check_done();
}
