// SPDX-License-Identifier: BSD-3-Clause
/* The file of -configfile, which holds a command line. */
#ifndef WEFTRUN_CONFIG_FILE_H
#define WEFTRUN_CONFIG_FILE_H

/* Replaces the words after the first of the command line by those of the file, with ":" between
 * lines. Returns 0, or -1 after printing the error. */
int weft_config_file_read(const char *path, int *argc, char ***argv);

#endif
