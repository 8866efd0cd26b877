// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,3 lanes=self,shm,rxm seconds=90
/*
 * Reads and writes through random views, from and to memory with and without holes, by every
 * function with an offset or a pointer: against the offsets that MPI_Pack gives for the filetype.
 * Ranks write disjoint bytes; bytes in holes of the file and of memory stay as they were.
 */
#include "file.h"

#include <fcntl.h>

enum { INTS = 4000, TILES = 10, MARK = -77, TYPES = 4, CALLS = 5 };

static unsigned seed = 1;

static int pick(int low, int high)
{
    seed = seed * 1103515245u + 12345u;
    return low + (int)(seed >> 8) % (high - low + 1);
}

/* A filetype of ints, in which every rank has other ints. *ints: in one tile of this rank. */
static MPI_Datatype make_filetype(int kind, int *ints)
{
    MPI_Datatype inner, type = MPI_DATATYPE_NULL;
    int n = pick(1, 4), block = pick(1, 20), tile = n * block * check.size + pick(0, 3);
    MPI_Aint at = (MPI_Aint)check.rank * block * 4, extent = (MPI_Aint)tile * 4;
    int starts[] = {0, check.rank}, sizes[] = {n, check.size * block}, part[] = {n, block};
    int lengths[4];
    MPI_Aint places[4];
    starts[1] = check.rank * block;
    if (kind == 0)
        MPI_Type_create_hvector(n, block, (MPI_Aint)block * check.size * 4, MPI_INT, &inner);
    else if (kind == 1)
        MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &inner);
    else if (kind == 2) /* blocks of different lengths */
        for (int i = 0; i < n; i++) {
            lengths[i] = pick(1, block);
            places[i] = (MPI_Aint)i * block * check.size * 4;
        }
    else { /* the rank's blocks are contiguous */
        MPI_Type_contiguous(n * block, MPI_INT, &inner);
        at *= n;
    }
    *ints = n * block;
    if (kind == 2) {
        MPI_Type_create_hindexed(n, lengths, places, MPI_INT, &inner);
        MPI_Type_size(inner, ints);
        *ints /= 4;
    }
    if (kind == 1)
        at = 0;
    int one = 1;
    MPI_Type_create_hindexed(1, &one, &at, inner, &type);
    MPI_Type_free(&inner);
    inner = type;
    MPI_Type_create_resized(inner, 0, extent, &type);
    MPI_Type_free(&inner);
    MPI_Type_commit(&type);
    return type;
}

/* offsets[i]: the int of the file that is int i of the view. */
static void list_offsets(MPI_Datatype filetype, int ints, int *offsets)
{
    static int image[200000];
    int position = 0;
    for (int i = 0; i < (int)(sizeof image / sizeof *image); i++)
        image[i] = i;
    MPI_Pack(image, TILES, filetype, offsets, ints * TILES * 4, &position, MPI_COMM_SELF);
    CHECK(position == ints * TILES * 4, "%d bytes were packed", position);
}

/* `count` ints from int `from` of the view, by one of the functions; the memory has a hole behind
 * each int if `holes`. */
static void transfer(MPI_File file, int call, int from, int *memory, int count, int holes,
                     int writes)
{
    MPI_Datatype type = MPI_INT;
    MPI_Request request;
    MPI_Status status;
    MPI_Offset position;
    if (holes)
        MPI_Type_create_resized(MPI_INT, 0, 8, &type);
    MPI_Type_commit(&type);
    MPI_File_seek(file, from, MPI_SEEK_SET);
    if (call == 0 && writes)
        MPI_File_write_at(file, from, memory, count, type, &status);
    else if (call == 0)
        MPI_File_read_at(file, from, memory, count, type, &status);
    else if (call == 1 && writes)
        MPI_File_write_all_c(file, memory, count, type, &status);
    else if (call == 1)
        MPI_File_read_all_c(file, memory, count, type, &status);
    else if (call == 2 && writes)
        MPI_File_iwrite(file, memory, count, type, &request);
    else if (call == 2)
        MPI_File_iread(file, memory, count, type, &request);
    else if (call == 3 && writes) {
        MPI_File_write_at_all_begin(file, from, memory, count, type);
        CHECK_CLASS(MPI_File_write_all_end(file, memory, &status), MPI_ERR_IO);
        MPI_File_write_at_all_end(file, memory, &status);
    } else if (call == 3) {
        MPI_File_read_at_all_begin(file, from, memory, count, type);
        MPI_File_read_at_all_end(file, memory, &status);
    } else if (writes)
        MPI_File_write(file, memory, count, type, &status);
    else
        MPI_File_read(file, memory, count, type, &status);
    if (call == 2)
        MPI_Wait(&request, &status);
    CHECK(file_bytes(&status) == 4 * count, "call %d moved %d bytes of %d", call,
          file_bytes(&status), 4 * count);
    MPI_File_get_position(file, &position);
    CHECK(position == from + (call == 0 || call == 3 ? 0 : count),
          "call %d left the pointer at %lld", call, (long long)position);
    if (holes)
        MPI_Type_free(&type);
}

static void try_view(int trial)
{
    static int offsets[INTS * TILES], memory[2 * INTS], back[2 * INTS], whole[200000];
    int ints, call = trial % CALLS, holes = pick(0, 1), disp = pick(0, 5);
    MPI_Datatype filetype = make_filetype(trial % TYPES, &ints), etype, got;
    MPI_File file = file_open("v", MPI_MODE_CREATE | MPI_MODE_RDWR);
    char representation[MPI_MAX_DATAREP_STRING];
    MPI_Offset at = -1;
    CHECK_CLASS(MPI_File_set_view(file, disp * 4, MPI_INT, filetype, "native", MPI_INFO_NULL),
                MPI_SUCCESS);
    MPI_File_get_view(file, &at, &etype, &got, representation);
    CHECK(at == disp * 4 && etype == MPI_INT && !strcmp(representation, "native"), "another view");
    MPI_Type_free(&got);
    list_offsets(filetype, ints, offsets);
    MPI_Type_free(&filetype);
    int from = pick(0, ints * 5), count = pick(0, ints * TILES - from);
    if (count > INTS)
        count = INTS;
    for (int i = 0; i < 2 * INTS; i++) {
        memory[i] = holes && i % 2 ? MARK : 1000000 * (check.rank + 1) + trial * 10000 + i;
        back[i] = MARK;
    }
    transfer(file, call, from, memory, count, holes, 1);
    MPI_File_get_byte_offset(file, from, &at);
    CHECK(at == 4 * (disp + offsets[from]), "the byte offset is %lld", (long long)at);
    transfer(file, (call + 1) % CALLS, from, back, count, holes, 0);
    CHECK(!memcmp(memory, back, (holes ? 2 : 1) * (size_t)count * 4) || holes, "other data");
    for (int i = 0; i < count * (holes ? 2 : 1); i++)
        CHECK(back[i] == (holes && i % 2 ? MARK : memory[i]), "int %d is %d", i, back[i]);
    CHECK(back[count * (holes ? 2 : 1)] == MARK, "a read wrote behind its data");
    MPI_File_sync(file);
    memset(whole, 0, sizeof whole);
    int fd = open(file_name("v"), O_RDONLY);
    CHECK(fd >= 0 && read(fd, whole, sizeof whole) >= 0, "the file cannot be read");
    close(fd);
    for (int i = 0; i < count; i++) {
        int *found = &whole[disp + offsets[from + i]];
        CHECK(*found == memory[holes ? 2 * i : i], "int %d of the file is %d", offsets[from + i],
              *found);
        *found = 0;
    }
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        CHECK(whole[i] == 0 || whole[i] / 1000000 != check.rank + 1, "a hole has %d", whole[i]);
    MPI_File_close(&file);
    file_remove("v");
}

static int deletions;

static int on_delete(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

/* Types of a view that the program frees have no attributes of the types that it has set. */
static void types_of_view(void)
{
    MPI_File file = file_open("t", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype pair, etype, filetype, inner, outer, returned;
    MPI_Offset disp;
    MPI_Aint address;
    char representation[MPI_MAX_DATAREP_STRING];
    int key, flag = 0, count, *value;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_set_attr(pair, key, &deletions);
    MPI_File_set_view(file, 0, pair, pair, "native", MPI_INFO_NULL);
    for (int i = 0; i < 3; i++) {
        MPI_File_get_view(file, &disp, &etype, &filetype, representation);
        CHECK_CLASS(MPI_File_set_view(file, 0, etype, filetype, "native", MPI_INFO_NULL),
                    MPI_SUCCESS);
        MPI_Type_free(&etype);
        MPI_Type_free(&filetype);
    }
    MPI_Type_contiguous(2, MPI_INT, &inner); /* not committed; the type that has it returns it */
    MPI_Type_contiguous(2, inner, &outer);
    MPI_Type_get_contents(outer, 1, 0, 1, &count, &address, &returned);
    MPI_Type_commit(&returned);
    MPI_File_set_view(file, 0, returned, returned, "native", MPI_INFO_NULL);
    MPI_File_get_view(file, &disp, &etype, &filetype, representation);
    CHECK_CLASS(MPI_File_set_view(file, 0, etype, filetype, "native", MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Type_free(&etype);
    MPI_Type_free(&filetype);
    MPI_Type_free(&returned);
    MPI_Type_free(&outer);
    MPI_Type_free(&inner);
    MPI_Type_get_attr(pair, key, &value, &flag);
    CHECK(flag && deletions == 0, "the attribute was deleted %d times", deletions);
    MPI_File_close(&file);
    MPI_Type_free(&pair);
    CHECK(deletions == 1, "%d attributes were deleted", deletions);
    MPI_Type_free_keyval(&key);
    file_remove("t");
}

/* Reads at the end of file have the bytes that are there, and leave the rest of the buffer. */
static void end_of_file(void)
{
    MPI_File file = file_open("e", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype strided;
    MPI_Request request;
    MPI_Status status;
    MPI_Offset position;
    int memory[10], data[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    if (check.rank == 0)
        MPI_File_write_at(file, 0, data, 10, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 10; i++)
        memory[i] = MARK;
    MPI_Type_create_resized(MPI_INT, 0, 8, &strided);
    MPI_Type_commit(&strided);
    MPI_File_set_view(file, 0, MPI_INT, strided, "native", MPI_INFO_NULL);
    MPI_Type_free(&strided);
    MPI_File_read_all(file, memory, 10, MPI_INT, &status);
    CHECK(file_bytes(&status) == 20, "%d bytes of a strided read", file_bytes(&status));
    for (int i = 0; i < 10; i++)
        CHECK(memory[i] == (i < 5 ? 2 * i : MARK), "int %d is %d", i, memory[i]);
    MPI_File_get_position(file, &position);
    CHECK(position == 10, "the pointer is %lld", (long long)position);
    MPI_File_seek(file, -1, MPI_SEEK_END);
    MPI_File_get_position(file, &position);
    CHECK(position == 4, "the pointer is %lld", (long long)position);
    CHECK_CLASS(MPI_File_seek(file, -5, MPI_SEEK_CUR), MPI_ERR_ARG);
    MPI_File_iread_at(file, 100, memory, 10, MPI_INT, &request);
    MPI_Wait(&request, &status);
    CHECK(file_bytes(&status) == 0, "%d bytes behind the end", file_bytes(&status));
    MPI_File_close(&file);
    file_remove("e");
}

/* A view of a million blocks costs no memory or time for each of them. */
static void many_blocks(void)
{
    enum { BLOCKS = 1000000 };
    MPI_File file = file_open("m", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype vector;
    MPI_Offset at, size;
    MPI_Type_vector(BLOCKS, 1, 2, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    double value = check.rank, start = MPI_Wtime();
    MPI_File_set_view(file, check.rank * 8, MPI_DOUBLE, vector, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, BLOCKS - 1, &value, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    CHECK(MPI_Wtime() - start < 1, "the view took %.3f s", MPI_Wtime() - start);
    MPI_File_get_byte_offset(file, BLOCKS - 1, &at);
    CHECK(at == check.rank * 8 + 16 * (MPI_Offset)(BLOCKS - 1), "offset %lld", (long long)at);
    MPI_File_seek(file, 0, MPI_SEEK_END);
    MPI_File_get_position(file, &at);
    MPI_File_get_size(file, &size);
    CHECK(at >= BLOCKS && size >= 16 * (MPI_Offset)(BLOCKS - 1), "position %lld of %lld",
          (long long)at, (long long)size);
    MPI_File_close(&file);
    MPI_Type_free(&vector);
    file_remove("m");
}

/* A filetype whose second copy would overlap the first, of which only the first is accessed: so
 * HDF5 describes chunks of which some are selected in part. */
static void one_filetype(void)
{
    enum { CHUNK = 28, PART = 4, ALL = 2 * CHUNK + PART };
    int lengths[] = {CHUNK, PART, CHUNK}, out[2 * ALL], in[2 * ALL];
    MPI_Aint each = (MPI_Aint)CHUNK * 4 * check.size;
    MPI_Aint places[] = {0, each, 2 * each};
    MPI_Datatype ints[] = {MPI_INT, MPI_INT, MPI_INT}, chunks, type;
    MPI_Offset offset;
    MPI_Type_create_struct(3, lengths, places, ints, &chunks);
    MPI_Type_create_resized(chunks, each, CHUNK * 4, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&chunks);
    for (int trial = 0; trial < 2 * CALLS; trial++) {
        int holes = trial % 2, from = trial / 4, call = trial / 2;
        check_step("one filetype, call %d", call);
        MPI_File file = file_open("c", MPI_MODE_CREATE | MPI_MODE_RDWR);
        CHECK_CLASS(MPI_File_set_view(file, (MPI_Offset)CHUNK * 4 * check.rank, MPI_INT, type,
                                      "native", MPI_INFO_NULL),
                    MPI_SUCCESS);
        for (int i = 0; i < 2 * ALL; i++) {
            out[i] = 1000 * check.rank + 10 * i + trial;
            in[i] = MARK;
        }
        transfer(file, call, from, out, ALL - from, holes, 1);
        MPI_Barrier(MPI_COMM_WORLD);
        transfer(file, call, from, in, ALL - from, holes, 0);
        for (int i = 0; i < ALL - from; i++)
            CHECK(in[i << holes] == out[i << holes], "int %d is %d", i, in[i << holes]);
        MPI_File_get_byte_offset(file, ALL + 1, &offset);
        CHECK(offset == (MPI_Offset)CHUNK * 4 * (check.rank + 1) + 4, "the next is at %lld",
              (long long)offset);
        MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
        for (int i = from; i < ALL; i++) { /* by the place of each int */
            int chunk = i < CHUNK ? 0 : i < CHUNK + PART ? 1 : 2, got = 0;
            int first = chunk == 2 ? CHUNK + PART : chunk * CHUNK;
            MPI_File_read_at(file, (chunk * check.size + check.rank) * CHUNK + i - first, &got, 1,
                             MPI_INT, MPI_STATUS_IGNORE);
            CHECK(got == out[(i - from) << holes], "int %d in the file is %d", i, got);
        }
        MPI_File_close(&file);
        file_remove("c");
    }
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    file_begin();
    for (int trial = 0; trial < 40; trial++) {
        check_step("view %d", trial);
        try_view(trial);
    }
    types_of_view();
    end_of_file();
    many_blocks();
    one_filetype();
    file_end();
    return check_done();
}
