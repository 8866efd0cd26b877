// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,5 lanes=rxm,rxm-soft seconds=60
// run: ranks=9 lanes=rxm seconds=60
/*
 * Collectives between two groups, of even and of odd ranks, for short and long data: every kind
 * against what it should bring, blocking, nonblocking and persistent ones at once with collectives
 * of the groups themselves; and the arguments that only inter-communicators refuse.
 */
#include "check.h"

enum { LONGEST = 40000, MOST = 16, MAKE = 3 };

static struct {
    MPI_Comm comm, own;           /* between the groups, and the own group */
    int side, rank, size, others; /* side 0 or 1; rank and size in the group; size of the other */
} group;

/* Element i of what rank r of a side gives to rank `to` of the other. */
static unsigned value(int side, int r, int to, int i)
{
    return (unsigned)check_seed_of(side * 100 + r, to, i);
}

static unsigned sum_of(int side, int ranks, int i)
{
    unsigned sum = 0;
    for (int r = 0; r < ranks; r++)
        sum += value(side, r, 0, i);
    return sum;
}

static unsigned *new_array(int n)
{
    unsigned *array = check_alloc((size_t)(n ? n : 1) * sizeof *array);
    memset(array, 0, (size_t)(n ? n : 1) * sizeof *array);
    return array;
}

static void expect(const char *what, unsigned got, unsigned want, int i)
{
    CHECK(got == want, "%s: element %d is %u, expected %u", what, i, got, want);
}

/* The root argument of this rank when rank `root` of side 0 is the root. */
static int as_root(int root)
{
    if (group.side == 1)
        return root;
    return group.rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void bcast_and_reduce(int n, int root)
{
    unsigned *in = new_array(n), *out = new_array(n);
    bool is_root = group.side == 0 && group.rank == root;
    check_step("broadcast and reduction of %d", n);
    for (int i = 0; i < n; i++)
        in[i] = value(group.side, group.rank, 0, i);
    unsigned *data = is_root ? in : out;
    MPI_Bcast(data, n, MPI_UNSIGNED, as_root(root), group.comm);
    for (int i = 0; group.side == 1 && i < n; i++)
        expect("broadcast", out[i], value(0, root, 0, i), i);
    memset(out, 0, (size_t)n * sizeof *out);
    MPI_Reduce(in, out, n, MPI_UNSIGNED, MPI_SUM, as_root(root), group.comm);
    for (int i = 0; i < n; i++)
        expect("reduction", out[i], is_root ? sum_of(1, group.others, i) : 0, i);
    MPI_Allreduce(in, out, n, MPI_UNSIGNED, MPI_SUM, group.comm);
    for (int i = 0; i < n; i++)
        expect("reduction to all", out[i], sum_of(!group.side, group.others, i), i);
    free(in);
    free(out);
}

static void gather_and_scatter(int n, int root)
{
    bool is_root = group.side == 0 && group.rank == root;
    unsigned *one = new_array(n), *all = new_array(n * group.others), *got = new_array(n);
    check_step("gather and scatter of %d", n);
    for (int i = 0; i < n; i++)
        one[i] = value(group.side, group.rank, 0, i);
    MPI_Gather(one, n, MPI_UNSIGNED, all, n, MPI_UNSIGNED, as_root(root), group.comm);
    for (int i = 0; is_root && i < n * group.others; i++)
        expect("gather", all[i], value(1, i / n, 0, i % n), i);
    for (int i = 0; i < n * group.others; i++)
        all[i] = value(group.side, group.rank, i / (n ? n : 1), i % (n ? n : 1));
    MPI_Scatter(all, n, MPI_UNSIGNED, got, n, MPI_UNSIGNED, as_root(root), group.comm);
    for (int i = 0; group.side == 1 && i < n; i++)
        expect("scatter", got[i], value(0, root, group.rank, i), i);
    free(one);
    free(all);
    free(got);
}

static void exchange(int n)
{
    unsigned *in = new_array(n * group.others), *out = new_array(n * group.others);
    check_step("exchanges of %d", n);
    for (int i = 0; i < n; i++)
        in[i] = value(group.side, group.rank, 0, i);
    MPI_Allgather(in, n, MPI_UNSIGNED, out, n, MPI_UNSIGNED, group.comm);
    for (int i = 0; i < n * group.others; i++)
        expect("allgather", out[i], value(!group.side, i / n, 0, i % n), i);
    for (int i = 0; i < n * group.others; i++)
        in[i] = value(group.side, group.rank, i / n, i % n);
    MPI_Alltoall(in, n, MPI_UNSIGNED, out, n, MPI_UNSIGNED, group.comm);
    for (int i = 0; i < n * group.others; i++)
        expect("alltoall", out[i], value(!group.side, i / n, group.rank, i % n), i);
    free(in);
    free(out);
}

/* v-forms: rank r of side s gives s + r elements to each, or to rank t of the other (s + r + t)
 * % 4. */
static void vectors(int root)
{
    int counts[MOST], displs[MOST], sends[MOST], sdispls[MOST], total = 0, n;
    unsigned in[MOST * 4], out[MOST * MOST * 2];
    check_step("v-forms");
    for (int r = 0, at = 0; r < group.others; at += counts[r++]) {
        counts[r] = !group.side + r;
        displs[r] = at;
        total = at + counts[r];
    }
    n = group.side + group.rank;
    for (int i = 0; i < n; i++)
        in[i] = value(group.side, group.rank, 0, i);
    MPI_Allgatherv(in, n, MPI_UNSIGNED, out, counts, displs, MPI_UNSIGNED, group.comm);
    for (int r = 0; r < group.others; r++)
        for (int i = 0; i < counts[r]; i++)
            expect("allgatherv", out[displs[r] + i], value(!group.side, r, 0, i), i);
    memset(out, 0, sizeof out);
    MPI_Gatherv(in, n, MPI_UNSIGNED, out, counts, displs, MPI_UNSIGNED, as_root(root), group.comm);
    bool is_root = group.side == 0 && group.rank == root;
    for (int r = 0; is_root && r < group.others; r++)
        for (int i = 0; i < counts[r]; i++)
            expect("gatherv", out[displs[r] + i], value(1, r, 0, i), i);
    CHECK(is_root || total < 0 || out[0] == 0, "gatherv wrote to a rank that is not the root");
    for (int i = 0; i < total; i++)
        out[i] = (unsigned)i;
    MPI_Scatterv(out, counts, displs, MPI_UNSIGNED, in, n, MPI_UNSIGNED, as_root(root), group.comm);
    for (int i = 0, before = group.side * group.rank + group.rank * (group.rank - 1) / 2;
         group.side == 1 && i < n; i++)
        expect("scatterv", in[i], (unsigned)(before + i), i);
    for (int r = 0, at = 0, from = 0; r < group.others; r++) {
        sends[r] = (group.side + group.rank + r) % 4;
        counts[r] = (!group.side + r + group.rank) % 4;
        sdispls[r] = at;
        displs[r] = from;
        at += sends[r];
        from += counts[r];
        for (int i = 0; i < sends[r]; i++)
            in[sdispls[r] + i] = value(group.side, group.rank, r, i);
    }
    MPI_Alltoallv(in, sends, sdispls, MPI_UNSIGNED, out, counts, displs, MPI_UNSIGNED, group.comm);
    for (int r = 0; r < group.others; r++)
        for (int i = 0; i < counts[r]; i++)
            expect("alltoallv", out[displs[r] + i], value(!group.side, r, group.rank, i), i);
}

/* The vector has so many elements that both groups can cut it evenly. */
static void reduce_scatter(int times)
{
    int n = group.size * group.others * times, mine = group.others * times, counts[MOST];
    unsigned *in = new_array(n), *out = new_array(n);
    check_step("reduce_scatter of %d", n);
    for (int i = 0; i < n; i++)
        in[i] = value(group.side, group.rank, 0, i);
    MPI_Reduce_scatter_block(in, out, mine, MPI_UNSIGNED, MPI_SUM, group.comm);
    for (int i = 0; i < mine; i++)
        expect("reduce_scatter_block", out[i],
               sum_of(!group.side, group.others, group.rank * mine + i), i);
    for (int r = 0; r < group.size; r++) /* all to the last rank but one element each */
        counts[r] = r < group.size - 1 ? 1 : n - (group.size - 1);
    MPI_Reduce_scatter(in, out, counts, MPI_UNSIGNED, MPI_SUM, group.comm);
    for (int i = 0; i < counts[group.rank]; i++)
        expect("reduce_scatter", out[i], sum_of(!group.side, group.others, group.rank + i), i);
    free(in);
    free(out);
}

/* Several at once, on the inter-communicator and on the group, and a barrier after all. */
static void at_once(void)
{
    unsigned mine = value(group.side, group.rank, 0, 0), sums[MAKE] = {0}, own = 0;
    MPI_Request requests[MAKE + 2];
    check_step("several at once");
    for (int i = 0; i < MAKE - 1; i++)
        MPI_Iallreduce(&mine, &sums[i], 1, MPI_UNSIGNED, MPI_SUM, group.comm, &requests[i]);
    MPI_Allreduce_init(&mine, &sums[MAKE - 1], 1, MPI_UNSIGNED, MPI_SUM, group.comm, MPI_INFO_NULL,
                       &requests[MAKE - 1]);
    MPI_Start(&requests[MAKE - 1]);
    MPI_Iallreduce(&mine, &own, 1, MPI_UNSIGNED, MPI_SUM, group.own, &requests[MAKE]);
    MPI_Ibarrier(group.comm, &requests[MAKE + 1]);
    MPI_Waitall(MAKE + 2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MAKE; i++)
        expect("several at once", sums[i], sum_of(!group.side, group.others, 0), i);
    expect("the own group", own, sum_of(group.side, group.size, 0), 0);
    MPI_Request_free(&requests[MAKE - 1]);
}

/* Persistent ones of several kinds, made once, started together and again with other data. */
static void persistent(int root)
{
    enum { KINDS = 7, STARTS = 3 };
    MPI_Request requests[KINDS];
    MPI_Datatype types[MOST];
    unsigned data = 0, sum = 0, all[MOST], gathered[MOST], in[MOST], out[MOST], mine,
             got[MOST] = {0};
    unsigned scattered[MOST], part = 0;
    int ones[MOST], at[MOST], bytes[MOST];
    bool is_root = group.side == 0 && group.rank == root;
    check_step("persistent ones, root %d", root);
    for (int r = 0; r < MOST; r++) {
        ones[r] = 1;
        at[r] = MOST - 1 - r; /* in the reverse order */
        bytes[r] = r * (int)sizeof *in;
        types[r] = MPI_UNSIGNED;
    }
    MPI_Info none = MPI_INFO_NULL;
    MPI_Bcast_init(&data, 1, MPI_UNSIGNED, as_root(root), group.comm, none, &requests[0]);
    MPI_Reduce_init(&mine, &sum, 1, MPI_UNSIGNED, MPI_SUM, as_root(root), group.comm, none,
                    &requests[1]);
    MPI_Allgather_init(&mine, 1, MPI_UNSIGNED, all, 1, MPI_UNSIGNED, group.comm, none,
                       &requests[2]);
    MPI_Gatherv_init(&mine, 1, MPI_UNSIGNED, gathered, ones, at, MPI_UNSIGNED, as_root(root),
                     group.comm, none, &requests[3]);
    MPI_Alltoallw_init(in, ones, bytes, types, out, ones, bytes, types, group.comm, none,
                       &requests[4]);
    MPI_Allgatherv_init(&mine, 1, MPI_UNSIGNED, got, ones, at, MPI_UNSIGNED, group.comm, none,
                        &requests[5]);
    MPI_Scatter_init(scattered, 1, MPI_UNSIGNED, &part, 1, MPI_UNSIGNED, as_root(root), group.comm,
                     none, &requests[6]);
    for (int t = 0; t < STARTS; t++) {
        mine = value(group.side, group.rank, 0, t);
        data = is_root ? 70 + (unsigned)t : 0;
        for (int r = 0; r < group.others; r++) {
            in[r] = value(group.side, group.rank, r, 10 + t);
            scattered[r] = value(group.side, group.rank, r, 20 + t);
        }
        MPI_Startall(KINDS, requests);
        MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE);
        if (group.side == 1) {
            expect("persistent broadcast", data, 70 + (unsigned)t, t);
            expect("persistent scatter", part, value(0, root, group.rank, 20 + t), t);
        }
        if (is_root)
            expect("persistent reduction", sum, sum_of(1, group.others, t), t);
        for (int r = 0; r < group.others; r++) {
            unsigned theirs = value(!group.side, r, 0, t);
            expect("persistent allgather", all[r], theirs, r);
            expect("persistent allgatherv", got[at[r]], theirs, r);
            expect("persistent alltoallw", out[r], value(!group.side, r, group.rank, 10 + t), r);
            if (is_root)
                expect("persistent gatherv", gathered[at[r]], theirs, r);
        }
    }
    for (int i = 0; i < KINDS; i++)
        MPI_Request_free(&requests[i]);
}

/* Nobody leaves before all of the other group have come. */
static void barrier_waits(void)
{
    MPI_Request request;
    int flag = 0;
    check_step("a barrier without the other group");
    if (group.side == 0) {
        MPI_Ibarrier(group.comm, &request);
        for (int i = 0; i < 100; i++)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "a rank left the barrier before the other group has come");
        MPI_Barrier(group.own);
        if (group.rank == 0)
            MPI_Send(NULL, 0, MPI_INT, 0, 9, group.comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    if (group.rank == 0)
        MPI_Recv(NULL, 0, MPI_INT, 0, 9, group.comm, MPI_STATUS_IGNORE);
    MPI_Barrier(group.own);
    MPI_Barrier(group.comm);
}

static void wrong_arguments(void)
{
    int in[MOST] = {0}, out[MOST] = {0}, counts[MOST], length;
    char text[MPI_MAX_ERROR_STRING];
    for (int i = 0; i < MOST; i++)
        counts[i] = 1; /* a rank that receives nothing has no buffer that is shared */
    check_step("arguments that are wrong between groups");
    MPI_Comm_set_errhandler(group.comm, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, group.others, group.comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, -77, group.comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, group.comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(out, out, 1, MPI_INT, MPI_SUM, group.comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Reduce_scatter(out, out, counts, MPI_INT, MPI_SUM, group.comm), MPI_ERR_BUFFER);
    MPI_Error_string(MPI_ERR_BUFFER, text, &length);
    CHECK(strstr(text, "share memory") && !strstr(text, "MPI_IN_PLACE"), "the error says: %s",
          text);
    CHECK_CLASS(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, group.comm),
                MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, group.comm),
                MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, group.comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, group.comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Bcast(NULL, -1, MPI_DATATYPE_NULL, MPI_PROC_NULL, group.comm), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 17, LONGEST};
    check_begin(&argc, &argv, 2);
    group.side = check.rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, group.side, 0, &group.own);
    MPI_Intercomm_create(group.own, 0, MPI_COMM_WORLD, !group.side, 3, &group.comm);
    MPI_Comm_rank(group.own, &group.rank);
    MPI_Comm_size(group.own, &group.size);
    MPI_Comm_remote_size(group.comm, &group.others);
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        int zeros = check.size - check.size / 2; /* ranks of side 0 */
        bcast_and_reduce(lengths[l], (int)l % zeros);
        gather_and_scatter(lengths[l], (int)(l + 1) % zeros);
        if (lengths[l])
            exchange(lengths[l]);
    }
    for (int root = 0; root < check.size - check.size / 2; root++)
        vectors(root);
    reduce_scatter(1);
    reduce_scatter(700);
    for (int root = 0; root < 2 && root < check.size - check.size / 2; root++)
        persistent(root);
    at_once();
    barrier_waits();
    wrong_arguments();
    MPI_Comm_free(&group.comm);
    MPI_Comm_free(&group.own);
    return check_done();
}
