// SPDX-License-Identifier: BSD-3-Clause
/*
 * Error classes, codes and strings of the user: see error_code.h.
 *
 * Invariant: codes[i] describes the number FIRST + i. A removed number has the class NO_CLASS.
 */
#include "core/object/error_code.h"
#include "core/object/error.h"
#include "core/object/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = MPI_ERR_LASTCODE + 1, NO_CLASS = -1 };

struct code {
    int class;
    char *text;
};

int weft_error_code_last = MPI_ERR_LASTCODE;
static struct code *codes;

static struct code *find(int number)
{
    if (number < FIRST || number > weft_error_code_last)
        return NULL;
    struct code *code = &codes[number - FIRST];
    return code->class == NO_CLASS ? NULL : code;
}

static bool is_class(int number)
{
    char text[8];
    const struct code *code = find(number);
    if (code)
        return code->class == number;
    return number < FIRST && weft_error_text(number, text, sizeof text);
}

static int no_code(int number, const char *what)
{
    return weft_error_set(MPI_ERR_ARG,
                          "%d is no error %s that this program has added; was it removed?", number,
                          what);
}

/* Takes a removed number, or else the next one. */
static int take_number(void)
{
    for (int number = FIRST; number <= weft_error_code_last; number++)
        if (!find(number))
            return number;
    codes = weft_memory_grow(codes, (size_t)(weft_error_code_last + 1 - FIRST), sizeof *codes,
                             "error codes");
    return ++weft_error_code_last;
}

void weft_error_class_add(int *number)
{
    *number = take_number();
    codes[*number - FIRST] = (struct code){.class = *number};
}

int weft_error_code_add(int errorclass, int *number)
{
    if (!is_class(errorclass))
        return weft_error_set(MPI_ERR_ARG, "%d is no error class", errorclass);
    *number = take_number();
    codes[*number - FIRST] = (struct code){.class = errorclass};
    return MPI_SUCCESS;
}

int weft_error_string_set(int number, const char *text)
{
    struct code *code = find(number);
    if (!code)
        return no_code(number, "code or class");
    if (strnlen(text, MPI_MAX_ERROR_STRING) >= MPI_MAX_ERROR_STRING)
        return weft_error_set(MPI_ERR_ARG,
                              "the string has more than the %d characters that it can "
                              "have",
                              MPI_MAX_ERROR_STRING - 1);
    free(code->text);
    code->text = weft_memory_copy(text);
    return MPI_SUCCESS;
}

static int remove_number(int number)
{
    struct code *code = find(number);
    if (code->text)
        return weft_error_set(MPI_ERR_OTHER,
                              "%d has a string still; call MPI_Remove_error_string first", number);
    code->class = NO_CLASS;
    return MPI_SUCCESS;
}

int weft_error_class_remove(int number)
{
    const struct code *class = find(number);
    if (!class || class->class != number)
        return no_code(number, "class");
    for (int other = FIRST; other <= weft_error_code_last; other++)
        if (other != number && codes[other - FIRST].class == number)
            return weft_error_set(MPI_ERR_OTHER,
                                  "class %d has codes still, %d is one; call "
                                  "MPI_Remove_error_code first",
                                  number, other);
    return remove_number(number);
}

int weft_error_code_remove(int number)
{
    const struct code *code = find(number);
    if (!code || code->class == number)
        return no_code(number, "code");
    return remove_number(number);
}

int weft_error_string_remove(int number)
{
    struct code *code = find(number);
    if (!code)
        return no_code(number, "code or class");
    if (!code->text)
        return weft_error_set(MPI_ERR_OTHER, "%d has no string", number);
    free(code->text);
    code->text = NULL;
    return MPI_SUCCESS;
}

int weft_error_code_class(int number)
{
    const struct code *code = find(number);
    return code ? code->class : NO_CLASS;
}

const char *weft_error_code_text(int number)
{
    const struct code *code = find(number);
    return code ? code->text ? code->text : "" : NULL;
}
