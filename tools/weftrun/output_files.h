// SPDX-License-Identifier: BSD-3-Clause
/* The files of --output-filename and -outfile-pattern. */
#ifndef WEFTRUN_OUTPUT_FILES_H
#define WEFTRUN_OUTPUT_FILES_H

#include "state.h"

/* Each reads the value of an option and returns 0, or -1 after printing why: "DIR" or "DIR:nocopy"
 * of --output-filename; a name with %r of -outfile-pattern (err: -errfile-pattern), so that each
 * rank has a file of its own; "tag,timestamp,file=NAME,dir=DIR" of Open MPI 5's --output. */
int weft_output_files_read_dir(struct output *output, const char *text);
int weft_output_files_read_pattern(struct output *output, bool err, const char *text);
int weft_output_files_read(struct job *job, const char *text);

/* Opens the files of a rank, if there are to be any. Returns 0, or -1 after printing why. */
int weft_output_files_open(const struct job *job, struct rank *rank);

#endif
