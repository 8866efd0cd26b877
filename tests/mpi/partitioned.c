// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=40
/*
 * The rules of partitioned communication, each by itself: sizes and protocols, every way to
 * complete, a thousand restarts without another word between the ranks, requests with one envelope,
 * empty partitions, MPI_PROC_NULL, types with gaps, data that come before the receiver starts, and
 * that ordinary receives and probes see nothing of it. Every rank sends to the next one.
 */
#include "check.h"

enum { TAG = 7, LARGEST = 120000, FORMS = 9 };

static int up, down;
static struct check_buffer in, out;

static void psend(int partitions, int count, int tag, MPI_Request *request)
{
    MPI_Psend_init(out.data, partitions, count, MPI_BYTE, up, tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                   request);
}

static void precv(int partitions, int count, int tag, MPI_Request *request)
{
    MPI_Precv_init(in.data, partitions, count, MPI_BYTE, down, tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                   request);
}

/* Completes a send and a receive by one of the forms; st is the receive's. */
static void complete(int form, MPI_Request *both, MPI_Status *st)
{
    MPI_Status sts[2];
    int flag = 0, n, done = 0, indices[2];
    switch (form) {
    case 0:
        MPI_Wait(&both[0], MPI_STATUS_IGNORE);
        MPI_Wait(&both[1], st);
        return;
    case 1:
        while (!flag) {
            MPI_Test(&both[0], &flag, MPI_STATUS_IGNORE);
        }
        for (flag = 0; !flag;) {
            MPI_Test(&both[1], &flag, st);
        }
        return;
    case 2:
        MPI_Waitall(2, both, sts);
        *st = sts[1];
        return;
    case 3:
        while (!flag) {
            MPI_Testall(2, both, &flag, sts);
        }
        *st = sts[1];
        return;
    case 4:
    case 5:
        for (int i = 0; i < 2; i++) {
            for (flag = 0; !flag;) {
                if (form == 4) {
                    MPI_Waitany(2, both, indices, sts);
                    flag = 1;
                } else {
                    MPI_Testany(2, both, indices, &flag, sts);
                }
            }
            if (indices[0] == 1) {
                *st = sts[0];
            }
        }
        return;
    case 6:
    case 7:
        while (done < 2) {
            (form == 6 ? MPI_Waitsome : MPI_Testsome)(2, both, &n, indices, sts);
            for (int i = 0; i < n; i++) {
                if (indices[i] == 1) {
                    *st = sts[i];
                }
            }
            done += n;
        }
        return;
    default:
        while (!flag) {
            MPI_Request_get_status(both[1], &flag, st);
        }
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
}

/* Marks all partitions of a send, in an order and with calls that depend on the round. */
static void mark(MPI_Request send, int partitions, int round)
{
    int list[64];
    if (round % 4 == 0) {
        MPI_Pready_range(0, partitions - 1, send);
    } else if (round % 4 == 1) {
        for (int i = partitions; i-- > 0;) {
            MPI_Pready(i, send);
        }
    } else if (round % 4 == 2) {
        for (int i = 0; i < partitions; i++) {
            list[i] = (i * 5 + 3) % partitions;
        }
        MPI_Pready_list(partitions, list, send); /* partitions: not a multiple of 5 */
    } else {
        MPI_Pready_range(partitions / 2, partitions - 1, send);
        for (int i = 0; i < partitions / 2; i++) {
            MPI_Pready(i, send);
        }
    }
}

/* sent and received partitions over the same bytes. */
static void sizes(int sent, int received, int bytes)
{
    MPI_Request both[2];
    MPI_Status st;
    psend(sent, bytes / sent, TAG, &both[0]);
    precv(received, bytes / received, TAG, &both[1]);
    for (int round = 0; round < FORMS; round++) {
        check_step("%d bytes, %d partitions become %d, round %d", bytes, sent, received, round);
        check_fill(out.data, (size_t)bytes, check.rank, TAG, round);
        check_buffer_reset(&in);
        MPI_Start(&both[round % 2]);
        MPI_Start(&both[!(round % 2)]);
        mark(both[0], sent, round);
        complete(round, both, &st);
        CHECK_STATUS(st, down, TAG, bytes);
        CHECK_DATA(in.data, bytes, down, TAG, round);
        CHECK(check_buffer_intact(&in, (size_t)bytes), "bytes outside of the buffer changed");
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    CHECK(both[0] == MPI_REQUEST_NULL && both[1] == MPI_REQUEST_NULL, "freed handles are not null");
}

/* Senders run ahead of receivers as far as the lane lets them. */
static void many_rounds(int sent, int received, int bytes, int rounds)
{
    MPI_Request both[2];
    precv(received, bytes / received, TAG, &both[1]);
    psend(sent, bytes / sent, TAG, &both[0]);
    check_step("%d rounds of %d bytes, %d partitions become %d", rounds, bytes, sent, received);
    for (int round = 0; round < rounds; round++) {
        MPI_Start(&both[0]);
        check_fill(out.data, (size_t)bytes, check.rank, TAG, round);
        mark(both[0], sent, round);
        MPI_Start(&both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        CHECK_DATA(in.data, bytes, down, TAG, round);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

/* Requests with one envelope match in the order of their making, however they are started. */
static void one_envelope(void)
{
    enum { N = 4, BYTES = 60 };
    MPI_Request sends[N], recvs[N];
    char froms[N][BYTES], tos[N][BYTES];
    for (int i = 0; i < N; i++) {
        MPI_Psend_init(froms[i], 2 + i, BYTES / (2 + i), MPI_BYTE, up, TAG, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &sends[i]);
    }
    for (int i = 0; i < N; i++) {
        MPI_Precv_init(tos[i], 2 + i, BYTES / (2 + i), MPI_BYTE, down, TAG, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &recvs[i]);
    }
    for (int round = 0; round < 20; round++) {
        check_step("requests with one envelope, round %d", round);
        for (int k = 0; k < N; k++) {
            int i = (k + round) % N, j = (3 * k + round) % N;
            check_fill(froms[i], BYTES, check.rank, i, round);
            MPI_Start(&sends[i]);
            MPI_Pready_range(0, 1 + i, sends[i]);
            MPI_Start(&recvs[j]);
        }
        MPI_Waitall(N, recvs, MPI_STATUSES_IGNORE);
        MPI_Waitall(N, sends, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++) {
            CHECK_DATA(tos[i], BYTES, down, i, round);
        }
    }
    for (int i = 0; i < N; i++) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&recvs[i]);
    }
}

/* The receiver makes its requests in another order of tags, and the later ones only when the first
 * is through: those that came before it must not stand in its way. */
static void other_order(void)
{
    enum { N = 5, BYTES = 40 };
    MPI_Request sends[N], recvs[N];
    char froms[N][BYTES], tos[N][BYTES];
    check_step("receives in another order than sends");
    for (int i = 0; i < N; i++) {
        check_fill(froms[i], BYTES, check.rank, i, 0);
        MPI_Psend_init(froms[i], 4, BYTES / 4, MPI_BYTE, up, i / 2, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &sends[i]);
        MPI_Start(&sends[i]);
        MPI_Pready_range(0, 3, sends[i]);
    }
    for (int k = 0; k < N; k++) { /* tags 2, 1, 1, 0, 0; those of one tag in their order */
        int i = k == 0 ? 4 : k < 3 ? 1 + k : k - 3;
        check_step("receive %d of tag %d", k, i / 2);
        MPI_Precv_init(tos[i], 2, BYTES / 2, MPI_BYTE, down, i / 2, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &recvs[i]);
        MPI_Start(&recvs[i]);
        MPI_Wait(&recvs[i], MPI_STATUS_IGNORE);
        CHECK_DATA(tos[i], BYTES, down, i, 0);
    }
    MPI_Waitall(N, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&recvs[i]);
    }
}

/* Requests that are made and freed, never started, take their place in the order all the same. */
static void never_started(void)
{
    MPI_Request unused[2], both[2];
    check_step("requests that are never started");
    psend(2, 8, TAG, &unused[0]);
    psend(2, 16, TAG, &both[0]);
    MPI_Request_free(&unused[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    precv(2, 8, TAG, &unused[1]);
    MPI_Request_free(&unused[1]);
    precv(2, 16, TAG, &both[1]);
    for (int round = 0; round < 3; round++) {
        check_fill(out.data, 32, check.rank, TAG, round);
        MPI_Startall(2, both);
        MPI_Pready_range(0, 1, both[0]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        CHECK_DATA(in.data, 32, down, TAG, round);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    precv(2, 8, TAG, &unused[1]); /* and here the receive is made and freed first */
    precv(2, 16, TAG, &both[1]);
    MPI_Request_free(&unused[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    psend(2, 8, TAG, &unused[0]);
    MPI_Request_free(&unused[0]);
    psend(2, 16, TAG, &both[0]);
    check_fill(out.data, 32, check.rank, TAG, 9);
    MPI_Startall(2, both);
    MPI_Pready_range(0, 1, both[0]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    CHECK_DATA(in.data, 32, down, TAG, 9);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

/* Empty partitions arrive one by one as others do; without partitions a round is a handshake. */
static void empty(int sent, int received)
{
    MPI_Request both[2];
    MPI_Status st;
    psend(sent, 0, TAG, &both[0]);
    precv(received, 0, TAG, &both[1]);
    for (int round = 0; round < 4; round++) {
        check_step("%d empty partitions become %d, round %d", sent, received, round);
        check_buffer_reset(&in);
        MPI_Startall(2, both);
        for (int i = 0; i < sent; i++) {
            MPI_Pready(i, both[0]);
        }
        for (int i = 0; i < received; i++) {
            int flag = 0;
            while (!flag) {
                MPI_Parrived(both[1], i, &flag);
            }
        }
        complete(round, both, &st);
        CHECK_STATUS(st, down, TAG, 0);
        CHECK(check_buffer_intact(&in, 0), "empty partitions wrote something");
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

static void nowhere(void)
{
    MPI_Request both[2];
    MPI_Status st;
    int flag;
    check_step("MPI_PROC_NULL");
    MPI_Psend_init(out.data, 3, 8, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &both[0]);
    MPI_Precv_init(in.data, 3, 8, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &both[1]);
    for (int round = 0; round < FORMS; round++) {
        check_buffer_reset(&in);
        MPI_Startall(2, both);
        MPI_Test(&both[0], &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "a send to MPI_PROC_NULL is complete before its partitions are marked");
        MPI_Parrived(both[1], 2, &flag);
        CHECK(flag, "a partition from MPI_PROC_NULL has not arrived");
        MPI_Pready_range(0, 2, both[0]);
        complete(round, both, &st);
        CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        CHECK(check_buffer_intact(&in, 0), "something came from MPI_PROC_NULL");
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

/* Elements with gaps between their parts, cut so that partitions of the sender begin inside of
 * partitions of the receiver. */
static void gaps(int sent, int received, int elements)
{
    struct pair {
        double value;
        int index;
    };
    MPI_Request both[2];
    struct pair *from = check_alloc((size_t)elements * sizeof *from);
    struct pair *to = check_alloc((size_t)elements * sizeof *to);
    memset(from, 0x11, (size_t)elements * sizeof *from);
    MPI_Psend_init(from, sent, elements / sent, MPI_DOUBLE_INT, up, TAG, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &both[0]);
    MPI_Precv_init(to, received, elements / received, MPI_DOUBLE_INT, down, TAG, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &both[1]);
    for (int round = 0; round < 4; round++) {
        check_step("%d pairs, %d partitions become %d, round %d", elements, sent, received, round);
        memset(to, CHECK_GUARD_BYTE, (size_t)elements * sizeof *to);
        for (int i = 0; i < elements; i++) {
            from[i].value = check.rank + i * 0.5;
            from[i].index = round * elements + i;
        }
        MPI_Startall(2, both);
        mark(both[0], sent, round);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        for (int i = 0; i < elements; i++) {
            const unsigned char *gap = (const unsigned char *)&to[i] + 12;
            CHECK(to[i].value == down + i * 0.5 && to[i].index == round * elements + i,
                  "pair %d is (%f, %d)", i, to[i].value, to[i].index);
            CHECK(gap[0] == CHECK_GUARD_BYTE && gap[3] == CHECK_GUARD_BYTE,
                  "the gap of pair %d was written to", i);
        }
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    free(from);
    free(to);
}

/* Types of the user's own, one with holes on one side and none on the other, freed once the
 * requests are made. Cuts go through the middle of elements, whose data are too long for a notice.
 */
static void derived(int sent, int received)
{
    enum { BLOCK = 1000, STRIDE = 1500, ELEMENTS = 12, INTS = 2 * BLOCK * ELEMENTS };
    enum { SPREAD = ELEMENTS * (STRIDE + BLOCK) };
    MPI_Datatype holes, dense;
    MPI_Request both[2];
    static int from[SPREAD], to[SPREAD];
    MPI_Type_vector(2, BLOCK, STRIDE, MPI_INT, &holes);
    MPI_Type_contiguous(BLOCK / 2, MPI_INT, &dense);
    MPI_Type_commit(&holes);
    MPI_Type_commit(&dense);
    for (int side = 0; side < 2; side++) { /* who has the holes: the sender, the receiver */
        int cuts = side ? 4 * sent : sent, units = side ? 4 * ELEMENTS : ELEMENTS;
        MPI_Psend_init(from, cuts, units / cuts, side ? dense : holes, up, TAG, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &both[0]);
        units = side ? ELEMENTS : 4 * ELEMENTS;
        MPI_Precv_init(to, received, units / received, side ? holes : dense, down, TAG,
                       MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
        if (side) {
            MPI_Type_free(&holes);
            MPI_Type_free(&dense);
        }
        for (int round = 0; round < 4; round++) {
            check_step("%d and %d partitions of own types, round %d", sent, received, round);
            memset(to, 0, sizeof to);
            for (int i = 0; i < INTS; i++) {
                int at = i / BLOCK % 2 * STRIDE + i / (2 * BLOCK) * (STRIDE + BLOCK) + i % BLOCK;
                from[side ? i : at] = 1 + i + round * INTS;
            }
            MPI_Startall(2, both);
            mark(both[0], cuts, round);
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
            for (int i = 0, filled = 0; i < SPREAD && check.failures < CHECK_PRINTED; i++) {
                bool data = side ? i % (STRIDE + BLOCK) < BLOCK || i % (STRIDE + BLOCK) >= STRIDE
                                 : i < INTS;
                int expected = data ? 1 + filled++ + round * INTS : 0;
                CHECK(to[i] == expected, "int %d is %d, expected %d", i, to[i], expected);
            }
        }
        MPI_Request_free(&both[0]);
        MPI_Request_free(&both[1]);
    }
}

/* The sender is ready before the receiver starts, or even makes its request: nothing lands in the
 * buffer before the start, and no receive and no probe of the program sees it. */
static void early(int partitions, int bytes, bool made)
{
    MPI_Request both[2], token;
    MPI_Status st;
    int flag = 1, word = 0;
    check_step("%d bytes are sent before the receiver starts", bytes);
    if (made) {
        precv(1, bytes, TAG, &both[1]);
    }
    psend(partitions, bytes / partitions, TAG, &both[0]);
    for (int round = 0; round < 3; round++) {
        check_fill(out.data, (size_t)bytes, check.rank, TAG, round);
        check_buffer_reset(&in);
        MPI_Start(&both[0]);
        mark(both[0], partitions, round);
        MPI_Isend(&round, 1, MPI_INT, up, TAG, MPI_COMM_WORLD, &token);
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
        CHECK(word == round, "an ordinary receive took %d, not the round %d", word, round);
        CHECK_STATUS(st, down, TAG, sizeof(int));
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &st);
        CHECK(!flag, "a probe found a message with tag %d", st.MPI_TAG);
        CHECK(check_buffer_intact(&in, 0), "data came before MPI_Start");
        if (!made && round == 0) {
            precv(1, bytes, TAG, &both[1]);
        }
        MPI_Start(&both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        CHECK_DATA(in.data, bytes, down, TAG, round);
        MPI_Wait(&token, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD); /* the probe of the next round is for that round's messages */
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

/* Communicators keep apart what has the same envelope; a freed one lives on in its requests. */
static void communicators(void)
{
    enum { BYTES = 20 };
    MPI_Comm copy;
    MPI_Request all[4]; /* sends, receives: of the copy, of the world */
    char froms[2][BYTES], tos[2][BYTES];
    check_step("two communicators");
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int k = 0; k < 2; k++) {
        MPI_Psend_init(froms[k], 2, BYTES / 2, MPI_BYTE, up, TAG, k ? MPI_COMM_WORLD : copy,
                       MPI_INFO_NULL, &all[k]);
        MPI_Precv_init(tos[1 - k], 4, BYTES / 4, MPI_BYTE, down, TAG, k ? copy : MPI_COMM_WORLD,
                       MPI_INFO_NULL, &all[3 - k]);
    }
    MPI_Comm_free(&copy);
    for (int round = 0; round < 4; round++) {
        MPI_Startall(4, all);
        for (int k = 0; k < 2; k++) {
            check_fill(froms[k], BYTES, check.rank, k, round);
            MPI_Pready_range(0, 1, all[k]);
        }
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
        CHECK_DATA(tos[0], BYTES, down, 0, round);
        CHECK_DATA(tos[1], BYTES, down, 1, round);
    }
    for (int k = 0; k < 4; k++) {
        MPI_Request_free(&all[k]);
    }
}

/* Ranks are those of the remote group. Even ranks are one group, odd ranks the other. */
static void between_groups(void)
{
    enum { BYTES = 9000 };
    MPI_Comm side, both_sides;
    MPI_Request both[2];
    MPI_Status st;
    int partner = check.rank ^ 1, color = check.rank % 2;
    check_step("an inter-communicator");
    if (check.size < 2 || check.size % 2) {
        return;
    }
    MPI_Comm_split(MPI_COMM_WORLD, color, 0, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - color, TAG, &both_sides);
    MPI_Psend_init(out.data, 3, BYTES / 3, MPI_BYTE, partner / 2, TAG, both_sides, MPI_INFO_NULL,
                   &both[0]);
    MPI_Precv_init(in.data, 2, BYTES / 2, MPI_BYTE, partner / 2, TAG, both_sides, MPI_INFO_NULL,
                   &both[1]);
    for (int round = 0; round < 3; round++) {
        check_fill(out.data, BYTES, check.rank, TAG, round);
        MPI_Startall(2, both);
        MPI_Pready_range(0, 2, both[0]);
        complete(round, both, &st);
        CHECK_STATUS(st, partner / 2, TAG, BYTES);
        CHECK_DATA(in.data, BYTES, partner, TAG, round);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    MPI_Comm_disconnect(&both_sides);
    MPI_Comm_free(&side);
}

int main(int argc, char **argv)
{
    static const int bytes[] = {24, 4080, 4104, LARGEST};
    check_begin(&argc, &argv, 1);
    up = (check.rank + 1) % check.size;
    down = (check.rank + check.size - 1) % check.size;
    in = check_buffer_new(LARGEST, 0);
    out = check_buffer_new(LARGEST, 0);
    for (int i = 0; i < (int)(sizeof bytes / sizeof bytes[0]); i++) {
        sizes(1, 1, bytes[i]);
        sizes(12, 2, bytes[i]);
        sizes(3, 24, bytes[i]);
        sizes(8, 6, bytes[i]);
        early(4, bytes[i], i % 2);
    }
    early(4, LARGEST, false);
    many_rounds(4, 4, 64, 1000);
    many_rounds(3, 2, 600, 100);
    many_rounds(2, 4, 40000, 20);
    one_envelope();
    other_order();
    never_started();
    empty(4, 4);
    empty(2, 6);
    empty(6, 4);
    empty(0, 3);
    empty(3, 0);
    empty(0, 0);
    nowhere();
    gaps(4, 4, 240);
    gaps(6, 4, 240);
    gaps(4, 6, 24000);
    gaps(1, 3, 24000);
    derived(3, 4);
    derived(12, 1);
    derived(4, 12);
    communicators();
    between_groups();
    check_buffer_free(&in);
    check_buffer_free(&out);
    return check_done();
}
