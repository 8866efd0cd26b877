// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm-push,rxm-small,rxm-unpaid,soft-small,shm,shm-copy,shm-small seconds=90
// run: ranks=4 lanes=shm-unpaid,mixed,mixed-soft seconds=90
// run: ranks=2 lanes=rxm,rxm-soft,net-soft seconds=90
/* Cancels race against receives: short enough for every lane and every tool. */
#include "cancel_race.h"

int main(int argc, char **argv)
{
    return cancel_race(argc, argv, 3000);
}
