// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checkpoints by MPI's collective access to files; see checkpoint.h.
 */
#include "checkpoint.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct header {
    char magic[8];
    int32_t sizes[CHECKPOINT_SIZES];
    int32_t unused;
};

static const char magic[8] = "heat2d 1";

/* Whether a call has succeeded; else the sentence. */
static bool good(int code, const char *path, char *why, size_t len)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return true;
    MPI_Error_string(code, text, &length);
    snprintf(why, len, "checkpoint %s: %s", path, text);
    return false;
}

/* A block among the cells of a larger field. */
static MPI_Datatype subarray(int height, int width, struct span y, struct span x)
{
    int sizes[] = {height, width}, counts[] = {y.count, x.count}, begins[] = {y.begin, x.begin};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, sizes, counts, begins, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Writes or reads this rank's block, a subarray of the plate and, in memory, of an array with
 * a border. Returns the code of the first call that failed. */
static int move_block(MPI_File file, bool write, const struct layout *l, const struct block *mine)
{
    struct span inner_y = {1, mine->y.count}, inner_x = {1, mine->x.count};
    MPI_Datatype view = subarray(l->height, l->width, mine->y, mine->x);
    MPI_Datatype cells = subarray(mine->y.count + 2, (int)mine->pitch, inner_y, inner_x);
    MPI_Status status;
    int count = 0, wanted = mine->x.count * mine->y.count;
    int code =
        MPI_File_set_view(file, sizeof(struct header), MPI_DOUBLE, view, "native", MPI_INFO_NULL);
    if (code == MPI_SUCCESS && write)
        code = MPI_File_write_all(file, mine->old, 1, cells, &status);
    else if (code == MPI_SUCCESS)
        code = MPI_File_read_all(file, mine->old, 1, cells, &status);
    if (code == MPI_SUCCESS)
        MPI_Get_count(&status, MPI_DOUBLE, &count);
    if (code == MPI_SUCCESS && count != wanted)
        code = MPI_ERR_IO; /* the file ends before the plate does */
    MPI_Type_free(&view);
    MPI_Type_free(&cells);
    return code;
}

static int put_header(MPI_File file, const struct header *header)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return MPI_File_write_at_all(file, 0, header, rank == 0 ? (int)sizeof *header : 0, MPI_BYTE,
                                 MPI_STATUS_IGNORE);
}

bool checkpoint_write(const char *path, const struct layout *l, const struct block *mine, int max,
                      char *why, size_t len)
{
    struct header header = {.sizes = {l->width, l->height, max}};
    MPI_File file;
    MPI_Offset bytes = (MPI_Offset)l->width * l->height * (MPI_Offset)sizeof(double);
    int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                             &file);
    if (!good(code, path, why, len))
        return false;
    memcpy(header.magic, magic, sizeof magic);
    code = MPI_File_set_size(file, (MPI_Offset)sizeof header + bytes); /* of an older file too */
    if (code == MPI_SUCCESS)
        code = put_header(file, &header);
    if (code == MPI_SUCCESS)
        code = move_block(file, true, l, mine);
    if (code == MPI_SUCCESS)
        code = MPI_File_sync(file); /* the disk has it */
    bool done = good(code, path, why, len);
    return good(MPI_File_close(&file), path, why, len) && done;
}

static int open_to_read(const char *path, MPI_File *file)
{
    return MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, file);
}

bool checkpoint_sizes(const char *path, int sizes[CHECKPOINT_SIZES], char *why, size_t len)
{
    struct header header = {.sizes = {0}};
    MPI_File file;
    if (!good(open_to_read(path, &file), path, why, len))
        return false;
    int code = MPI_File_read_at_all(file, 0, &header, sizeof header, MPI_BYTE, MPI_STATUS_IGNORE);
    bool done = good(code, path, why, len);
    MPI_File_close(&file);
    for (int i = 0; i < CHECKPOINT_SIZES; i++)
        sizes[i] = header.sizes[i];
    if (done && (memcmp(header.magic, magic, sizeof magic) || sizes[CHECKPOINT_WIDTH] < 1 ||
                 sizes[CHECKPOINT_HEIGHT] < 1 || sizes[CHECKPOINT_MAX] < 1)) {
        snprintf(why, len, "%s is not a checkpoint of heat2d", path);
        return false;
    }
    return done;
}

bool checkpoint_read(const char *path, const struct layout *l, struct block *mine, char *why,
                     size_t len)
{
    MPI_File file;
    if (!good(open_to_read(path, &file), path, why, len))
        return false;
    bool done = good(move_block(file, false, l, mine), path, why, len);
    MPI_File_close(&file);
    return done;
}
