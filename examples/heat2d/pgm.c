// SPDX-License-Identifier: BSD-3-Clause
/*
 * PGM files; see picture.h. The header is words parted by white space, with comments from '#' to
 * the end of the line; one white space ends it.
 */
#include "picture.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A block's cells are counted in an int when they travel. */
enum { MAX_SIDE = 1 << 20, MAX_VALUES = 1 << 30 };

static const char *const cut_short = "ends before its last value";
static const char *const no_number = "has something else where a number belongs";

/* Reads the next number of at most limit. Returns NULL, or what is wrong. */
static const char *number(FILE *f, int limit, int *value)
{
    int c = getc(f);
    while (c == '#' || isspace(c)) {
        if (c == '#')
            while (c != '\n' && c != EOF)
                c = getc(f);
        else
            c = getc(f);
    }
    if (c == EOF)
        return cut_short;
    if (!isdigit(c))
        return no_number;
    for (*value = 0; isdigit(c); c = getc(f)) {
        *value = *value * 10 + (c - '0');
        if (*value > limit)
            return "has a number that is too large";
    }
    if (c != EOF && !isspace(c) && c != '#')
        return no_number;
    if (c == '#')
        ungetc(c, f);
    return NULL;
}

static const char *text_values(FILE *f, struct picture *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int value;
        const char *wrong = number(f, p->max, &value);
        if (wrong)
            return wrong;
        p->values[i] = (uint16_t)value;
    }
    return NULL;
}

static const char *binary_values(FILE *f, struct picture *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int high = p->max > 255 ? getc(f) : 0, low = getc(f);
        if (high == EOF || low == EOF)
            return cut_short;
        int value = high << 8 | low;
        if (value > p->max)
            return "has a value above its own maximum";
        p->values[i] = (uint16_t)value;
    }
    return NULL;
}

/* Returns NULL, or what is wrong with the file. */
static const char *parse(FILE *f, struct picture *p)
{
    int magic = getc(f) == 'P' ? getc(f) : 0;
    const char *wrong;
    if (magic != '2' && magic != '5')
        return "is not a PGM picture (it begins neither with P2 nor with P5)";
    if ((wrong = number(f, MAX_SIDE, &p->width)) || (wrong = number(f, MAX_SIDE, &p->height)) ||
        (wrong = number(f, 65535, &p->max)))
        return wrong;
    if (p->width < 1 || p->height < 1 || p->max < 1)
        return "has a width, height or maximum of 0";
    size_t n = (size_t)p->width * (size_t)p->height;
    if (n > MAX_VALUES)
        return "has more than 2^30 values, which is more than this program divides";
    p->values = malloc(n * sizeof *p->values);
    if (!p->values)
        return "is too large for this machine's memory";
    return magic == '2' ? text_values(f, p, n) : binary_values(f, p, n);
}

bool picture_read(struct picture *p, const char *path, char *why, size_t len)
{
    memset(p, 0, sizeof *p);
    FILE *f = fopen(path, "rb");
    if (!f) {
        snprintf(why, len, "cannot open the picture %s: %s", path, strerror(errno));
        return false;
    }
    const char *wrong = parse(f, p);
    fclose(f);
    if (wrong) {
        snprintf(why, len, "the picture %s %s", path, wrong);
        picture_free(p);
    }
    return !wrong;
}

bool picture_write_pgm(const struct picture *p, const char *path, char *why, size_t len)
{
    size_t n = (size_t)p->width * (size_t)p->height;
    FILE *f = fopen(path, "wb");
    bool good = f && fprintf(f, "P5\n%d %d\n%d\n", p->width, p->height, p->max) > 0;
    for (size_t i = 0; good && i < n; i++)
        good = (p->max <= 255 || putc(p->values[i] >> 8, f) != EOF) &&
               putc(p->values[i] & 255, f) != EOF;
    int error = errno;
    if (f && fclose(f) != 0 && good) {
        good = false;
        error = errno;
    }
    if (!good)
        snprintf(why, len, "cannot write the picture %s: %s", path, strerror(error));
    return good;
}

void picture_free(struct picture *p)
{
    free(p->values);
    p->values = NULL;
}
