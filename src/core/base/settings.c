// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of settings, and reading their values from the environment.
 *
 * Invariant: a value is accepted exactly as written, or rejected with a sentence. No value is
 * clamped and no variable is ignored.
 */
#include "core/base/settings.h"
#include "core/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

enum { NAME_MAX_LEN = 64, STRING_MAX = 255, ROWS_MAX = 64 };

struct weft_settings weft_settings;

#define FIELD(member) offsetof(struct weft_settings, member)

/* A row for the algorithm of a family of collectives. */
#define COLL(name, family, choices, help)                                                          \
    {                                                                                              \
        "WEFT_COLL_" #name, WEFT_SETTING_CHOICE, FIELD(coll_##family), "auto", 0, 0, choices,      \
            "algorithm of " help, WEFT_SETTING_SAME | WEFT_SETTING_LIVE | WEFT_SETTING_TUNES       \
    }
#define BY_SIZE "; the same on all ranks; auto: by size"

const struct weft_setting weft_settings_table[] = {
    {"WEFT_PROVIDER", WEFT_SETTING_STRING, FIELD(provider), "", 0, STRING_MAX, NULL,
     "libfabric provider to use, by name or glob (tcp, \"verbs;ofi_rxm\", psm*); "
     "empty: choose the best",
     WEFT_SETTING_SAME},
    {"WEFT_IFACE", WEFT_SETTING_STRING, FIELD(iface), "", 0, STRING_MAX, NULL,
     "interfaces allowed for network traffic: names, globs, addresses or CIDR blocks, joined by "
     "commas (eth0, ib*, 10.1.0.0/16); empty: choose",
     0},
    {"WEFT_NICS", WEFT_SETTING_STRING, FIELD(nics), "auto", 0, STRING_MAX, NULL,
     "NICs that the ranks of a node take in turn: auto: over cxi, efa and verbs those of one "
     "network, a rank one of the nearest to its cores; first: none, all ranks use the first; or "
     "NICs or interfaces to use, each of which reaches all nodes, in the syntax of WEFT_IFACE "
     "(mlx5_0,mlx5_3 or eth[12])",
     0},
    {"WEFT_RAILS", WEFT_SETTING_INT, FIELD(rails), "4", 1, 8, NULL,
     "NICs that a rank reads a long message through, at most, if the node has more NICs for its "
     "ranks (WEFT_NICS) than ranks; 1: its first one only",
     0},
    {"WEFT_MATCHING", WEFT_SETTING_CHOICE, FIELD(matching), "auto", 0, 0, "auto|provider|software",
     "where tags are matched on the network: in the provider, in Weft's software matcher, or as "
     "the "
     "provider table selects",
     WEFT_SETTING_TUNES},
    /* At least 256 bytes: the control messages of the protocol are eager messages. */
    {"WEFT_EAGER_LIMIT", WEFT_SETTING_BYTES, FIELD(eager_limit), "0", 256, 1 << 20, NULL,
     "longest message sent without waiting for its receive, at most what the provider allows; "
     "0: the provider's own limit",
     WEFT_SETTING_SAME | WEFT_SETTING_TUNES},
    {"WEFT_EAGER_CREDITS", WEFT_SETTING_BYTES, FIELD(eager_credits), "0", 64 << 10, 1 << 30, NULL,
     "bytes that each sender may have sent to a rank and that no receive has matched, a message "
     "counting at least 256; further messages wait at their sender; 0: 16M, less in jobs of more "
     "than 128 ranks, down to 512K",
     WEFT_SETTING_TUNES},
    {"WEFT_RENDEZVOUS", WEFT_SETTING_CHOICE, FIELD(rendezvous), "auto", 0, 0, "auto|read|push",
     "protocol of long messages: the receiver reads them, or the sender pushes eager pieces; auto: "
     "read if the provider supports it",
     WEFT_SETTING_SAME | WEFT_SETTING_TUNES},
    {"WEFT_READ_WINDOW", WEFT_SETTING_BYTES, FIELD(read_limit), "0", 128 << 10, 1 << 30, NULL,
     "bytes of long messages, about, that a rank reads from another at the same time, one read at "
     "most half of them; 0: over TCP what arrives in 4 ms or two round trips at the measured rate, "
     "128K at least, else eight reads of each message",
     WEFT_SETTING_TUNES},
    {"WEFT_SHM", WEFT_SETTING_CHOICE, FIELD(shm), "1", 0, 0, "0|1",
     "1: ranks of one node communicate through shared memory; 0: through the network",
     WEFT_SETTING_SAME},
    {"WEFT_SHM_EAGER", WEFT_SETTING_BYTES, FIELD(shm_eager), "0", 64, 1 << 20, NULL,
     "longest message sent through shared memory without waiting for its receive, at most what the "
     "rings hold; 0: choose",
     WEFT_SETTING_TUNES},
    {"WEFT_SHM_COPY", WEFT_SETTING_CHOICE, FIELD(shm_copy), "auto", 0, 0, "auto|direct|staged",
     "how long messages are copied on a node: direct: once, out of the sender's memory, if the "
     "system permits it; staged: twice, through shared memory; auto: by the faster way, which is "
     "measured, while both ranks wait; else direct",
     WEFT_SETTING_TUNES},
    {"WEFT_SHM_COLL", WEFT_SETTING_INT, FIELD(shm_coll), "8", 0, 1000000000, NULL,
     "collective calls on a communicator of ranks of one node before these ranks share memory for "
     "its collectives; 0: never",
     WEFT_SETTING_SAME | WEFT_SETTING_TUNES},
    {"WEFT_SPIN", WEFT_SETTING_INT, FIELD(spin), "0", 0, 1000000000, NULL,
     "polls without an event before a waiting rank yields its core; 0: many, or few if there are "
     "more ranks than cores",
     WEFT_SETTING_TUNES},
    {"WEFT_PROGRESS_THREAD", WEFT_SETTING_CHOICE, FIELD(progress_thread), "off", 0, 0,
     "off|on|poll",
     "a thread that makes progress while the program is outside of MPI; each call takes a lock. "
     "on: the thread sleeps until something arrives; poll: it polls while the program uses MPI, if "
     "each rank has a core for it",
     0},
    {"WEFT_VCIS", WEFT_SETTING_INT, FIELD(vcis), "4", 1, 8, NULL,
     "communication interfaces of a process with MPI_THREAD_MULTIPLE, to which its "
     "communicators are assigned: threads that use communicators of different ones do not "
     "wait for each other; each has a network endpoint of its own; the same on all ranks",
     WEFT_SETTING_SAME},
    {"WEFT_CONNECT_TIMEOUT", WEFT_SETTING_INT, FIELD(connect_timeout), "20", 1, 86400, NULL,
     "seconds without a connection to a peer before this rank reports it; then at doubling "
     "intervals",
     WEFT_SETTING_LIVE},
    {"WEFT_NETWORK_TIMEOUT", WEFT_SETTING_INT, FIELD(network_timeout), "300", 0, 600, NULL,
     "seconds for which the host of a peer may answer nothing on a TCP connection, before a rank "
     "that waits ends the job, or after which it probes its peers over verbs or efa; 0: for ever",
     WEFT_SETTING_LIVE},
    {"WEFT_HANG_TIMEOUT", WEFT_SETTING_INT, FIELD(hang_timeout), "0", 0, 604800, NULL,
     "seconds a wait may last before the rank reports what it waits for; 0: never",
     WEFT_SETTING_LIVE},
    COLL(BARRIER, barrier, "auto|dissemination|doubling|nodes|quadnomial",
         "MPI_Barrier (doubling: if the number of ranks is a power of two; nodes, here and below: "
         "one rank of each node sends over the network for all of its node; quadnomial: each rank "
         "sends one message up and one down a tree); the same on all ranks; auto: by nodes, and by "
         "whether there are more ranks than cores"),
    COLL(BCAST, bcast, "auto|binomial|scatter_ring|chain|nodes|quadnomial", "MPI_Bcast" BY_SIZE),
    COLL(REDUCE, reduce, "auto|binomial|halving|nodes|quadnomial", "MPI_Reduce" BY_SIZE),
    COLL(ALLREDUCE, allreduce, "auto|doubling|halving|nodes", "MPI_Allreduce" BY_SIZE),
    COLL(GATHER, gather, "auto|linear|binomial|nodes", "MPI_Gather" BY_SIZE),
    COLL(SCATTER, scatter, "auto|linear|binomial|nodes", "MPI_Scatter" BY_SIZE),
    COLL(ALLGATHER, allgather, "auto|ring|bruck|doubling|nodes|quadnomial|linear",
         "MPI_Allgather and MPI_Allgatherv (doubling: MPI_Allgather, if the number of ranks is a "
         "power of two)" BY_SIZE),
    COLL(ALLTOALL, alltoall, "auto|linear|pairwise|bruck|nodes",
         "MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw (bruck, nodes: MPI_Alltoall)" BY_SIZE),
    COLL(REDUCE_SCATTER, reduce_scatter, "auto|halving|pairwise|nodes|linear",
         "MPI_Reduce_scatter and MPI_Reduce_scatter_block (pairwise, nodes: if the operation is "
         "commutative)" BY_SIZE),
    COLL(SCAN, scan, "auto|doubling|nodes",
         "MPI_Scan and MPI_Exscan; the same on all ranks; auto: by nodes and size"),
    {"WEFT_FILE_HINTS", WEFT_SETTING_STRING, FIELD(file_hints), "", 0, STRING_MAX, NULL,
     "hints of all files that the program opens and does not give itself, \"key=value;...\" "
     "(romio_cb_write=disable;cb_nodes=4); those of rank 0 are used",
     0},
    {"WEFT_NAMES", WEFT_SETTING_STRING, FIELD(names), "", 0, STRING_MAX, NULL,
     "folder for the names of MPI_Publish_name that programs of other launchers can look up "
     "(empty: "
     "~/.local/state/weft/names)",
     0},
    {"WEFT_GPU", WEFT_SETTING_CHOICE, FIELD(gpu), "auto", 0, 0, "auto|off|on",
     "buffers in GPU memory: auto: if the program has loaded the driver's library when MPI starts, "
     "or the machine has a driver; off: they are errors; on: a driver's library that the program "
     "loads later is looked for on any machine",
     0},
    {"WEFT_GPU_IPC", WEFT_SETTING_CHOICE, FIELD(gpu_ipc), "1", 0, 0, "0|1",
     "1: long messages from GPU memory between ranks of a node are one copy, by the receiver "
     "(CUDA IPC); 0: they pass through host memory",
     WEFT_SETTING_LIVE},
    {"WEFT_GPU_DIRECT", WEFT_SETTING_CHOICE, FIELD(gpu_direct), "auto", 0, 0, "auto|off|on",
     "long messages from GPU memory over the network: auto: the adapter reads GPU memory (FI_HMEM) "
     "over cxi, efa and verbs, if they offer it; off: they pass through host memory; on: the "
     "adapter reads GPU memory over any provider that offers it",
     0},
    {"WEFT_KEEP_GOING", WEFT_SETTING_CHOICE, FIELD(keep_going), "0", 0, 0, "0|1",
     "1: the job goes on when ranks die: ranks detect deaths by connections of their own, and "
     "providers which may lose messages then are used only if WEFT_PROVIDER names them; weftrun "
     "--keep-going sets it",
     WEFT_SETTING_SAME},
    {"WEFT_INITIAL_ERRHANDLER", WEFT_SETTING_CHOICE, FIELD(initial_errhandler),
     "mpi_errors_are_fatal", 0, 0, "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return",
     "the error handler that MPI_COMM_WORLD and MPI_COMM_SELF have at first (MPI 5.0, 11.5); "
     "weftrun --initial-errhandler sets it",
     WEFT_SETTING_SAME},
    {"WEFT_STOPPED_TIMEOUT", WEFT_SETTING_INT, FIELD(stopped_timeout), "600", 0, 86400, NULL,
     "with WEFT_KEEP_GOING: seconds after which a rank whose process is stopped (SIGSTOP, a "
     "debugger), while its host answers, counts as dead and has to end; 0: never",
     WEFT_SETTING_SAME},
    {"WEFT_SPAWN_TIMEOUT", WEFT_SETTING_INT, FIELD(spawn_timeout), "300", 0, 86400, NULL,
     "seconds for which MPI_Comm_spawn waits for processes to connect that have joined their job, "
     "or whose start a launcher other than weftrun has reported, before it returns MPI_ERR_SPAWN; "
     "0: for ever",
     WEFT_SETTING_LIVE},
    {"WEFT_CHILD", WEFT_SETTING_CHOICE, FIELD(child), "error", 0, 0, "error|alone",
     "what MPI_Init does in a program that a rank starts between its own MPI_Init and "
     "MPI_Finalize: "
     "error: it fails; alone: the program is a job of one rank",
     0},
    {"WEFT_COUNTERS", WEFT_SETTING_CHOICE, FIELD(counters), "basic", 0, 0, "basic|all",
     "which performance variables of MPI_T are counted: basic: those without cost; all: also "
     "bytes, receives by sender, polls and time waited, for which every message takes the general "
     "path",
     WEFT_SETTING_TUNES},
    {"WEFT_VERBOSE", WEFT_SETTING_CHOICE, FIELD(verbose), "0", 0, 0, "0|1|2",
     "0: silent, 1: one line per job, and what is left at MPI_Finalize, 2: one line per rank and "
     "per peer, and where the time of MPI's start and end goes",
     WEFT_SETTING_LIVE},
};

const size_t weft_settings_count = sizeof weft_settings_table / sizeof weft_settings_table[0];

_Static_assert(sizeof weft_settings_table / sizeof weft_settings_table[0] <= ROWS_MAX,
               "raise ROWS_MAX");

/* Copies of string values, because the program may change its environment. */
static char *copies[ROWS_MAX];

/* Rows set by weft_settings_set, which override the environment. */
static bool was_set[ROWS_MAX];

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* The field of a row: an int64_t, int or const char * by its type. */
static void *field_of(const struct weft_setting *row)
{
    return (char *)&weft_settings + row->offset;
}

/* Writes bytes with the largest suffix that represents them exactly. */
static void format_bytes(int64_t value, char *buf, size_t len)
{
    static const struct {
        int shift;
        const char *suffix;
    } units[] = {{30, "G"}, {20, "M"}, {10, "K"}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (value != 0 && value % ((int64_t)1 << units[i].shift) == 0) {
            snprintf(buf, len, "%" PRId64 "%s", value >> units[i].shift, units[i].suffix);
            return;
        }
    }
    snprintf(buf, len, "%" PRId64, value);
}

/* True if 0 is allowed although it is below min: Weft chooses then. */
static bool zero_apart(const struct weft_setting *row)
{
    return row->min > 0 && strcmp(row->initial, "0") == 0;
}

static char *range(const struct weft_setting *row, char *buf, size_t len)
{
    char low[32], high[32];
    switch (row->type) {
    case WEFT_SETTING_STRING:
        snprintf(buf, len, "at most %" PRId64 " characters", row->max);
        break;
    case WEFT_SETTING_CHOICE:
        snprintf(buf, len, "%s", row->choices);
        break;
    case WEFT_SETTING_INT:
        snprintf(buf, len, "%" PRId64 " to %" PRId64, row->min, row->max);
        break;
    case WEFT_SETTING_BYTES:
        format_bytes(row->min, low, sizeof low);
        format_bytes(row->max, high, sizeof high);
        snprintf(buf, len, "%s to %s", low, high);
        break;
    }
    return buf;
}

static const char *zero_of(const struct weft_setting *row)
{
    return zero_apart(row) ? "0, or " : "";
}

char *weft_settings_bounds(const struct weft_setting *row, char *buf, size_t len)
{
    char bounds[96];
    snprintf(buf, len, "%s%s", zero_of(row), range(row, bounds, sizeof bounds));
    return buf;
}

/* Writes the allowed values for use in a sentence. Returns buf. */
static char *describe_values(const struct weft_setting *row, char *buf, size_t len)
{
    static const char *const frames[][2] = {
        [WEFT_SETTING_STRING] = {"", ""},
        [WEFT_SETTING_CHOICE] = {"one of ", ""},
        [WEFT_SETTING_INT] = {"a whole number from ", ""},
        [WEFT_SETTING_BYTES] = {"a size from ", " in bytes, or with the suffix K, M or G"},
    };
    char bounds[96];
    snprintf(buf, len, "%s%s%s%s", zero_of(row), frames[row->type][0],
             range(row, bounds, sizeof bounds), frames[row->type][1]);
    return buf;
}

/* Parses `digits` decimal digits. Signs, blanks and fractions are rejected. */
static bool parse_digits(const char *text, size_t digits, int64_t *value)
{
    int64_t sum = 0;
    if (digits == 0)
        return false;
    for (size_t i = 0; i < digits; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, text[i] - '0', &sum))
            return false;
    }
    *value = sum;
    return true;
}

static bool parse_bytes(const char *text, int64_t *value)
{
    static const char suffixes[] = "KMG";
    size_t len = strlen(text);
    const char *suffix = len > 0 ? strchr(suffixes, upper(text[len - 1])) : NULL;
    int shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;
    if (!parse_digits(text, shift ? len - 1 : len, value))
        return false;
    return !__builtin_mul_overflow(*value, (int64_t)1 << shift, value);
}

/* The position of text in "a|b|c", or -1. */
static int parse_choice(const char *choices, const char *text)
{
    size_t len = strlen(text);
    for (int i = 0;; i++) {
        size_t word = strcspn(choices, "|");
        if (word == len && strncmp(choices, text, len) == 0)
            return i;
        if (choices[word] == '\0')
            return -1;
        choices += word + 1;
    }
}

/* Stores text as the value of a row. Returns false if the row does not allow it. */
static bool assign(const struct weft_setting *row, const char *text)
{
    char **copy = &copies[row - weft_settings_table];
    int64_t value = 0;
    int choice;
    switch (row->type) {
    case WEFT_SETTING_STRING:
        if (strlen(text) > (size_t)row->max)
            return false;
        free(*copy);
        *(const char **)field_of(row) = *copy = weft_memory_copy(text);
        return true;
    case WEFT_SETTING_CHOICE:
        choice = parse_choice(row->choices, text);
        if (choice < 0)
            return false;
        *(int *)field_of(row) = choice;
        return true;
    case WEFT_SETTING_INT:
        if (!parse_digits(text, strlen(text), &value))
            return false;
        break;
    case WEFT_SETTING_BYTES:
        if (!parse_bytes(text, &value))
            return false;
        break;
    }
    if ((value < row->min && !(value == 0 && zero_apart(row))) || value > row->max)
        return false;
    *(int64_t *)field_of(row) = value;
    return true;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Levenshtein distance of a and b; b is in capitals, the case of a is ignored. */
static size_t distance(const char *a, const char *b)
{
    size_t width = strlen(b), row[NAME_MAX_LEN + 1];
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t above = row[j];
            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (upper(a[i - 1]) != b[j - 1]));
            diagonal = above;
        }
    }
    return row[width];
}

/* The variable whose name has the smallest distance to name. */
static const char *nearest(const char *name)
{
    const char *found = "";
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < weft_settings_count; i++) {
        const char *variable = weft_settings_table[i].name;
        size_t d = distance(name, variable);
        if (strncmp(name, variable, strlen(name)) == 0)
            d = 0; /* an abbreviation: "WEFT_EAGER" */
        if (d < best) {
            best = d;
            found = variable;
        }
    }
    return found;
}

static bool known(const char *name, size_t len)
{
    for (size_t i = 0; i < weft_settings_count; i++) {
        const char *variable = weft_settings_table[i].name;
        if (strlen(variable) == len && strncmp(variable, name, len) == 0)
            return true;
    }
    return false;
}

/* Variables of the wrapper compilers, of weftrun --debug, --check, --profile and --trace, and those
 * by which module files and package managers describe an installation. */
static bool not_a_setting(const char *name, size_t len)
{
    static const char *const names[] = {
        "DEBUGGER",     "TERMINAL",     "CHECK",   "CHECK_SARIF", "CHECK_SVG",
        "CHECK_RECORD", "CHECK_REPLAY", "PROFILE", "TRACE",       "TRACE_LAST",
        "CC",           "CXX",          "FC",      "ROOT",        "DIR",
        "HOME",         "PREFIX",       "BASE",    "LIB",         "INCLUDE",
        "PATH",         "INC",          "BIN",     "MAN",         "VERSION"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
            return true;
    return false;
}

/* Rejects variables without a row, which are probably misspelt and would have no effect. */
static int refuse_unknown(char *why, size_t len)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        size_t name_len = strcspn(*entry, "=");
        char name[128];
        if (strncmp(*entry, "WEFT_", 5) != 0 || strncmp(*entry, "WEFT_TEST_", 10) == 0)
            continue;
        if (known(*entry, name_len) || not_a_setting(*entry + 5, name_len - 5))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(name_len < 100 ? name_len : 100), *entry);
        snprintf(
            why, len,
            "The environment sets %s, which is not a setting of Weft; the nearest is %s: correct "
            "or unset it ('weft_info --settings' lists them all).",
            name, nearest(name));
        return -1;
    }
    return 0;
}

bool weft_settings_set(const struct weft_setting *row, const char *text)
{
    bool good = assign(row, text);
    if (good)
        was_set[row - weft_settings_table] = true;
    return good;
}

int weft_settings_load(char *why, size_t len)
{
    int result = 0;
    for (size_t i = 0; i < weft_settings_count; i++) {
        const struct weft_setting *row = &weft_settings_table[i];
        char allowed[160];
        const char *text = getenv(row->name);
        if (was_set[i])
            continue;
        if (text != NULL && assign(row, text))
            continue;
        assign(row, row->initial);
        if (text == NULL || result != 0)
            continue;
        snprintf(why, len, "%s=%.80s%s is not allowed: give %s, or unset it for the default%s%s.",
                 row->name, text, strlen(text) > 80 ? "..." : "",
                 describe_values(row, allowed, sizeof allowed), row->initial[0] != '\0' ? ", " : "",
                 row->initial);
        result = -1;
    }
    return result == 0 ? refuse_unknown(why, len) : result;
}

const char *weft_settings_choice(const char *choices, int index, int *len)
{
    for (; index > 0; index--)
        choices += strcspn(choices, "|") + 1;
    *len = (int)strcspn(choices, "|");
    return choices;
}

char *weft_settings_format(const struct weft_setting *row, char *buf, size_t len)
{
    const char *text;
    int bytes;
    switch (row->type) {
    case WEFT_SETTING_STRING:
        text = *(const char **)field_of(row);
        snprintf(buf, len, "%s", text ? text : "");
        break;
    case WEFT_SETTING_CHOICE:
        text = weft_settings_choice(row->choices, *(int *)field_of(row), &bytes);
        snprintf(buf, len, "%.*s", bytes, text);
        break;
    case WEFT_SETTING_INT:
        snprintf(buf, len, "%" PRId64, *(int64_t *)field_of(row));
        break;
    case WEFT_SETTING_BYTES:
        format_bytes(*(int64_t *)field_of(row), buf, len);
        break;
    }
    return buf;
}

int weft_settings_test_number(const char *name)
{
    const char *text = getenv(name);
    int number = text ? atoi(text) : 0;
    return number > 0 ? number : 0;
}

int weft_settings_test_node(void)
{
    return weft_settings_test_number("WEFT_TEST_NODE_SIZE");
}
