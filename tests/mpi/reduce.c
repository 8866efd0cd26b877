// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3,7 lanes=rxm seconds=60
// run: ranks=5 lanes=rxm-soft,net-soft,shm,mixed seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * MPI_Reduce: every operation on every type, every root, counts 0, 1, odd and large, in place at
 * the root; receive buffers of other ranks and send buffers stay as they are.
 */
#include "reduce.h"

static void one(int op, const struct reduce_type *t, int count, int root, bool in_place)
{
    size_t bytes = (size_t)count * (size_t)t->size;
    struct check_buffer out = check_buffer_new(bytes, 0), in = check_buffer_new(bytes, 0);
    bool here = check.rank == root;
    check_step("%s of %d %s to root %d%s", reduce_names[op], count, t->name, root,
               in_place ? " in place" : "");
    for (int i = 0; i < count; i++) {
        reduce_put(out.data, t, i, reduce_input(op, check.rank, i));
        if (here && in_place) {
            reduce_put(in.data, t, i, reduce_input(op, check.rank, i));
        }
    }
    if (op % 2) {
        MPI_Reduce_c(here && in_place ? MPI_IN_PLACE : out.data, in.data, count, t->type,
                     reduce_op(op), root, MPI_COMM_WORLD);
    } else {
        MPI_Reduce(here && in_place ? MPI_IN_PLACE : out.data, here ? in.data : NULL, count,
                   t->type, reduce_op(op), root, MPI_COMM_WORLD);
    }
    if (here) {
        reduce_verify(in.data, t, op, count);
    }
    CHECK(check_buffer_intact(&in, here ? bytes : 0), "%s: bytes outside were written",
          reduce_names[op]);
    for (int i = 0; i < count; i++) {
        if (reduce_get(out.data, t, i) != reduce_input(op, check.rank, i)) {
            CHECK(false, "%s changed its send buffer", reduce_names[op]);
            break;
        }
    }
    check_buffer_free(&out);
    check_buffer_free(&in);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 0, 7, 1001, 20011};
    check_begin(&argc, &argv, 1);
    for (int op = 0; op < REDUCE_OPS; op++) {
        for (int ty = 0; ty < REDUCE_TYPES; ty++) {
            struct reduce_type t = reduce_type(ty);
            if (reduce_allowed(op, &t)) {
                one(op, &t, 5, (op + ty) % check.size, (op + ty) % 3 == 0);
            }
        }
    }
    for (int root = 0; root < check.size; root++) {
        for (int c = 0; c < 5; c++) {
            struct reduce_type t = reduce_type(c % 2 ? 0 : 12);
            one(0, &t, counts[c], root, root % 2);
        }
    }
    return check_done();
}
