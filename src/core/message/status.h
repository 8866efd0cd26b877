// SPDX-License-Identifier: BSD-3-Clause
/*
 * The members of a status that the user reads by functions only: indices of MPI_internal.
 */
#ifndef WEFT_STATUS_H
#define WEFT_STATUS_H

enum weft_status_member { WEFT_STATUS_BYTES_LOW, WEFT_STATUS_BYTES_HIGH, WEFT_STATUS_CANCELLED };

#endif
