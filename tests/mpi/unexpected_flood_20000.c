// SPDX-License-Identifier: BSD-3-Clause
/* 20000 small messages lie unexpected and are all received, in order and in reverse. */
#include "flood.h"

int main(int argc, char **argv)
{
    return flood_main(argc, argv, 20000);
}
