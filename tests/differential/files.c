// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files of random programs. Ranks write disjoint bytes through a view, and read them back through
 * it and as bytes of the whole file.
 *
 * What the libraries to compare with are known to do wrong is not done: independent writes with
 * holes beside others, strided reads beyond the end, atomic mode, split access that is not ended.
 * And MPICH 4.0 leaves old memory in holes behind the end of the file, so it is made longer before;
 * Open MPI 4.1 ends a collective write of a rank whose data another rank has not written yet, so
 * there is a barrier before they are read.
 */
#include "program.h"

#include <unistd.h>

enum { TILE = 12, FILE_BYTES = 1 << 20 };

/* Hints, which do not change what a call does; those of ROMIO are of MPICH and Weft. */
static MPI_Info make_hints(void)
{
    static const char *const keys[] = {"romio_ds_write", "romio_ds_read", "romio_cb_write",
                                       "romio_cb_read"};
    static const char *const values[] = {"automatic", "enable", "disable"};
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i < 4; i++)
        MPI_Info_set(info, keys[i], values[below(3)]);
    return info;
}

/* In TMPDIR; rank 0 of the communicator makes it. */
static MPI_File open_file(MPI_Comm comm, int rank)
{
    char name[300] = "";
    MPI_File file;
    if (rank == 0) {
        const char *folder = getenv("TMPDIR");
        snprintf(name, sizeof name, "%s/weft-differential-XXXXXX", folder ? folder : "/tmp");
        int fd = mkstemp(name);
        if (fd < 0 || close(fd))
            abort();
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, comm);
    MPI_Info info = make_hints();
    int code = MPI_File_open(comm, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file);
    MPI_Info_free(&info);
    note(code == MPI_SUCCESS);
    if (code != MPI_SUCCESS)
        abort();
    return file;
}

static void note_count(const MPI_Status *status)
{
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    note(bytes);
}

static void note_offset(MPI_File file)
{
    MPI_Offset at, byte;
    MPI_File_get_position(file, &at);
    MPI_File_get_byte_offset(file, at, &byte);
    note(at);
    note(byte);
}

/* Tiles of etypes, one of each rank in turn; a rank has data in a part of its own. */
static MPI_Datatype tiles(MPI_Datatype etype, int size, int rank, int ranks)
{
    int lengths[TILE], at[TILE], n = 0, tile = 1 + below(TILE), first = below(tile);
    MPI_Datatype blocks, resized;
    for (int i = 0; i < tile; i++)
        if (i == first || below(3) == 0) {
            lengths[n] = 1;
            at[n++] = rank * tile + i;
        }
    MPI_Type_indexed(n, lengths, at, etype, &blocks);
    MPI_Type_create_resized(blocks, 0, (MPI_Aint)ranks * tile * size, &resized);
    MPI_Type_commit(&resized);
    MPI_Type_free(&blocks);
    return resized;
}

/* The ways of a collective access at an offset, or at the individual pointer. */
static void access_all(MPI_File file, int way, bool write, MPI_Offset at, void *data, int count,
                       MPI_Datatype type)
{
    MPI_Status status;
    MPI_Request request;
    switch (way) {
    case 0:
        if (write)
            MPI_File_write_at_all(file, at, data, count, type, &status);
        else
            MPI_File_read_at_all(file, at, data, count, type, &status);
        break;
    case 1:
        MPI_File_seek(file, at, MPI_SEEK_SET);
        if (write)
            MPI_File_write_all(file, data, count, type, &status);
        else
            MPI_File_read_all(file, data, count, type, &status);
        note_offset(file);
        break;
    case 2:
        if (write) {
            MPI_File_write_at_all_begin(file, at, data, count, type);
            MPI_File_write_at_all_end(file, data, &status);
        } else {
            MPI_File_read_at_all_begin(file, at, data, count, type);
            MPI_File_read_at_all_end(file, data, &status);
        }
        break;
    default:
        if (write)
            MPI_File_iwrite_at_all(file, at, data, count, type, &request);
        else
            MPI_File_iread_at_all(file, at, data, count, type, &request);
        MPI_Wait(&request, &status);
    }
    note_count(&status);
}

/* Makes the file as long as all ranks' accesses of so many etypes. */
static void extend(MPI_File file, MPI_Comm comm, MPI_Offset etypes)
{
    MPI_Offset end, most, size;
    MPI_File_get_byte_offset(file, etypes, &end);
    MPI_Allreduce(&end, &most, 1, MPI_OFFSET, MPI_MAX, comm);
    MPI_File_get_size(file, &size);
    MPI_Barrier(comm);
    if (most > size)
        MPI_File_set_size(file, most);
}

/* The whole file by one rank, which others may have written. */
static void note_file(MPI_File file, MPI_Comm comm)
{
    static char bytes[FILE_BYTES];
    MPI_Offset size;
    MPI_Status status;
    MPI_File_sync(file);
    MPI_Barrier(comm);
    MPI_File_sync(file);
    MPI_File_get_size(file, &size);
    note(size);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, bytes, FILE_BYTES, MPI_BYTE, &status);
    note_count(&status);
    note_bytes(bytes, size < FILE_BYTES ? (size_t)size : FILE_BYTES);
    MPI_Barrier(comm);
}

/* Blocks of the ranks one after the other, written independently. */
static void write_blocks(MPI_File file, int rank, const char *data, int bytes)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Offset at = (MPI_Offset)rank * bytes;
    int way = below(3);
    if (way == 0) {
        MPI_File_write_at(file, at, data, bytes, MPI_BYTE, &status);
    } else if (way == 1) {
        MPI_File_iwrite_at(file, at, data, bytes, MPI_BYTE, &request);
        MPI_Wait(&request, &status);
    } else {
        MPI_File_seek(file, at + 5, MPI_SEEK_SET);
        MPI_File_seek(file, -5, MPI_SEEK_CUR);
        MPI_File_write(file, data, bytes, MPI_BYTE, &status);
        note_offset(file);
    }
    note_count(&status);
}

void do_file(void)
{
    MPI_Comm comm;
    MPI_Status status;
    int rank, ranks;
    if (!pick_ranks(&comm, &rank, &ranks))
        return;
    MPI_File file = open_file(comm, rank);
    struct type *type = pick_type();
    int count = below(4) ? below(20) : below(200), way = below(4), size = type->size;
    int bytes = count * size;
    bool ints = size % (int)sizeof(int) == 0 && below(2);
    MPI_Datatype etype = ints ? MPI_INT : MPI_BYTE;
    MPI_Offset disp = 4 * below(50), at = below(30);
    void *in = to_send(type, count, world_rank), *out = to_receive(type, count);
    note(100 * way + count);
    if (below(4) == 0) {
        char *block = to_send(&(struct type){.extent = 1}, bytes + 1, world_rank + 1);
        write_blocks(file, rank, block, bytes);
        MPI_File_set_size(file, (MPI_Offset)ranks * bytes + below(100));
        note_file(file, comm);
    }
    if (below(4) == 0) {
        char *block = to_send(&(struct type){.extent = 1}, 100, world_rank + 2);
        MPI_File_write_ordered(file, block, 10 + below(60) % (rank + 2), MPI_BYTE, &status);
        MPI_File_get_position_shared(file, &at);
        note(at);
        at %= 30;
        note_file(file, comm);
    }
    MPI_Datatype view = tiles(etype, ints ? (int)sizeof(int) : 1, rank, ranks);
    MPI_File_set_view(file, disp, etype, view, "native", MPI_INFO_NULL);
    MPI_Type_free(&view);
    note_offset(file);
    extend(file, comm, at + bytes / (ints ? (int)sizeof(int) : 1));
    access_all(file, way, true, at, in, count, type->type);
    MPI_Barrier(comm);
    access_all(file, below(4), false, at, out, count, type->type);
    note_bytes(out, bytes_of(type, count));
    note_file(file, comm);
    MPI_File_close(&file);
    note(file == MPI_FILE_NULL);
}
