// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft seconds=60
// run: ranks=3 lanes=rxm,rxm-push,rxm-small,shm,shm-copy,mixed seconds=60
// run: ranks=1 lanes=self seconds=30
/*
 * Probe and Iprobe: the true length also of messages above the eager limit, wildcards, a probe and
 * the receive after it agree, a probe is no match (a synchronous send goes on waiting), nothing is
 * found where nothing was sent. On one rank to itself.
 */
#include "check.h"

enum { TAG = 7, OTHER = 8, NOBODY = 9, GO = 10, LARGEST = 300000 };

static const int sizes[] = {0, 1, 8, 64, 65, 4000, 16384, 16385, 65536, 65537, LARGEST};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
static unsigned char (*out)[LARGEST], *in;

static void check_probed(const MPI_Status *st, int source, int tag, int bytes, const char *what)
{
    int count;
    MPI_Get_count(st, MPI_BYTE, &count);
    CHECK(st->MPI_SOURCE == source && st->MPI_TAG == tag && count == bytes,
          "%s told of %d bytes from rank %d with tag %d, not %d from %d with %d", what, count,
          st->MPI_SOURCE, st->MPI_TAG, bytes, source, tag);
}

/* Sends everything, takes it with probes in turn blocking and not, by name and by wildcard. */
static void lengths(int up, int down)
{
    MPI_Request requests[SIZES];
    for (int i = 0; i < SIZES; i++) {
        check_fill(out[i], (size_t)sizes[i], check.rank, TAG, i);
        MPI_Isend(out[i], sizes[i], MPI_BYTE, up, TAG, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < SIZES; i++) {
        bool wild = i % 2;
        MPI_Status st;
        check_step("probe of message %d", i);
        if (i % 3 == 0) {
            MPI_Probe(wild ? MPI_ANY_SOURCE : down, wild ? MPI_ANY_TAG : TAG, MPI_COMM_WORLD, &st);
        } else {
            int flag = 0;
            while (!flag) {
                MPI_Iprobe(wild ? MPI_ANY_SOURCE : down, wild ? MPI_ANY_TAG : TAG, MPI_COMM_WORLD,
                           &flag, &st);
            }
        }
        check_probed(&st, down, TAG, sizes[i], "a probe");
        MPI_Probe(down, TAG, MPI_COMM_WORLD, &st);
        check_probed(&st, down, TAG, sizes[i], "the second probe");
        check_step("receive of message %d", i);
        MPI_Recv(in, sizes[i], MPI_BYTE, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, down, TAG, sizes[i]);
        CHECK_DATA(in, (size_t)sizes[i], down, TAG, i);
    }
    MPI_Waitall(SIZES, requests, MPI_STATUSES_IGNORE);
}

/* A later message by its tag; what was passed over stays first for a wildcard. */
static void by_tag(int up, int down)
{
    int one = 1, two = 2, got, flag = 1;
    MPI_Request requests[2];
    MPI_Status st;
    MPI_Isend(&one, 1, MPI_INT, up, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&two, 1, MPI_INT, up, OTHER, MPI_COMM_WORLD, &requests[1]);
    check_step("probe of the second message");
    MPI_Probe(down, OTHER, MPI_COMM_WORLD, &st);
    check_probed(&st, down, OTHER, sizeof(int), "a probe by tag");
    MPI_Iprobe(down, NOBODY, MPI_COMM_WORLD, &flag, &st);
    CHECK(!flag, "MPI_Iprobe found a message that nobody sent");
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "MPI_Iprobe found a message of another communicator");
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
    check_probed(&st, down, TAG, sizeof(int), "a probe of anything");
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
    CHECK(got == 1, "the receive after a wildcard probe got message %d", got);
    MPI_Recv(&got, 1, MPI_INT, down, OTHER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == 2, "the receive by tag got message %d", got);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* A receive that was posted first gets its message; a probe never sees it. */
static void posted_first(int up, int down)
{
    int value = 5, got = 0, flag;
    MPI_Request receive, send;
    MPI_Status st;
    MPI_Irecv(&got, 1, MPI_INT, down, TAG, MPI_COMM_WORLD, &receive);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&value, 1, MPI_INT, up, TAG, MPI_COMM_WORLD, &send);
    MPI_Send(&value, 1, MPI_INT, up, OTHER, MPI_COMM_WORLD);
    check_step("probe of what came after a posted receive's message");
    MPI_Probe(down, OTHER, MPI_COMM_WORLD, &st);
    MPI_Iprobe(down, TAG, MPI_COMM_WORLD, &flag, &st);
    CHECK(!flag, "MPI_Iprobe saw a message that a posted receive gets");
    MPI_Recv(&value, 1, MPI_INT, down, OTHER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK(got == 5, "the posted receive got %d", got);
}

static void probe_is_no_match(int up, int down)
{
    int sent = 3, got, flag;
    MPI_Request send;
    MPI_Issend(&sent, 1, MPI_INT, up, TAG, MPI_COMM_WORLD, &send);
    check_step("probe of a synchronous message");
    MPI_Probe(down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 20; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, up, GO, &got, 1, MPI_INT, down, GO, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Test(&send, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "a synchronous send was complete after a probe, before its receive");
        if (flag) {
            break;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_step("receive of a synchronous message");
    MPI_Recv(&got, 1, MPI_INT, down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

static void nobody(void)
{
    int flag = 0;
    MPI_Status st;
    MPI_Probe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &st);
    check_probed(&st, MPI_PROC_NULL, MPI_ANY_TAG, 0, "MPI_Probe of MPI_PROC_NULL");
    MPI_Iprobe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &flag, &st);
    CHECK(flag, "MPI_Iprobe of MPI_PROC_NULL found nothing");
    check_probed(&st, MPI_PROC_NULL, MPI_ANY_TAG, 0, "MPI_Iprobe of MPI_PROC_NULL");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    out = check_zeroed(SIZES * sizeof *out);
    in = check_zeroed(LARGEST);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    for (int round = 0; round < 3; round++) {
        lengths(up, down);
        by_tag(up, down);
        posted_first(up, down);
        MPI_Barrier(MPI_COMM_WORLD);
        probe_is_no_match(up, down);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    nobody();
    free(out);
    free(in);
    return check_done();
}
