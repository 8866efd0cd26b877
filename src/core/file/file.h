// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files (MPI 5.0 chapter 14): the interface of this folder.
 *
 * Invariants:
 *  - A file has a communicator of its own, whose handle and error handler are the file's.
 *  - A collective function ends with one agreement (weft_file_agree): all ranks return the same
 *    error class, with the sentence of the lowest rank that failed. A rank whose arguments are
 *    wrong participates, so no other rank waits for it.
 *  - A view is never flattened: offsets and positions follow from the layout of its filetype. A
 *    position counts bytes of data from the beginning of the view.
 *  - Bytes that the program did not give are written back only while no other writer exists: none
 *    of this open (the file's lock, or a blocking collective access of all ranks, during which the
 *    writes of other threads wait), and no other open of the file (exclude.c). Else each run is
 *    written by itself.
 *
 * Functions return MPI_SUCCESS, or an error class whose sentence was recorded.
 */
#ifndef WEFT_FILE_H
#define WEFT_FILE_H

#include "core/comm/comm.h"
#include "core/datatype/datatype.h"
#include "core/file/systems.h"

#include <stdatomic.h>
#include <stdbool.h>

struct weft_file_access;
struct weft_win;

enum weft_file_flag {
    WEFT_FILE_WRITE = 1,
    WEFT_FILE_AT = 2,    /* at an explicit offset, else at the individual pointer */
    WEFT_FILE_ALL = 4,   /* collective */
    WEFT_FILE_SHARED = 8 /* at the shared pointer; with WEFT_FILE_ALL: in the order of ranks */
};

/* A data representation (convert.c). */
struct weft_file_form {
    char name[MPI_MAX_DATAREP_STRING];
    MPI_Datarep_conversion_function *read, *write; /* NULL, as the next: not given */
    MPI_Datarep_conversion_function_c *read_large, *write_large;
    MPI_Datarep_extent_function *extent; /* NULL: known here */
    void *extra;
    struct weft_file_form *next;
};

/* The file's own references to its types. Immutable between two calls of weft_file_set_view. */
struct weft_file_view {
    MPI_Offset disp;
    const struct weft_datatype *etype, *filetype; /* with the sizes of the file */
    const struct weft_datatype *given_etype, *given_filetype;
    const struct weft_file_form *form;
    bool contiguous; /* the data are one run */
    bool ascends;    /* each byte is behind the one before it */
    /* As `ascends`, within the first filetype. Those behind it may overlap it, if the program
     * accesses only this one: HDF5 gives such views for chunks. */
    bool first_ascends;
    /* For weft_layout_position: the extent, or more than any offset if only the first ascends. */
    MPI_Aint repeat;
};

/* True if the offsets of the first `bytes` bytes of data ascend. */
static inline bool weft_file_ascends(const struct weft_file_view *view, size_t bytes)
{
    return view->ascends || (view->first_ascends && bytes <= view->filetype->size);
}

struct weft_file {
    struct weft_object object;
    MPI_File handle;
    struct weft_comm *comm;
    int fd;      /* -1: closed */
    bool opened; /* MPI_File_open has returned it */
    int amode;
    bool unreadable; /* MPI_MODE_WRONLY, and this process may not read it */
    char *name;      /* without a prefix for the file system */
    struct weft_info *info;
    bool host_only;                        /* the user asserts that no buffer is in device memory */
    const struct weft_file_system *system; /* as the next, that of rank 0 */
    struct weft_file_stripes stripes;
    size_t sieve[2];      /* hints: bytes of it for reads and writes; 0: those of the file system */
    int64_t buffer_bytes; /* hint, as the next that of rank 0: most bytes of domains of a rank */
    int64_t writers;      /* hint: most ranks that own domains; 0: any number */
    struct weft_file_view view;
    MPI_Offset pointer;       /* in etypes */
    int64_t identity[2];      /* device and inode */
    bool strided;             /* the view of some rank is not contiguous */
    bool on_node;             /* all ranks share memory */
    bool several_caches;      /* ranks are on several nodes of NFS: the file has O_DSYNC */
    bool guarded;             /* writes hold the lock: that of another rank may sieve */
    bool is_pipe;             /* a pipe or the like: no offsets */
    int presence;             /* at rank 0: the descriptor with the lock on own_byte; or -1 */
    int64_t own_byte;         /* the offset of the lock of this open; 0: none (exclude.c) */
    bool merges;              /* such locks exclude all other opens; the same at all ranks */
    bool in_rounds;           /* a collective write uses domains: no other write sieves */
    bool may_be_merging;      /* a blocking one does, which may merge: other writes wait */
    bool no_domains;          /* there is no memory for domains */
    struct weft_win *win;     /* domains of the file for each rank, or NULL (domains.c) */
    int64_t domain;           /* the most bytes of each */
    int *owners, nowners;     /* the ranks whose domains are used */
    int own;                  /* the index of this rank among them, or -1 */
    struct weft_win *state;   /* the shared pointer and the lock; NULL with one rank (shared.c) */
    _Atomic MPI_Offset alone; /* the shared pointer of a file with one rank */
    bool busy;                /* a thread uses `state` */
    bool atomic;              /* MPI_File_set_atomicity; the same at all ranks */
    int pending;              /* nonblocking collective accesses (nonblocking.c) */
    int pending_own;          /* nonblocking accesses of this rank alone */
    struct weft_file_access *moving;    /* those with data to move, the oldest first */
    struct weft_file_access *joint;     /* collective ones that may use domains, the oldest first */
    unsigned split;                     /* the flags of a pending split access, or 0 */
    size_t split_bytes;                 /* what it has moved, if it was moved in the call */
    struct weft_request *split_request; /* else */
    struct weft_file *next;
};

/* ---- Opening and closing */

/* Opens a file at all ranks, or at none; the errors of its arguments are agreed on, too. */
int weft_file_open(struct weft_comm *over, const char *name, int amode,
                   const struct weft_info *info, struct weft_errhandler *errhandler,
                   struct weft_file **out);

/* Closes the file at all ranks, and frees it unless a rank failed: then it stays until
 * MPI_Finalize, so that its error handler can be called. */
int weft_file_close(struct weft_file **file);

/* MPI_Finalize: closes what is open, without other ranks. */
void weft_file_close_all(void);

int weft_file_delete(const char *name);

/* Collective. weft_file_resize: preallocate does not shrink the file. */
int weft_file_resize(struct weft_file *file, MPI_Offset size, bool preallocate);
int weft_file_sync(struct weft_file *file);

int weft_file_size(const struct weft_file *file, MPI_Offset *size);

/* Gives all ranks the error of the lowest rank that passes one. Collective. */
int weft_file_agree(const struct weft_file *file, int code);

/* weft_file_agree; if no rank has failed, each of the n <= 4 values must be that of rank 0. */
int weft_file_compare(const struct weft_file *file, int code, const int64_t *values, int n,
                      const char *what);

/* Records the error of a function that files of MPI_MODE_SEQUENTIAL do not allow. */
int weft_file_sequential(void);

/* An error while a split collective access is pending; the second: or a nonblocking one. */
int weft_file_no_split(const struct weft_file *file);
int weft_file_no_pending(const struct weft_file *file);

/* An error of this rank as it is reported to others: "rank 3 on HOST: SENTENCE". */
enum { WEFT_FILE_SENTENCE = MPI_MAX_ERROR_STRING + 300 };
void weft_file_describe(const struct weft_file *file, int code, char *sentence);

/* ---- Hints (hints.c) */

/* Sets the hints that are known and have a valid value. */
int weft_file_take_hints(struct weft_file *file, const struct weft_info *info);

/* The value of a hint that is a number. */
int64_t weft_file_number_hint(const struct weft_file *file, const char *key);

/* The hints of this process's environment; free with free(). NULL: none. */
int weft_file_environment_hints(char **text);

/* Sets those of a text that the program has not given. */
int weft_file_take_text(struct weft_file *file, const char *text, const struct weft_info *info);

/* All known hints with their defaults. NULL without memory, recorded. */
struct weft_info *weft_file_default_hints(void);

/* ---- Views and pointers (view.c) */

void weft_file_default_view(struct weft_file *file);

/* Drops the references to types that are not NULL. */
void weft_file_free_view(const struct weft_file_view *view);

struct weft_file_view_arguments {
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    const char *representation;
    struct weft_info *info;
};

/* code: an error of this rank's other arguments, or MPI_SUCCESS. Collective. */
int weft_file_set_view(struct weft_file *file, const struct weft_file_view_arguments *arguments,
                       int code);
int weft_file_seek(struct weft_file *file, MPI_Offset offset, int whence);

/* The pointer after a seek from `pointer`. */
int weft_file_seek_from(const struct weft_file *file, MPI_Offset pointer, MPI_Offset offset,
                        int whence, MPI_Offset *to);

/* The offset in bytes of an etype in the file. */
int weft_file_byte_offset(const struct weft_file *file, MPI_Offset etypes, MPI_Offset *offset);

/* ---- Access (access.c) */

/* An access of a rank whose arguments were checked. */
struct weft_file_data {
    MPI_Offset offset; /* etypes of the view */
    void *buffer;
    const struct weft_datatype *type;
    size_t bytes;
};

/* Moves the data of an access. *moved is set also on error. */
int weft_file_move(struct weft_file *file, bool write, const struct weft_file_data *data,
                   size_t *moved);

/* Moves the first of bytes [from, to) of an access without waiting: one run, or as many runs as one
 * call of the sieve holds, or a bounce buffer, or some of them. *moved is 0 if another writer is to
 * be waited for; *ended: a read is at the end of the file. Not in atomic mode, and not to or from a
 * pipe. The caller holds the VCI of the file, and perhaps no other. */
int weft_file_move_at_once(struct weft_file *file, bool write, const struct weft_file_data *data,
                           size_t from, size_t to, size_t *moved, bool *ended);

/* Writes them within a collective access, without bytes of holes. */
int weft_file_write_runs(struct weft_file *file, const struct weft_file_data *data, size_t from,
                         size_t to);

/* Moves the data of all ranks, and agrees on their errors (nonblocking.c). code: an error of this
 * rank's arguments, or MPI_SUCCESS. Collective. */
int weft_file_move_all(struct weft_file *file, bool write, int code,
                       const struct weft_file_data *data, size_t *moved);

/* True if a collective access may use domains (domains.c); the same at all ranks. */
bool weft_file_may_join(const struct weft_file *file, bool write);

/* Makes domains for a span of bytes, if those of the file are too small. Collective. The other one:
 * false if that is so. */
bool weft_file_has_domains(const struct weft_file *file, int64_t span);
void weft_file_make_domains(struct weft_file *file, int64_t span);

/* True if this rank has all ranks' memory of a domain mapped; if one rank has, all have. */
bool weft_file_maps_all(const struct weft_win *win);

/* Starts to move this rank's data, which progress completes, and the agreement behind it, with
 * which the request completes (nonblocking.c). code: as weft_file_move_all. in_call: moves all
 * before it returns. Collective, and waits for no rank. */
int weft_file_start_all(struct weft_file *file, bool write, int code,
                        const struct weft_file_data *data, bool in_call,
                        struct weft_request **request);

/* The same for an access of this rank alone: its request completes when its data are moved. */
int weft_file_start(struct weft_file *file, bool write, const struct weft_file_data *data,
                    bool in_call, struct weft_request **request);

/* The data of a started read, which were moved in the call, cannot be converted: the request
 * completes with the error at this rank. */
void weft_file_fail_converted(struct weft_request *started, int code);

/* Moves what nonblocking accesses of this rank have not moved. It waits for no rank, unless another
 * thread is in a blocking collective write. */
void weft_file_finish_moves(struct weft_file *file);

/* The same, and waits for the collective accesses that may use domains, for which all ranks are to
 * call this. */
void weft_file_finish_joint(struct weft_file *file);

/* Completes the nonblocking accesses of this rank alone. */
void weft_file_finish_own(struct weft_file *file);

extern const struct weft_request_ops weft_file_request_ops, weft_file_own_request_ops;

/* ---- Data representations (convert.c) */

/* NULL: there is none of this name. */
const struct weft_file_form *weft_file_find_form(const char *name);
int weft_file_add_form(const char *name, const struct weft_file_form *functions);
void weft_file_free_forms(void);

/* Its data are not those in memory. */
bool weft_file_converts(const struct weft_file_form *form);

/* The type in the file, with a reference, not committed. */
int weft_file_scale(const struct weft_file_form *form, const struct weft_datatype *type,
                    struct weft_datatype **scaled);

/* Makes an access to the data in the file's representation. After it, also after an error,
 * weft_file_convert_back converts what was read, and *moved to bytes in memory. */
int weft_file_convert(const struct weft_file *file, bool write, struct weft_file_data *data,
                      struct weft_file_data *user);
int weft_file_convert_back(const struct weft_file *file, bool write, struct weft_file_data *data,
                           const struct weft_file_data *user, size_t *moved);

/* ---- The shared pointer and atomic mode (shared.c) */

/* Makes the pointer, with a value. Collective, also at a rank that has `failed`, an error class:
 * then it fails at all ranks. */
int weft_file_make_shared(struct weft_file *file, MPI_Offset pointer, int failed);

/* Adds to the pointer; *before is its value before. */
int weft_file_add_shared(struct weft_file *file, MPI_Offset etypes, MPI_Offset *before);

/* Rank 0 sets the pointer while no rank uses it. */
void weft_file_store_shared(struct weft_file *file, MPI_Offset pointer);

/* Adds the etypes of all ranks to the pointer, and sets the offset of this rank's data. code: an
 * error of this rank: then the pointer does not move, and all others have no data. Collective. */
int weft_file_add_ordered(struct weft_file *file, int code, MPI_Offset etypes,
                          struct weft_file_data *data);

/* Collective. */
int weft_file_seek_shared(struct weft_file *file, MPI_Offset offset, int whence);
int weft_file_set_atomicity(struct weft_file *file, bool atomic);

/* The lock of the file, for all ranks of it and for threads, which hold all VCIs. */
int weft_file_lock(struct weft_file *file, bool exclusive);
int weft_file_unlock(struct weft_file *file);

/* The same lock on one node, without waiting, for a thread that holds the VCI of the file only and
 * calls nothing that waits before the second function. */
int weft_file_lock_try(struct weft_file *file, bool exclusive, bool *taken);
void weft_file_unlock_try(struct weft_file *file, bool exclusive);

/* ---- Exclusion of other opens of the file (exclude.c) */

/* Rank 0 makes this open visible to others, and waits until their merging writes have ended. */
void weft_file_register(struct weft_file *file);

/* True if this rank can see the lock of its own open. */
bool weft_file_is_registered(const struct weft_file *file);

/* True if this rank may read bytes of holes and write them back, by the hint romio_ds_write too. */
bool weft_file_may_merge(const struct weft_file *file);

/* True if no other open of the file writes until weft_file_end_merge. One thread of a rank at a
 * time. */
bool weft_file_begin_merge(const struct weft_file *file);
void weft_file_end_merge(const struct weft_file *file);

#endif
