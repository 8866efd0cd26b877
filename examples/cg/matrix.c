// SPDX-License-Identifier: BSD-3-Clause
/*
 * A sparse matrix from a Matrix Market file; see matrix.h.
 */
#include "matrix.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reader {
    FILE *file;
    const char *path;
    long line;
    bool pattern, symmetric;
    char text[1100]; /* the line; the format allows 1024 characters */
    char *why;
    size_t len;
};

static bool fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Leaves "PATH, line N, " and what is wrong in why. Returns false. */
static bool fail(struct reader *r, const char *format, ...)
{
    int used = snprintf(r->why, r->len, "%s, line %ld, ", r->path, r->line);
    if (used < 0 || (size_t)used >= r->len)
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->why + used, r->len - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

/* Gets the next line. */
static bool next_line(struct reader *r)
{
    r->line++;
    if (!fgets(r->text, sizeof r->text, r->file))
        return fail(r, "is not there: the file ends before its last entry");
    if (!strchr(r->text, '\n') && !feof(r->file))
        return fail(r, "is longer than the format allows");
    return true;
}

/* Gets the next line that is neither a comment nor empty. */
static bool next_data(struct reader *r)
{
    do {
        if (!next_line(r))
            return false;
    } while (r->text[0] == '%' || r->text[strspn(r->text, " \t\r\n")] == '\0');
    return true;
}

static bool read_header(struct reader *r)
{
    char banner[16], object[16], form[16], field[16], symmetry[16];
    if (!next_line(r))
        return false;
    if (sscanf(r->text, "%15s %15s %15s %15s %15s", banner, object, form, field, symmetry) != 5 ||
        strcasecmp(banner, "%%MatrixMarket") != 0)
        return fail(r, "does not begin a Matrix Market file with %%%%MatrixMarket and 4 words");
    if (strcasecmp(object, "matrix") != 0 || strcasecmp(form, "coordinate") != 0)
        return fail(r, "announces a %s %s, and only a matrix coordinate can be read", object, form);
    r->pattern = strcasecmp(field, "pattern") == 0;
    if (!r->pattern && strcasecmp(field, "real") != 0 && strcasecmp(field, "integer") != 0)
        return fail(r, "announces %s values, and only real, integer or pattern can be read", field);
    r->symmetric = strcasecmp(symmetry, "symmetric") == 0;
    if (!r->symmetric && strcasecmp(symmetry, "general") != 0)
        return fail(r, "says %s, and only general or symmetric can be read", symmetry);
    return true;
}

/* Takes count whole numbers from 0 to INT_MAX. Returns what follows them, or NULL. */
static const char *take_numbers(const char *text, int count, int *value)
{
    for (int i = 0; i < count; i++) {
        char *end;
        errno = 0;
        long n = strtol(text, &end, 10);
        if (errno || end == text || n < 0 || n > INT_MAX)
            return NULL;
        value[i] = (int)n;
        text = end;
    }
    return text;
}

static bool ends(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

static void add(struct matrix *m, int row, int column, double value)
{
    m->entry[m->count++] = (struct entry){row, column, value};
}

/* Adds the entries of one line of the file. */
static bool read_entry(struct reader *r, struct matrix *m)
{
    int place[2];
    double value = -1;
    if (!next_data(r))
        return false;
    const char *rest = take_numbers(r->text, 2, place);
    if (rest && !r->pattern) {
        char *end;
        value = strtod(rest, &end);
        rest = end != rest && isfinite(value) ? end : NULL;
    }
    if (!rest || !ends(rest))
        return fail(r, "is not %s",
                    r->pattern ? "a row and a column" : "a row, a column and a value");
    if (place[0] < 1 || place[0] > m->rows || place[1] < 1 || place[1] > m->rows)
        return fail(r, "names row %d, column %d of a matrix with %d of each", place[0], place[1],
                    m->rows);
    int row = place[0] - 1, column = place[1] - 1;
    if (row == column) {
        if (!r->pattern)
            add(m, row, row, value);
        return true;
    }
    for (int half = 0; half < (r->symmetric ? 2 : 1); half++) {
        add(m, half ? column : row, half ? row : column, value);
        if (r->pattern) /* an edge: one more neighbour */
            add(m, half ? column : row, half ? column : row, 1);
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int rows = (x->row > y->row) - (x->row < y->row);
    return rows ? rows : (x->column > y->column) - (x->column < y->column);
}

/* Sorts the entries and adds up those for the same place. */
static void tidy(struct matrix *m)
{
    int kept = 0;
    qsort(m->entry, (size_t)m->count, sizeof *m->entry, compare);
    for (int i = 0; i < m->count; i++) {
        if (kept > 0 && compare(&m->entry[kept - 1], &m->entry[i]) == 0)
            m->entry[kept - 1].value += m->entry[i].value;
        else
            m->entry[kept++] = m->entry[i];
    }
    m->count = kept;
}

static bool read_entries(struct reader *r, struct matrix *m)
{
    int size[3];
    if (!next_data(r))
        return false;
    const char *rest = take_numbers(r->text, 3, size);
    if (!rest || !ends(rest))
        return fail(r, "is not the numbers of rows, columns and entries");
    if (size[0] != size[1] || size[0] < 1)
        return fail(r, "says %d x %d, and a solver needs a square matrix", size[0], size[1]);
    /* A line can stand for four entries: two halves, each with a share of the diagonal. */
    if ((long long)size[2] * 4 + size[0] > INT_MAX)
        return fail(r, "says %d entries, more than this program can count", size[2]);
    m->rows = size[0];
    m->entry = malloc(((size_t)size[2] * 4 + (size_t)size[0]) * sizeof *m->entry);
    if (!m->entry)
        return fail(r, "says %d entries, and there is no memory for them", size[2]);
    for (int i = 0; i < size[2]; i++)
        if (!read_entry(r, m))
            return false;
    for (int i = 0; r->pattern && i < m->rows; i++)
        add(m, i, i, 1);
    tidy(m);
    return true;
}

bool matrix_read(struct matrix *m, const char *path, char *why, size_t len)
{
    struct reader r = {.path = path, .why = why, .len = len};
    *m = (struct matrix){.rows = 0};
    r.file = fopen(path, "r");
    if (!r.file) {
        snprintf(why, len, "cannot open the matrix %s: %s", path, strerror(errno));
        return false;
    }
    bool good = read_header(&r) && read_entries(&r, m);
    fclose(r.file);
    if (!good)
        matrix_free(m);
    return good;
}

void matrix_free(struct matrix *m)
{
    free(m->entry);
    m->entry = NULL;
}

bool matrix_is_symmetric(const struct matrix *m)
{
    for (int i = 0; i < m->count; i++) {
        struct entry mirrored = {m->entry[i].column, m->entry[i].row, 0};
        const struct entry *other =
            bsearch(&mirrored, m->entry, (size_t)m->count, sizeof mirrored, compare);
        if (!other || other->value != m->entry[i].value)
            return false;
    }
    return true;
}

void matrix_multiply(const struct matrix *m, const double *x, double *y)
{
    memset(y, 0, (size_t)m->rows * sizeof *y);
    for (int i = 0; i < m->count; i++)
        y[m->entry[i].row] += m->entry[i].value * x[m->entry[i].column];
}
