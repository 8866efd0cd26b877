// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm seconds=300 memory=2
// run: ranks=1 lanes=self seconds=60 memory=2
/* 2^20 receives are posted, then their messages come in another order. */
#include "million.h"

int main(int argc, char **argv)
{
    return million_main(argc, argv, false);
}
