// SPDX-License-Identifier: BSD-3-Clause
/*
 * Error classes, codes and strings (MPI 5.0 sections 9.4 and 9.5). All may be called at any time, by
 * any thread.
 */
#include "core/mpi/api.h"
#include "core/object/error.h"
#include "core/object/error_code.h"
#include "core/process/weft.h"

#include <string.h>

static int raised(int code, const char *function)
{
    return code == MPI_SUCCESS ? code : weft_error_raise(NULL, code, function);
}

static int null_pointer(const char *function, const char *what)
{
    return weft_error(NULL, MPI_ERR_ARG, function, "the pointer to the %s is null", what);
}

static int no_code(const char *function, int number)
{
    return weft_error(NULL, MPI_ERR_ARG, function, "%d is no error code", number);
}

WEFT_EXPORT(Error_class);
int PMPI_Error_class(int errorcode, int *errorclass)
{
    const char *function = "MPI_Error_class";
    char text[8];
    weft_enter_anytime();
    int code = MPI_SUCCESS, class = weft_error_code_class(errorcode);
    if (!errorclass)
        code = null_pointer(function, "class");
    else if (!weft_error_text(errorcode, text, sizeof text))
        code = no_code(function, errorcode);
    else
        *errorclass = class >= 0 ? class : errorcode;
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Error_string);
int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
    const char *function = "MPI_Error_string";
    char text[MPI_MAX_ERROR_STRING];
    weft_enter_anytime();
    int code = MPI_SUCCESS;
    if (!string || !resultlen) {
        code = null_pointer(function, string ? "length" : "string");
    } else if (!weft_error_text(errorcode, text, sizeof text)) {
        code = no_code(function, errorcode);
    } else {
        *resultlen = (int)strlen(text);
        memcpy(string, text, strlen(text) + 1);
    }
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Add_error_class);
int PMPI_Add_error_class(int *errorclass)
{
    const char *function = "MPI_Add_error_class";
    weft_enter_anytime();
    int code = errorclass ? raised(weft_error_class_add(errorclass), function)
                          : null_pointer(function, "class");
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Add_error_code);
int PMPI_Add_error_code(int errorclass, int *errorcode)
{
    const char *function = "MPI_Add_error_code";
    weft_enter_anytime();
    int code = errorcode ? raised(weft_error_code_add(errorclass, errorcode), function)
                         : null_pointer(function, "code");
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Add_error_string);
int PMPI_Add_error_string(int errorcode, const char *string)
{
    const char *function = "MPI_Add_error_string";
    weft_enter_anytime();
    int code = string ? raised(weft_error_string_set(errorcode, string), function)
                      : null_pointer(function, "string");
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Remove_error_class);
int PMPI_Remove_error_class(int errorclass)
{
    weft_enter_anytime();
    int code = raised(weft_error_class_remove(errorclass), "MPI_Remove_error_class");
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Remove_error_code);
int PMPI_Remove_error_code(int errorcode)
{
    weft_enter_anytime();
    int code = raised(weft_error_code_remove(errorcode), "MPI_Remove_error_code");
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Remove_error_string);
int PMPI_Remove_error_string(int errorcode)
{
    weft_enter_anytime();
    int code = raised(weft_error_string_remove(errorcode), "MPI_Remove_error_string");
    weft_leave_anytime();
    return code;
}
