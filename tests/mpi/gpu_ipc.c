// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,shm-copy,shm-small,shm-hip seconds=60
// run: ranks=4 lanes=mixed seconds=60
/*
 * Long messages between ranks of a node whose send buffer is in GPU memory: the receiver maps that
 * memory, and copies once, unless the memory cannot be mapped. The counters show which of both was
 * done. Memory that is freed and whose addresses are used again, more allocations than mappings are
 * kept, a receive that is too short, an owner whose memory the driver refuses to map.
 */
#include "gpu.h"
#include "tool.h"

enum { TAG = 3, BYTES = 2 << 20, MANY = 70 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle ipc, staged;
static count_t ipc_before, staged_before;

static void remember(void)
{
    ipc_before = tool_read(session, ipc);
    staged_before = tool_read(session, staged);
}

/* Since `remember`. */
static void check_counts(const char *what, count_t by_ipc, count_t by_staging)
{
    count_t i = tool_read(session, ipc) - ipc_before,
            s = tool_read(session, staged) - staged_before;
    CHECK(i == by_ipc && s == by_staging,
          "%s: %llu bytes by IPC and %llu staged, expected %llu and %llu", what, i, s, by_ipc,
          by_staging);
}

/* A message of `count` elements from rank 0 to rank 1, whose buffers have these kinds. `mapped`: it
 * passes by IPC. */
static void exchange(const char *what, enum gpu_kind from, enum gpu_kind to, int count,
                     MPI_Datatype sent, MPI_Datatype received, int mapped)
{
    int size;
    MPI_Aint lower, extent;
    MPI_Type_size(sent, &size);
    MPI_Type_get_extent(check.rank == 0 ? sent : received, &lower, &extent);
    size_t bytes = (size_t)count * (size_t)size, space = (size_t)count * (size_t)extent;
    int other;
    MPI_Type_size(received, &other);
    int elements = (int)(bytes / (size_t)other);
    if (check.rank == 1)
        space = (size_t)elements * (size_t)extent;
    struct gpu_buffer b = gpu_buffer_new(check.rank == 0 ? from : to, space);
    char *packed = check_alloc(bytes), *got = check_alloc(bytes);
    int position = 0;
    check_step("%s", what);
    check_fill(packed, bytes, 0, count, 0);
    if (check.rank == 0) {
        MPI_Unpack(packed, (int)bytes, &position, b.host, count, sent, MPI_COMM_WORLD);
        gpu_put(&b);
        remember();
        MPI_Send(b.data, count, sent, 1, TAG, MPI_COMM_WORLD);
        check_counts(what, 0, from == GPU_HOST || mapped ? 0 : bytes);
    } else {
        remember();
        MPI_Recv(b.data, elements, received, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_counts(what, mapped ? bytes : 0, to == GPU_HOST || mapped ? 0 : bytes);
        gpu_get(&b);
        MPI_Pack(b.host, elements, received, got, (int)bytes, &position, MPI_COMM_WORLD);
        CHECK(!memcmp(got, packed, bytes), "%s: wrong data", what);
    }
    gpu_buffer_free(&b);
    free(packed);
    free(got);
}

static void send_and_check(struct gpu_buffer *b, int seed, int received)
{
    char *wanted = check_alloc(b->bytes);
    check_fill(wanted, b->bytes, 0, seed, 0);
    if (check.rank == 0) {
        memcpy(b->host, wanted, b->bytes);
        gpu_put(b);
        MPI_Send(b->data, (int)b->bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else {
        int code = MPI_Recv(b->data, received, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int class = MPI_SUCCESS;
        MPI_Error_class(code, &class);
        CHECK(class == (received < (int)b->bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
              "a receive of %d bytes returned class %d", received, class);
        gpu_get(b);
        CHECK(!memcmp(b->host, wanted, (size_t)received), "message %d: wrong data", seed);
        for (size_t i = (size_t)received; i < b->bytes; i++)
            CHECK((unsigned char)b->host[i] == CHECK_GUARD_BYTE, "byte %zu has changed", i);
    }
    free(wanted);
}

/* The sender frees its memory after each message, and its addresses are used again. */
static void use_again(void)
{
    check_step("memory whose addresses are used again");
    for (int i = 0; i < 5; i++) {
        struct gpu_buffer b = gpu_buffer_new(GPU_DEVICE, BYTES);
        send_and_check(&b, i, BYTES);
        gpu_buffer_free(&b);
    }
}

static void too_many(void)
{
    enum { EACH = 40000 };
    static struct gpu_buffer b[MANY];
    check_step("%d allocations", (int)MANY);
    for (int i = 0; i < MANY; i++)
        b[i] = gpu_buffer_new(GPU_DEVICE, EACH);
    for (int i = 0; i < 2 * MANY; i++)
        send_and_check(&b[i % MANY], i, EACH);
    for (int i = 0; i < MANY; i++)
        gpu_buffer_free(&b[i]);
}

static void too_short(void)
{
    struct gpu_buffer b = gpu_buffer_new(GPU_DEVICE, BYTES);
    check_step("a receive that is too short");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    send_and_check(&b, 1, BYTES - 1000);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    gpu_buffer_free(&b);
}

int main(int argc, char **argv)
{
    MPI_Datatype row, twice;
    int *refuses;
    gpu_begin();
    tool_begin();
    check_begin(&argc, &argv, 2);
    if (check.rank > 1) {
        MPI_T_finalize();
        return check_done();
    }
    MPI_T_pvar_session_create(&session);
    ipc = tool_pvar(session, "weft_gpu_bytes_ipc", NULL);
    staged = tool_pvar(session, "weft_gpu_bytes_staged", NULL);
    MPI_Type_vector(1000, 100, 200, MPI_BYTE, &row);
    MPI_Type_create_resized(row, 0, 200000, &twice);
    MPI_Type_commit(&twice);
    exchange("device to device", GPU_DEVICE, GPU_DEVICE, BYTES, MPI_BYTE, MPI_BYTE, 1);
    exchange("device to host", GPU_DEVICE, GPU_HOST, BYTES, MPI_BYTE, MPI_BYTE, 1);
    exchange("host to device", GPU_HOST, GPU_DEVICE, BYTES, MPI_BYTE, MPI_BYTE, 0);
    exchange("device to rows", GPU_DEVICE, GPU_DEVICE, 1000000, MPI_BYTE, twice, 1);
    exchange("rows to device", GPU_DEVICE, GPU_DEVICE, 10, twice, MPI_BYTE, 0);
    exchange("device to rows on the host", GPU_DEVICE, GPU_HOST, 1000000, MPI_BYTE, twice, 0);
    exchange("pool to device", GPU_POOLED, GPU_DEVICE, BYTES, MPI_BYTE, MPI_BYTE, 0);
    exchange("device to pool", GPU_DEVICE, GPU_POOLED, BYTES, MPI_BYTE, MPI_BYTE, 1);
    CHECK_CODE(tool_set_choice("WEFT_GPU_IPC", check.rank), MPI_SUCCESS);
    exchange("a sender with WEFT_GPU_IPC=0", GPU_DEVICE, GPU_DEVICE, BYTES, MPI_BYTE, MPI_BYTE, 0);
    CHECK_CODE(tool_set_choice("WEFT_GPU_IPC", 1 - check.rank), MPI_SUCCESS);
    exchange("a receiver with WEFT_GPU_IPC=0", GPU_DEVICE, GPU_DEVICE, BYTES, MPI_BYTE, MPI_BYTE,
             0);
    CHECK_CODE(tool_set_choice("WEFT_GPU_IPC", 1), MPI_SUCCESS);
    use_again();
    too_many();
    too_short();
    refuses = dlsym(gpu.driver, "stand_in_refuses");
    if (refuses) {
        *refuses = 1;
        exchange("refused", GPU_DEVICE, GPU_DEVICE, BYTES, MPI_BYTE, MPI_BYTE, 0);
    }
    MPI_Type_free(&row);
    MPI_Type_free(&twice);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
