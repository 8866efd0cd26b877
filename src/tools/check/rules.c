// SPDX-License-Identifier: BSD-3-Clause
/*
 * The rules: see finding.h. Sections are those of MPI 5.0.
 */
#include "tools/check/finding.h"

const struct check_rule_text check_rules[CHECK_RULES] = {
    [CHECK_REQUEST_LOST] =
        {"request-lost", CHECK_OBJECTS, true, "3.7.3",
         "a nonblocking operation ends only by a call that completes its request",
         "complete the request with MPI_Wait, MPI_Test or their kin before "
         "MPI_Finalize"},
    [CHECK_REQUEST_ACTIVE] = {"request-active", CHECK_OBJECTS, true, "3.9",
                              "a persistent request may be started only while it is inactive",
                              "complete the request with MPI_Wait before it is started again"},
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
};
