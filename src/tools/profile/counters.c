// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages by lane and protocol: performance variables of Weft (MPI_T), which count on general
 * paths or are derived when they are read, so that they cost the messages nothing. They include
 * the messages of collectives and windows. They are started in MPI_Init, and read in MPI_Finalize.
 */
#include "tools/profile/profile.h"

static const struct variable {
    const char *name;
    int class;
} variables[PROFILE_COUNTERS] = {
    [PROFILE_SELF] = {"weft_self_messages_sent", MPI_T_PVAR_CLASS_COUNTER},
    [PROFILE_SELF_BYTES] = {"weft_self_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE},
    [PROFILE_SHM] = {"weft_shm_messages_sent", MPI_T_PVAR_CLASS_COUNTER},
    [PROFILE_SHM_RENDEZVOUS] = {"weft_shm_rendezvous_sent", MPI_T_PVAR_CLASS_COUNTER},
    [PROFILE_SHM_RENDEZVOUS_BYTES] = {"weft_shm_rendezvous_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE},
    [PROFILE_SHM_PIECES] = {"weft_pieces_sent", MPI_T_PVAR_CLASS_COUNTER},
    [PROFILE_NET] = {"weft_net_messages_sent", MPI_T_PVAR_CLASS_COUNTER},
    [PROFILE_NET_RENDEZVOUS] = {"weft_net_rendezvous_sent", MPI_T_PVAR_CLASS_COUNTER},
    [PROFILE_NET_RENDEZVOUS_BYTES] = {"weft_net_rendezvous_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE},
    [PROFILE_UNEXPECTED] = {"weft_unexpected_messages", MPI_T_PVAR_CLASS_COUNTER},
    [PROFILE_SHM_CREDIT_WAITS] = {"weft_shm_credit_waits", MPI_T_PVAR_CLASS_COUNTER},
    [PROFILE_NET_CREDIT_WAITS] = {"weft_net_credit_waits", MPI_T_PVAR_CLASS_COUNTER},
};

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[PROFILE_COUNTERS];
static bool is_started[PROFILE_COUNTERS];

void profile_counters_begin(void)
{
    int provided, index, count;
    if (weft_next.T_init_thread(MPI_THREAD_SINGLE, &provided) ||
        weft_next.T_pvar_session_create(&session))
        return;
    for (int i = 0; i < PROFILE_COUNTERS; i++)
        is_started[i] =
            weft_next.T_pvar_get_index(variables[i].name, variables[i].class, &index) == 0 &&
            weft_next.T_pvar_handle_alloc(session, index, NULL, &handles[i], &count) == 0 &&
            weft_next.T_pvar_start(session, handles[i]) == 0;
}

void profile_counters_read(void)
{
    for (int i = 0; i < PROFILE_COUNTERS; i++)
        if (is_started[i])
            weft_next.T_pvar_read(session, handles[i], &profile.counters[i]);
}
