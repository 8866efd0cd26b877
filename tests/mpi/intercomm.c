// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,5 lanes=rxm,rxm-soft seconds=30
// run: ranks=5 lanes=shm,mixed seconds=40
/*
 * Inter-communicators: making them, messages on them in every mode, what is made of them, errors.
 */
#include "check.h"

static MPI_Comm half; /* the processes with the same parity, backwards */
static int color, local_size, local_rank, remote_size;

/* Everybody sends to everybody on the other side, and receives from any source. */
static void messages(MPI_Comm inter, const char *what)
{
    int rank, size, remote, flag = -1;
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag == 1, "%s is no inter-communicator", what);
    MPI_Request *request = malloc((size_t)remote * sizeof(MPI_Request));
    int *seen = calloc((size_t)remote, sizeof *seen), out[2] = {rank, check.rank};
    for (int i = 0; i < remote; i++)
        if (i % 2)
            MPI_Isend(out, 2, MPI_INT, i, 4, inter, &request[i]);
        else
            MPI_Issend(out, 2, MPI_INT, i, 4, inter, &request[i]);
    for (int i = 0; i < remote; i++) {
        int in[2] = {-1, -1};
        MPI_Status status;
        if (i == 0)
            MPI_Probe(MPI_ANY_SOURCE, 4, inter, &status);
        MPI_Recv(in, 2, MPI_INT, i == 0 ? status.MPI_SOURCE : MPI_ANY_SOURCE, 4, inter, &status);
        CHECK(in[0] == status.MPI_SOURCE && in[0] >= 0 && in[0] < remote,
              "%s: rank %d's message came from %d", what, in[0], status.MPI_SOURCE);
        CHECK(in[1] % 2 != color, "%s: a message of the own side, rank %d", what, in[1]);
        if (in[0] >= 0 && in[0] < remote)
            seen[in[0]]++;
    }
    MPI_Waitall(remote, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < remote; i++)
        CHECK(seen[i] == 1, "%s: %d messages from rank %d", what, seen[i], i);
    enum { LONG = 300000 };
    char *big = check_alloc(LONG), *back = check_alloc(LONG);
    int peer = rank % remote;
    check_fill(big, LONG, rank, color, 0);
    MPI_Request receive;
    if (size == remote) {
        MPI_Irecv(back, LONG, MPI_BYTE, peer, 9, inter, &receive);
        MPI_Send(big, LONG, MPI_BYTE, peer, 9, inter);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        CHECK(check_differs(back, LONG, peer, 1 - color, 0) == LONG, "%s: wrong data", what);
    }
    free(big);
    free(back);
    free(seen);
    free(request);
}

static void groups(MPI_Comm inter)
{
    MPI_Group local, remote, common, mine;
    int size, result;
    MPI_Comm_group(inter, &local);
    MPI_Comm_remote_group(inter, &remote);
    MPI_Comm_group(half, &mine);
    MPI_Group_compare(local, mine, &result);
    CHECK(result == MPI_IDENT, "the local group is not the local communicator's");
    MPI_Group_size(remote, &size);
    CHECK(size == remote_size, "the remote group has %d processes instead of %d", size,
          remote_size);
    MPI_Group_intersection(local, remote, &common);
    CHECK(common == MPI_GROUP_EMPTY, "the groups are not disjoint");
    MPI_Group_free(&local);
    MPI_Group_free(&remote);
    MPI_Group_free(&common);
    MPI_Group_free(&mine);
}

static void merged(MPI_Comm inter, int high, int expected_first, const char *what)
{
    MPI_Comm all;
    int rank, size, sum, flag;
    MPI_Intercomm_merge(inter, high, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    MPI_Comm_test_inter(all, &flag);
    CHECK(!flag && size == check.size, "%s: %d processes", what, size);
    int expected = color == expected_first ? local_rank : remote_size + local_rank;
    CHECK(rank == expected, "%s: rank %d instead of %d", what, rank, expected);
    MPI_Allreduce(&check.rank, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == size * (size - 1) / 2, "%s: the sum of ranks is %d", what, sum);
    MPI_Comm_free(&all);
}

static void made_of_it(MPI_Comm inter)
{
    MPI_Comm dup, part;
    MPI_Group local, one;
    int result, first[] = {0}, n;
    MPI_Comm_dup(inter, &dup);
    MPI_Comm_compare(inter, dup, &result);
    CHECK(result == MPI_CONGRUENT, "a copy compares as %d", result);
    MPI_Comm_compare(inter, half, &result);
    CHECK(result == MPI_UNEQUAL, "an intra-communicator compares as %d", result);
    messages(dup, "a copy");
    MPI_Comm_free(&dup);
    MPI_Request request;
    MPI_Comm_idup(inter, &dup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    messages(dup, "a copy by idup");
    MPI_Comm_free(&dup);
    /* The first process of each side; the others name no group. */
    MPI_Comm_group(inter, &local);
    MPI_Group_incl(local, 1, first, &one);
    MPI_Comm_create(inter, local_rank == 0 ? one : MPI_GROUP_EMPTY, &part);
    CHECK((part != MPI_COMM_NULL) == (local_rank == 0), "who is in the created one is wrong");
    if (part != MPI_COMM_NULL) {
        MPI_Comm_remote_size(part, &n);
        CHECK(n == 1, "the created one has %d remote processes", n);
        messages(part, "one process a side");
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&local);
    MPI_Group_free(&one);
    /* A color that only one side has gives nothing. */
    MPI_Comm_split(inter, local_rank == 0 ? 1 : 2 + color, 0, &part);
    CHECK((part != MPI_COMM_NULL) == (local_rank == 0), "who is in the split one is wrong");
    if (part != MPI_COMM_NULL) {
        messages(part, "a split one");
        MPI_Comm_free(&part);
    }
    MPI_Comm_split(inter, 0, check.rank, &part);
    MPI_Comm_rank(part, &n);
    CHECK(n == local_size - 1 - local_rank, "the key does not order: rank %d", n);
    messages(part, "a reordered one");
    MPI_Comm_free(&part);
}

static void errors(MPI_Comm inter)
{
    MPI_Comm out = MPI_COMM_NULL;
    CHECK_CLASS(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 1, &out), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_create(half, local_size, MPI_COMM_WORLD, 0, 1, &out), MPI_ERR_RANK);
    if (local_size == 1) {
        CHECK_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check.size, 1, &out),
                    MPI_ERR_RANK);
        CHECK_CLASS(MPI_Intercomm_create(half, 0, MPI_COMM_NULL, 0, 1, &out), MPI_ERR_COMM);
    }
    int value = 0;
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, remote_size, 0, inter), MPI_ERR_RANK);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    check_errors_return();
    color = check.rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, color, -check.rank, &half);
    MPI_Comm_rank(half, &local_rank);
    MPI_Comm_size(half, &local_size);
    remote_size = check.size - local_size;
    MPI_Comm inter, second, through;
    check_step("MPI_Intercomm_create");
    /* The leader is the last of each half, which is rank 0 or 1 of the world. Other ranks need not
     * pass a peer. */
    bool leads = local_rank == local_size - 1;
    MPI_Comm nothing = (MPI_Comm)(intptr_t)-4096;
    MPI_Intercomm_create(half, local_size - 1, leads ? MPI_COMM_WORLD : nothing,
                         leads ? 1 - color : -7, 12, &inter);
    MPI_Intercomm_create(half, local_size - 1, MPI_COMM_WORLD, 1 - color, 12, &second);
    messages(inter, "the first");
    messages(second, "the second");
    groups(inter);
    check_step("an inter-communicator as peer");
    MPI_Intercomm_create(half, 0, inter, 0, 3, &through);
    messages(through, "one made through another");
    MPI_Comm_free(&through);
    check_step("what is made of it");
    made_of_it(inter);
    merged(inter, color, 0, "the even ones first");
    merged(inter, !color, 1, "the odd ones first");
    check_step("errors");
    errors(inter);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&second);
    MPI_Comm_free(&half);
    return check_done();
}
