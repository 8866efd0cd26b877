// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft seconds=40
// run: ranks=1 lanes=self seconds=30
/*
 * What mistakes with partitioned communication get: the class, the sentence, and that nothing has
 * happened: the operation completes as if the wrong call had not been made. Every rank sends to the
 * next one.
 */
#include "check.h"

enum { TAG = 1, PARTITIONS = 4, BYTES = 16 };

static int up, down;
static char out[PARTITIONS * BYTES * 2], in[PARTITIONS * BYTES * 2];

static int psend(int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag,
                 MPI_Request *request)
{
    return MPI_Psend_init_c(out, partitions, count, type, dest, tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                            request);
}

static int precv(int partitions, MPI_Count count, MPI_Datatype type, int source, int tag,
                 MPI_Request *request)
{
    return MPI_Precv_init_c(in, partitions, count, type, source, tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                            request);
}

/* The sentence of the last error of a class must contain this. */
static void says(int class, const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(class, text, &length);
    CHECK(strstr(text, words), "the error says '%s', not '%s'", text, words);
}

static void init_arguments(void)
{
    MPI_Request request;
    check_step("arguments of the init calls");
    CHECK_CLASS(psend(-1, 1, MPI_INT, up, TAG, &request), MPI_ERR_ARG);
    says(MPI_ERR_ARG, "-1");
    CHECK_CLASS(precv(-2, 1, MPI_INT, down, TAG, &request), MPI_ERR_ARG);
    CHECK_CLASS(psend(1, -1, MPI_INT, up, TAG, &request), MPI_ERR_COUNT);
    CHECK_CLASS(psend(1000, (MPI_Count)1 << 60, MPI_INT, up, TAG, &request), MPI_ERR_COUNT);
    CHECK_CLASS(psend(8, (MPI_Count)1 << 59, MPI_INT, up, TAG, &request), MPI_ERR_COUNT);
    CHECK_CLASS(psend(1, 1, MPI_DATATYPE_NULL, up, TAG, &request), MPI_ERR_TYPE);
    CHECK_CLASS(psend(1, 1, MPI_INT, check.size, TAG, &request), MPI_ERR_RANK);
    CHECK_CLASS(psend(1, 1, MPI_INT, MPI_ANY_SOURCE, TAG, &request), MPI_ERR_RANK);
    CHECK_CLASS(precv(1, 1, MPI_INT, MPI_ANY_SOURCE, TAG, &request), MPI_ERR_RANK);
    says(MPI_ERR_RANK, "MPI_ANY_SOURCE");
    CHECK_CLASS(precv(1, 1, MPI_INT, down, MPI_ANY_TAG, &request), MPI_ERR_TAG);
    says(MPI_ERR_TAG, "MPI_ANY_TAG");
    CHECK_CLASS(psend(1, 1, MPI_INT, up, -5, &request), MPI_ERR_TAG);
    CHECK_CLASS(psend(1, 1, MPI_INT, up, TAG, NULL), MPI_ERR_ARG);
    CHECK_CLASS(
        MPI_Psend_init(NULL, 2, 1, MPI_INT, up, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
        MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Psend_init(out, 2, 1, MPI_INT, up, TAG, MPI_COMM_NULL, MPI_INFO_NULL, &request),
                MPI_ERR_COMM);
    CHECK_CLASS(MPI_Psend_init(out, 2, 1, MPI_INT, up, TAG, MPI_COMM_WORLD,
                               (MPI_Info)MPI_COMM_WORLD, &request),
                MPI_ERR_INFO);
    says(MPI_ERR_INFO, "info object");
}

/* Wrong calls in the middle of a round that goes well. */
static void marks(void)
{
    static const int twice[] = {3, 0, 3}, marked[] = {3, 1, 0}, outside[] = {3, 0, PARTITIONS};
    MPI_Request both[2], ordinary, null = MPI_REQUEST_NULL;
    int flag = -1;
    psend(PARTITIONS, BYTES, MPI_BYTE, up, TAG, &both[0]);
    precv(PARTITIONS, BYTES, MPI_BYTE, down, TAG, &both[1]);
    CHECK_CLASS(MPI_Pready(0, both[0]), MPI_ERR_REQUEST);
    says(MPI_ERR_REQUEST, "inactive");
    CHECK_CLASS(MPI_Parrived(both[1], 0, &flag), MPI_SUCCESS);
    CHECK(flag == 1, "of an inactive request MPI_Parrived says %d", flag);
    for (int round = 0; round < 3; round++) {
        check_step("wrong marks, round %d", round);
        check_fill(out, PARTITIONS * BYTES, check.rank, TAG, round);
        MPI_Startall(2, both);
        CHECK_CLASS(MPI_Start(&both[0]), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Pready(PARTITIONS, both[0]), MPI_ERR_ARG);
        says(MPI_ERR_ARG, "partition 4");
        CHECK_CLASS(MPI_Pready(-1, both[0]), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Pready(0, both[1]), MPI_ERR_REQUEST);
        says(MPI_ERR_REQUEST, "MPI_Psend_init");
        CHECK_CLASS(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Pready(1, both[0]), MPI_SUCCESS);
        CHECK_CLASS(MPI_Pready(1, both[0]), MPI_ERR_ARG);
        says(MPI_ERR_ARG, "partition 1");
        CHECK_CLASS(MPI_Pready_range(0, 2, both[0]), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Pready_range(2, PARTITIONS, both[0]), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Pready_range(3, 2, both[0]), MPI_SUCCESS);
        CHECK_CLASS(MPI_Pready_list(3, twice, both[0]), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Pready_list(3, marked, both[0]), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Pready_list(3, outside, both[0]), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Pready_list(-1, outside, both[0]), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Pready_list(1, NULL, both[0]), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Pready_list(0, NULL, both[0]), MPI_SUCCESS);
        CHECK_CLASS(MPI_Parrived(both[1], PARTITIONS, &flag), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Parrived(both[1], -1, &flag), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Parrived(both[0], 0, &flag), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Parrived(both[1], 0, NULL), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Parrived(null, 0, &flag), MPI_SUCCESS);
        CHECK(flag == 1, "of MPI_REQUEST_NULL MPI_Parrived says %d", flag);
        CHECK_CLASS(MPI_Cancel(&both[0]), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Cancel(&both[1]), MPI_ERR_REQUEST);
        says(MPI_ERR_REQUEST, "cancelled");
        CHECK_CLASS(MPI_Request_free(&both[0]), MPI_ERR_REQUEST);
        says(MPI_ERR_REQUEST, "active");
        CHECK_CLASS(MPI_Request_free(&both[1]), MPI_ERR_REQUEST);
        CHECK(both[0] != MPI_REQUEST_NULL && both[1] != MPI_REQUEST_NULL, "a handle is null");
        CHECK_CLASS(MPI_Pready(0, both[0]), MPI_SUCCESS);
        CHECK_CLASS(MPI_Pready_range(2, 3, both[0]), MPI_SUCCESS);
        CHECK_CLASS(MPI_Waitall(2, both, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        CHECK_DATA(in, PARTITIONS * BYTES, down, TAG, round);
        CHECK_CLASS(MPI_Pready(0, both[0]), MPI_ERR_REQUEST);
    }
    MPI_Send_init(out, 1, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &ordinary);
    CHECK_CLASS(MPI_Pready(0, ordinary), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Parrived(ordinary, 0, &flag), MPI_ERR_REQUEST);
    MPI_Request_free(&ordinary);
    CHECK_CLASS(MPI_Request_free(&both[0]), MPI_SUCCESS);
    CHECK_CLASS(MPI_Request_free(&both[1]), MPI_SUCCESS);
}

/* Sides that disagree about the bytes: what fits arrives, and both numbers are said. */
static void sizes(int sent, int send_bytes, int received, int receive_bytes)
{
    MPI_Request both[2];
    MPI_Status sts[2];
    int fits =
        sent * send_bytes < received * receive_bytes ? sent * send_bytes : received * receive_bytes;
    psend(sent, send_bytes, MPI_BYTE, up, TAG, &both[0]);
    precv(received, receive_bytes, MPI_BYTE, down, TAG, &both[1]);
    for (int round = 0; round < 3; round++) {
        char words[64];
        check_step("%d x %d bytes for %d x %d, round %d", sent, send_bytes, received, receive_bytes,
                   round);
        memset(in, 'x', sizeof in);
        check_fill(out, sizeof out, check.rank, TAG, round);
        MPI_Startall(2, both);
        MPI_Pready_range(0, sent - 1, both[0]);
        if (round == 0) {
            CHECK_CLASS(MPI_Wait(&both[1], &sts[1]), MPI_ERR_TRUNCATE);
            CHECK_CLASS(MPI_Wait(&both[0], &sts[0]), MPI_SUCCESS);
        } else {
            CHECK_CLASS(MPI_Waitall(2, both, sts), MPI_ERR_IN_STATUS);
            CHECK(sts[0].MPI_ERROR == MPI_SUCCESS && sts[1].MPI_ERROR == MPI_ERR_TRUNCATE,
                  "the statuses say %d and %d", sts[0].MPI_ERROR, sts[1].MPI_ERROR);
        }
        snprintf(words, sizeof words, "%d partitions of %d bytes", sent, send_bytes);
        says(MPI_ERR_TRUNCATE, words);
        CHECK_DATA(in, fits, down, TAG, round);
        for (int i = fits; i < (int)sizeof in; i++) {
            CHECK(in[i] == 'x', "byte %d was written", i);
        }
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    up = (check.rank + 1) % check.size;
    down = (check.rank + check.size - 1) % check.size;
    check_errors_return();
    init_arguments();
    marks();
    sizes(4, 16, 4, 8);
    sizes(4, 16, 3, 8);
    sizes(4, 8, 4, 16);
    sizes(1, 64, 5, 10);
    sizes(5, 10, 1, 64);
    return check_done();
}
