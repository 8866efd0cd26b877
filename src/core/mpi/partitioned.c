// SPDX-License-Identifier: BSD-3-Clause
/*
 * Partitioned communication (MPI 5.0 chapter 4): what its entry points check and do beside
 * abi/entry_points.txt.
 *
 * Invariant: a call that marks several partitions marks all of them or, when one is wrong, none.
 */
#include "core/mpi/entry.h"
#include "core/mpi/p2p_call.h"
#include "core/pt2pt/partitioned.h"
#include "core/progress/progress.h"

/* ---- Making requests */

/* Checks a call with so many partitions; *out is of all together. */
static int check_call(const struct weft_p2p_call *call, bool receive, int partitions,
                      struct weft_resolved *out)
{
    struct weft_p2p_call all = *call;
    if (partitions < 0)
        return weft_error_set(MPI_ERR_ARG, "the number of partitions, %d, is negative", partitions);
    if (receive && call->peer == MPI_ANY_SOURCE)
        return weft_error_set(MPI_ERR_RANK,
                              "partitioned communication has no MPI_ANY_SOURCE; name the rank");
    if (receive && call->tag == MPI_ANY_TAG)
        return weft_error_set(MPI_ERR_TAG,
                              "partitioned communication has no MPI_ANY_TAG; name the tag");
    if (call->count > 0 && __builtin_mul_overflow(call->count, partitions, &all.count))
        return weft_error_set(MPI_ERR_COUNT, "%d partitions of %lld elements are too much",
                              partitions, (long long)call->count);
    return weft_p2p_call_check(&all, receive, out);
}

int weft_p2p_call_partitioned_init(const struct weft_p2p_call *call, bool receive, int partitions,
                                   MPI_Info info, MPI_Request *request)
{
    struct weft_resolved all;
    struct weft_info *hints;
    struct weft_request *made;
    int code = check_call(call, receive, partitions, &all);
    if (code == MPI_SUCCESS)
        code = weft_arg_info_or_null(info, &hints);
    if (code == MPI_SUCCESS)
        code = weft_arg_result(request != NULL, "request");
    if (code != MPI_SUCCESS)
        return code;
    struct weft_partition_arguments arguments = {.channel = &call->comm->partitioned,
                                                 .announcing = &call->comm->announcing,
                                                 .buffer = (void *)call->buffer,
                                                 .type = all.type,
                                                 .partitions = (uint32_t)partitions,
                                                 .count = (size_t)call->count,
                                                 .rank = call->peer,
                                                 .tag = call->tag,
                                                 .tag_ub = call->comm->tag_ub};
    code = receive ? weft_precv_init(&arguments, &made) : weft_psend_init(&arguments, &made);
    if (code == MPI_SUCCESS)
        *request = (MPI_Request)made;
    return code;
}

/* ---- Marking partitions */

int weft_arg_psend(MPI_Request handle, struct weft_request **request)
{
    *request = weft_handle_resolve(handle, WEFT_KIND_REQUEST);
    if (!*request || *request == &weft_request_null)
        return weft_arg_bad_handle(WEFT_KIND_REQUEST, handle, -1);
    if ((*request)->op != WEFT_REQUEST_PSEND)
        return weft_error_set(
            MPI_ERR_REQUEST,
            "request %p is not a partitioned send; partitions are marked ready with the "
            "request that MPI_Psend_init made",
            (void *)handle);
    if ((*request)->flags & WEFT_REQUEST_INACTIVE)
        return weft_error_set(MPI_ERR_REQUEST, "%p is inactive; start it with MPI_Start first",
                              (void *)handle);
    return MPI_SUCCESS;
}

/* Returns MPI_SUCCESS if a partition exists. */
static int check_partition(const struct weft_request *request, int partition)
{
    uint32_t count = weft_partitioned_count(request);
    if (partition >= 0 && (uint32_t)partition < count)
        return MPI_SUCCESS;
    if (count)
        return weft_error_set(MPI_ERR_ARG, "the partition %d is not between 0 and %u", partition,
                              count - 1);
    return weft_error_set(MPI_ERR_ARG, "there is no partition %d: the request has none at all",
                          partition);
}

static int mark(struct weft_request *send, int partition)
{
    weft_assert(!(send->flags & WEFT_REQUEST_INACTIVE));
    int code = check_partition(send, partition);
    if (code == MPI_SUCCESS && !weft_psend_mark(send, (uint32_t)partition))
        code = weft_error_set(MPI_ERR_ARG,
                              "the partition %d was marked ready before; mark each once after a "
                              "start",
                              partition);
    return code;
}

int weft_mpi_pready(struct weft_request *send, int partition)
{
    int code = mark(send, partition);
    if (code == MPI_SUCCESS)
        weft_psend_flush(send, (uint32_t)partition, 1);
    return code;
}

int weft_mpi_pready_range(struct weft_request *send, int low, int high)
{
    if (low > high) /* as a loop from low to high */
        return MPI_SUCCESS;
    int code = check_partition(send, low);
    if (code == MPI_SUCCESS)
        code = check_partition(send, high);
    for (int i = low; i <= high && code == MPI_SUCCESS; i++) {
        code = mark(send, i);
        for (int k = low; k < i && code != MPI_SUCCESS; k++)
            weft_psend_unmark(send, (uint32_t)k);
    }
    if (code == MPI_SUCCESS)
        weft_psend_flush(send, (uint32_t)low, (uint32_t)(high - low) + 1);
    return code;
}

int weft_mpi_pready_list(struct weft_request *send, int length, const int partitions[])
{
    int code = MPI_SUCCESS;
    if (length < 0)
        return weft_error_set(MPI_ERR_ARG, "the length of the list, %d, is negative", length);
    if (length && !partitions)
        return weft_error_set(MPI_ERR_ARG, "the list of partitions is a null pointer");
    for (int i = 0; i < length && code == MPI_SUCCESS; i++) {
        code = mark(send, partitions[i]);
        for (int k = 0; k < i && code != MPI_SUCCESS; k++)
            weft_psend_unmark(send, (uint32_t)partitions[k]);
    }
    if (code != MPI_SUCCESS)
        return code;
    for (int i = 0, next; i < length; i = next) { /* ascending partitions are marked together */
        for (next = i + 1; next < length && partitions[next] == partitions[next - 1] + 1;)
            next++;
        weft_psend_flush(send, (uint32_t)partitions[i], (uint32_t)(next - i));
    }
    return MPI_SUCCESS;
}

/* ---- Testing partitions */

int weft_arg_precv(MPI_Request handle, struct weft_request **request)
{
    *request = weft_handle_resolve(handle, WEFT_KIND_REQUEST);
    if (!*request)
        return weft_arg_bad_handle(WEFT_KIND_REQUEST, handle, -1);
    if ((*request)->op == WEFT_REQUEST_PRECV || *request == &weft_request_null)
        return MPI_SUCCESS;
    return weft_error_set(
        MPI_ERR_REQUEST,
        "request %p is not a partitioned receive; test partitions with the request that "
        "MPI_Precv_init made",
        (void *)handle);
}

static bool has_arrived(const struct weft_request *request, int partition)
{
    return !request->pending || weft_precv_has(request, (uint32_t)partition);
}

/* Progresses once when the partition has not arrived. */
int weft_mpi_parrived(struct weft_request *request, int partition, int *flag)
{
    bool null = request == &weft_request_null; /* as MPI_Test: nothing is missing */
    int code = null ? MPI_SUCCESS : check_partition(request, partition);
    if (code != MPI_SUCCESS)
        return code;
    if (!null && !has_arrived(request, partition))
        weft_look(NULL);
    *flag = null || has_arrived(request, partition);
    return MPI_SUCCESS;
}
