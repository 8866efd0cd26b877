// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft seconds=400 memory=1 # alone: a round trip a cancel
// run: ranks=2 lanes=shm seconds=90 memory=1
/* Cancels race against receives over 100000 messages, half of them each way. */
#include "cancel_race.h"

int main(int argc, char **argv)
{
    return cancel_race(argc, argv, 50000);
}
