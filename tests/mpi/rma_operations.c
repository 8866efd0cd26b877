// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=2 lanes=shm,rxm,net-soft,nodes seconds=30
/*
 * Accumulate operations with every predefined operation and type, on aligned elements, on elements
 * at odd addresses, with holes at the target, and of one element: the target gets what
 * MPI_Reduce_local computes, the result is the value before, and what MPI_Reduce_local refuses is
 * refused.
 */
#include "check.h"

static const MPI_Op ops[] = {MPI_MIN,    MPI_MAX,    MPI_SUM,     MPI_PROD, MPI_LAND,
                             MPI_BAND,   MPI_LOR,    MPI_BOR,     MPI_LXOR, MPI_BXOR,
                             MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
static const MPI_Datatype types[] = {MPI_CHAR,
                                     MPI_CHARACTER,
                                     MPI_WCHAR,
                                     MPI_PACKED,
                                     MPI_SIGNED_CHAR,
                                     MPI_SHORT,
                                     MPI_INT,
                                     MPI_LONG,
                                     MPI_LONG_LONG,
                                     MPI_UNSIGNED_CHAR,
                                     MPI_UNSIGNED_SHORT,
                                     MPI_UNSIGNED,
                                     MPI_UNSIGNED_LONG,
                                     MPI_INT8_T,
                                     MPI_INT16_T,
                                     MPI_INT32_T,
                                     MPI_INT64_T,
                                     MPI_UINT64_T,
                                     MPI_AINT,
                                     MPI_COUNT,
                                     MPI_OFFSET,
                                     MPI_FLOAT,
                                     MPI_DOUBLE,
                                     MPI_LONG_DOUBLE,
                                     MPI_C_BOOL,
                                     MPI_C_FLOAT_COMPLEX,
                                     MPI_C_DOUBLE_COMPLEX,
                                     MPI_C_LONG_DOUBLE_COMPLEX,
                                     MPI_BYTE,
                                     MPI_INTEGER,
                                     MPI_REAL,
                                     MPI_DOUBLE_PRECISION,
                                     MPI_LOGICAL,
                                     MPI_COMPLEX,
                                     MPI_SHORT_INT,
                                     MPI_2INT,
                                     MPI_LONG_INT,
                                     MPI_FLOAT_INT,
                                     MPI_DOUBLE_INT,
                                     MPI_LONG_DOUBLE_INT};
enum variant { ALIGNED, ODD, HOLES, ONE, VARIANTS };
enum {
    OPS = sizeof ops / sizeof *ops,
    TYPES = sizeof types / sizeof *types,
    COUNT = 3,
    ELEMENT = 32,                    /* bytes of the longest type */
    SLOT = 2 * COUNT * ELEMENT + 32, /* of one call at the target */
    SLOTS = OPS * TYPES * VARIANTS
};

/* Each byte is 0 or 1, so that every type has valid elements. */
static void fill(char *at, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)(check_mix(seed * 4099 + i) >> 40 & 1);
}

/* What a call uses. */
struct call {
    MPI_Op op;
    MPI_Datatype type, there; /* of an element, and of all elements at the target */
    enum variant variant;
    int count, index;
    MPI_Aint disp;
};

static struct call call_of(int index)
{
    struct call call = {.op = ops[index % OPS],
                        .type = types[index / OPS % TYPES],
                        .variant = (enum variant)(index / OPS / TYPES),
                        .index = index,
                        .disp = (MPI_Aint)index * SLOT};
    call.count = call.variant == ONE ? 1 : COUNT;
    call.disp += call.variant == ODD;
    MPI_Type_vector(call.count, 1, call.variant == HOLES ? 2 : 1, call.type, &call.there);
    MPI_Type_commit(&call.there);
    return call;
}

/* The elements without holes and padding. */
static void pack(const char *at, int count, MPI_Datatype type, char *packed)
{
    int position = 0;
    MPI_Pack(at, count, type, packed, SLOT, &position, MPI_COMM_SELF);
}

static int start(const struct call *call, char *origin, char *result, int target, MPI_Win win)
{
    int n = call->count;
    fill(origin, SLOT, (uint64_t)call->index * 64 + (uint64_t)check.rank);
    if (call->variant == ONE)
        return MPI_Fetch_and_op(origin, result, call->type, target, call->disp, call->op, win);
    if (call->op != MPI_NO_OP && call->index % 3 == 0)
        return MPI_Accumulate(origin, n, call->type, target, call->disp, 1, call->there, call->op,
                              win);
    return MPI_Get_accumulate(origin, n, call->type, result, n, call->type, target, call->disp, 1,
                              call->there, call->op, win);
}

/* Whether the operation takes the type; then `elements` become what the target has after it. */
static bool combine(const struct call *call, char *origin, char *elements)
{
    if (call->op == MPI_REPLACE)
        memcpy(elements, origin, SLOT);
    if (call->op == MPI_REPLACE || call->op == MPI_NO_OP)
        return true;
    return MPI_Reduce_local(origin, elements, call->count, call->type, call->op) == MPI_SUCCESS;
}

/* The target of rank `origin` is this rank. */
static void check_target(const struct call *call, int origin, const char *memory)
{
    _Alignas(16) char before[SLOT], from[SLOT], elements[SLOT] = {0};
    char packed[SLOT] = {0}, expected[SLOT] = {0};
    int position = 0, bytes;
    fill(before, SLOT, (uint64_t)call->index * 64 + 32);
    pack(before, 1, call->there, packed);
    MPI_Type_size(call->there, &bytes);
    MPI_Unpack(packed, bytes, &position, elements, call->count, call->type, MPI_COMM_SELF);
    fill(from, SLOT, (uint64_t)call->index * 64 + (uint64_t)origin);
    combine(call, from, elements);
    pack(elements, call->count, call->type, expected);
    pack(memory + call->disp, 1, call->there, packed);
    CHECK(!memcmp(packed, expected, (size_t)bytes),
          "operation %d, type %d, variant %d: the target is wrong", call->index % OPS,
          call->index / OPS % TYPES, (int)call->variant);
}

static void check_origin(const struct call *call, int code, const char *result)
{
    _Alignas(16) char origin[SLOT], before[SLOT], elements[SLOT] = {0};
    char packed[SLOT] = {0}, expected[SLOT] = {0};
    int bytes;
    fill(origin, SLOT, 0);
    bool takes = combine(call, origin, elements);
    CHECK(check_class(code) == (takes ? MPI_SUCCESS : MPI_ERR_OP),
          "operation %d, type %d, variant %d: the class is %d", call->index % OPS,
          call->index / OPS % TYPES, (int)call->variant, check_class(code));
    bool has_result = call->variant == ONE || call->op == MPI_NO_OP || call->index % 3 != 0;
    if (!takes || !has_result)
        return;
    fill(before, SLOT, (uint64_t)call->index * 64 + 32);
    MPI_Type_size(call->there, &bytes);
    pack(before, 1, call->there, expected);
    pack(result, call->count, call->type, packed);
    CHECK(!memcmp(packed, expected, (size_t)bytes),
          "operation %d, type %d, variant %d: the result is wrong", call->index % OPS,
          call->index / OPS % TYPES, (int)call->variant);
}

static void check_all(MPI_Win win, char *memory, bool exclusive)
{
    int target = (check.rank + 1) % check.size, left = (check.rank + check.size - 1) % check.size;
    char *origins = check_alloc((size_t)SLOTS * SLOT), *results = check_alloc((size_t)SLOTS * SLOT);
    int *codes = check_host(SLOTS * sizeof *codes);
    for (int i = 0; i < SLOTS; i++) {
        struct call call = call_of(i);
        fill(memory + call.disp, SLOT - 1, (uint64_t)i * 64 + 32);
        MPI_Type_free(&call.there);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    exclusive ? MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win) : MPI_Win_lock_all(0, win);
    for (int i = 0; i < SLOTS; i++) {
        struct call call = call_of(i);
        codes[i] =
            start(&call, origins + (size_t)i * SLOT, results + (size_t)i * SLOT, target, win);
        MPI_Type_free(&call.there);
    }
    exclusive ? MPI_Win_unlock(target, win) : MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < SLOTS; i++) {
        struct call call = call_of(i);
        check_origin(&call, codes[i], results + (size_t)i * SLOT);
        check_target(&call, left, memory);
        MPI_Type_free(&call.there);
    }
    free(origins);
    free(results);
    free(codes);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    MPI_Win win;
    char *memory;
    MPI_Win_allocate((MPI_Aint)SLOTS * SLOT, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        check_step("%s", exclusive ? "exclusive locks" : "lock_all");
        check_all(win, memory, exclusive);
    }
    MPI_Win_free(&win);
    return check_done();
}
