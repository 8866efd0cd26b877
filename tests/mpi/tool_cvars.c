// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,shm seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * MPI_T: its life beside MPI's, control variables, enumerations, categories.
 *
 * Every setting is a variable that can be found, described and read before MPI; what is written
 * then is what MPI starts with; while MPI runs only those change that may; all is well after MPI.
 */
#include "tool.h"

enum { EAGER = 2048 };

static void not_initialized(void)
{
    int n = -1;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_pvar_session session;
    MPI_Count when;
    CHECK_CODE(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CODE(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CODE(MPI_T_pvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CODE(MPI_T_event_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CODE(MPI_T_source_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CODE(MPI_T_source_get_timestamp(0, &when), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CODE(MPI_T_category_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CODE(MPI_T_category_changed(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CODE(MPI_T_cvar_read(handle, &n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_CODE(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL), MPI_T_ERR_NOT_INITIALIZED);
}

/* Describes one variable completely and reads it. */
static void look_at(int index)
{
    char name[64], desc[1024], item[64], text[1024];
    int name_len = sizeof name, desc_len = sizeof desc, verbosity = -1, bind = -1, scope = -1;
    int count = -1, again = -1;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum enumtype = MPI_T_ENUM_NULL;
    CHECK_CODE(MPI_T_cvar_get_info(index, name, &name_len, &verbosity, &type, &enumtype, desc,
                                   &desc_len, &bind, &scope),
               MPI_SUCCESS);
    CHECK(name_len == (int)strlen(name) + 1, "%s: name_len is %d", name, name_len);
    CHECK(desc_len == (int)strlen(desc) + 1 && desc_len > 10, "%s: desc_len is %d", name, desc_len);
    CHECK(strncmp(name, "WEFT_", 5) == 0, "a variable is called %s", name);
    CHECK(verbosity == MPI_T_VERBOSITY_USER_BASIC || verbosity == MPI_T_VERBOSITY_TUNER_BASIC,
          "%s: verbosity %d", name, verbosity);
    CHECK(bind == MPI_T_BIND_NO_OBJECT, "%s: bind %d", name, bind);
    CHECK(scope == MPI_T_SCOPE_LOCAL || scope == MPI_T_SCOPE_ALL_EQ, "%s: scope %d", name, scope);
    CHECK_CODE(MPI_T_cvar_get_index(name, &again), MPI_SUCCESS);
    CHECK(again == index, "%s has indices %d and %d", name, index, again);

    MPI_T_cvar_handle handle;
    CHECK_CODE(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count), MPI_SUCCESS);
    memset(text, 'x', sizeof text);
    CHECK_CODE(MPI_T_cvar_read(handle, text), MPI_SUCCESS);
    if (type == MPI_CHAR) {
        CHECK(count == 256 && memchr(text, '\0', 256), "%s: no string of %d", name, count);
    } else if (type == MPI_INT) {
        int value = *(int *)text, items = 0, item_value = -1, len = sizeof item;
        CHECK(count == 1 && enumtype != MPI_T_ENUM_NULL, "%s: no enumeration", name);
        CHECK_CODE(MPI_T_enum_get_info(enumtype, &items, NULL, NULL), MPI_SUCCESS);
        CHECK(items > 1 && value >= 0 && value < items, "%s: %d of %d items", name, value, items);
        for (int i = 0; i < items; i++) {
            len = sizeof item;
            CHECK_CODE(MPI_T_enum_get_item(enumtype, i, &item_value, item, &len), MPI_SUCCESS);
            CHECK(item_value == i && len == (int)strlen(item) + 1 && len > 1,
                  "%s: item %d is %d, %s", name, i, item_value, item);
        }
        CHECK_CODE(MPI_T_enum_get_item(enumtype, items, &item_value, item, &len),
                   MPI_T_ERR_INVALID_INDEX);
    } else {
        CHECK(type == MPI_COUNT && count == 1, "%s has a strange type", name);
    }
    CHECK_CODE(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL, "the handle is still there");
}

static void strings(void)
{
    char name[8];
    int len = sizeof name, whole = 0;
    CHECK_CODE(MPI_T_cvar_get_info(0, name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
               MPI_SUCCESS);
    CHECK(strlen(name) == 7, "a string for 8 bytes has %zu characters", strlen(name));
    CHECK_CODE(MPI_T_cvar_get_info(0, NULL, &whole, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
               MPI_SUCCESS);
    CHECK(whole == len && whole > 8, "lengths %d and %d", whole, len);
    CHECK_CODE(MPI_T_cvar_get_info(0, name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
               MPI_SUCCESS);
}

/* refused: what a value is refused with that is wrong anyway. */
static void wrong(int refused)
{
    int n = 0, num = 0;
    char text[256];
    MPI_T_cvar_handle handle = tool_cvar("WEFT_MATCHING"), freed = handle;
    MPI_T_cvar_get_num(&num);
    CHECK_CODE(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
    CHECK_CODE(MPI_T_cvar_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
               MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
               MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_cvar_get_index("WEFT_NONSENSE", &n), MPI_T_ERR_INVALID_NAME);
    CHECK_CODE(MPI_T_cvar_get_index(NULL, &n), MPI_T_ERR_INVALID);
    CHECK_CODE(MPI_T_cvar_handle_alloc(num, NULL, &handle, &n), MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_cvar_handle_alloc(0, NULL, NULL, &n), MPI_T_ERR_INVALID);
    n = 3;
    CHECK_CODE(MPI_T_cvar_write(handle, &n), refused);
    n = -1;
    CHECK_CODE(MPI_T_cvar_write(handle, &n), refused);
    CHECK_CODE(MPI_T_cvar_write(handle, NULL), MPI_T_ERR_INVALID);
    CHECK_CODE(MPI_T_cvar_read(handle, NULL), MPI_T_ERR_INVALID);
    CHECK_CODE(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
    CHECK_CODE(MPI_T_cvar_handle_free(&freed), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_cvar_handle_free(NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_cvar_read(freed, text), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_cvar_write(freed, text), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_enum_get_item((MPI_T_enum)(void *)&n, 0, &n, NULL, NULL),
               MPI_T_ERR_INVALID_HANDLE);

    MPI_Count bytes = 255; /* below the row's bound */
    handle = tool_cvar("WEFT_EAGER_LIMIT");
    CHECK_CODE(MPI_T_cvar_write(handle, &bytes), refused);
    CHECK_CODE(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
    memset(text, 'a', sizeof text); /* without an end */
    handle = tool_cvar("WEFT_IFACE");
    CHECK_CODE(MPI_T_cvar_write(handle, text), refused);
    CHECK_CODE(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
}

/* What is written before MPI_Init counts. */
static void write_before(void)
{
    MPI_Count bytes = EAGER, read = 0;
    MPI_T_cvar_handle handle = tool_cvar("WEFT_EAGER_LIMIT");
    CHECK_CODE(MPI_T_cvar_write(handle, &bytes), MPI_SUCCESS);
    CHECK_CODE(MPI_T_cvar_read(handle, &read), MPI_SUCCESS);
    CHECK(read == EAGER, "the eager limit reads %lld", (long long)read);
    CHECK_CODE(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
}

static void while_it_runs(void)
{
    MPI_Count bytes = 4096, seconds = 77, before, read = 0;
    MPI_T_cvar_handle handle = tool_cvar("WEFT_EAGER_LIMIT");
    MPI_T_pvar_session session;
    CHECK_CODE(MPI_T_cvar_write(handle, &bytes), MPI_T_ERR_CVAR_SET_NOT_NOW);
    CHECK_CODE(MPI_T_cvar_read(handle, &read), MPI_SUCCESS);
    CHECK(read == EAGER, "MPI started with the eager limit %lld", (long long)read);
    CHECK_CODE(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);

    /* A job on a network really has it. */
    MPI_T_pvar_session_create(&session);
    count_t limit = tool_read(session, tool_pvar(session, "weft_net_eager_limit", NULL));
    CHECK(limit == 0 || limit == EAGER, "the network's eager limit is %llu", limit);
    CHECK_CODE(MPI_T_pvar_session_free(&session), MPI_SUCCESS);

    handle = tool_cvar("WEFT_CONNECT_TIMEOUT");
    CHECK_CODE(MPI_T_cvar_read(handle, &before), MPI_SUCCESS);
    CHECK_CODE(MPI_T_cvar_write(handle, &seconds), MPI_SUCCESS);
    CHECK_CODE(MPI_T_cvar_read(handle, &read), MPI_SUCCESS);
    CHECK(read == 77, "the timeout reads %lld", (long long)read);
    CHECK_CODE(MPI_T_cvar_write(handle, &before), MPI_SUCCESS);
    CHECK_CODE(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);

    /* An algorithm, on all ranks. */
    int sum = 0, one = 1;
    CHECK_CODE(tool_set_choice("WEFT_COLL_ALLREDUCE", 3), MPI_SUCCESS);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == check.size, "the sum is %d", sum);
    CHECK_CODE(tool_set_choice("WEFT_COLL_ALLREDUCE", 0), MPI_SUCCESS);
}

static void categories(void)
{
    int num = 0, changed = -1, total[3] = {0, 0, 0}, all[3], index = -1;
    int indices[128];
    CHECK_CODE(MPI_T_category_get_num(&num), MPI_SUCCESS);
    CHECK_CODE(MPI_T_category_changed(&changed), MPI_SUCCESS);
    MPI_T_cvar_get_num(&all[0]);
    MPI_T_pvar_get_num(&all[1]);
    MPI_T_event_get_num(&all[2]);
    for (int i = 0; i < num; i++) {
        char name[64], desc[256];
        int name_len = sizeof name, desc_len = sizeof desc, n[3], inner;
        CHECK_CODE(
            MPI_T_category_get_info(i, name, &name_len, desc, &desc_len, &n[0], &n[1], &inner),
            MPI_SUCCESS);
        CHECK_CODE(MPI_T_category_get_num_events(i, &n[2]), MPI_SUCCESS);
        CHECK_CODE(MPI_T_category_get_index(name, &index), MPI_SUCCESS);
        CHECK(index == i, "%s has indices %d and %d", name, i, index);
        for (int kind = 0; kind < 3; kind++) {
            memset(indices, 0xff, sizeof indices);
            int code = kind == 0   ? MPI_T_category_get_cvars(i, n[0], indices)
                       : kind == 1 ? MPI_T_category_get_pvars(i, n[1], indices)
                                   : MPI_T_category_get_events(i, n[2], indices);
            CHECK_CODE(code, MPI_SUCCESS);
            for (int k = 0; k < n[kind]; k++)
                CHECK(indices[k] >= 0 && indices[k] < all[kind], "%s has %d", name, indices[k]);
            CHECK(indices[n[kind]] == -1, "%s: more was written than there was room for", name);
            total[kind] += n[kind];
        }
        CHECK_CODE(MPI_T_category_get_categories(i, inner, indices), MPI_SUCCESS);
        CHECK(inner == (strcmp(name, "weft") == 0 ? num - 1 : 0), "%s holds %d", name, inner);
    }
    for (int kind = 0; kind < 3; kind++)
        CHECK(total[kind] == all[kind], "kind %d: %d in categories, %d in all", kind, total[kind],
              all[kind]);
    CHECK_CODE(MPI_T_category_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
               MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_category_get_index("nonsense", &index), MPI_T_ERR_INVALID_NAME);
    CHECK_CODE(MPI_T_category_get_pvars(0, -1, indices), MPI_T_ERR_INVALID);
}

int main(int argc, char **argv)
{
    int num = 0, code;
    check_watch();
    not_initialized();
    tool_begin();
    tool_begin(); /* nested */
    CHECK_CODE(MPI_T_cvar_get_num(&num), MPI_SUCCESS);
    CHECK(num > 20, "%d control variables", num);
    for (int i = 0; i < num; i++)
        look_at(i);
    strings();
    categories();
    wrong(MPI_T_ERR_INVALID);
    write_before();
    CHECK_CODE(MPI_T_finalize(), MPI_SUCCESS);
    MPI_Init(&argc, &argv);
    check_world(1);
    while_it_runs();
    wrong(MPI_T_ERR_CVAR_SET_NOT_NOW);
    code = check_done();
    CHECK_CODE(MPI_T_cvar_get_num(&num), MPI_SUCCESS); /* after MPI */
    look_at(0);
    CHECK_CODE(MPI_T_finalize(), MPI_SUCCESS);
    not_initialized();
    return code || check.failures;
}
