// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=40
/*
 * MPI_Type_get_envelope and MPI_Type_get_contents: what they say of a type makes the same type
 * again when it is passed to the constructor it names, for every constructor, in both forms, at
 * every level of nested types; and the exact arrays of one call of each.
 */
#include "check.h"

#include "../typemap.h"

enum { MOST = 4000 };

struct contents {
    MPI_Count integers, addresses, large, types;
    int combiner;
    int i[MOST];
    MPI_Aint a[MOST];
    MPI_Count c[MOST];
    MPI_Datatype t[64];
};

static bool read_contents(MPI_Datatype type, struct contents *k)
{
    MPI_Type_get_envelope_c(type, &k->integers, &k->addresses, &k->large, &k->types, &k->combiner);
    if (k->combiner == MPI_COMBINER_NAMED)
        return false;
    CHECK(k->integers <= MOST && k->addresses <= MOST && k->large <= MOST && k->types <= 64,
          "the test has too little room");
    MPI_Type_get_contents_c(type, MOST, MOST, MOST, 64, k->i, k->a, k->c, k->t);
    if (!k->large) { /* the form with int counts says the same */
        int integers = -1, addresses = -1, types = -1, combiner = -1;
        MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
        CHECK(integers == k->integers && addresses == k->addresses && types == k->types &&
                  combiner == k->combiner,
              "the two forms of the envelope differ");
    }
    return true;
}

static void make_again(const struct contents *k, MPI_Datatype *out)
{
    const int *i = k->i, n = k->large || !k->integers ? 0 : i[0];
    const MPI_Count *c = k->c, m = k->large ? c[0] : 0;
    bool large = k->large > 0;
    MPI_Datatype old = k->t[0];
    switch (k->combiner) {
    case MPI_COMBINER_DUP:
        MPI_Type_dup(old, out);
        return;
    case MPI_COMBINER_CONTIGUOUS:
        large ? MPI_Type_contiguous_c(m, old, out) : MPI_Type_contiguous(n, old, out);
        return;
    case MPI_COMBINER_VECTOR:
        large ? MPI_Type_vector_c(m, c[1], c[2], old, out)
              : MPI_Type_vector(n, i[1], i[2], old, out);
        return;
    case MPI_COMBINER_HVECTOR:
        large ? MPI_Type_create_hvector_c(m, c[1], c[2], old, out)
              : MPI_Type_create_hvector(n, i[1], k->a[0], old, out);
        return;
    case MPI_COMBINER_INDEXED:
        large ? MPI_Type_indexed_c(m, c + 1, c + 1 + m, old, out)
              : MPI_Type_indexed(n, i + 1, i + 1 + n, old, out);
        return;
    case MPI_COMBINER_HINDEXED:
        large ? MPI_Type_create_hindexed_c(m, c + 1, c + 1 + m, old, out)
              : MPI_Type_create_hindexed(n, i + 1, k->a, old, out);
        return;
    case MPI_COMBINER_INDEXED_BLOCK:
        large ? MPI_Type_create_indexed_block_c(m, c[1], c + 2, old, out)
              : MPI_Type_create_indexed_block(n, i[1], i + 2, old, out);
        return;
    case MPI_COMBINER_HINDEXED_BLOCK:
        large ? MPI_Type_create_hindexed_block_c(m, c[1], c + 2, old, out)
              : MPI_Type_create_hindexed_block(n, i[1], k->a, old, out);
        return;
    case MPI_COMBINER_STRUCT:
        large ? MPI_Type_create_struct_c(m, c + 1, c + 1 + m, k->t, out)
              : MPI_Type_create_struct(n, i + 1, k->a, k->t, out);
        return;
    case MPI_COMBINER_RESIZED:
        large ? MPI_Type_create_resized_c(old, c[0], c[1], out)
              : MPI_Type_create_resized(old, k->a[0], k->a[1], out);
        return;
    case MPI_COMBINER_SUBARRAY:
        large
            ? MPI_Type_create_subarray_c(i[0], c, c + i[0], c + 2 * i[0], i[1], old, out)
            : MPI_Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n, i[1 + 3 * n], old, out);
        return;
    case MPI_COMBINER_DARRAY:
        if (large)
            MPI_Type_create_darray_c(i[0], i[1], i[2], c, i + 3, i + 3 + i[2], i + 3 + 2 * i[2],
                                     i[3 + 3 * i[2]], old, out);
        else
            MPI_Type_create_darray(i[0], i[1], i[2], i + 3, i + 3 + i[2], i + 3 + 2 * i[2],
                                   i + 3 + 3 * i[2], i[3 + 4 * i[2]], old, out);
        return;
    default:
        CHECK(false, "unknown combiner %d", k->combiner);
        MPI_Type_dup(MPI_BYTE, out);
    }
}

/* Made of nothing but predefined types and contents; the caller frees it unless it is named. */
static MPI_Datatype rebuild(MPI_Datatype type, bool *named)
{
    struct contents *k = check_host(sizeof *k);
    MPI_Datatype made[64] = {0}, result;
    bool names[64] = {0};
    *named = !read_contents(type, k);
    if (*named) {
        free(k);
        return type;
    }
    for (int t = 0; t < k->types; t++) {
        MPI_Datatype part = k->t[t];
        made[t] = rebuild(part, &names[t]);
        if (!names[t])
            MPI_Type_free(&part); /* what the contents handed out */
        k->t[t] = made[t];
    }
    make_again(k, &result);
    for (int t = 0; t < k->types; t++)
        if (!names[t])
            MPI_Type_free(&made[t]);
    free(k);
    return result;
}

static void compare(MPI_Datatype type, const struct map *map)
{
    MPI_Count lb, extent, true_lb, true_extent, size;
    long map_lb, map_span, low, high;
    map_bounds(map, &map_lb, &map_span);
    map_true_bounds(map, &low, &high);
    MPI_Type_get_extent_c(type, &lb, &extent);
    MPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
    MPI_Type_size_x(type, &size);
    CHECK(lb == map_lb && extent == map_span && true_lb == low && true_extent == high - low &&
              size == map_size(map),
          "the type made again has other bounds");
    unsigned char *memory = check_alloc((size_t)(high - low));
    unsigned char *packed = check_alloc((size_t)size);
    long *places = map_places(map, 1), wrong = 0;
    MPI_Count position = 0;
    for (long i = 0; i < high - low; i++)
        memory[i] = (unsigned char)(i * 31 + i / 255);
    MPI_Pack_c((unsigned char *)((uintptr_t)memory - (uintptr_t)low), 1, type, packed, size,
               &position, MPI_COMM_WORLD);
    for (long i = 0; i < size; i++)
        wrong += packed[i] != memory[places[i] - low];
    CHECK(position == size && wrong == 0, "the type made again packs other bytes");
    free(memory);
    free(packed);
    free(places);
}

static void exact_contents(void)
{
    int lengths[] = {2, 0, 3}, places[] = {5, 9, -4};
    MPI_Aint addresses[] = {80, 7, -64};
    struct contents *k = check_host(sizeof *k);
    MPI_Datatype type;
    MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
    read_contents(type, k);
    const int expected[] = {3, 2, 0, 3, 5, 9, -4};
    CHECK(k->integers == 7 && !k->addresses && k->types == 1 && k->t[0] == MPI_INT &&
              !memcmp(k->i, expected, sizeof expected),
          "contents of an indexed type");
    MPI_Type_free(&type);
    MPI_Type_create_hindexed(3, lengths, addresses, MPI_INT, &type);
    read_contents(type, k);
    CHECK(k->integers == 4 && k->addresses == 3 && !memcmp(k->i, expected, 4 * sizeof(int)) &&
              !memcmp(k->a, addresses, sizeof addresses),
          "contents of an hindexed type");
    MPI_Type_free(&type);
    MPI_Type_vector_c(4, 2, 7, MPI_DOUBLE, &type);
    read_contents(type, k);
    CHECK(!k->integers && k->large == 3 && k->c[0] == 4 && k->c[1] == 2 && k->c[2] == 7,
          "contents of a vector with large counts");
    int n;
    CHECK_CLASS(MPI_Type_get_envelope(type, &n, &n, &n, &n), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_get_contents(type, 9, 9, 9, k->i, k->a, k->t), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_get_contents_c(type, 9, 9, 2, 9, k->i, k->a, k->c, k->t), MPI_ERR_ARG);
    MPI_Type_free(&type);
    MPI_Type_get_envelope(MPI_INT, &k->i[0], &k->i[1], &k->i[2], &k->i[3]);
    CHECK(!k->i[0] && !k->i[1] && !k->i[2] && k->i[3] == MPI_COMBINER_NAMED, "envelope of MPI_INT");
    CHECK_CLASS(MPI_Type_get_contents(MPI_INT, 9, 9, 9, k->i, k->a, k->t), MPI_ERR_TYPE);
    free(k);
}

static void fortran_kinds(void)
{
    MPI_Datatype a, b, c;
    int n[4], i[2] = {0}, size;
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &a);
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &b);
    MPI_Type_create_f90_real(12, 100, &c);
    CHECK(a == b && a != c, "the same arguments must give the same type, others another");
    MPI_Type_size(a, &size);
    CHECK(size == 8, "12 digits take %d bytes", size);
    MPI_Type_get_envelope(a, &n[0], &n[1], &n[2], &n[3]);
    MPI_Type_get_contents(a, 2, 0, 0, i, NULL, NULL);
    CHECK(n[0] == 2 && !n[1] && !n[2] && n[3] == MPI_COMBINER_F90_REAL && i[0] == 12 &&
              i[1] == MPI_UNDEFINED,
          "contents of a Fortran real");
    CHECK_CLASS(MPI_Type_free(&a), MPI_ERR_TYPE);
    MPI_Type_create_f90_integer(9, &a);
    MPI_Type_size(a, &size);
    CHECK(size == 4, "9 digits take %d bytes", size);
    MPI_Type_create_f90_complex(6, 30, &a);
    MPI_Type_size(a, &size);
    CHECK(size == 8, "a complex number of 6 digits takes %d bytes", size);
    CHECK_CLASS(MPI_Type_create_f90_integer(50, &a), MPI_ERR_ARG);
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME], expected[MPI_MAX_OBJECT_NAME + 20];
    int length = -1;
    MPI_Datatype type, copy;
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_get_name(type, name, &length);
    CHECK(length == 0 && !name[0], "a new type has the name %s", name);
    memset(expected, 'x', sizeof expected);
    expected[sizeof expected - 1] = 0;
    MPI_Type_set_name(type, expected);
    MPI_Type_get_name(type, name, &length);
    CHECK(length == MPI_MAX_OBJECT_NAME - 1 && !strncmp(name, expected, (size_t)length) &&
              !name[length],
          "a long name has %d bytes", length);
    MPI_Type_set_name(type, "three");
    MPI_Type_dup(type, &copy);
    MPI_Type_get_name(type, name, &length);
    CHECK(!strcmp(name, "three"), "the name is %s", name);
    MPI_Type_get_name(MPI_DOUBLE, name, &length);
    CHECK(!strcmp(name, "MPI_DOUBLE") && length == 10, "MPI_DOUBLE is called %s", name);
    MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length);
    CHECK(!strcmp(name, "MPI_DATATYPE_NULL"), "MPI_DATATYPE_NULL is called %s", name);
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL, "a freed handle is not null");
    MPI_Type_free(&copy);
}

static int deletions;

static int on_delete(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

/* What is done to a returned type does nothing to the type of the program. */
static void expect_own(MPI_Datatype type, MPI_Datatype returned, int key, const char *what)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, flag = 0, combiner, n, *value;
    MPI_Type_get_envelope(returned, &n, &n, &n, &combiner);
    CHECK(combiner == MPI_COMBINER_VECTOR, "%s: the combiner is %d", what, combiner);
    CHECK(returned != type, "%s: the type itself is returned", what);
    MPI_Type_get_attr(returned, key, &value, &flag);
    CHECK(!flag, "%s: the returned type has the attribute", what);
    MPI_Type_set_name(returned, "returned");
    MPI_Type_free(&returned);
    CHECK(deletions == 0, "%s: the attribute was deleted", what);
    MPI_Type_get_attr(type, key, &value, &flag);
    CHECK(flag && value == &deletions, "%s: the attribute is gone", what);
    MPI_Type_get_name(type, name, &length);
    CHECK(!strcmp(name, "mine"), "%s: the name is %s", what, name);
}

static void own_objects(void)
{
    int i[1], key;
    MPI_Aint a[1];
    MPI_Datatype mine, outer, again, returned, twice;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Type_vector(3, 1, 2, MPI_INT, &mine);
    MPI_Type_set_attr(mine, key, &deletions);
    MPI_Type_set_name(mine, "mine");
    MPI_Type_contiguous(3, mine, &outer);
    MPI_Type_get_contents(outer, 1, 0, 1, i, a, &returned);
    expect_own(mine, returned, key, "contents");
    /* A type made of a returned one, and its contents. */
    MPI_Type_get_contents(outer, 1, 0, 1, i, a, &returned);
    MPI_Type_contiguous(2, returned, &again);
    MPI_Type_free(&returned);
    MPI_Type_get_contents(again, 1, 0, 1, i, a, &twice);
    MPI_Type_free(&again);
    MPI_Type_free(&outer);
    expect_own(mine, twice, key, "contents of what was made of contents");
    MPI_Type_free(&mine);
    CHECK(deletions == 1, "%d attributes were deleted", deletions);
    MPI_Type_free_keyval(&key);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    struct map_random random = {check_seed()};
    for (int i = 0; i < 400; i++) {
        check_step("type %d", i);
        struct mapped m = mapped_random(&random, MAP_DEPTH);
        bool named;
        MPI_Datatype again = rebuild(m.type, &named);
        if (!named) {
            MPI_Type_commit(&again);
            compare(again, &m.map);
            MPI_Type_free(&again);
        }
        mapped_free(&m);
    }
    exact_contents();
    fortran_kinds();
    names();
    own_objects();
    return check_done();
}
