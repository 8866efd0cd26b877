// SPDX-License-Identifier: BSD-3-Clause
/*
 * The rank's side of weftrun's job file: reads the job's key, writes the rank's phase.
 *
 * PMIx_Finalize of libpmix stops waiting for a busy server after two seconds, so weftrun can see
 * the end of a process before the server has received that the process finalized. The phase in the
 * file is written before the process ends, whatever the server does.
 *
 * Invariant: the file is opened for each access, because a program may close descriptors that it
 * has not opened.
 */
#include "pmix/job_file.h"
#include "boot.h"
#include "pmix/pmix_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Opens the file of this process's own job: a job of another launcher inside of weftrun inherits
 * the variable. Returns -1 if there is none. */
static int open_file(int flags)
{
    const char *name = weft_launcher_is_weftrun() ? getenv(WEFT_JOB_FILE_VARIABLE) : NULL;
    return name ? open(name, flags | O_CLOEXEC | O_NOFOLLOW) : -1;
}

/* Without the file (a container with a /tmp of its own), weftrun uses what its server received. */
void weft_job_file_phase(int rank, unsigned char phase)
{
    int fd = open_file(O_WRONLY);
    if (fd < 0)
        return;
    ssize_t written = pwrite(fd, &phase, 1, WEFT_JOB_FILE_KEY_BYTES + rank);
    (void)written;
    close(fd);
}

int weft_job_file_ranks(void)
{
    int fd = open_file(O_RDONLY);
    off_t bytes = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    if (fd >= 0)
        close(fd);
    return bytes > WEFT_JOB_FILE_KEY_BYTES ? (int)(bytes - WEFT_JOB_FILE_KEY_BYTES) : 0;
}

bool weft_boot_key(uint32_t *key)
{
    int fd = open_file(O_RDONLY);
    bool found = fd >= 0 && pread(fd, key, sizeof *key, 0) == sizeof *key;
    if (fd >= 0)
        close(fd);
    return found;
}
