// SPDX-License-Identifier: BSD-3-Clause
/*
 * For tests of files: a file in a temporary folder, whose name all ranks have.
 */
#ifndef TESTS_FILE_H
#define TESTS_FILE_H

#include "check.h"

#include <limits.h>
#include <unistd.h>

static char file_folder[PATH_MAX / 2];

/* Makes the folder at rank 0, in WEFT_TEST_FILES, which is on all nodes, or on this node. */
__attribute__((unused)) static void file_begin(void)
{
    const char *top = getenv("WEFT_TEST_FILES");
    if (!top)
        top = getenv("TMPDIR");
    snprintf(file_folder, sizeof file_folder, "%s/weft-file-XXXXXX", top ? top : "/tmp");
    if (check.rank == 0)
        CHECK(mkdtemp(file_folder), "no folder %s", file_folder);
    MPI_Bcast(file_folder, sizeof file_folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* The name of a file in it; valid until the next call. */
static const char *file_name(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", file_folder, name);
    return path;
}

/* Opens a file at all ranks. */
__attribute__((unused)) static MPI_File file_open(const char *name, int amode)
{
    MPI_File file = MPI_FILE_NULL;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, file_name(name), amode, MPI_INFO_NULL, &file),
                MPI_SUCCESS);
    return file;
}

/* Removes a file, by one rank after all have ended their accesses. */
__attribute__((unused)) static void file_remove(const char *name)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0)
        CHECK_CLASS(MPI_File_delete(file_name(name), MPI_INFO_NULL), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Removes the folder, which must be empty. */
__attribute__((unused)) static void file_end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0)
        CHECK(rmdir(file_folder) == 0, "%s is not empty", file_folder);
}

/* The number of bytes of a status. */
__attribute__((unused)) static int file_bytes(const MPI_Status *status)
{
    int bytes = -1;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    return bytes;
}

/* System calls that wrote, so far; -1: the kernel does not count them. */
__attribute__((unused)) static long file_writes(void)
{
    char line[100];
    long n = -1;
    FILE *file = fopen("/proc/self/io", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "syscw: %ld", &n) == 1)
            break;
    if (file)
        fclose(file);
    return n;
}

/* ---- Writers of records of 8 bytes, which interleave */

/* Byte i of a writer's data; never 0. */
__attribute__((unused)) static unsigned char file_value(int writer, long i)
{
    return (unsigned char)(1 + (writer * 91 + i * 3 + i / 253) % 255);
}

/* Every `stride`-th record, from record `first`. */
__attribute__((unused)) static void file_set_view(MPI_File file, int first, int stride)
{
    MPI_Datatype view;
    MPI_Type_create_resized(MPI_DOUBLE, 0, 8 * stride, &view);
    MPI_Type_commit(&view);
    CHECK_CLASS(MPI_File_set_view(file, 8 * first, MPI_DOUBLE, view, "native", MPI_INFO_NULL),
                MPI_SUCCESS);
    MPI_Type_free(&view);
}

#endif
