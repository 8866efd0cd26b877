// SPDX-License-Identifier: BSD-3-Clause
/* Every error class has a text of its own and is its own class; what is no code is refused. */
#include "check.h"

enum { CLASSES = 62 };

int main(int argc, char **argv)
{
    static char texts[CLASSES + 1][MPI_MAX_ERROR_STRING];
    check_begin(&argc, &argv, 1);
    check_errors_return();
    for (int code = 0; code <= CLASSES; code++) {
        int len = -1, class = -1;
        memset(texts[code], 'x', sizeof texts[code]);
        CHECK_CLASS(MPI_Error_string(code, texts[code], &len), MPI_SUCCESS);
        CHECK(len > 0 && len < MPI_MAX_ERROR_STRING && texts[code][len] == '\0' &&
                  (int)strlen(texts[code]) == len,
              "text of code %d: length %d", code, len);
        MPI_Error_class(code, &class);
        CHECK(class == code, "class of code %d is %d", code, class);
        for (int other = 0; other < code; other++) {
            CHECK(strcmp(texts[code], texts[other]) != 0, "codes %d and %d have one text: %s",
                  other, code, texts[code]);
        }
    }

    /* After an error its text says what was wrong with which argument. */
    char text[MPI_MAX_ERROR_STRING], number[32];
    int len = 0, code = MPI_Send(&len, 1, MPI_INT, check.size + 41, 1, MPI_COMM_WORLD);
    snprintf(number, sizeof number, "%d", check.size + 41);
    MPI_Error_string(code, text, &len);
    CHECK(strstr(text, number), "the text of a bad rank does not name it (%s): %s", number, text);
    CHECK(!strchr(text, '\n'), "the text of an error has more than one line: %s", text);

    CHECK_CLASS(MPI_Error_string(-3, text, &len), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Error_string(1 << 30, text, &len), MPI_ERR_ARG);
    return check_done();
}
