// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two jobs that meet: meet accept|connect FILE [CASE]. The accepting job writes the name of its
 * port to FILE, the other one reads it there. tests/jobs/run starts both.
 */
#include "../mpi/check.h"

#include <arpa/inet.h>
#include <fcntl.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define GOOD(condition) CHECK(condition, "%s", #condition)

static bool accepts;
static const char *file;
static char port[MPI_MAX_PORT_NAME];
static int rank, size;

/* ---- Meeting */

static void write_port(void)
{
    char name[512];
    snprintf(name, sizeof name, "%s.new", file);
    FILE *out = fopen(name, "w");
    GOOD(out != NULL);
    fprintf(out, "%s\n", port);
    fclose(out);
    GOOD(rename(name, file) == 0);
}

static void read_port(void)
{
    FILE *in;
    while (!(in = fopen(file, "r")))
        usleep(2000);
    GOOD(fgets(port, sizeof port, in) != NULL);
    port[strcspn(port, "\n")] = 0;
    fclose(in);
}

static MPI_Comm meet(MPI_Comm comm, int root)
{
    static char nothing[64]; /* the info argument is significant at the root only */
    int me;
    MPI_Comm_rank(comm, &me);
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Info info = me == root ? MPI_INFO_NULL : (MPI_Info)(void *)nothing;
    int code = accepts ? MPI_Comm_accept(port, info, root, comm, &inter)
                       : MPI_Comm_connect(port, info, root, comm, &inter);
    GOOD(code == MPI_SUCCESS && inter != MPI_COMM_NULL);
    return inter;
}

/* ---- Cases. Each gets an inter-communicator of both jobs. */

static void check_groups(MPI_Comm inter)
{
    int flag, local, remote, same;
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_size(inter, &local);
    MPI_Comm_remote_size(inter, &remote);
    GOOD(flag && local == size && remote > 0);
    MPI_Group world, mine, theirs, all, none;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(inter, &mine);
    MPI_Comm_remote_group(inter, &theirs);
    MPI_Group_compare(world, mine, &same);
    GOOD(same == MPI_IDENT);
    MPI_Group_compare(world, theirs, &same);
    GOOD(same == MPI_UNEQUAL);
    MPI_Group_union(mine, theirs, &all);
    MPI_Group_intersection(mine, theirs, &none);
    MPI_Group_size(all, &flag);
    GOOD(flag == local + remote);
    GOOD(none == MPI_GROUP_EMPTY);
    int zero = 0, there;
    MPI_Group_translate_ranks(theirs, 1, &zero, all, &there);
    GOOD(there == local);
    MPI_Group_translate_ranks(theirs, 1, &zero, world, &there);
    GOOD(there == MPI_UNDEFINED);
    MPI_Group_free(&world);
    MPI_Group_free(&mine);
    MPI_Group_free(&theirs);
    MPI_Group_free(&all);
}

/* A message in each direction between two processes. The connecting one probes. */
static void exchange(MPI_Comm inter, int peer, int tag, int mode, const void *out, void *in, int n)
{
    enum { TOKEN = 20000 };
    MPI_Request request;
    MPI_Status status;
    int count;
    bool probes = !accepts && mode < 2;
    if (!probes)
        MPI_Irecv(in, n, MPI_BYTE, peer, tag, inter, &request);
    if (mode == 2) /* both receives are posted */
        MPI_Sendrecv(NULL, 0, MPI_INT, peer, TOKEN, NULL, 0, MPI_INT, peer, TOKEN, inter,
                     MPI_STATUS_IGNORE);
    if (probes) {
        MPI_Isend(out, n, MPI_BYTE, peer, tag, inter, &request);
        MPI_Probe(MPI_ANY_SOURCE, tag, inter, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        GOOD(count == n && status.MPI_SOURCE == peer);
        MPI_Recv(in, n, MPI_BYTE, MPI_ANY_SOURCE, tag, inter, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        int (*const sends[])(const void *, int, MPI_Datatype, int, int,
                             MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Rsend};
        sends[mode](out, n, MPI_BYTE, peer, tag, inter);
        MPI_Wait(&request, &status);
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    GOOD(count == n && status.MPI_TAG == tag && status.MPI_SOURCE == peer);
}

/* Messages of all lengths and modes between each rank here and each rank there. */
static void check_messages(MPI_Comm inter)
{
    static const int lengths[] = {0, 1, 7, 300, 16384, 16385, 70000, 1000001, 5000000};
    enum { LENGTHS = sizeof lengths / sizeof *lengths, MOST = 5000000, MODES = 3 };
    unsigned char *out = check_alloc(MOST), *in = check_alloc(MOST);
    int remote;
    MPI_Comm_remote_size(inter, &remote);
    for (int i = 0; i < LENGTHS * MODES; i++)
        for (int peer = 0; peer < remote; peer++) {
            int n = lengths[i / MODES], pair = accepts ? rank * 64 + peer : peer * 64 + rank;
            for (int b = 0; b < n; b++)
                out[b] = (unsigned char)(b * 7 + rank + i);
            if (n > 0)
                memset(in, 0, (size_t)n);
            exchange(inter, peer, pair, i % MODES, out, in, n);
            int wrong = 0;
            for (int b = 0; b < n; b++)
                wrong += in[b] != (unsigned char)(b * 7 + peer + i);
            CHECK(!wrong, "%d bytes of %d from %d are wrong", wrong, n, peer);
        }
    check_free(out);
    check_free(in);
}

static void check_collectives(MPI_Comm inter)
{
    int remote, mine = accepts ? 100 + rank : 200 + rank;
    MPI_Comm_remote_size(inter, &remote);
    int *all = calloc((size_t)remote, sizeof *all), sum = 0, base = accepts ? 200 : 100;
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int i = 0; i < remote; i++)
        GOOD(all[i] == base + i);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
    GOOD(sum == remote * base + remote * (remote - 1) / 2);
    int value = accepts ? 4711 : 0;
    MPI_Bcast(&value, 1, MPI_INT, accepts ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
    GOOD(value == (accepts ? 4711 : 4711));
    for (int turn = 0; turn < 2; turn++) { /* each job has the root once */
        int root = !accepts != turn ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT;
        for (int i = 0; i < remote; i++)
            all[i] = -1;
        MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, inter);
        for (int i = 0; i < remote && root == MPI_ROOT; i++)
            GOOD(all[i] == base + i);
        for (int i = 0; i < remote; i++)
            all[i] = 1000 + i;
        MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, root, inter);
        GOOD(root != 0 || value == 1000 + rank);
    }
    MPI_Barrier(inter);
    free(all);
}

static void check_intra(MPI_Comm comm, int total)
{
    int me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    GOOD(n == total);
    int sum = 0, one = me + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    GOOD(sum == n * (n + 1) / 2);
    int next = (me + 1) % n, from = -1;
    MPI_Sendrecv(&me, 1, MPI_INT, next, 3, &from, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm,
                 MPI_STATUS_IGNORE);
    GOOD(from == (me + n - 1) % n);
    enum { LONG = 100000 };
    int *data = malloc(LONG * sizeof *data), *result = malloc(LONG * sizeof *result);
    for (int i = 0; i < LONG; i++)
        data[i] = me + i;
    MPI_Allreduce(data, result, LONG, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < LONG; i += 997)
        GOOD(result[i] == n * i + n * (n - 1) / 2);
    for (int root = 0; root < n; root++) {
        if (me == root)
            for (int i = 0; i < LONG; i++)
                data[i] = root * 3 + i;
        MPI_Bcast(data, LONG, MPI_INT, root, comm);
        GOOD(data[LONG - 1] == root * 3 + LONG - 1);
    }
    free(data);
    free(result);
}

static void check_making(MPI_Comm inter)
{
    MPI_Comm merged, dup, split, half, again;
    int remote, me, n;
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_dup(inter, &dup);
    check_collectives(dup);
    MPI_Intercomm_merge(inter, !accepts, &merged);
    MPI_Comm_rank(merged, &me);
    GOOD(me == (accepts ? rank : remote + rank));
    check_intra(merged, size + remote);
    MPI_Comm_split(merged, me % 2, -me, &split);
    MPI_Comm_size(split, &n);
    GOOD(n == (size + remote + 1 - me % 2) / 2);
    check_intra(split, n);
    MPI_Comm_split(dup, rank % 2, 0, &half); /* an inter-communicator of ranks of a kind */
    if (half != MPI_COMM_NULL) {
        check_intra(split, n);
        MPI_Barrier(half);
        MPI_Comm_disconnect(&half);
    } else {
        check_intra(split, n);
    }
    /* Between two halves of the merged one, each with processes of both jobs. */
    if (size + remote >= 4) {
        int low = me < (size + remote) / 2;
        MPI_Comm side, between;
        MPI_Comm_split(merged, (me / 1) % 2, me, &side);
        MPI_Intercomm_create(side, 0, merged, me % 2 ? 0 : 1, 9, &between);
        MPI_Intercomm_merge(between, me % 2, &again);
        check_intra(again, size + remote);
        (void)low;
        MPI_Comm_free(&again);
        MPI_Comm_free(&between);
        MPI_Comm_free(&side);
    }
    MPI_Comm_split_type(merged, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &half);
    MPI_Comm_size(half, &n);
    GOOD(n <= size);
    MPI_Comm_free(&half);
    MPI_Comm_free(&split);
    MPI_Comm_free(&dup);
    MPI_Comm_disconnect(&merged);
}

/* A communicator from a group alone is of processes of this job. */
static void check_from_groups(MPI_Comm inter)
{
    MPI_Comm merged, made = MPI_COMM_NULL;
    MPI_Group all, mine, theirs;
    int class;
    MPI_Intercomm_merge(inter, !accepts, &merged);
    MPI_Comm_group(merged, &all);
    MPI_Comm_group(MPI_COMM_WORLD, &mine);
    MPI_Comm_remote_group(inter, &theirs);
    MPI_Error_class(
        MPI_Comm_create_from_group(all, "jobs", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made), &class);
    CHECK(class == MPI_ERR_UNSUPPORTED_OPERATION, "a group of both jobs: %d", class);
    if (size == 1) {
        MPI_Error_class(MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "jobs", MPI_INFO_NULL,
                                                         MPI_ERRORS_RETURN, &made),
                        &class);
        CHECK(class == MPI_ERR_UNSUPPORTED_OPERATION, "the group of the other job: %d", class);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&mine);
    MPI_Group_free(&theirs);
    MPI_Comm_disconnect(&merged);
}

/* Variables of the tool interface that have a value for each rank: 0 for those of the other job
 * where only ranks of this one are counted. */
static void check_variables(MPI_Comm inter)
{
    int provided, count, found = 0, remote;
    MPI_T_pvar_session session;
    MPI_Comm_remote_size(inter, &remote);
    MPI_T_init_thread(0, &provided);
    MPI_T_pvar_get_num(&count);
    MPI_T_pvar_session_create(&session);
    for (int i = 0; i < count; i++) {
        char name[128], text[2000];
        int name_len = sizeof name, text_len = sizeof text, verbosity, var_class, bind;
        int readonly, continuous, atomic, values;
        unsigned long long value[64] = {0};
        MPI_Datatype type;
        MPI_T_enum names;
        MPI_T_pvar_handle handle;
        MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &var_class, &type, &names, text,
                            &text_len, &bind, &readonly, &continuous, &atomic);
        if (bind != MPI_T_BIND_MPI_COMM || remote > 64 ||
            MPI_T_pvar_handle_alloc(session, i, &inter, &handle, &values) != MPI_SUCCESS)
            continue;
        MPI_T_pvar_start(session, handle);
        GOOD(MPI_T_pvar_read(session, handle, value) == MPI_SUCCESS);
        MPI_T_pvar_handle_free(session, &handle);
        found++;
    }
    GOOD(found > 0);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

static void check_cancel(MPI_Comm inter)
{
    MPI_Request request;
    MPI_Status status;
    int flag, value = 5;
    MPI_Issend(&value, 1, MPI_INT, 0, 77, inter, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    GOOD(flag);
    MPI_Irecv(&value, 1, MPI_INT, 0, 78, inter, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    GOOD(flag);
    MPI_Barrier(inter);
}

static void check_types(MPI_Comm inter)
{
    enum { ROWS = 3000 };
    MPI_Datatype column;
    static int out[ROWS][3], in[ROWS][3];
    MPI_Type_vector(ROWS, 1, 3, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < ROWS; i++)
        out[i][1] = i + rank;
    memset(in, 0xff, sizeof in);
    int peer, remote;
    MPI_Comm_remote_size(inter, &remote);
    if (rank < remote) {
        peer = rank;
        MPI_Sendrecv(&out[0][1], 1, column, peer, 1, &in[0][1], 1, column, peer, 1, inter,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < ROWS; i += 7)
            GOOD(in[i][1] == i + peer && in[i][0] == -1 && in[i][2] == -1);
    }
    MPI_Type_free(&column);
    MPI_Barrier(inter);
}

static void check_windows(MPI_Comm inter)
{
    MPI_Comm merged;
    MPI_Win win;
    int *memory, me, n;
    MPI_Intercomm_merge(inter, accepts, &merged);
    MPI_Comm_rank(merged, &me);
    MPI_Comm_size(merged, &n);
    MPI_Win_allocate((MPI_Aint)(n * (int)sizeof *memory), sizeof *memory, MPI_INFO_NULL, merged,
                     &memory, &win);
    memset(memory, 0, (size_t)n * sizeof *memory);
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++)
        MPI_Put(&me, 1, MPI_INT, i, me, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++)
        GOOD(memory[i] == i);
    int one = 1, old;
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(merged);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    MPI_Win_unlock(me, win);
    GOOD(me > 0 || memory[0] == n);
    MPI_Win_free(&win);
    MPI_Comm_disconnect(&merged);
}

static void check_files(MPI_Comm inter)
{
    MPI_Comm merged;
    MPI_File fh;
    char name[512];
    int me, n, value, got = -1;
    MPI_Intercomm_merge(inter, accepts, &merged);
    MPI_Comm_rank(merged, &me);
    MPI_Comm_size(merged, &n);
    snprintf(name, sizeof name, "%s.data", file);
    GOOD(MPI_File_open(merged, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                       MPI_INFO_NULL, &fh) == MPI_SUCCESS);
    value = me * me;
    MPI_File_write_at_all(fh, (MPI_Offset)(me * (int)sizeof value), &value, 1, MPI_INT,
                          MPI_STATUS_IGNORE);
    MPI_File_sync(fh);
    MPI_Barrier(merged);
    int other = (me + 1) % n;
    MPI_File_read_at_all(fh, (MPI_Offset)(other * (int)sizeof value), &got, 1, MPI_INT,
                         MPI_STATUS_IGNORE);
    GOOD(got == other * other);
    MPI_File_close(&fh);
    MPI_Comm_disconnect(&merged);
}

/* What all members of a communicator make together. */
static void check_objects(MPI_Comm inter)
{
    check_windows(inter);
    check_files(inter);
}

static void all_cases(MPI_Comm inter)
{
    check_groups(inter);
    check_messages(inter);
    check_collectives(inter);
    check_cancel(inter);
    check_types(inter);
    check_making(inter);
    check_from_groups(inter);
    check_variables(inter);
    check_objects(inter);
}

/* The other job dies: an operation that needs it is an error. */
static void check_death(MPI_Comm inter)
{
    int value = 0, class;
    MPI_Barrier(inter);
    if (accepts) {
        if (rank == 0)
            usleep(200000);
        raise(SIGKILL);
    }
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    int code = MPI_Recv(&value, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    GOOD(class == MPIX_ERR_PROC_FAILED);
    char text[MPI_MAX_ERROR_STRING];
    int len;
    MPI_Error_string(code, text, &len);
    printf("survivor: %s\n", text);
    MPI_Error_class(MPI_Send(&value, 1, MPI_INT, 0, 0, inter), &class);
    GOOD(class == MPIX_ERR_PROC_FAILED);
    MPI_Comm_disconnect(&inter);
}

/* The other process dies with messages that it has announced and not sent. */
static void check_announced(MPI_Comm inter)
{
    enum { N = 1 << 17 };
    static int data[2 * N];
    MPI_Datatype pairs;
    MPI_Message message;
    MPI_Request requests[3];
    MPI_Type_vector(N, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    if (!accepts) {
        MPI_Isend(data, N, MPI_INT, 0, 1, inter, &requests[0]);
        MPI_Isend(data, 1, pairs, 0, 2, inter, &requests[1]);
        MPI_Isend(data, 1, pairs, 0, 3, inter, &requests[2]);
        MPI_Recv(NULL, 0, MPI_INT, 0, 4, inter, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Probe(0, 1, inter, MPI_STATUS_IGNORE);
    MPI_Probe(0, 2, inter, MPI_STATUS_IGNORE);
    MPI_Mprobe(0, 3, inter, &message, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_INT, 0, 4, inter);
    CHECK_CLASS(MPI_Recv(data, 1, MPI_INT, 0, 5, inter, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
    CHECK_CLASS(MPI_Recv(data, N, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
    CHECK_CLASS(MPI_Recv(data, N, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
    CHECK_CLASS(MPI_Mrecv(data, N, MPI_INT, &message, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
    MPI_Type_free(&pairs);
    MPI_Comm_disconnect(&inter);
}

/* A process of the job that connects dies in a collective: all other ranks have the class of a
 * death. Either all pairs are connected, or only its own job learns of the death, and it is the
 * first that a report would reach. */
static void die_in_collective(MPI_Comm inter, bool all_pairs)
{
    MPI_Comm merged;
    int class, one = 1, sum;
    MPI_Intercomm_merge(inter, all_pairs ? !accepts : accepts, &merged);
    MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN);
    for (int i = 0, n = (MPI_Comm_size(merged, &n), n), me = (MPI_Comm_rank(merged, &me), me);
         all_pairs && i < n; i++)
        MPI_Sendrecv(&one, 1, MPI_INT, (i + n - me) % n, 1, &sum, 1, MPI_INT, (i + n - me) % n, 1,
                     merged, MPI_STATUS_IGNORE);
    if (!accepts && rank == 1) {
        usleep(500000);
        raise(SIGKILL);
    }
    if (all_pairs)
        MPI_Error_class(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged), &class);
    else
        MPI_Error_class(MPI_Bcast(&one, 1, MPI_INT, 1, merged), &class);
    CHECK(class == MPIX_ERR_PROC_FAILED, "the class of the collective is %d", class);
    /* The dead one's job does not leave before the other one has returned, too. */
    for (int i = 0, n = (MPI_Comm_remote_size(inter, &n), n); !accepts && rank == 0 && i < n; i++)
        MPI_Recv(&one, 1, MPI_INT, i, 9, inter, MPI_STATUS_IGNORE);
    if (accepts)
        MPI_Send(&one, 1, MPI_INT, 0, 9, inter);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
}

static void check_death_in_collective(MPI_Comm inter)
{
    die_in_collective(inter, true);
}

static void check_death_reported(MPI_Comm inter)
{
    die_in_collective(inter, false);
}

/* The other job leaves MPI without a disconnect: what it has sent arrives, what it has not is an
 * error. */
static void check_leaving(MPI_Comm inter)
{
    int value = accepts ? 99 : 0, class, remote;
    MPI_Comm_remote_size(inter, &remote);
    if (accepts) {
        for (int i = 0; rank == 0 && i < remote; i++)
            MPI_Send(&rank, 1, MPI_INT, i, 5, inter);
        MPI_Bcast(&value, 1, MPI_INT, rank ? MPI_PROC_NULL : MPI_ROOT, inter);
        return;
    }
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    GOOD(MPI_Recv(&value, 1, MPI_INT, 0, 5, inter, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    if (rank == 0)
        usleep(500000);
    /* Its root has left, and rank 0 passes on what the root has sent. */
    GOOD(MPI_Bcast(&value, 1, MPI_INT, 0, inter) == MPI_SUCCESS && value == 99);
    if (rank == 0) {
        MPI_Error_class(MPI_Recv(&value, 1, MPI_INT, 0, 6, inter, MPI_STATUS_IGNORE), &class);
        GOOD(class == MPIX_ERR_PROC_FAILED);
    }
    MPI_Comm_disconnect(&inter);
}

/* The job accepts late: a process that has called the port and died meanwhile is passed over. */
static void check_late(MPI_Comm inter)
{
    check_messages(inter);
}

static void check_abort(MPI_Comm inter)
{
    int value;
    MPI_Barrier(inter);
    if (accepts && rank == 0)
        MPI_Abort(inter, 7);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, inter, MPI_STATUS_IGNORE);
}

/* A process that waits for one of the other job: the run asks it by SIGUSR1 what it waits for. */
/* A sender computes while its long messages, of contiguous data and of others, are received. Only
 * with a receiver on the same host, which may read the sender's memory. */
static void check_memory(MPI_Comm inter)
{
    enum { N = 100000, COMPUTES = 3 };
    static int data[2 * N];
    MPI_Datatype pairs;
    MPI_Request request;
    MPI_Type_vector(N, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    for (int i = 0; i < 2 * N; i++)
        data[i] = accepts ? i : -1;
    MPI_Sendrecv(&request, 0, MPI_BYTE, rank, 0, &request, 0, MPI_BYTE, rank, 0, inter,
                 MPI_STATUS_IGNORE);
    if (accepts) {
        MPI_Isend(data, N, MPI_INT, rank, 1, inter, &request);
        sleep(COMPUTES);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(data, 1, pairs, rank, 2, inter);
        MPI_Ssend(data + N, N, MPI_INT, rank, 3, inter);
    } else {
        double began = MPI_Wtime();
        MPI_Recv(data, N, MPI_INT, rank, 1, inter, MPI_STATUS_IGNORE);
        double seconds = MPI_Wtime() - began;
        CHECK(seconds < COMPUTES - 1.0, "received after %.1f s, with the sender's help", seconds);
        for (int i = 0; i < N; i++)
            GOOD(data[i] == i);
        MPI_Recv(data + N, N, MPI_INT, rank, 2, inter, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            GOOD(data[N + i] == 2 * i);
        MPI_Recv(data, 1, pairs, rank, 3, inter, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            GOOD(data[2 * i] == N + i);
    }
    MPI_Type_free(&pairs);
}

static void check_report(MPI_Comm inter)
{
    int value = 0;
    if (accepts)
        MPI_Recv(&value, 1, MPI_INT, 0, 9, inter, MPI_STATUS_IGNORE);
    else
        usleep(1500000);
    if (!accepts && rank == 0)
        for (int i = 0, n = (MPI_Comm_remote_size(inter, &n), n); i < n; i++)
            MPI_Send(&value, 1, MPI_INT, i, 9, inter);
}

static int descriptors(void)
{
    int open_ones = 0;
    for (int fd = 0; fd < 1024; fd++)
        open_ones += fcntl(fd, F_GETFD) != -1;
    return open_ones;
}

/* The jobs meet again and again. */
static void meet_often(int times)
{
    int after_ten = 0;
    long kib = 0;
    for (int i = 0; i < times; i++) {
        MPI_Comm inter = meet(MPI_COMM_WORLD, 0), unused;
        check_collectives(inter);
        if (i % 3 == 0) { /* a second communicator of the same processes, and an early message */
            unused = meet(MPI_COMM_WORLD, 0);
            MPI_Request request;
            MPI_Isend(&i, 1, MPI_INT, 0, 1, unused, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Barrier(unused); /* no rank 0 ends before all have sent */
            MPI_Comm_disconnect(&unused);
        }
        MPI_Comm_disconnect(&inter);
        GOOD(inter == MPI_COMM_NULL);
        if (i == 10) {
            after_ten = descriptors();
            kib = check_status_kib("VmRSS");
        }
    }
    if (times < 20)
        return;
    CHECK(descriptors() <= after_ten + 8, "%d descriptors after 10 meetings, %d after %d",
          after_ten, descriptors(), times);
    CHECK(check_status_kib("VmRSS") <= kib + 4096, "%ld KiB after 10 meetings, %ld after %d", kib,
          check_status_kib("VmRSS"), times);
}

/* Each rank of both jobs opens a port, and calls those of the other job, in different orders. */
static void meet_crosswise(MPI_Comm inter)
{
    int remote, flag;
    MPI_Comm_remote_size(inter, &remote);
    char(*ports)[MPI_MAX_PORT_NAME] = check_host((size_t)remote * MPI_MAX_PORT_NAME);
    char mine[MPI_MAX_PORT_NAME];
    MPI_Open_port(MPI_INFO_NULL, mine);
    MPI_Allgather(mine, MPI_MAX_PORT_NAME, MPI_CHAR, ports, MPI_MAX_PORT_NAME, MPI_CHAR, inter);
    MPI_Comm *comms = check_host((size_t)remote * 2 * sizeof *comms);
    for (int phase = 0; phase < 2; phase++)
        for (int i = 0; i < remote; i++) {
            bool calls = phase == (accepts ? 0 : 1);
            int there = (rank + i) % remote;
            if (calls)
                MPI_Comm_connect(ports[there], MPI_INFO_NULL, 0, MPI_COMM_SELF,
                                 &comms[phase * remote + i]);
            else
                MPI_Comm_accept(mine, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comms[phase * remote + i]);
        }
    for (int i = 0; i < 2 * remote; i++) {
        int got = -1;
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, comms[i], MPI_STATUS_IGNORE);
        GOOD(got >= 0 && got < remote);
        MPI_Comm_test_inter(comms[i], &flag);
        GOOD(flag);
        MPI_Comm_disconnect(&comms[i]);
    }
    MPI_Close_port(mine);
    check_free(ports);
    check_free(comms);
}

/* Calls that are wrong, of one job. */
static void check_errors(void)
{
    MPI_Comm comm;
    int class;
    char name[MPI_MAX_PORT_NAME];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#define CLASS(call, expected)                                                                      \
    do {                                                                                           \
        MPI_Error_class(call, &class);                                                             \
        CHECK(class == (expected), "%s returns class %d", #call, class);                           \
    } while (0)
    CLASS(MPI_Comm_connect("nowhere", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm), MPI_ERR_PORT);
    CLASS(MPI_Comm_accept("nowhere", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm), MPI_ERR_PORT);
    CLASS(MPI_Close_port("nowhere"), MPI_ERR_PORT);
    CLASS(MPI_Comm_accept("nowhere", MPI_INFO_NULL, size, MPI_COMM_WORLD, &comm), MPI_ERR_ROOT);
    CLASS(MPI_Comm_join(-1, &comm), MPI_ERR_ARG);
    CLASS(MPI_Open_port(MPI_INFO_NULL, name), MPI_SUCCESS);
    CLASS(MPI_Close_port(name), MPI_SUCCESS);
    CLASS(MPI_Close_port(name), MPI_ERR_PORT);
    CLASS(MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm), MPI_ERR_PORT);
    CLASS(MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm), MPI_ERR_PORT);
}

/* The last rank of the accepting job dies while its root waits for the other job. Both jobs get the
 * error; the accepting one stays in MPI until the other has it. */
static int lose_member(void)
{
    char done[512];
    MPI_Comm inter;
    snprintf(done, sizeof done, "%s.done", file);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (accepts && rank == size - 1) {
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
        timer_t timer;
        GOOD(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
        timer_settime(timer, 0, &(struct itimerspec){.it_value = {.tv_nsec = 500000000}}, NULL);
    }
    if (!accepts)
        usleep(1500000);
    CHECK_CLASS(accepts ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)
                        : MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter),
                MPIX_ERR_PROC_FAILED);
    if (!accepts) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            close(open(done, O_CREAT | O_WRONLY, 0600));
    }
    for (int flag; accepts && access(done, F_OK);)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return check.failures > 0;
}

/* ---- MPI_Comm_join */

static int socket_of_program(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (!accepts) {
        read_port();
        name.sin_port = htons((uint16_t)atoi(port));
        GOOD(connect(fd, (struct sockaddr *)&name, len) == 0);
        return fd;
    }
    GOOD(bind(fd, (struct sockaddr *)&name, len) == 0 && listen(fd, 1) == 0);
    getsockname(fd, (struct sockaddr *)&name, &len);
    snprintf(port, sizeof port, "%d", ntohs(name.sin_port));
    write_port();
    return accept(fd, NULL, NULL);
}

static void join(void)
{
    MPI_Comm inter;
    char byte = 0;
    int fd = socket_of_program();
    MPI_Comm_join(fd, &inter);
    check_messages(inter);
    check_making(inter);
    MPI_Comm_disconnect(&inter);
    /* The socket is the program's again, and has nothing that MPI left. */
    GOOD(write(fd, "x", 1) == 1 && read(fd, &byte, 1) == 1 && byte == 'x');
    close(fd);
}

int main(int argc, char **argv)
{
    const char *what = argc > 3 ? argv[3] : "all";
    if (argc < 3)
        return 2;
    check_begin(&argc, &argv, 1);
    accepts = !strcmp(argv[1], "accept");
    file = argv[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_step("the case %s", what);
    if (!strcmp(what, "join") || !strcmp(what, "errors")) {
        (*what == 'j' ? join : check_errors)();
        return check_done();
    }
    if (accepts && rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        write_port();
    } else if (!accepts && rank == 0) {
        read_port();
    }
    static const struct {
        const char *name;
        void (*check)(MPI_Comm inter);
        bool disconnects;
    } cases[] = {{"all", all_cases, false},
                 {"messages", check_messages, false},
                 {"collectives", check_collectives, false},
                 {"kill", check_death, true},
                 {"collective", check_death_in_collective, true},
                 {"reported", check_death_reported, true},
                 {"leave", check_leaving, true},
                 {"abort", check_abort, true},
                 {"report", check_report, false},
                 {"crosswise", meet_crosswise, false},
                 {"late", check_late, false},
                 {"memory", check_memory, false},
                 {"announced", check_announced, true},
                 {"objects", check_objects, false}};
    if (!strcmp(what, "late")) /* it answers calls, and accepts none yet */
        for (int i = 0, flag; i < 150; i++) {
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            usleep(10000);
        }
    if (!strcmp(what, "lost-member"))
        return lose_member();
    if (!strcmp(what, "often"))
        meet_often(atoi(argv[4]));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(what, cases[i].name))
            continue;
        MPI_Comm inter = meet(MPI_COMM_WORLD, 0);
        cases[i].check(inter);
        if (!cases[i].disconnects)
            MPI_Comm_disconnect(&inter);
    }
    if (accepts && rank == 0)
        MPI_Close_port(port);
    return check_done();
}
