// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two sides of an inter-communicator that have processes of several jobs exchange the contacts of
 * their processes, and the keys with which each pair of them signs.
 */
#ifndef WEFT_PAIRING_H
#define WEFT_PAIRING_H

#include "core/comm/sides.h"

/* Exchanges the contacts of both groups. *theirs becomes the other group; NULL: it cannot be made
 * here, with the error sentence set. *first: the local group comes first in a merged one. Returns
 * an MPI error class. */
int weft_pairing_swap(const struct weft_sides *sides, struct weft_group **theirs, bool *first);

#endif
