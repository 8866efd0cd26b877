// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=2 lanes=shm,rxm,net-soft seconds=30
/*
 * Accumulate operations on many value-index pairs without padding, which are one run of bytes: the
 * pair types, resized to the bytes of their data.
 */
#include "check.h"

enum { N = 6000 }; /* more than 64 KiB of each type */

struct kind {
    const char *name;
    MPI_Datatype type, packed;
    size_t value; /* bytes of the value; the index follows */
};

struct pair {
    long double value;
    int index;
};

static void store(char *at, const struct kind *kind, struct pair pair)
{
    double number = (double)pair.value;
    long integer = (long)pair.value;
    const void *value = kind->type == MPI_DOUBLE_INT ? (void *)&number
                        : kind->type == MPI_LONG_INT ? (void *)&integer
                                                     : (void *)&pair.value;
    memcpy(at, value, kind->value);
    memcpy(at + kind->value, &pair.index, sizeof pair.index);
}

static struct pair load(const char *at, const struct kind *kind)
{
    struct pair pair = {0, 0};
    double number;
    long integer;
    if (kind->type == MPI_DOUBLE_INT) {
        memcpy(&number, at, sizeof number);
        pair.value = number;
    } else if (kind->type == MPI_LONG_INT) {
        memcpy(&integer, at, sizeof integer);
        pair.value = (long double)integer;
    } else {
        memcpy(&pair.value, at, sizeof pair.value);
    }
    memcpy(&pair.index, at + kind->value, sizeof pair.index);
    return pair;
}

static struct pair of_target(int i)
{
    return (struct pair){i * 5 % 11, 3 * i};
}

static struct pair of_origin(int i, int rank)
{
    return (struct pair){(i * 7 + rank) % 11, i + rank};
}

static struct pair combine(MPI_Op op, struct pair target, struct pair origin)
{
    if (op == MPI_NO_OP || op == MPI_REPLACE)
        return op == MPI_NO_OP ? target : origin;
    if (origin.value == target.value)
        return origin.index < target.index ? origin : target;
    return (origin.value > target.value) == (op == MPI_MAXLOC) ? origin : target;
}

static bool is_same(struct pair a, struct pair b)
{
    return a.value == b.value && a.index == b.index;
}

static void run(const struct kind *kind, MPI_Op op, const char *name, bool fetches)
{
    size_t each = kind->value + sizeof(int);
    int target = (check.rank + 1) % check.size, left = (check.rank + check.size - 1) % check.size;
    char *memory, *origin = check_alloc(N * each), *result = check_alloc(N * each);
    MPI_Win win;
    check_step("%s of %s%s", name, kind->name, fetches ? ", with a result" : "");
    MPI_Win_allocate((MPI_Aint)(N * each), (int)each, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int i = 0; i < N; i++) {
        store(memory + (size_t)i * each, kind, of_target(i));
        store(origin + (size_t)i * each, kind, of_origin(i, check.rank));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(fetches ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
    if (fetches)
        MPI_Get_accumulate(origin, N, kind->packed, result, N, kind->packed, target, 0, N,
                           kind->packed, op, win);
    else
        MPI_Accumulate(origin, N, kind->packed, target, 0, N, kind->packed, op, win);
    MPI_Win_unlock(target, win);
    MPI_Barrier(MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < N; i++) {
        size_t at = (size_t)i * each;
        struct pair wanted = combine(op, of_target(i), of_origin(i, left));
        wrong += !is_same(load(memory + at, kind), wanted);
        wrong += fetches && !is_same(load(result + at, kind), of_target(i));
    }
    CHECK(!wrong, "%d pairs are wrong", wrong);
    MPI_Win_free(&win);
    check_free(origin);
    check_free(result);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    struct kind kinds[] = {
        {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, MPI_DATATYPE_NULL, sizeof(double)},
        {"MPI_LONG_INT", MPI_LONG_INT, MPI_DATATYPE_NULL, sizeof(long)},
        {"MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, MPI_DATATYPE_NULL, sizeof(long double)}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        MPI_Type_create_resized(kinds[i].type, 0, (MPI_Aint)(kinds[i].value + sizeof(int)),
                                &kinds[i].packed);
        MPI_Type_commit(&kinds[i].packed);
        for (int fetches = 0; fetches < 2; fetches++) {
            run(&kinds[i], MPI_MAXLOC, "MPI_MAXLOC", fetches);
            run(&kinds[i], MPI_MINLOC, "MPI_MINLOC", fetches);
            run(&kinds[i], MPI_REPLACE, "MPI_REPLACE", fetches);
        }
        run(&kinds[i], MPI_NO_OP, "MPI_NO_OP", true);
        MPI_Type_free(&kinds[i].packed);
    }
    return check_done();
}
