// SPDX-License-Identifier: BSD-3-Clause
/* An error ends the job while another thread records errors: one whole sentence is printed. The
 * sentence of a death remains when another error follows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/error.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 100 };

/* Formatting forty numbers takes most of the time of a round. */
#define TEN "%1$d%1$d%1$d%1$d%1$d%1$d%1$d%1$d%1$d%1$d"

static _Noreturn void *record(void *unused)
{
    (void)unused;
    for (int number = 1111;; number = 3333 - number)
        weft_error_set(MPI_ERR_OTHER, TEN TEN TEN TEN, number);
}

static void end_while_recording(void)
{
    pthread_t thread;
    char text[MPI_MAX_ERROR_STRING];
    pthread_create(&thread, NULL, record, NULL);
    do
        weft_error_text(MPI_ERR_OTHER, text, sizeof text);
    while (!strstr(text, "1111"));
    weft_errhandler_raise(&weft_errors_are_fatal, NULL, MPI_ERR_OTHER, "MPI_Send");
}

/* What a child writes to its stderr until it ends. */
static void output_of_child(char *text, size_t space)
{
    int ends[2];
    size_t used = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        end_while_recording();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n = 1; n > 0; used += (size_t)n) {
        n = read(ends[0], text + used, space - 1 - used);
        assert_true(n >= 0);
    }
    close(ends[0]);
    waitpid(child, NULL, 0);
    text[used] = '\0';
}

static void sentence_of_one_error(void **state)
{
    (void)state;
    for (int i = 0; i < CHILDREN; i++) {
        char text[2048];
        output_of_child(text, sizeof text);
        if (!strstr(text, "1111") == !strstr(text, "2222"))
            fail_msg("child %d printed parts of two sentences: %s", i, text);
    }
}

static void sentence_of_a_death(void **state)
{
    char text[MPI_MAX_ERROR_STRING];
    (void)state;
    weft_error_set(MPIX_ERR_PROC_FAILED, "rank 3 ended");
    weft_error_set(MPI_ERR_TRUNCATE, "too long");
    weft_error_text(MPIX_ERR_PROC_FAILED, text, sizeof text);
    assert_string_equal(text, "a process that the operation needs is dead: rank 3 ended");
    weft_error_text(MPI_ERR_TRUNCATE, text, sizeof text);
    assert_non_null(strstr(text, "too long"));
    weft_error_text(MPI_ERR_TAG, text, sizeof text);
    assert_string_equal(text, "invalid tag");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sentence_of_one_error),
                                       cmocka_unit_test(sentence_of_a_death)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
