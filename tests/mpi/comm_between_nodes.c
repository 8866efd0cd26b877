// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4,6,7 lanes=nodes seconds=60
// run: ranks=6 lanes=nodes-3 seconds=60
/*
 * Communicators that have several ranks on each node, in the order of the nodes and not: in
 * MPI_Comm_dup, which agrees on context ids, only one rank of each node sends over the network, and
 * that at most one message for each round. Scans of short operands have the right results there,
 * and so have errors of one rank.
 */
#include "tool.h"

#include <string.h>

/* The index of this rank on its node, and the number of nodes, which have names. */
static void find_node(MPI_Comm comm, int *index, int *nodes)
{
    char mine[MPI_MAX_PROCESSOR_NAME] = "", *names = check_host((size_t)check.size * sizeof mine);
    int length, rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Get_processor_name(mine, &length);
    MPI_Allgather(mine, sizeof mine, MPI_CHAR, names, sizeof mine, MPI_CHAR, comm);
    *index = *nodes = 0;
    for (int r = 0; r < check.size; r++) {
        const char *name = names + (size_t)r * sizeof mine;
        bool first = true;
        for (int before = 0; before < r; before++)
            first = first && strcmp(name, names + (size_t)before * sizeof mine) != 0;
        *nodes += first;
        *index += r < rank && !strcmp(name, mine);
    }
    free(names);
}

static void duplicate(MPI_Comm comm, MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    MPI_Comm made;
    int index, nodes, rounds = 0, sum;
    find_node(comm, &index, &nodes);
    while (1 << rounds < nodes)
        rounds++;
    MPI_Barrier(comm);
    count_t before = tool_read(session, handle);
    MPI_Comm_dup(comm, &made);
    count_t sent = tool_read(session, handle) - before;
    CHECK(sent == (index ? 0u : (unsigned)rounds), "rank %d of its node has sent %llu messages",
          index, sent);
    MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, made);
    CHECK(sum == check.size, "the sum on the copy is %d", sum);
    MPI_Comm_free(&made);
}

static void scan(MPI_Comm comm)
{
    enum { COUNT = 5 };
    int rank, in[COUNT], out[COUNT];
    MPI_Comm_rank(comm, &rank);
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        for (int i = 0; i < COUNT; i++) {
            in[i] = rank + 10 * i;
            out[i] = -1;
        }
        if (exclusive)
            MPI_Exscan(in, out, COUNT, MPI_INT, MPI_SUM, comm);
        else
            MPI_Scan(in, out, COUNT, MPI_INT, MPI_SUM, comm);
        int ranks = exclusive ? rank : rank + 1, below = ranks * (ranks - 1) / 2;
        for (int i = 0; i < COUNT && ranks; i++)
            CHECK(out[i] == below + ranks * 10 * i, "element %d of a scan at rank %d is %d", i,
                  rank, out[i]);
    }
}

static int refuse_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)in, (void)out;
    *flag = 1;
    return *(int *)extra == check.rank ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* The copy of an attribute fails at one rank after the other. */
static void fail(MPI_Comm comm)
{
    int key, who;
    MPI_Comm made;
    MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &key, &who);
    MPI_Comm_set_attr(comm, key, NULL);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (who = 0; who < check.size; who++)
        CHECK(MPI_Comm_dup(comm, &made) != MPI_SUCCESS, "rank %d has failed, this one has not",
              who);
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[2] = {MPI_COMM_WORLD};
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    check_begin(&argc, &argv, 4);
    tool_begin();
    MPI_T_pvar_session_create(&session);
    handle = tool_pvar(session, "weft_net_messages_sent", NULL);
    MPI_Comm_split(MPI_COMM_WORLD, 0, check.rank % 2 * check.size + check.rank, &comms[1]);
    for (int c = 0; c < 2; c++) {
        duplicate(comms[c], session, handle);
        scan(comms[c]);
    }
    fail(comms[1]);
    MPI_Comm_free(&comms[1]);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
