// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=40
// run: ranks=3 lanes=rxm,net-soft,shm seconds=40
/*
 * A child that a rank forks is no rank: it may end in any way, by exit() too, which runs what
 * libraries want done at exit, at any time of the life of MPI, and its parent's job goes on as if
 * it had never been. The times: in a session, when all sessions are gone, in one that comes after.
 */
#include "check.h"

#include <sys/wait.h>

enum { BYTES = 100000, SECONDS = 10 };

static void leave_by_exit(void)
{
    exit(7);
}

static void leave_at_once(void)
{
    _exit(7);
}

static void become_another(void)
{
    execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
    _exit(1);
}

static const struct {
    const char *name;
    void (*leave)(void);
} ways[] = {{"exit", leave_by_exit}, {"_exit", leave_at_once}, {"exec", become_another}};

/* A child for each way to leave; none may hang, or end as anything but that way. */
static void fork_all(const char *when)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        int status = 0;
        fflush(NULL);
        pid_t child = fork(), ended = 0;
        if (child == 0)
            ways[i].leave();
        for (int tries = SECONDS * 100; child > 0 && tries && ended == 0; tries--) {
            ended = waitpid(child, &status, WNOHANG);
            usleep(ended ? 0 : 10000);
        }
        CHECK(ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 7,
              "%s: a child that leaves by %s %s", when, ways[i].name,
              ended == child ? "ends with another status" : "hangs");
        if (ended == 0 && child > 0) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
        }
    }
}

/* Messages in a ring, long enough to be read out of the sender's memory. */
static void talk(MPI_Comm comm, const char *when)
{
    static char out[BYTES], in[BYTES];
    int rank, size, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    memset(out, rank, sizeof out);
    memset(in, -1, sizeof in);
    MPI_Sendrecv(out, BYTES, MPI_BYTE, (rank + 1) % size, 1, in, BYTES, MPI_BYTE,
                 (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
    CHECK(in[0] == (rank + size - 1) % size && in[BYTES - 1] == in[0],
          "%s: what came is not what was sent", when);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2, "%s: a sum of %d", when, sum);
}

static void one_session(const char *when)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "forked", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &check.rank);
    talk(comm, when);
    fork_all(when);
    talk(comm, when);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

int main(void)
{
    one_session("in a session");
    fork_all("after the last session");
    one_session("in a later session");
    return check.failures != 0;
}
