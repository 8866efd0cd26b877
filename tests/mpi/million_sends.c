// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=net-soft seconds=300 memory=2
// run: ranks=1 lanes=self seconds=60 memory=2
/* 2^20 sends are under way before the first receive is posted. */
#include "million.h"

int main(int argc, char **argv)
{
    return million_main(argc, argv, true);
}
