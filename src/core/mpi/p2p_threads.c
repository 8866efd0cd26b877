// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point calls while the gate is not open, with threads above all; see p2p_long.h.
 *
 * Invariant: the lock is held around everything but a cell's own way, and no thread leaves with it.
 */
#include "core/mpi/p2p_fast.h"
#include "core/mpi/p2p_long.h"
#include "core/pt2pt/cell.h"
#include "core/process/weft.h"

/* Takes the lock. True when nothing but threads keeps the gate closed. What `code` says is returned at
 * once. */
ALWAYS_INLINE bool enter_among_threads(const char *function, int *code)
{
    *code = MPI_SUCCESS;
    if (weft_likely(weft_gate == WEFT_GATE_THREADS)) {
        weft_lock_enter();
        return true;
    }
    *code = weft_enter(function);
    return false;
}

ALWAYS_INLINE void leave_among_threads(bool only_threads)
{
    if (weft_likely(only_threads))
        weft_lock_give();
    else
        weft_leave();
}

/* Tags that a send, or a receive, may have on the fast path: none with a count beyond it. The latter
 * leaves the pool alone when it is empty. */
ALWAYS_INLINE uint32_t send_tags(bool only_threads, MPI_Count count)
{
    return weft_likely(only_threads) && is_int(count) ? (uint32_t)weft.tag_ub + 1 : 0;
}

/* Predefined communicators are in no cell. */
ALWAYS_INLINE bool may_have_cell(MPI_Comm comm)
{
    return (uintptr_t)comm >= WEFT_PREDEFINED_HANDLES;
}

/* Receives on a channel that may have a cell go the long way, which finds its matcher. */
ALWAYS_INLINE uint32_t receive_tags(bool only_threads, MPI_Count count, MPI_Comm comm)
{
    if (weft.matcher.unexpected || (weft_cells_on && may_have_cell(comm)))
        return 0;
    return send_tags(only_threads, count);
}

/* ---- Several threads. */

static __attribute__((noinline)) int among_send(const void *buf, MPI_Count count,
                                                MPI_Datatype datatype, int dest, int tag,
                                                MPI_Comm comm)
{
    int code;
    if (may_have_cell(comm) && weft_cell_send(buf, count, datatype, dest, tag, comm, NULL))
        return MPI_SUCCESS;
    bool only_threads = enter_among_threads("MPI_Send", &code);
    if (code)
        return code;
    if (!send_fast(buf, (uint32_t)count, datatype, dest, tag, send_tags(only_threads, count), comm,
                   &code, true))
        code = weft_long_send_now(
            &(struct weft_call){"MPI_Send", buf, count, datatype, dest, tag, comm},
            WEFT_SEND_STANDARD);
    leave_among_threads(only_threads);
    return code;
}

static __attribute__((noinline)) int among_isend(const void *buf, MPI_Count count,
                                                 MPI_Datatype datatype, int dest, int tag,
                                                 MPI_Comm comm, MPI_Request *request)
{
    int code;
    if (may_have_cell(comm) && request &&
        weft_cell_send(buf, count, datatype, dest, tag, comm, request))
        return MPI_SUCCESS;
    bool only_threads = enter_among_threads("MPI_Isend", &code);
    if (code)
        return code;
    if (!isend_fast(buf, (uint32_t)count, datatype, dest, tag, send_tags(only_threads, count), comm,
                    request, &code, true))
        code = weft_long_begin_send(
            &(struct weft_call){"MPI_Isend", buf, count, datatype, dest, tag, comm},
            WEFT_SEND_STANDARD, request);
    leave_among_threads(only_threads);
    return code;
}

static __attribute__((noinline)) int among_recv(void *buf, MPI_Count count, MPI_Datatype datatype,
                                                int source, int tag, MPI_Comm comm,
                                                MPI_Status *status)
{
    MPI_Request begun = MPI_REQUEST_NULL;
    int code;
    if (may_have_cell(comm) &&
        weft_cell_receive(buf, count, datatype, source, tag, comm, &begun, status))
        return MPI_SUCCESS;
    bool only_threads = enter_among_threads("MPI_Recv", &code);
    if (code)
        return code;
    if (begun != MPI_REQUEST_NULL)
        code = finish_receive((struct weft_request *)begun, status, false);
    else if (!recv_fast(buf, (uint32_t)count, datatype, (uint32_t)source, tag,
                        receive_tags(only_threads, count, comm), &comm, status, false, &code))
        code = weft_long_receive_now(
            &(struct weft_call){"MPI_Recv", buf, count, datatype, source, tag, comm}, status);
    leave_among_threads(only_threads);
    return code;
}

static __attribute__((noinline)) int among_irecv(void *buf, MPI_Count count, MPI_Datatype datatype,
                                                 int source, int tag, MPI_Comm comm,
                                                 MPI_Request *request)
{
    int code;
    if (may_have_cell(comm) && weft_cell_post(buf, count, datatype, source, tag, comm, request))
        return MPI_SUCCESS;
    bool only_threads = enter_among_threads("MPI_Irecv", &code);
    if (code)
        return code;
    if (!irecv_fast(buf, (uint32_t)count, datatype, (uint32_t)source, tag,
                    receive_tags(only_threads, count, comm), &comm, &request, &code))
        code = weft_long_begin_receive(
            &(struct weft_call){"MPI_Irecv", buf, count, datatype, source, tag, comm}, request);
    leave_among_threads(only_threads);
    return code;
}

/* ---- What the entry points call. A thread that is the only one first tries the fast path, so that
 * what more threads need is out of its way. What that declines has had no effect, so the lock is let go
 * without a look at others: that needs no call, and no register is saved for it. */

int weft_gated_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm)
{
    int code;
    if (weft_likely(!may_have_cell(comm)) && weft_likely(weft_enter_alone())) {
        if (weft_likely(send_fast(buf, (uint32_t)count, datatype, dest, tag, send_tags(true, count),
                                  comm, &code, true))) {
            weft_leave_alone();
            return code;
        }
        weft_lock_let_go();
    }
    return among_send(buf, count, datatype, dest, tag, comm);
}

int weft_gated_isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    int code;
    if (weft_likely(!may_have_cell(comm)) && weft_likely(weft_enter_alone())) {
        if (weft_likely(isend_fast(buf, (uint32_t)count, datatype, dest, tag,
                                   send_tags(true, count), comm, request, &code, true))) {
            weft_leave_alone();
            return code;
        }
        weft_lock_let_go();
    }
    return among_isend(buf, count, datatype, dest, tag, comm, request);
}

int weft_gated_recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Status *status)
{
    int code;
    if (weft_likely(!may_have_cell(comm)) && weft_likely(weft_enter_alone())) {
        if (weft_likely(recv_fast(buf, (uint32_t)count, datatype, (uint32_t)source, tag,
                                  receive_tags(true, count, comm), &comm, status, false, &code))) {
            weft_leave_alone();
            return code;
        }
        weft_lock_let_go();
    }
    return among_recv(buf, count, datatype, source, tag, comm, status);
}

int weft_gated_irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    int code;
    if (weft_likely(!may_have_cell(comm)) && weft_likely(weft_enter_alone())) {
        if (weft_likely(irecv_fast(buf, (uint32_t)count, datatype, (uint32_t)source, tag,
                                   receive_tags(true, count, comm), &comm, &request, &code))) {
            weft_leave_alone();
            return code;
        }
        weft_lock_let_go();
    }
    return among_irecv(buf, count, datatype, source, tag, comm, request);
}
