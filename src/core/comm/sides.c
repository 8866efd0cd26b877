// SPDX-License-Identifier: BSD-3-Clause
/*
 * The exchange of data between the two sides of an inter-communicator: see sides.h.
 */
#include "core/comm/sides.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/comm/comm_make.h"
#include "core/comm/revoke.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/p2p.h"

#include <stdlib.h>

struct weft_sides weft_sides_of(struct weft_comm *inter)
{
    return (struct weft_sides){.local = inter->local,
                               .over = inter,
                               .leader = 0,
                               .across = &inter->making,
                               .remote_leader = 0,
                               .tag = weft_comm_making_tag(inter)};
}

/* The other leader sent what describes no group. */
WEFT_COLD static int report_damaged(const struct weft_sides *sides, size_t bytes)
{
    return weft_error_set(MPI_ERR_INTERN,
                          "the %zu bytes from rank %d, the leader of the other group, describe no "
                          "group of this job; see whether all ranks run the same version of Weft",
                          bytes, sides->remote_leader);
}

bool weft_sides_is_broken(int code)
{
    return code == MPIX_ERR_REVOKED || weft_failure_is_death(code);
}

/* The rest of a sentence. Leaders send other error classes too, which count as MPI_ERR_OTHER. */
static const char *reason_of(int code)
{
    return weft_failure_is_death(code) ? ", because a process is dead"
           : code == MPIX_ERR_REVOKED  ? ", because a communicator is revoked"
                                       : "";
}

/* The other leader has sent its error class. */
WEFT_COLD static int report_refusal(const struct weft_sides *sides, int code)
{
    return weft_error_set_secondary(weft_sides_is_broken(code) ? code : MPI_ERR_OTHER,
                                    "rank %d, the leader of the other group, cannot make the "
                                    "inter-communicator%s; see the error message of that rank",
                                    sides->remote_leader, reason_of(code));
}

/* The messages of two leaders. `over`: the communicator of both, or, while there is none, that of
 * the channel between them. */
struct crossing {
    struct weft_comm *over;
    bool of_both;
    struct weft_request *send, *receive;
};

/* Waits for both messages, or until a member is dead: the other leader may have failed before. */
static bool crosses(void *arg)
{
    struct crossing *crossing = arg;
    struct weft_comm *over = crossing->over;
    if (crossing->of_both ? weft_comm_is_broken(over) : over->revoked) {
        weft_cancel(crossing->receive);
        if (crossing->send)
            weft_cancel(crossing->send);
    }
    return crossing->receive->pending || (crossing->send && crossing->send->pending);
}

static int end_crossing(const struct crossing *crossing, struct weft_request *request)
{
    int code = request->flags & WEFT_REQUEST_CANCELLED ? weft_comm_report_broken(crossing->over)
                                                       : request->error;
    weft_request_put(request);
    return code;
}

int weft_sides_exchange(const struct weft_sides *sides, const void *mine, size_t bytes,
                        void *theirs, size_t their_bytes)
{
    const struct weft_datatype *type = weft_handle_object(MPI_BYTE);
    struct crossing crossing = {.over = sides->over ? sides->over : sides->across->comm,
                                .of_both = sides->over};
    int code = weft_p2p_irecv(sides->across, theirs, their_bytes, type, sides->remote_leader,
                              sides->tag, &crossing.receive);
    if (code != MPI_SUCCESS)
        return code;
    int sent = weft_p2p_isend(sides->across, mine, bytes, type, sides->remote_leader, sides->tag,
                              WEFT_SEND_STANDARD, &crossing.send);
    if (sent != MPI_SUCCESS)
        crossing.send = NULL;
    weft_wait_while(NULL, crosses, &crossing, &crossing.receive);
    size_t received = crossing.receive->bytes;
    code = end_crossing(&crossing, crossing.receive);
    if (crossing.send)
        sent = end_crossing(&crossing, crossing.send);
    if (code == MPI_SUCCESS && received != their_bytes)
        code = report_damaged(sides, received);
    return code ? code : sent;
}

int weft_sides_broadcast(const struct weft_sides *sides, void *data, size_t bytes)
{
    return weft_comm_collectives.bcast(sides->local, weft_elements_of_bytes(data, bytes),
                                       sides->leader);
}

/* The leader of this side has failed. */
WEFT_COLD static int report_leader(const struct weft_sides *sides, int code)
{
    return weft_error_set_secondary(weft_sides_is_broken(code) ? code : MPI_ERR_OTHER,
                                    "rank %d of the local group could not reach the other group%s; "
                                    "see the error message of that rank",
                                    sides->leader, reason_of(code));
}

int weft_sides_exchange_data(const struct weft_sides *sides, const void *mine, size_t bytes,
                             struct weft_sides_range range, int64_t *other, char **theirs)
{
    int64_t size = sides->failed ? -sides->failed : (int64_t)bytes;
    int code = weft_sides_exchange(sides, &size, sizeof size, other, sizeof *other);
    if (code != MPI_SUCCESS)
        return code;
    if (sides->failed)
        return sides->failed;
    if (*other < 0 && *other >= -MPI_ERR_LASTCODE)
        return report_refusal(sides, (int)-*other);
    if (*other < (int64_t)range.least || *other > (int64_t)range.most)
        return report_damaged(sides, (size_t)*other);
    *theirs = weft_memory_get((size_t)*other, 1, "the description of a group");
    return weft_sides_exchange(sides, mine, bytes, *theirs, (size_t)*other);
}

int weft_sides_swap(const struct weft_sides *sides, const void *mine, size_t bytes,
                    struct weft_sides_range range, void **theirs, size_t *their_bytes)
{
    int64_t other = -MPI_ERR_OTHER;
    char *data = NULL;
    int code = MPI_SUCCESS;
    if (weft_sides_leads(sides)) {
        code = weft_sides_exchange_data(sides, mine, bytes, range, &other, &data);
        /* After a death the sides may not be at the same call. */
        int dead = code != MPI_SUCCESS && sides->over ? weft_comm_find_dead(sides->over) : -1;
        if (dead >= 0)
            code = weft_failure_report_process(dead);
        if (code != MPI_SUCCESS)
            other = -code;
    }
    int failed = weft_sides_broadcast(sides, &other, sizeof other);
    if (code == MPI_SUCCESS)
        code = failed;
    if (code == MPI_SUCCESS && other < 0)
        code = report_leader(sides, (int)-other);
    if (code == MPI_SUCCESS && !data)
        data = weft_memory_get((size_t)other, 1, "the description of a group");
    if (code == MPI_SUCCESS)
        code = weft_sides_broadcast(sides, data, (size_t)other);
    if (code != MPI_SUCCESS && (other < 0 || !weft_sides_leads(sides))) {
        free(data);
        data = NULL;
    }
    *theirs = data;
    *their_bytes = (size_t)other;
    return code;
}
