// SPDX-License-Identifier: BSD-3-Clause
/*
 * Partitioned communication (MPI 5.0 chapter 4): check arguments, resolve handles, call the core.
 *
 * Invariant: a call that marks several partitions marks all of them or, when one is wrong, none.
 */
#include "core/mpi/api.h"
#include "core/mpi/arg.h"
#include "core/mpi/call.h"
#include "core/comm/raise.h"
#include "core/pt2pt/partitioned.h"
#include "core/process/weft.h"

#include <stdbool.h>

/* ---- Making requests */

/* What an _init call has beside what every point-to-point call has. */
struct init_call {
    struct weft_call call; /* count: of one partition */
    int partitions;
    MPI_Info info;
    bool receive;
    MPI_Request *request;
};

/* The arguments that weft_call_explain does not check. comm is valid. */
static int explain(const struct init_call *init, struct weft_comm *comm)
{
    const char *f = init->call.function;
    size_t all;
    if (init->partitions < 0)
        return weft_error(comm, MPI_ERR_ARG, f, "the number of partitions, %d, is negative",
                          init->partitions);
    if (init->receive && init->call.peer == MPI_ANY_SOURCE)
        return weft_error(comm, MPI_ERR_RANK, f,
                          "partitioned communication has no MPI_ANY_SOURCE; name the rank");
    if (init->receive && init->call.tag == MPI_ANY_TAG)
        return weft_error(comm, MPI_ERR_TAG, f,
                          "partitioned communication has no MPI_ANY_TAG; name the tag");
    if (init->call.count > 0 &&
        (__builtin_mul_overflow((size_t)init->call.count, (size_t)init->partitions, &all) ||
         (MPI_Count)all < 0))
        return weft_error(comm, MPI_ERR_COUNT, f, "%d partitions of %lld elements are too much",
                          init->partitions, (long long)init->call.count);
    return MPI_SUCCESS;
}

static int explain_info(const struct init_call *init, struct weft_comm *comm)
{
    struct weft_info *info;
    int code = weft_arg_info_or_null(init->info, &info);
    return code == MPI_SUCCESS ? code : weft_error_raise(comm, code, init->call.function);
}

/* Checks all arguments. */
static int check(const struct init_call *init)
{
    struct weft_call whole = init->call; /* of all partitions together */
    struct weft_comm *comm = weft_comm_resolve(init->call.comm);
    if (!comm)
        return weft_call_explain(&whole, init->receive, false);
    int code = explain(init, comm);
    if (code != MPI_SUCCESS)
        return code;
    if (whole.count > 0)
        whole.count *= init->partitions;
    code = weft_call_explain(&whole, init->receive, false);
    if (code == MPI_SUCCESS)
        code = explain_info(init, comm);
    if (code == MPI_SUCCESS && !init->request)
        code = weft_call_explain(&whole, init->receive, true);
    return code;
}

static int make_checked(const struct init_call *init)
{
    struct weft_comm *comm = weft_comm_resolve(init->call.comm);
    /* Without partitions there may be no type: weft_call_type. */
    const struct weft_datatype *type =
        init->partitions ? weft_call_type(&init->call) : weft_handle_object(MPI_BYTE);
    struct weft_partition_arguments arguments = {.comm = comm,
                                                 .buffer = (void *)init->call.buffer,
                                                 .type = type,
                                                 .partitions = (uint32_t)init->partitions,
                                                 .count = (size_t)init->call.count,
                                                 .rank = init->call.peer,
                                                 .tag = init->call.tag};
    struct weft_request *made;
    int code =
        init->receive ? weft_precv_init(&arguments, &made) : weft_psend_init(&arguments, &made);
    if (code != MPI_SUCCESS)
        return weft_error_raise(comm, code, init->call.function);
    *init->request = (MPI_Request)made;
    return MPI_SUCCESS;
}

static int make(const struct init_call *init)
{
    int code = weft_enter(init->call.function);
    if (code)
        return code;
    code = check(init);
    if (code == MPI_SUCCESS)
        code = make_checked(init);
    weft_leave();
    return code;
}

WEFT_EXPORT(Psend_init_c);
int PMPI_Psend_init_c(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
                      int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return make(&(struct init_call){{"MPI_Psend_init", buf, count, datatype, dest, tag, comm},
                                    partitions,
                                    info,
                                    false,
                                    request});
}

WEFT_EXPORT(Precv_init_c);
int PMPI_Precv_init_c(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source,
                      int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return make(&(struct init_call){{"MPI_Precv_init", buf, count, datatype, source, tag, comm},
                                    partitions,
                                    info,
                                    true,
                                    request});
}

/* ---- Marking partitions */

/* The active partitioned send that a handle names; NULL after raising the error in *code. */
static struct weft_request *sending(MPI_Request handle, const char *function, int *code)
{
    struct weft_request *request = weft_handle_resolve(handle, WEFT_KIND_REQUEST);
    if (!request || request == &weft_request_null) {
        *code = weft_error(NULL, MPI_ERR_REQUEST, function, "%p is no request; was it freed?",
                           (void *)handle);
        return NULL;
    }
    if (request->op != WEFT_REQUEST_PSEND)
        *code = weft_error(weft_request_comm(request), MPI_ERR_REQUEST, function,
                           "%p is no partitioned send; partitions are marked ready with the "
                           "request that MPI_Psend_init made",
                           (void *)handle);
    else if (request->flags & WEFT_REQUEST_INACTIVE)
        *code = weft_error(request->channel->comm, MPI_ERR_REQUEST, function,
                           "%p is inactive; start it with MPI_Start first", (void *)handle);
    else
        return request;
    return NULL;
}

/* Whether a partition exists; if not, the error is raised in *code. */
static bool exists(const struct weft_request *request, int partition, const char *function,
                   int *code)
{
    uint32_t count = weft_partitioned_count(request);
    if (partition >= 0 && (uint32_t)partition < count)
        return true;
    if (count)
        *code = weft_error(request->channel->comm, MPI_ERR_ARG, function,
                           "the partition %d is not between 0 and %u", partition, count - 1);
    else
        *code = weft_error(request->channel->comm, MPI_ERR_ARG, function,
                           "there is no partition %d: the request has none at all", partition);
    return false;
}

/* Marks one partition; false after raising the error in *code. */
static bool mark(struct weft_request *request, int partition, const char *function, int *code)
{
    if (!exists(request, partition, function, code))
        return false;
    if (weft_psend_mark(request, (uint32_t)partition))
        return true;
    *code = weft_error(request->channel->comm, MPI_ERR_ARG, function,
                       "the partition %d was marked ready before; mark each once after a start",
                       partition);
    return false;
}

WEFT_EXPORT(Pready);
int PMPI_Pready(int partition, MPI_Request request)
{
    int code = weft_enter("MPI_Pready");
    if (code)
        return code;
    struct weft_request *send = sending(request, "MPI_Pready", &code);
    if (send && mark(send, partition, "MPI_Pready", &code))
        weft_psend_flush(send, (uint32_t)partition, 1);
    weft_leave();
    return code;
}

static int ready_range(struct weft_request *send, int low, int high)
{
    int code = MPI_SUCCESS;
    if (low > high) /* as a loop from low to high */
        return MPI_SUCCESS;
    if (!exists(send, low, "MPI_Pready_range", &code) ||
        !exists(send, high, "MPI_Pready_range", &code))
        return code;
    for (int i = low; i <= high; i++)
        if (!mark(send, i, "MPI_Pready_range", &code)) {
            while (--i >= low)
                weft_psend_unmark(send, (uint32_t)i);
            return code;
        }
    weft_psend_flush(send, (uint32_t)low, (uint32_t)(high - low) + 1);
    return MPI_SUCCESS;
}

WEFT_EXPORT(Pready_range);
int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request)
{
    int code = weft_enter("MPI_Pready_range");
    if (code)
        return code;
    struct weft_request *send = sending(request, "MPI_Pready_range", &code);
    if (send)
        code = ready_range(send, partition_low, partition_high);
    weft_leave();
    return code;
}

static int ready_list(struct weft_request *send, int length, const int *partitions)
{
    int code = MPI_SUCCESS;
    if (length < 0)
        return weft_error(send->channel->comm, MPI_ERR_ARG, "MPI_Pready_list",
                          "the length of the list, %d, is negative", length);
    if (length && !partitions)
        return weft_error(send->channel->comm, MPI_ERR_ARG, "MPI_Pready_list",
                          "the list of partitions is a null pointer");
    for (int i = 0; i < length; i++)
        if (!mark(send, partitions[i], "MPI_Pready_list", &code)) {
            while (--i >= 0)
                weft_psend_unmark(send, (uint32_t)partitions[i]);
            return code;
        }
    for (int i = 0, next; i < length; i = next) { /* ascending partitions are marked together */
        for (next = i + 1; next < length && partitions[next] == partitions[next - 1] + 1;)
            next++;
        weft_psend_flush(send, (uint32_t)partitions[i], (uint32_t)(next - i));
    }
    return MPI_SUCCESS;
}

WEFT_EXPORT(Pready_list);
int PMPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request)
{
    int code = weft_enter("MPI_Pready_list");
    if (code)
        return code;
    struct weft_request *send = sending(request, "MPI_Pready_list", &code);
    if (send)
        code = ready_list(send, length, array_of_partitions);
    weft_leave();
    return code;
}

/* ---- Testing partitions */

/* Looks once more after some progress when a partition is not there. */
static int arrived(struct weft_request *request, int partition, int *flag)
{
    int code = MPI_SUCCESS;
    if (!exists(request, partition, "MPI_Parrived", &code))
        return code;
    bool here = !request->pending || weft_precv_has(request, (uint32_t)partition);
    if (!here) {
        weft_look(NULL);
        here = !request->pending || weft_precv_has(request, (uint32_t)partition);
    }
    *flag = here;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Parrived);
int PMPI_Parrived(MPI_Request handle, int partition, int *flag)
{
    int code = weft_enter("MPI_Parrived");
    if (code)
        return code;
    struct weft_request *request = weft_handle_resolve(handle, WEFT_KIND_REQUEST);
    if (!request)
        code = weft_error(NULL, MPI_ERR_REQUEST, "MPI_Parrived", "%p is no request; was it freed?",
                          (void *)handle);
    else if (!flag)
        code = weft_error(weft_request_comm(request), MPI_ERR_ARG, "MPI_Parrived",
                          "the pointer to the flag is null");
    else if (request == &weft_request_null) /* as MPI_Test: nothing is missing */
        *flag = 1;
    else if (request->op != WEFT_REQUEST_PRECV)
        code = weft_error(weft_request_comm(request), MPI_ERR_REQUEST, "MPI_Parrived",
                          "%p is no partitioned receive; test partitions with the request that "
                          "MPI_Precv_init made",
                          (void *)handle);
    else
        code = arrived(request, partition, flag);
    weft_leave();
    return code;
}
