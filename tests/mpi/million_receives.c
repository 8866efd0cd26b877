// SPDX-License-Identifier: BSD-3-Clause
/* 2^20 receives are posted, then their messages come in another order. */
#include "million.h"

int main(int argc, char **argv)
{
    return million_main(argc, argv, false);
}
