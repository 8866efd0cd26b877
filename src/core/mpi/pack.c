// SPDX-License-Identifier: BSD-3-Clause
/*
 * Packing into the user's memory (MPI 5.0 sections 5.2 and 5.3). The packed form has no header: it
 * is the bytes of the data, so parts can be packed one by one and received at once.
 *
 * Invariant: the position moves by exactly what was packed or unpacked, and not at all on an error.
 */
#include "core/mpi/api.h"
#include "core/mpi/arg.h"
#include "core/mpi/p2p_general.h"
#include "core/datatype/datatype.h"
#include "core/comm/raise.h"
#include "core/process/weft.h"

#include <limits.h>
#include <string.h>

/* A call: elements in a buffer, and packed bytes. Pack_size and its like have the elements only. */
struct call {
    const char *function;
    struct weft_comm *comm; /* its handler gets errors; NULL for external32 */
    const void *buffer;
    MPI_Count count;
    MPI_Datatype datatype;
    const void *packed;
    MPI_Count packed_size; /* -1: the call only returns sizes */
    MPI_Count position;
};

/* The type of a call whose count and datatype are valid, else NULL and *code. The type of a call
 * that only returns sizes need not be committed. */
static const struct weft_datatype *check_elements(const struct call *call, int *code)
{
    const struct weft_datatype *type = weft_handle_resolve(call->datatype, WEFT_KIND_DATATYPE);
    *code = MPI_SUCCESS;
    if (call->count < 0)
        *code = weft_error(call->comm, MPI_ERR_COUNT, call->function, "the count %lld is negative",
                           (long long)call->count);
    else if (!type)
        *code = weft_error(call->comm, MPI_ERR_TYPE, call->function,
                           "%p is no datatype; was it freed?", (void *)call->datatype);
    else if (call->packed_size >= 0 && !(type->flags & WEFT_TYPE_COMMITTED))
        *code = weft_error(call->comm, MPI_ERR_TYPE, call->function,
                           "the datatype is not committed; call MPI_Type_commit first");
    else
        return type;
    return NULL;
}

static int too_much(const struct call *call)
{
    return weft_error(call->comm, MPI_ERR_COUNT, call->function,
                      "%lld elements of that datatype are too much", (long long)call->count);
}

/* The bytes of a call's elements packed, in external32 if so. False and *code if the call is wrong.
 */
static bool measure(const struct call *call, bool external, size_t *bytes, int *code)
{
    const struct weft_datatype *type = check_elements(call, code);
    if (!type)
        return false;
    bool fits = external ? weft_datatype_external_bytes(type, call->count, bytes)
                         : !__builtin_mul_overflow((size_t)call->count, type->size, bytes) &&
                               (MPI_Count)*bytes >= 0;
    if (!fits)
        *code = too_much(call);
    return fits;
}

/* Whether the elements are there, and the packed bytes have room for them. */
static bool check_buffers(const struct call *call, const struct weft_datatype *type, size_t bytes,
                          int *code)
{
    *code = MPI_SUCCESS;
    if ((size_t)call->packed_size > WEFT_MEMORY_MAX || call->position < 0 ||
        call->position > call->packed_size)
        *code = weft_error(call->comm, MPI_ERR_ARG, call->function,
                           "position %lld is not in a buffer of %lld bytes",
                           (long long)call->position, (long long)call->packed_size);
    else if ((MPI_Count)bytes > call->packed_size - call->position)
        *code = weft_error(call->comm, MPI_ERR_TRUNCATE, call->function,
                           "%zu bytes from position %lld on do not fit into the packed buffer's "
                           "%lld",
                           bytes, (long long)call->position, (long long)call->packed_size);
    else if (bytes && (!call->packed || (!call->buffer && type->true_lb == 0)))
        *code = weft_error(call->comm, MPI_ERR_BUFFER, call->function,
                           "the %s buffer is a null pointer", call->packed ? "data" : "packed");
    return *code == MPI_SUCCESS;
}

enum way { PACK, UNPACK, PACK_EXTERNAL, UNPACK_EXTERNAL };

/* Packs or unpacks; *moved is by how much the position moves. */
static int move(const struct call *call, enum way way, MPI_Count *moved)
{
    size_t bytes;
    int code;
    bool external = way == PACK_EXTERNAL || way == UNPACK_EXTERNAL;
    if (!measure(call, external, &bytes, &code))
        return code;
    const struct weft_datatype *type = weft_handle_object(call->datatype);
    if (!check_buffers(call, type, bytes, &code))
        return code;
    char *packed = (char *)call->packed + (call->packed ? call->position : 0);
    void *buffer = (void *)call->buffer;
    switch (way) {
    case PACK:
        weft_datatype_pack_all(type, buffer, (size_t)call->count, packed);
        break;
    case UNPACK:
        weft_datatype_unpack_all(type, buffer, (size_t)call->count, packed);
        break;
    case PACK_EXTERNAL:
        weft_datatype_pack_external(type, buffer, (size_t)call->count, packed);
        break;
    case UNPACK_EXTERNAL:
        weft_datatype_unpack_external(type, buffer, (size_t)call->count, packed);
        break;
    }
    *moved = (MPI_Count)bytes;
    return MPI_SUCCESS;
}

/* Enters the library; resolves the communicator of the forms that have one. */
static int begin(struct call *call, MPI_Comm comm)
{
    int code;
    call->comm = weft_enter_comm(call->function, comm, &code);
    return call->comm ? MPI_SUCCESS : code;
}

/* *position is the caller's, of either width, and was read into the call if it is there. */
static int run(struct call *call, MPI_Comm comm, enum way way, bool positioned, MPI_Count *moved)
{
    int code = begin(call, comm);
    if (code)
        return code;
    code = positioned ? move(call, way, moved)
                      : weft_error(call->comm, MPI_ERR_ARG, call->function,
                                   "the pointer to the position is null");
    weft_leave();
    return code;
}

/* The fast path: a valid call of one thread. NULL, without any effect, for all other calls. */
static inline __attribute__((always_inline)) const struct weft_datatype *
fast(const void *buffer, MPI_Count count, MPI_Datatype datatype, const void *packed, MPI_Count size,
     MPI_Count position, MPI_Comm comm, size_t *bytes)
{
    const struct weft_datatype *type = weft_handle_resolve(datatype, WEFT_KIND_DATATYPE);
    if (weft_unlikely(weft_entry_flags) || !weft_comm_resolve(comm) || !type || count < 0 ||
        !(type->flags & WEFT_TYPE_COMMITTED) || !buffer || !packed ||
        (size_t)size > WEFT_MEMORY_MAX ||
        __builtin_mul_overflow((size_t)count, type->size, bytes) ||
        (size_t)position > (size_t)size || *bytes > (size_t)(size - position))
        return NULL;
    return type;
}

/* The general path. Not inlined, so that the fast path needs no stack frame for it. */
static __attribute__((noinline)) int slowly(enum way way, const void *buffer, MPI_Count count,
                                            MPI_Datatype datatype, const void *packed,
                                            MPI_Count size, MPI_Count *position, MPI_Comm comm)
{
    struct call call = {way == PACK ? "MPI_Pack" : "MPI_Unpack",
                        NULL,
                        buffer,
                        count,
                        datatype,
                        packed,
                        size,
                        position ? *position : 0};
    MPI_Count moved;
    int code = run(&call, comm, way, position, &moved);
    if (code == MPI_SUCCESS)
        *position += moved;
    return code;
}

/* The same for the forms whose position is an int. */
static __attribute__((noinline)) int slowly_int(enum way way, const void *buffer, int count,
                                                MPI_Datatype datatype, const void *packed, int size,
                                                int *position, MPI_Comm comm)
{
    MPI_Count at = position ? *position : 0;
    int code = slowly(way, buffer, count, datatype, packed, size, position ? &at : NULL, comm);
    if (code == MPI_SUCCESS)
        *position = (int)at;
    return code;
}

WEFT_EXPORT(Pack_c);
int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
                MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
    size_t bytes;
    const struct weft_datatype *type =
        fast(inbuf, incount, datatype, outbuf, outsize, position ? *position : -1, comm, &bytes);
    if (weft_likely(type != NULL)) {
        weft_datatype_pack_all(type, inbuf, (size_t)incount, (char *)outbuf + *position);
        *position += (MPI_Count)bytes;
        return MPI_SUCCESS;
    }
    return slowly(PACK, inbuf, incount, datatype, outbuf, outsize, position, comm);
}

WEFT_EXPORT(Pack);
int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
              int *position, MPI_Comm comm)
{
    size_t bytes;
    const struct weft_datatype *type =
        fast(inbuf, incount, datatype, outbuf, outsize, position ? *position : -1, comm, &bytes);
    if (weft_likely(type != NULL)) {
        weft_datatype_pack_all(type, inbuf, (size_t)incount, (char *)outbuf + *position);
        *position += (int)bytes;
        return MPI_SUCCESS;
    }
    return slowly_int(PACK, inbuf, incount, datatype, outbuf, outsize, position, comm);
}

WEFT_EXPORT(Unpack_c);
int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                  MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    size_t bytes;
    const struct weft_datatype *type =
        fast(outbuf, outcount, datatype, inbuf, insize, position ? *position : -1, comm, &bytes);
    if (weft_likely(type != NULL)) {
        weft_datatype_unpack_all(type, outbuf, (size_t)outcount, (const char *)inbuf + *position);
        *position += (MPI_Count)bytes;
        return MPI_SUCCESS;
    }
    return slowly(UNPACK, outbuf, outcount, datatype, inbuf, insize, position, comm);
}

WEFT_EXPORT(Unpack);
int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
                MPI_Datatype datatype, MPI_Comm comm)
{
    size_t bytes;
    const struct weft_datatype *type =
        fast(outbuf, outcount, datatype, inbuf, insize, position ? *position : -1, comm, &bytes);
    if (weft_likely(type != NULL)) {
        weft_datatype_unpack_all(type, outbuf, (size_t)outcount, (const char *)inbuf + *position);
        *position += (int)bytes;
        return MPI_SUCCESS;
    }
    return slowly_int(UNPACK, outbuf, outcount, datatype, inbuf, insize, position, comm);
}

static int pack_size(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count limit,
                     MPI_Count *size)
{
    struct call call = {
        .function = "MPI_Pack_size", .count = incount, .datatype = datatype, .packed_size = -1};
    size_t bytes;
    int code = begin(&call, comm);
    if (code)
        return code;
    if (measure(&call, false, &bytes, &code)) {
        if (!size)
            code = weft_error(call.comm, MPI_ERR_ARG, call.function,
                              "the pointer to the size is null");
        else
            *size = (MPI_Count)bytes > limit ? MPI_UNDEFINED : (MPI_Count)bytes;
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Pack_size_c);
int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
    return pack_size(incount, datatype, comm, INT64_MAX, size);
}

WEFT_EXPORT(Pack_size);
int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    MPI_Count large = 0;
    int code = pack_size(incount, datatype, comm, INT_MAX, size ? &large : NULL);
    if (code == MPI_SUCCESS)
        *size = (int)large;
    return code;
}

/* ---- external32 ---- */

static int check_representation(const char *function, const char *name)
{
    if (name && !strcmp(name, "external32"))
        return MPI_SUCCESS;
    return weft_error(NULL, MPI_ERR_ARG, function,
                      "\"%s\" is no data representation to pack in; \"external32\" is the only one",
                      name ? name : "(null)");
}

static int run_external(const struct call *call, const char *datarep, enum way way, bool positioned,
                        MPI_Count *moved)
{
    int code = weft_enter(call->function);
    if (code)
        return code;
    code = check_representation(call->function, datarep);
    if (!code && !positioned)
        code = weft_error(NULL, MPI_ERR_ARG, call->function, "the pointer to the position is null");
    if (!code)
        code = move(call, way, moved);
    weft_leave();
    return code;
}

int weft_pack_external(const char *datarep, const void *inbuf, MPI_Count incount,
                       MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position)
{
    struct call call = {"MPI_Pack_external",     NULL, inbuf, incount, datatype, outbuf, outsize,
                        position ? *position : 0};
    MPI_Count moved;
    int code = run_external(&call, datarep, PACK_EXTERNAL, position, &moved);
    if (code == MPI_SUCCESS)
        *position += moved;
    return code;
}

int weft_unpack_external(const char *datarep, const void *inbuf, MPI_Count insize,
                         MPI_Count *position, void *outbuf, MPI_Count outcount,
                         MPI_Datatype datatype)
{
    struct call call = {"MPI_Unpack_external",   NULL, outbuf, outcount, datatype, inbuf, insize,
                        position ? *position : 0};
    MPI_Count moved;
    int code = run_external(&call, datarep, UNPACK_EXTERNAL, position, &moved);
    if (code == MPI_SUCCESS)
        *position += moved;
    return code;
}

int weft_pack_external_size(const char *datarep, MPI_Count incount, MPI_Datatype datatype,
                            MPI_Count *size)
{
    struct call call = {.function = "MPI_Pack_external_size",
                        .count = incount,
                        .datatype = datatype,
                        .packed_size = -1};
    size_t bytes;
    int code = weft_enter(call.function);
    if (code)
        return code;
    code = check_representation(call.function, datarep);
    if (!code && measure(&call, true, &bytes, &code)) {
        if (!size)
            code = weft_error(NULL, MPI_ERR_ARG, call.function, "the pointer to the size is null");
        else
            *size = (MPI_Count)bytes;
    }
    weft_leave();
    return code;
}
