// SPDX-License-Identifier: BSD-3-Clause
/*
 * Error classes, codes and strings of the user: see error_code.h.
 *
 * Invariants: codes[i] describes the number FIRST + i. A removed number has the class NO_CLASS and
 * is in the free list. `members` of a class counts its codes without itself, so adding and removing
 * take constant time.
 */
#include "core/base/error_code.h"
#include "core/base/error.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = MPI_ERR_LASTCODE + 1, NO_CLASS = -1 };

struct code {
    int class;
    int members; /* of a class: its codes */
    int next;    /* of a removed number: the next in the free list, or 0 */
    char *text;
};

int weft_error_code_last = MPI_ERR_LASTCODE;
static struct code *codes;
static int space;
static int removed; /* first number of the free list, or 0 */

static struct code *find_code(int number)
{
    if (number < FIRST || number > weft_error_code_last)
        return NULL;
    struct code *code = &codes[number - FIRST];
    return code->class == NO_CLASS ? NULL : code;
}

static bool is_class(int number)
{
    char text[8];
    const struct code *code = find_code(number);
    if (code)
        return code->class == number;
    return number < FIRST && weft_error_text(number, text, sizeof text);
}

static int no_code(int number, const char *what)
{
    return weft_error_set(
        MPI_ERR_ARG, "the program has not added an error %s %d, or has removed it", what, number);
}

/* Takes a removed number, or else the next one. Returns 0 if memory is short. */
static int take_number(void)
{
    int number = removed, used = weft_error_code_last + 1 - FIRST;
    if (number) {
        removed = codes[number - FIRST].next;
        return number;
    }
    if (used == space) {
        int wanted = space ? 2 * space : 16;
        struct code *more = realloc(codes, (size_t)wanted * sizeof *more);
        if (!more)
            return 0;
        codes = more;
        space = wanted;
    }
    return ++weft_error_code_last;
}

static int add(int class, int *number)
{
    int taken = take_number();
    if (!taken)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for another error code");
    struct code *parent = find_code(class);
    if (parent)
        parent->members++;
    codes[taken - FIRST] = (struct code){.class = class == NO_CLASS ? taken : class};
    *number = taken;
    return MPI_SUCCESS;
}

int weft_error_class_add(int *number)
{
    return add(NO_CLASS, number);
}

int weft_error_code_add(int errorclass, int *number)
{
    if (!is_class(errorclass))
        return weft_error_set(MPI_ERR_ARG,
                              "there is no error class %d; MPI_Add_error_class adds classes",
                              errorclass);
    return add(errorclass, number);
}

int weft_error_string_set(int number, const char *text)
{
    struct code *code = find_code(number);
    if (!code)
        return no_code(number, "code or class");
    if (strnlen(text, MPI_MAX_ERROR_STRING) >= MPI_MAX_ERROR_STRING)
        return weft_error_set(MPI_ERR_ARG,
                              "the string has more than the %d characters that it can "
                              "have",
                              MPI_MAX_ERROR_STRING - 1);
    char *copy = strdup(text);
    if (!copy)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for an error string");
    free(code->text);
    code->text = copy;
    return MPI_SUCCESS;
}

static int remove_number(int number)
{
    struct code *code = find_code(number);
    if (code->text)
        return weft_error_set(MPI_ERR_OTHER,
                              "%d has a string still; call MPI_Remove_error_string first", number);
    struct code *parent = find_code(code->class);
    if (parent && parent != code)
        parent->members--;
    *code = (struct code){.class = NO_CLASS, .next = removed};
    removed = number;
    return MPI_SUCCESS;
}

int weft_error_class_remove(int number)
{
    const struct code *class = find_code(number);
    if (!class || class->class != number)
        return no_code(number, "class");
    if (class->members)
        return weft_error_set(MPI_ERR_OTHER,
                              "class %d has %d codes still; call MPI_Remove_error_code first",
                              number, class->members);
    return remove_number(number);
}

int weft_error_code_remove(int number)
{
    const struct code *code = find_code(number);
    if (!code || code->class == number)
        return no_code(number, "code");
    return remove_number(number);
}

int weft_error_string_remove(int number)
{
    struct code *code = find_code(number);
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
    const struct code *code = find_code(number);
    return code ? code->class : NO_CLASS;
}

const char *weft_error_code_text(int number)
{
    const struct code *code = find_code(number);
    return code ? code->text ? code->text : "" : NULL;
}
