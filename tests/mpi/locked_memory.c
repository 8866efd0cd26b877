// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-push,shm seconds=40
/*
 * Windows of messages in both directions, with and without gaps between their bytes, that a
 * provider with a limit of locked memory does not register together: tests/strict/run refuses
 * registrations, tests/verbs/run sets the limit. All of them must come right.
 *
 *     locked_memory [MIB COUNT]    only COUNT contiguous messages of so many MiB each way
 */
#include "check.h"

enum { TAG = 4, MOST = 8 };

/* The type's extent is one byte or two. */
static void exchange(int count, size_t bytes, bool gaps)
{
    int other = check.rank ^ 1;
    size_t extent = gaps ? 2 : 1;
    unsigned char *in[MOST], *out[MOST];
    MPI_Request requests[2 * MOST];
    MPI_Datatype type;
    check_step("%d messages of %zu bytes each way%s", count, bytes, gaps ? ", with gaps" : "");
    MPI_Type_create_resized(MPI_BYTE, 0, (MPI_Aint)extent, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < count; i++) {
        in[i] = check_alloc(extent * bytes);
        out[i] = check_alloc(extent * bytes);
        check_fill(out[i], bytes, check.rank, TAG, i);
        for (size_t k = bytes; gaps && k-- > 0;)
            out[i][2 * k] = out[i][k];
        MPI_Irecv(in[i], (int)bytes, type, other, TAG + i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < count; i++)
        MPI_Isend(out[i], (int)bytes, type, other, TAG + i, MPI_COMM_WORLD, &requests[count + i]);
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++) {
        for (size_t k = 0; gaps && k < bytes; k++)
            in[i][k] = in[i][2 * k];
        CHECK_DATA(in[i], bytes, other, TAG, i);
        free(in[i]);
        free(out[i]);
    }
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    /* The longest comes first: the connection takes locked memory too. */
    static const size_t sizes[] = {5 << 20, 8, 100, 5000, 16384, 16385, 300000};
    check_begin(&argc, &argv, 2);
    if (argc > 2) {
        exchange(atoi(argv[2]), (size_t)atoi(argv[1]) << 20, false);
    } else {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            exchange(MOST, sizes[s], false);
            exchange(MOST, sizes[s], true);
        }
    }
    int code = check_done();
    if (check.rank == 0 && code == 0)
        printf("all messages came right\n");
    return code;
}
