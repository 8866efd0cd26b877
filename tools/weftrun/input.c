// SPDX-License-Identifier: BSD-3-Clause
/*
 * Standard input.
 *
 * Invariant: one rank (--stdin, by default rank 0) inherits a file or pipe, so nothing is copied or
 * read ahead, and unread data stay for the next reader (a shell's read loop). Only a terminal is
 * forwarded through a pipe, because the rank's process group is not the terminal's foreground group
 * and may not read it. weftrun reads the terminal only while it is in the foreground. With --stdin
 * all each rank opens a file for itself.
 */
#include "input.h"
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static struct {
    int reader; /* the rank, READER_NONE or READER_ALL */
    int null;
    int copy;              /* the file as the last rank has opened it, or -1 */
    int pipe_in, pipe_out; /* forward a terminal; -1 if not used or closed */
    char buf[4096];
    size_t begin, end;
    bool eof;
} input = {.null = -1, .copy = -1, .pipe_in = -1, .pipe_out = -1};

int weft_input_start(int reader)
{
    int fds[2];
    input.reader = reader;
    input.null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (input.null < 0) {
        weft_lines_print("/dev/null cannot be opened: %s.", strerror(errno));
        return -1;
    }
    if (reader < 0 || !isatty(0))
        return 0;
    if (pipe2(fds, O_CLOEXEC) || fcntl(fds[1], F_SETFL, O_NONBLOCK)) {
        weft_lines_print("No pipe for the input of rank %d: %s.", reader, strerror(errno));
        return -1;
    }
    input.pipe_out = fds[0];
    input.pipe_in = fds[1];
    return 0;
}

/* Opens stdin, a regular file, at its present position. */
static int copy_file(void)
{
    if (input.copy >= 0)
        close(input.copy);
    input.copy = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    lseek(input.copy, lseek(0, 0, SEEK_CUR), SEEK_SET);
    return input.copy >= 0 ? input.copy : input.null;
}

int weft_input_none(void)
{
    return input.null;
}

int weft_input_of(int rank)
{
    if (input.reader == READER_ALL)
        return copy_file();
    if (rank != input.reader)
        return input.null;
    return input.pipe_out >= 0 ? input.pipe_out : 0;
}

void weft_input_started(int rank)
{
    if (rank != input.reader)
        return;
    if (input.pipe_out >= 0) {
        close(input.pipe_out);
        input.pipe_out = -1;
    } else {
        dup2(input.null, 0); /* the rank is the only reader, so the writer notices its end */
    }
}

int weft_input_poll(struct pollfd *fds, bool *again)
{
    *again = false;
    if (input.pipe_in < 0)
        return 0;
    if (input.begin < input.end) {
        *fds = (struct pollfd){.fd = input.pipe_in, .events = POLLOUT};
        return 1;
    }
    if (tcgetpgrp(0) != getpgrp()) {
        *again = true;
        return 0;
    }
    *fds = (struct pollfd){.fd = 0, .events = POLLIN};
    return 1;
}

static void end_forwarding(void)
{
    if (input.pipe_in >= 0)
        close(input.pipe_in);
    input.pipe_in = -1;
}

void weft_input_move(void)
{
    if (input.pipe_in < 0)
        return;
    if (input.begin == input.end) {
        ssize_t n = read(0, input.buf, sizeof input.buf);
        if (n == 0)
            end_forwarding();
        if (n <= 0)
            return;
        input.begin = 0;
        input.end = (size_t)n;
    }
    ssize_t n = write(input.pipe_in, input.buf + input.begin, input.end - input.begin);
    if (n > 0)
        input.begin += (size_t)n;
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        end_forwarding();
}

void weft_input_ended(int rank)
{
    if (rank == input.reader)
        weft_input_stop();
}

void weft_input_stop(void)
{
    end_forwarding();
    if (input.pipe_out >= 0)
        close(input.pipe_out);
    input.pipe_out = -1;
}
