// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * MPI_T: events. Each type and its elements are described; a callback that stands it is called
 * where the event happens, one that does not at the next MPI function, where it may call MPI; what
 * does not fit is dropped and told; a freed registration is heard no more, and says when it is
 * gone.
 */
#include "tool.h"

enum { TAG = 9, BYTES = 1237, FLOOD = 1000, QUEUED = 256 };

struct seen {
    uint64_t wanted; /* bytes of the messages that count; 0: all do */
    int calls, rank, tag, safety;
    uint64_t bytes;
    MPI_Count when;
    bool mpi; /* MPI can be called */
};

static int dropped_calls, freed;
static MPI_Count dropped;

static void look(MPI_T_event_instance instance, MPI_T_event_registration registration,
                 MPI_T_cb_safety safety, void *user_data)
{
    struct seen *seen = user_data;
    struct {
        int32_t rank, tag;
        uint32_t context;
        uint64_t bytes;
    } copy;
    int source = -1;
    uint64_t bytes = 0;
    MPI_Count before = seen->when;
    CHECK_CODE(MPI_T_event_read(instance, 3, &bytes), MPI_SUCCESS);
    if (seen->wanted && seen->wanted != bytes)
        return; /* another rank's, or the library's own */
    seen->calls++;
    seen->safety = safety;
    CHECK(registration != NULL, "no registration");
    CHECK_CODE(MPI_T_event_read(instance, 0, &seen->rank), MPI_SUCCESS);
    CHECK_CODE(MPI_T_event_read(instance, 1, &seen->tag), MPI_SUCCESS);
    CHECK_CODE(MPI_T_event_read(instance, 3, &seen->bytes), MPI_SUCCESS);
    CHECK_CODE(MPI_T_event_read(instance, 4, &bytes), MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_event_copy(instance, &copy), MPI_SUCCESS);
    CHECK(copy.rank == seen->rank && copy.tag == seen->tag && copy.bytes == seen->bytes,
          "copied: rank %d, tag %d", copy.rank, copy.tag);
    CHECK_CODE(MPI_T_event_get_source(instance, &source), MPI_SUCCESS);
    CHECK(source == 0, "source %d", source);
    CHECK_CODE(MPI_T_event_get_timestamp(instance, &seen->when), MPI_SUCCESS);
    CHECK(seen->when >= before, "time goes back");
    if (safety == MPI_T_CB_REQUIRE_NONE) {
        int flag = -1;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG + 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        seen->mpi = flag == 0;
    }
}

static void on_drop(MPI_Count count, MPI_T_event_registration registration, int source,
                    MPI_T_cb_safety safety, void *user_data)
{
    (void)registration;
    (void)safety;
    CHECK(source == 0 && user_data != NULL, "dropped from source %d", source);
    dropped_calls++;
    dropped += count;
}

static void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data)
{
    (void)registration;
    (void)safety;
    CHECK(user_data == &freed, "another one's data");
    freed++;
}

static void describe_all(void)
{
    int num = 0, sources = 0;
    CHECK_CODE(MPI_T_event_get_num(&num), MPI_SUCCESS);
    CHECK(num == 8, "%d event types", num);
    for (int i = 0; i < num; i++) {
        char name[64], desc[512], item[64];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, bind, elements = 8, index;
        int items = 0, item_len = sizeof item;
        MPI_Datatype types[8];
        MPI_Aint at[8];
        MPI_T_enum enumtype;
        MPI_Info info = MPI_INFO_NULL;
        CHECK_CODE(MPI_T_event_get_info(i, name, &name_len, &verbosity, types, at, &elements,
                                        &enumtype, &info, desc, &desc_len, &bind),
                   MPI_SUCCESS);
        CHECK(info != MPI_INFO_NULL && MPI_Info_free(&info) == MPI_SUCCESS, "%s: no info", name);
        CHECK_CODE(MPI_T_event_get_index(name, &index), MPI_SUCCESS);
        CHECK(index == i && bind == MPI_T_BIND_NO_OBJECT, "%s: index %d", name, index);
        CHECK(elements > 0 && elements <= 4 && at[0] == 0, "%s: %d elements", name, elements);
        for (int k = 1; k < elements; k++)
            CHECK(at[k] > at[k - 1], "%s: element %d is at %ld", name, k, (long)at[k]);
        CHECK_CODE(MPI_T_enum_get_info(enumtype, &items, NULL, NULL), MPI_SUCCESS);
        CHECK(items == elements, "%s: %d names for %d elements", name, items, elements);
        CHECK_CODE(MPI_T_enum_get_item(enumtype, 0, NULL, item, &item_len), MPI_SUCCESS);
        CHECK(strcmp(item, strcmp(name, "weft_collective") ? "rank" : "algorithm") == 0,
              "%s: the first element is %s", name, item);
    }
    CHECK_CODE(
        MPI_T_event_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_event_get_index("nonsense", &num), MPI_T_ERR_INVALID_NAME);

    MPI_T_source_order order;
    MPI_Count ticks = 0, most = 0, first = -1, second = -1;
    CHECK_CODE(MPI_T_source_get_num(&sources), MPI_SUCCESS);
    CHECK(sources == 1, "%d sources", sources);
    CHECK_CODE(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, &order, &ticks, &most, NULL),
               MPI_SUCCESS);
    CHECK(ticks == 1000000000 && most > ticks && order == MPI_T_SOURCE_UNORDERED, "%lld ticks",
          (long long)ticks);
    CHECK_CODE(MPI_T_source_get_timestamp(0, &first), MPI_SUCCESS);
    CHECK_CODE(MPI_T_source_get_timestamp(0, &second), MPI_SUCCESS);
    CHECK(first > 0 && second >= first, "time goes back");
    CHECK_CODE(MPI_T_source_get_timestamp(1, &second), MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_source_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
               MPI_T_ERR_INVALID_INDEX);
}

static MPI_T_event_registration register_for(const char *name, MPI_T_cb_safety safety,
                                             struct seen *seen, MPI_T_event_cb_function *callback)
{
    int index = -1;
    MPI_T_event_registration registration;
    CHECK_CODE(MPI_T_event_get_index(name, &index), MPI_SUCCESS);
    CHECK_CODE(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration), MPI_SUCCESS);
    CHECK_CODE(MPI_T_event_register_callback(registration, safety, MPI_INFO_NULL, seen, callback),
               MPI_SUCCESS);
    return registration;
}

/* Messages to oneself that nobody receives yet. */
static void send(int count)
{
    char text[BYTES] = "";
    for (int i = 0; i < count; i++)
        MPI_Send(text, BYTES, MPI_CHAR, 0, TAG, MPI_COMM_SELF);
}

static void receive(int count)
{
    char text[BYTES];
    for (int i = 0; i < count; i++)
        MPI_Recv(text, BYTES, MPI_CHAR, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void at_once_and_later(void)
{
    struct seen now = {.wanted = BYTES}, later = {.wanted = BYTES};
    const char *name = "weft_unexpected_message";
    int flag;
    MPI_Info info;
    MPI_T_event_registration first =
        register_for(name, MPI_T_CB_REQUIRE_MPI_RESTRICTED, &now, look);
    MPI_T_event_registration second = register_for(name, MPI_T_CB_REQUIRE_NONE, &later, look);
    CHECK_CODE(MPI_T_event_set_dropped_handler(second, on_drop), MPI_SUCCESS);
    CHECK_CODE(MPI_T_event_handle_get_info(first, &info), MPI_SUCCESS);
    CHECK_CODE(MPI_T_event_handle_set_info(first, info), MPI_SUCCESS);
    CHECK_CODE(MPI_Info_free(&info), MPI_SUCCESS);
    CHECK_CODE(MPI_T_event_callback_get_info(first, MPI_T_CB_REQUIRE_NONE, &info),
               MPI_T_ERR_INVALID);
    CHECK_CODE(MPI_T_event_callback_get_info(first, MPI_T_CB_REQUIRE_MPI_RESTRICTED, &info),
               MPI_SUCCESS);
    CHECK_CODE(MPI_T_event_callback_set_info(first, MPI_T_CB_REQUIRE_MPI_RESTRICTED, info),
               MPI_SUCCESS);
    CHECK_CODE(MPI_Info_free(&info), MPI_SUCCESS);

    send(1);
    CHECK(now.calls == 1 && now.safety == MPI_T_CB_REQUIRE_MPI_RESTRICTED, "called %d times",
          now.calls);
    CHECK(now.rank == 0 && now.tag == TAG && now.bytes == BYTES, "rank %d, tag %d, %llu bytes",
          now.rank, now.tag, (unsigned long long)now.bytes);
    CHECK(later.calls == 0, "called inside the library, although it may call MPI");
    MPI_Iprobe(0, TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    CHECK(later.calls == 1 && later.safety == MPI_T_CB_REQUIRE_NONE && later.mpi,
          "called %d times, level %d", later.calls, later.safety);
    CHECK(later.when == now.when, "one event at two times");
    receive(1);
    CHECK(now.calls == 1, "a message that matched is said to be unexpected");

    CHECK_CODE(MPI_T_event_handle_free(first, &freed, on_free), MPI_SUCCESS);
    CHECK(freed == 1, "its end was told %d times", freed);
    send(1);
    receive(1);
    CHECK(now.calls == 1, "called after it was freed");
    CHECK(later.calls == 2, "the other one was called %d times", later.calls);
    CHECK_CODE(MPI_T_event_handle_free(first, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_event_handle_free(second, NULL, NULL), MPI_SUCCESS);
}

/* A burst within one call of MPI: more events than wait for a callback. */
static void drops(void)
{
    struct seen later = {0};
    static char text[FLOOD];
    MPI_Request requests[FLOOD];
    int flag;
    if (check.size < 2)
        return;
    dropped = dropped_calls = 0;
    if (check.rank == 1) {
        for (int i = 0; i < FLOOD; i++)
            MPI_Isend(&text[i], 1, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[i]);
        MPI_Send(text, 1, MPI_CHAR, 0, TAG + 1, MPI_COMM_WORLD);
        MPI_Waitall(FLOOD, requests, MPI_STATUSES_IGNORE);
    }
    if (check.rank == 0) {
        MPI_T_event_registration registration =
            register_for("weft_unexpected_message", MPI_T_CB_REQUIRE_NONE, &later, look);
        CHECK_CODE(MPI_T_event_set_dropped_handler(registration, on_drop), MPI_SUCCESS);
        MPI_T_pvar_session session;
        MPI_T_pvar_session_create(&session);
        MPI_T_pvar_handle kept = tool_pvar(session, "weft_unexpected_messages", NULL);
        MPI_Recv(text, 1, MPI_CHAR, 1, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        count_t expected = tool_read(session, kept);
        MPI_Iprobe(0, TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        CHECK((count_t)later.calls + (count_t)dropped == expected,
              "%d events were told and %lld dropped of %llu", later.calls, (long long)dropped,
              expected);
        CHECK(dropped_calls == (dropped > 0), "drops were told %d times", dropped_calls);
        CHECK(later.calls <= QUEUED || dropped == 0 || later.calls >= QUEUED, "%d", later.calls);
        CHECK_CODE(MPI_T_event_handle_free(registration, NULL, NULL), MPI_SUCCESS);
        for (int i = 0; i < FLOOD; i++)
            MPI_Recv(text, 1, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_T_pvar_session_free(&session);
    }
}

static void note(MPI_T_event_instance instance, MPI_T_event_registration registration,
                 MPI_T_cb_safety safety, void *user_data)
{
    struct seen *seen = user_data;
    (void)registration;
    (void)safety;
    seen->calls++;
    MPI_T_event_read(instance, 0, &seen->rank);
}

static void wrong(void)
{
    int index = 0;
    MPI_T_event_registration registration, none = NULL;
    CHECK_CODE(MPI_T_event_handle_alloc(99, NULL, MPI_INFO_NULL, &registration),
               MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(
        MPI_T_event_register_callback(none, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, note),
        MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &registration), MPI_SUCCESS);
    CHECK_CODE(
        MPI_T_event_register_callback(registration, (MPI_T_cb_safety)1, MPI_INFO_NULL, NULL, note),
        MPI_T_ERR_INVALID);
    CHECK_CODE(MPI_T_event_handle_free(registration, NULL, NULL), MPI_SUCCESS);
    CHECK_CODE(MPI_T_event_read((MPI_T_event_instance)(void *)&index, 0, &index),
               MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_event_copy(NULL, &index), MPI_T_ERR_INVALID_HANDLE);
}

/* A cancelled send has no end of a transfer. */
static void never_sent(const char *data, int bytes, const struct seen *end)
{
    int ended = end->calls, cancelled = 0;
    MPI_Request request;
    MPI_Status status;
    if (check.rank == 0) {
        MPI_Isend(data, bytes, MPI_CHAR, 1, TAG + 1, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(cancelled, "the send was not cancelled");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(end->calls == ended, "%d ends of a cancelled send", end->calls - ended);
}

int main(int argc, char **argv)
{
    struct seen contact = {0}, rendezvous = {0}, end = {0};
    enum { LONG = 2 << 20 };
    check_watch();
    tool_begin();
    describe_all();
    register_for("weft_contact", MPI_T_CB_REQUIRE_THREAD_SAFE, &contact, note);
    register_for("weft_rendezvous", MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, &rendezvous, note);
    register_for("weft_rendezvous_end", MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, &end, note);
    MPI_Init(&argc, &argv);
    check_world(1);
    at_once_and_later();
    wrong();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(check.size == 1 || contact.calls >= 1, "%d contacts", contact.calls);
    drops();
    if (check.size > 1) {
        char *data = check_alloc(LONG);
        memset(data, 0, LONG);
        int before = rendezvous.calls, ended = end.calls;
        if (check.rank == 0)
            MPI_Send(data, LONG, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
        if (check.rank == 1)
            MPI_Recv(data, LONG, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(rendezvous.calls == before + (check.rank == 0), "%d rendezvous",
              rendezvous.calls - before);
        CHECK(check.rank != 0 || rendezvous.rank == 1, "a rendezvous with rank %d",
              rendezvous.rank);
        CHECK(end.calls == ended + (check.rank < 2), "%d ends of rendezvous", end.calls - ended);
        CHECK(check.rank > 1 || end.rank == 1 - check.rank, "a rendezvous with rank %d has ended",
              end.rank);
        never_sent(data, LONG, &end);
        free(data);
    }
    int code = check_done();
    CHECK_CODE(MPI_T_finalize(), MPI_SUCCESS); /* takes three registrations along */
    return code || check.failures;
}
