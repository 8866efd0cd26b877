// SPDX-License-Identifier: BSD-3-Clause
/*
 * The job file: makes it with the job's key, and reads the phases that ranks have written.
 *
 * Invariant: a rank's byte is read, not mapped, so that a rank that truncates the file cannot end
 * weftrun by SIGBUS. Ranks of programs that use PMIx without Weft write no byte; their phase is
 * what the PMIx server has received.
 */
#include "phases.h"
#include "lines.h"
#include "pmix/job_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

int weft_phases_open(struct job *job)
{
    unsigned char key[WEFT_JOB_FILE_KEY_BYTES];
    char *scratch = realpath(job->scratch, NULL), *name = NULL;
    int rc = -1;
    if (scratch && asprintf(&name, "%s/job%d", scratch, job->number) > 0 &&
        getrandom(key, sizeof key, 0) == sizeof key)
        job->file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (job->file >= 0 && write(job->file, key, sizeof key) == sizeof key &&
        ftruncate(job->file, WEFT_JOB_FILE_KEY_BYTES + job->size) == 0)
        rc = 0;
    else
        weft_lines_print("The job's file cannot be made in %s: %s; set TMPDIR to a directory with "
                         "free space%s.",
                         job->scratch, strerror(errno),
                         errno == EFBIG ? ", or raise the limit of files' sizes (ulimit -f)" : "");
    job->file_name = name;
    free(scratch);
    return rc;
}

void weft_phases_close(struct job *job)
{
    if (job->file >= 0) {
        unlink(job->file_name);
        close(job->file);
    }
    free(job->file_name);
    job->file_name = NULL;
    job->file = -1;
}

bool weft_phases_needs_all(const struct rank *rank)
{
    unsigned char written = 0;
    return pread(rank->job->file, &written, 1, WEFT_JOB_FILE_KEY_BYTES + rank->rank) == 1 &&
           written == WEFT_JOB_FILE_JOINED;
}

int weft_phases_update(struct rank *rank)
{
    unsigned char written = 0;
    if (pread(rank->job->file, &written, 1, WEFT_JOB_FILE_KEY_BYTES + rank->rank) == 1) {
        if (written == WEFT_JOB_FILE_JOINED)
            atomic_store(&rank->phase, PHASE_JOINED);
        else if (written == WEFT_JOB_FILE_LEFT)
            atomic_store(&rank->phase, PHASE_LEFT);
    }
    return atomic_load(&rank->phase);
}
