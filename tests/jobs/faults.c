// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two jobs whose processes compute, run out of descriptors, cannot be called back or meet in
 * several threads: faults accept|connect DIRECTORY CASE. tests/jobs/run starts both. Names of
 * ports, and what else the jobs tell each other beside MPI, are files in DIRECTORY.
 *
 * Invariant: a process that computes is not taken for dead, however long it does.
 */
#include "../mpi/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define GOOD(condition) CHECK(condition, "%s", #condition)

enum { PORT = MPI_MAX_PORT_NAME, TAG = 5 };

static bool accepts;
static const char *directory;
static int rank;

/* ---- Texts from one job to the other */

static void put(const char *name, const char *text)
{
    char path[512], early[520];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(early, sizeof early, "%s.new", path);
    FILE *out = fopen(early, "w");
    GOOD(out && fprintf(out, "%s\n", text) > 0 && !fclose(out) && !rename(early, path));
}

static void get(const char *name, char *text)
{
    char path[512];
    FILE *in;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    while (!(in = fopen(path, "r")))
        usleep(2000);
    GOOD(fgets(text, PORT, in) != NULL);
    text[strcspn(text, "\n")] = 0;
    fclose(in);
}

static void name_port(const char *file, char *port)
{
    if (rank)
        return;
    if (accepts) {
        MPI_Open_port(MPI_INFO_NULL, port);
        put(file, port);
    } else {
        get(file, port);
    }
}

static MPI_Comm meet(const char *port, MPI_Comm comm)
{
    MPI_Comm inter = MPI_COMM_NULL;
    int code = accepts ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, &inter)
                       : MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, &inter);
    GOOD(code == MPI_SUCCESS && inter != MPI_COMM_NULL);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    return inter;
}

/* A call that has to succeed; its sentence is shown otherwise. */
static void good(const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &len);
    CHECK(code == MPI_SUCCESS, "%s: %s", what, text);
}

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* ---- Sockets of this process */

/* The socket that listens, or -1; *port becomes its TCP port. */
static int listener(int *port)
{
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in6 name;
        int listens = 0;
        socklen_t len = sizeof listens, size = sizeof name;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) || !listens ||
            getsockname(fd, (struct sockaddr *)&name, &size) ||
            (name.sin6_family != AF_INET && name.sin6_family != AF_INET6))
            continue;
        *port = ntohs(name.sin6_port);
        return fd;
    }
    return -1;
}

/* All that arrives at the connected TCP sockets is lost from here on. */
static void cut_network(void)
{
    struct sock_filter nothing = {.code = BPF_RET | BPF_K, .k = 0};
    const struct sock_fprog program = {.len = 1, .filter = &nothing};
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in6 name;
        socklen_t size = sizeof name;
        if (!getpeername(fd, (struct sockaddr *)&name, &size) &&
            (name.sin6_family == AF_INET || name.sin6_family == AF_INET6))
            GOOD(!setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program));
    }
}

/* The connected TCP sockets, and how many of them find that the other host has failed. */
static int connected(int *kept_alive)
{
    int n = 0;
    *kept_alive = 0;
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in6 name;
        int alive = 0;
        socklen_t size = sizeof name, len = sizeof alive;
        if (getpeername(fd, (struct sockaddr *)&name, &size) ||
            (name.sin6_family != AF_INET && name.sin6_family != AF_INET6))
            continue;
        n++;
        *kept_alive += !getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &alive, &len) && alive;
    }
    return n;
}

/* The library calls this one: no connection is accepted while refusal is an errno. */
static atomic_int refusal;

int accept4(int fd, struct sockaddr *name, socklen_t *len, int flags)
{
    errno = refusal;
    return refusal ? -1 : (int)syscall(SYS_accept4, fd, name, len, flags);
}

/* The other host has answered nothing for so many milliseconds more than the kernel reports. */
static atomic_uint unanswered;

int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    int result = (int)syscall(SYS_getsockopt, fd, level, name, value, len);
    if (!result && level == IPPROTO_TCP && name == TCP_INFO)
        ((struct tcp_info *)value)->tcpi_last_ack_recv += unanswered;
    return result;
}

/* A message whose connection waits to be accepted when the call returns. */
static void send_early(int *value, MPI_Comm inter)
{
    int flag;
    good("the send", MPI_Send(value, 1, MPI_INT, 1, TAG, inter));
    for (int i = 0; i < 100; i++) {
        MPI_Iprobe(1, TAG, inter, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
}

/* ---- Cases */

/* The connecting process sends its first message, and computes for longer than a listener keeps a
 * caller: the message arrives all the same. The listener accepts the connection only when the
 * caller computes, so that this has sent no hello. */
static void compute(void)
{
    char port[PORT] = "", text[PORT];
    int value = 7;
    name_port("port", port);
    refusal = accepts && rank == 1 ? EAGAIN : 0;
    MPI_Comm inter = meet(port, MPI_COMM_WORLD);
    if (rank == 1 && accepts) {
        get("sent", text);
        refusal = 0;
        good("the receive", MPI_Recv(&value, 1, MPI_INT, 1, TAG, inter, MPI_STATUS_IGNORE));
        GOOD(value == 11);
        good("the reply", MPI_Send(&value, 1, MPI_INT, 1, TAG, inter));
    } else if (rank == 1) {
        value = 11;
        send_early(&value, inter);
        put("sent", "1");
        sleep(12);
        good("the reply", MPI_Recv(&value, 1, MPI_INT, 1, TAG, inter, MPI_STATUS_IGNORE));
    }
    MPI_Comm_disconnect(&inter);
}

/* More callers than a listener keeps, which send nothing, come after a caller that is one of the
 * other job and computes for a moment. */
static void crowd(void)
{
    enum { CALLERS = 70 };
    char port[PORT] = "", text[PORT];
    int value = 7, tcp = 0, fds[CALLERS];
    name_port("port", port);
    refusal = accepts && rank == 1 ? EAGAIN : 0;
    MPI_Comm inter = meet(port, MPI_COMM_WORLD);
    if (rank == 1 && accepts) {
        GOOD(listener(&tcp) >= 0);
        snprintf(text, sizeof text, "%d", tcp);
        put("tcp", text);
        get("crowded", text);
        refusal = 0;
        good("the receive", MPI_Recv(&value, 1, MPI_INT, 1, TAG, inter, MPI_STATUS_IGNORE));
        good("the reply", MPI_Send(&value, 1, MPI_INT, 1, TAG, inter));
    } else if (rank == 1) {
        get("tcp", text);
        send_early(&value, inter);
        struct sockaddr_in name = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)atoi(text)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        for (int i = 0; i < CALLERS; i++) {
            fds[i] = socket(AF_INET, SOCK_STREAM, 0);
            GOOD(!connect(fds[i], (struct sockaddr *)&name, sizeof name));
        }
        put("crowded", "1");
        sleep(1);
        good("the reply", MPI_Recv(&value, 1, MPI_INT, 1, TAG, inter, MPI_STATUS_IGNORE));
        for (int i = 0; i < CALLERS; i++)
            close(fds[i]);
    }
    MPI_Comm_disconnect(&inter);
}

/* A process without a free descriptor takes calls, or makes them, when it has some again. */
static void *free_descriptors(void *arg)
{
    struct rlimit *limit = arg;
    usleep(1500000);
    setrlimit(RLIMIT_NOFILE, limit);
    return NULL;
}

static void descriptors(const char *who)
{
    char port[PORT] = "", unused[PORT];
    struct rlimit limit, none;
    pthread_t thread;
    bool poor = accepts == !strcmp(who, "listener");
    name_port("port", port);
    if (!accepts)
        MPI_Open_port(MPI_INFO_NULL, unused);
    getrlimit(RLIMIT_NOFILE, &limit);
    none = (struct rlimit){3, limit.rlim_max};
    if (poor) {
        GOOD(!setrlimit(RLIMIT_NOFILE, &none));
        pthread_create(&thread, NULL, free_descriptors, &limit);
    }
    MPI_Comm inter = meet(port, MPI_COMM_SELF);
    MPI_Barrier(inter);
    MPI_Comm_disconnect(&inter);
    if (poor)
        pthread_join(thread, NULL);
}

/* The connecting process sends, but does not take calls, and cannot be called after some time, as
 * behind a firewall: operations of both with the other one end. */
static void one_way(void)
{
    char port[PORT] = "", path[512];
    int value = 7, tcp, flag, code;
    name_port("port", port);
    snprintf(path, sizeof path, "%s/received", directory);
    refusal = !accepts && rank == 1 ? EMFILE : 0;
    MPI_Comm inter = meet(port, MPI_COMM_WORLD);
    if (rank == 1) {
        if (accepts) {
            good("the receive", MPI_Recv(&value, 1, MPI_INT, 1, TAG, inter, MPI_STATUS_IGNORE));
            put("received", "1");
        } else {
            good("the send", MPI_Send(&value, 1, MPI_INT, 1, TAG, inter));
            while (access(path, F_OK))
                MPI_Iprobe(1, TAG, inter, &flag, MPI_STATUS_IGNORE);
            GOOD(dup2(open("/dev/null", O_RDONLY), listener(&tcp)) > 0);
        }
        code = MPI_Recv(&value, 1, MPI_INT, 1, TAG + 1, inter, MPI_STATUS_IGNORE);
        CHECK(class_of(code) == MPIX_ERR_PROC_FAILED, "class %d", class_of(code));
    }
    MPI_Comm_disconnect(&inter);
}

/* The jobs meet several times, and one keeps a group with the other's process: the credits of short
 * messages are those of a connection. */
static void meet_again(void)
{
    enum { ROUNDS = 3, MESSAGES = 200, BYTES = 16000 };
    static char data[BYTES];
    char port[PORT] = "";
    MPI_Group group = MPI_GROUP_NULL;
    name_port("port", port);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm inter = meet(port, MPI_COMM_SELF);
        if (accepts && round == 0)
            MPI_Comm_remote_group(inter, &group);
        for (int i = 0; i < MESSAGES; i++)
            good("a message",
                 accepts ? MPI_Send(data, BYTES, MPI_BYTE, 0, i, inter)
                         : MPI_Recv(data, BYTES, MPI_BYTE, 0, i, inter, MPI_STATUS_IGNORE));
        MPI_Comm_disconnect(&inter);
    }
    if (accepts)
        MPI_Group_free(&group);
}

/* The accepting process frees the communicator with messages that it has not received, and keeps a
 * group with their sender, or not. The sender cancels them. */
static void cancel_freed(void)
{
    enum { LONG = 1 << 20 };
    static char data[LONG];
    char port[PORT] = "", freed[32], done[32], path[512], text[PORT];
    int flag;
    name_port("port", port);
    for (int kept = 0; kept < 2; kept++) {
        MPI_Group group = MPI_GROUP_NULL;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        snprintf(freed, sizeof freed, "freed%d", kept);
        snprintf(done, sizeof done, "done%d", kept);
        snprintf(path, sizeof path, "%s/%s", directory, done);
        MPI_Comm inter = meet(port, MPI_COMM_SELF);
        if (accepts) {
            MPI_Probe(0, TAG, inter, MPI_STATUS_IGNORE);
            MPI_Probe(0, TAG + 1, inter, MPI_STATUS_IGNORE);
            if (kept)
                MPI_Comm_remote_group(inter, &group);
            MPI_Comm_free(&inter);
            put(freed, "1");
            while (access(path, F_OK))
                MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
            if (kept)
                MPI_Group_free(&group);
            continue;
        }
        MPI_Issend(data, 1, MPI_CHAR, 0, TAG, inter, &requests[0]);
        MPI_Isend(data, LONG, MPI_CHAR, 0, TAG + 1, inter, &requests[1]);
        get(freed, text);
        for (int i = 0; i < 2; i++)
            MPI_Cancel(&requests[i]);
        MPI_Waitall(2, requests, statuses);
        for (int i = 0; i < 2; i++) {
            MPI_Test_cancelled(&statuses[i], &flag);
            CHECK(flag, "send %d is not cancelled, group kept: %d", i, kept);
        }
        put(done, "1");
        MPI_Comm_free(&inter);
    }
}

/* The accepting process frees the communicator with a synchronous message that it has not received,
 * and meets its sender again, which then cancels the message. Credits are those of later messages.
 */
static void cancel_again(void)
{
    enum { MESSAGES = 100, BYTES = 16000 };
    static char data[BYTES];
    char port[PORT] = "", text[PORT];
    int value = 7, flag = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    name_port("port", port);
    MPI_Comm inter = meet(port, MPI_COMM_SELF);
    if (accepts) {
        MPI_Probe(0, TAG, inter, MPI_STATUS_IGNORE);
        MPI_Comm_free(&inter);
        put("freed", "1");
    } else {
        MPI_Issend(&value, 1, MPI_INT, 0, TAG, inter, &request);
        get("freed", text);
    }
    MPI_Comm again = meet(port, MPI_COMM_SELF);
    if (!accepts) {
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        GOOD(flag);
        MPI_Comm_free(&inter);
    }
    MPI_Barrier(again);
    for (int i = 0; i < MESSAGES; i++)
        good("a message", accepts ? MPI_Recv(data, BYTES, MPI_BYTE, 0, i, again, MPI_STATUS_IGNORE)
                                  : MPI_Send(data, BYTES, MPI_BYTE, 0, i, again));
    MPI_Comm_disconnect(&again);
}

/* A process that was reported dead, and of which a group is kept, meets this one again. */
static void revive(void)
{
    char port[PORT] = "", text[PORT];
    int value = 7, mine[2] = {0};
    MPI_Group group;
    name_port("port", port);
    MPI_Comm inter = meet(port, MPI_COMM_SELF);
    MPI_Comm_remote_group(inter, &group);
    good("a message", MPI_Sendrecv(&value, 1, MPI_INT, 0, TAG, mine, 1, MPI_INT, 0, TAG, inter,
                                   MPI_STATUS_IGNORE));
    /* The connections fail. */
    if (!accepts)
        for (int fd = 3; fd < 256; fd++) {
            struct sockaddr_in6 name;
            socklen_t size = sizeof name;
            if (!getpeername(fd, (struct sockaddr *)&name, &size) &&
                (name.sin6_family == AF_INET || name.sin6_family == AF_INET6))
                shutdown(fd, SHUT_RDWR);
        }
    GOOD(class_of(MPI_Recv(&value, 1, MPI_INT, 0, TAG, inter, MPI_STATUS_IGNORE)) ==
         MPIX_ERR_PROC_FAILED);
    MPI_Comm_disconnect(&inter);
    put(accepts ? "accept-died" : "connect-died", "1");
    get(accepts ? "connect-died" : "accept-died", text);
    inter = meet(port, MPI_COMM_SELF);
    good("a message after the failure", MPI_Sendrecv(&value, 1, MPI_INT, 0, TAG, mine, 1, MPI_INT,
                                                     0, TAG, inter, MPI_STATUS_IGNORE));
    MPI_Comm_disconnect(&inter);
    MPI_Group_free(&group);
    /* A death is on record whose process has no number any more. */
    int flag = 1;
    good("a probe", MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    GOOD(!flag);
}

/* Two threads of each process accept and connect, at the same time. */
struct meeting {
    MPI_Comm comm;
    char port[PORT];
};

static void *meet_in_thread(void *arg)
{
    enum { ROUNDS = 15 };
    struct meeting *own = arg;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm inter = meet(own->port, own->comm);
        int value = 1, got = 0;
        good("an exchange", MPI_Sendrecv(&value, 1, MPI_INT, 1 - rank, TAG, &got, 1, MPI_INT,
                                         1 - rank, TAG, inter, MPI_STATUS_IGNORE));
        GOOD(got == 1);
        MPI_Comm_disconnect(&inter);
    }
    return NULL;
}

static void threads(void)
{
    static struct meeting own[2];
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i].comm);
        name_port(i ? "port1" : "port0", own[i].port);
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, meet_in_thread, &own[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        MPI_Comm_free(&own[i].comm);
    }
}

/* A port is closed while another thread accepts at it. */
static void *close_port(void *port)
{
    usleep(300000);
    GOOD(MPI_Close_port(port) == MPI_SUCCESS);
    return NULL;
}

static void closed(void)
{
    char port[PORT];
    pthread_t thread;
    MPI_Comm inter;
    if (!accepts)
        return;
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    pthread_create(&thread, NULL, close_port, port);
    GOOD(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)) == MPI_ERR_PORT);
    pthread_join(thread, NULL);
}

/* Connections find that a host has failed, addresses of this host are not tried for another one,
 * and a sentence names the address that suits best. */
static void addresses(void)
{
    char port[PORT] = "", other[PORT], first[64] = "", text[MPI_MAX_ERROR_STRING];
    int alive, len;
    name_port("port", port);
    MPI_Comm inter = meet(port, MPI_COMM_SELF);
    MPI_Barrier(inter);
    int n = connected(&alive);
    CHECK(n >= 2 && alive == n, "%d of %d connections have keepalive", alive, n);
    MPI_Barrier(inter);
    MPI_Comm_disconnect(&inter);
    if (!accepts)
        return;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    char *host = strrchr(port, '/');
    snprintf(other, sizeof other, "%.*s/elsewhere", (int)(host - port), port);
    int code = MPI_Comm_connect(other, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Error_string(code, text, &len);
    CHECK(class_of(code) == MPI_ERR_PORT && strstr(text, "no address that other hosts can reach"),
          "%s", text);
    /* A port of this host at which nothing listens. */
    int parts = 0;
    char *at = port;
    for (; parts < 3; at++)
        parts += *at == '/';
    char *end = strchr(at, '/');
    snprintf(other, sizeof other, "%.*s1%s", (int)(at - port), port, end);
    sscanf(end, "/%63[^,/]", first);
    code = MPI_Comm_connect(other, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Error_string(code, text, &len);
    CHECK(class_of(code) == MPI_ERR_PORT && strstr(text, first), "%s is not in: %s", first, text);
}

/* A network that is cut while data are not acknowledged: both processes report it. */
static void cut(void)
{
    char port[PORT] = "", text[MPI_MAX_ERROR_STRING] = "", other[PORT];
    int value = 7, mine[2] = {0}, len;
    name_port("port", port);
    MPI_Comm inter = meet(port, MPI_COMM_SELF);
    good("a message", MPI_Sendrecv(&value, 1, MPI_INT, 0, TAG, mine, 1, MPI_INT, 0, TAG, inter,
                                   MPI_STATUS_IGNORE));
    cut_network();
    put(accepts ? "accept-cut" : "connect-cut", "1");
    get(accepts ? "connect-cut" : "accept-cut", other);
    good("the send", MPI_Send(&value, 1, MPI_INT, 0, TAG, inter));
    unanswered = 57000; /* of the minute */
    int code = MPI_Recv(&value, 1, MPI_INT, 0, TAG, inter, MPI_STATUS_IGNORE);
    MPI_Error_string(code, text, &len);
    CHECK(class_of(code) == MPIX_ERR_PROC_FAILED && strstr(text, "cannot be reached any more"),
          "%s", text);
    put(accepts ? "accept-done" : "connect-done", "1");
    get(accepts ? "connect-done" : "accept-done", other);
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const char *what = argv[3];
    bool multiple = !strcmp(what, "threads") || !strcmp(what, "closed");
    (multiple ? check_begin_threads : check_begin)(&argc, &argv, 1);
    accepts = !strcmp(argv[1], "accept");
    directory = argv[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_step("the case %s", what);
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"compute", compute},
                 {"crowd", crowd},
                 {"one-way", one_way},
                 {"again", meet_again},
                 {"revive", revive},
                 {"threads", threads},
                 {"closed", closed},
                 {"addresses", addresses},
                 {"cut", cut},
                 {"cancel-again", cancel_again},
                 {"cancel-freed", cancel_freed}};
    if (!strncmp(what, "descriptors-", 12))
        descriptors(what + 12);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(what, cases[i].name))
            cases[i].run();
    return check_done();
}
