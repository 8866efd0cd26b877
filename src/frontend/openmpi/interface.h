// SPDX-License-Identifier: BSD-3-Clause
/*
 * Open MPI's handles and statuses. A predefined handle is the address of a data object whose first
 * word is the standard's handle; all others are Weft's pointers, whose first word is a kind, which
 * is never below FRONT_PREDEFINED.
 *
 * Invariant: a data object is reached through its symbol only, since the loader may have copied it
 * into the program. Nothing in it is written.
 */
#ifndef WEFT_FRONT_OPENMPI_H
#define WEFT_FRONT_OPENMPI_H

extern void *const front_back[FRONT_PREDEFINED];

struct front_fortran {
    enum front_kind kind;
    int theirs, ours; /* INTEGER of a predefined handle, and the standard's */
};
extern const struct front_fortran front_fortran[];

#define FRONT_OBJECT(name, size, value)                                                            \
    FRONT_PUBLIC struct {                                                                          \
        uintptr_t handle;                                                                          \
        char unused[(size) - sizeof(uintptr_t)];                                                   \
    } name = {value, {0}}

static inline void *front_handle_in(const void *handle)
{
    if (weft_unlikely((uintptr_t)handle < WEFT_PREDEFINED_HANDLES))
        return NULL; /* an error of the program: 0 is no handle of the standard's either */
    uintptr_t first = *(const uintptr_t *)handle;
    return first < FRONT_PREDEFINED ? (void *)first : (void *)handle;
}

static inline void *front_handle_out(const void *handle)
{
    weft_assert(!handle || (uintptr_t)handle >= FRONT_PREDEFINED || front_back[(uintptr_t)handle]);
    return (uintptr_t)handle < FRONT_PREDEFINED ? front_back[(uintptr_t)handle] : (void *)handle;
}

#define FRONT_HANDLE(kind)                                                                         \
    typedef struct front_open_##kind *front_##kind;                                                \
    static inline MPI_##kind front_##kind##_in(front_##kind handle)                                \
    {                                                                                              \
        return front_handle_in(handle);                                                            \
    }                                                                                              \
    static inline front_##kind front_##kind##_out(MPI_##kind handle)                               \
    {                                                                                              \
        return front_handle_out(handle);                                                           \
    }

FRONT_HANDLE(Comm)
FRONT_HANDLE(Datatype)
FRONT_HANDLE(Errhandler)
FRONT_HANDLE(File)
FRONT_HANDLE(Group)
FRONT_HANDLE(Info)
FRONT_HANDLE(Message)
FRONT_HANDLE(Op)
FRONT_HANDLE(Request)
FRONT_HANDLE(Session)
FRONT_HANDLE(Win)

/* A request is converted where it is: only the null handle differs. */
static inline MPI_Request *front_Request_begin(front_Request *theirs, MPI_Request *one)
{
    (void)one;
    if (*theirs == front_Request_out(MPI_REQUEST_NULL))
        *theirs = (front_Request)MPI_REQUEST_NULL;
    return (MPI_Request *)theirs;
}

static inline void front_Request_end(front_Request *theirs, const MPI_Request *ours)
{
    (void)ours;
    if (weft_likely(*theirs == (front_Request)MPI_REQUEST_NULL))
        *theirs = front_Request_out(MPI_REQUEST_NULL);
}

static inline int front_wait(front_Request *request, MPI_Status *status)
{
    int code = weft_abi_Wait(front_Request_begin(request, NULL), status);
    front_Request_end(request, NULL);
    return weft_likely(code == MPI_SUCCESS) ? code : front_error_out(code);
}

/* Arrays of requests, likewise. */
static inline MPI_Request *front_Requests_begin(int n, front_Request *array, MPI_Request *few)
{
    front_Request null = front_Request_out(MPI_REQUEST_NULL);
    (void)few;
    for (int i = 0; array && i < n; i++)
        if (array[i] == null)
            array[i] = (front_Request)MPI_REQUEST_NULL;
    return (MPI_Request *)array;
}

static inline void front_Requests_end(int n, front_Request *array, MPI_Request *ours,
                                      MPI_Request *few)
{
    front_Request null = front_Request_out(MPI_REQUEST_NULL);
    (void)ours;
    (void)few;
    for (int i = 0; array && i < n; i++)
        if (array[i] == (front_Request)MPI_REQUEST_NULL)
            array[i] = null;
}

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, cancelled;
    size_t count;
} front_Status;

/* Addresses with a meaning that are not those of the standard. MPI_BOTTOM and MPI_IN_PLACE are. */
static inline void *front_buffer_in(const void *buffer)
{
    return (void *)buffer;
}

static inline MPI_T_pvar_handle front_pvar_in(MPI_T_pvar_handle handle)
{
    return (intptr_t)handle == -1 ? MPI_T_PVAR_ALL_HANDLES : handle;
}

static inline const int *front_weights_in(const int *weights)
{
    return weights == FRONT_UNWEIGHTED      ? MPI_UNWEIGHTED
           : weights == FRONT_WEIGHTS_EMPTY ? MPI_WEIGHTS_EMPTY
                                            : weights;
}

static inline bool front_status_given(const front_Status *status)
{
    return status != NULL;
}

/* The caller's MPI_ERROR remains. */
static inline void front_status_out(const MPI_Status *ours, front_Status *theirs)
{
    theirs->MPI_SOURCE = front_rank_out(ours->MPI_SOURCE);
    theirs->MPI_TAG = front_tag_out(ours->MPI_TAG);
    theirs->cancelled = ours->MPI_internal[WEFT_STATUS_CANCELLED];
    memcpy(&theirs->count, &ours->MPI_internal[WEFT_STATUS_BYTES_LOW], sizeof theirs->count);
}

static inline void front_status_in(const front_Status *theirs, MPI_Status *ours)
{
    *ours = (MPI_Status){front_rank_in(theirs->MPI_SOURCE),
                         front_tag_in(theirs->MPI_TAG),
                         front_error_in(theirs->MPI_ERROR),
                         {0}};
    ours->MPI_internal[WEFT_STATUS_CANCELLED] = theirs->cancelled;
    memcpy(&ours->MPI_internal[WEFT_STATUS_BYTES_LOW], &theirs->count, sizeof theirs->count);
}

#endif
