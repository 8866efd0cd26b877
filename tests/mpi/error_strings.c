// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
/* Every error class has a text of its own and is its own class, those of MPI_T too; what is no code
 * is refused. */
#include "check.h"

enum { STANDARD = 63, FIRST_OF_TOOL = MPI_T_ERR_CANNOT_INIT, CLASSES = STANDARD + 18 };

int main(int argc, char **argv)
{
    static char texts[CLASSES][MPI_MAX_ERROR_STRING];
    check_begin(&argc, &argv, 1);
    check_errors_return();
    for (int i = 0; i < CLASSES; i++) {
        int len = -1, class = -1, code = i < STANDARD ? i : FIRST_OF_TOOL + i - STANDARD;
        memset(texts[i], 'x', sizeof texts[i]);
        CHECK_CLASS(MPI_Error_string(code, texts[i], &len), MPI_SUCCESS);
        CHECK(len > 0 && len < MPI_MAX_ERROR_STRING && texts[i][len] == '\0' &&
                  (int)strlen(texts[i]) == len,
              "text of code %d: length %d", code, len);
        MPI_Error_class(code, &class);
        CHECK(class == code, "class of code %d is %d", code, class);
        for (int other = 0; other < i; other++) {
            CHECK(strcmp(texts[i], texts[other]) != 0, "code %d has the text of another: %s", code,
                  texts[i]);
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
    CHECK_CLASS(MPI_Error_string(FIRST_OF_TOOL - 1, text, &len), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Error_string(MPI_T_ERR_PVAR_NO_ATOMIC + 1, text, &len), MPI_ERR_ARG);
    return check_done();
}
