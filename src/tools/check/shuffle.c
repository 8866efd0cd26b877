// SPDX-License-Identifier: BSD-3-Clause
/*
 * Legal orders at random: see shuffle.h.
 */
#include "tools/check/shuffle.h"
#include "core/base/clock.h"
#include "tools/check/channel.h"
#include "tools/check/comms.h"
#include "tools/check/messages.h"
#include "tools/check/objects.h"

#include <stdlib.h>
#include <time.h>

enum { CANDIDATES_MAX = 64, LATE_ONE_IN = 8, LATE_NANOSECONDS = 100000, TAG_MAX = 32767 };

static bool is_on;
static uint64_t first; /* of the seed and the rank */
static uint64_t calls; /* each has its own choices, whatever those before have chosen */
static uint64_t state;
static bool is_shown; /* a probe has shown a message since the last receive */

/* A number below n. */
static uint64_t choose(uint64_t n)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    return check_mix(check_mix(state, 0), 0) % n;
}

void check_shuffle_begin_job(void)
{
    uint64_t seed = check.seed;
    if (!check.shuffles)
        return;
    if (seed == 0)
        seed = (uint64_t)(weft_seconds() * 1e6) % 1000000 + 1;
    weft_next.Bcast(&seed, 1, MPI_UINT64_T, 0, check.channel);
    first = check_mix(check_mix(seed, 0), (uint64_t)check.rank + 1);
    is_on = !check.several_threads;
    check.has_order |= is_on;
    if (check.rank == 0 && !is_on)
        fprintf(stderr, "weft check: nothing is shuffled with MPI_THREAD_MULTIPLE\n");
    else if (check.rank == 0)
        fprintf(stderr, "weft check: shuffled with the seed %llu, as --check=all,shuffle,%llu\n",
                (unsigned long long)seed, (unsigned long long)seed);
}

static void begin_late(void)
{
    const struct timespec pause = {.tv_nsec = (long)choose(LATE_NANOSECONDS)};
    if (choose(LATE_ONE_IN) == 0)
        nanosleep(&pause, NULL);
}

/* ---- Sources */

/* One of the ranks from which a message is there; MPI_ANY_SOURCE: there is none. */
static int choose_source(const struct weft_call *call, int64_t tag)
{
    int list[CANDIDATES_MAX], n = 0;
    struct check_comm comm;
    if (!check_comm_copy(call, &comm) || (tag < 0 && tag != MPI_ANY_TAG))
        return MPI_ANY_SOURCE;
    const int start = (int)choose((uint64_t)comm.size);
    for (int i = 0; i < comm.size && n < CANDIDATES_MAX; i++) {
        const int rank = (start + i) % comm.size;
        int flag = 0;
        if (weft_next.Iprobe(rank, (int)tag, comm.handle, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            break;
        if (flag)
            list[n++] = rank;
    }
    return n ? list[choose((uint64_t)n)] : MPI_ANY_SOURCE;
}

bool check_shuffle_source(struct weft_call *call, int rank)
{
    check_messages_make_with(call, rank);
    union weft_value *v = call->values;
    switch (call->function->plain) {
    case WEFT_CALL_Recv:
    case WEFT_CALL_Sendrecv:
        v[weft_call_find(call, WEFT_PARAMETER_SOURCE, 0)].number = rank;
        return false;
    case WEFT_CALL_Irecv:
        call->result = weft_next.Irecv_c(v[0].pointer, v[1].number, v[2].pointer, rank,
                                         (int)v[4].number, v[5].pointer, v[6].pointer);
        return true;
    case WEFT_CALL_Sendrecv_replace:
        call->result = weft_next.Sendrecv_replace_c(v[0].pointer, v[1].number, v[2].pointer,
                                                    (int)v[3].number, (int)v[4].number, rank,
                                                    (int)v[6].number, v[7].pointer, v[8].pointer);
        return true;
    case WEFT_CALL_Isendrecv:
        call->result =
            weft_next.Isendrecv_c(v[0].pointer, v[1].number, v[2].pointer, (int)v[3].number,
                                  (int)v[4].number, v[5].pointer, v[6].number, v[7].pointer, rank,
                                  (int)v[9].number, v[10].pointer, v[11].pointer);
        return true;
    case WEFT_CALL_Isendrecv_replace:
        call->result = weft_next.Isendrecv_replace_c(v[0].pointer, v[1].number, v[2].pointer,
                                                     (int)v[3].number, (int)v[4].number, rank,
                                                     (int)v[6].number, v[7].pointer, v[8].pointer);
        return true;
    case WEFT_CALL_Probe:
        call->result = weft_next.Probe(rank, (int)v[1].number, v[2].pointer, v[3].pointer);
        return true;
    case WEFT_CALL_Mprobe:
        call->result =
            weft_next.Mprobe(rank, (int)v[1].number, v[2].pointer, v[3].pointer, v[4].pointer);
        return true;
    default:
        return false;
    }
}

static bool take_source(struct weft_call *call)
{
    const union weft_value *v = call->values;
    const int source = weft_call_find(call, WEFT_PARAMETER_SOURCE, 0);
    const int tag = source < 0 ? -1 : weft_call_find(call, WEFT_PARAMETER_TAG, source);
    if (tag < 0 || v[source].number != MPI_ANY_SOURCE)
        return false;
    const int rank = choose_source(call, v[tag].number);
    return rank != MPI_ANY_SOURCE && check_shuffle_source(call, rank);
}

/* True if a message may be hidden from the probe: it is not in error, its peer is a process, and no
 * probe has shown a message that is still there. */
static bool may_hide(const struct weft_call *call)
{
    const int64_t source = call->values[0].number, tag = call->values[1].number;
    struct check_comm comm;
    for (int i = 3; i < call->function->parameters; i++)
        if (!call->values[i].pointer && call->function->parameter[i].kind != WEFT_PARAMETER_STATUS)
            return false;
    return !is_shown && check_comm_copy(call, &comm) &&
           (source == MPI_ANY_SOURCE || (source >= 0 && source < comm.size)) &&
           (tag == MPI_ANY_TAG || (tag >= 0 && tag <= TAG_MAX));
}

/* True: the probe has been made. */
static bool probe(struct weft_call *call)
{
    union weft_value *v = call->values;
    const bool is_iprobe = call->function->plain == WEFT_CALL_Iprobe;
    if (!is_iprobe && call->function->plain != WEFT_CALL_Improbe)
        return false;
    if (may_hide(call) && choose(2) == 0) {
        check_channel_poll();
        *(int *)v[3].pointer = 0;
        call->result = MPI_SUCCESS;
        return true;
    }
    if (!is_iprobe)
        return false;
    call->result = weft_next.Iprobe((int)v[0].number, (int)v[1].number, v[2].pointer, v[3].pointer,
                                    v[4].pointer);
    is_shown |= call->result == MPI_SUCCESS && *(int *)v[3].pointer;
    return true;
}

static void follow_shown(const struct weft_call *call)
{
    if (call->function->plain == WEFT_CALL_Probe)
        is_shown = true;
    else if (call->function->does & (WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE))
        is_shown = false;
}

bool check_shuffle(struct weft_call *call)
{
    if (!is_on)
        return false;
    state = check_mix(first, ++calls);
    begin_late();
    follow_shown(call);
    return probe(call) || take_source(call);
}

/* ---- Completions */

static bool is_active(const void *request)
{
    check_lock();
    const struct check_object *object = check_object_find(WEFT_OBJECT_REQUEST, request);
    const bool active = object && object->uses > 0 && object->active;
    check_unlock();
    return active;
}

bool check_shuffle_completion(struct weft_call *call)
{
    const union weft_value *v = call->values;
    MPI_Request *requests = v[1].pointer;
    int list[CANDIDATES_MAX], n = 0;
    if (!is_on)
        return false;
    const int count = (int)weft_call_number(call, 0, 0);
    for (int i = 0; i < count && n < CANDIDATES_MAX; i++)
        if (requests[i] != MPI_REQUEST_NULL && is_active(requests[i]) &&
            !check_objects_is_generalized(requests[i]) && check_request_has_ended(requests[i]))
            list[n++] = i;
    if (n < 2)
        return false;
    const int at = list[choose((uint64_t)n)];
    call->result = weft_next.Wait(&requests[at], v[3].pointer);
    *(int *)v[2].pointer = at;
    return true;
}
