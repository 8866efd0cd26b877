// SPDX-License-Identifier: BSD-3-Clause
/*
 * Groups (MPI 5.0 section 7.3). All of it is local.
 *
 * Invariant: errors have no communicator, so they go to the handler of MPI_COMM_SELF.
 */
#include "core/mpi/entry.h"

#include <stdlib.h>

/* Checks n ranks of a group; null_too: MPI_PROC_NULL is allowed; once: none may appear twice. */
static int check_ranks(const struct weft_group *group, int n, const int *ranks, bool null_too,
                       bool once)
{
    if (n < 0)
        return weft_error_set(MPI_ERR_ARG, "the number of ranks, %d, is negative", n);
    if (n > 0 && !ranks)
        return weft_error_set(MPI_ERR_ARG, "the array of ranks is null");
    bool *seen = once ? calloc((size_t)group->size + 1, 1) : NULL;
    int code = once && !seen
                   ? weft_error_set(MPI_ERR_NO_MEM, "no memory to check the ranks of a group")
                   : MPI_SUCCESS;
    for (int i = 0; i < n && code == MPI_SUCCESS; i++) {
        if (null_too && ranks[i] == MPI_PROC_NULL)
            continue;
        if (ranks[i] < 0 || ranks[i] >= group->size)
            code =
                weft_error_set(MPI_ERR_RANK,
                               "rank %d in entry %d of the array is not in the group, which has %d "
                               "processes",
                               ranks[i], i, group->size);
        else if (once && seen[ranks[i]])
            code = weft_error_set(MPI_ERR_RANK,
                                  "rank %d appears twice in the array, the second time as entry %d",
                                  ranks[i], i);
        else if (once)
            seen[ranks[i]] = true;
    }
    free(seen);
    return code;
}

/* ---- By ranks */

int weft_mpi_check_members(struct weft_group *group, int n, const int *ranks)
{
    return check_ranks(group, n, ranks, false, true);
}

int weft_mpi_check_translation(struct weft_group *group, int n, const int *ranks, int *translated)
{
    int code = check_ranks(group, n, ranks, true, false);
    return code || n == 0 ? code : weft_arg_result(translated != NULL, "translated ranks");
}

/* The members that a list of different, valid ranks does not name. */
struct weft_group *weft_mpi_group_leave_out(struct weft_group *group, int n, const int *ranks)
{
    bool *out = calloc((size_t)group->size + 1, 1);
    if (!out) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for a group of %d processes", group->size);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        weft_assert(ranks[i] >= 0 && ranks[i] < group->size && !out[ranks[i]]);
        out[ranks[i]] = true;
    }
    struct weft_group *result = weft_group_exclude(group, out);
    free(out);
    return result;
}

/* ---- By ranges: (first, last, stride) */

static int range_error(int i, const int range[3], const char *what)
{
    return weft_error_set(MPI_ERR_ARG, "range %d, (%d, %d, %d), %s", i, range[0], range[1],
                          range[2], what);
}

/* The number of ranks in a range; 0 when it is backwards. */
static int64_t range_length(const int range[3])
{
    int64_t length = ((int64_t)range[1] - range[0]) / range[2] + 1;
    bool backwards = range[2] > 0 ? range[1] < range[0] : range[1] > range[0];
    return backwards ? 0 : length;
}

/* Writes the ranks of n ranges one after the other. *out is to be freed. */
static int unroll(const struct weft_group *group, int n, int ranges[][3], int **out, int *count)
{
    int64_t total = 0;
    *out = NULL;
    *count = 0;
    if (n < 0)
        return weft_error_set(MPI_ERR_ARG, "the number of ranges, %d, is negative", n);
    if (n > 0 && !ranges)
        return weft_error_set(MPI_ERR_ARG, "the array of ranges is null");
    for (int i = 0; i < n; i++) {
        if (ranges[i][2] == 0)
            return range_error(i, ranges[i], "has a stride of zero");
        total += range_length(ranges[i]);
        if (total > group->size)
            return range_error(i, ranges[i], "and those before have more ranks than the group");
    }
    int *ranks = malloc(((size_t)total + 1) * sizeof *ranks);
    if (!ranks)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for a group of %lld processes",
                              (long long)total);
    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < range_length(ranges[i]); k++)
            ranks[(*count)++] = (int)(ranges[i][0] + k * ranges[i][2]);
    weft_assert(*count == (int)total);
    *out = ranks;
    return MPI_SUCCESS;
}

int weft_mpi_group_ranges(struct weft_group *group, int n, int ranges[][3], bool include,
                          struct weft_group **made)
{
    int count, *ranks;
    int code = unroll(group, n, ranges, &ranks, &count);
    if (code == MPI_SUCCESS)
        code = check_ranks(group, count, ranks, false, true);
    if (code == MPI_SUCCESS) {
        *made = include ? weft_group_include(group, count, ranks)
                        : weft_mpi_group_leave_out(group, count, ranks);
        code = *made ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    free(ranks);
    return code;
}
