// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages by lane and protocol: performance variables of Weft (MPI_T), which count on general
 * paths or are derived when they are read, so that they cost the messages nothing. They include
 * the messages of collectives and windows. They are started in MPI_Init, and read in MPI_Finalize.
 *
 * The sizes of messages by rendezvous come from the event weft_rendezvous, which the library raises
 * for such messages only. Its callback runs in the thread that sends. The algorithms of collectives
 * come from the event weft_collective, in the call of the program that plans one; the other calls
 * of the function took no messages.
 */
#include "tools/profile/messages.h"

enum { LANE_SHM = 1 }; /* as the event numbers it */

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
    [PROFILE_COLLECTIVES_SHARED] = {"weft_collectives_shared", MPI_T_PVAR_CLASS_COUNTER},
    [PROFILE_MEMORY_REQUESTS] = {"weft_request_bytes", MPI_T_PVAR_CLASS_LEVEL},
    [PROFILE_MEMORY_UNEXPECTED] = {"weft_unexpected_bytes_high", MPI_T_PVAR_CLASS_HIGHWATERMARK},
    [PROFILE_MEMORY_COLLECTIVES] = {"weft_collectives_memory", MPI_T_PVAR_CLASS_LEVEL},
    [PROFILE_MEMORY_BOUNCE] = {"weft_net_bounce_bytes", MPI_T_PVAR_CLASS_LEVEL},
    [PROFILE_MEMORY_SEGMENT] = {"weft_shm_bytes", MPI_T_PVAR_CLASS_SIZE},
};

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[PROFILE_COUNTERS];
static bool is_read[PROFILE_COUNTERS];

/* Elements of the event weft_rendezvous: rank, lane, tag, bytes. Those of the profile's own
 * messages do not count. */
static void on_rendezvous(MPI_T_event_instance instance, MPI_T_event_registration registration,
                          MPI_T_cb_safety safety, void *data)
{
    int32_t lane = -1;
    uint64_t bytes = 0;
    (void)registration, (void)safety, (void)data;
    if (!profile.running || weft_next.T_event_read(instance, 1, &lane) ||
        weft_next.T_event_read(instance, 3, &bytes))
        return;
    struct profile_count *count =
        &profile.rendezvous[lane == LANE_SHM ? 0 : 1][profile_size_index(bytes)];
    __atomic_fetch_add(&count->n, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&count->bytes, bytes, __ATOMIC_RELAXED);
}

/* Elements of the event weft_rendezvous_end: rank, lane, sends, bytes. */
static void on_rendezvous_end(MPI_T_event_instance instance, MPI_T_event_registration registration,
                              MPI_T_cb_safety safety, void *data)
{
    int32_t rank = -1, sends = 0;
    (void)registration, (void)safety, (void)data;
    if (profile.running && !weft_next.T_event_read(instance, 0, &rank) &&
        !weft_next.T_event_read(instance, 2, &sends))
        profile_transfer_ended(sends ? PROFILE_SENDER : PROFILE_RECEIVER, rank);
}

/* ---- Algorithms of collectives */

/* By the enumeration of the variable weft_collective; "": it has no such item. */
static char algorithm_names[32][32];

static void read_algorithm_names(void)
{
    MPI_T_enum names = MPI_T_ENUM_NULL;
    int index, n = 0, number, length;
    if (weft_next.T_pvar_get_index("weft_collective", MPI_T_PVAR_CLASS_STATE, &index) ||
        weft_next.T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &names, NULL, NULL, NULL,
                                  NULL, NULL, NULL) ||
        weft_next.T_enum_get_info(names, &n, NULL, NULL))
        return;
    for (int i = 0; i < n && i < (int)(sizeof algorithm_names / sizeof *algorithm_names); i++) {
        length = sizeof *algorithm_names;
        weft_next.T_enum_get_item(names, i, &number, algorithm_names[i], &length);
    }
}

const char *profile_algorithm_name(int32_t number)
{
    if (number == 0)
        return "no choice";
    return number > 0 && number < (int32_t)(sizeof algorithm_names / sizeof *algorithm_names)
               ? algorithm_names[number]
               : "";
}

void profile_algorithm_add(struct profile_algorithm *list, int *n, int space,
                           const struct profile_algorithm *algorithm)
{
    int i = 0;
    while (i < *n &&
           (list[i].function != algorithm->function || list[i].number != algorithm->number))
        i++;
    if (i == space)
        return;
    if (i == *n)
        list[(*n)++] = (struct profile_algorithm){algorithm->function, algorithm->number, 0, 0};
    list[i].n += algorithm->n;
    list[i].bytes += algorithm->bytes;
}

/* Elements of the event weft_collective: algorithm, bytes. */
static void on_collective(MPI_T_event_instance instance, MPI_T_event_registration registration,
                          MPI_T_cb_safety safety, void *data)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct profile_algorithm algorithm = {.n = 1};
    const struct profile_thread *own = profile.running ? profile_thread_own() : NULL;
    (void)registration, (void)safety, (void)data;
    if (!own || own->now.function < 0 || weft_next.T_event_read(instance, 0, &algorithm.number) ||
        weft_next.T_event_read(instance, 1, &algorithm.bytes))
        return;
    algorithm.function = (uint32_t)own->now.function;
    pthread_mutex_lock(&lock);
    profile_algorithm_add(profile.algorithms, &profile.n_algorithms, PROFILE_ALGORITHMS,
                          &algorithm);
    pthread_mutex_unlock(&lock);
}

/* ---- Start and end */

void profile_event_register(const char *event, MPI_T_event_cb_function *callback)
{
    MPI_T_event_registration registration;
    int index;
    if (weft_next.T_event_get_index(event, &index) == MPI_SUCCESS &&
        weft_next.T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) == MPI_SUCCESS)
        weft_next.T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE,
                                            MPI_INFO_NULL, NULL, callback);
}

void profile_counters_begin(void)
{
    int provided, index, count;
    if (weft_next.T_init_thread(MPI_THREAD_SINGLE, &provided) ||
        weft_next.T_pvar_session_create(&session))
        return;
    for (int i = 0; i < PROFILE_COUNTERS; i++) {
        is_read[i] =
            weft_next.T_pvar_get_index(variables[i].name, variables[i].class, &index) == 0 &&
            weft_next.T_pvar_handle_alloc(session, index, NULL, &handles[i], &count) == 0;
        if (is_read[i]) /* an error: it has no start */
            weft_next.T_pvar_start(session, handles[i]);
    }
    read_algorithm_names();
    profile_event_register("weft_rendezvous", on_rendezvous);
    profile_event_register("weft_rendezvous_end", on_rendezvous_end);
    profile_event_register("weft_collective", on_collective);
}

void profile_counters_read(void)
{
    for (int i = 0; i < PROFILE_COUNTERS; i++)
        if (is_read[i])
            weft_next.T_pvar_read(session, handles[i], &profile.counters[i]);
}

uint64_t profile_lanes_of(const uint64_t counters[PROFILE_COUNTERS],
                          struct profile_lane lanes[PROFILE_LANES])
{
    const struct profile_lane all[PROFILE_LANES] = {
        {.name = "self", .title = "self", .messages = counters[PROFILE_SELF]},
        {.name = "shm",
         .title = "shared memory",
         .messages = counters[PROFILE_SHM],
         .rendezvous = counters[PROFILE_SHM_RENDEZVOUS],
         .rendezvous_bytes = counters[PROFILE_SHM_RENDEZVOUS_BYTES],
         .credit_waits = counters[PROFILE_SHM_CREDIT_WAITS]},
        {.name = "net",
         .title = "network",
         .messages = counters[PROFILE_NET],
         .rendezvous = counters[PROFILE_NET_RENDEZVOUS],
         .rendezvous_bytes = counters[PROFILE_NET_RENDEZVOUS_BYTES],
         .credit_waits = counters[PROFILE_NET_CREDIT_WAITS]}};
    uint64_t messages = 0;
    for (int i = 0; i < PROFILE_LANES; i++) {
        lanes[i] = all[i];
        messages += all[i].messages;
    }
    return messages;
}
