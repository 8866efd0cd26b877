// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,rxm,shm-hip,rxm-hip seconds=120
// run: ranks=3 lanes=shm-coll-copy,net-soft seconds=120
// run: ranks=4 lanes=shm-coll,coll-1,coll-2,coll-3,nodes,mixed-soft seconds=120
/*
 * Collectives with buffers in GPU memory, at all ranks or at some: blocking, nonblocking and
 * persistent, in place, with predefined and own operations. Each result is compared with that of
 * the same call on host memory. Also one-sided operations whose origin is in GPU memory,
 * MPI_Reduce_local, and windows of GPU memory, which are refused.
 */
#include "gpu.h"

enum { FORMS = 3 };

static int n, me;
static MPI_Op own;
static MPI_Datatype spread; /* doubles, 24 bytes apart */

static void add_int(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* A call on two buffers; form: blocking, nonblocking, persistent (started twice). */
typedef int call_function(int form, const void *in, void *out, int count, MPI_Request *request);

#define FORMS_OF(NAME, ...)                                                                        \
    (form == 0   ? MPI_##NAME(__VA_ARGS__, MPI_COMM_WORLD)                                         \
     : form == 1 ? MPI_I##NAME##_LOWER(__VA_ARGS__, MPI_COMM_WORLD, request)                       \
                 : MPI_##NAME##_init(__VA_ARGS__, MPI_COMM_WORLD, MPI_INFO_NULL, request))
#define MPI_IBcast_LOWER                MPI_Ibcast
#define MPI_IReduce_LOWER               MPI_Ireduce
#define MPI_IAllreduce_LOWER            MPI_Iallreduce
#define MPI_IGather_LOWER               MPI_Igather
#define MPI_IScatter_LOWER              MPI_Iscatter
#define MPI_IAllgather_LOWER            MPI_Iallgather
#define MPI_IAllgatherv_LOWER           MPI_Iallgatherv
#define MPI_IAlltoall_LOWER             MPI_Ialltoall
#define MPI_IAlltoallw_LOWER            MPI_Ialltoallw
#define MPI_IReduce_scatter_LOWER       MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block_LOWER MPI_Ireduce_scatter_block
#define MPI_IScan_LOWER                 MPI_Iscan
#define MPI_IExscan_LOWER               MPI_Iexscan

static int counts[16], displs[16];
static MPI_Datatype types[16];

/* `each` elements of a block; blocks of different lengths. */
static void cut(int each, int unit)
{
    for (int i = 0, at = 0; i < n; i++) {
        counts[i] = i % 2 ? each : each / 2;
        displs[i] = at * unit;
        types[i] = MPI_INT;
        at += counts[i];
    }
}

static int bcast(int form, const void *in, void *out, int count, MPI_Request *request)
{
    (void)in;
    return FORMS_OF(Bcast, out, count, MPI_INT, 1);
}

static int bcast_spread(int form, const void *in, void *out, int count, MPI_Request *request)
{
    (void)in;
    return FORMS_OF(Bcast, out, count / 6, spread, 0);
}

static int reduce(int form, const void *in, void *out, int count, MPI_Request *request)
{
    return FORMS_OF(Reduce, in, out, count, MPI_INT, MPI_SUM, n - 1);
}

static int allreduce(int form, const void *in, void *out, int count, MPI_Request *request)
{
    return FORMS_OF(Allreduce, in, out, count, MPI_INT, MPI_MAX);
}

static int allreduce_own(int form, const void *in, void *out, int count, MPI_Request *request)
{
    return FORMS_OF(Allreduce, in, out, count, MPI_INT, own);
}

static int allreduce_in_place(int form, const void *in, void *out, int count, MPI_Request *request)
{
    (void)in;
    return FORMS_OF(Allreduce, MPI_IN_PLACE, out, count, MPI_INT, MPI_SUM);
}

static int gather(int form, const void *in, void *out, int count, MPI_Request *request)
{
    return FORMS_OF(Gather, in, count / n, MPI_INT, out, count / n, MPI_INT, 0);
}

static int scatter(int form, const void *in, void *out, int count, MPI_Request *request)
{
    return FORMS_OF(Scatter, in, count / n, MPI_INT, out, count / n, MPI_INT, 1);
}

static int allgather(int form, const void *in, void *out, int count, MPI_Request *request)
{
    return FORMS_OF(Allgather, in, count / n, MPI_INT, out, count / n, MPI_INT);
}

static int allgatherv(int form, const void *in, void *out, int count, MPI_Request *request)
{
    cut(count / n, 1);
    return FORMS_OF(Allgatherv, in, counts[me], MPI_INT, out, counts, displs, MPI_INT);
}

static int alltoall(int form, const void *in, void *out, int count, MPI_Request *request)
{
    return FORMS_OF(Alltoall, in, count / n, MPI_INT, out, count / n, MPI_INT);
}

static int alltoall_in_place(int form, const void *in, void *out, int count, MPI_Request *request)
{
    (void)in;
    return FORMS_OF(Alltoall, MPI_IN_PLACE, 0, MPI_INT, out, count / n, MPI_INT);
}

static int alltoallw(int form, const void *in, void *out, int count, MPI_Request *request)
{
    for (int i = 0; i < n; i++) {
        counts[i] = count / n;
        displs[i] = i * (count / n) * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    return FORMS_OF(Alltoallw, in, counts, displs, types, out, counts, displs, types);
}

static int reduce_scatter(int form, const void *in, void *out, int count, MPI_Request *request)
{
    cut(count / n, 1);
    return FORMS_OF(Reduce_scatter, in, out, counts, MPI_INT, MPI_SUM);
}

static int reduce_scatter_in_place(int form, const void *in, void *out, int count,
                                   MPI_Request *request)
{
    (void)in;
    cut(count / n, 1);
    return FORMS_OF(Reduce_scatter, MPI_IN_PLACE, out, counts, MPI_INT, MPI_SUM);
}

static int reduce_scatter_block(int form, const void *in, void *out, int count,
                                MPI_Request *request)
{
    return FORMS_OF(Reduce_scatter_block, in, out, count / n, MPI_INT, MPI_SUM);
}

static int scan(int form, const void *in, void *out, int count, MPI_Request *request)
{
    return FORMS_OF(Scan, in, out, count, MPI_INT, MPI_SUM);
}

static int exscan(int form, const void *in, void *out, int count, MPI_Request *request)
{
    return FORMS_OF(Exscan, in, out, count, MPI_INT, MPI_SUM);
}

static const struct {
    const char *name;
    call_function *call;
    bool in_place; /* of a started call the second result differs from the first */
} calls[] = {{"bcast", bcast, false},
             {"bcast of spread doubles", bcast_spread, false},
             {"reduce", reduce, false},
             {"allreduce", allreduce, false},
             {"allreduce, own operation", allreduce_own, false},
             {"allreduce in place", allreduce_in_place, true},
             {"gather", gather, false},
             {"scatter", scatter, false},
             {"allgather", allgather, false},
             {"allgatherv", allgatherv, false},
             {"alltoall", alltoall, false},
             {"alltoall in place", alltoall_in_place, true},
             {"alltoallw", alltoallw, false},
             {"reduce_scatter", reduce_scatter, false},
             {"reduce_scatter in place", reduce_scatter_in_place, true},
             {"reduce_scatter_block", reduce_scatter_block, false},
             {"scan", scan, false},
             {"exscan", exscan, false}};

static void run(int which, int form, const void *in, void *out, int count)
{
    MPI_Request request = MPI_REQUEST_NULL;
    calls[which].call(form, in, out, count, &request);
    if (form == 2) {
        for (int i = 0; i < (calls[which].in_place ? 1 : 2); i++) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request);
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void fill(char *at, size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes / sizeof(int); i++)
        ((int *)(void *)at)[i] = (int)(check_mix((uint64_t)seed * 7919 + i) % 1000);
}

static void compare(int which, int form, int count, enum gpu_kind from, enum gpu_kind to)
{
    size_t bytes = (size_t)count * sizeof(int);
    struct gpu_buffer in = gpu_buffer_new(from, bytes), out = gpu_buffer_new(to, bytes);
    char *in_host = check_alloc(bytes), *out_host = check_alloc(bytes);
    check_step("%s of %d int, form %d, kinds %d and %d", calls[which].name, count, form, from, to);
    fill(in.host, bytes, me);
    fill(out.host, bytes, me + 100);
    memcpy(in_host, in.host, bytes);
    memcpy(out_host, out.host, bytes);
    gpu_put(&in);
    gpu_put(&out);
    run(which, form, in_host, out_host, count);
    run(which, form, in.data, out.data, count);
    gpu_get(&in);
    gpu_get(&out);
    CHECK(!memcmp(in.host, in_host, bytes), "%s, form %d: the operand changed", calls[which].name,
          form);
    CHECK(!memcmp(out.host, out_host, bytes),
          "%s of %d int, form %d, kinds %d and %d: wrong result", calls[which].name, count, form,
          from, to);
    gpu_buffer_free(&in);
    gpu_buffer_free(&out);
    free(in_host);
    free(out_host);
}

/* MPI_Compare_and_swap at a target: origin and result are in GPU memory, the value to compare with
 * is not. */
static void swap(int target, int *memory, MPI_Win win)
{
    const int first = 5 + me, second = 70 + me;
    struct gpu_buffer b = gpu_buffer_new(GPU_DEVICE, 2 * sizeof(int));
    int *origin = (int *)(void *)b.data, *host = (int *)(void *)b.host, compare = 0;
    check_step("compare and swap at rank %d", target);
    memory[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    for (int i = 0; i < 2; i++) {
        host[0] = i ? second : first;
        host[1] = -1;
        gpu_put(&b);
        MPI_Compare_and_swap(origin, &compare, origin + 1, MPI_INT, target, 0, win);
        MPI_Win_flush(target, win);
        gpu_get(&b);
        CHECK(host[1] == compare, "compare and swap returned %d", host[1]);
        compare = first;
    }
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Compare_and_swap(origin, origin, origin + 1, MPI_INT, target, 0, win),
                MPI_ERR_BUFFER);
    MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
    MPI_Win_unlock(target, win);
    MPI_Barrier(MPI_COMM_WORLD);
    int from = target == me ? me : (me + n - 1) % n;
    CHECK(memory[0] == 70 + from, "compare and swap stored %d", memory[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    gpu_buffer_free(&b);
}

static void one_sided(void)
{
    enum { COUNT = 60000 };
    struct gpu_buffer b = gpu_buffer_new(GPU_DEVICE, COUNT * sizeof(int));
    struct gpu_buffer c = gpu_buffer_new(GPU_DEVICE, COUNT * sizeof(int));
    int *memory, target = (me + 1) % n, one;
    MPI_Win win, none = MPI_WIN_NULL;
    check_step("one-sided operations");
    MPI_Win_allocate(COUNT * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    memset(memory, 0, COUNT * sizeof(int));
    for (int i = 0; i < COUNT; i++)
        ((int *)(void *)b.host)[i] = i + me;
    gpu_put(&b);
    MPI_Win_fence(0, win);
    MPI_Put(b.data, COUNT, MPI_INT, target, 0, COUNT, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(b.data, COUNT, MPI_INT, target, 0, COUNT, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(c.data, COUNT, MPI_INT, target, 0, COUNT, MPI_INT, win);
    MPI_Win_fence(0, win);
    gpu_get(&c);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += ((int *)(void *)c.host)[i] != 2 * (i + me);
    CHECK(wrong == 0, "put, accumulate and get: %d of %d wrong", wrong, COUNT);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Fetch_and_op(b.data, c.data, MPI_INT, target, 1, MPI_SUM, win);
    MPI_Win_unlock(target, win);
    gpu_copy(GPU_DEVICE, &one, c.data, sizeof one);
    CHECK(one == 2 * (1 + me), "fetch_and_op returned %d", one);
    swap(me, memory, win);
    swap(target, memory, win);
    MPI_Win_free(&win);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Buffer_attach(b.data, 64), MPI_ERR_BUFFER);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    int code = MPI_Win_create(b.data, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &none);
    CHECK(check_class(code) == MPI_ERR_BUFFER || check_class(code) == MPI_ERR_OTHER,
          "a window of GPU memory: class %d", check_class(code));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    fill(c.host, c.bytes, 3);
    gpu_put(&c);
    MPI_Reduce_local(b.data, c.data, COUNT, MPI_INT, MPI_MAX);
    memory = check_alloc(c.bytes);
    fill((char *)memory, c.bytes, 3);
    MPI_Reduce_local(b.host, memory, COUNT, MPI_INT, MPI_MAX);
    gpu_get(&c);
    CHECK(!memcmp(c.host, memory, c.bytes), "MPI_Reduce_local: wrong result");
    free(memory);
    gpu_buffer_free(&b);
    gpu_buffer_free(&c);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {12, 600, 30000, 180000};
    gpu_begin();
    check_begin(&argc, &argv, 2);
    n = check.size;
    me = check.rank;
    MPI_Op_create(add_int, 1, &own);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 24, &spread);
    MPI_Type_commit(&spread);
    for (size_t which = 0; which < sizeof calls / sizeof *calls; which++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int form = 0; form < FORMS; form++) {
                bool some = (s + which + (size_t)form) % 2;
                compare((int)which, form, sizes[s], some && me == 0 ? GPU_HOST : GPU_DEVICE,
                        some && me == n - 1 ? GPU_HOST : GPU_DEVICE);
            }
    one_sided();
    MPI_Type_free(&spread);
    MPI_Op_free(&own);
    return check_done();
}
