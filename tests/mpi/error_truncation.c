// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,rxm-push,rxm-small,soft-small,net-soft seconds=60
// run: ranks=1 lanes=self seconds=30
/*
 * A message that does not fit gives MPI_ERR_TRUNCATE in every form of receive, its status says
 * whose it was, and it hurts nothing else: the send is complete, the other direction of a
 * send-receive has its message, a persistent receive can be started again, and of several requests
 * only its own carries the error, wherever they are completed together.
 */
#include "check.h"

enum { TAG = 21, FORMS = 14, N = 4, CUT = 2, LONG = 90000 };

static unsigned char out[LONG], in[LONG + 1], other[8], more[8];
static int up, down;

/* Receives `room` bytes from the neighbour below by any form; some send it something, too. */
static int receive(int form, int room, MPI_Status *st)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Message message;
    MPI_Request request;
    int code, flag = 0, index;
    switch (form) {
    case 0:
        return MPI_Recv(in, room, MPI_BYTE, down, TAG, world, st);
    case 1:
        return MPI_Recv_c(in, room, MPI_BYTE, MPI_ANY_SOURCE, TAG, world, st);
    case 2:
        MPI_Irecv(in, room, MPI_BYTE, down, TAG, world, &request);
        return MPI_Wait(&request, st);
    case 3:
        MPI_Irecv(in, room, MPI_BYTE, down, MPI_ANY_TAG, world, &request);
        for (code = MPI_SUCCESS; !flag;) {
            code = MPI_Test(&request, &flag, st);
        }
        return code;
    case 4:
        MPI_Irecv(in, room, MPI_BYTE, down, TAG, world, &request);
        code = MPI_Waitany(1, &request, &index, st);
        CHECK(index == 0 && request == MPI_REQUEST_NULL, "MPI_Waitany: index %d", index);
        return code;
    case 5:
        MPI_Irecv(in, room, MPI_BYTE, down, TAG, world, &request);
        for (code = MPI_SUCCESS; !flag;) {
            code = MPI_Testany(1, &request, &index, &flag, st);
        }
        return code;
    case 6:
        MPI_Mprobe(down, TAG, world, &message, MPI_STATUS_IGNORE);
        return MPI_Mrecv(in, room, MPI_BYTE, &message, st);
    case 7:
        MPI_Mprobe(down, TAG, world, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(in, room, MPI_BYTE, &message, &request);
        return MPI_Wait(&request, st);
    case 8:
        return MPI_Sendrecv(other, 8, MPI_BYTE, down, TAG + 1, in, room, MPI_BYTE, down, TAG, world,
                            st);
    case 9:
        MPI_Isendrecv(other, 8, MPI_BYTE, down, TAG + 1, in, room, MPI_BYTE, down, TAG, world,
                      &request);
        return MPI_Wait(&request, st);
    case 10:
        return MPI_Sendrecv_replace(in, room, MPI_BYTE, down, TAG + 1, down, TAG, world, st);
    case 11:
        MPI_Isendrecv_replace(in, room, MPI_BYTE, down, TAG + 1, down, TAG, world, &request);
        return MPI_Wait(&request, st);
    case 12:
        MPI_Probe(down, TAG, world, MPI_STATUS_IGNORE);
        return MPI_Recv(in, room, MPI_BYTE, down, TAG, world, st);
    default:
        MPI_Recv_init(in, room, MPI_BYTE, down, TAG, world, &request);
        MPI_Start(&request);
        code = MPI_Wait(&request, st);
        CHECK(request != MPI_REQUEST_NULL, "a persistent request ends by truncation");
        CHECK_CLASS(MPI_Request_free(&request), MPI_SUCCESS);
        return code;
    }
}

static bool sends_too(int form)
{
    return form >= 8 && form <= 11;
}

static void one(int form, int bytes, int room, bool synchronous)
{
    MPI_Request sends[2], answer = MPI_REQUEST_NULL;
    MPI_Status st;
    static unsigned char back[LONG];
    check_step("form %d, %d bytes into %d", form, bytes, room);
    check_fill(out, (size_t)bytes, check.rank, TAG, form);
    memset(in, 0xA5, sizeof in);
    (synchronous ? MPI_Issend : MPI_Isend)(out, bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD,
                                           &sends[0]);
    MPI_Isend(other, 8, MPI_BYTE, up, TAG + 2, MPI_COMM_WORLD, &sends[1]);
    if (sends_too(form)) {
        MPI_Irecv(back, LONG, MPI_BYTE, up, TAG + 1, MPI_COMM_WORLD, &answer);
    }
    CHECK_CLASS(receive(form, room, &st), MPI_ERR_TRUNCATE);
    CHECK(st.MPI_SOURCE == down && st.MPI_TAG == TAG, "form %d: status says %d, %d", form,
          st.MPI_SOURCE, st.MPI_TAG);
    for (int i = room; i < bytes; i++) {
        if (in[i] != 0xA5) {
            CHECK(false, "form %d: %d bytes into %d: byte %d was written", form, bytes, room, i);
            break;
        }
    }
    CHECK_CLASS(MPI_Recv(more, 8, MPI_BYTE, down, TAG + 2, MPI_COMM_WORLD, &st), MPI_SUCCESS);
    CHECK_STATUS(st, down, TAG + 2, 8);
    CHECK_CLASS(MPI_Wait(&answer, &st), MPI_SUCCESS);
    CHECK_CLASS(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

/* N messages, one of them too long, of which the receives are completed together by Testsome. */
static void by_testsome(int bytes)
{
    static unsigned char room[N][LONG];
    MPI_Request receives[N], sends[N];
    MPI_Status st[N];
    int seen = 0, failed = 0, n, indices[N];
    check_step("MPI_Testsome, %d bytes", bytes);
    check_fill(out, (size_t)bytes, check.rank, TAG, 0);
    for (int i = 0; i < N; i++) {
        MPI_Irecv(room[i], i == CUT ? bytes - 1 : bytes, MPI_BYTE, down, i, MPI_COMM_WORLD,
                  &receives[i]);
        MPI_Isend(out, bytes, MPI_BYTE, up, i, MPI_COMM_WORLD, &sends[i]);
    }
    while (seen < N) {
        int class = check_class(MPI_Testsome(N, receives, &n, indices, st)), bad = 0;
        if (n == MPI_UNDEFINED) {
            CHECK(false, "MPI_Testsome sees nothing, %d of %d came", seen, N);
            break;
        }
        for (int k = 0; k < n; k++) {
            int i = indices[k];
            bad += i == CUT;
            if (class != MPI_SUCCESS) {
                CHECK(check_class(st[k].MPI_ERROR) == (i == CUT ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
                      "request %d has error %d", i, st[k].MPI_ERROR);
            }
            if (i != CUT) {
                CHECK_STATUS(st[k], down, i, bytes);
                CHECK_DATA(room[i], (size_t)bytes, down, TAG, 0);
            }
        }
        CHECK(class == (bad ? MPI_ERR_IN_STATUS : MPI_SUCCESS), "MPI_Testsome: class %d", class);
        failed += bad;
        seen += n;
    }
    CHECK(failed == 1, "%d failures", failed);
    CHECK_CLASS(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

/* A persistent receive that failed is started again, with room enough this time. */
static void again(int bytes)
{
    MPI_Request request, send;
    MPI_Status st;
    check_step("a persistent receive after truncation, %d bytes", bytes);
    MPI_Recv_init(in, bytes, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 4; i++) {
        int n = i % 2 ? bytes : bytes + 1;
        check_fill(out, (size_t)n, check.rank, TAG, i);
        MPI_Isend(out, n, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &send);
        CHECK_CLASS(MPI_Start(&request), MPI_SUCCESS);
        CHECK_CLASS(MPI_Wait(&request, &st), i % 2 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
        if (i % 2) {
            CHECK_STATUS(st, down, TAG, bytes);
            CHECK_DATA(in, (size_t)bytes, down, TAG, i);
        }
        CHECK_CLASS(MPI_Wait(&send, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    CHECK_CLASS(MPI_Request_free(&request), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 64, 100, 5000, 16400, 65537, LONG};
    check_begin(&argc, &argv, 1);
    check_errors_return();
    up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    for (int i = 0; i < 7; i++) {
        for (int form = 0; form < FORMS; form++) {
            one(form, sizes[i], sizes[i] / 2, form % 2);
            one(form, sizes[i], i % 2 ? sizes[i] - 1 : 0, i % 2);
        }
        by_testsome(sizes[i]);
        again(sizes[i] - 1);
    }
    return check_done();
}
