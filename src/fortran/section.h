// SPDX-License-Identifier: BSD-3-Clause
/*
 * Choice buffers of mpi_f08 that are sections with gaps, as the compiler describes them. Counts and
 * datatypes mean what they would mean for the packed copy: the elements of the section, one after
 * the other in array element order.
 *
 * A buffer with one count and one datatype gets a datatype that describes its elements in the
 * section (describe): no copy is made, and the received data alone are written. Blocks for each
 * rank get one if their gaps are alike (weft_fortran_describe_blocks, weft_fortran_describe_each).
 * Where one datatype cannot describe the buffer, the call gets a packed copy (copy), and only the
 * bytes that the counts and datatypes of the call name are written back: that is so for
 *  - reductions: one datatype describes both buffers, and operations take predefined datatypes;
 *  - blocks with different gaps: one datatype stands for all of them;
 *  - packed data, which are bytes.
 * kept.c keeps the copies of nonblocking and persistent calls until their request completes.
 */
#ifndef WEFT_FORTRAN_SECTION_H
#define WEFT_FORTRAN_SECTION_H

#include "fortran/glue.h"

/* Bytes of the packed copy. */
struct weft_fortran_span {
    MPI_Count at, length;
};

struct weft_fortran_section {
    const CFI_cdesc_t *of;
    bool result;     /* the call writes the buffer */
    bool made;       /* the datatype is to be freed */
    void *address;   /* what to pass instead of the buffer, the count and the datatype */
    MPI_Count count; /* the same number as small_count, which calls with int counts take */
    int small_count, type;
    char *packed;  /* the copy, or NULL */
    MPI_Count end; /* bytes in the copy */
    struct weft_fortran_span *spans;
    size_t number, space; /* spans to write back, and members of the array */
};

#define WEFT_FORTRAN_SECTION(buffer, is_result)                                                    \
    {                                                                                              \
        .of = (buffer), .result = (is_result), .address = (buffer)->base_addr                      \
    }

/* True for a scalar and for a contiguous array of one dimension. */
static inline bool weft_fortran_is_contiguous(const CFI_cdesc_t *buffer)
{
    return buffer->rank == 1 ? buffer->dim[0].sm == (CFI_index_t)buffer->elem_len
                             : buffer->rank == 0;
}

bool weft_fortran_gaps(const CFI_cdesc_t *buffer);

static inline bool weft_fortran_has_gaps(const CFI_cdesc_t *buffer)
{
    return !weft_fortran_is_contiguous(buffer) && weft_fortran_gaps(buffer);
}

static inline bool weft_fortran_is_in_place(const CFI_cdesc_t *buffer)
{
    return WEFT_FORTRAN_IS(buffer->base_addr, IN_PLACE);
}

/* ---- What follows returns false after raising an error of the call, which then must not be made.
 * A buffer without gaps, and arguments that the C function refuses, are passed as they are. */

/* `partitions` times `count` elements of the datatype; 0 partitions: the call does not use the
 * buffer on this rank. */
bool weft_fortran_describe(struct weft_fortran_section *section, struct weft_fortran_call *call,
                           MPI_Count partitions, MPI_Count count, int datatype);

/* n blocks of `count` elements of the datatype, one after the other; 0: not used. */
bool weft_fortran_describe_blocks(struct weft_fortran_section *section,
                                  struct weft_fortran_call *call, int n, MPI_Count count,
                                  int datatype);
bool weft_fortran_copy(struct weft_fortran_section *section, struct weft_fortran_call *call, int n,
                       MPI_Count count, int datatype);

/* An array of int, or of MPI_Count or MPI_Aint. */
struct weft_fortran_numbers {
    const void *array;
    bool wide;
};

static inline struct weft_fortran_numbers weft_fortran_ints(const int *array)
{
    return (struct weft_fortran_numbers){array, false};
}

static inline struct weft_fortran_numbers weft_fortran_wide(const void *array)
{
    return (struct weft_fortran_numbers){array, true};
}

/* n blocks, each with a count and a displacement, in extents of the datatype. */
bool weft_fortran_describe_each(struct weft_fortran_section *section,
                                struct weft_fortran_call *call, int n,
                                struct weft_fortran_numbers counts,
                                struct weft_fortran_numbers displs, int datatype);

/* The same with a datatype for each block, and displacements in bytes. */
bool weft_fortran_copy_each(struct weft_fortran_section *section, struct weft_fortran_call *call,
                            int n, struct weft_fortran_numbers counts,
                            struct weft_fortran_numbers displs, const int *datatypes);

/* `all` elements, of which the call writes the first ones. */
bool weft_fortran_copy_first(struct weft_fortran_section *section, struct weft_fortran_call *call,
                             MPI_Count first, MPI_Count all, int datatype);

/* One element, which MPI_Fetch_and_op and MPI_Compare_and_swap take. */
bool weft_fortran_one(struct weft_fortran_call *call, const CFI_cdesc_t *buffer, int datatype);

/* Raises the error of a call that cannot take a section with gaps. */
WEFT_COLD bool weft_fortran_refuse(struct weft_fortran_call *call);

/* The other ranks of a collective call that this rank does not make get its error, too: `statement`
 * makes the call without a datatype. The error handler gets the first error alone. */
#define WEFT_FORTRAN_REFUSE(call, statement)                                                       \
    do {                                                                                           \
        MPI_Errhandler saved = weft_fortran_replace_handler(call);                                 \
        statement;                                                                                 \
        weft_fortran_restore_handler(call, saved);                                                 \
    } while (0)
MPI_Errhandler weft_fortran_replace_handler(const struct weft_fortran_call *call);
void weft_fortran_restore_handler(const struct weft_fortran_call *call, MPI_Errhandler saved);

/* n datatypes that the C function refuses, to be freed. */
int *weft_fortran_no_types(int n);

/* ---- After the call */

/* Bytes `from` to `to` alone are written back. */
void weft_fortran_narrow(struct weft_fortran_section *section, MPI_Count from, MPI_Count to);

/* Writes the result back to the section, if the call had a copy. */
void weft_fortran_unpack(struct weft_fortran_section *section);

/* Frees the copy and the datatype. */
void weft_fortran_forget(struct weft_fortran_section *section);

/* Keeps the copies until the request completes: `in`, and `out`, which is then written to its
 * section. Either may be NULL. */
void weft_fortran_keep(int request, bool persistent, struct weft_fortran_section *in,
                       struct weft_fortran_section *out);

/* Copies the section to its packed copy. */
void weft_fortran_gather(const struct weft_fortran_section *section);

/* ---- Ranks: the buffers that a call with a root uses on this rank */
bool weft_fortran_is_root(int comm, int root);

/* True on a rank that uses the buffer which all ranks of a communicator have. */
bool weft_fortran_in_group(int comm, int root);
int weft_fortran_size(int comm);
bool weft_fortran_is_first(int comm);

/* The sum of counts for each rank of the communicator, and the count of this rank. */
MPI_Count weft_fortran_sum(int comm, struct weft_fortran_numbers counts);
MPI_Count weft_fortran_own(int comm, struct weft_fortran_numbers counts);

#endif
