// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPICH's handles and statuses. A handle is an int with its kind in the upper bits, and for basic
 * datatypes their size; a predefined one is converted by a table. All others are Weft's integer
 * forms, which are below FRONT_INTS or, of requests, 0x40000000 and above. A file is a pointer.
 *
 * Invariant: C and Fortran have the same ints, since MPI_Comm_c2f is a macro in programs.
 */
#ifndef WEFT_FRONT_MPICH_H
#define WEFT_FRONT_MPICH_H

enum { FRONT_INTS = 0x02000000 };

/* The integer form of an object; 0, which is that of none, for the integer form of a predefined
 * handle of the standard's, which is no handle here. */
static inline int front_integer(int handle)
{
    return handle < WEFT_PREDEFINED_HANDLES ? 0 : handle;
}

/* The integer form of an object of the core's, which is no predefined handle of MPICH. It is
 * below 0 or 0 if the object has been freed. */
static inline int front_made(int handle)
{
    weft_assert(handle < FRONT_INTS && (handle <= 0 || handle >= WEFT_PREDEFINED_HANDLES));
    return handle;
}

#define FRONT_HANDLE(kind, name)                                                                   \
    typedef int front_##kind;                                                                      \
    static inline MPI_##kind front_##kind##_in(front_##kind handle)                                \
    {                                                                                              \
        int ours = (unsigned)handle < FRONT_INTS                                                   \
                       ? -1                                                                        \
                       : front_find_in(front_##kind##_values, FRONT_COUNT(front_##kind##_values),  \
                                       handle, -1);                                                \
        return ours < 0 ? weft_abi_##name##_fromint(front_integer(handle))                         \
                        : (MPI_##kind)(uintptr_t)(unsigned)ours;                                   \
    }                                                                                              \
    static inline front_##kind front_##kind##_out(MPI_##kind handle)                               \
    {                                                                                              \
        if (weft_unlikely((uintptr_t)handle < WEFT_PREDEFINED_HANDLES))                            \
            return front_find_out(front_##kind##_values, FRONT_COUNT(front_##kind##_values),       \
                                  (int)(uintptr_t)handle, 0);                                      \
        return front_made(weft_abi_##name##_toint(handle));                                        \
    }

FRONT_HANDLE(Errhandler, Errhandler)
FRONT_HANDLE(Group, Group)
FRONT_HANDLE(Info, Info)
FRONT_HANDLE(Message, Message)
FRONT_HANDLE(Session, Session)
FRONT_HANDLE(Win, Win)

/* ---- Requests: the number of the object, which is for good. The core made what comes out. */
typedef int front_Request;

static inline MPI_Request front_Request_in(front_Request handle)
{
    return weft_abi_request_of_integer(handle);
}

static inline front_Request front_Request_out(MPI_Request handle)
{
    return weft_likely((uintptr_t)handle >= WEFT_PREDEFINED_HANDLES)
               ? WEFT_REQUEST_INTEGERS + (int)((struct weft_request *)handle)->number
               : FRONT_REQUEST_NULL;
}

static inline MPI_Request *front_Request_begin(const front_Request *theirs, MPI_Request *one)
{
    *one = front_Request_in(*theirs);
    return one;
}

static inline void front_Request_end(front_Request *theirs, const MPI_Request *one)
{
    if (*one == MPI_REQUEST_NULL)
        *theirs = FRONT_REQUEST_NULL;
}

static inline int front_wait(front_Request *request, MPI_Status *status)
{
    return weft_abi_wait_integer(request, status);
}

/* ---- Communicators, datatypes and operations: those of most messages first, which are converted
 * without a call (front_X_is_usual) */
typedef int front_Comm, front_Datatype, front_Op;

static inline bool front_Comm_is_usual(front_Comm handle)
{
    return handle == FRONT_COMM_WORLD;
}

static inline bool front_Datatype_is_usual(front_Datatype handle)
{
    return (unsigned)handle >> 24 == 0x4c;
}

static inline bool front_Op_is_usual(front_Op handle)
{
    return (unsigned)handle >> 24 == 0x58;
}

static inline MPI_Comm front_Comm_in(front_Comm handle)
{
    if (weft_likely(front_Comm_is_usual(handle)))
        return MPI_COMM_WORLD;
    if ((unsigned)handle < FRONT_INTS)
        return weft_abi_Comm_fromint(front_integer(handle));
    return (MPI_Comm)(uintptr_t)(unsigned)front_find_in(
        front_Comm_values, FRONT_COUNT(front_Comm_values), handle, FRONT_NOTHING);
}

static inline front_Comm front_Comm_out(MPI_Comm handle)
{
    return (uintptr_t)handle >= WEFT_PREDEFINED_HANDLES
               ? front_made(weft_abi_Comm_toint(handle))
               : front_find_out(front_Comm_values, FRONT_COUNT(front_Comm_values),
                                (int)(uintptr_t)handle, 0);
}

MPI_Datatype front_Datatype_in_other(front_Datatype handle);

static inline __attribute__((always_inline)) MPI_Datatype front_Datatype_in(front_Datatype handle)
{
    return weft_likely(front_Datatype_is_usual(handle))
               ? (MPI_Datatype)(uintptr_t)front_types_in[handle & 0xff]
               : front_Datatype_in_other(handle);
}

static inline front_Datatype front_Datatype_out(MPI_Datatype handle)
{
    uintptr_t value = (uintptr_t)handle;
    weft_assert(value >= WEFT_PREDEFINED_HANDLES ||
                value >> 8 == (uintptr_t)MPI_DATATYPE_NULL >> 8);
    return value >= WEFT_PREDEFINED_HANDLES ? front_made(weft_abi_Type_toint(handle))
                                            : front_types_out[value & 0xff];
}

static inline MPI_Op front_Op_in(front_Op handle)
{
    if (weft_likely(front_Op_is_usual(handle)))
        return (MPI_Op)(uintptr_t)front_ops_in[handle & 0xf];
    return (unsigned)handle >> 24 == 0x18 ? MPI_OP_NULL
                                          : weft_abi_Op_fromint(front_integer(handle));
}

static inline front_Op front_Op_out(MPI_Op handle)
{
    uintptr_t value = (uintptr_t)handle;
    weft_assert(value >= WEFT_PREDEFINED_HANDLES || value >> 5 == (uintptr_t)MPI_OP_NULL >> 5);
    return value >= WEFT_PREDEFINED_HANDLES ? front_made(weft_abi_Op_toint(handle))
                                            : front_ops_out[value & 0x1f];
}

/* ---- Files */
typedef struct front_mpich_file *front_File;

static inline MPI_File front_File_in(front_File file)
{
    return file ? (MPI_File)file : MPI_FILE_NULL;
}

static inline front_File front_File_out(MPI_File file)
{
    return file == MPI_FILE_NULL ? NULL : (front_File)file;
}

/* Arrays of requests: a call changes a handle only into the null handle. */
MPI_Request *front_Requests_begin(int n, const front_Request *array, MPI_Request *few);
void front_Requests_end(int n, front_Request *array, MPI_Request *ours, MPI_Request *few);

/* ---- Statuses */
typedef struct {
    int count_lo, count_hi_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR;
} front_Status;

/* MPI_STATUS_IGNORE is 1. */
static inline bool front_status_given(const front_Status *status)
{
    return (uintptr_t)status > 1;
}

/* The caller's MPI_ERROR remains. */
static inline void front_status_out(const MPI_Status *ours, front_Status *theirs)
{
    unsigned high = (unsigned)ours->MPI_internal[WEFT_STATUS_BYTES_HIGH];
    unsigned cancelled = ours->MPI_internal[WEFT_STATUS_CANCELLED] != 0;
    theirs->MPI_SOURCE = front_rank_out(ours->MPI_SOURCE);
    theirs->MPI_TAG = front_tag_out(ours->MPI_TAG);
    theirs->count_lo = ours->MPI_internal[WEFT_STATUS_BYTES_LOW];
    theirs->count_hi_and_cancelled = (int)(high << 1 | cancelled);
}

static inline void front_status_in(const front_Status *theirs, MPI_Status *ours)
{
    unsigned high = (unsigned)theirs->count_hi_and_cancelled;
    *ours = (MPI_Status){front_rank_in(theirs->MPI_SOURCE),
                         front_tag_in(theirs->MPI_TAG),
                         front_error_in(theirs->MPI_ERROR),
                         {0}};
    ours->MPI_internal[WEFT_STATUS_BYTES_LOW] = theirs->count_lo;
    ours->MPI_internal[WEFT_STATUS_BYTES_HIGH] = (int)(high >> 1);
    ours->MPI_internal[WEFT_STATUS_CANCELLED] = (int)(high & 1);
}

/* ---- Addresses with a meaning. Two are the values of variables that programs may have copies of.
 */
FRONT_PUBLIC extern int *const front_unweighted __asm__("MPI_UNWEIGHTED");
FRONT_PUBLIC extern int *const front_weights_empty __asm__("MPI_WEIGHTS_EMPTY");

static inline const int *front_weights_in(const int *weights)
{
    return weights == front_unweighted      ? MPI_UNWEIGHTED
           : weights == front_weights_empty ? MPI_WEIGHTS_EMPTY
                                            : weights;
}

static inline void *front_buffer_in(const void *buffer)
{
    return weft_unlikely(buffer == FRONT_IN_PLACE) ? MPI_IN_PLACE : (void *)buffer;
}

/* The value of the variable MPI_T_PVAR_ALL_HANDLES is the standard's constant. */
static inline MPI_T_pvar_handle front_pvar_in(MPI_T_pvar_handle handle)
{
    return handle;
}

#endif
