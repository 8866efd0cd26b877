// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,shm-copy seconds=40
/*
 * The kernel begins to refuse copies between processes while the job runs (a filter of system
 * calls): first the sender may not write into the receiver's memory, then the receiver may not read
 * the sender's. Messages, contiguous and strided, arrive all the same.
 *
 * With WEFT_TEST_REFUSE=first everything is refused before MPI_Init: the library finds out there.
 */
#include "check.h"
#include "refuse.h"

#include <sys/syscall.h>

enum { TAG = 3, ELEMENTS = 300000, TIMES = 6, SKIP = 77 };

static void exchange(const char *when, MPI_Datatype strided)
{
    int *flat = check_alloc(ELEMENTS * sizeof *flat);
    int *holes = check_alloc(2 * ELEMENTS * sizeof *holes);
    check_step("%s", when);
    for (int turn = 0; turn < TIMES; turn++) {
        bool with_holes = turn % 2;
        if (check.rank == 0) {
            for (int i = 0; i < ELEMENTS; i++)
                flat[i] = i * 3 + turn;
            MPI_Send(flat, ELEMENTS, MPI_INT, 1, TAG, MPI_COMM_WORLD);
            continue;
        }
        int wrong = 0;
        memset(flat, 0, ELEMENTS * sizeof *flat);
        memset(holes, 0, 2 * ELEMENTS * sizeof *holes);
        MPI_Recv(with_holes ? holes : flat, with_holes ? 1 : ELEMENTS,
                 with_holes ? strided : MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < ELEMENTS; i++)
            wrong += (with_holes ? holes[2 * i] : flat[i]) != i * 3 + turn;
        CHECK(wrong == 0, "%s, message %d: %d of %d elements are wrong", when, turn, wrong,
              ELEMENTS);
    }
    free(flat);
    free(holes);
}

int main(int argc, char **argv)
{
    MPI_Datatype strided;
    if (getenv("WEFT_TEST_REFUSE") &&
        !(refuse(SYS_process_vm_writev) && refuse(SYS_process_vm_readv)))
        return SKIP;
    check_begin(&argc, &argv, 2);
    MPI_Type_vector(ELEMENTS, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    exchange("as the kernel allows", strided);
    bool able = check.rank != 0 || refuse(SYS_process_vm_writev);
    exchange("the sender may not write", strided);
    able = (check.rank != 1 || refuse(SYS_process_vm_readv)) && able;
    exchange("the receiver may not read either", strided);
    CHECK(able, "this kernel has no filters of system calls");
    MPI_Type_free(&strided);
    return check_done();
}
