// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_otf2 FILE DIRECTORY: the time line FILE of weftrun --trace as an archive of OTF2
 * (DIRECTORY/traces.otf2), which Vampir and others read. weft-report --otf2 calls it.
 *
 * The file is read twice: for its ranks, names and messages, and for its events. Each thread of a
 * rank is a location, each function of MPI a region. Messages are on one communicator of all ranks,
 * with the tag and bytes that their sends have; those with one end on the time line are left out.
 * Blocking collectives have records with the communicator, whose members are the same at all its
 * ranks; duplicates of a communicator are one. Collectives that the ring of one rank has lost
 * remain at the others.
 *
 * Invariant: the times of a location do not decrease, and it leaves each region that it enters.
 */
#include "tools/interpose/call.h"
#include "comms.h"
#include "messages.h"

#include <errno.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OTHER_CALLS = WEFT_CALLS }; /* the region of names that are not in the table */

static const uint64_t SECOND = 1000000000; /* in ticks of the archive */

/* A thread of a rank. Numbers in an archive are without gaps. */
struct location {
    uint64_t events;
    uint32_t number;
    bool exists;
};

static struct {
    const char *name;
    int ranks;
    double first, last;         /* microseconds */
    char (*hosts)[NAME_MOST];   /* names of ranks */
    struct location *locations; /* THREADS_MOST of each rank */
    bool has_region[WEFT_CALLS + 1];
    uint32_t regions[WEFT_CALLS + 1]; /* numbers of those */
    OTF2_Archive *archive;
} job = {.first = 1e300, .last = -1e300};

/* The location that is written, and its call. */
static struct {
    struct location *location; /* NULL: none */
    OTF2_EvtWriter *writer;
    uint64_t time; /* of its last event */
    bool in_call;
    uint32_t region; /* its number */
    uint64_t end;
    struct entry call;                 /* of a collective */
    const struct operation *operation; /* NULL: it is none */
    uint32_t comm;
} at;

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "weft-report: %s: %s.\n", what, why);
    exit(1);
}

/* libotf2 does not return all errors of files, and crashes after some of them. */
static OTF2_ErrorCode report(void *user, const char *file, uint64_t line, const char *function,
                             OTF2_ErrorCode code, const char *format, va_list arguments)
{
    (void)user, (void)file, (void)line, (void)function, (void)format, (void)arguments;
    if (code > OTF2_SUCCESS || code == OTF2_ABORT)
        fail("OTF2 cannot write the archive", OTF2_Error_GetDescription(code));
    return code;
}

static struct location *location_of(const struct entry *entry)
{
    return &job.locations[(size_t)entry->rank * THREADS_MOST + (size_t)entry->thread];
}

/* ---- Regions */

static int by_name(const void *key, const void *function)
{
    const uint32_t *number = function;
    return strcmp(key, weft_functions[*number].name);
}

static int in_order(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return strcmp(weft_functions[*x].name, weft_functions[*y].name);
}

/* The region of a function: "MPI_Recv (not left)" is MPI_Recv. */
static uint32_t region_of(const char *name)
{
    static uint32_t sorted[WEFT_CALLS];
    static bool is_sorted;
    char bare[NAME_MOST];
    if (!is_sorted) {
        for (uint32_t i = 0; i < WEFT_CALLS; i++)
            sorted[i] = i;
        qsort(sorted, WEFT_CALLS, sizeof *sorted, in_order);
        is_sorted = true;
    }
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(name, " "), name);
    const uint32_t *found = bsearch(bare, sorted, WEFT_CALLS, sizeof *sorted, by_name);
    return found ? *found : OTHER_CALLS;
}

static OTF2_RegionRole role_of(uint32_t region)
{
    if (region == OTHER_CALLS)
        return OTF2_REGION_ROLE_FUNCTION;
    int does = weft_functions[region].does;
    if (operation_of(region))
        return operation_of(region)->role;
    if (does & WEFT_DOES_FILE)
        return OTF2_REGION_ROLE_FILE_IO;
    if (does & WEFT_DOES_RMA)
        return OTF2_REGION_ROLE_RMA;
    if (does & WEFT_DOES_COLLECTIVE)
        return OTF2_REGION_ROLE_COLL_OTHER;
    return does & (WEFT_DOES_SEND | WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE | WEFT_DOES_PROBE)
               ? OTF2_REGION_ROLE_POINT2POINT
               : OTF2_REGION_ROLE_FUNCTION;
}

/* ---- First reading */

static void add_ranks(int rank)
{
    if (rank < job.ranks)
        return;
    size_t n = (size_t)rank + 1;
    job.hosts = realloc(job.hosts, n * sizeof *job.hosts);
    job.locations = realloc(job.locations, n * THREADS_MOST * sizeof *job.locations);
    if (!job.hosts || !job.locations)
        fail(job.name, "no memory for its ranks");
    for (; job.ranks <= rank; job.ranks++) {
        struct location *first = &job.locations[(size_t)job.ranks * THREADS_MOST];
        snprintf(job.hosts[job.ranks], NAME_MOST, "rank %d", job.ranks);
        memset(first, 0, THREADS_MOST * sizeof *first);
        first->exists = true; /* it stands for the rank in messages */
    }
}

/* The name of a rank comes before its events: those of others are damaged. */
static bool is_known(const struct entry *entry)
{
    return entry->rank < job.ranks;
}

static void see(const struct entry *entry)
{
    double end = entry->begin + entry->duration;
    if (entry->kind == ENTRY_RANK) {
        add_ranks(entry->rank);
        memcpy(job.hosts[entry->rank], entry->name, sizeof *job.hosts);
        return;
    }
    if (!is_known(entry))
        return;
    if (entry->kind == ENTRY_COMM) {
        comms_add(entry);
        return;
    }
    location_of(entry)->exists = true;
    job.first = entry->begin < job.first ? entry->begin : job.first;
    job.last = end > job.last ? end : job.last;
    if (entry->kind == ENTRY_SEND || entry->kind == ENTRY_RECEIVE)
        messages_add(entry);
    else
        job.has_region[region_of(entry->name)] = true;
}

static void number_all(void)
{
    uint32_t n = 0;
    for (int i = 0; i <= WEFT_CALLS; i++)
        if (job.has_region[i])
            job.regions[i] = n++;
    n = 0;
    for (size_t i = 0; i < (size_t)job.ranks * THREADS_MOST; i++)
        if (job.locations[i].exists)
            job.locations[i].number = n++;
    comms_number(job.ranks);
}

/* ---- Events */

static uint64_t time_of(double microseconds)
{
    return (uint64_t)((microseconds - job.first) * 1e3 + 0.5);
}

/* The time of an event, behind the one before it. */
static uint64_t next_time(uint64_t time)
{
    at.time = time > at.time ? time : at.time;
    at.location->events++;
    return at.time;
}

static void end_collective(void)
{
    const struct entry *call = &at.call;
    /* The root of MPI_Bcast sends what the others receive. */
    const bool sends = at.operation->is != OTF2_COLLECTIVE_OP_BCAST || !call->received;
    OTF2_EvtWriter_MpiCollectiveEnd(at.writer, NULL, next_time(at.end), at.operation->is, at.comm,
                                    call->root < 0 ? OTF2_UNDEFINED_UINT32 : (uint32_t)call->root,
                                    sends ? call->bytes : 0, call->received);
}

static void leave(void)
{
    if (at.in_call && at.operation)
        end_collective();
    if (at.in_call)
        OTF2_EvtWriter_Leave(at.writer, NULL, next_time(at.end), at.region);
    at.in_call = false;
}

static void close_location(void)
{
    if (!at.location)
        return;
    leave();
    OTF2_Archive_CloseEvtWriter(job.archive, at.writer);
    at.location = NULL;
}

static void open_location(struct location *location)
{
    close_location();
    if (location->events)
        fail(job.name, "events of a thread are not together");
    at.location = location;
    at.time = 0;
    at.writer = OTF2_Archive_GetEvtWriter(job.archive, location->number);
    if (!at.writer)
        fail(job.name, "OTF2 cannot write its events");
}

static void enter(const struct entry *entry)
{
    leave();
    at.region = job.regions[region_of(entry->name)];
    at.end = time_of(entry->kind == ENTRY_OPEN ? job.last : entry->begin + entry->duration);
    at.in_call = true;
    at.call = *entry;
    at.operation = comms_find(entry->comm, &at.comm) ? operation_of(region_of(entry->name)) : NULL;
    OTF2_EvtWriter_Enter(at.writer, NULL, next_time(time_of(entry->begin)), at.region);
    if (at.operation)
        OTF2_EvtWriter_MpiCollectiveBegin(at.writer, NULL, next_time(at.time));
}

/* In the call that it belongs to, which may have been overwritten. */
static void put_message(const struct entry *entry)
{
    const struct message *message = messages_find(entry->id);
    uint64_t time = time_of(entry->begin);
    if (!message || !at.in_call)
        return;
    time = next_time(time < at.end ? time : at.end);
    if (entry->kind == ENTRY_SEND)
        OTF2_EvtWriter_MpiSend(at.writer, NULL, time, (uint32_t)message->receiver, COMM_WORLD,
                               (uint32_t)message->tag, message->bytes);
    else
        OTF2_EvtWriter_MpiRecv(at.writer, NULL, time, (uint32_t)message->sender, COMM_WORLD,
                               (uint32_t)message->tag, message->bytes);
}

static void put(const struct entry *entry)
{
    if (entry->kind == ENTRY_RANK || entry->kind == ENTRY_COMM || !is_known(entry))
        return;
    if (!location_of(entry)->exists)
        fail(job.name, "it has changed while it was read");
    if (location_of(entry) != at.location)
        open_location(location_of(entry));
    if (entry->kind == ENTRY_SEND || entry->kind == ENTRY_RECEIVE)
        put_message(entry);
    else
        enter(entry);
}

/* Readers expect a file of each location. */
static void put_empty_locations(void)
{
    for (size_t i = 0; i < (size_t)job.ranks * THREADS_MOST; i++)
        if (job.locations[i].exists && !job.locations[i].events)
            open_location(&job.locations[i]);
    close_location();
}

/* ---- Definitions */

enum { STRING_EMPTY, STRING_JOB, STRING_MACHINE, STRING_WORLD, STRING_COMM, STRINGS };

/* Writes a string, and returns its number. */
static uint32_t put_string(OTF2_GlobalDefWriter *to, const char *text)
{
    static uint32_t n;
    OTF2_GlobalDefWriter_WriteString(to, n, text);
    return n++;
}

static void put_regions(OTF2_GlobalDefWriter *to)
{
    for (uint32_t i = 0; i <= WEFT_CALLS; i++) {
        if (!job.has_region[i])
            continue;
        uint32_t name = put_string(to, i == OTHER_CALLS ? "other calls" : weft_functions[i].name);
        OTF2_GlobalDefWriter_WriteRegion(to, job.regions[i], name, name, STRING_EMPTY, role_of(i),
                                         OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, STRING_EMPTY, 0,
                                         0);
    }
}

static void put_threads(OTF2_GlobalDefWriter *to, uint32_t rank)
{
    char name[32];
    for (uint32_t thread = 0; thread < THREADS_MOST; thread++) {
        const struct location *location = &job.locations[(size_t)rank * THREADS_MOST + thread];
        if (!location->exists)
            continue;
        snprintf(name, sizeof name, "rank %u thread %u", rank, thread);
        OTF2_GlobalDefWriter_WriteLocation(to, location->number, put_string(to, name),
                                           OTF2_LOCATION_TYPE_CPU_THREAD, location->events, rank);
    }
}

static void put_ranks(OTF2_GlobalDefWriter *to)
{
    for (uint32_t rank = 0; rank < (uint32_t)job.ranks; rank++)
        OTF2_GlobalDefWriter_WriteLocationGroup(to, rank, put_string(to, job.hosts[rank]),
                                                OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
    for (uint32_t rank = 0; rank < (uint32_t)job.ranks; rank++)
        put_threads(to, rank);
}

static void put_communicators(OTF2_GlobalDefWriter *to)
{
    uint64_t *members = calloc((size_t)job.ranks * 2, sizeof *members);
    if (!members)
        fail(job.name, "no memory for its ranks");
    for (size_t i = 0; i < (size_t)job.ranks; i++) {
        members[i] = job.locations[i * THREADS_MOST].number;
        members[(size_t)job.ranks + i] = i;
    }
    OTF2_GlobalDefWriter_WriteGroup(to, GROUP_RANKS, STRING_EMPTY, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, (uint32_t)job.ranks,
                                    members);
    OTF2_GlobalDefWriter_WriteGroup(to, GROUP_WORLD, STRING_WORLD, OTF2_GROUP_TYPE_COMM_GROUP,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, (uint32_t)job.ranks,
                                    members + job.ranks);
    OTF2_GlobalDefWriter_WriteComm(to, COMM_WORLD, STRING_WORLD, GROUP_WORLD, OTF2_UNDEFINED_COMM,
                                   OTF2_COMM_FLAG_NONE);
    comms_put(to, STRING_COMM);
    free(members);
}

static void put_definitions(void)
{
    static const char *const strings[STRINGS] = {"", "job", "machine", "MPI_COMM_WORLD",
                                                 "communicator"};
    OTF2_Archive_OpenDefFiles(job.archive);
    for (size_t i = 0; i < (size_t)job.ranks * THREADS_MOST; i++)
        if (job.locations[i].exists)
            OTF2_Archive_CloseDefWriter(
                job.archive, OTF2_Archive_GetDefWriter(job.archive, job.locations[i].number));
    OTF2_Archive_CloseDefFiles(job.archive);
    OTF2_GlobalDefWriter *to = OTF2_Archive_GetGlobalDefWriter(job.archive);
    if (!to)
        fail(job.name, "OTF2 cannot write its definitions");
    OTF2_GlobalDefWriter_WriteClockProperties(to, SECOND, 0, time_of(job.last) + 1,
                                              OTF2_UNDEFINED_TIMESTAMP);
    for (int i = 0; i < STRINGS; i++)
        put_string(to, strings[i]);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(to, 0, STRING_JOB, STRING_MACHINE,
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    put_regions(to);
    put_ranks(to);
    put_communicators(to);
    OTF2_Archive_CloseGlobalDefWriter(job.archive, to);
}

/* ---- The archive */

static OTF2_FlushType pre_flush(void *user, OTF2_FileType type, OTF2_LocationRef location,
                                void *caller, bool final)
{
    (void)user, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp post_flush(void *user, OTF2_FileType type, OTF2_LocationRef location)
{
    (void)user, (void)type, (void)location;
    return at.time;
}

static void open_archive(const char *directory)
{
    static const OTF2_FlushCallbacks flush = {pre_flush, post_flush};
    OTF2_Error_RegisterCallback(report, NULL);
    if (mkdir(directory, 0777))
        fail(directory, strerror(errno));
    job.archive = OTF2_Archive_Open(
        directory, "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
        OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!job.archive || OTF2_Archive_SetFlushCallbacks(job.archive, &flush, NULL) ||
        OTF2_Archive_SetSerialCollectiveCallbacks(job.archive) ||
        OTF2_Archive_SetCreator(job.archive, "weft-report --otf2") ||
        OTF2_Archive_OpenEvtFiles(job.archive))
        fail(directory, "OTF2 cannot write it");
}

int main(int argc, char **argv)
{
    struct entry entry;
    if (argc != 3)
        fail("weft_otf2", "weft-report calls it: FILE DIRECTORY");
    job.name = argv[1];
    FILE *file = fopen(job.name, "re");
    if (!file)
        fail(job.name, strerror(errno));
    if (!timeline_is_one(file))
        fail(job.name, "it is no time line of weftrun --trace");
    while (timeline_read(file, &entry))
        see(&entry);
    if (job.last < job.first)
        fail(job.name, "it has no events");
    if (fseek(file, 0, SEEK_SET))
        fail(job.name, "it is read twice, so a pipe does not do");
    number_all();
    messages_match();
    open_archive(argv[2]);
    while (timeline_read(file, &entry))
        put(&entry);
    fclose(file);
    close_location();
    put_empty_locations();
    OTF2_Archive_CloseEvtFiles(job.archive);
    put_definitions();
    if (OTF2_Archive_Close(job.archive))
        fail(argv[2], "OTF2 cannot write it");
    printf("The archive of OTF2 is %s/traces.otf2\n", argv[2]);
    return 0;
}
