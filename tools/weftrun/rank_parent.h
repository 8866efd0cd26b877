// SPDX-License-Identifier: BSD-3-Clause
/* The parent of a rank under Hydra. */
#ifndef WEFTRUN_RANK_PARENT_H
#define WEFTRUN_RANK_PARENT_H

/* The first argument of weftrun for this purpose, and the second in a job that goes on when ranks
 * fail; the program follows. */
#define RANK_PARENT_OPTION      "--rank-of-hydra"
#define RANK_PARENT_KEEPS_GOING "--keep-going"

/* Scripts of a shell that executes the program, whose name stands behind the script as the shell's
 * own, so that messages name it: with words that the shell reads, or with the program's words. */
#define SHELL_OF_TEXT  "eval \"exec $*\""
#define SHELL_OF_WORDS "exec \"$@\""

/* Runs a program, and ends Hydra's job if the program fails and the job does not go on then. The
 * words are those behind the first argument. Returns the program's exit code. */
int weft_rank_parent_run(char **argv);

#endif
