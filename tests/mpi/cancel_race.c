// SPDX-License-Identifier: BSD-3-Clause
/* Cancels race against receives: short enough for every lane and every tool. */
#include "cancel_race.h"

int main(int argc, char **argv)
{
    return cancel_race(argc, argv, 3000);
}
