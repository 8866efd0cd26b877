// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=5 lanes=rxm,shm seconds=30
/*
 * Groups: every operation, against a model that counts with plain arrays; then the textbook cases
 * and the errors.
 */
#include "check.h"

enum { MOST = 64, ROUNDS = 300 };

struct set {
    int n, member[MOST];
};

static int place(const struct set *s, int member)
{
    for (int i = 0; i < s->n; i++)
        if (s->member[i] == member)
            return i;
    return -1;
}

static struct set random_set(uint64_t *state, int below)
{
    struct set s = {0};
    for (int i = 0; i < below; i++)
        if (check_random(state, 2))
            s.member[s.n++] = i;
    for (int i = s.n - 1; i > 0; i--) {
        int j = (int)check_random(state, (unsigned)i + 1), t = s.member[i];
        s.member[i] = s.member[j];
        s.member[j] = t;
    }
    return s;
}

static void same(MPI_Group group, const struct set *s, MPI_Group world, const char *what)
{
    int size, rank, ranks[MOST], out[MOST];
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &rank);
    CHECK(size == s->n, "%s has %d members instead of %d", what, size, s->n);
    int mine = place(s, check.rank);
    CHECK(rank == (mine < 0 ? MPI_UNDEFINED : mine), "my rank in %s is %d", what, rank);
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    MPI_Group_translate_ranks(group, size, ranks, world, out);
    for (int i = 0; i < size && i < s->n; i++)
        CHECK(out[i] == s->member[i], "%s: member %d is %d instead of %d", what, i, out[i],
              s->member[i]);
}

static struct set combine(const struct set *a, const struct set *b, int operation)
{
    struct set s = {0};
    for (int i = 0; i < a->n; i++)
        if (operation == 0 || (place(b, a->member[i]) >= 0) == (operation == 1))
            s.member[s.n++] = a->member[i];
    for (int i = 0; operation == 0 && i < b->n; i++)
        if (place(a, b->member[i]) < 0)
            s.member[s.n++] = b->member[i];
    return s;
}

static int expected_comparison(const struct set *a, const struct set *b)
{
    bool ident = a->n == b->n, similar = a->n == b->n;
    for (int i = 0; i < a->n && ident; i++)
        ident = a->member[i] == b->member[i];
    for (int i = 0; i < a->n && similar; i++)
        similar = place(b, a->member[i]) >= 0;
    return ident ? MPI_IDENT : similar ? MPI_SIMILAR : MPI_UNEQUAL;
}

static void random_operations(MPI_Group world)
{
    uint64_t state = (uint64_t)check_setting("WEFT_TEST_SEED", 7);
    for (int round = 0; round < ROUNDS; round++) {
        struct set a = random_set(&state, check.size), b = random_set(&state, check.size);
        MPI_Group ga, gb, result;
        MPI_Group_incl(world, a.n, a.member, &ga);
        MPI_Group_incl(world, b.n, b.member, &gb);
        same(ga, &a, world, "an inclusion");
        for (int operation = 0; operation < 3; operation++) {
            struct set expected = combine(&a, &b, operation);
            if (operation == 0)
                MPI_Group_union(ga, gb, &result);
            else if (operation == 1)
                MPI_Group_intersection(ga, gb, &result);
            else
                MPI_Group_difference(ga, gb, &result);
            same(result, &expected, world,
                 operation == 0   ? "a union"
                 : operation == 1 ? "an intersection"
                                  : "a difference");
            CHECK(expected.n || result == MPI_GROUP_EMPTY, "an empty group is not MPI_GROUP_EMPTY");
            MPI_Group_free(&result);
            CHECK(result == MPI_GROUP_NULL, "a freed group's handle is not MPI_GROUP_NULL");
        }
        int got, ranks[MOST + 1], out[MOST + 1];
        MPI_Group_compare(ga, gb, &got);
        CHECK(got == expected_comparison(&a, &b), "a comparison gave %d", got);
        for (int i = 0; i < a.n; i++)
            ranks[i] = i;
        ranks[a.n] = MPI_PROC_NULL;
        MPI_Group_translate_ranks(ga, a.n + 1, ranks, gb, out);
        for (int i = 0; i < a.n; i++) {
            int at = place(&b, a.member[i]);
            CHECK(out[i] == (at < 0 ? MPI_UNDEFINED : at), "rank %d is translated to %d", i,
                  out[i]);
        }
        CHECK(out[a.n] == MPI_PROC_NULL, "MPI_PROC_NULL is translated to %d", out[a.n]);
        MPI_Group_excl(ga, a.n, ranks, &result);
        CHECK(result == MPI_GROUP_EMPTY, "a group without all its members is not empty");
        MPI_Group_free(&ga);
        MPI_Group_free(&gb);
    }
}

/* Ranges are the same as the ranks they stand for. */
static void ranges(MPI_Group world)
{
    int last = check.size - 1, half = check.size / 2;
    int list[2][3] = {{last, half, -1}, {0, half - 1, 2}};
    struct set in = {0}, out = {0};
    for (int i = last; i >= half; i--)
        in.member[in.n++] = i;
    for (int i = 0; i <= half - 1; i += 2)
        in.member[in.n++] = i;
    for (int i = 0; i < check.size; i++)
        if (place(&in, i) < 0)
            out.member[out.n++] = i;
    MPI_Group group;
    MPI_Group_range_incl(world, half > 0 ? 2 : 1, list, &group);
    same(group, &in, world, "a range");
    MPI_Group_free(&group);
    MPI_Group_range_excl(world, half > 0 ? 2 : 1, list, &group);
    same(group, &out, world, "all but a range");
    MPI_Group_free(&group);
    MPI_Group_range_incl(world, 0, NULL, &group);
    CHECK(group == MPI_GROUP_EMPTY, "no range gives a group that is not empty");
    MPI_Group_free(&group);
}

static void errors(MPI_Group world)
{
    MPI_Group group;
    int twice[] = {0, 0}, outside[] = {check.size}, one[] = {0}, range[1][3] = {{0, 0, 0}}, got;
    int far[1][3] = {{0, check.size, 1}};
    CHECK_CLASS(MPI_Group_incl(world, 2, twice, &group), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Group_excl(world, 1, outside, &group), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Group_incl(world, -1, one, &group), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Group_range_incl(world, 1, range, &group), MPI_ERR_ARG);
    CHECK(check_class(MPI_Group_range_incl(world, 1, far, &group)) != MPI_SUCCESS,
          "a range that leaves the group is accepted");
    CHECK_CLASS(MPI_Group_size(MPI_GROUP_NULL, &got), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Group_union(world, MPI_GROUP_NULL, &group), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Group_translate_ranks(world, 1, outside, world, &got), MPI_ERR_RANK);
    group = MPI_GROUP_NULL;
    CHECK_CLASS(MPI_Group_free(&group), MPI_ERR_GROUP);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    MPI_Group world, empty = MPI_GROUP_EMPTY, self;
    int got;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    random_operations(world);
    ranges(world);
    MPI_Group_compare(world, self, &got);
    CHECK(got == (check.size == 1 ? MPI_IDENT : MPI_UNEQUAL), "world and self compare as %d", got);
    MPI_Group_compare(empty, MPI_GROUP_EMPTY, &got);
    for (int i = 0; i < 3; i++) { /* constructors return it, and programs free what they return */
        MPI_Group freed = MPI_GROUP_EMPTY, made;
        CHECK_CLASS(MPI_Group_free(&freed), MPI_SUCCESS);
        CHECK_CLASS(MPI_Group_incl(empty, 0, NULL, &made), MPI_SUCCESS);
    }
    CHECK(got == MPI_IDENT, "the empty group is not itself");
    errors(world);
    CHECK_CLASS(MPI_Group_free(&empty), MPI_SUCCESS);
    MPI_Group_size(MPI_GROUP_EMPTY, &got);
    CHECK(got == 0, "freeing a handle of the empty group took it away");
    MPI_Group_free(&world);
    MPI_Group_free(&self);
    return check_done();
}
