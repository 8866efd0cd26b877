// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=90 # sockets: minutes
/* 20000 small messages lie unexpected and are all received, in order and in reverse. */
#include "flood.h"

int main(int argc, char **argv)
{
    return flood_main(argc, argv, 20000);
}
