// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm seconds=30
/*
 * MPI_T, rule by rule of section 15.3: what may be NULL, strings of length 0, indices that are
 * none, handles of another session, all handles at once, what a variable's description promises,
 * callbacks that are taken back, and that no error handler hears of an error.
 */
#include "tool.h"

enum { TAG = 4, INDICES = 256 };

static int called;

static void count(MPI_T_event_instance instance, MPI_T_event_registration registration,
                  MPI_T_cb_safety safety, void *user_data)
{
    (void)instance;
    (void)registration;
    (void)safety;
    (void)user_data;
    called++;
}

static void optional_arguments(void)
{
    char text[8] = "q";
    int len = 0, index = 0, elements = 0;
    CHECK_CODE(MPI_T_cvar_get_info(0, text, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
               MPI_SUCCESS);
    CHECK(len > 1 && text[0] == 'q', "a string of length 0 was written to");
    CHECK_CODE(MPI_T_pvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                   NULL, NULL),
               MPI_SUCCESS);
    CHECK_CODE(MPI_T_category_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_SUCCESS);
    CHECK_CODE(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
               MPI_SUCCESS);
    CHECK_CODE(MPI_T_source_get_timestamp(0, NULL), MPI_T_ERR_INVALID);

    MPI_Datatype types[4] = {NULL, NULL, NULL, NULL};
    MPI_Aint at[4] = {-1, -1, -1, -1};
    MPI_T_event_get_index("weft_unexpected_message", &index);
    CHECK_CODE(MPI_T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, &elements, NULL, NULL,
                                    NULL, NULL, NULL),
               MPI_SUCCESS);
    CHECK(elements == 4, "%d elements", elements);
    elements = 2;
    CHECK_CODE(MPI_T_event_get_info(index, NULL, NULL, NULL, types, at, &elements, NULL, NULL, NULL,
                                    NULL, NULL),
               MPI_SUCCESS);
    CHECK(elements == 4 && types[1] && !types[2] && at[1] > 0 && at[2] == -1,
          "more elements were written than there was room for");
}

static void enumerations(void)
{
    int index = -1, value;
    MPI_T_enum matching = MPI_T_ENUM_NULL;
    MPI_T_cvar_get_index("WEFT_MATCHING", &index);
    MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &matching, NULL, NULL, NULL, NULL);
    CHECK_CODE(MPI_T_enum_get_info(matching, NULL, NULL, NULL), MPI_SUCCESS);
    CHECK_CODE(MPI_T_enum_get_item(matching, -1, &value, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_enum_get_item(matching, 99, &value, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
}

static void categories(void)
{
    int num = 0, cvars = 0, first = -1, second = -2, indices[INDICES], n;
    MPI_T_category_get_num(&num);
    for (int i = 0; i < num; i++) {
        MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, &cvars, NULL, NULL);
        memset(indices, 0xff, sizeof indices);
        CHECK_CODE(MPI_T_category_get_cvars(i, 1, indices), MPI_SUCCESS);
        CHECK((indices[0] >= 0) == (cvars > 0) && indices[1] == -1, "category %d: not one index",
              i);
        CHECK_CODE(MPI_T_category_get_cvars(i, INDICES, indices), MPI_SUCCESS);
        for (int k = 1; k < cvars; k++)
            CHECK(indices[k] > indices[k - 1], "category %d has a variable twice", i);
        CHECK_CODE(MPI_T_category_get_cvars(i, 0, NULL), MPI_SUCCESS);
    }
    CHECK_CODE(MPI_T_category_get_cvars(num, 0, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_category_get_pvars(-1, 0, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_category_get_events(num, 0, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_category_get_categories(num, 0, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_category_get_num_events(num, &n), MPI_T_ERR_INVALID_INDEX);
    MPI_T_category_changed(&first);
    MPI_T_category_changed(&second);
    CHECK(first == second, "categories have changed from %d to %d", first, second);
}

/* Does to a variable what its description says can be done, and what it says cannot. */
static void as_described(MPI_T_pvar_session session, MPI_T_pvar_session other, int index)
{
    int class, readonly, continuous, atomic, n = 0;
    double value[16];
    MPI_Datatype type;
    MPI_T_pvar_handle handle;
    MPI_T_pvar_get_info(index, NULL, NULL, NULL, &class, &type, NULL, NULL, NULL, NULL, &readonly,
                        &continuous, &atomic);
    CHECK(class == MPI_T_PVAR_CLASS_STATE ? type == MPI_INT
                                          : type == MPI_UNSIGNED_LONG_LONG || type == MPI_DOUBLE,
          "variable %d has a type that its class forbids", index);
    CHECK(class != MPI_T_PVAR_CLASS_PERCENTAGE || type == MPI_DOUBLE, "variable %d: a percentage",
          index);
    int code = MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &n);
    if (code != MPI_SUCCESS) { /* it wants a communicator, or WEFT_COUNTERS=all */
        CHECK(code == MPI_T_ERR_NOT_ACCESSIBLE, "variable %d: %d", index, code);
        return;
    }
    CHECK_CODE(MPI_T_pvar_start(other, handle), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_pvar_read(other, handle, value), MPI_T_ERR_INVALID_HANDLE);
    int starts = continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS;
    int writes = readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS;
    CHECK_CODE(MPI_T_pvar_start(session, handle), starts);
    CHECK_CODE(MPI_T_pvar_stop(session, handle), starts);
    CHECK_CODE(MPI_T_pvar_read(session, handle, value), MPI_SUCCESS);
    CHECK_CODE(MPI_T_pvar_reset(session, handle), writes);
    CHECK_CODE(MPI_T_pvar_write(session, handle, value), writes);
    CHECK_CODE(MPI_T_pvar_readreset(session, handle, value),
               atomic ? MPI_SUCCESS : MPI_T_ERR_PVAR_NO_ATOMIC);
}

static void performance_variables(MPI_T_pvar_session session, MPI_T_pvar_session other)
{
    int num = 0;
    double value[16];
    MPI_T_pvar_session no_session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle all = MPI_T_PVAR_ALL_HANDLES, none = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_pvar_get_num(&num);
    for (int i = 0; i < num; i++)
        as_described(session, other, i);
    for (int again = 0; again < 2; again++) { /* what is started already is passed over */
        CHECK_CODE(MPI_T_pvar_start(session, all), MPI_SUCCESS);
        CHECK_CODE(MPI_T_pvar_start(other, all), MPI_SUCCESS); /* it has none */
    }
    CHECK_CODE(MPI_T_pvar_stop(session, all), MPI_SUCCESS);
    CHECK_CODE(MPI_T_pvar_reset(session, all), MPI_SUCCESS);
    CHECK_CODE(MPI_T_pvar_readreset(session, all, value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_pvar_write(session, all, value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_pvar_handle_free(session, &all), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_pvar_handle_free(session, &none), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_pvar_session_free(&no_session), MPI_T_ERR_INVALID_SESSION);
}

/* Returns a handle that is left over. */
static MPI_T_cvar_handle control_variables(void)
{
    MPI_Count written = 71, read = 0;
    MPI_T_cvar_handle first = tool_cvar("WEFT_CONNECT_TIMEOUT");
    MPI_T_cvar_handle second = tool_cvar("WEFT_CONNECT_TIMEOUT"), none = MPI_T_CVAR_HANDLE_NULL;
    CHECK_CODE(MPI_T_cvar_write(first, &written), MPI_SUCCESS);
    CHECK_CODE(MPI_T_cvar_handle_free(&first), MPI_SUCCESS);
    CHECK_CODE(MPI_T_cvar_read(second, &read), MPI_SUCCESS);
    CHECK(read == written, "another handle reads %lld", (long long)read);
    CHECK_CODE(MPI_T_cvar_read(none, &read), MPI_T_ERR_INVALID_HANDLE);
    return second;
}

static void message_to_oneself(void)
{
    char byte = 0;
    MPI_Send(&byte, 1, MPI_CHAR, 0, TAG, MPI_COMM_SELF);
    MPI_Recv(&byte, 1, MPI_CHAR, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/* A callback of NULL takes the one before back. */
static void callback_taken_back(void)
{
    int index = -1;
    MPI_Info info;
    MPI_T_event_registration registration;
    MPI_T_cb_safety safety = MPI_T_CB_REQUIRE_MPI_RESTRICTED;
    MPI_T_event_get_index("weft_unexpected_message", &index);
    MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration);
    MPI_T_event_register_callback(registration, safety, MPI_INFO_NULL, NULL, count);
    message_to_oneself();
    CHECK(called > 0, "the callback was not called");
    CHECK_CODE(MPI_T_event_register_callback(registration, safety, MPI_INFO_NULL, NULL, NULL),
               MPI_SUCCESS);
    called = 0;
    message_to_oneself();
    CHECK(called == 0, "called %d times after it was taken back", called);
    CHECK_CODE(MPI_T_event_callback_get_info(registration, safety, &info), MPI_T_ERR_INVALID);
    CHECK_CODE(MPI_T_event_handle_free(registration, NULL, NULL), MPI_SUCCESS);
}

/* A handle outlives the communicator that it is bound to; a freed one is none. */
static void bound(MPI_T_pvar_session session)
{
    MPI_Comm comm, freed;
    MPI_T_pvar_handle handle;
    count_t *values = check_host((size_t)check.size * sizeof *values);
    int n = 0, index = tool_pvar_index("weft_rank_messages_sent");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    freed = comm;
    CHECK_CODE(MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &n), MPI_SUCCESS);
    CHECK(n == check.size, "%d elements", n);
    MPI_Comm_free(&comm);
    CHECK_CODE(MPI_T_pvar_read(session, handle, values), MPI_SUCCESS);
    CHECK_CODE(MPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS);
    CHECK_CODE(MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &n), MPI_T_ERR_INVALID);
    CHECK_CODE(MPI_T_pvar_handle_alloc(session, index, &freed, &handle, &n), MPI_T_ERR_INVALID);
    free(values);
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session, other;
    MPI_Count read;
    check_watch();
    tool_begin();
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_session_create(&other);
    optional_arguments();
    enumerations();
    categories();
    performance_variables(session, other);
    MPI_T_cvar_handle left_over = control_variables();
    MPI_Init(&argc, &argv); /* errors end the job: none of these raises any */
    check_world(1);
    callback_taken_back();
    bound(session);
    CHECK_CODE(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
    int code = check_done();
    CHECK_CODE(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    CHECK_CODE(MPI_T_finalize(), MPI_SUCCESS);
    CHECK_CODE(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    tool_begin(); /* what there was is gone with the last use */
    CHECK_CODE(MPI_T_cvar_read(left_over, &read), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_pvar_session_free(&other), MPI_T_ERR_INVALID_SESSION);
    CHECK_CODE(MPI_T_finalize(), MPI_SUCCESS);
    return code || check.failures;
}
