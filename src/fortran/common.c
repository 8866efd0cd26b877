// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions that the external procedures share: special addresses, strings, memory, and errors.
 */
#include "fortran/glue.h"

#include <stdio.h>
#include <string.h>

void *weft_fortran_special(void *address)
{
    if (WEFT_FORTRAN_IS(address, BOTTOM))
        return MPI_BOTTOM;
    if (WEFT_FORTRAN_IS(address, IN_PLACE))
        return MPI_IN_PLACE;
    if (WEFT_FORTRAN_IS(address, BUFFER_AUTOMATIC))
        return MPI_BUFFER_AUTOMATIC;
    if (WEFT_FORTRAN_IS(address, UNWEIGHTED))
        return MPI_UNWEIGHTED;
    if (WEFT_FORTRAN_IS(address, WEIGHTS_EMPTY))
        return MPI_WEIGHTS_EMPTY;
    return address;
}

void *weft_fortran_allocate(size_t n, size_t size)
{
    void *space = malloc(n && size ? n * size : 1);
    if (!space) {
        fprintf(stderr, "libmpifort_abi: no memory for %zu arguments of %zu bytes\n", n, size);
        PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
        abort();
    }
    return space;
}

char *weft_fortran_text(const char *text, size_t length, char *few)
{
    while (length && *text == ' ')
        text++, length--;
    return weft_fortran_name(text, length, few);
}

char *weft_fortran_name(const char *text, size_t length, char *few)
{
    while (length && text[length - 1] == ' ')
        length--;
    char *copy = few && length < WEFT_FORTRAN_TEXT ? few : weft_fortran_allocate(length + 1, 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void weft_fortran_pad(char *result, size_t length, const char *text)
{
    size_t used = strnlen(text, length);
    memcpy(result, text, used);
    memset(result + used, ' ', length - used);
}

void weft_fortran_blocks(MPI_Comm comm, bool neighbors, void *sendbuf, int *sends, int *receives)
{
    int status = MPI_UNDEFINED, inter = 0, weighted;
    *sends = *receives = 0;
    if (comm == MPI_COMM_NULL)
        return;
    if (neighbors)
        PMPI_Topo_test(comm, &status);
    if (!neighbors) {
        PMPI_Comm_test_inter(comm, &inter);
        if (inter)
            PMPI_Comm_remote_size(comm, sends);
        else
            PMPI_Comm_size(comm, sends);
        *receives = *sends;
    } else if (status == MPI_CART) {
        PMPI_Cartdim_get(comm, sends);
        *receives = *sends *= 2;
    } else if (status == MPI_GRAPH) {
        int rank;
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, sends);
        *receives = *sends;
    } else if (status == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, receives, sends, &weighted);
    }
    if (WEFT_FORTRAN_IS(sendbuf, IN_PLACE))
        *sends = 0;
}

static void call_error_handler(const struct weft_fortran_call *call, int code)
{
    switch (call->on) {
    case WEFT_FORTRAN_COMM:
        PMPI_Comm_call_errhandler(weft_Comm_of(call->handle), code);
        break;
    case WEFT_FORTRAN_FILE:
        PMPI_File_call_errhandler(weft_File_of(call->handle), code);
        break;
    case WEFT_FORTRAN_WIN:
        PMPI_Win_call_errhandler(weft_Win_of(call->handle), code);
        break;
    case WEFT_FORTRAN_SESSION:
        PMPI_Session_call_errhandler(weft_Session_of(call->handle), code);
        break;
    default:
        PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    }
}

int weft_fortran_raise(int error_class, struct weft_fortran_call *call, const char *sentence)
{
    char text[MPI_MAX_ERROR_STRING];
    int code = error_class;
    snprintf(text, sizeof text, "%s: %s", call->name, sentence);
    if (PMPI_Add_error_code(error_class, &code) == MPI_SUCCESS)
        PMPI_Add_error_string(code, text);
    call->code = code;
    call_error_handler(call, code);
    finish(call->ierror, code);
    return code;
}
