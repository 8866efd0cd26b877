// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=1 rule=buffer-on-stack
 * A coroutine posts a receive into memory of the heap, above its own stack, and the main context
 * completes it. Then a function of the main context returns while a local variable of it is the
 * buffer of a receive. */
#include <mpi.h>
#include <stdlib.h>
#include <ucontext.h>

enum { N = 16, STACK = 1 << 20 };

static ucontext_t main_context, coroutine;
static MPI_Request request;
static int *buffer;

static void receive(void)
{
    MPI_Irecv(buffer, N, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
}

static void post(void)
{
#ifdef CORRECTED
    static int in[256];
#else
    int in[256];
#endif
    MPI_Irecv(in, N, MPI_INT, 0, 0, MPI_COMM_WORLD, &request); // finding
}

static void complete(void)
{
    MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    char *memory = malloc(STACK + N * sizeof *buffer);
    if (!memory)
        return 1;
    MPI_Init(&argc, &argv);
    buffer = (int *)(void *)(memory + STACK);
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = memory;
    coroutine.uc_stack.ss_size = STACK;
    coroutine.uc_link = &main_context;
    makecontext(&coroutine, receive, 0);
    swapcontext(&main_context, &coroutine);
    complete();
    post();
    complete();
    free(memory);
    MPI_Finalize();
    return 0;
}
