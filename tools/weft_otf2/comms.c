// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators and collectives: see comms.h.
 */
#include "comms.h"

#include "messages.h"
#include "tools/interpose/call.h"

#include <stdlib.h>

static struct comm {
    uint64_t id;
    uint32_t number; /* in the archive */
    bool is_known;   /* all members exist */
    uint32_t n;      /* 0: all ranks, in their order */
    uint64_t *members;
} * comms; /* by id, once they have numbers */
static size_t comms_n;

const struct operation *operation_of(uint32_t function)
{
    static const struct operation operations[] = {
#define OPERATION(call, is, role)                                                                  \
    {WEFT_CALL_##call, OTF2_COLLECTIVE_OP_##is, OTF2_REGION_ROLE_##role}
        OPERATION(Barrier, BARRIER, BARRIER),
        OPERATION(Bcast, BCAST, COLL_ONE2ALL),
        OPERATION(Gather, GATHER, COLL_ALL2ONE),
        OPERATION(Gatherv, GATHERV, COLL_ALL2ONE),
        OPERATION(Scatter, SCATTER, COLL_ONE2ALL),
        OPERATION(Scatterv, SCATTERV, COLL_ONE2ALL),
        OPERATION(Allgather, ALLGATHER, COLL_ALL2ALL),
        OPERATION(Allgatherv, ALLGATHERV, COLL_ALL2ALL),
        OPERATION(Alltoall, ALLTOALL, COLL_ALL2ALL),
        OPERATION(Alltoallv, ALLTOALLV, COLL_ALL2ALL),
        OPERATION(Alltoallw, ALLTOALLW, COLL_ALL2ALL),
        OPERATION(Allreduce, ALLREDUCE, COLL_ALL2ALL),
        OPERATION(Reduce, REDUCE, COLL_ALL2ONE),
        OPERATION(Reduce_scatter, REDUCE_SCATTER, COLL_ALL2ALL),
        OPERATION(Reduce_scatter_block, REDUCE_SCATTER_BLOCK, COLL_ALL2ALL),
        OPERATION(Scan, SCAN, COLL_OTHER),
        OPERATION(Exscan, EXSCAN, COLL_OTHER),
#undef OPERATION
    };
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (function < WEFT_CALLS && weft_functions[function].plain == operations[i].call)
            return &operations[i];
    return NULL;
}

void comms_add(const struct entry *entry)
{
    static size_t at; /* the last: lines of one communicator follow each other */
    if (at == comms_n || comms[at].id != entry->comm)
        for (at = 0; at < comms_n && comms[at].id != entry->comm; at++)
            ;
    if (at == comms_n) {
        comms = grown_list(comms, comms_n, sizeof *comms);
        comms[comms_n++] = (struct comm){.id = entry->comm};
    }
    struct comm *comm = &comms[at];
    for (int i = 0; i < entry->n; i++) {
        comm->members = grown_list(comm->members, comm->n, sizeof *comm->members);
        comm->members[comm->n++] = (uint64_t)entry->members[i];
    }
}

static int by_id(const void *a, const void *b)
{
    const struct comm *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

void comms_number(int ranks)
{
    uint32_t n = COMM_WORLD + 1;
    if (comms_n)
        qsort(comms, comms_n, sizeof *comms, by_id);
    for (size_t i = 0; i < comms_n; i++) {
        struct comm *comm = &comms[i];
        comm->is_known = true;
        for (uint32_t j = 0; j < comm->n; j++)
            comm->is_known &= comm->members[j] < (uint64_t)ranks;
        comm->number = comm->n && comm->is_known ? n++ : COMM_WORLD;
    }
}

bool comms_find(uint64_t id, uint32_t *number)
{
    const struct comm *comm =
        id && comms_n ? bsearch(&(struct comm){.id = id}, comms, comms_n, sizeof *comms, by_id)
                      : NULL;
    *number = comm ? comm->number : COMM_WORLD;
    return comm && comm->is_known;
}

void comms_put(OTF2_GlobalDefWriter *to, uint32_t name)
{
    for (size_t i = 0; i < comms_n; i++) {
        const struct comm *comm = &comms[i];
        const uint32_t group = GROUP_FIRST + comm->number - 1;
        if (!comm->is_known || !comm->n)
            continue;
        OTF2_GlobalDefWriter_WriteGroup(to, group, name, OTF2_GROUP_TYPE_COMM_GROUP,
                                        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, comm->n,
                                        comm->members);
        OTF2_GlobalDefWriter_WriteComm(to, comm->number, name, group, OTF2_UNDEFINED_COMM,
                                       OTF2_COMM_FLAG_NONE);
    }
}
