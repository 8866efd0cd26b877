// SPDX-License-Identifier: BSD-3-Clause
/* Cancels race against receives over 100000 messages, half of them each way. */
#include "cancel_race.h"

int main(int argc, char **argv)
{
    return cancel_race(argc, argv, 50000);
}
