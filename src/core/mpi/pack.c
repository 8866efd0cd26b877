// SPDX-License-Identifier: BSD-3-Clause
/*
 * Packing into the user's memory (MPI 5.0 sections 5.2 and 5.3). The packed form has no header: it
 * is the bytes of the data, so messages can be packed one by one and received at once.
 *
 * Invariant: the position moves by exactly what was packed or unpacked, and not at all on an error.
 */
#include "core/mpi/api.h"
#include "core/mpi/entry.h"
#include "core/datatype/device.h"
#include "core/message/process.h"

#include <stdlib.h>
#include <string.h>

/* Elements in a buffer, and packed bytes from *position on. */
struct call {
    const void *buffer;
    MPI_Count count;
    const struct weft_datatype *type;
    const void *packed;
    MPI_Count packed_size, *position;
};

/* Checks that the elements exist, and that the packed buffer has space for their bytes. */
static int check_buffers(const struct call *call, size_t bytes)
{
    long long position = *call->position, size = call->packed_size;
    if ((size_t)size > WEFT_MEMORY_MAX || position < 0 || position > size)
        return weft_error_set(MPI_ERR_ARG, "position %lld is not in a buffer of %lld bytes",
                              position, size);
    if ((MPI_Count)bytes > size - position)
        return weft_error_set(MPI_ERR_TRUNCATE,
                              "%zu bytes from position %lld on do not fit into the packed buffer's "
                              "%lld",
                              bytes, position, size);
    if (bytes && !call->packed)
        return weft_error_set(MPI_ERR_BUFFER, "the packed buffer is a null pointer");
    return weft_arg_buffer(call->buffer, bytes, call->type, "data");
}

static char *address_of(const struct call *call)
{
    return call->packed ? (char *)call->packed + *call->position : NULL;
}

/* ---- The bytes as they are */

enum direction { PACK, UNPACK };

static inline void move(enum direction direction, const struct weft_datatype *type,
                        const void *buffer, size_t count, char *location)
{
    if (direction == PACK)
        weft_datatype_pack_all(type, buffer, count, location);
    else
        weft_datatype_unpack_all(type, (void *)buffer, count, location);
}

/* The checks that the fast path leaves out, with the sentence of the first that fails. */
static int move_checked(enum direction direction, struct call call, MPI_Datatype datatype)
{
    struct weft_datatype *type;
    int code = weft_arg_committed(datatype, &type);
    if (code == MPI_SUCCESS)
        code = weft_arg_packed(call.count, type);
    if (code == MPI_SUCCESS)
        code = weft_arg_result(call.position != NULL, "position");
    if (code != MPI_SUCCESS)
        return code;
    size_t bytes = (size_t)call.count * type->size;
    call.type = type;
    code = check_buffers(&call, bytes);
    if (code != MPI_SUCCESS)
        return code;
    if (!bytes)
        return MPI_SUCCESS;
    const struct weft_datatype *in = weft_datatype_at(type, call.buffer);
    const struct weft_datatype *packed = weft_datatype_at(weft_datatype_byte(), address_of(&call));
    if (direction == PACK)
        weft_datatype_copy(in, call.buffer, packed, address_of(&call), bytes);
    else
        weft_datatype_copy(packed, address_of(&call), in, (void *)call.buffer, bytes);
    *call.position += (MPI_Count)bytes;
    return MPI_SUCCESS;
}

/* Not inlined, so that the fast path needs no stack frame for it. */
static __attribute__((noinline)) int general(enum direction direction, const void *buffer,
                                             MPI_Count count, MPI_Datatype datatype,
                                             const void *packed, MPI_Count size,
                                             MPI_Count *position, MPI_Comm handle)
{
    const char *function = direction == PACK ? "MPI_Pack" : "MPI_Unpack";
    const struct call call = {buffer, count, NULL, packed, size, position};
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    return comm ? weft_leave_comm(comm, move_checked(direction, call, datatype), function) : code;
}

/* With a fast path for the valid calls of one thread. */
static inline __attribute__((always_inline)) int run(enum direction direction, const void *buffer,
                                                     MPI_Count count, MPI_Datatype datatype,
                                                     const void *packed, MPI_Count size,
                                                     MPI_Count *position, MPI_Comm comm)
{
    const struct weft_datatype *type = weft_handle_resolve(datatype, WEFT_KIND_DATATYPE);
    size_t bytes;
    if (weft_unlikely(weft_entry_flags) || !weft_comm_resolve(comm) || !type || count < 0 ||
        !(type->flags & WEFT_TYPE_COMMITTED) || !weft_is_address(buffer) || !packed || !position ||
        (size_t)size > WEFT_MEMORY_MAX ||
        __builtin_mul_overflow((size_t)count, type->size, &bytes) ||
        (size_t)*position > (size_t)size || bytes > (size_t)(size - *position))
        return general(direction, buffer, count, datatype, packed, size, position, comm);
    move(direction, type, buffer, (size_t)count, (char *)packed + *position);
    *position += (MPI_Count)bytes;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Pack_c);
int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
                MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
    return run(PACK, inbuf, incount, datatype, outbuf, outsize, position, comm);
}

WEFT_EXPORT(Pack);
int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
              int *position, MPI_Comm comm)
{
    MPI_Count at = position ? *position : 0;
    int code = run(PACK, inbuf, incount, datatype, outbuf, outsize, position ? &at : NULL, comm);
    if (weft_likely(code == MPI_SUCCESS))
        *position = (int)at;
    return code;
}

WEFT_EXPORT(Unpack_c);
int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                  MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    return run(UNPACK, outbuf, outcount, datatype, inbuf, insize, position, comm);
}

WEFT_EXPORT(Unpack);
int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
                MPI_Datatype datatype, MPI_Comm comm)
{
    MPI_Count at = position ? *position : 0;
    int code = run(UNPACK, outbuf, outcount, datatype, inbuf, insize, position ? &at : NULL, comm);
    if (weft_likely(code == MPI_SUCCESS))
        *position = (int)at;
    return code;
}

/* ---- external32 */

int weft_mpi_check_external(const char *name)
{
    if (name && !strcmp(name, "external32"))
        return MPI_SUCCESS;
    return weft_error_set(
        MPI_ERR_ARG,
        "data cannot be packed in the representation \"%s\"; \"external32\" is the only "
        "one",
        name ? name : "(null)");
}

int weft_mpi_pack_external_size(MPI_Count count, struct weft_datatype *type, MPI_Count *size)
{
    size_t bytes;
    int code = weft_arg_count(count);
    if (code == MPI_SUCCESS && !weft_datatype_external_bytes(type, count, &bytes))
        code = weft_arg_too_much(count);
    if (code == MPI_SUCCESS)
        *size = (MPI_Count)bytes;
    return code;
}

/* Sets *bytes to the packed bytes of the elements. */
static int check_external(const struct call *call, MPI_Count *bytes)
{
    int code = weft_mpi_pack_external_size(call->count, (struct weft_datatype *)call->type, bytes);
    return code ? code : check_buffers(call, (size_t)*bytes);
}

/* The address of the packed bytes on the host. If they are in device memory it is that of a copy,
 * which the caller fills and frees, or NULL without memory. */
static char *external_on_host(const struct call *call, MPI_Count bytes, char **copy)
{
    *copy = NULL;
    if (!bytes || !weft_gpu_enabled || !weft_gpu_owns(address_of(call)))
        return address_of(call);
    *copy = malloc((size_t)bytes);
    if (!*copy)
        weft_error_set(MPI_ERR_NO_MEM, "no memory for a copy of %lld bytes in GPU memory",
                       (long long)bytes);
    return *copy;
}

int weft_mpi_pack_external(const void *inbuf, MPI_Count incount, struct weft_datatype *type,
                           void *outbuf, MPI_Count outsize, MPI_Count *position)
{
    const struct call call = {inbuf, incount, type, outbuf, outsize, position};
    MPI_Count bytes;
    int code = check_external(&call, &bytes);
    if (code != MPI_SUCCESS)
        return code;
    char *copy, *packed = external_on_host(&call, bytes, &copy);
    if (!packed && bytes)
        return MPI_ERR_NO_MEM;
    weft_datatype_pack_external(bytes ? weft_datatype_at(type, inbuf) : type, inbuf,
                                (size_t)incount, packed);
    if (copy)
        weft_gpu_copy(address_of(&call), copy, (size_t)bytes);
    free(copy);
    *position += bytes;
    return MPI_SUCCESS;
}

int weft_mpi_unpack_external(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                             MPI_Count outcount, struct weft_datatype *type)
{
    const struct call call = {outbuf, outcount, type, inbuf, insize, position};
    MPI_Count bytes;
    int code = check_external(&call, &bytes);
    if (code != MPI_SUCCESS)
        return code;
    char *copy, *packed = external_on_host(&call, bytes, &copy);
    if (!packed && bytes)
        return MPI_ERR_NO_MEM;
    if (copy)
        weft_gpu_copy(copy, address_of(&call), (size_t)bytes);
    weft_datatype_unpack_external(bytes ? weft_datatype_at(type, outbuf) : type, outbuf,
                                  (size_t)outcount * type->size, packed);
    free(copy);
    *position += bytes;
    return MPI_SUCCESS;
}
