// SPDX-License-Identifier: BSD-3-Clause
/*
 * Nonblocking collective access: a rank moves its data in the call, and the request completes with
 * the agreement of all ranks, a nonblocking reduction to the error of the lowest rank that failed.
 *
 * Invariant: the request's buffer is a struct agreement until the reduction ends. It keeps the
 * sentence of this rank's error, because another sentence may be recorded since.
 */
#include "core/coll/coll.h"
#include "core/file/file.h"
#include "core/base/error.h"

#include <stdio.h>
#include <stdlib.h>

struct agreement {
    struct weft_file *file;
    int64_t mine, lowest; /* rank * 256 + class of an error; INT64_MAX: none */
    char sentence[WEFT_FILE_SENTENCE];
};

static int error_of(const struct agreement *agreement)
{
    int class = (int)(agreement->lowest & 255), rank = (int)(agreement->lowest >> 8);
    if (agreement->lowest == INT64_MAX)
        return MPI_SUCCESS;
    if (agreement->lowest == agreement->mine)
        return weft_error_set(class, "%s", agreement->sentence);
    return weft_error_set_secondary(class,
                                    "%.200s: the access of rank %d failed; its own error "
                                    "states why",
                                    agreement->file->name, rank);
}

/* The reduction is complete. */
static void sub_ended(struct weft_request *sub)
{
    struct weft_request *request = sub->parent;
    struct agreement *agreement = request->buffer;
    request->error = sub->error ? sub->error : (uint8_t)error_of(agreement);
    agreement->file->pending--;
    free(agreement);
    request->buffer = NULL;
    weft_request_put(sub);
    weft_request_event(request);
}

static void describe(const struct weft_request *request, char *text, size_t len)
{
    snprintf(text, len, "nonblocking access to %.100s: not every rank takes part yet",
             weft_comm_name(request->channel->comm));
}

const struct weft_request_ops weft_file_request_ops = {.name = "collective access to a file",
                                                       .cancel = weft_request_refuse_cancel,
                                                       .may_free = weft_request_refuse_free,
                                                       .describe = describe,
                                                       .sub_ended = sub_ended};

static int agree(struct weft_request *request, struct agreement *agreement)
{
    const struct weft_datatype *type = weft_handle_object(MPI_INT64_T);
    struct weft_coll_args args = {.kind = WEFT_COLL_ALLREDUCE,
                                  .comm = agreement->file->comm,
                                  .in = {.at = &agreement->mine, .count = 1, .type = type},
                                  .out = {.at = &agreement->lowest, .count = 1, .type = type},
                                  .op = weft_handle_object(MPI_MIN)};
    struct weft_request *sub;
    int code = weft_coll_start(&args, &sub);
    if (code != MPI_SUCCESS)
        return code;
    agreement->file->pending++;
    weft_request_adopt(sub, request);
    return MPI_SUCCESS;
}

int weft_file_start_all(struct weft_file *file, bool write, int code,
                        const struct weft_file_data *data, struct weft_request **started)
{
    struct weft_request *request = weft_request_get(file->comm->vci, WEFT_REQUEST_FILE, 1);
    struct agreement *agreement = malloc(sizeof *agreement);
    if (!request || !agreement)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for another request of a file");
    *agreement = (struct agreement){file, INT64_MAX, INT64_MAX, ""};
    request->source = MPI_ANY_SOURCE;
    request->tag = MPI_ANY_TAG;
    request->peer = NULL;
    request->type = NULL;                 /* loops over all requests test both for NULL */
    request->channel = &file->comm->coll; /* its error handler is the file's */
    request->buffer = agreement;
    request->bytes = 0;
    if (code == MPI_SUCCESS)
        code = weft_file_move(file, write, data, 0, data->bytes, &request->bytes);
    if (code != MPI_SUCCESS) {
        agreement->mine = (int64_t)file->comm->rank << 8 | code;
        weft_file_describe(file, code, agreement->sentence);
    }
    code = agree(request, agreement);
    if (code == MPI_SUCCESS) {
        *started = request;
        return MPI_SUCCESS;
    }
    free(agreement);
    weft_request_put(request);
    return code;
}
