// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=2,5 lanes=rxm,rxm-soft seconds=30
// run: ranks=5 lanes=shm,mixed seconds=40
/*
 * Making communicators: dup, idup, create, create_group and split; who is in them, that their
 * messages do not mix, names, comparisons, disconnect, errors.
 */
#include "check.h"

/* A message around the ring of a communicator arrives there, with the right ranks, although the
 * same tag is used in world at the same time. */
static void ring(MPI_Comm comm, const char *what)
{
    int rank, size, in = -1, beside = -1;
    MPI_Status status;
    MPI_Request world, ring;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int up = (rank + 1) % size, down = (rank + size - 1) % size, out = 1000 + rank;
    MPI_Irecv(&beside, 1, MPI_INT, check.rank, 5, MPI_COMM_WORLD, &world);
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &ring);
    MPI_Send(&out, 1, MPI_INT, up, 5, comm);
    MPI_Wait(&ring, &status);
    CHECK(in == 1000 + down && status.MPI_SOURCE == down, "%s: %d came from %d instead of %d", what,
          in, status.MPI_SOURCE, down);
    CHECK(beside == -1, "%s: its message went to MPI_COMM_WORLD", what);
    out = 7;
    MPI_Send(&out, 1, MPI_INT, check.rank, 5, MPI_COMM_WORLD);
    MPI_Wait(&world, MPI_STATUS_IGNORE);
    int sum = -1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2, "%s: the sum of ranks is %d", what, sum);
}

static int compare(MPI_Comm a, MPI_Comm b)
{
    int result = -1;
    MPI_Comm_compare(a, b, &result);
    return result;
}

static void copies(void)
{
    MPI_Comm dup, again, self;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK(dup != MPI_COMM_WORLD && dup != MPI_COMM_NULL, "a copy is the original");
    CHECK(compare(dup, MPI_COMM_WORLD) == MPI_CONGRUENT, "a copy is not congruent");
    CHECK(compare(dup, dup) == MPI_IDENT, "a communicator is not itself");
    ring(dup, "a copy");
    MPI_Comm_dup(dup, &again);
    ring(again, "a copy's copy");
    MPI_Comm_free(&dup);
    CHECK(dup == MPI_COMM_NULL, "a freed communicator's handle is not MPI_COMM_NULL");
    ring(again, "a copy whose original was freed");
    MPI_Comm_disconnect(&again);
    CHECK(again == MPI_COMM_NULL, "a disconnected communicator's handle is not MPI_COMM_NULL");
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    ring(self, "a copy of self");
    MPI_Comm_free(&self);
}

/* Several idups at once, completed in another order, with blocking calls in between. */
static void nonblocking_copies(void)
{
    MPI_Comm comm[4], blocking;
    MPI_Request request[4];
    for (int i = 0; i < 4; i++)
        MPI_Comm_idup(MPI_COMM_WORLD, &comm[i], &request[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &blocking);
    ring(blocking, "a copy made beside others");
    for (int i = 3; i >= 0; i--) {
        MPI_Status status;
        MPI_Wait(&request[i], &status);
        CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE, "the status of idup has source %d",
              status.MPI_SOURCE);
        ring(comm[i], "a copy made by idup");
    }
    for (int i = 0; i < 4; i++)
        MPI_Comm_free(&comm[i]);
    MPI_Comm_free(&blocking);
    /* It is nonblocking: rank 0 has started its own when the others are told to. */
    if (check.rank == 0)
        MPI_Comm_idup(MPI_COMM_WORLD, &comm[0], &request[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank != 0)
        MPI_Comm_idup(MPI_COMM_WORLD, &comm[0], &request[0]);
    MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
    ring(comm[0], "a copy begun at different times");
    MPI_Comm_free(&comm[0]);
}

static void splits(void)
{
    MPI_Comm part;
    int color = check.rank % 2, rank, size;
    MPI_Comm_split(MPI_COMM_WORLD, color, -check.rank, &part);
    MPI_Comm_rank(part, &rank);
    MPI_Comm_size(part, &size);
    int members = (check.size + 1 - color) / 2;
    CHECK(size == members, "a half has %d processes instead of %d", size, members);
    CHECK(rank == members - 1 - check.rank / 2, "the key does not order: rank %d", rank);
    ring(part, "a half");
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD, check.rank == 0 ? MPI_UNDEFINED : 3, 0, &part);
    if (check.rank == 0) {
        CHECK(part == MPI_COMM_NULL, "MPI_UNDEFINED is in a part");
    } else {
        MPI_Comm_rank(part, &rank);
        CHECK(rank == check.rank - 1, "equal keys change the order: rank %d", rank);
        ring(part, "all but one");
        MPI_Comm_free(&part);
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, check.size - check.rank, &part);
    CHECK(compare(part, MPI_COMM_WORLD) == (check.size == 1 ? MPI_CONGRUENT : MPI_SIMILAR),
          "the same processes backwards are not similar");
    MPI_Comm_free(&part);
}

/* By create, where two disjoint groups are named in one call, and by create_group, called by the
 * members only. */
static void creations(void)
{
    MPI_Comm part;
    MPI_Group world, mine;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int half = check.size / 2, range[1][3] = {{0, half - 1, 1}};
    if (check.rank >= half) {
        range[0][0] = check.size - 1;
        range[0][1] = half;
        range[0][2] = -1;
    }
    MPI_Group_range_incl(world, 1, range, &mine);
    MPI_Comm_create(MPI_COMM_WORLD, mine, &part);
    ring(part, "a group's communicator");
    int rank;
    MPI_Comm_rank(part, &rank);
    CHECK(rank == (check.rank < half ? check.rank : check.size - 1 - check.rank),
          "the group's order is lost: rank %d", rank);
    MPI_Comm_free(&part);
    if (check.rank >= half) {
        MPI_Comm_create_group(MPI_COMM_WORLD, mine, 3, &part);
        ring(part, "a group's own communicator");
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&mine);
    MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &part);
    CHECK(part == MPI_COMM_NULL, "an empty group has a communicator");
    MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_EMPTY, 3, &part);
    CHECK(part == MPI_COMM_NULL, "an empty group has a communicator");
    MPI_Group_free(&world);
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME], longest[2 * MPI_MAX_OBJECT_NAME];
    int length = -1;
    MPI_Comm dup;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(!strcmp(name, "MPI_COMM_WORLD") && length == 14, "the name of world is %s", name);
    MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
    CHECK(!strcmp(name, "MPI_COMM_SELF"), "the name of self is %s", name);
    MPI_Comm_set_name(MPI_COMM_WORLD, "everybody");
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_name(dup, name, &length);
    CHECK(!name[0] && length == 0, "a copy has the name %s", name);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    MPI_Comm_set_name(dup, "first");
    MPI_Comm_set_name(dup, longest);
    MPI_Comm_get_name(dup, name, &length);
    CHECK(length == MPI_MAX_OBJECT_NAME - 1 && strlen(name) == (size_t)length,
          "a long name has %d characters", length);
    MPI_Comm_free(&dup);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(!strcmp(name, "everybody"), "world's new name is %s", name);
}

/* What was started before a communicator is freed is carried through, and its ids are not given to
 * another in the meantime. */
static void pending(void)
{
    enum { PIECES = 20, LONG = 300000 };
    int peer = check.rank ^ 1;
    if (peer >= check.size)
        peer = check.rank;
    char *out = check_alloc(LONG), *in[PIECES];
    MPI_Request request[2 * PIECES];
    check_fill(out, LONG, check.rank, 0, 0);
    for (int i = 0; i < PIECES; i++) {
        MPI_Comm dup;
        in[i] = check_alloc(LONG);
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Irecv(in[i], LONG, MPI_BYTE, peer, 1, dup, &request[2 * i]);
        MPI_Isend(out, i % 2 ? LONG : 100, MPI_BYTE, peer, 1, dup, &request[2 * i + 1]);
        MPI_Comm_free(&dup);
    }
    MPI_Waitall(2 * PIECES, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < PIECES; i++) {
        size_t bytes = i % 2 ? LONG : 100;
        CHECK(check_differs(in[i], bytes, peer, 0, 0) == bytes, "message %d is wrong", i);
        free(in[i]);
    }
    free(out);
    /* A message that a matched probe holds can be received after its communicator is gone. */
    MPI_Comm dup;
    MPI_Message message;
    int value = 42 + check.rank, got = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Send(&value, 1, MPI_INT, peer, 2, dup);
    MPI_Mprobe(peer, 2, dup, &message, MPI_STATUS_IGNORE);
    MPI_Comm_free(&dup);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(got == 42 + peer, "the message of a freed communicator is %d", got);
    MPI_Comm_free(&dup);
}

static void errors(void)
{
    MPI_Comm out = MPI_COMM_WORLD, null = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    MPI_Group group;
    int got;
    CHECK_CLASS(MPI_Comm_dup(MPI_COMM_NULL, &out), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_free(&null), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_free(&world), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_disconnect(&world), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &out), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &out), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Comm_remote_size(MPI_COMM_WORLD, &got), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_remote_group(MPI_COMM_WORLD, &group), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &out), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &got), MPI_ERR_COMM);
    MPI_Comm_test_inter(MPI_COMM_WORLD, &got);
    CHECK(!got, "world is an inter-communicator");
    if (check.size > 1) {
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        CHECK_CLASS(MPI_Comm_create(MPI_COMM_SELF, group, &out), MPI_ERR_GROUP);
        CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, group, -1, &out), MPI_ERR_TAG);
        MPI_Group_free(&group);
    }
}

static int handled;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handled++;
}

/* A new communicator has its parent's error handler, as it was when it was made. */
static void inheritance(void)
{
    MPI_Errhandler counting;
    MPI_Comm parent, child, part;
    int value = 0;
    MPI_Comm_create_errhandler(handler, &counting);
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_errhandler(parent, counting);
    MPI_Errhandler_free(&counting);
    MPI_Comm_dup(parent, &child);
    MPI_Comm_split(parent, 0, 0, &part);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    MPI_Send(&value, 1, MPI_INT, -77, 0, child);
    MPI_Send(&value, 1, MPI_INT, -77, 0, part);
    MPI_Send(&value, 1, MPI_INT, -77, 0, parent);
    CHECK(handled == 2, "the inherited handler was called %d times instead of 2", handled);
    MPI_Comm_free(&parent);
    MPI_Comm_free(&child);
    MPI_Comm_free(&part);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    check_step("copies");
    copies();
    check_step("nonblocking copies");
    nonblocking_copies();
    check_step("splits");
    splits();
    check_step("creations");
    if (check.size > 1)
        creations();
    names();
    check_step("operations pending at MPI_Comm_free");
    pending();
    check_step("errors");
    errors();
    inheritance();
    return check_done();
}
