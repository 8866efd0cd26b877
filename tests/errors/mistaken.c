// SPDX-License-Identifier: BSD-3-Clause
/*
 * The provider takes a message of a dead rank for one of a living rank, as libfabric's ofi_rxm does
 * when the message waits and the memory of its connection was used for the next one. Rank 2 dies;
 * rank 1 sends in its name. The receive of rank 0 from rank 1 has to end with an error that names
 * rank 2, and the next message of rank 1 has to come. tests/errors/run looks at the output.
 */
#include "core/comm/comm.h"
#include "core/message/count.h"
#include "core/progress/progress.h"
#include "ofi/credits.h"
#include "ofi/ofi_internal.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 3 };

static int got;

static void receive(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, class;
    MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    int code = MPI_Recv(&got, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "aborted: %d, %s\n", class == MPIX_ERR_PROC_FAILED, text);
    code = MPI_Recv(&got, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fprintf(stderr, "then: code %d, value %d\n", code, got);
}

static void send_in_the_name_of(int other)
{
    static const int wrong = 666, right = 4711;
    const struct weft_channel *channel = &weft_comm_world.p2p;
    struct weft_peer *peer = weft_peer_get(channel->vci_number, 0);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (weft_net_send_own(peer, &wrong, sizeof wrong,
                             (uint64_t)weft_net_mark(other) << weft_net.rank_shift,
                             weft_net_fast_channel(channel)->word | TAG, false) == -FI_EAGAIN)
        weft_progress();
    weft_net_number(peer, sizeof wrong, weft_net_cost(sizeof wrong));
    MPI_Send(&right, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 2) {
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
        MPI_Recv(&got, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    } else if (rank == 1) {
        send_in_the_name_of(2);
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, 2, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&got, 1, MPI_INT, 2, TAG, MPI_COMM_WORLD);
        receive();
    }
    MPI_Finalize();
    return 0;
}
