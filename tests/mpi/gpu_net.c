// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,rxm-soft seconds=60
/*
 * Messages from GPU memory over the network: up to 8 MiB are copied to the host at once and read by
 * the receiver, for which the sender has a bounce buffer of that length; longer ones are pushed. So
 * many at once that some have no bounce buffer.
 */
#include "gpu.h"
#include "tool.h"

enum { TAG = 3, LONG = 8 << 20, LONGER = LONG + 1000, MANY = 9 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle bounce;

static count_t exchange(enum gpu_kind kind, int bytes, int seed)
{
    struct gpu_buffer b = gpu_buffer_new(check.rank == 0 ? GPU_DEVICE : kind, (size_t)bytes);
    char *wanted = check_alloc((size_t)bytes);
    check_step("%d bytes to kind %d", bytes, kind);
    check_fill(wanted, (size_t)bytes, 0, seed, 0);
    if (check.rank == 0) {
        memcpy(b.host, wanted, (size_t)bytes);
        gpu_put(&b);
        MPI_Send(b.data, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Recv(b.data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        gpu_get(&b);
        CHECK(!memcmp(b.host, wanted, (size_t)bytes), "%d bytes: wrong data", bytes);
    }
    gpu_buffer_free(&b);
    free(wanted);
    return tool_read(session, bounce);
}

static void many(void)
{
    MPI_Request requests[MANY];
    char *data = gpu_alloc(GPU_DEVICE, LONG);
    char *wanted = check_alloc(LONG), *host = check_alloc(LONG);
    check_step("%d messages at once", (int)MANY);
    check_fill(wanted, LONG, 0, 7, 0);
    if (check.rank == 0)
        gpu_copy(GPU_DEVICE, data, wanted, LONG);
    for (int i = 0; i < MANY && check.rank == 0; i++)
        MPI_Isend(data, LONG, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < MANY && check.rank == 1; i++) {
        memset(host, 0, LONG);
        MPI_Recv(host, LONG, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(!memcmp(host, wanted, LONG), "message %d: wrong data", i);
    }
    if (check.rank == 0)
        MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    gpu_free(GPU_DEVICE, data);
    free(wanted);
    free(host);
}

int main(int argc, char **argv)
{
    gpu_begin();
    tool_begin();
    check_begin(&argc, &argv, 2);
    MPI_T_pvar_session_create(&session);
    bounce = tool_pvar(session, "weft_net_bounce_bytes", NULL);
    count_t pushed = exchange(GPU_DEVICE, LONGER, 1);
    count_t read = exchange(GPU_DEVICE, LONG, 2);
    CHECK(check.rank > 0 || (pushed < LONG && read >= LONG),
          "bounce buffers of %llu bytes after a long message, of %llu after a longer one", read,
          pushed);
    exchange(GPU_HOST, LONG, 3);
    exchange(GPU_HOST, 100000, 4);
    many();
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
