// SPDX-License-Identifier: BSD-3-Clause
/* 2^20 sends are under way before the first receive is posted. */
#include "million.h"

int main(int argc, char **argv)
{
    return million_main(argc, argv, true);
}
