// SPDX-License-Identifier: BSD-3-Clause
/*
 * Latency and bandwidth of messages in GPU memory, between two ranks that may share a GPU: from
 * device to device, from device to host, from host to host, and what the driver takes to copy as
 * much from the device to the host. Prints microseconds of half a round trip, and MB/s. Then the
 * same for a sum of float at both ranks (MPI_Allreduce), of device and of host memory.
 *
 *     weftrun -n 2 bench/weft_gpu
 */
#include "tests/mpi/gpu.h"

enum { LONGEST = 64 << 20, SECONDS_PART = 20 /* of a second for each figure */ };

static double half_round_trip(void *data, int bytes)
{
    int times = 1, go_on = 1;
    double seconds = 0;
    while (go_on) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        for (int i = 0; i < times; i++) {
            if (check.rank == 0)
                MPI_Send(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_BYTE, 1 - check.rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (check.rank == 1)
                MPI_Send(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
        seconds = MPI_Wtime() - begin;
        go_on = seconds < 1.0 / SECONDS_PART;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        times = go_on ? 2 * times : times;
    }
    return seconds / times / 2;
}

static double allreduce(void *in, void *out, int bytes)
{
    double least = 1e9;
    for (int i = 0; i < 8; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime(), seconds;
        MPI_Allreduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        seconds = MPI_Wtime() - begin;
        least = seconds < least ? seconds : least;
    }
    return least;
}

static double copy_by_driver(void *device, void *host, size_t bytes)
{
    int times = 0;
    double begin = MPI_Wtime(), seconds = 0;
    for (; seconds < 1.0 / SECONDS_PART; times++, seconds = MPI_Wtime() - begin)
        gpu_copy(GPU_DEVICE, host, device, bytes);
    return seconds / times;
}

int main(int argc, char **argv)
{
    gpu_begin();
    check_begin(&argc, &argv, 2);
    void *device = gpu_alloc(GPU_DEVICE, LONGEST), *host = gpu_alloc(GPU_HOST, LONGEST);
    memset(host, 0, LONGEST);
    gpu_copy(GPU_DEVICE, device, host, LONGEST);
    if (check.rank == 0)
        printf("%10s %22s %22s %22s %22s\n", "bytes", "device-device", "device-host", "host-host",
               "driver's copy");
    for (int bytes = 1; bytes <= LONGEST; bytes *= 8) {
        check_step("%d bytes", bytes);
        double figures[] = {
            half_round_trip(device, bytes), half_round_trip(check.rank == 0 ? device : host, bytes),
            half_round_trip(host, bytes), copy_by_driver(device, host, (size_t)bytes)};
        if (check.rank == 0) {
            printf("%10d", bytes);
            for (int i = 0; i < 4; i++)
                printf(" %9.2f us %5.0f MB/s", figures[i] * 1e6, bytes / figures[i] / 1e6);
            printf("\n");
            fflush(stdout);
        }
    }
    void *device_out = gpu_alloc(GPU_DEVICE, LONGEST), *host_out = gpu_alloc(GPU_HOST, LONGEST);
    if (check.rank == 0)
        printf("%10s %22s %22s\n", "bytes", "allreduce, device", "allreduce, host");
    for (int bytes = 64 << 10; bytes <= LONGEST; bytes *= 4) {
        check_step("allreduce of %d bytes", bytes);
        double figures[] = {allreduce(device, device_out, bytes), allreduce(host, host_out, bytes)};
        if (check.rank == 0)
            printf("%10d %9.2f us %5.0f MB/s %9.2f us %5.0f MB/s\n", bytes, figures[0] * 1e6,
                   bytes / figures[0] / 1e6, figures[1] * 1e6, bytes / figures[1] / 1e6);
    }
    gpu_free(GPU_DEVICE, device_out);
    gpu_free(GPU_HOST, host_out);
    gpu_free(GPU_DEVICE, device);
    gpu_free(GPU_HOST, host);
    return check_done();
}
