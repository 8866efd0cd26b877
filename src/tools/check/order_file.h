// SPDX-License-Identifier: BSD-3-Clause
/*
 * The file of a rank's choices (order.h): a head, then entries, the first empty one of which is the
 * end. It is mapped, and enlarged when it is full.
 */
#ifndef WEFT_CHECK_ORDER_FILE_H
#define WEFT_CHECK_ORDER_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct check_choice {
    int32_t call;  /* enum weft_call_number, plus 1; 0: the end */
    int32_t value; /* of a flag, an index, or a number of indices in the entries that follow */
    int32_t source;
    int32_t times; /* equal results, one after the other */
};

struct check_order_file {
    struct check_order_head {
        char magic[24];
        char version[24]; /* numbers of calls differ between versions */
        int32_t rank, size;
        int32_t is_complete; /* the rank has called MPI_Finalize */
        int32_t unused;
    } * head;
    int64_t n, capacity; /* entries */
    size_t bytes;
    int file; /* -1: it is not open */
};

/* Makes the file, or opens one to be read. False: errno is set, or is 0 for a file that is not of
 * this version, rank or size. */
bool check_order_file_make(struct check_order_file *file, const char *path, int rank, int size);
bool check_order_file_open(struct check_order_file *file, const char *path, int rank, int size);

/* Appends an entry and returns its index; -1: the disk is full, and the file is closed. */
int64_t check_order_file_add(struct check_order_file *file, struct check_choice choice);

static inline struct check_choice *check_order_file_entry(const struct check_order_file *file,
                                                          int64_t i)
{
    return (struct check_choice *)(file->head + 1) + i;
}

void check_order_file_close(struct check_order_file *file, bool is_complete);

#endif
