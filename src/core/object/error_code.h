// SPDX-License-Identifier: BSD-3-Clause
/*
 * Error classes, codes and strings that users add (MPI 5.0 section 9.5). They exist before, during
 * and after MPI.
 *
 * Invariants:
 *  - Numbers of the user begin above MPI_ERR_LASTCODE. A number that was removed is given out again
 *    before a new one, so that memory follows the codes that exist at a time.
 *  - A code belongs to one class; a class of the user is a code that belongs to itself.
 *
 * Functions that can fail return an MPI error class, the sentence said.
 */
#ifndef WEFT_ERROR_CODE_H
#define WEFT_ERROR_CODE_H

#include <stdbool.h>

/* The value of the attribute MPI_LASTUSEDCODE. */
extern int weft_error_code_last;

/* A new class. */
int weft_error_class_add(int *number);

/* A new code of a class: the standard's or the user's. */
int weft_error_code_add(int errorclass, int *number);

/* Sets what MPI_Error_string tells of a user's code or class. */
int weft_error_string_set(int number, const char *text);

/* Takes them back. A class that has codes, and a number that has a string, stay: remove these
 * first. */
int weft_error_class_remove(int number);
int weft_error_code_remove(int number);
int weft_error_string_remove(int number);

/* The class of a user's code, or -1 if it is none. */
int weft_error_code_class(int number);

/* The string of a user's code: "" when none was set; NULL if it is no code. */
const char *weft_error_code_text(int number);

#endif
