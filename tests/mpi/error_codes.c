// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
/*
 * Error classes, codes and strings that the program adds, and their removal; handlers of every kind
 * of object; codes of the program's own going through handlers.
 */
#include "check.h"

static int calls, last_code;

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    calls++;
    last_code = *code;
}

static void on_file(MPI_File *file, int *code, ...)
{
    CHECK(*file == MPI_FILE_NULL, "the handler got another file");
    calls++;
    last_code = *code;
}

static void on_win(MPI_Win *win, int *code, ...)
{
    (void)win;
    (void)code;
}

static void expect_string(int code, const char *expected)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = -1;
    CHECK_CLASS(MPI_Error_string(code, text, &length), MPI_SUCCESS);
    CHECK(!strcmp(text, expected) && length == (int)strlen(text), "the string of %d is %s", code,
          text);
}

static void codes(void)
{
    int class, other, code, of_standard, got;
    char text[MPI_MAX_ERROR_STRING + 10];
    MPI_Add_error_class(&class);
    MPI_Add_error_class(&other);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_code(MPI_ERR_TRUNCATE, &of_standard);
    CHECK(class > MPI_ERR_LASTCODE && other > class && code > other && of_standard > code,
          "the numbers are %d, %d, %d, %d", class, other, code, of_standard);
    MPI_Error_class(code, &got);
    CHECK(got == class, "the class of a code is %d", got);
    MPI_Error_class(class, &got);
    CHECK(got == class, "the class of a class is %d", got);
    MPI_Error_class(of_standard, &got);
    CHECK(got == MPI_ERR_TRUNCATE, "the class of a code of the standard's is %d", got);
    expect_string(code, "");
    MPI_Add_error_string(code, "my own error");
    expect_string(code, "my own error");
    MPI_Add_error_string(code, "my other error");
    expect_string(code, "my other error");

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK_CLASS(MPI_Add_error_string(code, text), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Add_error_string(MPI_ERR_TAG, "mine"), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Add_error_code(code, &got), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Add_error_code(-4, &got), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_class(MPI_ERR_TAG), MPI_ERR_ARG);
    CHECK(check_class(MPI_Remove_error_class(class)) != MPI_SUCCESS,
          "a class is removed although it has a code");
    CHECK(check_class(MPI_Remove_error_code(code)) != MPI_SUCCESS,
          "a code is removed although it has a string");

    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(on_comm, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    calls = 0;
    CHECK_CLASS(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code), MPI_SUCCESS);
    CHECK(calls == 1 && last_code == code, "the handler was called %d times, with %d", calls,
          last_code);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    CHECK_CLASS(MPI_Remove_error_string(code), MPI_SUCCESS);
    CHECK(check_class(MPI_Remove_error_string(code)) != MPI_SUCCESS,
          "a string is removed although there is none");
    CHECK_CLASS(MPI_Remove_error_code(code), MPI_SUCCESS);
    CHECK_CLASS(MPI_Remove_error_class(class), MPI_SUCCESS);
    CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Error_class(code, &got), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_code(of_standard), MPI_SUCCESS);
    CHECK_CLASS(MPI_Remove_error_class(other), MPI_SUCCESS);
}

enum { ROUNDS = 1000, CLASSES = 32, CODES_OF_CLASS = 5 };

static int last_used(void)
{
    int *last = NULL, found = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &found);
    CHECK(found, "there is no MPI_LASTUSEDCODE");
    return found ? *last : 0;
}

static void one_round(int round)
{
    int class[CLASSES], code[CLASSES][CODES_OF_CLASS], got;
    for (int i = 0; i < CLASSES; i++) {
        MPI_Add_error_class(&class[i]);
        for (int j = 0; j < CODES_OF_CLASS; j++) {
            MPI_Add_error_code(class[i], &code[i][j]);
            expect_string(code[i][j], "");
            MPI_Add_error_string(code[i][j], "removed in the same round");
        }
    }
    for (int i = 0; i < CLASSES; i++) {
        int last = class[(i + round) % CLASSES], *of = code[(i + round) % CLASSES];
        for (int j = 0; j < CODES_OF_CLASS; j++) {
            MPI_Error_class(of[j], &got);
            CHECK(got == last, "the class of a code is %d, not %d", got, last);
            CHECK(check_class(MPI_Remove_error_class(last)) != MPI_SUCCESS,
                  "a class is removed although it has a code");
            CHECK_CLASS(MPI_Remove_error_string(of[j]), MPI_SUCCESS);
            CHECK_CLASS(MPI_Remove_error_code(of[j]), MPI_SUCCESS);
        }
        CHECK_CLASS(MPI_Remove_error_class(last), MPI_SUCCESS);
        CHECK_CLASS(MPI_Error_class(last, &got), MPI_ERR_ARG);
    }
}

/* Removed numbers come again: no round needs more of them than the first. */
static void rounds(void)
{
    int last = 0;
    for (int round = 0; round < ROUNDS; round++) {
        one_round(round);
        if (round == 0)
            last = last_used();
    }
    CHECK(last_used() == last, "after %d rounds the last code is %d, after one it was %d",
          (int)ROUNDS, last_used(), last);
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A round costs the same however many there were before, and no memory. */
static void fast_rounds(void)
{
    enum { FAST_ROUNDS = 10000 };
    int class[CLASSES], code[CLASSES][CODES_OF_CLASS];
    bool is_short = check_setting("WEFT_TEST_SHORT", 0); /* memory checkers take their own */
    double begin = processor_seconds();
    long peak = 0;
    for (int round = 0; round < (is_short ? ROUNDS : FAST_ROUNDS); round++) {
        for (int i = 0; i < CLASSES; i++) {
            MPI_Add_error_class(&class[i]);
            for (int j = 0; j < CODES_OF_CLASS; j++)
                MPI_Add_error_code(class[i], &code[i][j]);
        }
        for (int i = 0; i < CLASSES; i++) {
            for (int j = 0; j < CODES_OF_CLASS; j++)
                MPI_Remove_error_code(code[i][j]);
            MPI_Remove_error_class(class[i]);
        }
        if (round == 0)
            peak = check_peak_kib();
    }
    double took = processor_seconds() - begin;
    CHECK(is_short || took < 1.0, "%d rounds took %.2f s of the processor", (int)FAST_ROUNDS, took);
    CHECK(is_short || check_peak_kib() <= peak + 64, "the rounds took %ld KiB of memory",
          check_peak_kib() - peak);
}

/* A handler is for one kind of object. */
static void kinds(void)
{
    MPI_Errhandler comm, file, win, found;
    MPI_Comm_create_errhandler(on_comm, &comm);
    MPI_File_create_errhandler(on_file, &file);
    MPI_Win_create_errhandler(on_win, &win);
    CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, file), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, win), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_File_set_errhandler(MPI_FILE_NULL, comm), MPI_ERR_ERRHANDLER);
    MPI_File_get_errhandler(MPI_FILE_NULL, &found);
    CHECK(found == MPI_ERRORS_RETURN, "the first handler of files is not MPI_ERRORS_RETURN");
    MPI_Errhandler_free(&found);
    MPI_File_set_errhandler(MPI_FILE_NULL, file);
    MPI_File_get_errhandler(MPI_FILE_NULL, &found);
    CHECK(found == file, "the handler of files is another");
    MPI_Errhandler_free(&found);
    calls = 0;
    MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO);
    CHECK(calls == 1 && last_code == MPI_ERR_IO, "the handler of files was called %d times", calls);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    CHECK(found == MPI_ERRORS_ABORT, "MPI_ERRORS_ABORT is not what was set");
    MPI_Errhandler_free(&found);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&comm);
    MPI_Errhandler_free(&file);
    MPI_Errhandler_free(&win);
    CHECK_CLASS(MPI_Errhandler_free(&win), MPI_ERR_ERRHANDLER);
}

int main(int argc, char **argv)
{
    int early;
    MPI_Add_error_class(&early); /* allowed before MPI_Init */
    check_begin(&argc, &argv, 1);
    check_errors_return();
    CHECK(early == MPI_ERR_LASTCODE + 1, "a class added before MPI_Init is %d", early);
    codes();
    rounds();
    fast_rounds();
    kinds();
    return check_done();
}
