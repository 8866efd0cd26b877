// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,rxm-push,rxm-small,soft-small,sockets,net-soft,shm seconds=60
// run: ranks=2 lanes=shm-copy,shm-small seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Every size around a limit of a protocol or a provider goes to the peer and back intact: received
 * before and after it was sent, at aligned and at odd addresses, with nothing written outside. On
 * one rank the peer is the rank itself.
 */
#include "check.h"

static const size_t sizes[] = {0,     1,     2,     3,      7,      8,       9,       16,     31,
                               32,    33,    39,    40,     41,     47,      48,      49,     55,
                               56,    57,    63,    64,     65,     127,     128,     129,    191,
                               192,   193,   254,   255,    256,    257,     511,     512,    513,
                               1023,  1024,  1025,  1255,   1256,   1257,    4095,    4096,   4097,
                               8191,  8192,  8193,  9000,   16383,  16384,   16385,   20000,  32768,
                               65535, 65536, 65537, 131072, 262145, 1000000, 1048579, 5000011};

enum { TAG = 17, READY = 18, SIZES = sizeof sizes / sizeof sizes[0] };

static void verify(struct check_buffer *in, const MPI_Status *st, size_t n, int from, int index)
{
    CHECK_STATUS(*st, from, TAG, n);
    CHECK_DATA(in->data, n, from, TAG, index);
    CHECK(check_buffer_intact(in, n), "%zu bytes from rank %d: bytes outside were written", n,
          from);
}

/* The receive is posted before the peer may send. */
static void preposted(struct check_buffer *out, struct check_buffer *in, size_t n, int peer, int i)
{
    MPI_Request request;
    MPI_Status st;
    MPI_Irecv(in->data, (int)n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, READY, NULL, 0, MPI_BYTE, peer, READY, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Send(out->data, (int)n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, &st);
    verify(in, &st, n, peer, i);
}

/* The message, or its announcement, is there before the receive is posted. */
static void unexpected(struct check_buffer *out, struct check_buffer *in, size_t n, int peer, int i)
{
    MPI_Request request;
    MPI_Status st;
    MPI_Isend(out->data, (int)n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, READY, NULL, 0, MPI_BYTE, peer, READY, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Recv(in->data, (int)n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &st);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    verify(in, &st, n, peer, i);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int peer = check.rank ^ 1;
    if (peer >= check.size) {
        peer = check.rank;
    }
    for (int i = 0; i < SIZES; i++) {
        for (size_t skew = 0; skew < 4; skew++) {
            struct check_buffer out = check_buffer_new(sizes[i], skew & 1);
            struct check_buffer in = check_buffer_new(sizes[i], skew & 2 ? 3 : 0);
            check_fill(out.data, sizes[i], check.rank, TAG, i);
            check_step("%zu bytes, preposted, skew %zu", sizes[i], skew);
            preposted(&out, &in, sizes[i], peer, i);
            check_buffer_reset(&in);
            check_step("%zu bytes, unexpected, skew %zu", sizes[i], skew);
            unexpected(&out, &in, sizes[i], peer, i);
            CHECK_DATA(out.data, sizes[i], check.rank, TAG, i);
            check_buffer_free(&out);
            check_buffer_free(&in);
        }
    }
    return check_done();
}
