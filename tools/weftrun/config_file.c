// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads -configfile as the MPI standard describes it: each line has the options and the program of
 * one application, '#' begins a comment line, and a line that ends with '\' continues.
 *
 * Words are separated and quoted as in a shell; variables are expanded, commands are not run.
 */
#include "config_file.h"
#include "lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wordexp.h>

/* The text of a file, to be freed. NULL with errno. */
static char *read_text(const char *path)
{
    char *text = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    errno = 0;
    if (getdelim(&text, &capacity, '\0', file) < 0) {
        free(text);
        text = errno ? NULL : calloc(1, 1); /* an empty file */
    }
    fclose(file);
    return text;
}

int weft_config_file_read(const char *path, int *argc, char ***argv)
{
    wordexp_t words = {.we_offs = 1};
    int flags = WRDE_DOOFFS | WRDE_NOCMD;
    char *text = read_text(path), *next, *rest = NULL;
    if (!text) {
        weft_lines_print("The file %s of -configfile cannot be read: %s.", path, strerror(errno));
        return -1;
    }
    while ((next = strstr(text, "\\\n")))
        memset(next, ' ', 2);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        line += strspn(line, " \t");
        if (!*line || *line == '#')
            continue;
        if (((flags & WRDE_APPEND) && wordexp(":", &words, flags)) ||
            wordexp(line, &words, flags)) {
            weft_lines_print("The line \"%s\" of %s cannot be split into words: quote the "
                             "characters |&;<>(){} and close all quotes.",
                             line, path);
            return -1;
        }
        flags |= WRDE_APPEND;
    }
    free(text);
    if (!(flags & WRDE_APPEND)) {
        weft_lines_print("The file %s of -configfile names no program.", path);
        return -1;
    }
    words.we_wordv[0] = (*argv)[0];
    *argc = (int)words.we_wordc + 1;
    *argv = words.we_wordv;
    return 0;
}
