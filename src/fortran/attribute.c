// SPDX-License-Identifier: BSD-3-Clause
/*
 * Attributes set and copied by Fortran, and the other callbacks that C calls with an extra state:
 * generalized requests and data representations.
 *
 * C keeps a pointer for each attribute. For a value that Fortran sets, that is the address of a box
 * with the value, which is what a C program has to find (MPI 5.0, section 19.3.7): a pointer to an
 * INTEGER, or to an integer of address size. A pointer that is no box was set by C, and its value
 * in Fortran is the address itself.
 *
 * Invariants:
 *  - boxes holds the address of every box, so that a box can be distinguished from any other
 *    pointer.
 *  - A box belongs to one attribute of one object: a copy of the attribute has a box of its own.
 *    Only boxes that Fortran sets with a key made by C can be shared; those are never freed.
 */
#include "fortran/callback.h"

#include <pthread.h>
#include <search.h>

struct box {
    union {
        int narrow;
        MPI_Aint wide;
    } value; /* first: C reads through the address of the box */
    enum weft_fortran_width width;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *boxes;

static int compare(const void *a, const void *b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

void *weft_fortran_box(MPI_Aint value, enum weft_fortran_width width)
{
    struct box *box = weft_fortran_allocate(1, sizeof *box);
    box->width = width;
    if (width == WEFT_FORTRAN_INTEGER)
        box->value.narrow = (int)value;
    else
        box->value.wide = value;
    pthread_mutex_lock(&lock);
    tsearch(box, &boxes, compare);
    pthread_mutex_unlock(&lock);
    return box;
}

static bool is_box(void *kept)
{
    pthread_mutex_lock(&lock);
    bool found = tfind(kept, &boxes, compare) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

void weft_fortran_unbox(void *kept)
{
    pthread_mutex_lock(&lock);
    bool found = tfind(kept, &boxes, compare) != NULL;
    if (found)
        tdelete(kept, &boxes, compare);
    pthread_mutex_unlock(&lock);
    if (found)
        free(kept);
}

static MPI_Aint value_of(void *kept)
{
    struct box *box = kept;
    if (!is_box(kept))
        return (MPI_Aint)kept;
    return box->width == WEFT_FORTRAN_INTEGER ? box->value.narrow : box->value.wide;
}

/* Predefined attributes are pointers to integers in C and the integers themselves in Fortran. */
MPI_Aint weft_fortran_value(int keyval, void *kept)
{
    switch (keyval) {
    case MPI_WIN_SIZE:
        return *(MPI_Aint *)kept;
    case MPI_TAG_UB:
    case MPI_HOST:
    case MPI_IO:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_UNIVERSE_SIZE:
    case MPI_LASTUSEDCODE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
        return *(int *)kept;
    default:
        return value_of(kept);
    }
}

/* ---- Copying and deleting */

struct weft_fortran_keyval *weft_fortran_keyval(weft_fortran_procedure *copy,
                                                weft_fortran_procedure *delete, MPI_Aint extra,
                                                enum weft_fortran_width width)
{
    static struct weft_fortran_keyval *all;
    struct weft_fortran_keyval *keyval = weft_fortran_allocate(1, sizeof *keyval);
    pthread_mutex_lock(&lock);
    *keyval = (struct weft_fortran_keyval){copy, delete, extra, width, all};
    all = keyval;
    pthread_mutex_unlock(&lock);
    return keyval;
}

/* A copy of what C has set is what C has set, not a box. */
static bool is_dup(weft_fortran_procedure *copy)
{
    return copy == mpi_dup_fn_ || copy == mpi_comm_dup_fn_ || copy == mpi_type_dup_fn_ ||
           copy == mpi_win_dup_fn_;
}

typedef void copy_integer(int *object, int *keyval, int *extra, int *in, int *out, int *flag,
                          int *ierror);
typedef void copy_address(int *object, int *keyval, MPI_Aint *extra, MPI_Aint *in, MPI_Aint *out,
                          int *flag, int *ierror);
typedef void delete_integer(int *object, int *keyval, int *value, int *extra, int *ierror);
typedef void delete_address(int *object, int *keyval, MPI_Aint *value, MPI_Aint *extra,
                            int *ierror);

static int copy_attribute(int object, int keyval, const struct weft_fortran_keyval *key, void *in,
                          void **out, int *flag)
{
    MPI_Aint value = value_of(in), copied = value;
    int logical = WEFT_FORTRAN_FALSE, ierror = MPI_SUCCESS;
    if (is_dup(key->copy)) {
        *flag = 1;
        *out = is_box(in) ? weft_fortran_box(value, ((struct box *)in)->width) : in;
        return MPI_SUCCESS;
    }
    if (key->width == WEFT_FORTRAN_INTEGER) {
        int extra = (int)key->extra, old = (int)value, new = (int)value;
        ((copy_integer *)key->copy)(&object, &keyval, &extra, &old, &new, &logical, &ierror);
        copied = new;
    } else {
        MPI_Aint extra = key->extra;
        ((copy_address *)key->copy)(&object, &keyval, &extra, &value, &copied, &logical, &ierror);
    }
    *flag = weft_fortran_truth(logical);
    if (ierror == MPI_SUCCESS && *flag)
        *out = weft_fortran_box(copied, key->width);
    return ierror;
}

static int delete (int object, int keyval, const struct weft_fortran_keyval *key, void *kept)
{
    MPI_Aint value = value_of(kept), extra = key->extra;
    int narrow = (int)value, narrow_extra = (int)extra, ierror = MPI_SUCCESS;
    if (key->width == WEFT_FORTRAN_INTEGER)
        ((delete_integer *)key->delete)(&object, &keyval, &narrow, &narrow_extra, &ierror);
    else
        ((delete_address *)key->delete)(&object, &keyval, &value, &extra, &ierror);
    if (ierror == MPI_SUCCESS)
        weft_fortran_unbox(kept);
    return ierror;
}

int weft_fortran_comm_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    return copy_attribute(weft_Comm_integer(comm), keyval, extra, in, out, flag);
}

int weft_fortran_comm_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    return delete (weft_Comm_integer(comm), keyval, extra, value);
}

int weft_fortran_type_copy(MPI_Datatype type, int keyval, void *extra, void *in, void *out,
                           int *flag)
{
    return copy_attribute(weft_Type_integer(type), keyval, extra, in, out, flag);
}

int weft_fortran_type_delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    return delete (weft_Type_integer(type), keyval, extra, value);
}

int weft_fortran_win_copy(MPI_Win win, int keyval, void *extra, void *in, void *out, int *flag)
{
    return copy_attribute(weft_Win_integer(win), keyval, extra, in, out, flag);
}

int weft_fortran_win_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    return delete (weft_Win_integer(win), keyval, extra, value);
}

/* ---- Generalized requests; the state is freed with the request */

int weft_fortran_grequest_query(void *extra, MPI_Status *status)
{
    struct weft_fortran_grequest *grequest = extra;
    int ierror = MPI_SUCCESS;
    ((void (*)(MPI_Aint *, MPI_Status *, int *))grequest->query)(&grequest->extra, status, &ierror);
    return ierror;
}

int weft_fortran_grequest_free(void *extra)
{
    struct weft_fortran_grequest *grequest = extra;
    int ierror = MPI_SUCCESS;
    ((void (*)(MPI_Aint *, int *))grequest->release)(&grequest->extra, &ierror);
    free(grequest);
    return ierror;
}

int weft_fortran_grequest_cancel(void *extra, int complete)
{
    struct weft_fortran_grequest *grequest = extra;
    int ierror = MPI_SUCCESS, logical = weft_fortran_logical(complete);
    ((void (*)(MPI_Aint *, int *, int *))grequest->cancel)(&grequest->extra, &logical, &ierror);
    return ierror;
}

/* ---- Data representations */

int weft_fortran_datarep_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    struct weft_fortran_datarep *datarep = extra;
    int datatype = weft_Type_integer(type), ierror = MPI_SUCCESS;
    ((void (*)(int *, MPI_Aint *, MPI_Aint *, int *))datarep->extent)(&datatype, extent,
                                                                      &datarep->extra, &ierror);
    return ierror;
}

#define CONVERSION(name, procedure, Count)                                                         \
    int weft_fortran_datarep_##name(void *userbuf, MPI_Datatype type, Count count, void *filebuf,  \
                                    MPI_Offset position, void *extra)                              \
    {                                                                                              \
        struct weft_fortran_datarep *datarep = extra;                                              \
        int datatype = weft_Type_integer(type), ierror = MPI_SUCCESS;                              \
        ((void (*)(void *, int *, Count *, void *, MPI_Offset *, MPI_Aint *,                       \
                   int *))datarep->procedure)(userbuf, &datatype, &count, filebuf, &position,      \
                                              &datarep->extra, &ierror);                           \
        return ierror;                                                                             \
    }

CONVERSION(read, read, int)
CONVERSION(write, write, int)
CONVERSION(read_c, read, MPI_Count)
CONVERSION(write_c, write, MPI_Count)
