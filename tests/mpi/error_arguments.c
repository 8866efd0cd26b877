// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * Every bad argument of point-to-point calls gets exactly its error class, from every form of send
 * and receive, and communication works as before afterwards.
 */
#include "check.h"

#include <limits.h>

enum { SENDS = 32, RECEIVES = 14, PROBES = 4 };

static const MPI_Comm bad_comm = (MPI_Comm)0x1ff; /* no predefined handle has these values */
static const MPI_Datatype bad_type = (MPI_Datatype)0x2ff;
static int value[4], largest_tag;
static MPI_Request request; /* what a call handed out */

/* Any form of send. */
static int send_form(int form, const void *buf, int count, MPI_Datatype type, int dest, int tag,
                     MPI_Comm comm)
{
    switch (form) {
    case 0:
        return MPI_Send(buf, count, type, dest, tag, comm);
    case 1:
        return MPI_Ssend(buf, count, type, dest, tag, comm);
    case 2:
        return MPI_Rsend(buf, count, type, dest, tag, comm);
    case 3:
        return MPI_Isend(buf, count, type, dest, tag, comm, &request);
    case 4:
        return MPI_Issend(buf, count, type, dest, tag, comm, &request);
    case 5:
        return MPI_Irsend(buf, count, type, dest, tag, comm, &request);
    case 6:
        return MPI_Send_c(buf, count, type, dest, tag, comm);
    case 7:
        return MPI_Isend_c(buf, count, type, dest, tag, comm, &request);
    case 8:
        return MPI_Bsend(buf, count, type, dest, tag, comm);
    case 9:
        return MPI_Ibsend(buf, count, type, dest, tag, comm, &request);
    case 10:
        return MPI_Bsend_c(buf, count, type, dest, tag, comm);
    case 11:
        return MPI_Ibsend_c(buf, count, type, dest, tag, comm, &request);
    case 12:
        return MPI_Sendrecv(buf, count, type, dest, tag, value, 1, MPI_INT, MPI_PROC_NULL, 0, comm,
                            MPI_STATUS_IGNORE);
    case 13:
        return MPI_Send_init(buf, count, type, dest, tag, comm, &request);
    case 14:
        return MPI_Ssend_init(buf, count, type, dest, tag, comm, &request);
    case 15:
        return MPI_Rsend_init(buf, count, type, dest, tag, comm, &request);
    case 16:
        return MPI_Send_init_c(buf, count, type, dest, tag, comm, &request);
    case 17:
        return MPI_Ssend_init_c(buf, count, type, dest, tag, comm, &request);
    case 18:
        return MPI_Rsend_init_c(buf, count, type, dest, tag, comm, &request);
    case 19:
        return MPI_Isendrecv(buf, count, type, dest, tag, value, 1, MPI_INT, MPI_PROC_NULL, 0, comm,
                             &request);
    case 20:
        return MPI_Sendrecv_replace((void *)buf, count, type, dest, tag, MPI_PROC_NULL, 0, comm,
                                    MPI_STATUS_IGNORE);
    case 21:
        return MPI_Bsend_init(buf, count, type, dest, tag, comm, &request);
    case 22:
        return MPI_Bsend_init_c(buf, count, type, dest, tag, comm, &request);
    case 23:
        return MPI_Isendrecv_replace((void *)buf, count, type, dest, tag, MPI_PROC_NULL, 0, comm,
                                     &request);
    case 24:
        return MPI_Ssend_c(buf, count, type, dest, tag, comm);
    case 25:
        return MPI_Rsend_c(buf, count, type, dest, tag, comm);
    case 26:
        return MPI_Issend_c(buf, count, type, dest, tag, comm, &request);
    case 27:
        return MPI_Irsend_c(buf, count, type, dest, tag, comm, &request);
    case 28:
        return MPI_Sendrecv_c(buf, count, type, dest, tag, value, 1, MPI_INT, MPI_PROC_NULL, 0,
                              comm, MPI_STATUS_IGNORE);
    case 29:
        return MPI_Isendrecv_c(buf, count, type, dest, tag, value, 1, MPI_INT, MPI_PROC_NULL, 0,
                               comm, &request);
    case 30:
        return MPI_Sendrecv_replace_c((void *)buf, count, type, dest, tag, MPI_PROC_NULL, 0, comm,
                                      MPI_STATUS_IGNORE);
    default:
        return MPI_Isendrecv_replace_c((void *)buf, count, type, dest, tag, MPI_PROC_NULL, 0, comm,
                                       &request);
    }
}

static int receive_form(int form, void *buf, int count, MPI_Datatype type, int source, int tag,
                        MPI_Comm comm)
{
    switch (form) {
    case 0:
        return MPI_Recv(buf, count, type, source, tag, comm, MPI_STATUS_IGNORE);
    case 1:
        return MPI_Irecv(buf, count, type, source, tag, comm, &request);
    case 2:
        return MPI_Irecv_c(buf, count, type, source, tag, comm, &request);
    case 3:
        return MPI_Sendrecv(value, 1, MPI_INT, MPI_PROC_NULL, 0, buf, count, type, source, tag,
                            comm, MPI_STATUS_IGNORE);
    case 4:
        return MPI_Recv_init(buf, count, type, source, tag, comm, &request);
    case 5:
        return MPI_Recv_init_c(buf, count, type, source, tag, comm, &request);
    case 6:
        return MPI_Isendrecv(value, 1, MPI_INT, MPI_PROC_NULL, 0, buf, count, type, source, tag,
                             comm, &request);
    case 7:
        return MPI_Sendrecv_replace(buf, count, type, MPI_PROC_NULL, 0, source, tag, comm,
                                    MPI_STATUS_IGNORE);
    case 8:
        return MPI_Isendrecv_replace(buf, count, type, MPI_PROC_NULL, 0, source, tag, comm,
                                     &request);
    case 9:
        return MPI_Recv_c(buf, count, type, source, tag, comm, MPI_STATUS_IGNORE);
    case 10:
        return MPI_Sendrecv_c(value, 1, MPI_INT, MPI_PROC_NULL, 0, buf, count, type, source, tag,
                              comm, MPI_STATUS_IGNORE);
    case 11:
        return MPI_Isendrecv_c(value, 1, MPI_INT, MPI_PROC_NULL, 0, buf, count, type, source, tag,
                               comm, &request);
    case 12:
        return MPI_Sendrecv_replace_c(buf, count, type, MPI_PROC_NULL, 0, source, tag, comm,
                                      MPI_STATUS_IGNORE);
    default:
        return MPI_Isendrecv_replace_c(buf, count, type, MPI_PROC_NULL, 0, source, tag, comm,
                                       &request);
    }
}

/* The class of the error, and no request left behind by it. */
#define EXPECT(kind, form, expected, ...)                                                          \
    do {                                                                                           \
        request = MPI_REQUEST_NULL;                                                                \
        int class_ = check_class(kind##_form(form, __VA_ARGS__));                                  \
        CHECK(request == MPI_REQUEST_NULL, #kind " form %d (" #__VA_ARGS__ ") left a request",     \
              form);                                                                               \
        CHECK(class_ == (expected), #kind " form %d (" #__VA_ARGS__ "): class %d, not " #expected, \
              form, class_);                                                                       \
    } while (0)

static void sends(int form)
{
    MPI_Comm world = MPI_COMM_WORLD;
    check_step("bad arguments of send form %d", form);
    EXPECT(send, form, MPI_ERR_COUNT, value, -1, MPI_INT, 0, 1, world);
    EXPECT(send, form, MPI_ERR_TYPE, value, 1, MPI_DATATYPE_NULL, 0, 1, world);
    EXPECT(send, form, MPI_ERR_TYPE, value, 1, bad_type, 0, 1, world);
    EXPECT(send, form, MPI_ERR_TYPE, value, 1, (MPI_Datatype)MPI_COMM_WORLD, 0, 1, world);
    EXPECT(send, form, MPI_ERR_RANK, value, 1, MPI_INT, check.size, 1, world);
    EXPECT(send, form, MPI_ERR_RANK, value, 1, MPI_INT, -77, 1, world);
    EXPECT(send, form, MPI_ERR_RANK, value, 1, MPI_INT, MPI_ANY_SOURCE, 1, world);
    EXPECT(send, form, MPI_ERR_TAG, value, 1, MPI_INT, 0, -5, world);
    EXPECT(send, form, MPI_ERR_TAG, value, 1, MPI_INT, 0, MPI_ANY_TAG, world);
    EXPECT(send, form, MPI_ERR_TAG, value, 1, MPI_INT, 0, INT_MIN, world);
    if (largest_tag < INT_MAX) {
        EXPECT(send, form, MPI_ERR_TAG, value, 1, MPI_INT, 0, largest_tag + 1, world);
        EXPECT(send, form, MPI_ERR_TAG, value, 1, MPI_INT, 0, INT_MAX, world);
    }
    EXPECT(send, form, MPI_ERR_BUFFER, NULL, 1, MPI_INT, 0, 1, world);
    EXPECT(send, form, MPI_ERR_COMM, value, 1, MPI_INT, 0, 1, MPI_COMM_NULL);
    EXPECT(send, form, MPI_ERR_COMM, value, 1, MPI_INT, 0, 1, bad_comm);
    EXPECT(send, form, MPI_ERR_COMM, value, 1, MPI_INT, 0, 1, (MPI_Comm)MPI_INT);
    EXPECT(send, form, MPI_ERR_COMM, value, 1, MPI_INT, 0, 1, (MPI_Comm)0);
    /* What goes nowhere must be right too. */
    EXPECT(send, form, MPI_ERR_COUNT, value, -1, MPI_INT, MPI_PROC_NULL, 1, world);
    EXPECT(send, form, MPI_ERR_TYPE, value, 1, bad_type, MPI_PROC_NULL, 1, world);
    EXPECT(send, form, MPI_ERR_TAG, value, 1, MPI_INT, MPI_PROC_NULL, -1, world);
    EXPECT(send, form, MPI_ERR_COMM, value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_NULL);
}

static void receives(int form)
{
    MPI_Comm world = MPI_COMM_WORLD;
    check_step("bad arguments of receive form %d", form);
    EXPECT(receive, form, MPI_ERR_COUNT, value, -1, MPI_INT, 0, 1, world);
    EXPECT(receive, form, MPI_ERR_TYPE, value, 1, MPI_DATATYPE_NULL, 0, 1, world);
    EXPECT(receive, form, MPI_ERR_TYPE, value, 1, bad_type, 0, 1, world);
    EXPECT(receive, form, MPI_ERR_RANK, value, 1, MPI_INT, check.size, 1, world);
    EXPECT(receive, form, MPI_ERR_RANK, value, 1, MPI_INT, -77, 1, world);
    EXPECT(receive, form, MPI_ERR_TAG, value, 1, MPI_INT, 0, -5, world);
    EXPECT(receive, form, MPI_ERR_TAG, value, 1, MPI_INT, MPI_ANY_SOURCE, INT_MIN, world);
    if (largest_tag < INT_MAX) {
        EXPECT(receive, form, MPI_ERR_TAG, value, 1, MPI_INT, 0, largest_tag + 1, world);
    }
    EXPECT(receive, form, MPI_ERR_BUFFER, NULL, 1, MPI_INT, 0, 1, world);
    EXPECT(receive, form, MPI_ERR_BUFFER, NULL, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world);
    EXPECT(receive, form, MPI_ERR_COMM, value, 1, MPI_INT, 0, 1, MPI_COMM_NULL);
    EXPECT(receive, form, MPI_ERR_COMM, value, 1, MPI_INT, 0, 1, bad_comm);
    EXPECT(receive, form, MPI_ERR_COMM, value, 1, MPI_INT, 0, 1, (MPI_Comm)0);
}

/* Counts that only the large forms can have, of which the bytes cannot be counted. */
static void large_counts(void)
{
    MPI_Count most = (MPI_Count)(~(uint64_t)0 >> 1);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Status *no = MPI_STATUS_IGNORE;
    check_step("counts that are too large");
    CHECK_CLASS(MPI_Send_c(value, most, MPI_INT, 0, 1, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Isend_c(value, most, MPI_INT, 0, 1, world, &request), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Bsend_c(value, most / 2, MPI_INT, 0, 1, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Send_init_c(value, most, MPI_INT, 0, 1, world, &request), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Recv_c(value, most, MPI_INT, 0, 1, world, no), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Irecv_c(value, most, MPI_INT, 0, 1, world, &request), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Recv_init_c(value, most, MPI_INT, 0, 1, world, &request), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Send_c(value, -most, MPI_INT, 0, 1, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Recv_c(value, -most - 1, MPI_INT, 0, 1, world, no), MPI_ERR_COUNT);
}

/* One good half of a send-receive does nothing when the other is wrong. */
static void halves(void)
{
    int flag = -1, in = -1;
    check_step("a send-receive of which one half is wrong");
    CHECK_CLASS(MPI_Sendrecv(value, 1, MPI_INT, check.rank, 5, &in, 1, MPI_INT, check.size, 5,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                MPI_ERR_RANK);
    CHECK_CLASS(MPI_Isendrecv(value, 1, MPI_INT, check.rank, 5, &in, 1, MPI_INT, 0, -7,
                              MPI_COMM_WORLD, &request),
                MPI_ERR_TAG);
    CHECK_CLASS(MPI_Sendrecv_replace(&in, 1, MPI_INT, check.rank, 5, -77, 5, MPI_COMM_WORLD,
                                     MPI_STATUS_IGNORE),
                MPI_ERR_RANK);
    MPI_Iprobe(check.rank, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0, "the half that was right has sent");
    CHECK_CLASS(MPI_Sendrecv(value, -1, MPI_INT, check.rank, 5, &in, 1, MPI_INT, check.rank, 5,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                MPI_ERR_COUNT);
    CHECK(in == -1, "the half that was right has received");
}

/* A handle that was good once. */
static void freed(void)
{
    MPI_Comm comm, copy;
    check_step("a communicator that was freed");
    CHECK_CLASS(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
    copy = comm;
    CHECK_CLASS(MPI_Comm_free(&comm), MPI_SUCCESS);
    for (int form = 0; form < SENDS; form++) {
        EXPECT(send, form, MPI_ERR_COMM, value, 1, MPI_INT, 0, 1, copy);
    }
    for (int form = 0; form < RECEIVES; form++) {
        EXPECT(receive, form, MPI_ERR_COMM, value, 1, MPI_INT, 0, 1, copy);
    }
}

/* The largest tag that a send takes; MPI_TAG_UB, found without attributes. */
static int find_largest_tag(void)
{
    int good = 32767, bad = INT_MAX;
    if (MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, bad, MPI_COMM_WORLD) == MPI_SUCCESS) {
        return bad;
    }
    while (bad - good > 1) {
        int tag = good + (bad - good) / 2;
        bool taken = MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD) == MPI_SUCCESS;
        *(taken ? &good : &bad) = tag;
    }
    return good;
}

/* Any form of probe. */
static int probe_form(int form, int source, int tag, MPI_Comm comm)
{
    int flag;
    MPI_Message message;
    switch (form) {
    case 0:
        return MPI_Probe(source, tag, comm, MPI_STATUS_IGNORE);
    case 1:
        return MPI_Iprobe(source, tag, comm, &flag, MPI_STATUS_IGNORE);
    case 2:
        return MPI_Mprobe(source, tag, comm, &message, MPI_STATUS_IGNORE);
    default:
        return MPI_Improbe(source, tag, comm, &flag, &message, MPI_STATUS_IGNORE);
    }
}

static void probes(int form)
{
    check_step("bad arguments of probe form %d", form);
    EXPECT(probe, form, MPI_ERR_RANK, check.size, 1, MPI_COMM_WORLD);
    EXPECT(probe, form, MPI_ERR_RANK, -77, 1, MPI_COMM_WORLD);
    EXPECT(probe, form, MPI_ERR_TAG, 0, -5, MPI_COMM_WORLD);
    EXPECT(probe, form, MPI_ERR_COMM, 0, 1, MPI_COMM_NULL);
    EXPECT(probe, form, MPI_ERR_COMM, 0, 1, bad_comm);
    EXPECT(probe, form, MPI_ERR_TAG, MPI_ANY_SOURCE, INT_MIN, MPI_COMM_WORLD);
    EXPECT(probe, form, MPI_ERR_TAG, MPI_PROC_NULL, -7, MPI_COMM_WORLD);
    if (largest_tag < INT_MAX) {
        EXPECT(probe, form, MPI_ERR_TAG, 0, largest_tag + 1, MPI_COMM_WORLD);
    }
    EXPECT(probe, form, MPI_SUCCESS, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
}

static void messages(void)
{
    MPI_Message none = MPI_MESSAGE_NULL, garbage = (MPI_Message)MPI_COMM_WORLD;
    check_step("bad messages");
    CHECK_CLASS(MPI_Mrecv(value, 1, MPI_INT, &none, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Mrecv(value, 1, MPI_INT, &garbage, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Imrecv(value, 1, MPI_INT, &none, &request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Mrecv_c(value, 1, MPI_INT, &none, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Imrecv_c(value, 1, MPI_INT, &garbage, &request), MPI_ERR_REQUEST);

    /* A bad argument of the receive leaves the message for another try. */
    MPI_Message message;
    MPI_Send(value, 1, MPI_INT, check.rank, 2, MPI_COMM_WORLD);
    MPI_Mprobe(check.rank, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    CHECK_CLASS(MPI_Mrecv(value, -1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Mrecv(value, 1, bad_type, &message, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Mrecv_c(value, -1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Imrecv(NULL, 1, MPI_INT, &message, &request), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_CLASS(MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
}

static void requests(void)
{
    MPI_Request garbage = (MPI_Request)0x1ff, zero = (MPI_Request)0, null = MPI_REQUEST_NULL;
    MPI_Request pair[2] = {MPI_REQUEST_NULL, garbage};
    int flag, index, count, indices[2];
    check_step("bad requests");
    CHECK_CLASS(MPI_Wait(&garbage, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Wait(&zero, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Test(&garbage, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Testall(2, pair, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Waitany(2, pair, &index, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Testany(2, pair, &index, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Waitsome(2, pair, &count, indices, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Testsome(2, pair, &count, indices, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Waitall(-1, pair, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Request_free(&garbage), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&null), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_get_status(garbage, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_get_status_all(2, pair, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_get_status_any(2, pair, &index, &flag, MPI_STATUS_IGNORE),
                MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_get_status_some(2, pair, &count, indices, MPI_STATUSES_IGNORE),
                MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_get_status_all(-1, pair, &flag, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);

    /* A copy of a handle is worth nothing once the request is done. */
    MPI_Request copy;
    MPI_Irecv(value, 1, MPI_INT, check.rank, 1, MPI_COMM_WORLD, &request);
    copy = request;
    MPI_Send(value, 1, MPI_INT, check.rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_CLASS(MPI_Wait(&copy, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
}

static void buffers(void)
{
    char space[8];
    void *address;
    int size;
    check_step("bad arguments for buffers");
    CHECK_CLASS(MPI_Buffer_attach(space, -1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Buffer_attach(NULL, 8), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_detach(&address, &size), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_flush(), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_iflush(&request), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_attach(space, 8), MPI_SUCCESS);
    CHECK_CLASS(MPI_Buffer_attach(space, 8), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_detach(NULL, &size), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Buffer_detach(&address, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Buffer_iflush(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &address, &size), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_detach(&address, &size), MPI_SUCCESS);
    CHECK_CLASS(MPI_Comm_attach_buffer(MPI_COMM_NULL, space, 8), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_attach_buffer(MPI_COMM_WORLD, space, -1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_attach_buffer(MPI_COMM_WORLD, NULL, 8), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Comm_detach_buffer(bad_comm, &address, &size), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_flush_buffer(bad_comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_flush_buffer(MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Comm_iflush_buffer(MPI_COMM_NULL, &request), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
}

static void persistent(void)
{
    MPI_Request garbage = (MPI_Request)0x1ff, null = MPI_REQUEST_NULL, plain, first, pair[2];
    int flag = -1, up = (check.rank + 1) % check.size;
    check_step("what cannot be started");
    CHECK_CLASS(MPI_Start(&garbage), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(&null), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(NULL), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Startall(-1, pair), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Startall(1, NULL), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Startall(0, NULL), MPI_SUCCESS);
    CHECK_CLASS(MPI_Send_init(value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Recv_init(value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_CLASS(
        MPI_Isendrecv(value, 1, MPI_INT, 0, 1, value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, NULL),
        MPI_ERR_ARG);

    /* Not persistent; and a list with a mistake in it starts nothing. */
    MPI_Irecv(value, 1, MPI_INT, check.rank, 2, MPI_COMM_WORLD, &plain);
    CHECK_CLASS(MPI_Start(&plain), MPI_ERR_REQUEST);
    MPI_Send_init(value + 1, 1, MPI_INT, check.rank, 2, MPI_COMM_WORLD, &first);
    pair[0] = first;
    CHECK_CLASS(MPI_Cancel(&first), MPI_ERR_REQUEST); /* inactive */
    CHECK_CLASS(MPI_Cancel(&null), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&garbage), MPI_ERR_REQUEST);
    pair[1] = plain;
    CHECK_CLASS(MPI_Startall(2, pair), MPI_ERR_REQUEST);
    MPI_Test(&plain, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0, "MPI_Startall of a bad list sent something");

    /* Active ones, complete or not; afterwards they go on as if nothing had been. */
    MPI_Recv_init(value + 2, 1, MPI_INT, up, 3, MPI_COMM_WORLD, &pair[1]);
    CHECK_CLASS(MPI_Startall(2, pair), MPI_SUCCESS);
    CHECK_CLASS(MPI_Start(&pair[0]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(&pair[1]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Startall(2, pair), MPI_ERR_REQUEST);
    MPI_Wait(&plain, MPI_STATUS_IGNORE);
    MPI_Send(value, 1, MPI_INT, (check.rank + check.size - 1) % check.size, 3, MPI_COMM_WORLD);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);

    /* One that has two entries is started by the first. */
    MPI_Request twice[2] = {pair[0], pair[0]};
    CHECK_CLASS(MPI_Startall(2, twice), MPI_ERR_REQUEST);
    MPI_Recv(value, 1, MPI_INT, check.rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
    first = pair[0];
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
    CHECK_CLASS(MPI_Start(&first), MPI_ERR_REQUEST);
}

static void others(void)
{
    int n;
    MPI_Status st;
    check_step("bad arguments of queries");
    MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &st);
    CHECK_CLASS(MPI_Get_count(&st, MPI_DATATYPE_NULL, &n), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Get_count(&st, bad_type, &n), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Comm_rank(MPI_COMM_NULL, &n), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_size(bad_comm, &n), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_rank(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, (MPI_Errhandler)0x1ff), MPI_ERR_ERRHANDLER);
}

static void still_works(void)
{
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    int out = check.rank, in = -1;
    check_step("a message after all these errors");
    CHECK_CLASS(MPI_Sendrecv(&out, 1, MPI_INT, up, 1, &in, 1, MPI_INT, down, 1, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    CHECK(in == down, "received %d from rank %d", in, down);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    largest_tag = find_largest_tag();
    for (int form = 0; form < SENDS; form++) {
        sends(form);
    }
    for (int form = 0; form < RECEIVES; form++) {
        receives(form);
    }
    for (int form = 0; form < PROBES; form++) {
        probes(form);
    }
    large_counts();
    halves();
    freed();
    messages();
    requests();
    buffers();
    persistent();
    others();
    still_works();
    return check_done();
}
