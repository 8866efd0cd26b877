// SPDX-License-Identifier: BSD-3-Clause
/*
 * Type signatures (MPI 5.0, section 5.1): the sequence of basic types that a count of a datatype
 * describes, as its length and a hash. The hash is a polynomial in the basic types, so that the
 * signature of a sequence follows from those of its subsequences, and a repetition costs O(log n).
 *
 * A datatype is read by MPI_Type_get_envelope and MPI_Type_get_contents. The result is kept with
 * the object (objects.h). Types whose contents are one datatype only (all but structures) have its
 * signature as often as its size divides theirs. Pair types are their two members.
 *
 * Invariant: equal sequences have equal signatures, however they were made.
 */
#ifndef WEFT_CHECK_SIGNATURE_H
#define WEFT_CHECK_SIGNATURE_H

#include "mpi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_signature {
    uint64_t length, hash;
    uint64_t basic; /* the handle of the only basic type; 0: there are several */
    bool packed;    /* has MPI_PACKED, which fits everything */
};

/* The constructor of a derived datatype. False: it is a named one. */
struct check_contents {
    MPI_Count integers, addresses, counts, types;
    int combiner;
    int *integer;
    MPI_Aint *address;
    MPI_Count *count;
    MPI_Datatype *type;
};
bool check_contents_read(MPI_Datatype type, struct check_contents *contents);
void check_contents_free(struct check_contents *contents);

/* The length of a block of a structure, and its displacement. */
int64_t check_contents_length(const struct check_contents *contents, int64_t block);
int64_t check_contents_displacement(const struct check_contents *contents, int64_t block);

/* The signature of `count` elements of a datatype. The lock is not held. */
struct check_signature check_signature_of(MPI_Datatype type, int64_t count);

/* False: the basic types of a message are not the first ones of the data that receive it; of these
 * one element is given, too. MPI_BYTE fits everything. */
bool check_signature_begins(const struct check_signature *sent,
                            const struct check_signature *received,
                            const struct check_signature *one);

/* "3 MPI_INT" */
void check_signature_print(const struct check_signature *signature, char *text, size_t size);

/* False: data of the two cannot be sent and received as each other. */
bool check_signature_fits(const struct check_signature *a, const struct check_signature *b);

#endif
