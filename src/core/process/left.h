// SPDX-License-Identifier: BSD-3-Clause
/*
 * The report of MPI_Finalize: messages, requests and objects that the program leaves.
 */
#ifndef WEFT_LEFT_H
#define WEFT_LEFT_H

#include "core/base/handle.h"

/* When all ranks have entered MPI_Finalize: warns of the first unreceived message of a collective
 * in the software matcher, because such a message means that ranks called different collectives.
 * Under WEFT_VERBOSE also lists what was not received, completed or freed: one line for each kind.
 */
WEFT_COLD void weft_left_report(void);

#endif
