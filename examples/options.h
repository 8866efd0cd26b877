// SPDX-License-Identifier: BSD-3-Clause
/*
 * The command line of an example: each program has a table of its options, and this reads them.
 *
 * Invariant: all ranks read the same line with the same result, and only rank 0 prints.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTIONS_RUN = -1, OPTIONS_MOST = 16 };

/* An option, and where its value goes. An option without a value sets *flag. */
struct options_row {
    char letter; /* 0 ends the table */
    const char *name;
    const char *takes; /* describes the value in the error message; NULL: the option has none */
    bool *flag;
    int *number; /* a number from least to most, or */
    int least, most;
    const char **text; /* any text, or */
    void *value;       /* what read() makes of the text; it returns false if the text is wrong */
    bool (*read)(const char *text, void *value);
};

struct options {
    const char *program, *usage;
    const struct options_row *rows; /* --help is not among them */
    const char **path;              /* of the file that the program takes; NULL: it takes none, */
    const char *file;               /* and a description of that file */
    const char **instead;           /* the text of an option that replaces the file; may be NULL */
};

static bool options_number(const char *text, const struct options_row *row)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < row->least || n > row->most)
        return false;
    *row->number = (int)n;
    return true;
}

/* Stores the value of an option. Returns false if the value is wrong. */
static bool options_store(const struct options_row *row, const char *text)
{
    if (row->flag)
        *row->flag = true;
    else if (row->number)
        return options_number(text, row);
    else if (row->text)
        *row->text = text;
    else
        return row->read(text, row->value);
    return true;
}

/* Writes why the command line is wrong, or nothing. Returns true for --help. */
static bool options_parse(const struct options *o, int argc, char **argv, char *why, size_t len)
{
    struct option names[OPTIONS_MOST + 2] = {{"help", no_argument, NULL, 'h'}};
    char letters[2 * OPTIONS_MOST + 2] = "h";
    int letter;
    for (int i = 0, n = 1; o->rows[i].letter; i++) {
        const struct options_row *row = &o->rows[i];
        int takes = row->takes ? required_argument : no_argument;
        names[i + 1] = (struct option){row->name, takes, NULL, row->letter};
        letters[n++] = row->letter;
        if (row->takes)
            letters[n++] = ':';
    }
    opterr = 0;
    *why = '\0';
    while ((letter = getopt_long(argc, argv, letters, names, NULL)) != -1) {
        const struct options_row *row = o->rows;
        if (letter == 'h')
            return true;
        while (row->letter && row->letter != letter)
            row++;
        if (!row->letter)
            snprintf(why, len, "unknown option, or an option without its value");
        else if (!options_store(row, optarg))
            snprintf(why, len, "-%c takes %s", letter, row->takes);
        if (*why)
            return false;
    }
    bool takes_file = o->path && !(o->instead && *o->instead);
    if (argc - optind != (takes_file ? 1 : 0))
        snprintf(why, len, "it takes %s", o->path ? o->file : "options only");
    else if (takes_file)
        *o->path = argv[optind];
    return false;
}

/* Reads the command line. Returns OPTIONS_RUN, or the exit code of the program: after --help 0,
 * and 2 if the line is wrong. */
static int options_read(const struct options *o, int rank, int argc, char **argv)
{
    char why[200];
    bool help = options_parse(o, argc, argv, why, sizeof why);
    if (rank == 0 && help)
        fputs(o->usage, stdout);
    if (rank == 0 && *why)
        fprintf(stderr, "%s: %s; see %s -h\n", o->program, why, o->program);
    return help ? 0 : *why ? 2 : OPTIONS_RUN;
}

#endif
