// SPDX-License-Identifier: BSD-3-Clause
/*
 * Groups (MPI 5.0 section 7.3). All of it is local.
 *
 * Invariant: errors have no communicator, so they go to the handler of MPI_COMM_SELF.
 */
#include "core/mpi/api.h"
#include "core/mpi/enter.h"
#include "core/object/error.h"
#include "core/process/weft.h"

#include <stdlib.h>

WEFT_EXPORT(Group_size);
int PMPI_Group_size(MPI_Group handle, int *size)
{
    const char *function = "MPI_Group_size";
    int code;
    struct weft_group *group = weft_enter_group(function, handle, &code);
    if (!group)
        return code;
    if (size)
        *size = group->size;
    else
        code = weft_call_no_result(NULL, function, "size");
    weft_leave();
    return code;
}

WEFT_EXPORT(Group_rank);
int PMPI_Group_rank(MPI_Group handle, int *rank)
{
    const char *function = "MPI_Group_rank";
    int code;
    struct weft_group *group = weft_enter_group(function, handle, &code);
    if (!group)
        return code;
    if (rank)
        *rank = group->rank;
    else
        code = weft_call_no_result(NULL, function, "rank");
    weft_leave();
    return code;
}

WEFT_EXPORT(Group_free);
int PMPI_Group_free(MPI_Group *handle)
{
    const char *function = "MPI_Group_free";
    int code;
    struct weft_group *group = weft_enter_group(function, handle ? *handle : MPI_GROUP_NULL, &code);
    if (!group)
        return code;
    weft_group_release(group);
    *handle = MPI_GROUP_NULL;
    weft_leave();
    return MPI_SUCCESS;
}

/* Checks n ranks of a group; null_too: MPI_PROC_NULL is allowed; once: none may stand twice. */
static int check_ranks(const char *function, const struct weft_group *group, int n,
                       const int *ranks, bool null_too, bool once)
{
    if (n < 0)
        return weft_error(NULL, MPI_ERR_ARG, function, "the number of ranks, %d, is negative", n);
    if (n > 0 && !ranks)
        return weft_error(NULL, MPI_ERR_ARG, function, "the array of ranks is null");
    bool *seen = once ? calloc((size_t)group->size + 1, 1) : NULL;
    int code = once && !seen ? weft_error(NULL, MPI_ERR_NO_MEM, function,
                                          "no memory to check the ranks of a group")
                             : MPI_SUCCESS;
    for (int i = 0; i < n && code == MPI_SUCCESS; i++) {
        if (null_too && ranks[i] == MPI_PROC_NULL)
            continue;
        if (ranks[i] < 0 || ranks[i] >= group->size)
            code = weft_error(NULL, MPI_ERR_RANK, function,
                              "entry %d of the array, %d, is no rank of the group, which has %d "
                              "processes",
                              i, ranks[i], group->size);
        else if (once && seen[ranks[i]])
            code = weft_error(NULL, MPI_ERR_RANK, function,
                              "rank %d stands twice in the array, the second time as entry %d",
                              ranks[i], i);
        else if (once)
            seen[ranks[i]] = true;
    }
    free(seen);
    return code;
}

WEFT_EXPORT(Group_translate_ranks);
int PMPI_Group_translate_ranks(MPI_Group from, int n, const int ranks1[], MPI_Group to,
                               int ranks2[])
{
    const char *function = "MPI_Group_translate_ranks";
    int code;
    struct weft_group *one = weft_enter_group(function, from, &code);
    if (!one)
        return code;
    struct weft_group *two = weft_call_group(NULL, function, to);
    code = two ? check_ranks(function, one, n, ranks1, true, false) : MPI_ERR_GROUP;
    if (code == MPI_SUCCESS && n > 0 && !ranks2)
        code = weft_call_no_result(NULL, function, "translated ranks");
    else if (code == MPI_SUCCESS && n > 0 &&
             (code = weft_group_translate(one, n, ranks1, two, ranks2)) != MPI_SUCCESS)
        code = weft_error_raise(NULL, code, function);
    weft_leave();
    return code;
}

WEFT_EXPORT(Group_compare);
int PMPI_Group_compare(MPI_Group first, MPI_Group second, int *result)
{
    const char *function = "MPI_Group_compare";
    int code;
    struct weft_group *one = weft_enter_group(function, first, &code);
    if (!one)
        return code;
    struct weft_group *two = weft_call_group(NULL, function, second);
    if (!two) {
        code = MPI_ERR_GROUP;
    } else if (!result) {
        code = weft_call_no_result(NULL, function, "result");
    } else {
        *result = weft_group_compare(one, two);
        if (*result < 0)
            code = weft_error_raise(NULL, MPI_ERR_NO_MEM, function);
    }
    weft_leave();
    return code;
}

/* Hands out a new group, or raises the error that made it NULL; leaves the library. */
static int hand_out(const char *function, struct weft_group *group, MPI_Group *out)
{
    int code = MPI_SUCCESS;
    if (group)
        *out = weft_group_handle(group);
    else
        code = weft_error_raise(NULL, MPI_ERR_NO_MEM, function);
    weft_leave();
    return code;
}

static int combine(const char *function, enum weft_group_operation operation, MPI_Group first,
                   MPI_Group second, MPI_Group *out)
{
    int code;
    struct weft_group *one = weft_enter_group(function, first, &code);
    if (!one)
        return code;
    struct weft_group *two = weft_call_group(NULL, function, second);
    if (two && out)
        return hand_out(function, weft_group_combine(operation, one, two), out);
    code = two ? weft_call_no_result(NULL, function, "new group") : MPI_ERR_GROUP;
    weft_leave();
    return code;
}

WEFT_EXPORT(Group_union);
int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine("MPI_Group_union", WEFT_GROUP_UNION, group1, group2, newgroup);
}

WEFT_EXPORT(Group_intersection);
int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine("MPI_Group_intersection", WEFT_GROUP_INTERSECTION, group1, group2, newgroup);
}

WEFT_EXPORT(Group_difference);
int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine("MPI_Group_difference", WEFT_GROUP_DIFFERENCE, group1, group2, newgroup);
}

/* ---- By ranks */

/* Those of a group that a list of different, valid ranks leaves over. */
static struct weft_group *leave_out(const struct weft_group *group, int n, const int *ranks)
{
    bool *out = calloc((size_t)group->size + 1, 1);
    if (!out) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for a group of %d processes", group->size);
        return NULL;
    }
    for (int i = 0; i < n; i++)
        out[ranks[i]] = true;
    struct weft_group *result = weft_group_exclude(group, out);
    free(out);
    return result;
}

static int pick(const char *function, MPI_Group handle, int n, const int *ranks, bool include,
                MPI_Group *out)
{
    int code;
    struct weft_group *group = weft_enter_group(function, handle, &code);
    if (!group)
        return code;
    code = out ? check_ranks(function, group, n, ranks, false, true)
               : weft_call_no_result(NULL, function, "new group");
    if (code == MPI_SUCCESS)
        return hand_out(function,
                        include ? weft_group_include(group, n, ranks) : leave_out(group, n, ranks),
                        out);
    weft_leave();
    return code;
}

WEFT_EXPORT(Group_incl);
int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return pick("MPI_Group_incl", group, n, ranks, true, newgroup);
}

WEFT_EXPORT(Group_excl);
int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return pick("MPI_Group_excl", group, n, ranks, false, newgroup);
}

/* ---- By ranges: (first, last, stride) */

static int range_error(const char *function, int i, const int range[3], const char *what)
{
    return weft_error(NULL, MPI_ERR_ARG, function, "range %d, (%d, %d, %d), %s", i, range[0],
                      range[1], range[2], what);
}

/* The number of ranks in a range; 0 when it is backwards. */
static int64_t range_length(const int range[3])
{
    int64_t length = ((int64_t)range[1] - range[0]) / range[2] + 1;
    bool backwards = range[2] > 0 ? range[1] < range[0] : range[1] > range[0];
    return backwards ? 0 : length;
}

/* Writes the ranks of n ranges one after the other. *out is to be freed. */
static int unroll(const char *function, const struct weft_group *group, int n, int ranges[][3],
                  int **out, int *count)
{
    int64_t total = 0;
    *out = NULL;
    *count = 0;
    if (n < 0)
        return weft_error(NULL, MPI_ERR_ARG, function, "the number of ranges, %d, is negative", n);
    if (n > 0 && !ranges)
        return weft_error(NULL, MPI_ERR_ARG, function, "the array of ranges is null");
    for (int i = 0; i < n; i++) {
        if (ranges[i][2] == 0)
            return range_error(function, i, ranges[i], "has a stride of zero");
        total += range_length(ranges[i]);
        if (total > group->size)
            return range_error(function, i, ranges[i],
                               "and those before have more ranks than the group");
    }
    int *ranks = malloc(((size_t)total + 1) * sizeof *ranks);
    if (!ranks)
        return weft_error(NULL, MPI_ERR_NO_MEM, function, "no memory for a group of %lld processes",
                          (long long)total);
    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < range_length(ranges[i]); k++)
            ranks[(*count)++] = (int)(ranges[i][0] + k * ranges[i][2]);
    *out = ranks;
    return MPI_SUCCESS;
}

static int pick_ranges(const char *function, MPI_Group handle, int n, int ranges[][3], bool include,
                       MPI_Group *out)
{
    int code, count, *ranks;
    struct weft_group *group = weft_enter_group(function, handle, &code);
    if (!group)
        return code;
    if (!out) {
        code = weft_call_no_result(NULL, function, "new group");
        weft_leave();
        return code;
    }
    code = unroll(function, group, n, ranges, &ranks, &count);
    if (code == MPI_SUCCESS)
        code = check_ranks(function, group, count, ranks, false, true);
    if (code == MPI_SUCCESS) {
        struct weft_group *made =
            include ? weft_group_include(group, count, ranks) : leave_out(group, count, ranks);
        free(ranks);
        return hand_out(function, made, out);
    }
    free(ranks);
    weft_leave();
    return code;
}

WEFT_EXPORT(Group_range_incl);
int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return pick_ranges("MPI_Group_range_incl", group, n, ranges, true, newgroup);
}

WEFT_EXPORT(Group_range_excl);
int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return pick_ranges("MPI_Group_range_excl", group, n, ranges, false, newgroup);
}
