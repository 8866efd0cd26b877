// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs random programs (program.h) and prints a hash of the results of each rank, to be compared
 * with those of other MPI libraries:
 *
 *     program FIRST COUNT [-v] [-d OP,OP,...]     seeds; -v: the results of each operation; -d:
 * without these operations
 */
#define _GNU_SOURCE
#include "program.h"

#include <dlfcn.h>

enum { OPERATIONS = 24, BLOCKS = 400 };

static const struct {
    const char *name;
    void (*run)(void);
    int weight;
} kinds[] = {
    {"exchange", do_exchange, 6},
    {"shift", do_shift, 2},
    {"persistent", do_persistent, 2},
    {"partitioned", do_partitioned, 2},
    {"cancel", do_cancel, 1},
    {"reduction", do_reduction, 5},
    {"movement", do_movement, 5},
    {"vector", do_vector, 4},
    {"inter", do_inter, 3},
    {"comm", do_comm, 6},
    {"group", do_group, 2},
    {"attribute", do_attribute, 1},
    {"topology", do_topology, 5},
    {"type", do_type, 6},
    {"pack", do_pack, 2},
    {"file", do_file, 4},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

int world_rank, world_size;
struct slot comms[COMMS];
struct type types[TYPES];

static uint64_t random_state, hash, hash_of_op;
static bool verbose, dropped[OPERATIONS];
static void *blocks[BLOCKS];
static int n_blocks, n_notes;
static char notes[4000];
static size_t notes_length;

static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

int below(int n)
{
    random_state = mix(random_state);
    return (int)(random_state % (uint64_t)n);
}

void note(int64_t value)
{
    hash_of_op = mix(hash_of_op ^ (uint64_t)value);
    if (verbose && notes_length < sizeof notes - 30)
        notes_length += (size_t)snprintf(notes + notes_length, 30, " %lld", (long long)value);
    n_notes++;
}

void note_bytes(const void *from, size_t bytes)
{
    uint64_t h = bytes;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ ((const unsigned char *)from)[i]) * 1099511628211u;
    note((int64_t)(mix(h) >> 40));
}

void note_status(const MPI_Status *status, MPI_Datatype type)
{
    int count, elements = 0;
    bool mixed = false;
    MPI_Get_count(status, type, &count);
    for (int i = 0; i < TYPES; i++)
        mixed = mixed || (types[i].type == type && types[i].mixed);
    if (!mixed) /* of some structures MPICH 4.0 counts too many elements, or ends the process */
        MPI_Get_elements(status, type, &elements);
    note(status->MPI_SOURCE == MPI_PROC_NULL ? -3 : status->MPI_SOURCE);
    note(status->MPI_TAG == MPI_ANY_TAG ? -1 : status->MPI_TAG);
    note(count == MPI_UNDEFINED ? -2 : count);
    note(elements == MPI_UNDEFINED ? -2 : elements);
}

bool pick_comm(MPI_Comm *comm, bool inter)
{
    int slot = below(2) ? 0 : below(COMMS);
    if (inter)
        slot = below(COMMS);
    *comm = comms[slot].comm;
    return *comm != MPI_COMM_NULL && comms[slot].inter == inter;
}

bool pick_ranks(MPI_Comm *comm, int *rank, int *ranks)
{
    if (!pick_comm(comm, false))
        return false;
    MPI_Comm_rank(*comm, rank);
    MPI_Comm_size(*comm, ranks);
    return true;
}

struct type *pick_type(void)
{
    return &types[below(TYPES)];
}

size_t bytes_of(const struct type *type, int count)
{
    return (size_t)type->extent * (size_t)count + EXTENT_MAX;
}

/* A function of tests/gpu/memory.c, or NULL: with that, buffers are in device memory. */
static void find_device(const char *name, void *function)
{
    void *found = getenv("TEST_MEMORY") ? dlsym(RTLD_DEFAULT, name) : NULL;
    memcpy(function, &found, sizeof found);
}

static void *block(size_t bytes)
{
    if (n_blocks == BLOCKS) {
        fprintf(stderr, "too many blocks\n");
        abort();
    }
    void *(*device)(size_t);
    find_device("device_memory_alloc", &device);
    return blocks[n_blocks++] = device ? device(bytes) : malloc(bytes);
}

void *to_send(const struct type *type, int count, int pattern)
{
    size_t bytes = bytes_of(type, count);
    unsigned char *at = block(bytes);
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(mix((uint64_t)pattern * 131071u + i) >> 24);
    return at;
}

void *to_receive(const struct type *type, int count)
{
    return memset(block(bytes_of(type, count)), -1, bytes_of(type, count));
}

static void set_basic_types(void)
{
    static const MPI_Datatype basic[] = {MPI_INT,  MPI_DOUBLE, MPI_INT,
                                         MPI_CHAR, MPI_SHORT,  MPI_INT};
    for (int i = 0; i < TYPES; i++) {
        int size;
        MPI_Aint lb;
        types[i].type = basic[i];
        MPI_Type_size(basic[i], &size);
        MPI_Type_get_extent(basic[i], &lb, &types[i].extent);
        types[i].size = size;
        types[i].ints = basic[i] == MPI_INT;
        types[i].mixed = types[i].marked = false;
    }
}

static void free_objects(void)
{
    for (int i = 1; i < COMMS; i++)
        if (comms[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&comms[i].comm);
    for (int i = 0; i < TYPES; i++) {
        int integers, addresses, subtypes, combiner;
        MPI_Type_get_envelope(types[i].type, &integers, &addresses, &subtypes, &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&types[i].type);
    }
}

static int kind_of(void)
{
    int all = 0, at = 0;
    for (int i = 0; i < KINDS; i++)
        all += kinds[i].weight;
    for (int chosen = below(all); chosen >= kinds[at].weight; at++)
        chosen -= kinds[at].weight;
    return at;
}

static void run_operation(uint64_t seed, int i)
{
    random_state = mix(seed * 1000003u + (uint64_t)i);
    int kind = kind_of();
    hash_of_op = 0;
    notes_length = 0;
    notes[0] = '\0';
    n_notes = 0;
    if (!dropped[i])
        kinds[kind].run();
    bool (*device)(void *);
    find_device("device_memory_free", &device);
    for (; n_blocks; n_blocks--)
        if (!device || !device(blocks[n_blocks - 1]))
            free(blocks[n_blocks - 1]);
    hash = mix(hash ^ hash_of_op);
    if (verbose && !dropped[i]) {
        printf("op %2d rank %d %s: %d notes:%s\n", i, world_rank, kinds[kind].name, n_notes, notes);
        fflush(stdout);
    }
}

static void run_program(uint64_t seed)
{
    uint64_t all[64];
    hash = 0;
    for (int i = 0; i < COMMS; i++)
        comms[i] = (struct slot){i ? MPI_COMM_NULL : MPI_COMM_WORLD, false};
    set_basic_types();
    for (int i = 0; i < OPERATIONS; i++)
        run_operation(seed, i);
    free_objects();
    MPI_Gather(&hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (world_rank == 0) {
        printf("seed %llu:", (unsigned long long)seed);
        for (int i = 0; i < world_size; i++)
            printf(" %016llx", (unsigned long long)all[i]);
        printf("\n");
        fflush(stdout);
    }
}

/* With device memory: the bytes that the driver has copied for all ranks. */
static void report_copied(void)
{
    unsigned long long (*copied)(void), own, all = 0;
    find_device("device_memory_copied", &copied);
    own = copied ? copied() : 0;
    MPI_Reduce(&own, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (copied && world_rank == 0)
        printf("copied %llu\n", all);
}

int main(int argc, char **argv)
{
    static char buffered[1 << 20];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0)
            verbose = true;
        else if (strcmp(argv[i], "-d") == 0 && i + 1 < argc)
            for (char *at = strtok(argv[++i], ","); at; at = strtok(NULL, ","))
                dropped[atoi(at) % OPERATIONS] = true;
    }
    MPI_Buffer_attach(buffered, sizeof buffered);
    for (uint64_t seed = first; seed < first + count; seed++)
        run_program(seed);
    void *at;
    int size;
    MPI_Buffer_detach(&at, &size);
    report_copied();
    MPI_Finalize();
    return 0;
}
