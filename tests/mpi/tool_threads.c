// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm seconds=40
/*
 * MPI_T from several threads: samplers that each make sessions and handles, read and reset, set a
 * control variable and come and go with MPI_T_init_thread, while the ranks exchange messages; MPI
 * has MPI_THREAD_FUNNELED in ranks of even number and MPI_THREAD_MULTIPLE in the others
 * (TOOL_THREADS_MULTIPLE=1: in all).
 */
#include "tool.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SAMPLERS = 3, SAMPLES = 12, ROUNDS = 50, BYTES = 5000, TAG = 4 };

static atomic_int bad, done;

static void sample_once(int round)
{
    int provided, count, num = 0, index = 0;
    MPI_T_pvar_session session;
    bad += MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS;
    bad += MPI_T_pvar_session_create(&session) != MPI_SUCCESS;
    MPI_T_pvar_get_num(&num);
    for (int i = 0; i < num; i++) {
        count_t value[8] = {0};
        int bind = 0;
        MPI_T_pvar_handle handle;
        MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL,
                            NULL);
        if (bind != MPI_T_BIND_NO_OBJECT ||
            MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count) != MPI_SUCCESS)
            continue;
        MPI_T_pvar_start(session, handle);
        bad += MPI_T_pvar_read(session, handle, value) != MPI_SUCCESS;
        MPI_T_pvar_reset(session, handle);
        if (round % 2)
            bad += MPI_T_pvar_handle_free(session, &handle) != MPI_SUCCESS;
    }
    MPI_T_cvar_handle cvar;
    MPI_Count seconds = 20 + round % 3;
    bad += MPI_T_cvar_get_index("WEFT_CONNECT_TIMEOUT", &index) != MPI_SUCCESS;
    bad += MPI_T_cvar_handle_alloc(index, NULL, &cvar, &count) != MPI_SUCCESS;
    bad += MPI_T_cvar_write(cvar, &seconds) != MPI_SUCCESS;
    bad += MPI_T_cvar_handle_free(&cvar) != MPI_SUCCESS;
    bad += MPI_T_pvar_session_free(&session) != MPI_SUCCESS;
    bad += MPI_T_finalize() != MPI_SUCCESS;
}

static void *sample(void *arg)
{
    for (int round = 0; round < SAMPLES; round++)
        sample_once(round);
    done++;
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t threads[SAMPLERS];
    char *out = check_alloc(BYTES), *in = check_alloc(BYTES);
    bool multiple = check_setting("TOOL_THREADS_MULTIPLE", check_setting("PMIX_RANK", 0) % 2);
    int provided;
    check_watch();
    tool_begin();
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
    check_world(1);
    for (int i = 0; i < SAMPLERS; i++)
        CHECK(pthread_create(&threads[i], NULL, sample, NULL) == 0, "no thread");
    int to = (check.rank + 1) % check.size, from = (check.rank + check.size - 1) % check.size;
    for (int i = 0, more = 1; more; i++) {
        int n = i % BYTES, mine;
        check_fill(out, (size_t)n, check.rank, TAG, i);
        MPI_Sendrecv(out, n, MPI_CHAR, to, TAG, in, BYTES, MPI_CHAR, from, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK_DATA(in, (size_t)n, from, TAG, i);
        mine = i < ROUNDS || done < SAMPLERS;
        MPI_Allreduce(&mine, &more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    for (int i = 0; i < SAMPLERS; i++)
        pthread_join(threads[i], NULL);
    CHECK(bad == 0, "%d calls of MPI_T failed", (int)bad);
    free(out);
    free(in);
    int code = check_done();
    CHECK_CODE(MPI_T_finalize(), MPI_SUCCESS);
    return code || check.failures;
}
