// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,shm-copy,shm-unpaid seconds=90
/*
 * Unexpected messages of one node grow their receiver by its credits, and not further: 20000 of
 * 8000 bytes to the other rank, and as many of a rank to itself. Then all arrive, in order.
 * Blocking sends of short messages wait for a receive when there are no credits left, and return
 * when it is posted.
 */
#include "tool.h"

#include <inttypes.h>
#include <time.h>

enum { MESSAGES = 20000, BYTES = 8000, DISTINCT = 61, AT_ONCE = 100 };
enum { SHORT_MESSAGES = 100000, SHORT_BYTES = 64, LEAST = 256, STILL = 200 /* ms */ };
enum { TAG = 1, LAST = 2 };

/* An announced message; and the ring, with other memory of the lane. */
enum { EACH = 320, BESIDE = 4 << 20 };

static int64_t credits(void)
{
    const char *text = getenv("WEFT_EAGER_CREDITS"); /* "64K" */
    return text ? (int64_t)atoi(text) << 10 : 16 << 20;
}

static void send_flood(int to, MPI_Request *requests, unsigned char out[DISTINCT][BYTES])
{
    for (int k = 0; k < DISTINCT; k++)
        check_fill(out[k], BYTES, check.rank, 0, k);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(out[i % DISTINCT], BYTES, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &requests[i]);
}

static void receive_flood(int from)
{
    static unsigned char in[BYTES];
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Status st;
        MPI_Recv(in, BYTES, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, from, TAG, BYTES);
        CHECK_DATA(in, BYTES, from, 0, i % DISTINCT);
    }
}

static void check_growth(int64_t before, const char *of)
{
    int64_t grown = check_resident() - before;
    int64_t allowed = credits() + credits() / 8 + (int64_t)MESSAGES * EACH + BESIDE;
    printf("%d unexpected messages %s grew rank %d by %.1f MB, allowed are %.1f\n", MESSAGES, of,
           check.rank, (double)grown / 1e6, (double)allowed / 1e6);
    fflush(stdout);
    CHECK(grown <= allowed,
          "unexpected messages %s grew it by %" PRId64 " bytes, allowed are %" PRId64, of, grown,
          allowed);
}

static void flood_other(void)
{
    static unsigned char out[DISTINCT][BYTES];
    static MPI_Request requests[MESSAGES];
    if (check.rank == 0) {
        send_flood(1, requests, out);
        MPI_Send(NULL, 0, MPI_BYTE, 1, LAST, MPI_COMM_WORLD);
        check_step("waiting for all sends");
        MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    } else if (check.rank == 1) {
        int64_t before = check_resident();
        check_step("waiting for the last message");
        MPI_Recv(NULL, 0, MPI_BYTE, 0, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_growth(before, "of another rank");
        receive_flood(0);
    }
}

static void flood_itself(void)
{
    static unsigned char out[DISTINCT][BYTES];
    static MPI_Request requests[MESSAGES];
    memset(requests, 0, sizeof requests);
    memset(out, 0, sizeof out);
    int64_t before = check_resident();
    send_flood(check.rank, requests, out);
    check_growth(before + (int64_t)MESSAGES * EACH, "to itself"); /* its requests beside them */
    int one = 1;
    MPI_Send(&one, sizeof one, MPI_BYTE, check.rank, LAST, MPI_COMM_WORLD);
    MPI_Recv(&one, sizeof one, MPI_BYTE, check.rank, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive_flood(check.rank);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
}

/* Rank 1 makes progress until the sender stands still. */
static void send_short(void)
{
    static unsigned char data[SHORT_BYTES];
    MPI_T_pvar_session session;
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle waits = tool_pvar(session, "weft_shm_credit_waits", NULL);
    MPI_T_pvar_handle queue = tool_pvar(session, "weft_unexpected_queue", NULL);
    for (int i = 0; check.rank == 0 && i < SHORT_MESSAGES; i++) {
        check_fill(data, SHORT_BYTES, 0, i, 0);
        MPI_Send(data, SHORT_BYTES, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    }
    if (check.rank == 0) {
        MPI_Send(NULL, 0, MPI_BYTE, 1, LAST, MPI_COMM_WORLD);
        CHECK(tool_read(session, waits) > 0, "no short message has waited for credits");
    } else if (check.rank == 1) {
        int last = 0;
        const count_t enough = (count_t)(credits() / LEAST / 2);
        for (count_t still = 0, now, before = 0; still < STILL && !last; before = now) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            MPI_Iprobe(0, LAST, MPI_COMM_WORLD, &last, MPI_STATUS_IGNORE);
            now = tool_read(session, queue);
            still = now > before || now < enough ? 0 : still + 1;
        }
        CHECK(!last, "%d messages of %d bytes were sent with credits for %d", SHORT_MESSAGES,
              SHORT_BYTES, (int)(credits() / LEAST));
        for (int i = 0; i < SHORT_MESSAGES; i++) {
            MPI_Recv(data, SHORT_BYTES, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_DATA(data, SHORT_BYTES, 0, i, 0);
        }
        MPI_Recv(NULL, 0, MPI_BYTE, 0, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_T_pvar_session_free(&session);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    tool_begin();
    flood_other();
    MPI_Barrier(MPI_COMM_WORLD);
    flood_itself();
    MPI_Barrier(MPI_COMM_WORLD);
    send_short();
    MPI_T_finalize();
    return check_done();
}
