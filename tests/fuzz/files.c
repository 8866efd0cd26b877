// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,3,4 lanes=self,shm,rxm,nodes seconds=120
/*
 * Random views and accesses of all ranks, against an array of the file's bytes that each rank
 * computes. For some rounds, or with WEFT_TEST_FUZZ_SECONDS as many as fit into that time.
 *
 * A round has one filetype for all ranks: slots of random lengths and gaps, which random ranks own,
 * with a displacement. Some ranks have no slot, and slots may have no owner. Each access has a
 * random kind, offset and length at each rank, and its memory may have holes.
 */
#include "../mpi/file.h"

enum { SLOTS = 12, ROUNDS = 12, ACCESSES = 6, ROOM = 300000, DATA = 40000 };

static unsigned char model[ROOM];
static long model_end; /* the size of the file */

struct view {
    int disp, extent, etype; /* bytes */
    int n, at[SLOTS], length[SLOTS], owner[SLOTS];
};

static void make_view(struct view *view, uint64_t *random)
{
    static const int etypes[] = {1, 1, 4, 8};
    int at = 0, scale = check_random(random, 3) == 0 ? 700 : 12;
    view->etype = etypes[check_random(random, 4)];
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
    MPI_Type_contiguous(view->etype, MPI_BYTE, &etype);
    MPI_Type_create_hindexed(n, lengths, at, etype, &slots);
    MPI_Type_create_resized(slots, 0, view->extent, &type);
    MPI_Type_commit(&etype);
    MPI_Type_commit(&type);
    CHECK_CLASS(MPI_File_set_view(file, view->disp, etype, type, "native", MPI_INFO_NULL),
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
};

enum { INDEPENDENT, COLLECTIVE, SPLIT, NONBLOCKING, NONBLOCKING_ALL, KINDS };

static void make_access(struct access *access, const struct view *view, uint64_t *random)
{
    access->kind = (int)check_random(random, KINDS);
    access->write = check_random(random, 5) < 3;
    access->pattern = *random;
    for (int rank = 0; rank < check.size; rank++) {
        unsigned most = check_random(random, 2) ? 200 : DATA;
        int size = 0;
        for (int j = 0; j < view->n; j++)
            size += view->owner[j] == rank ? view->length[j] : 0;
        access->offset[rank] = (long)check_random(random, 300) / view->etype * view->etype;
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

/* What a read gives: the data before the end of the file. */
static void check_read(const struct access *access, const struct view *view,
                       const unsigned char *memory, long step, const MPI_Status *status)
{
    long bytes = access->bytes[check.rank], got = 0, wrong = 0;
    while (got < bytes && offset_of(view, check.rank, access->offset[check.rank] + got) < model_end)
        got++;
    CHECK(file_bytes(status) == got, "kind %d: %d bytes, not %ld of %ld", access->kind,
          file_bytes(status), got, bytes);
    for (long i = 0; i < bytes * step; i++) {
        bool data = i % step == 0 && i / step < got;
        long at = data ? offset_of(view, check.rank, access->offset[check.rank] + i / step) : 0;
        wrong += memory[i] != (data ? model[at] : 0xEE);
    }
    CHECK(!wrong, "kind %d: %ld bytes of %ld are wrong", access->kind, wrong, bytes);
}

static void try_access(MPI_File file, const struct access *access, const struct view *view,
                       uint64_t *random)
{
    static unsigned char memory[2 * DATA];
    long bytes = access->bytes[check.rank], step = 1 + (long)check_random(random, 2);
    MPI_Datatype type;
    MPI_Status status;
    MPI_Type_create_resized(MPI_BYTE, 0, step, &type);
    MPI_Type_commit(&type);
    memset(memory, 0xEE, sizeof memory);
    for (long i = 0; access->write && i < bytes; i++)
        memory[i * step] = byte_of(access, check.rank, i);
    CHECK_CLASS(call(file, access, access->offset[check.rank] / view->etype, memory, (int)bytes,
                     type, &status),
                MPI_SUCCESS);
    if (access->write)
        CHECK(file_bytes(&status) == bytes, "kind %d: %d bytes, not %ld", access->kind,
              file_bytes(&status), bytes);
    else
        check_read(access, view, memory, step, &status);
    MPI_Type_free(&type);
    MPI_Barrier(MPI_COMM_WORLD);
    apply(access, view);
    MPI_Offset size;
    MPI_File_get_size(file, &size);
    CHECK(size == model_end, "kind %d: the file has %lld bytes, not %ld", access->kind,
          (long long)size, model_end);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void play(uint64_t *random)
{
    static unsigned char bytes[ROOM];
    MPI_File file = file_open("f", MPI_MODE_CREATE | MPI_MODE_RDWR);
    struct view view;
    struct access access;
    long wrong = 0;
    memset(model, 0, sizeof model);
    model_end = 0;
    for (int i = 0; i < ACCESSES; i++) {
        if (i % 3 == 0) {
            make_view(&view, random);
            set_view(file, &view);
            CHECK_CLASS(MPI_File_set_atomicity(file, check_random(random, 8) == 0), MPI_SUCCESS);
        }
        make_access(&access, &view, random);
        try_access(file, &access, &view, random);
    }
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read(file, bytes, (int)model_end, MPI_BYTE, MPI_STATUS_IGNORE);
    for (long i = 0; i < model_end; i++)
        wrong += bytes[i] != model[i];
    CHECK(!wrong, "%ld bytes of the file are wrong", wrong);
    MPI_File_close(&file);
    file_remove("f");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    file_begin();
    uint64_t seed = check_seed(), random;
    const char *given = getenv("WEFT_TEST_FUZZ_SECONDS"), *only = getenv("WEFT_TEST_ROUND");
    double end = MPI_Wtime() + (given ? atof(given) : 0);
    int more = 1;
    for (int round = 0; more && !check.failures; round++) {
        random = check_seed_of(round, 0, 0) ^ seed;
        check_step("round %d of seed %llu", round, (unsigned long long)seed);
        if (!only || atoi(only) == round)
            play(&random);
        more = given ? MPI_Wtime() < end : round + 1 < ROUNDS;
        more = more && !check.failures;
        MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        CHECK(more || !check.failures, "in round %d", round);
    }
    file_end();
    return check_done();
}
