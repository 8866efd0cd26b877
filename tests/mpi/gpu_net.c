// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,rxm-soft,rxm-small,rxm-push,rxm-hip seconds=120
/*
 * Messages from GPU memory over the network: up to 2 MiB are copied to the host at once, and longer
 * ones in pieces of a pipeline, which the receiver reads. So many at once that some have no
 * pipeline. Data with holes at either end, short receives, both directions at once, cancelled and
 * freed sends.
 */
#include "gpu.h"
#include "tool.h"

enum { TAG = 3, PIECE = 512 << 10, LONG = 4 * PIECE, LONGER = 9 * PIECE + 1000, MANY = 40 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle bounce, controls;

static void fill(struct gpu_buffer *b, int seed)
{
    check_fill(b->host, b->bytes, 0, seed, 0);
    gpu_put(b);
}

/* Compares the first bytes of a buffer with those that rank 0 sent, and the others with what they
 * were before. */
static void verify(struct gpu_buffer *b, size_t bytes, int seed)
{
    char *wanted = check_alloc(b->bytes);
    memset(wanted, CHECK_GUARD_BYTE, b->bytes);
    check_fill(wanted, bytes, 0, seed, 0);
    gpu_get(b);
    CHECK(!memcmp(b->host, wanted, b->bytes), "%zu bytes: wrong data", bytes);
    free(wanted);
}

/* Returns the bytes of this rank's bounce buffers. */
static count_t exchange(enum gpu_kind from, enum gpu_kind to, int bytes, int seed)
{
    struct gpu_buffer b = gpu_buffer_new(check.rank == 0 ? from : to, (size_t)bytes);
    check_step("%d bytes from kind %d to kind %d", bytes, from, to);
    if (check.rank == 0) {
        fill(&b, seed);
        MPI_Send(b.data, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Recv(b.data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        verify(&b, (size_t)bytes, seed);
    }
    gpu_buffer_free(&b);
    return tool_read(session, bounce);
}

/* The receive takes less than the message has: with pieces, one piece, nothing. */
static void shorter(enum gpu_kind to, int space)
{
    struct gpu_buffer b =
        gpu_buffer_new(check.rank == 0 ? GPU_DEVICE : to, check.rank == 0 ? LONGER : LONG);
    check_step("%d of %d bytes to kind %d", space, (int)LONGER, to);
    if (check.rank == 0) {
        fill(&b, space);
        MPI_Send(b.data, LONGER, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else {
        int code = MPI_Recv(b.data, space, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_CLASS(code, MPI_ERR_TRUNCATE);
        verify(&b, (size_t)space, space);
    }
    gpu_buffer_free(&b);
}

/* Words with holes, of other lengths at both ends. */
static void strided(enum gpu_kind from, enum gpu_kind to)
{
    enum { WORDS = 1200000, ROWS = WORDS / 6 };
    MPI_Datatype rows, pairs, each;
    size_t room = (size_t)WORDS * 4 * 2;
    struct gpu_buffer b = gpu_buffer_new(check.rank == 0 ? from : to, room);
    int *data = (int *)b.host, wrong = 0;
    check_step("words with holes from kind %d to kind %d", from, to);
    MPI_Type_vector(2, 3, 6, MPI_INT, &each);
    MPI_Type_create_resized(each, 0, 48, &rows);
    MPI_Type_commit(&rows);
    MPI_Type_free(&each);
    MPI_Type_vector(WORDS / 2, 2, 4, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    if (check.rank == 0) {
        for (int i = 0; i < WORDS; i++)
            data[i / 3 * 6 + i % 3] = i;
        gpu_put(&b);
        MPI_Send(b.data, ROWS, rows, 1, TAG, MPI_COMM_WORLD);
    } else {
        int guard;
        memset(&guard, CHECK_GUARD_BYTE, sizeof guard);
        MPI_Recv(b.data, 1, pairs, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        gpu_get(&b);
        for (int i = 0; i < 2 * WORDS; i++)
            wrong += data[i] != (i % 4 < 2 ? i / 4 * 2 + i % 4 : guard);
        CHECK(!wrong, "%d of %d words are wrong", wrong, (int)WORDS);
    }
    MPI_Type_free(&rows);
    MPI_Type_free(&pairs);
    gpu_buffer_free(&b);
}

static void many(void)
{
    MPI_Request requests[MANY];
    enum { BYTES = 5 * PIECE };
    struct gpu_buffer b = gpu_buffer_new(GPU_DEVICE, BYTES);
    char *host = check_alloc((size_t)MANY * BYTES), *wanted = check_alloc(BYTES);
    check_step("%d messages at once", (int)MANY);
    check_fill(wanted, BYTES, 0, 7, 0);
    fill(&b, 7);
    memset(host, 0, (size_t)MANY * BYTES);
    for (int i = 0; i < MANY; i++) {
        if (check.rank == 0)
            MPI_Isend(b.data, BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(host + (size_t)i * BYTES, BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD,
                      &requests[i]);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY && check.rank == 1; i++)
        CHECK(!memcmp(host + (size_t)i * BYTES, wanted, BYTES), "message %d: wrong data", i);
    gpu_buffer_free(&b);
    free(host);
    free(wanted);
}

/* Both ranks send at once; the second send is freed at once, the third one cancelled. */
static void both_ways(void)
{
    struct gpu_buffer out = gpu_buffer_new(GPU_DEVICE, LONGER);
    struct gpu_buffer in[2] = {gpu_buffer_new(GPU_DEVICE, LONGER),
                               gpu_buffer_new(GPU_HOST, LONGER)};
    MPI_Request sends[3], receives[2];
    MPI_Status status;
    int other = 1 - check.rank, cancelled;
    check_step("both ways");
    fill(&out, 5);
    for (int i = 0; i < 2; i++)
        MPI_Irecv(in[i].data, LONGER, MPI_BYTE, other, i, MPI_COMM_WORLD, &receives[i]);
    for (int i = 0; i < 3; i++)
        MPI_Isend(out.data, LONGER, MPI_BYTE, other, i, MPI_COMM_WORLD, &sends[i]);
    MPI_Request_free(&sends[1]);
    MPI_Cancel(&sends[2]);
    MPI_Wait(&sends[2], &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled, "a send that nobody receives was not cancelled");
    MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
    MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
    verify(&in[0], LONGER, 5);
    verify(&in[1], LONGER, 5);
    MPI_Barrier(MPI_COMM_WORLD); /* the freed send is complete at the latest now */
    gpu_buffer_free(&out);
    gpu_buffer_free(&in[0]);
    gpu_buffer_free(&in[1]);
}

int main(int argc, char **argv)
{
    const char *rendezvous = getenv("WEFT_RENDEZVOUS");
    bool pushed = rendezvous && !strcmp(rendezvous, "push");
    setenv("WEFT_GPU_DIRECT", "off", 1); /* else some providers of tests/strict need no pipeline */
    gpu_begin();
    tool_begin();
    check_begin(&argc, &argv, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_T_pvar_session_create(&session);
    bounce = tool_pvar(session, "weft_net_bounce_bytes", NULL);
    controls = tool_pvar(session, "weft_net_controls_sent", NULL);
    count_t before = tool_read(session, controls), reserves = tool_read(session, bounce);
    count_t pipeline = exchange(GPU_DEVICE, GPU_DEVICE, LONGER, 1) - reserves;
    count_t reports = tool_read(session, controls) - before;
    CHECK(pushed ? reports < LONGER / PIECE : reports >= LONGER / PIECE,
          "%llu control messages about %d pieces", reports, (int)(LONGER / PIECE));
    CHECK(check.rank > 0 ||
              (pushed ? pipeline < LONG : pipeline >= LONG && pipeline < LONG + PIECE),
          "bounce buffers of %llu bytes after a message through a pipeline", pipeline);
    exchange(GPU_DEVICE, GPU_HOST, LONGER, 2);
    exchange(GPU_HOST, GPU_DEVICE, LONGER, 3);
    exchange(GPU_DEVICE, GPU_DEVICE, LONG + 1, 4);
    before = tool_read(session, controls);
    exchange(GPU_DEVICE, GPU_HOST, LONG, 5);
    CHECK(tool_read(session, controls) - before <= 3, "a message of %d bytes took a pipeline",
          (int)LONG);
    exchange(GPU_DEVICE, GPU_HOST, 100000, 6);
    for (int kind = GPU_HOST; kind <= GPU_DEVICE; kind++) {
        shorter((enum gpu_kind)kind, LONG - 5);
        shorter((enum gpu_kind)kind, 100);
        shorter((enum gpu_kind)kind, 0);
        strided(GPU_DEVICE, (enum gpu_kind)kind);
    }
    strided(GPU_HOST, GPU_DEVICE);
    many();
    both_ways();
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
