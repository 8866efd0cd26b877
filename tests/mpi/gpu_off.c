// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,rxm,net-soft seconds=60
/*
 * The buffers of rank 0 are in GPU memory, and rank 1 has no GPU (WEFT_GPU=off): messages of all
 * lengths in both directions.
 */
#include "gpu.h"

static void set_off(void)
{
    const char *rank = getenv("PMIX_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    if (rank && !strcmp(rank, "1"))
        setenv("WEFT_GPU", "off", 1);
    else
        gpu_begin();
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 8, 5000, 100000, 1 << 20, 5000000};
    set_off();
    check_begin(&argc, &argv, 2);
    enum gpu_kind kind = check.rank == 0 ? GPU_DEVICE : GPU_HOST;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int sender = 0; sender < 2; sender++) {
            size_t bytes = (size_t)sizes[i];
            struct gpu_buffer b = gpu_buffer_new(kind, bytes);
            char *wanted = check_alloc(bytes);
            check_step("%zu bytes from rank %d", bytes, sender);
            check_fill(wanted, bytes, sender, (int)i, 0);
            if (check.rank == sender) {
                memcpy(b.host, wanted, bytes);
                gpu_put(&b);
                MPI_Send(b.data, sizes[i], MPI_BYTE, 1 - sender, 1, MPI_COMM_WORLD);
            } else {
                MPI_Recv(b.data, sizes[i], MPI_BYTE, sender, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                gpu_get(&b);
                CHECK(!memcmp(b.host, wanted, bytes), "%zu bytes: wrong data", bytes);
            }
            gpu_buffer_free(&b);
            free(wanted);
        }
    return check_done();
}
