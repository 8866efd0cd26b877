// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,3,4 lanes=self,shm,rxm,nodes seconds=120
/*
 * Random views and accesses of all ranks, against an array of the file's bytes that each rank
 * computes. For some rounds, or with WEFT_TEST_FUZZ_SECONDS as many as fit into that time.
 *
 * A round has one filetype for all ranks: slots of random lengths and gaps, which random ranks own,
 * with a displacement. Some ranks have no slot, and slots may have no owner. Each access has a
 * random kind, offset and length at each rank, and its memory may have holes. The file is open
 * twice, by all ranks and by halves of them, with random hints; an access uses either. In some, a
 * second thread of each rank accesses other data of the rank independently. The data of etypes of 4
 * bytes are ints, in a random representation.
 */
#include "../mpi/file.h"

#include <pthread.h>
#include <stdbool.h>

enum { SLOTS = 12, ROUNDS = 12, ACCESSES = 6, ROOM = 300000, DATA = 40000 };

static unsigned char model[ROOM];
static long model_end; /* the size of the file */

static const char *const representations[] = {"native", "internal", "external32", "copied"};

struct view {
    int disp, extent, etype; /* bytes */
    int representation;
    int unit;     /* bytes that are read together or not at all */
    int reversed; /* so many bytes are in reverse order in the file */
    int n, at[SLOTS], length[SLOTS], owner[SLOTS];
};

static void make_view(struct view *view, uint64_t *random)
{
    static const int etypes[] = {1, 1, 4, 8};
    int at = 0, scale = check_random(random, 3) == 0 ? 700 : 12;
    view->etype = etypes[check_random(random, 4)];
    view->representation = (int)check_random(random, 4);
    view->unit = view->etype == 4 && view->representation >= 2 ? 4 : 1;
    view->reversed = view->etype == 4 && view->representation == 2 ? 4 : 1;
    view->disp = (int)check_random(random, 5000);
    view->n = 1 + (int)check_random(random, SLOTS);
    for (int i = 0; i < view->n; i++) {
        at += check_random(random, 3) ? 0 : (int)check_random(random, (unsigned)scale);
        view->at[i] = at;
        view->length[i] = view->etype * (1 + (int)check_random(random, (unsigned)scale));
        view->owner[i] = (int)check_random(random, (unsigned)check.size + (at % 2 ? 1 : 0));
        at += view->length[i];
    }
    view->extent = at + (check_random(random, 2) ? 0 : (int)check_random(random, 40));
}

/* The offset in the file of byte i of a rank's data. */
static long offset_of(const struct view *view, int rank, long i)
{
    int size = 0;
    for (int j = 0; j < view->n; j++)
        size += view->owner[j] == rank ? view->length[j] : 0;
    i = i / view->reversed * view->reversed + view->reversed - 1 - i % view->reversed;
    long tile = i / size, rest = i % size;
    for (int j = 0; j < view->n; j++) {
        if (view->owner[j] != rank)
            continue;
        if (rest < view->length[j])
            return view->disp + tile * view->extent + view->at[j] + rest;
        rest -= view->length[j];
    }
    return -1;
}

static MPI_Datatype basic_type(const struct view *view)
{
    return view->etype == 4 ? MPI_INT : MPI_BYTE;
}

static void set_view(MPI_File file, const struct view *view)
{
    int lengths[SLOTS], n = 0;
    MPI_Aint at[SLOTS];
    MPI_Datatype etype, slots, type;
    for (int i = 0; i < view->n; i++)
        if (view->owner[i] == check.rank) {
            lengths[n] = view->length[i] / view->etype;
            at[n++] = view->at[i];
        }
    if (view->etype == 4)
        MPI_Type_dup(MPI_INT, &etype);
    else
        MPI_Type_contiguous(view->etype, MPI_BYTE, &etype);
    MPI_Type_create_hindexed(n, lengths, at, etype, &slots);
    MPI_Type_create_resized(slots, 0, view->extent, &type);
    MPI_Type_commit(&etype);
    MPI_Type_commit(&type);
    CHECK_CLASS(MPI_File_set_view(file, view->disp, etype, type,
                                  representations[view->representation], MPI_INFO_NULL),
                MPI_SUCCESS);
    MPI_Type_free(&etype);
    MPI_Type_free(&slots);
    MPI_Type_free(&type);
}

/* One access: what each rank does, which all ranks compute. */
struct access {
    int kind; /* of enum below */
    bool write;
    long offset[16], bytes[16]; /* by rank: of data */
    uint64_t pattern;
    int step; /* units of memory from one of data to the next */
};

enum { INDEPENDENT, NONBLOCKING, COLLECTIVE, SPLIT, NONBLOCKING_ALL, KINDS };

/* before: an access of another thread, whose data are not those of this one, or NULL. */
static void make_access(struct access *access, const struct view *view, const struct access *before,
                        uint64_t *random)
{
    access->kind = (int)check_random(random, before ? COLLECTIVE : KINDS);
    access->write = before ? before->write : check_random(random, 5) < 3;
    access->pattern = *random;
    access->step = 1 + (int)check_random(random, 2);
    for (int rank = 0; rank < check.size; rank++) {
        unsigned most = check_random(random, 2) ? 200 : DATA;
        int size = 0;
        for (int j = 0; j < view->n; j++)
            size += view->owner[j] == rank ? view->length[j] : 0;
        access->offset[rank] = (long)check_random(random, 300) / view->etype * view->etype;
        if (before)
            access->offset[rank] = before->offset[rank] + before->bytes[rank];
        access->bytes[rank] = (long)check_random(random, most) / view->etype * view->etype;
        if (!size || check_random(random, 6) == 0)
            access->bytes[rank] = 0;
        while (access->bytes[rank] &&
               offset_of(view, rank, access->offset[rank] + access->bytes[rank] - 1) >= ROOM)
            access->bytes[rank] = access->bytes[rank] / 2 / view->etype * view->etype;
    }
}

static unsigned char byte_of(const struct access *access, int rank, long i)
{
    return (unsigned char)(1 + (access->pattern + (uint64_t)(rank * 31 + i * 7 + i / 200)) % 255);
}

/* In the order of ranks; slots of ranks do not overlap. */
static void apply(const struct access *access, const struct view *view)
{
    for (int rank = 0; access->write && rank < check.size; rank++)
        for (long i = 0; i < access->bytes[rank]; i++) {
            long at = offset_of(view, rank, access->offset[rank] + i);
            model[at] = byte_of(access, rank, i);
            model_end = at >= model_end ? at + 1 : model_end;
        }
}

static int call(MPI_File file, const struct access *access, MPI_Offset offset, void *memory,
                int count, MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request;
    int code;
    bool write = access->write;
    switch (access->kind) {
    case INDEPENDENT:
        return write ? MPI_File_write_at(file, offset, memory, count, type, status)
                     : MPI_File_read_at(file, offset, memory, count, type, status);
    case COLLECTIVE:
        return write ? MPI_File_write_at_all(file, offset, memory, count, type, status)
                     : MPI_File_read_at_all(file, offset, memory, count, type, status);
    case SPLIT:
        code = write ? MPI_File_write_at_all_begin(file, offset, memory, count, type)
                     : MPI_File_read_at_all_begin(file, offset, memory, count, type);
        if (code)
            return code;
        return write ? MPI_File_write_at_all_end(file, memory, status)
                     : MPI_File_read_at_all_end(file, memory, status);
    case NONBLOCKING:
        code = write ? MPI_File_iwrite_at(file, offset, memory, count, type, &request)
                     : MPI_File_iread_at(file, offset, memory, count, type, &request);
        return code ? code : MPI_Wait(&request, status);
    default:
        code = write ? MPI_File_iwrite_at_all(file, offset, memory, count, type, &request)
                     : MPI_File_iread_at_all(file, offset, memory, count, type, &request);
        return code ? code : MPI_Wait(&request, status);
    }
}

/* The index in memory of byte i of the data. */
static long index_of(const struct access *access, const struct view *view, long i)
{
    int unit = view->etype == 4 ? 4 : 1;
    return i / unit * unit * access->step + i % unit;
}

/* True if the file has all bytes of a unit, whose offsets ascend or descend. */
static bool is_complete(const struct view *view, long first)
{
    return offset_of(view, check.rank, first) < model_end &&
           offset_of(view, check.rank, first + view->unit - 1) < model_end;
}

/* What a read gives: the data before the end of the file. */
static void check_read(const struct access *access, const struct view *view,
                       const unsigned char *memory, const MPI_Status *status)
{
    static unsigned char expected[2 * DATA];
    long bytes = access->bytes[check.rank], from = access->offset[check.rank], got = 0, wrong = 0;
    memset(expected, 0xEE, sizeof expected);
    while (got < bytes && is_complete(view, from + got))
        got += view->unit;
    for (long i = 0; i < got; i++)
        expected[index_of(access, view, i)] = model[offset_of(view, check.rank, from + i)];
    CHECK(file_bytes(status) == got, "kind %d: %d bytes, not %ld of %ld", access->kind,
          file_bytes(status), got, bytes);
    for (long i = 0; i < 2 * bytes; i++)
        wrong += memory[i] != expected[i];
    CHECK(!wrong, "kind %d: %ld bytes of %ld are wrong", access->kind, wrong, bytes);
}

/* An access of this rank, by a thread of its own. */
struct job {
    MPI_File file;
    const struct access *access;
    const struct view *view;
    unsigned char memory[2 * DATA];
    MPI_Status status;
};

static void *run(void *arg)
{
    struct job *job = arg;
    const struct access *access = job->access;
    long bytes = access->bytes[check.rank];
    MPI_Datatype type, basic = basic_type(job->view);
    int size;
    MPI_Type_size(basic, &size);
    MPI_Type_create_resized(basic, 0, size * access->step, &type);
    MPI_Type_commit(&type);
    memset(job->memory, 0xEE, sizeof job->memory);
    for (long i = 0; access->write && i < bytes; i++)
        job->memory[index_of(access, job->view, i)] = byte_of(access, check.rank, i);
    CHECK_CLASS(call(job->file, access, access->offset[check.rank] / job->view->etype, job->memory,
                     (int)bytes / size, type, &job->status),
                MPI_SUCCESS);
    MPI_Type_free(&type);
    return NULL;
}

static void check_job(const struct job *job)
{
    const struct access *access = job->access;
    long bytes = access->bytes[check.rank];
    if (access->write)
        CHECK(file_bytes(&job->status) == bytes, "kind %d: %d bytes, not %ld", access->kind,
              file_bytes(&job->status), bytes);
    else
        check_read(access, job->view, job->memory, &job->status);
}

/* The second access, if there is one, is by another thread at the same time. */
static void try_access(MPI_File file, MPI_File other, const struct access *accesses, int n,
                       const struct view *view)
{
    static struct job jobs[2];
    pthread_t thread;
    jobs[0].file = file;
    jobs[1].file = other;
    for (int i = 0; i < n; i++) {
        jobs[i].access = &accesses[i];
        jobs[i].view = view;
    }
    if (n > 1)
        pthread_create(&thread, NULL, run, &jobs[1]);
    run(&jobs[0]);
    if (n > 1)
        pthread_join(thread, NULL);
    for (int i = 0; i < n; i++)
        check_job(&jobs[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        apply(&accesses[i], view);
    MPI_Offset size;
    MPI_File_get_size(file, &size);
    CHECK(size == model_end, "kind %d: the file has %lld bytes, not %ld", accesses->kind,
          (long long)size, model_end);
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_File open_with_hints(MPI_Comm comm, uint64_t *random)
{
    static const struct {
        const char *key, *values[4];
    } hints[] = {{"romio_ds_write", {"automatic", "enable", "disable", "enable"}},
                 {"romio_ds_read", {"automatic", "enable", "disable", "enable"}},
                 {"romio_cb_write", {"automatic", "enable", "automatic", "disable"}},
                 {"romio_cb_read", {"automatic", "enable", "automatic", "disable"}},
                 {"ind_wr_buffer_size", {"0", "4096", "30000", "1000000"}},
                 {"ind_rd_buffer_size", {"0", "4096", "30000", "1000000"}},
                 {"cb_buffer_size", {"16777216", "8192", "20000", "4096"}},
                 {"cb_nodes", {"0", "1", "2", "3"}}};
    MPI_Info info;
    MPI_File file = MPI_FILE_NULL;
    MPI_Info_create(&info);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        MPI_Info_set(info, hints[i].key, hints[i].values[check_random(random, 4)]);
    CHECK_CLASS(MPI_File_open(comm, file_name("f"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file),
                MPI_SUCCESS);
    MPI_Info_free(&info);
    return file;
}

static void play(MPI_Comm half, uint64_t *random)
{
    static unsigned char bytes[ROOM];
    bool twice = check_random(random, 2);
    MPI_File files[2] = {open_with_hints(MPI_COMM_WORLD, random), MPI_FILE_NULL};
    struct view view;
    struct access accesses[2];
    long wrong = 0;
    if (twice)
        files[1] = open_with_hints(half, random);
    memset(model, 0, sizeof model);
    model_end = 0;
    for (int i = 0; i < ACCESSES; i++) {
        if (i % 3 == 0) {
            bool atomic = check_random(random, 8) == 0;
            make_view(&view, random);
            for (int j = 0; j <= twice; j++) {
                set_view(files[j], &view);
                CHECK_CLASS(MPI_File_set_atomicity(files[j], atomic), MPI_SUCCESS);
            }
        }
        int n = check_random(random, 3) ? 1 : 2, first = twice ? (int)check_random(random, 2) : 0;
        int second = twice ? (int)check_random(random, 2) : 0;
        make_access(&accesses[0], &view, NULL, random);
        if (n > 1)
            make_access(&accesses[1], &view, &accesses[0], random);
        try_access(files[first], files[second], accesses, n, &view);
    }
    MPI_File_set_view(files[0], 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read(files[0], bytes, (int)model_end, MPI_BYTE, MPI_STATUS_IGNORE);
    for (long i = 0; i < model_end; i++)
        wrong += bytes[i] != model[i];
    CHECK(!wrong, "%ld bytes of the file are wrong", wrong);
    for (int j = 0; j <= twice; j++)
        MPI_File_close(&files[j]);
    file_remove("f");
}

static int same_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    MPI_Aint lb;
    (void)extra;
    return MPI_Type_get_extent(type, &lb, extent);
}

int main(int argc, char **argv)
{
    check_begin_threads(&argc, &argv, 1);
    file_begin();
    uint64_t seed = check_seed(), random;
    const char *given = getenv("WEFT_TEST_FUZZ_SECONDS"), *only = getenv("WEFT_TEST_ROUND");
    double end = MPI_Wtime() + (given ? atof(given) : 0);
    int more = 1;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, check.rank % 2, 0, &half);
    CHECK_CLASS(MPI_Register_datarep("copied", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                                     same_extent, NULL),
                MPI_SUCCESS);
    for (int round = 0; more && !check.failures; round++) {
        random = check_seed_of(round, 0, 0) ^ seed;
        check_step("round %d of seed %llu", round, (unsigned long long)seed);
        if (!only || atoi(only) == round)
            play(half, &random);
        more = given ? MPI_Wtime() < end : round + 1 < ROUNDS;
        more = more && !check.failures;
        MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        CHECK(more || !check.failures, "in round %d", round);
    }
    MPI_Comm_free(&half);
    file_end();
    return check_done();
}
