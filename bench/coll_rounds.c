// SPDX-License-Identifier: BSD-3-Clause
/*
 * coll_rounds: rounds and bytes of collective calls on the network of ci/delaylab.
 *
 *     coll_rounds DIRECTORY DELAY world|odd BYTES,... [CALL,...]
 *
 * For each call and number of bytes of one operand or block, a line: the rounds (the time from the
 * start to the end of the last rank, divided by the delay of DELAY microseconds of each packet),
 * the bytes that all nodes sent, the most that one of them sent or received, and the bounds of
 * rounds and of bytes. All ranks run on one machine, whose nodes are namespaces: they start at one
 * time of its clock, and wait for each other in a file of DIRECTORY, without messages. Runs with
 * every MPI library.
 *
 * Bounds: log2(nodes) rounds where each node's data are combined or collected, 1 where a node's
 * message goes to its destination directly. Twice log2(nodes) for a window, whose ranks agree on
 * context ids and then have all opened it, and for a file, which rank 0 opens before the others.
 * Bytes: what other nodes must receive, once.
 *
 * Invariant: a result that is wrong is a line of its own, and the exit status is 1.
 */
#include "delay_switch.h"
#include "figures.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RANKS_MAX = 256, RUNS = 2, WARMUPS = 2 };

/* More bytes than this take longer than they tell. */
static const double BYTES_MAX = 200e6;

/* What the ranks share in a file. */
struct meeting {
    _Atomic int present, number;
    double start, end[RANKS_MAX];
};

/* The program's state: ranks are those of comm. */
static struct meeting *meeting;
static const struct delay_switch_counters *counters;
static MPI_Comm comm, cart, made = MPI_COMM_NULL;
static MPI_Win win = MPI_WIN_NULL;
static MPI_File file = MPI_FILE_NULL;
static char file_name[512];
static int ranks, rank, nodes, per_node;
static bool in_order; /* the ranks of each node are consecutive */
static int n;         /* elements of a block */
static int *in, *out, *counts, *displs;

/* ---- Calls */

enum layout { NONE, ONE, ALL, AT_ROOT, AT_LAST };
enum bound { DIRECT, LOGARITHM, TWO_LOGARITHMS };

/* A result of several blocks is checked by each block's value, one of ONE block by value(rank). */
struct call {
    const char *name;
    void (*run)(void);
    enum layout result;
    int (*value)(int block);
    enum bound rounds;
    double (*volume)(void); /* blocks that cross the network at least; NULL: not known */
};

/* What rank `from` sends to `to` in an exchange of blocks. */
static int block_value(int from, int to)
{
    return from * 1000 + to;
}

static int sum_below(int end)
{
    return end * (end + 1) / 2;
}

static int value_bcast(int block)
{
    (void)block;
    return 7;
}

static int value_sum(int block)
{
    (void)block;
    return sum_below(ranks);
}

static int value_scan(int block)
{
    (void)block;
    return sum_below(rank + 1);
}

static int value_exscan(int block)
{
    (void)block;
    return sum_below(rank);
}

static int value_from(int block)
{
    return block_value(block, 0);
}

static int value_exchange(int block)
{
    return block_value(block, rank);
}

static int value_scatter(int block)
{
    (void)block;
    return block_value(0, rank);
}

static int value_reduce_scatter(int block)
{
    (void)block;
    return (sum_below(ranks) - ranks) * 1000 + ranks * rank;
}

static double to_nodes(void)
{
    return nodes - 1;
}

static double to_and_from_nodes(void)
{
    return 2 * (nodes - 1);
}

static double of_others(void)
{
    return ranks - per_node;
}

static double to_each_node(void)
{
    return (double)nodes * (ranks - per_node);
}

static double to_each_rank(void)
{
    return (double)ranks * (ranks - per_node);
}

static double of_prefixes(void)
{
    return in_order ? nodes - 1 : ranks - 1;
}

static void fill(int value)
{
    for (int i = 0; i < n; i++)
        in[i] = value;
}

static void fill_blocks(void)
{
    for (int to = 0; to < ranks; to++)
        for (int i = 0; i < n; i++)
            in[to * n + i] = block_value(rank, to);
}

static void run_barrier(void)
{
    MPI_Barrier(comm);
}

static void run_bcast(void)
{
    MPI_Bcast(out, n, MPI_INT, 0, comm);
}

static void run_bcast_last(void)
{
    MPI_Bcast(out, n, MPI_INT, ranks - 1, comm);
}

static void run_reduce(void)
{
    MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, 0, comm);
}

static void run_reduce_last(void)
{
    MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, ranks - 1, comm);
}

static void run_allreduce(void)
{
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
}

static void run_gather(void)
{
    MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, 0, comm);
}

static void run_gatherv(void)
{
    MPI_Gatherv(in, n, MPI_INT, out, counts, displs, MPI_INT, 0, comm);
}

static void run_scatter(void)
{
    MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, 0, comm);
}

static void run_scatterv(void)
{
    MPI_Scatterv(in, counts, displs, MPI_INT, out, n, MPI_INT, 0, comm);
}

static void run_allgather(void)
{
    MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm);
}

static void run_allgatherv(void)
{
    MPI_Allgatherv(in, n, MPI_INT, out, counts, displs, MPI_INT, comm);
}

static void run_alltoall(void)
{
    MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, comm);
}

static void run_alltoallv(void)
{
    MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, comm);
}

static void run_reduce_scatter_block(void)
{
    MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, comm);
}

static void run_reduce_scatter(void)
{
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm);
}

static void run_scan(void)
{
    MPI_Scan(in, out, n, MPI_INT, MPI_SUM, comm);
}

static void run_exscan(void)
{
    MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, comm);
}

static void run_neighbor_alltoall(void)
{
    MPI_Neighbor_alltoall(in, n, MPI_INT, out, n, MPI_INT, cart);
}

static void run_split(void)
{
    MPI_Comm_split(comm, rank % 2, rank, &made);
}

static void run_dup(void)
{
    MPI_Comm_dup(comm, &made);
}

static void run_win_create(void)
{
    MPI_Win_create(in, 4096, 1, MPI_INFO_NULL, comm, &win);
}

static void run_file_open(void)
{
    MPI_File_open(comm, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
}

static const struct call calls[] = {
    {"barrier", run_barrier, NONE, NULL, LOGARITHM, NULL},
    {"split", run_split, NONE, NULL, LOGARITHM, NULL},
    {"dup", run_dup, NONE, NULL, LOGARITHM, NULL},
    {"win_create", run_win_create, NONE, NULL, TWO_LOGARITHMS, NULL},
    {"file_open", run_file_open, NONE, NULL, TWO_LOGARITHMS, NULL},
    {"bcast", run_bcast, ONE, value_bcast, LOGARITHM, to_nodes},
    {"bcast_last", run_bcast_last, ONE, value_bcast, LOGARITHM, to_nodes},
    {"reduce", run_reduce, AT_ROOT, value_sum, LOGARITHM, to_nodes},
    {"reduce_last", run_reduce_last, AT_LAST, value_sum, LOGARITHM, to_nodes},
    {"allreduce", run_allreduce, ONE, value_sum, LOGARITHM, to_and_from_nodes},
    {"gather", run_gather, AT_ROOT, value_from, DIRECT, of_others},
    {"gatherv", run_gatherv, AT_ROOT, value_from, DIRECT, of_others},
    {"scatter", run_scatter, ONE, value_scatter, DIRECT, of_others},
    {"scatterv", run_scatterv, ONE, value_scatter, DIRECT, of_others},
    {"allgather", run_allgather, ALL, value_from, LOGARITHM, to_each_node},
    {"allgatherv", run_allgatherv, ALL, value_from, LOGARITHM, to_each_node},
    {"alltoall", run_alltoall, ALL, value_exchange, DIRECT, to_each_rank},
    {"alltoallv", run_alltoallv, ALL, value_exchange, DIRECT, to_each_rank},
    {"reduce_scatter_block", run_reduce_scatter_block, ONE, value_reduce_scatter, LOGARITHM,
     to_each_node},
    {"reduce_scatter", run_reduce_scatter, ONE, value_reduce_scatter, LOGARITHM, to_each_node},
    {"scan", run_scan, ONE, value_scan, LOGARITHM, of_prefixes},
    {"exscan", run_exscan, ONE, value_exscan, LOGARITHM, of_prefixes},
    {"neighbor_alltoall", run_neighbor_alltoall, NONE, NULL, DIRECT, NULL},
};

/* The contents of the buffers before a call. */
static void prepare(const struct call *call)
{
    memset(out, 0, (size_t)n * (size_t)ranks * sizeof *out);
    bool bcasts = call->value == value_bcast;
    if (bcasts && rank == (call->run == run_bcast ? 0 : ranks - 1))
        for (int i = 0; i < n; i++)
            out[i] = 7;
    if (call->value == value_from)
        fill(block_value(rank, 0));
    else if (call->value == value_sum || call->value == value_scan || call->value == value_exscan)
        fill(rank + 1);
    else
        fill_blocks();
}

static bool is_right(const struct call *call)
{
    bool has = call->result == ONE || call->result == ALL ||
               (call->result == AT_ROOT && rank == 0) ||
               (call->result == AT_LAST && rank == ranks - 1);
    int blocks = call->result == ALL || call->value == value_from ? ranks : 1;
    if (!has || (call->value == value_exscan && rank == 0))
        return true;
    for (int block = 0; block < blocks; block++)
        for (int i = 0; i < n; i++)
            if (out[block * n + i] != call->value(block))
                return false;
    return true;
}

static void free_made(void)
{
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    if (win != MPI_WIN_NULL)
        MPI_Win_free(&win);
    if (file != MPI_FILE_NULL)
        MPI_File_close(&file);
}

/* ---- The machine */

/* A barrier without messages, which progresses MPI: messages of a call before may be under way. */
static void meet(void)
{
    int number = meeting->number, flag;
    if (atomic_fetch_add(&meeting->present, 1) == ranks - 1) {
        meeting->present = 0;
        meeting->number++;
    }
    while (meeting->number == number) {
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(2000);
    }
}

static void *map_file(const char *directory, const char *name, size_t bytes, bool writes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, writes ? O_RDWR | O_CREAT : O_RDONLY, 0644);
    void *at = MAP_FAILED;
    if (fd >= 0 && (!writes || !ftruncate(fd, (off_t)bytes)))
        at = mmap(NULL, bytes, writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        perror(path);
        exit(2);
    }
    close(fd);
    return at;
}

static void find_nodes(void)
{
    MPI_Comm node;
    int first = rank;
    int *firsts = malloc((size_t)ranks * sizeof *firsts);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &per_node);
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    MPI_Allgather(&first, 1, MPI_INT, firsts, 1, MPI_INT, comm);
    nodes = ranks / per_node;
    in_order = true;
    for (int i = 0; i < ranks; i++)
        in_order = in_order && firsts[i] == i / per_node * per_node;
    free(firsts);
    MPI_Comm_free(&node);
}

struct result {
    double rounds;
    uint64_t bytes, most;
};

static void read_counters(struct delay_switch_port *ports)
{
    for (uint32_t i = 0; i < counters->ports; i++) {
        ports[i].in = counters->port[i].in;
        ports[i].out = counters->port[i].out;
    }
}

/* At rank 0: rounds and bytes of a call that all ranks have started at meeting->start. */
static struct result result_of(const struct delay_switch_port *before, double delay)
{
    struct delay_switch_port after[DELAY_SWITCH_PORTS];
    struct result result = {0};
    double end = 0;
    for (int i = 0; i < ranks; i++)
        end = meeting->end[i] > end ? meeting->end[i] : end;
    result.rounds = (end - meeting->start) / delay;
    read_counters(after);
    for (uint32_t i = 0; i < counters->ports; i++) {
        uint64_t sent = after[i].in - before[i].in, received = after[i].out - before[i].out;
        result.bytes += sent;
        result.most = sent > result.most ? sent : result.most;
        result.most = received > result.most ? received : result.most;
    }
    return result;
}

/* Rank 0 has the result. */
static struct result measure(const struct call *call, double delay, bool *wrong)
{
    struct delay_switch_port before[DELAY_SWITCH_PORTS];
    prepare(call);
    meet();
    usleep((useconds_t)(2.5 * delay * 1e6)); /* nothing is under way */
    meet();
    if (rank == 0) {
        read_counters(before);
        meeting->start = bench_seconds() + 0.02;
    }
    meet();
    while (bench_seconds() < meeting->start)
        usleep(100);
    call->run();
    meeting->end[rank] = bench_seconds();
    meet();
    usleep((useconds_t)(1.5 * delay * 1e6)); /* for the last acknowledgements */
    meet();
    struct result result = {0};
    if (rank == 0)
        result = result_of(before, delay);
    if (!is_right(call))
        *wrong = true;
    free_made();
    return result;
}

static double bound_of_rounds(const struct call *call)
{
    double rounds = 1;
    for (int reached = 2; reached < nodes && call->rounds != DIRECT; reached *= 2)
        rounds++;
    return call->rounds == TWO_LOGARITHMS ? 2 * rounds : rounds;
}

/* Measures a call several times, and prints the least. Returns whether all results were right. */
static bool report(const struct call *call, size_t bytes, double delay)
{
    struct result best = {0};
    bool wrong = false;
    double volume = call->volume ? call->volume() * (double)bytes : 0;
    n = (int)(bytes / sizeof *in);
    for (int i = 0; i < ranks; i++) {
        counts[i] = n;
        displs[i] = i * n;
    }
    if (volume > BYTES_MAX)
        return true;
    for (int i = 0; i < WARMUPS + RUNS; i++) {
        struct result result = measure(call, delay, &wrong);
        if (i == WARMUPS || (i > WARMUPS && result.rounds < best.rounds))
            best = result;
    }
    if (rank == 0)
        printf("%-21s %8zu %7.1f %11llu %11llu %5.0f %11.0f\n", call->name,
               call->result == NONE && call->run != run_neighbor_alltoall ? 0 : bytes, best.rounds,
               (unsigned long long)best.bytes, (unsigned long long)best.most, bound_of_rounds(call),
               volume);
    if (wrong)
        printf("wrong result of %s of %zu bytes at rank %d\n", call->name, bytes, rank);
    fflush(stdout);
    return !wrong;
}

/* True if a word is in a list "a,b"; NULL: all words. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, word, length) && (at[length] == ',' || !at[length]))
            return true;
    return !list;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 5 || ranks > RANKS_MAX) {
        fprintf(stderr, "usage: coll_rounds DIRECTORY DELAY world|odd BYTES,... [CALL,...]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    double delay = atof(argv[2]) * 1e-6;
    bool right = true;
    int periodic = 1, one = ranks;
    size_t longest = 4096;
    meeting = map_file(argv[1], "meeting", sizeof *meeting, true);
    counters = map_file(argv[1], "counters", sizeof *counters, false);
    snprintf(file_name, sizeof file_name, "%s/file", argv[1]);
    /* odd: keys in an order that has no pattern of the nodes */
    MPI_Comm_split(MPI_COMM_WORLD, 0, strcmp(argv[3], "odd") ? rank : (rank * 7 + 3) % 1009 % 23,
                   &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_create(comm, 1, &one, &periodic, 0, &cart);
    find_nodes();
    for (const char *at = argv[4]; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        longest = strtoul(at, NULL, 10) > longest ? strtoul(at, NULL, 10) : longest;
    in = calloc((size_t)ranks, longest);
    out = calloc((size_t)ranks, longest);
    counts = calloc((size_t)ranks, sizeof *counts);
    displs = calloc((size_t)ranks, sizeof *displs);
    for (size_t i = 0; in && out && i < sizeof calls / sizeof *calls; i++) {
        bool sized = calls[i].result != NONE || calls[i].run == run_neighbor_alltoall;
        if (!has_word(argc > 5 ? argv[5] : NULL, calls[i].name))
            continue;
        for (const char *at = argv[4]; at;
             at = sized && strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
            right = report(&calls[i], strtoul(at, NULL, 10), delay) && right;
    }
    MPI_Comm_free(&cart);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return right ? 0 : 1;
}
