// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads the options for the files that ranks' output goes to, names and opens these.
 *
 * --output-filename DIR has Open MPI's layout: DIR/JOB/rank.N/stdout and stderr, N with as many
 * digits as the last rank, JOB 1 but for spawned jobs. Names of MPICH's patterns have the rank as
 * %r and the host as %h.
 */
#include "output_files.h"
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int weft_output_files_read_dir(struct output *output, const char *text)
{
    size_t n = strcspn(text, ":");
    output->only = strcmp(text + n, ":nocopy") == 0;
    if (n > 0 && (!text[n] || output->only || strcmp(text + n, ":copy") == 0)) {
        output->dir = strndup(text, n);
        return output->dir ? 0 : -1;
    }
    weft_lines_print("--output-filename takes DIR or DIR:nocopy, not \"%s\".", text);
    return -1;
}

int weft_output_files_read_pattern(struct output *output, bool err, const char *text)
{
    *(err ? &output->err : &output->out) = text;
    output->only = true;
    if (strstr(text, "%r"))
        return 0;
    weft_lines_print("The name \"%s\" of ranks' files needs %%r, which is the rank: write "
                     "\"%s.%%r\", or weftrun ... >%s for one file.",
                     text, text, text);
    return -1;
}

int weft_output_files_read(struct job *job, const char *text)
{
    char *copy = strdup(text), *rest = NULL;
    for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; word;
         word = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(word, '=');
        if (strcmp(word, "tag") == 0 || strcmp(word, "rank") == 0) {
            job->tag = true;
        } else if (strcmp(word, "timestamp") == 0) {
            job->stamp = true;
        } else if (value && (strncmp(word, "dir", 3) == 0)) {
            if (weft_output_files_read_dir(&job->output, value + 1))
                return -1;
        } else if (value && strncmp(word, "file", 4) == 0) {
            char *out, *err;
            if (asprintf(&out, "%s.%%r.out", value + 1) < 0 ||
                asprintf(&err, "%s.%%r.err", value + 1) < 0)
                return -1;
            job->output = (struct output){.out = out, .err = err};
        } else {
            weft_lines_print("--output takes tag, timestamp, dir=DIR and file=NAME, not \"%s\".",
                             word);
            return -1;
        }
    }
    return copy ? 0 : -1;
}

/* Makes all directories of a path. */
static void make_directories(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(path, 0777);
        *at = '/';
    }
}

/* Replaces %r and %h. The rank of a spawned job has the job in front, so that no two ranks have the
 * same file. To be freed. */
static char *fill_pattern(const struct job *job, const char *pattern, int rank)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    for (const char *c = pattern; out && *c; c++) {
        if (*c != '%' || !c[1])
            fputc(*c, out);
        else if (*++c == 'r' && job->number > 1)
            fprintf(out, "%d.%d", job->number, rank);
        else if (*c == 'r')
            fprintf(out, "%d", rank);
        else if (*c == 'h')
            fputs(job->host, out);
        else
            fputc(*c == '%' ? '%' : '0', out); /* %g, %p: the only process group and node */
    }
    if (out)
        fclose(out);
    return text;
}

/* The name of a file, to be freed; NULL: there is none to be, or no memory. */
static char *name_file(const struct job *job, int rank, bool err)
{
    const char *pattern = err ? job->output.err : job->output.out;
    char digits[16], *text;
    if (!job->output.dir)
        return pattern ? fill_pattern(job, pattern, rank) : NULL;
    int width = snprintf(digits, sizeof digits, "%d", job->size - 1);
    if (asprintf(&text, "%s/%d/rank.%0*d/%s", job->output.dir, job->number, width, rank,
                 err ? "stderr" : "stdout") < 0)
        return NULL;
    return text;
}

int weft_output_files_open(const struct job *job, struct rank *rank)
{
    struct stream *streams[] = {&rank->out, &rank->err};
    for (int i = 0; i < 2; i++) {
        char *name = name_file(job, rank->rank, streams[i]->err);
        if (!name)
            continue;
        make_directories(name);
        streams[i]->file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
        int error = errno;
        if (streams[i]->file < 0)
            weft_lines_print("The file %s for the output of rank %d cannot be opened: %s.", name,
                             rank->rank, strerror(error));
        free(name);
        if (streams[i]->file < 0)
            return -1;
    }
    return 0;
}
