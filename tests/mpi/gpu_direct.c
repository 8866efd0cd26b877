// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=rxm,rxm-small seconds=60
/*
 * Long messages from and to GPU memory over a provider that reads it (FI_HMEM), as tests/strict
 * plays it: contiguous ones of either end are registered and not copied; data with holes, and those
 * of rank 2, which has WEFT_GPU_DIRECT=off, pass through host memory.
 */
#include "gpu.h"

#include "tool.h"

enum { LONG = 5000000, COLUMNS = 300, STRIDE = 700, ROWS = 3000 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle direct, staged;
static bool plays; /* the provider reads device memory, and registers all that it is asked for */

static void set_off(void)
{
    const char *rank = getenv("PMIX_RANK");
    if (rank && !strcmp(rank, "2"))
        setenv("WEFT_GPU_DIRECT", "off", 1);
}

/* Checks the bytes of a rank's end of a message: direct, if that is possible, or else staged. */
static void check_bytes(enum gpu_kind kind, size_t bytes, bool contiguous, count_t direct_before,
                        count_t staged_before)
{
    count_t by_adapter = tool_read(session, direct) - direct_before;
    count_t copied = tool_read(session, staged) - staged_before;
    bool may = contiguous && check.rank < 2 && kind != GPU_HOST, goes = by_adapter == bytes;
    CHECK(goes ? may : !by_adapter && !(plays && may), "%zu bytes of kind %d: %llu by the adapter",
          bytes, kind, by_adapter);
    CHECK(!goes || copied == 0, "%zu bytes of kind %d: %llu copied", bytes, kind, copied);
}

/* One message of so many bytes from a rank to another, which has space for `space` of them. */
static void message(int from, int to, enum gpu_kind out, enum gpu_kind in, size_t bytes,
                    size_t space)
{
    enum gpu_kind kind = check.rank == from ? out : in;
    size_t own = check.rank == from || bytes < space ? bytes : space;
    check_step("%zu bytes from rank %d, kind %d, to rank %d, kind %d", bytes, from, out, to, in);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank != from && check.rank != to)
        return;
    struct gpu_buffer b = gpu_buffer_new(kind, check.rank == from ? bytes : space);
    if (check.rank == from) {
        check_fill(b.host, bytes, from, to, out);
        gpu_put(&b);
    }
    count_t before = tool_read(session, direct), copied = tool_read(session, staged);
    if (check.rank == from) {
        MPI_Send(b.data, (int)bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD);
    } else {
        int code =
            MPI_Recv(b.data, (int)space, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(check_class(code) == (bytes > space ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
              "the receive returned class %d", check_class(code));
    }
    check_bytes(kind, own, true, before, copied);
    if (check.rank == to) {
        size_t arrived = bytes < space ? bytes : space;
        gpu_get(&b);
        CHECK_DATA(b.host, arrived, from, to, out);
    }
    gpu_buffer_free(&b);
}

/* Columns of a matrix at one end, contiguous at the other. */
static void columns(bool at_sender)
{
    size_t packed = (size_t)COLUMNS * ROWS, span = (size_t)STRIDE * ROWS;
    bool strided = (check.rank == 0) == at_sender;
    MPI_Datatype type;
    check_step("columns at the %s", at_sender ? "sender" : "receiver");
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank > 1)
        return;
    MPI_Type_vector(ROWS, COLUMNS, STRIDE, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    struct gpu_buffer b = gpu_buffer_new(GPU_DEVICE, strided ? span : packed);
    char *wanted = check_alloc(packed);
    check_fill(wanted, packed, 0, 7, 0);
    if (check.rank == 0) {
        for (size_t row = 0; row < ROWS; row++)
            memcpy(b.host + row * (strided ? STRIDE : COLUMNS), wanted + row * COLUMNS, COLUMNS);
        gpu_put(&b);
    }
    count_t before = tool_read(session, direct), copied = tool_read(session, staged);
    int count = strided ? 1 : (int)packed;
    if (check.rank == 0)
        MPI_Send(b.data, count, strided ? type : MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(b.data, count, strided ? type : MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strided)
        check_bytes(GPU_DEVICE, packed, false, before, copied);
    if (check.rank == 1) {
        gpu_get(&b);
        for (size_t row = 0; row < ROWS; row++)
            CHECK(!memcmp(b.host + row * (strided ? STRIDE : COLUMNS), wanted + row * COLUMNS,
                          COLUMNS),
                  "row %zu is wrong", row);
    }
    free(wanted);
    gpu_buffer_free(&b);
    MPI_Type_free(&type);
}

/* A message that is announced and cancelled: its memory can be freed, and used by another. */
static void cancelled(void)
{
    MPI_Status status;
    int flag = 0;
    check_step("a cancelled message");
    if (check.rank == 0) {
        struct gpu_buffer b = gpu_buffer_new(GPU_DEVICE, LONG);
        MPI_Request request;
        MPI_Isend(b.data, LONG, MPI_BYTE, 1, 9, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag, "a send without a receive was not cancelled");
        gpu_buffer_free(&b);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {LONG, 300000, 1 << 21, LONG};
    const char *profile = getenv("STRICT_PROFILE");
    set_off();
    gpu_begin();
    tool_begin();
    check_begin(&argc, &argv, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    plays = profile &&
            (!strcmp(profile, "cxi") || !strcmp(profile, "efa") || !strcmp(profile, "verbs")) &&
            !getenv("STRICT_REGISTRABLE");
    MPI_T_pvar_session_create(&session);
    direct = tool_pvar(session, "weft_gpu_bytes_direct", NULL);
    staged = tool_pvar(session, "weft_gpu_bytes_staged", NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kinds = 0; kinds < 4; kinds++) {
            enum gpu_kind out = kinds & 1 ? GPU_HOST : GPU_DEVICE;
            enum gpu_kind in = kinds & 2 ? GPU_HOST : GPU_DEVICE;
            message(0, 1, out, in, sizes[i], sizes[i]);
            message(1, 0, out, in, sizes[i], sizes[i] + 100);
        }
    message(0, 1, GPU_DEVICE, GPU_DEVICE, LONG, LONG - 5);
    message(0, 1, GPU_POOLED, GPU_POOLED, LONG, LONG);
    columns(true);
    columns(false);
    cancelled();
    if (check.size > 2) {
        message(0, 2, GPU_DEVICE, GPU_DEVICE, LONG, LONG);
        message(2, 1, GPU_DEVICE, GPU_DEVICE, LONG, LONG);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
