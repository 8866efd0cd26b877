// SPDX-License-Identifier: BSD-3-Clause
/*
 * Conversions of arrays and strings: see frontend.h.
 */
#include "frontend/frontend.h"

#include <stdio.h>

void *front_allocate(int n, size_t size)
{
    weft_assert(n >= 0 && size > 0);
    void *array = malloc((size_t)n * size);
    if (!array) {
        fprintf(stderr, "weft: no memory to convert an array of %d handles, numbers or statuses\n",
                n);
        abort();
    }
    return array;
}

int *front_ints_in(int n, const int *array, int *few, int (*convert)(int))
{
    int *ours = array ? front_space(n, few, sizeof *few) : NULL;
    for (int i = 0; ours && i < n; i++)
        ours[i] = convert(array[i]);
    return ours;
}

void front_ints_out(int n, int *array, int (*convert)(int))
{
    for (int i = 0; i < n; i++)
        array[i] = convert(array[i]);
}

#define ARRAY(kind)                                                                                \
    MPI_##kind *front_##kind##s_in(int n, const front_##kind *array, MPI_##kind *few)              \
    {                                                                                              \
        MPI_##kind *ours = array ? front_space(n, few, sizeof *few) : NULL;                        \
        for (int i = 0; ours && i < n; i++)                                                        \
            ours[i] = front_##kind##_in(array[i]);                                                 \
        return ours;                                                                               \
    }

ARRAY(Datatype)
ARRAY(Info)
ARRAY(Request)

void front_statuses_out(int n, const MPI_Status *ours, front_Status *theirs, bool with_errors)
{
    for (int i = 0; i < n; i++) {
        front_status_out(&ours[i], &theirs[i]);
        if (with_errors)
            theirs[i].MPI_ERROR = front_code(ours[i].MPI_ERROR);
    }
}

struct front_blocks front_blocks(front_Comm theirs, bool neighbor, const void *sendbuf)
{
    MPI_Comm comm = front_Comm_in(theirs);
    int n = 0, receive = 0, inter = 0, topology = MPI_UNDEFINED, rank;
    if (!neighbor) {
        if (weft_abi_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter)
            weft_abi_Comm_remote_size(comm, &n);
        else
            weft_abi_Comm_size(comm, &n);
        return (struct front_blocks){front_buffer_in(sendbuf) == MPI_IN_PLACE ? 0 : n, n};
    }
    weft_abi_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        weft_abi_Cartdim_get(comm, &n);
        n *= 2;
    } else if (topology == MPI_GRAPH) {
        weft_abi_Comm_rank(comm, &rank);
        weft_abi_Graph_neighbors_count(comm, rank, &n);
    } else if (topology == MPI_DIST_GRAPH) {
        int weighted;
        weft_abi_Dist_graph_neighbors_count(comm, &receive, &n, &weighted);
        return (struct front_blocks){n, receive};
    }
    return (struct front_blocks){n, n};
}

void front_copy_text(char *to, size_t size, const char *from, int *length)
{
    weft_assert(size > 0);
    size_t n = strnlen(from, size - 1);
    memcpy(to, from, n);
    to[n] = 0;
    if (length)
        *length = (int)n;
}

bool front_takes_memory(const char *kind)
{
    char value[MPI_MAX_INFO_VAL] = "";
    int begun = 0, ended = 0, length = (int)sizeof value, found = 0;
    MPI_Info info;
    if (weft_abi_Initialized(&begun) || weft_abi_Finalized(&ended) || !begun || ended ||
        weft_abi_Comm_get_info(MPI_COMM_WORLD, &info))
        return false;
    weft_abi_Info_get_string(info, "mpi_memory_alloc_kinds", &length, value, &found);
    weft_abi_Info_free(&info);
    return found && strstr(value, kind) != NULL;
}
