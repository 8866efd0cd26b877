// SPDX-License-Identifier: BSD-3-Clause
/* The parent of a rank under Hydra. */
#ifndef WEFTRUN_RANK_PARENT_H
#define WEFTRUN_RANK_PARENT_H

/* The first argument of weftrun for this purpose; the program follows. */
#define RANK_PARENT_OPTION "--rank-of-hydra"

/* Runs a program, and ends Hydra's job if the program fails. Returns its exit code. */
int weft_rank_parent_run(char **argv);

#endif
