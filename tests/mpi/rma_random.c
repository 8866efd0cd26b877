// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=60
// run: ranks=2,4 lanes=shm,rxm,mixed seconds=90
// run: ranks=3 lanes=shm-copy,rxm-soft,rxm-push,net-soft,nodes seconds=90
/*
 * Random epochs of one-sided operations against a model that permits what the standard permits.
 *
 * Each cell of a window belongs to one of five classes: put by one rank at most; fetch-and-add,
 * whose results must form a chain from the first value to the last; sums; replacements, of which
 * the last of any rank may win; read only. The cells of a class are every fifth one, so that
 * operations have holes at the target, or follow each other. The operations of a rank follow from
 * the seed, so the owner of a window computes from those of all ranks which values it may have.
 *
 * Between nodes puts and gets without holes must have been moved by the provider.
 */
#include "tool.h"

enum { CLASSES = 5, OPS = 24, CHAIN = 24 };
enum class { PUT, FETCH, SUM, REPLACE, READ };

struct op {
    enum class class;
    int target, first, count; /* groups of cells: cell i of the class is at first + i */
    int64_t value;
};

static int groups;                       /* cells of each class */
static bool blocks;                      /* the cells of a class follow each other */
static MPI_Datatype every_fifth, column; /* column: the cells of a class */
static MPI_Aint *bases; /* of a dynamic window: its memory at each rank; else NULL */

static int64_t first_value(uint64_t round, int owner, int cell)
{
    return (int64_t)(check_mix(round * 1000003 + (uint64_t)owner * 4099 + (uint64_t)cell) >> 8);
}

static int cell_of(const struct op *op, int i)
{
    return blocks ? (int)op->class * groups + op->first + i
                  : (op->first + i) * CLASSES + (int)op->class;
}

static void plan(uint64_t seed, uint64_t round, int rank, struct op *ops)
{
    uint64_t state = check_mix(seed ^ check_mix(round * 64 + (uint64_t)rank));
    for (int i = 0; i < OPS; i++) {
        struct op *op = &ops[i];
        op->class = (enum class)check_random(&state, CLASSES);
        op->target = (int)check_random(&state, (unsigned)check.size);
        op->first = (int)check_random(&state, (unsigned)groups);
        op->count = 1 + (int)check_random(&state, (unsigned)(groups - op->first));
        op->value = 1 + check_random(&state, 1000000);
        if (op->class == PUT) /* one writer for each window and round */
            op->target = (int)(((uint64_t)rank + round) % (uint64_t)check.size);
        if (op->class == FETCH)
            op->count = 1, op->first %= 4 < groups ? 4 : groups;
    }
    /* Puts of one rank to one window must not overlap in an epoch: the first stays. */
    for (int i = 0, seen = 0; i < OPS; i++)
        if (ops[i].class == PUT && seen++)
            ops[i].class = READ;
}

struct running {
    int64_t *data[OPS], fetched[OPS];
    MPI_Request request[OPS];
};

static void issue(MPI_Win win, const struct op *op, struct running *running, int n, bool request)
{
    int64_t *data = running->data[n];
    MPI_Aint disp = cell_of(op, 0);
    if (bases)
        disp = MPI_Aint_add(bases[op->target], disp * (MPI_Aint)sizeof *data);
    MPI_Request *r = &running->request[n];
    for (int i = 0; i < op->count; i++)
        data[i] = op->value + (op->class == PUT ? i : 0);
    switch (op->class) {
    case PUT:
        if (request)
            MPI_Rput(data, op->count, MPI_INT64_T, op->target, disp, op->count, column, win, r);
        else
            MPI_Put(data, op->count, MPI_INT64_T, op->target, disp, op->count, column, win);
        return;
    case FETCH:
        if (request)
            MPI_Rget_accumulate(data, 1, MPI_INT64_T, &running->fetched[n], 1, MPI_INT64_T,
                                op->target, disp, 1, MPI_INT64_T, MPI_SUM, win, r);
        else
            MPI_Fetch_and_op(data, &running->fetched[n], MPI_INT64_T, op->target, disp, MPI_SUM,
                             win);
        return;
    case SUM:
    case REPLACE:
        if (request)
            MPI_Raccumulate(data, op->count, MPI_INT64_T, op->target, disp, op->count, column,
                            op->class == SUM ? MPI_SUM : MPI_REPLACE, win, r);
        else
            MPI_Accumulate(data, op->count, MPI_INT64_T, op->target, disp, op->count, column,
                           op->class == SUM ? MPI_SUM : MPI_REPLACE, win);
        return;
    case READ:
        if (request)
            MPI_Rget(data, op->count, MPI_INT64_T, op->target, disp, op->count, column, win, r);
        else
            MPI_Get(data, op->count, MPI_INT64_T, op->target, disp, op->count, column, win);
        return;
    }
}

static const char *const sync_name[] = {"fence",
                                        "post-start",
                                        "shared locks",
                                        "exclusive locks",
                                        "lock_all",
                                        "requests",
                                        "lock_all and flushes",
                                        "post-start without checks",
                                        "lock_all without checks"};
enum { SYNCS = 9 };

static void epoch(MPI_Win win, unsigned sync, const struct op *ops, struct running *running,
                  uint64_t round)
{
    MPI_Group group;
    MPI_Win_get_group(win, &group);
    for (int i = 0; i < OPS; i++)
        running->request[i] = MPI_REQUEST_NULL;
    if (sync == 0)
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    if (sync == 1) {
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
    }
    if (sync == 7) {
        MPI_Win_post(group, MPI_MODE_NOCHECK, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_start(group, MPI_MODE_NOCHECK, win);
    }
    if (sync >= 4 && sync != 7)
        MPI_Win_lock_all(sync == 8 ? MPI_MODE_NOCHECK : 0, win);
    for (int i = 0; i < OPS; i++) {
        if (sync == 2 || sync == 3)
            MPI_Win_lock(sync == 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, ops[i].target, 0, win);
        issue(win, &ops[i], running, i, sync == 5);
        if (sync == 2 || sync == 3)
            MPI_Win_unlock(ops[i].target, win);
        if (sync == 6 && ops[i].value % 3 == 0)
            ops[i].value % 2 ? MPI_Win_flush(ops[i].target, win) : MPI_Win_flush_local_all(win);
    }
    if (sync == 0)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (sync == 1 || sync == 7) {
        MPI_Win_complete(win);
        int flag = 0;
        if (round % 2)
            MPI_Win_wait(win);
        else
            while (!flag)
                MPI_Win_test(win, &flag);
    }
    if (sync == 5)
        MPI_Waitall(OPS, running->request, MPI_STATUSES_IGNORE);
    if (sync >= 4 && sync != 7)
        MPI_Win_unlock_all(win);
    MPI_Group_free(&group);
}

/* What fetch-and-add returned for a cell must be the partial sums of some order. */
static void check_chain(int64_t value, int64_t end, const int64_t *got, const int64_t *added, int n,
                        int cell)
{
    bool used[CHAIN * 64] = {0};
    for (int step = 0; step < n; step++) {
        int i = 0;
        while (i < n && (used[i] || got[i] != value))
            i++;
        CHECK(i < n, "cell %d: no fetch-and-add of %d returned %lld", cell, n, (long long)value);
        if (i == n)
            return;
        used[i] = true;
        value += added[i];
    }
    CHECK(value == end, "cell %d: the chain ends at %lld, the window has %lld", cell,
          (long long)value, (long long)end);
}

static void check_window(uint64_t seed, uint64_t round, const int64_t *window,
                         const int64_t *fetched)
{
    int cells = groups * CLASSES;
    int64_t *expected = check_host((size_t)cells * sizeof *expected);
    bool *open = check_host((size_t)cells);
    for (int c = 0; c < cells; c++) {
        expected[c] = first_value(round, check.rank, c);
        open[c] = false;
    }
    int64_t got[4][CHAIN * 64], added[4][CHAIN * 64];
    int n[4] = {0};
    for (int rank = 0; rank < check.size; rank++) {
        struct op ops[OPS];
        plan(seed, round, rank, ops);
        for (int i = 0; i < OPS; i++) {
            const struct op *op = &ops[i];
            if (op->target != check.rank)
                continue;
            if (op->class == FETCH) {
                int f = op->first;
                got[f][n[f]] = fetched[rank * OPS + i];
                added[f][n[f]++] = op->value;
            }
            for (int k = 0; k < op->count; k++) {
                int c = cell_of(op, k);
                if (op->class == PUT)
                    expected[c] = op->value + k;
                if (op->class == SUM)
                    expected[c] += op->value;
                if (op->class == REPLACE) {
                    /* The last one of a rank may be the last one of all. */
                    bool last = true;
                    for (int later = i + 1; later < OPS; later++)
                        last = last &&
                               !(ops[later].class == REPLACE && ops[later].target == op->target &&
                                 ops[later].first <= op->first + k &&
                                 op->first + k < ops[later].first + ops[later].count);
                    if (!open[c])
                        expected[c] = INT64_MIN;
                    open[c] = true;
                    if (last && window[c] == op->value)
                        expected[c] = op->value;
                }
            }
        }
    }
    for (int f = 0; f < 4 && f < groups; f++) {
        int c = cell_of(&(struct op){FETCH, 0, f, 1, 0}, 0);
        check_chain(first_value(round, check.rank, c), window[c], got[f], added[f], n[f], c);
        expected[c] = window[c];
    }
    for (int c = 0; c < cells; c++)
        CHECK(window[c] == expected[c], "round %llu: cell %d, class %d: %lld instead of %lld",
              (unsigned long long)round, c, blocks ? c / groups : c % CLASSES, (long long)window[c],
              (long long)expected[c]);
    free(expected);
    free(open);
}

static void check_reads(uint64_t round, const struct op *ops, const struct running *running)
{
    for (int i = 0; i < OPS; i++)
        for (int k = 0; ops[i].class == READ && k < ops[i].count; k++)
            CHECK(running->data[i][k] == first_value(round, ops[i].target, cell_of(&ops[i], k)),
                  "round %llu: element %d of get %d is wrong", (unsigned long long)round, k, i);
}

static bool is_one_node(void)
{
    MPI_Comm node;
    int size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    return size == check.size;
}

/* Where ranks cannot share memory, MPI_Win_allocate takes the place of MPI_Win_allocate_shared. */
static MPI_Win make_window(unsigned flavor, bool one_node, int64_t **memory, MPI_Aint bytes)
{
    MPI_Win win;
    if (flavor == 0 || (flavor == 1 && !one_node)) {
        MPI_Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, memory, &win);
    } else if (flavor == 1) {
        MPI_Win_allocate_shared(bytes, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, memory,
                                &win);
    } else if (flavor == 2) {
        *memory = check_host((size_t)bytes);
        MPI_Win_create(*memory, bytes, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
        MPI_Aint mine;
        *memory = check_host((size_t)bytes);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, *memory, bytes);
        MPI_Get_address(*memory, &mine);
        bases = check_host((size_t)check.size * sizeof *bases);
        MPI_Allgather(&mine, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
    }
    return win;
}

/* Whether the provider of this lane moves data between ranks of the job. */
static bool provider_moves(void)
{
    const char *provider = getenv("WEFT_PROVIDER"), *rendezvous = getenv("WEFT_RENDEZVOUS");
    const char *shm = getenv("WEFT_SHM");
    int node = shm && !strcmp(shm, "0") ? 1 : check_setting("WEFT_TEST_NODE_SIZE", check.size);
    return provider && strcmp(provider, "minimal") && (!rendezvous || strcmp(rendezvous, "push")) &&
           check.size > node;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    uint64_t seed = check_seed(), state = seed;
    MPI_T_pvar_session session;
    tool_begin();
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle by_net = tool_pvar(session, "weft_rma_by_net", NULL);
    int rounds = check_setting("WEFT_TEST_ROUNDS", check_setting("WEFT_TEST_SHORT", 0) ? 18 : 54);
    bool one_node = is_one_node();
    struct running running = {0};
    static const int sizes[] = {8, 100, 20000};
    MPI_Type_create_resized(MPI_INT64_T, 0, CLASSES * sizeof(int64_t), &every_fifth);
    MPI_Type_commit(&every_fifth);
    for (uint64_t round = 0; round < (uint64_t)rounds; round++) {
        unsigned sync = (unsigned)(round % SYNCS), flavor = check_random(&state, 4);
        groups = sizes[check_random(&state, 3)];
        blocks = check_random(&state, 2);
        column = blocks ? MPI_INT64_T : every_fifth;
        check_step("round %d: %s, flavor %u, %d cells%s", (int)round, sync_name[sync], flavor,
                   groups * CLASSES, blocks ? " in blocks" : "");
        int64_t *window;
        struct op ops[OPS];
        MPI_Aint bytes = (MPI_Aint)groups * CLASSES * (MPI_Aint)sizeof(int64_t);
        MPI_Win win = make_window(flavor, one_node, &window, bytes);
        for (int i = 0; i < OPS; i++)
            running.data[i] = (i % 2 ? check_alloc : check_host)((size_t)groups * sizeof(int64_t));
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check.rank, 0, win);
        for (int c = 0; c < groups * CLASSES; c++)
            window[c] = first_value(round, check.rank, c);
        MPI_Win_unlock(check.rank, win);
        MPI_Barrier(MPI_COMM_WORLD);
        plan(seed, round, check.rank, ops);
        epoch(win, sync, ops, &running, round);
        MPI_Barrier(MPI_COMM_WORLD);
        int64_t *fetched = check_alloc((size_t)check.size * OPS * sizeof *fetched);
        MPI_Allgather(running.fetched, OPS, MPI_INT64_T, fetched, OPS, MPI_INT64_T, MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, check.rank, 0, win);
        check_window(seed, round, window, fetched);
        MPI_Win_unlock(check.rank, win);
        check_reads(round, ops, &running);
        free(fetched);
        for (int i = 0; i < OPS; i++)
            free(running.data[i]);
        MPI_Win_free(&win);
        if (flavor >= 2)
            free(window);
        free(bases);
        bases = NULL;
    }
    MPI_Type_free(&every_fifth);
    count_t moved = tool_read(session, by_net);
    CHECK((moved > 0) == provider_moves() || getenv("STRICT_REGISTRABLE"),
          "the provider moved data for %llu operations", moved);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
