// SPDX-License-Identifier: BSD-3-Clause
/*
 * Constructors of datatypes (MPI 5.0 section 5.1): each writes down its arguments as a recipe, from
 * which the type is built. The forms with large counts keep them all as large counts.
 *
 * Invariant: arguments are checked in the order count, arrays, old types, what they say together,
 * result; nothing is written to *newtype unless a type was made.
 */
#include "core/mpi/api.h"
#include "core/datatype/datatype.h"
#include "core/object/error.h"
#include "core/process/weft.h"

#include <string.h>

/* A row of arguments. */
struct row {
    const void *from;
    MPI_Count count;
};

enum { ROWS = 8 };

/* No array has more entries: it would fill the 2^47 bytes that a process can address. */
static const MPI_Count MOST_ENTRIES = (MPI_Count)1 << 44;

/* A call of a constructor: rows of arguments, in the order of its recipe. */
struct call {
    const char *function;
    int combiner;
    MPI_Count count; /* what must not be negative: blocks, elements or dimensions */
    struct row integers[ROWS], addresses[ROWS], large[ROWS];
    const MPI_Datatype *types;
    MPI_Count ntypes;
    MPI_Datatype *result;
};

static size_t total(const struct row *rows)
{
    size_t n = 0;
    for (int i = 0; i < ROWS; i++)
        n += (size_t)rows[i].count;
    return n;
}

static bool has_null(const struct row *rows)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].count && !rows[i].from)
            return true;
    return false;
}

static bool has_endless(const struct row *rows)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].count > MOST_ENTRIES)
            return true;
    return false;
}

static void copy(void *to, const struct row *rows, size_t size)
{
    char *at = to;
    for (int i = 0; i < ROWS; i++) {
        size_t bytes = (size_t)rows[i].count * size;
        if (bytes)
            memcpy(at, rows[i].from, bytes);
        at += bytes;
    }
}

static int check(const struct call *call)
{
    bool array = call->combiner == MPI_COMBINER_SUBARRAY || call->combiner == MPI_COMBINER_DARRAY;
    if (array && call->count < 1)
        return weft_error_set(MPI_ERR_DIMS, "an array cannot have %lld dimensions",
                              (long long)call->count);
    if (call->count < 0)
        return weft_error_set(MPI_ERR_COUNT, "the count %lld is negative", (long long)call->count);
    if (has_null(call->integers) || has_null(call->addresses) || has_null(call->large) ||
        (call->ntypes && !call->types))
        return weft_error_set(MPI_ERR_ARG, "one of the arrays is a null pointer");
    if (has_endless(call->integers) || has_endless(call->addresses) || has_endless(call->large))
        return weft_error_set(MPI_ERR_COUNT, "no array has %lld entries", (long long)call->count);
    for (MPI_Count i = 0; i < call->ntypes; i++)
        if (!weft_handle_resolve(call->types[i], WEFT_KIND_DATATYPE))
            return weft_error_set(MPI_ERR_TYPE, "%p is no datatype; was it freed?",
                                  (void *)call->types[i]);
    return MPI_SUCCESS;
}

static int make(const struct call *call)
{
    struct weft_datatype *type;
    int code = check(call);
    if (code)
        return code;
    size_t ntypes = (size_t)call->ntypes;
    struct weft_envelope *recipe = weft_envelope_new(
        call->combiner, total(call->integers), total(call->addresses), total(call->large), ntypes);
    if (!recipe)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for the arguments of a datatype");
    copy(recipe->integers, call->integers, sizeof(int));
    copy(recipe->addresses, call->addresses, sizeof(MPI_Aint));
    copy(recipe->large, call->large, sizeof(MPI_Count));
    for (size_t i = 0; i < ntypes; i++) {
        recipe->types[i] = weft_handle_object(call->types[i]);
        weft_datatype_retain(recipe->types[i]);
    }
    code = weft_datatype_make(recipe, &type);
    if (code)
        return code;
    if (!call->result) {
        weft_datatype_release(type);
        return weft_error_set(MPI_ERR_ARG, "the pointer to the new datatype is null");
    }
    *call->result = type->handle;
    return MPI_SUCCESS;
}

static int construct(const struct call call)
{
    int code = weft_enter(call.function);
    if (code)
        return code;
    code = make(&call);
    if (code)
        code = weft_error_raise(NULL, code, call.function);
    weft_leave();
    return code;
}

/* How many entries an array has whose length was passed as n: none when that is wrong anyway. */
static MPI_Count many(MPI_Count n)
{
    return n < 0 ? 0 : n;
}

WEFT_EXPORT(Type_contiguous);
int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return construct((struct call){"MPI_Type_contiguous", MPI_COMBINER_CONTIGUOUS, count,
                                   .integers = {{&count, 1}}, .types = &oldtype, .ntypes = 1,
                                   .result = newtype});
}

WEFT_EXPORT(Type_contiguous_c);
int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return construct((struct call){"MPI_Type_contiguous_c", MPI_COMBINER_CONTIGUOUS, count,
                                   .large = {{&count, 1}}, .types = &oldtype, .ntypes = 1,
                                   .result = newtype});
}

WEFT_EXPORT(Type_vector);
int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
                     MPI_Datatype *newtype)
{
    return construct((struct call){"MPI_Type_vector", MPI_COMBINER_VECTOR, count,
                                   .integers = {{&count, 1}, {&blocklength, 1}, {&stride, 1}},
                                   .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_vector_c);
int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return construct((struct call){"MPI_Type_vector_c", MPI_COMBINER_VECTOR, count,
                                   .large = {{&count, 1}, {&blocklength, 1}, {&stride, 1}},
                                   .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_hvector);
int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
    return construct((struct call){"MPI_Type_create_hvector", MPI_COMBINER_HVECTOR, count,
                                   .integers = {{&count, 1}, {&blocklength, 1}},
                                   .addresses = {{&stride, 1}}, .types = &oldtype, .ntypes = 1,
                                   .result = newtype});
}

WEFT_EXPORT(Type_create_hvector_c);
int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                               MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return construct((struct call){"MPI_Type_create_hvector_c", MPI_COMBINER_HVECTOR, count,
                                   .large = {{&count, 1}, {&blocklength, 1}, {&stride, 1}},
                                   .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_indexed);
int PMPI_Type_indexed(int count, const int array_of_blocklengths[],
                      const int array_of_displacements[], MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    MPI_Count n = many(count);
    return construct((struct call){
        "MPI_Type_indexed", MPI_COMBINER_INDEXED, count,
        .integers = {{&count, 1}, {array_of_blocklengths, n}, {array_of_displacements, n}},
        .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_indexed_c);
int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                        const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                        MPI_Datatype *newtype)
{
    MPI_Count n = many(count);
    return construct((struct call){
        "MPI_Type_indexed_c", MPI_COMBINER_INDEXED, count,
        .large = {{&count, 1}, {array_of_blocklengths, n}, {array_of_displacements, n}},
        .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_hindexed);
int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
                              const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    MPI_Count n = many(count);
    return construct((struct call){"MPI_Type_create_hindexed", MPI_COMBINER_HINDEXED, count,
                                   .integers = {{&count, 1}, {array_of_blocklengths, n}},
                                   .addresses = {{array_of_displacements, n}}, .types = &oldtype,
                                   .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_hindexed_c);
int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                                const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    MPI_Count n = many(count);
    return construct((struct call){
        "MPI_Type_create_hindexed_c", MPI_COMBINER_HINDEXED, count,
        .large = {{&count, 1}, {array_of_blocklengths, n}, {array_of_displacements, n}},
        .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_indexed_block);
int PMPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
                                   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return construct((struct call){
        "MPI_Type_create_indexed_block", MPI_COMBINER_INDEXED_BLOCK, count,
        .integers = {{&count, 1}, {&blocklength, 1}, {array_of_displacements, many(count)}},
        .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_indexed_block_c);
int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
                                     const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                     MPI_Datatype *newtype)
{
    return construct((struct call){
        "MPI_Type_create_indexed_block_c", MPI_COMBINER_INDEXED_BLOCK, count,
        .large = {{&count, 1}, {&blocklength, 1}, {array_of_displacements, many(count)}},
        .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_hindexed_block);
int PMPI_Type_create_hindexed_block(int count, int blocklength,
                                    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype *newtype)
{
    return construct((struct call){"MPI_Type_create_hindexed_block", MPI_COMBINER_HINDEXED_BLOCK,
                                   count, .integers = {{&count, 1}, {&blocklength, 1}},
                                   .addresses = {{array_of_displacements, many(count)}},
                                   .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_hindexed_block_c);
int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
                                      const MPI_Count array_of_displacements[],
                                      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return construct((struct call){
        "MPI_Type_create_hindexed_block_c", MPI_COMBINER_HINDEXED_BLOCK, count,
        .large = {{&count, 1}, {&blocklength, 1}, {array_of_displacements, many(count)}},
        .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_struct);
int PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
                            const MPI_Aint array_of_displacements[],
                            const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    MPI_Count n = many(count);
    return construct((struct call){"MPI_Type_create_struct", MPI_COMBINER_STRUCT, count,
                                   .integers = {{&count, 1}, {array_of_blocklengths, n}},
                                   .addresses = {{array_of_displacements, n}},
                                   .types = array_of_types, .ntypes = n, .result = newtype});
}

WEFT_EXPORT(Type_create_struct_c);
int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                              const MPI_Count array_of_displacements[],
                              const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    MPI_Count n = many(count);
    return construct((struct call){
        "MPI_Type_create_struct_c", MPI_COMBINER_STRUCT, count,
        .large = {{&count, 1}, {array_of_blocklengths, n}, {array_of_displacements, n}},
        .types = array_of_types, .ntypes = n, .result = newtype});
}

WEFT_EXPORT(Type_create_resized);
int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
                             MPI_Datatype *newtype)
{
    return construct((struct call){"MPI_Type_create_resized", MPI_COMBINER_RESIZED, 0,
                                   .addresses = {{&lb, 1}, {&extent, 1}}, .types = &oldtype,
                                   .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_resized_c);
int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                               MPI_Datatype *newtype)
{
    return construct((struct call){"MPI_Type_create_resized_c", MPI_COMBINER_RESIZED, 0,
                                   .large = {{&lb, 1}, {&extent, 1}}, .types = &oldtype,
                                   .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_subarray);
int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
                              const int array_of_starts[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    MPI_Count n = many(ndims);
    return construct((struct call){"MPI_Type_create_subarray", MPI_COMBINER_SUBARRAY, ndims,
                                   .integers = {{&ndims, 1},
                                                {array_of_sizes, n},
                                                {array_of_subsizes, n},
                                                {array_of_starts, n},
                                                {&order, 1}},
                                   .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_subarray_c);
int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
                                const MPI_Count array_of_subsizes[],
                                const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    MPI_Count n = many(ndims);
    return construct(
        (struct call){"MPI_Type_create_subarray_c", MPI_COMBINER_SUBARRAY, ndims,
                      .integers = {{&ndims, 1}, {&order, 1}},
                      .large = {{array_of_sizes, n}, {array_of_subsizes, n}, {array_of_starts, n}},
                      .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_darray);
int PMPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[],
                            const int array_of_distribs[], const int array_of_dargs[],
                            const int array_of_psizes[], int order, MPI_Datatype oldtype,
                            MPI_Datatype *newtype)
{
    MPI_Count n = many(ndims);
    return construct((struct call){"MPI_Type_create_darray", MPI_COMBINER_DARRAY, ndims,
                                   .integers = {{&size, 1},
                                                {&rank, 1},
                                                {&ndims, 1},
                                                {array_of_gsizes, n},
                                                {array_of_distribs, n},
                                                {array_of_dargs, n},
                                                {array_of_psizes, n},
                                                {&order, 1}},
                                   .types = &oldtype, .ntypes = 1, .result = newtype});
}

WEFT_EXPORT(Type_create_darray_c);
int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
                              const int array_of_distribs[], const int array_of_dargs[],
                              const int array_of_psizes[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    MPI_Count n = many(ndims);
    return construct((struct call){"MPI_Type_create_darray_c", MPI_COMBINER_DARRAY, ndims,
                                   .integers = {{&size, 1},
                                                {&rank, 1},
                                                {&ndims, 1},
                                                {array_of_distribs, n},
                                                {array_of_dargs, n},
                                                {array_of_psizes, n},
                                                {&order, 1}},
                                   .large = {{array_of_gsizes, n}}, .types = &oldtype, .ntypes = 1,
                                   .result = newtype});
}
