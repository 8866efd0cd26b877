// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm,shm-copy seconds=60
/* 2000 small messages lie unexpected and are all received, in order and in reverse. */
#include "flood.h"

int main(int argc, char **argv)
{
    return flood_main(argc, argv, 2000);
}
