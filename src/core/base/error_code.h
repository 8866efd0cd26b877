// SPDX-License-Identifier: BSD-3-Clause
/*
 * Error classes, codes and strings that users add (MPI 5.0 section 9.5). Usable before, during and
 * after MPI.
 *
 * Invariants:
 *  - User numbers are above MPI_ERR_LASTCODE. A removed number is reused before a new one is taken,
 *    so memory is bounded by the number of codes that exist at once.
 *  - A code belongs to one class; a user's class is a code that belongs to itself.
 *
 * Functions return MPI_SUCCESS or an MPI error class that was recorded.
 */
#ifndef WEFT_ERROR_CODE_H
#define WEFT_ERROR_CODE_H

/* The value of the attribute MPI_LASTUSEDCODE. */
extern int weft_error_code_last;

/* Add a class, and a code of any class. */
int weft_error_class_add(int *number);
int weft_error_code_add(int errorclass, int *number);

/* Sets the text that MPI_Error_string returns for a user's code or class. */
int weft_error_string_set(int number, const char *text);

/* Remove a class without codes, a code or class without a string, and a string. */
int weft_error_class_remove(int number);
int weft_error_code_remove(int number);
int weft_error_string_remove(int number);

/* The class of a user's code, or -1 if there is no such code. */
int weft_error_code_class(int number);

/* The string of a user's code: "" if none was set; NULL if there is no such code. */
const char *weft_error_code_text(int number);

#endif
