// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reductions of device memory, which are combined on the host. Other collectives move the data of
 * device memory as data with holes (core/datatype/device.h).
 *
 * Short reductions get copies of their operands and results in host memory. A long allreduce or
 * reduce has its buffers where they are: its messages move data of device memory, and only what it
 * combines passes through host memory, in segments whose copies overlap with the combination of
 * others. So it needs no more memory than one on the host, and some MiB that are kept.
 *
 * Invariant: the messages of a collective do not depend on where its buffers are, because those of
 * other ranks may be elsewhere.
 */
#ifndef WEFT_COLL_STAGE_H
#define WEFT_COLL_STAGE_H

#include "core/coll/coll.h"

struct weft_schedule;

struct weft_stage {
    struct weft_elements in, out;           /* in device memory; count 0: on the host */
    struct weft_elements host_in, host_out; /* the copies */
    bool fills; /* the result is copied in, too: ranks without a result do not change it */
    void *memory[2];
};

/* True for a reduction of a buffer in device memory. */
WEFT_COLD bool weft_stage_is_needed(const struct weft_coll_args *args);

/* Replaces buffers in device memory by buffers on the host: in memory of a schedule, or (NULL) in
 * memory of the stage. Returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
WEFT_COLD int weft_stage_open(struct weft_stage *stage, struct weft_coll_args *args,
                              struct weft_schedule *s);

/* Copies the operands in, and the results out. */
WEFT_COLD void weft_stage_begin(const struct weft_stage *stage);
WEFT_COLD void weft_stage_end(const struct weft_stage *stage);

/* Classifies the buffers of a collective. A long reduction keeps its types, and gets `device`. */
WEFT_COLD void weft_stage_classify(struct weft_coll_args *args);

/* The same, and executes the collective: blocking. Changes the arguments. */
WEFT_COLD int weft_stage_run(struct weft_coll_args *args);

/* weft_op_combine for elements whose types are those of the memory that they are in. Returns
 * MPI_SUCCESS or MPI_ERR_NO_MEM. */
int weft_stage_combine(struct weft_vci *vci, const struct weft_op *op, struct weft_elements in,
                       struct weft_elements inout);

/* MPI_Reduce_local. */
int weft_stage_reduce_local(const struct weft_op *op, const struct weft_datatype *type,
                            const void *in, void *inout, size_t count);

/* Frees the memory for segments. */
void weft_stage_finalize(void);

#endif
