// SPDX-License-Identifier: BSD-3-Clause
/*
 * Making communicators out of communicators: the collective functions of MPI 5.0 section 7.4.2.
 *
 * Every call that makes something for all ranks of a communicator (communicators, windows, files)
 * begins with an agreement of all its ranks on the channel `making`. A rank whose arguments are
 * wrong participates in that agreement, and all ranks get its error.
 *
 * Invariants:
 *  - A call fails at all members or at none; after a death or a revocation at some, but that of a
 *    window or file at all living members or at none in a job that goes on after deaths.
 *  - Groups without a common process may get the same context ids: one allocation serves all
 *    communicators of one call.
 *
 * Functions return an MPI error class, with the error sentence set. *out is NULL if this process is
 * in none of the new communicators.
 */
#ifndef WEFT_COMM_MAKE_H
#define WEFT_COMM_MAKE_H

#include "core/comm/comm.h"
#include "core/message/request.h"

struct weft_context_alloc;

/* Makes a copy with the same groups and topology, the attributes whose callbacks allow it, and
 * these hints (NULL: none). An error code of a user's callback is returned unchanged. */
int weft_comm_dup(struct weft_comm *over, const struct weft_info *hints, struct weft_comm **out);

/* Starts weft_comm_dup; *out is valid when the request is complete. An error of this process is
 * that of the call, and *out and *request are NULL; that of another one is the request's. */
int weft_comm_idup(struct weft_comm *over, const struct weft_info *hints, struct weft_comm **out,
                   struct weft_request **request);

/* Over a subgroup of the local group. Each member passes its new group, or an empty one; over an
 * inter-communicator both sides pass one. */
int weft_comm_create(struct weft_comm *over, struct weft_group *group, struct weft_comm **out);

/* The same, called by the members of the group only, with these hints (NULL: none). over is an
 * intra-communicator. */
int weft_comm_create_group(struct weft_comm *over, struct weft_group *group, int tag,
                           const struct weft_info *hints, struct weft_comm **out);

/* weft_comm_refuse among the members of a valid group, with a valid tag. */
WEFT_COLD int weft_comm_refuse_group(struct weft_comm *over, const struct weft_group *group,
                                     int tag, int code);

/* One communicator for each color (not negative, or MPI_UNDEFINED), ranks in the order of (key,
 * rank in over). A rank whose arguments are wrong calls weft_comm_refuse_joined instead. */
int weft_comm_split(struct weft_comm *over, int64_t color, int key, struct weft_comm **out);

/* One communicator for each shared resource: a node (MPI_COMM_TYPE_SHARED), or the resource that
 * type and hints name. *out is NULL if this process has no such resource. With
 * MPI_COMM_TYPE_HW_UNGUIDED the name of the resource is added to the hints (NULL: none). */
int weft_comm_split_type(struct weft_comm *over, int type, int key, struct weft_info *hints,
                         struct weft_comm **out);

/* Allocates context ids with all members of `over`, then opens `made` (NULL: this process is not in
 * it) or, on failure, frees it. failed: an error class of this process, or MPI_SUCCESS. */
int weft_comm_agree(struct weft_comm *over, struct weft_comm *made, int failed,
                    struct weft_comm **out);

/* A window or file is made over `over`, and its communicator `made` has just been opened here: the
 * members exchange messages on it. Some may not have it, if `over` was revoked in between; so until
 * the second call a revocation of `over` is one of `made`, and ends these messages.
 *
 * code: the result of this process. Success means that it has a message of each member from `made`.
 * Returns the result of all living members, if these go on after deaths
 * (weft_comm_outlives_members): so none has an object that others could not make. A process that
 * fails waits for nobody. */
void weft_comm_begin_object(struct weft_comm *over, struct weft_comm *made);
int weft_comm_end_object(struct weft_comm *over, struct weft_comm *made, int code);

/* The same in two calls, between which the caller may use other messages: both are called, with a
 * result or without. */
void weft_comm_agree_start(struct weft_context_alloc *alloc, struct weft_comm *over,
                           const struct weft_comm *made, int failed);
int weft_comm_agree_end(struct weft_context_alloc *alloc, struct weft_comm *made,
                        struct weft_comm **out);

/* The same for a communicator over `group` (remote: and a remote group, or NULL), made here if this
 * process is in the group and both have members. Drops a reference of both. A NULL group means that
 * this process had no memory for it. */
int weft_comm_agree_group(struct weft_comm *over, struct weft_group *group,
                          struct weft_group *remote, struct weft_comm **out);

/* For a call that sends other messages before it agrees on context ids: agrees that no member has
 * an error. `failed` is this member's error class, or MPI_SUCCESS. over: NULL if it
 * was wrong. Returns the error class of all members. */
int weft_comm_begin(struct weft_comm *over, int failed);

/* Combines words of all members (core/comm/context.h), with an error class of this one or
 * MPI_SUCCESS. Returns the error class of all members. */
int weft_comm_combine(struct weft_comm *over, uint64_t *words, int failed);

/* This rank's call is wrong: makes it fail at the other members too, without waiting for them.
 * Returns the error class. */
WEFT_COLD int weft_comm_refuse(struct weft_comm *over, int code);

/* The same for a call that, over an intra-communicator, begins a collective and the agreement
 * together. */
WEFT_COLD int weft_comm_refuse_joined(struct weft_comm *over, int code);

/* The tag of the next call that makes a communicator over `over`, the same at all members. */
int weft_comm_making_tag(struct weft_comm *over);

#endif
