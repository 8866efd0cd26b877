// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm seconds=30
/*
 * The launcher's process sets, as arguments tell them: "sea=0,1,3 land=2". A session finds them
 * behind its own, a group has their processes in the order of ranks, a communicator made of that
 * works, and MPI_Comm_split_type splits by their names, of all in one call too. Without arguments
 * there are none.
 */
#include "check.h"

enum { OWN = 2, MOST = 64 };

static MPI_Session session;

/* The ranks behind "name=". */
static int read_ranks(const char *text, int *ranks)
{
    int n = 0;
    for (const char *at = strchr(text, '='); at && n < MOST; at = strchr(at, ','))
        ranks[n++] = atoi(++at);
    return n;
}

static void expect_communicator(MPI_Comm comm, const int *ranks, int n, const char *name)
{
    int rank = -1, size = -1, all[MOST];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK(size == n, "%s: a communicator of %d processes instead of %d", name, size, n);
    MPI_Allgather(&check.rank, 1, MPI_INT, all, 1, MPI_INT, comm);
    for (int i = 0; i < n && i < size; i++)
        CHECK(all[i] == ranks[i], "%s: rank %d is %d of the world instead of %d", name, i, all[i],
              ranks[i]);
}

static void one_set(int index, const char *text)
{
    int ranks[MOST], n = read_ranks(text, ranks), flag = 0, size = -1, in[MOST], world[MOST];
    char name[MPI_MAX_PSET_NAME_LEN], value[16] = "";
    int length = sizeof name;
    bool mine = false;
    MPI_Info info;
    MPI_Group group, all;
    MPI_Comm comm;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, index, &length, name);
    size_t bytes = strcspn(text, "=");
    CHECK(strlen(name) == bytes && !strncmp(name, text, bytes), "set %d is %s instead of %s", index,
          name, text);
    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_get(info, "mpi_size", sizeof value - 1, value, &flag);
    CHECK(flag && atoi(value) == n, "%s has %s processes instead of %d", name, value, n);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, name, &group);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Group_size(group, &size);
    CHECK(size == n, "the group of %s has %d processes", name, size);
    for (int i = 0; i < n; i++) {
        in[i] = i;
        mine = mine || ranks[i] == check.rank;
    }
    MPI_Group_translate_ranks(group, n, in, all, world);
    for (int i = 0; i < n; i++)
        CHECK(world[i] == ranks[i], "member %d of %s is rank %d", i, name, world[i]);
    if (mine) {
        MPI_Comm_create_from_group(group, "a set", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
        expect_communicator(comm, ranks, n, name);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_pset_name", name);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &comm);
    CHECK((comm != MPI_COMM_NULL) == mine, "who is in the part of %s is wrong", name);
    if (comm != MPI_COMM_NULL) {
        expect_communicator(comm, ranks, n, name);
        MPI_Comm_free(&comm);
    }
    MPI_Info_free(&info);
}

/* The first of the sets with a rank; -1: none. */
static int first_set(int sets, char **texts, int rank)
{
    int ranks[MOST];
    for (int s = 0; s < sets; s++)
        for (int n = read_ranks(texts[s], ranks), i = 0; i < n; i++)
            if (ranks[i] == rank)
                return s;
    return -1;
}

/* Each rank names a set of its own in one call. */
static void all_sets(int sets, char **texts)
{
    int mine = first_set(sets, texts, check.rank), ranks[MOST], n = 0;
    char name[MPI_MAX_PSET_NAME_LEN] = "none";
    MPI_Comm comm;
    MPI_Info info;
    for (int r = 0; r < check.size && mine >= 0; r++)
        if (first_set(sets, texts, r) == mine)
            ranks[n++] = r;
    if (mine >= 0)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(texts[mine], "="), texts[mine]);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_pset_name", name);
    MPI_Comm_split_type(MPI_COMM_WORLD, mine < 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_RESOURCE_GUIDED, 0,
                        info, &comm);
    CHECK((comm != MPI_COMM_NULL) == (mine >= 0), "the part of %s is there: %d", name,
          comm != MPI_COMM_NULL);
    if (comm != MPI_COMM_NULL) {
        expect_communicator(comm, ranks, n, name);
        MPI_Comm_free(&comm);
    }
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    int sets = -1;
    check_begin(&argc, &argv, 1);
    check_errors_return();
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    CHECK(sets == OWN + argc - 1, "%d process sets", sets);
    for (int i = 1; i < argc && i < sets - 1; i++)
        one_set(OWN + i - 1, argv[i]);
    all_sets(argc - 1, argv + 1);
    MPI_Session_finalize(&session);
    return check_done();
}
