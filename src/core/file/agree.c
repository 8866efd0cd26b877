// SPDX-License-Identifier: BSD-3-Clause
/*
 * The agreement of the ranks of a file: see agree.h.
 *
 * Invariant: an agreement costs one reduction; only if a rank failed, its sentence is broadcast.
 */
#include "core/coll/coll.h"
#include "core/file/agree.h"
#include "core/file/file.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/message/process.h"
#include "core/progress/progress.h"

#include <stdio.h>
#include <string.h>

/* The error of a rank, as it is broadcast. */
struct report {
    int32_t class;
    char sentence[WEFT_FILE_SENTENCE];
};

void weft_file_describe(const struct weft_file *file, int code, char *sentence)
{
    char text[MPI_MAX_ERROR_STRING];
    if (!weft_error_text(code, text, sizeof text))
        text[0] = '\0';
    const char *after = strstr(text, ": "); /* the text of the class */
    snprintf(sentence, WEFT_FILE_SENTENCE, "rank %d on %s: %s", file->comm->rank, weft.job.host,
             after ? after + 2 : text);
}

/* The elements to be reduced. */
static struct weft_elements fill(struct weft_file_reduction *r, const struct weft_file *file,
                                 int code, const int64_t *values, int n)
{
    weft_assert(n <= WEFT_FILE_VALUES);
    r->request = NULL;
    r->mine[0] = code == MPI_SUCCESS ? INT64_MAX : file->comm->rank;
    for (int i = 0; i < n; i++)
        r->mine[1 + i] = values[i];
    return (struct weft_elements){r->mine, 1 + (size_t)n, weft_handle_object(MPI_INT64_T)};
}

/* Returns the error of the lowest rank that failed. `code` is that of this rank. */
static int conclude(const struct weft_file_reduction *r, const struct weft_file *file, int code,
                    int64_t *values, int n)
{
    struct report report = {0};
    for (int i = 0; i < n; i++)
        values[i] = r->least[1 + i];
    if (r->least[0] == INT64_MAX)
        return MPI_SUCCESS;
    int lowest = (int)r->least[0];
    if (lowest == file->comm->rank) {
        report.class = code;
        weft_file_describe(file, code, report.sentence);
    }
    int failed =
        weft_coll_bcast(file->comm, weft_elements_of_bytes(&report, sizeof report), lowest);
    if (failed != MPI_SUCCESS)
        return failed;
    report.sentence[sizeof report.sentence - 1] = '\0';
    if (lowest == file->comm->rank)
        return weft_error_set(report.class, "%s", report.sentence);
    return weft_error_set_secondary(report.class, "%s", report.sentence);
}

int weft_file_reduce(const struct weft_file *file, int code, int64_t *values, int n)
{
    struct weft_file_reduction r;
    if (file->comm->size == 1)
        return code;
    int failed = weft_coll_allreduce(file->comm, fill(&r, file, code, values, n), r.least,
                                     weft_handle_object(MPI_MIN));
    return failed != MPI_SUCCESS ? failed : conclude(&r, file, code, values, n);
}

void weft_file_reduce_start(struct weft_file_reduction *r, const struct weft_file *file, int code,
                            const int64_t *values, int n)
{
    struct weft_elements in = fill(r, file, code, values, n);
    struct weft_coll_args args = {.kind = WEFT_COLL_ALLREDUCE,
                                  .comm = file->comm,
                                  .in = {.at = in.at, .count = in.count, .type = in.type},
                                  .out = {.at = r->least, .count = in.count, .type = in.type},
                                  .op = weft_handle_object(MPI_MIN)};
    if (file->comm->size > 1 && weft_coll_start(&args, &r->request) != MPI_SUCCESS)
        weft_fatal(MPI_ERR_NO_MEM, "no memory to open a file");
}

int weft_file_reduce_end(struct weft_file_reduction *r, const struct weft_file *file, int code,
                         int64_t *values, int n)
{
    size_t bytes;
    if (!r->request)
        return code;
    int failed = weft_request_end(r->request, &bytes);
    return failed != MPI_SUCCESS ? failed : conclude(r, file, code, values, n);
}

int weft_file_agree(const struct weft_file *file, int code)
{
    return weft_file_reduce(file, code, NULL, 0);
}

void weft_file_fill_bounds(const int64_t *values, int n, int64_t *bounds)
{
    for (int i = 0; i < n; i++) {
        bounds[2 * i] = values[i];
        bounds[2 * i + 1] = ~values[i];
    }
}

int weft_file_compare_bounds(const struct weft_file *file, int code, const int64_t *values, int n,
                             const int64_t *bounds, const char *what)
{
    int64_t first[WEFT_FILE_VALUES];
    size_t bytes = (size_t)n * sizeof *values;
    bool differ = false;
    for (int i = 0; i < n; i++)
        differ = differ || bounds[2 * i] != ~bounds[2 * i + 1];
    if (code != MPI_SUCCESS || !differ)
        return code;
    memcpy(first, values, bytes);
    code = weft_coll_bcast(file->comm, weft_elements_of_bytes(first, bytes), 0);
    if (code == MPI_SUCCESS && memcmp(first, values, bytes))
        code = weft_error_set(MPI_ERR_NOT_SAME, "%.200s: %s differs from that of rank 0",
                              file->name, what);
    return weft_file_agree(file, code);
}

int weft_file_compare(const struct weft_file *file, int code, const int64_t *values, int n,
                      const char *what)
{
    int64_t bounds[WEFT_FILE_VALUES];
    weft_file_fill_bounds(values, n, bounds);
    code = weft_file_reduce(file, code, bounds, 2 * n);
    return weft_file_compare_bounds(file, code, values, n, bounds, what);
}
