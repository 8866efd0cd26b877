// SPDX-License-Identifier: BSD-3-Clause
/*
 * The rules: see finding.h. Sections are those of MPI 5.0.
 */
#include "tools/check/finding.h"

const struct check_rule_text check_rules[CHECK_RULES] = {
    [CHECK_NOT_FINALIZED] = {"not-finalized", CHECK_OBJECTS, true, "11.2.2",
                             "a process that has initialized MPI calls MPI_Finalize before it ends",
                             "call MPI_Finalize before the program returns or exits"},
    [CHECK_REQUEST_LOST] =
        {"request-lost", CHECK_OBJECTS, true, "3.7.3",
         "a nonblocking operation ends only by a call that completes its request",
         "complete the request with MPI_Wait, MPI_Test or their kin before "
         "MPI_Finalize"},
    [CHECK_REQUEST_ACTIVE] = {"request-active", CHECK_OBJECTS, true, "3.9",
                              "a persistent request may be started only while it is inactive",
                              "complete the request with MPI_Wait before it is started again"},
    [CHECK_REQUEST_FREED] = {"request-freed", CHECK_OBJECTS, false, "3.7.3",
                             "an active receive should never be freed, because nothing shows "
                             "when its buffer has the message; that of a collective call must "
                             "not be",
                             "complete the request with MPI_Wait, or cancel the receive before"},
    [CHECK_MESSAGE_LOST] = {"message-lost", CHECK_OBJECTS, true, "3.8.2",
                            "a message that a matched probe has returned has to be received",
                            "receive the message with MPI_Mrecv or MPI_Imrecv"},
    [CHECK_NOT_FREED] = {"not-freed", CHECK_OBJECTS, false, "11.4.1",
                         "objects that a program makes are freed before MPI_Finalize",
                         "free the object with the MPI_..._free of its kind"},
    [CHECK_NOT_CLOSED] = {"not-closed", CHECK_OBJECTS, true, "11.4.1",
                          "files are closed, and windows and sessions are freed, before "
                          "MPI_Finalize",
                          "call MPI_File_close, MPI_Win_free or MPI_Session_finalize on all ranks"},
    [CHECK_FREED] = {"use-after-free", CHECK_OBJECTS, true, "2.5.1",
                     "a handle is invalid after the call that freed its object",
                     "do not keep copies of handles that are freed, or free them later"},
    [CHECK_NOT_COMMITTED] = {"type-not-committed", CHECK_OBJECTS, true, "5.1.9",
                             "a datatype has to be committed before it is used in communication",
                             "call MPI_Type_commit after the datatype is made"},
    [CHECK_OTHER_COLLECTIVE] = {"collective-order", CHECK_COLLECTIVES, true, "6.14",
                                "all processes of a communicator make the same collective calls in "
                                "the same order",
                                "make the ranks call the same operation"},
    [CHECK_OTHER_ROOT] = {"collective-root", CHECK_COLLECTIVES, true, "6.2.2",
                          "root has the same value on all processes",
                          "pass the same root on all ranks"},
    [CHECK_OTHER_OPERATION] = {"collective-operation", CHECK_COLLECTIVES, true, "6.9",
                               "all processes pass the same operation",
                               "pass the same MPI_Op on all ranks"},
    [CHECK_OTHER_SIGNATURE] = {"collective-signature", CHECK_COLLECTIVES, true, "6.1",
                               "the type signatures of what is sent and received must be equal",
                               "make counts and datatypes describe the same basic elements"},
    [CHECK_COLLECTIVE_MISSING] = {"collective-missing", CHECK_COLLECTIVES, true, "6.14",
                                  "each collective is called by all processes of the communicator",
                                  "let all ranks of the communicator make the call, or none"},
    [CHECK_RECEIVES_OVERLAP] =
        {"receive-overlap", CHECK_BUFFERS, true, "3.7.2",
         "the program must not access a receive buffer before the receive is complete",
         "give each operation its own buffer, or complete the first one before"},
    [CHECK_BUFFER_IN_FLIGHT] = {"buffer-in-flight", CHECK_BUFFERS, true, "3.7.2",
                                "a send buffer must not be changed, nor a receive buffer be "
                                "accessed, before the operation "
                                "is complete",
                                "use another buffer, or complete the first operation before"},
    [CHECK_SEND_CHANGED] = {"send-changed", CHECK_BUFFERS, true, "3.7.2",
                            "a send buffer must not be changed before the send is complete",
                            "change the buffer after MPI_Wait, or use another one"},
    [CHECK_RECEIVE_CHANGED] =
        {"receive-changed", CHECK_BUFFERS, true, "3.7.2",
         "the program must not access a receive buffer before the receive is complete",
         "change the buffer after MPI_Wait, or use another one"},
    [CHECK_ALIAS] = {"buffer-alias", CHECK_BUFFERS, true, "2.3",
                     "buffers of one call must not overlap if one of them is written",
                     "use different buffers, or MPI_IN_PLACE where the call permits it"},
    [CHECK_STACK_GONE] = {"buffer-on-stack", CHECK_BUFFERS, true, "3.7.2",
                          "the buffer of an operation has to exist until the operation is complete",
                          "complete the operation in the function that has the variable, or "
                          "allocate the buffer"},
    [CHECK_BUFFER_FREED] = {"buffer-freed", CHECK_BUFFERS, true, "3.7.2",
                            "the buffer of an operation has to exist until the operation is "
                            "complete",
                            "free the memory after MPI_Wait"},
    [CHECK_BUFFER_RANGE] = {"buffer-range", CHECK_BUFFERS, true, "3.2.2",
                            "a buffer has as many elements of the datatype as its count states",
                            "pass a smaller count, or a larger buffer"},
    [CHECK_BUFFER_TYPE] = {"buffer-type", CHECK_BUFFERS, false, "3.3.1",
                           "the datatype of a buffer describes the variables that it has",
                           "pass the datatype of the variable's type"},
    [CHECK_ORIGIN_OVERLAP] =
        {"origin-overlap", CHECK_WINDOWS, true, "12.3",
         "the origin buffer of an operation on a window must not be used before the operation is "
         "complete at the origin",
         "use another buffer, or end the epoch (or flush) before"},
    [CHECK_ORIGIN_CHANGED] = {"origin-changed", CHECK_WINDOWS, true, "12.3",
                              "the origin buffer of an operation on a window must not be changed "
                              "before the operation is "
                              "complete at the origin",
                              "change the buffer after the epoch (or a flush)"},
    [CHECK_MESSAGE_SIGNATURE] = {"message-signature", CHECK_MESSAGES, true, "3.3.1",
                                 "the basic types that are sent are the same as those received",
                                 "pass datatypes that describe the same basic types on both sides"},
    [CHECK_MESSAGE_TRUNCATED] = {"message-truncated", CHECK_MESSAGES, true, "3.2.2",
                                 "a message is at most as long as the buffer that receives it",
                                 "receive with a larger count, or send less"},
    [CHECK_NOT_RECEIVED] = {"message-not-received", CHECK_MESSAGES, true, "11.2.2",
                            "each message that a process sends is received before MPI_Finalize",
                            "receive the message, or do not send it"},
    [CHECK_NO_EPOCH] = {"no-epoch", CHECK_WINDOWS, true, "12.5",
                        "operations on a window are called within an access epoch for the target",
                        "call MPI_Win_fence, MPI_Win_start or MPI_Win_lock before"},
    [CHECK_EPOCH_OVERLAP] = {"epoch-overlap", CHECK_WINDOWS, true, "12.5",
                             "access epochs of a process for a window must be disjoint",
                             "end the first epoch before the next one begins"},
    [CHECK_EPOCH_NOT_OPEN] = {"epoch-not-open", CHECK_WINDOWS, true, "12.5",
                              "a call that ends or flushes an epoch matches one that has begun it",
                              "call the synchronization that begins this kind of epoch before"},
    [CHECK_EPOCH_NOT_ENDED] = {"epoch-not-ended", CHECK_WINDOWS, true, "12.2.5",
                               "a window is freed after all its epochs have ended",
                               "end the epoch before MPI_Win_free"},
    [CHECK_TARGET_RANGE] = {"target-range", CHECK_WINDOWS, true, "12.3",
                            "the target buffer must fit in the target's window",
                            "make the window larger, or the displacement or count smaller"},
    [CHECK_WINDOW_CONFLICT] =
        {"window-conflict", CHECK_WINDOWS, true, "12.7",
         "concurrent accesses to the same memory of a window have no defined result if one of them "
         "writes, unless both are accumulates",
         "separate the accesses by an epoch or a flush, use other locations, or MPI_Accumulate"},
    [CHECK_WINDOW_FREED] = {"window-freed", CHECK_WINDOWS, false, "12.2.1",
                            "the memory of a window exists until the window is freed",
                            "free the memory after MPI_Win_free"},
    [CHECK_FILE_CONFLICT] = {"file-conflict", CHECK_FILES, true, "14.6.1",
                             "accesses of several processes to the same bytes of a file, of which "
                             "one writes, have no defined result without MPI_File_sync and a "
                             "barrier between them, or atomic mode",
                             "write to other bytes, or separate the accesses by MPI_File_sync, "
                             "MPI_Barrier and MPI_File_sync"},
    [CHECK_FILE_VIEW] = {"file-view", CHECK_FILES, true, "14.6.6",
                         "the basic types of data and filetype are those of the etype of the view, "
                         "or MPI_BYTE",
                         "pass the type that the view was set for, or set another view"},
    [CHECK_FILE_ACTIVE] = {"file-active", CHECK_FILES, true, "14.2.2",
                           "all operations on a file are complete before it is closed",
                           "call MPI_Wait, or the end of the split collective call, before "
                           "MPI_File_close"},
    [CHECK_DEADLOCK] =
        {"deadlock", CHECK_DEADLOCKS, true, "3.5",
         "a program in which each of several processes waits for another one of them "
         "cannot continue",
         "change the order of the calls, or make some of them nonblocking"},
    [CHECK_SEND_BUFFERED] = {"send-needs-buffer", CHECK_DEADLOCKS, false, "3.5",
                             "a standard send may wait until its message is received, so that a "
                             "program must not depend on buffers",
                             "change the order of the calls, or use MPI_Sendrecv, MPI_Irecv before "
                             "the send, or MPI_Bsend"},
    [CHECK_COLLECTIVE_BUFFERED] =
        {"collective-may-wait", CHECK_DEADLOCKS, false, "6.14",
         "a collective call may wait for all ranks or not, so that a program must not depend on "
         "either",
         "make the call on all ranks before the messages, or behind them"},
    [CHECK_MESSAGE_RACE] = {"message-race", CHECK_RACES, false, "3.5",
                            "a receive with MPI_ANY_SOURCE takes any of the messages that match it",
                            "name the source or use tags, if the program depends on the order"},
};
