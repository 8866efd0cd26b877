// SPDX-License-Identifier: BSD-3-Clause
/*
 * Does one thing wrong, as its first argument says, under the default error handlers;
 * tests/errors/run looks at what users then get. Whoever is not the culprit waits for a message
 * that never comes, so that only the library and the launcher can end it.
 *
 * Invariant: a victim whose mistake was not noticed prints NOT NOTICED and exits 0.
 */
#include <mpi.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank = -1, size, value;

static void begin(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static int culprit(void)
{
    return rank == size - 1;
}

/* Waits for a message that the culprit will not send. */
static void wait_for_culprit(void)
{
    MPI_Recv(&value, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A first contact that fails in an agreement: the others wait for that member. */
static void agree_unreachable(void)
{
    int flag = 1;
    begin();
    MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
    puts("NOT NOTICED");
}

/* The rank as the launcher's environment tells it, before MPI_Init may. */
static int early_rank(void)
{
    const char *text = getenv("PMIX_RANK");
    return text ? atoi(text) : 0;
}

static void hello_again(void)
{
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("hello from %d of %d, sum %d\n", rank, size, sum);
    MPI_Finalize();
    exit(0);
}

static void hello(void)
{
    begin();
    hello_again();
}

/* Rank 0 starts a program that calls MPI too. */
static void start_program(void)
{
    char program[1024], command[1100];
    begin();
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (rank == 0 && length > 0) {
        program[length] = 0;
        snprintf(command, sizeof command, "'%s' hello", program);
        fflush(stdout);
        int status = system(command);
        printf("the program ended with code %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        fflush(stdout);
    }
    hello_again();
}

static void exit_before_init(void)
{
    if (early_rank() == 1) {
        exit(3);
    }
    begin();
    wait_for_culprit();
}

static void killed_before_init(void)
{
    if (early_rank() == 1) {
        raise(SIGKILL);
    }
    begin();
    wait_for_culprit();
}

static void killed_after_init(void)
{
    begin();
    if (culprit()) {
        raise(SIGKILL);
    }
    wait_for_culprit();
}

static void crash_after_init(void)
{
    begin();
    if (culprit()) {
        raise(SIGSEGV);
    }
    wait_for_culprit();
}

static void killed_while_sending(void)
{
    static char large[1 << 20];
    begin();
    if (culprit()) {
        MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, size - 1, 2, MPI_COMM_WORLD);
        MPI_Ssend(large, sizeof large, MPI_BYTE, size - 1, 3, MPI_COMM_WORLD);
    }
    wait_for_culprit();
}

static void exit_after_init(void)
{
    begin();
    if (culprit()) {
        _exit(0);
    }
    wait_for_culprit();
}

static void exit_code_after_init(void)
{
    begin();
    if (culprit()) {
        exit(7);
    }
    wait_for_culprit();
}

static void bad_rank(void)
{
    begin();
    if (culprit()) {
        MPI_Send(&value, 1, MPI_INT, size + 5, 1, MPI_COMM_WORLD);
        return;
    }
    wait_for_culprit();
}

static void bad_type(void)
{
    begin();
    if (culprit()) {
        MPI_Recv(&value, 1, (MPI_Datatype)0x1ff, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    wait_for_culprit();
}

static void negative_count(void)
{
    begin();
    if (culprit()) {
        MPI_Isend(&value, -4, MPI_INT, 0, 1, MPI_COMM_WORLD, &(MPI_Request){MPI_REQUEST_NULL});
        return;
    }
    wait_for_culprit();
}

static void negative_elements(void)
{
    MPI_Status status = {0};
    begin();
    if (culprit()) {
        MPI_Status_set_elements(&status, MPI_INT, -4);
        return;
    }
    wait_for_culprit();
}

static void window_too_large(void)
{
    MPI_Win win;
    void *memory;
    begin();
    MPI_Win_allocate_shared(culprit() ? PTRDIFF_MAX : 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                            &win);
    puts("NOT NOTICED");
}

static void too_small(void)
{
    static char large[5000], small[10];
    begin();
    if (culprit()) {
        MPI_Recv(small, sizeof small, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    if (rank == 0) {
        MPI_Send(large, sizeof large, MPI_BYTE, size - 1, 2, MPI_COMM_WORLD);
    }
    wait_for_culprit();
}

/* The same among others, in a call that reports by MPI_ERR_IN_STATUS. */
static void too_small_of_many(void)
{
    static char large[5000], small[3][10];
    begin();
    if (culprit()) {
        MPI_Request requests[3];
        for (int i = 0; i < 3; i++) {
            MPI_Irecv(small[i], sizeof small[i], MPI_BYTE, 0, 2 + i, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        return;
    }
    if (rank == 0) {
        for (int i = 0; i < 3; i++) {
            MPI_Send(large, i == 1 ? 5000 : 10, MPI_BYTE, size - 1, 2 + i, MPI_COMM_WORLD);
        }
    }
    wait_for_culprit();
}

static void errors_abort(void)
{
    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
    if (culprit()) {
        MPI_Send(&value, 1, MPI_INT, size + 5, 1, MPI_COMM_WORLD);
        printf("MPI_ERRORS_ABORT has let it live\n");
    }
    wait_for_culprit();
}

static void abort_42(void)
{
    begin();
    if (culprit()) {
        MPI_Abort(MPI_COMM_WORLD, 42);
    }
    wait_for_culprit();
}

static void rank_before_init(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void send_before_init(void)
{
    MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

static void barrier_after_finalize(void)
{
    begin();
    MPI_Finalize();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void init_twice(void)
{
    begin();
    MPI_Init(NULL, NULL);
}

static void missing_program(void)
{
    MPI_Comm comm;
    begin();
    if (culprit()) {
        MPI_Comm_spawn("none", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm,
                       MPI_ERRCODES_IGNORE);
        return;
    }
    wait_for_culprit();
}

/* A child joins its job, and calls no MPI: the program is in the variable CLIENT. */
static void silent_child(void)
{
    MPI_Comm comm;
    char *words[] = {"end", "1", "joined", "0", NULL};
    begin();
    if (culprit()) {
        MPI_Comm_spawn(getenv("CLIENT"), words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm,
                       MPI_ERRCODES_IGNORE);
        return;
    }
    wait_for_culprit();
}

/* The rest only wait long, which a report of a hang (WEFT_HANG_TIMEOUT, SIGUSR1) is to tell. */

static void end_well(void)
{
    MPI_Finalize();
    printf("ended well\n");
    exit(0);
}

/* Ready sends to the next rank, or to itself, with their receives posted or not. The second message
 * says that the first is there. */
static void ready(int bytes, int posted)
{
    static char out[1 << 20], in[1 << 20];
    MPI_Request requests[2], receive = MPI_REQUEST_NULL;
    begin();
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    if (posted) {
        MPI_Irecv(in, bytes, MPI_BYTE, before, 5, MPI_COMM_WORLD, &receive);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irsend(out, bytes, MPI_BYTE, next, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, next, 6, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv(&value, 1, MPI_INT, before, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!posted) {
        MPI_Irecv(in, bytes, MPI_BYTE, before, 5, MPI_COMM_WORLD, &receive);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    end_well();
}

static void ready_posted(void)
{
    ready(100, 1);
}

static void ready_posted_long(void)
{
    ready(1 << 20, 1);
}

static void ready_early(void)
{
    ready(100, 0);
}

static void ready_early_long(void)
{
    ready(1 << 20, 0);
}

static void rest(double seconds)
{
    usleep((useconds_t)(seconds * 1e6));
}

static void both_ssend(void)
{
    begin();
    MPI_Ssend(&value, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD);
}

/* Both are the root: nobody receives. Barriers come before and after. */
static void differ(int before, int after)
{
    begin();
    for (int i = 0; i < before; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Bcast(&value, 1, MPI_INT, rank, MPI_COMM_WORLD);
    for (int i = 0; i < after; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    puts(rank == 0 ? "ended" : "");
    exit(0);
}

static void roots_differ(void)
{
    differ(0, 0);
}

static void roots_differ_in_shared_memory(void)
{
    differ(2, 0);
}

static void roots_differed_long_ago(void)
{
    differ(2, 1000);
}

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)len;
    (void)type;
}

static void ignore_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

/* Rank 0 frees nothing, and does not receive the message of rank 1. */
static void leaves_all(void)
{
    static int cell;
    MPI_Comm halo, copies[4];
    MPI_Group group;
    MPI_Datatype pair, made;
    MPI_Op op;
    MPI_Win win;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Request request;
    begin();
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    MPI_Comm_set_name(halo, "halo");
    for (int i = 0; i < 4; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copies[i]);
        if (rank == 1) {
            MPI_Comm_free(&copies[i]);
        }
    }
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_set_name(pair, "pair");
    MPI_Type_dup(MPI_INT, &made);
    MPI_Op_create(add, 1, &op);
    MPI_Win_create(&cell, sizeof cell, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, "cells");
    MPI_Info_create(&info);
    MPI_Comm_create_errhandler(ignore_error, &handler);
    MPI_Send_init(&value, 1, MPI_INT, 0, 5, halo, &request);
    if (rank == 1) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        MPI_Group_free(&group);
        MPI_Type_free(&pair);
        MPI_Type_free(&made);
        MPI_Op_free(&op);
        MPI_Info_free(&info);
        MPI_Errhandler_free(&handler);
        MPI_Comm_free(&halo);
    }
    MPI_Finalize();
    puts(rank == 0 ? "ended" : "");
    exit(0);
}

/* Rank 1 passes less: it gets too much, rank 0 too little, and rank 2 only hears of it. */
static void counts_differ(void)
{
    int from[4] = {0}, to[4];
    begin();
    MPI_Allreduce(from, to, rank == 1 ? 3 : 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void both_send_large(void)
{
    static char large[1 << 20];
    begin();
    MPI_Barrier(MPI_COMM_WORLD); /* they know each other: only the receives are missing */
    MPI_Send(large, sizeof large, MPI_BYTE, 1 - rank, 6, MPI_COMM_WORLD);
}

/* The other rank knows this one, and is then busy with something else. That it has left MPI is told
 * through a pipe of its own, which no call of MPI sees. */
static void meet_a_busy_one(void)
{
    int told[3];
    char path[64], byte = 0;
    begin();
    if (rank == 1) {
        if (pipe(told)) {
            perror("pipe");
        }
        told[2] = getpid();
    }
    MPI_Bcast(told, 3, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        if (write(told[1], &byte, 1) != 1) {
            perror("write");
        }
        rest(60);
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", told[2], told[0]);
    int other = open(path, O_RDONLY);
    if (read(other, &byte, 1) != 1) {
        perror(path);
    }
    close(other);
}

static void probe_for_nothing(void)
{
    MPI_Status status;
    meet_a_busy_one();
    MPI_Probe(1, 4, MPI_COMM_WORLD, &status);
}

static void disconnect_world(void)
{
    MPI_Request request;
    MPI_Comm world = MPI_COMM_WORLD;
    begin();
    MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, &request);
    if (culprit()) {
        MPI_Comm_disconnect(&world);
        return;
    }
    wait_for_culprit();
}

static void disconnect_pending(void)
{
    MPI_Request request;
    MPI_Comm dup;
    begin();
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 4, dup, &request);
    MPI_Comm_disconnect(&dup);
}

static void barrier_alone(void)
{
    begin();
    if (rank == 1) {
        rest(60);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void file_alone(void)
{
    MPI_File file;
    begin();
    MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (rank == 1) {
        rest(60);
    }
    MPI_File_write_all(file, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE);
}

/* A buffered send that nobody receives: its cancel is not answered, its buffer not left. */
static char long_message[1 << 20], its_buffer[(1 << 20) + MPI_BSEND_OVERHEAD];

static void cancel_unanswered(void)
{
    MPI_Request request;
    meet_a_busy_one();
    MPI_Buffer_attach(its_buffer, sizeof its_buffer);
    MPI_Ibsend(long_message, sizeof long_message, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void detach_too_early(void)
{
    void *base;
    int bytes;
    meet_a_busy_one();
    MPI_Buffer_attach(its_buffer, sizeof its_buffer);
    MPI_Bsend(long_message, sizeof long_message, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
    MPI_Buffer_detach(&base, &bytes);
}

/* The sender and the receiver do not mean the same tag. */
static void wrong_tag(void)
{
    begin();
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        double data[3] = {0};
        MPI_Send(data, 3, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
        rest(60);
    }
}

/* Some partitions are never marked ready; and one receive waits for a send that nobody makes. */
static void partitions_missing(void)
{
    static int data[10];
    MPI_Request request, other;
    begin();
    if (rank == 0) {
        MPI_Psend_init(data, 10, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready_range(3, 6, request);
        MPI_Pready(0, request);
    } else {
        MPI_Precv_init(data, 5, 2, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &other);
        MPI_Precv_init(data, 5, 2, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&other);
        MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

enum { STRIPES = 4 << 20, STRIPE = 8 };

/* Rank 1 dies while it sends two long messages with holes, into a buffer without and one with
 * holes. Rank 0 is told, and what it does with its buffers afterwards stays in them. */
static void holes_of_the_dead(void)
{
    static char data[2][2 * STRIPES * (size_t)STRIPE];
    MPI_Datatype holes;
    MPI_Request requests[2];
    long changed = 0;
    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_create_hvector(STRIPES, STRIPE, (MPI_Aint)(2 * STRIPE), MPI_BYTE, &holes);
    MPI_Type_commit(&holes);
    if (rank ==
        1) { /* what follows the long messages is answered once both receives have matched */
        for (int i = 0; i < 2; i++)
            MPI_Isend(data[i], 1, holes, 0, 3, MPI_COMM_WORLD, &requests[i]);
        MPI_Send(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    MPI_Irecv(data[0], STRIPES * STRIPE, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(data[1], 1, holes, 1, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
    int codes[2] = {MPI_Wait(&requests[0], MPI_STATUS_IGNORE),
                    MPI_Wait(&requests[1], MPI_STATUS_IGNORE)};
    memset(data, 7, sizeof data);
    for (int i = 0, flag; i < 10000; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < sizeof data; i++)
        changed += data[i / sizeof data[0]][i % sizeof data[0]] != 7;
    fprintf(stderr, "aborted: %d %d, changed: %ld\n", codes[0] == MPIX_ERR_PROC_FAILED,
            codes[1] == MPIX_ERR_PROC_FAILED, changed);
    _exit(0);
}

static void die(int sig)
{
    (void)sig;
    kill(getpid(), SIGKILL);
}

/* Long messages from rank 0 to 1, whose copying takes nearly all of the time, until one of both is
 * killed. The other is told. */
static void copies(int mortal, bool holes)
{
    enum { BYTES = 16 << 20, AFTER_US = 40000 };
    static char data[2 * BYTES];
    const struct itimerval alarm = {.it_value.tv_usec = AFTER_US};
    MPI_Datatype strided, type = MPI_BYTE;
    int code = MPI_SUCCESS;
    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_vector(BYTES / 8, 8, 16, MPI_BYTE, &strided);
    MPI_Type_commit(&strided);
    if (rank == 1 && holes)
        type = strided;
    if (rank == mortal) {
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &alarm, NULL);
    }
    while (code == MPI_SUCCESS && rank == 0)
        code = MPI_Send(data, BYTES, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    while (code == MPI_SUCCESS && rank == 1)
        code = MPI_Recv(data, type == strided ? 1 : BYTES, type, 0, 3, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE);
    fprintf(stderr, "aborted: %d\n", code == MPIX_ERR_PROC_FAILED);
    rest(0.5); /* the launcher reports the death first */
    _exit(0);
}

static void copies_of_a_dead_sender(void)
{
    copies(0, false);
}

static void holes_of_a_dead_sender(void)
{
    copies(0, true);
}

static void copies_for_a_dead_receiver(void)
{
    copies(1, false);
}

static void holes_for_a_dead_receiver(void)
{
    copies(1, true);
}

/* Rank 1 sends more than its credits pay for, and is killed outside of MPI when receives have
 * matched what it could only announce: they wait for it to say again what it announced. Those that
 * were paid for have come, the others are told. */
static void headers_of_the_dead(void)
{
    enum { MESSAGES = 64, BYTES = 6000 };
    static char data[MESSAGES][BYTES];
    MPI_Request requests[MESSAGES];
    int came = 0, aborted = 0, flag;
    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) {
        int pid = (int)getpid();
        for (int i = 0; i < MESSAGES; i++)
            MPI_Isend(data[i], BYTES, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &requests[i]);
        MPI_Send(&pid, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
        rest(30);
        exit(1);
    }
    MPI_Recv(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(data[i], BYTES, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[i]);
    for (double since = MPI_Wtime(); MPI_Wtime() - since < 0.3;)
        MPI_Testall(MESSAGES, requests, &flag, MPI_STATUSES_IGNORE);
    raise(SIGUSR1);
    MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    kill(value, SIGKILL);
    for (int i = 0; i < MESSAGES; i++) {
        int code = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        came += code == MPI_SUCCESS;
        aborted += code == MPIX_ERR_PROC_FAILED;
    }
    fprintf(stderr, "all told: %d\n", came > 0 && aborted > 0 && came + aborted == MESSAGES);
    _exit(0);
}

/* The others exchange messages with rank 0, one after the other, windows of what is not received
 * yet among them, until a timer kills them. Whoever sees it first, the provider or the launcher,
 * rank 0 is told the same. */
static void exchanges_of_the_dead(void)
{
    enum { WINDOW = 64, BYTES = 6000 };
    static char out[WINDOW][BYTES], in[WINDOW][BYTES];
    MPI_Request requests[2 * WINDOW];
    int aborted = 0;
    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD); /* MPI_Init may fail if a rank dies at its end */
    for (int other = 1; other < size; other++) {
        int code = MPI_SUCCESS, peer = rank ? 0 : other, first = MPI_SUCCESS;
        if (rank == other) {
            const struct itimerval alarm = {.it_value.tv_usec = 20000 + 1000 * rank};
            signal(SIGALRM, die);
            setitimer(ITIMER_REAL, &alarm, NULL);
        } else if (rank) {
            continue;
        }
        while (first == MPI_SUCCESS) {
            for (int i = 0; i < 2 * WINDOW; i++)
                requests[i] = MPI_REQUEST_NULL;
            for (int i = 0; i < WINDOW && code == MPI_SUCCESS; i++)
                code = MPI_Isend(out[i], BYTES, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[i]);
            if (code == MPI_SUCCESS)
                code = MPI_Sendrecv(&rank, 1, MPI_INT, peer, 4, &value, 1, MPI_INT, peer, 4,
                                    MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = WINDOW; i < 2 * WINDOW && code == MPI_SUCCESS; i++)
                code = MPI_Irecv(in[i - WINDOW], BYTES, MPI_BYTE, peer, 3, MPI_COMM_WORLD,
                                 &requests[i]);
            first = code;
            for (int i = 0; i < 2 * WINDOW; i++) {
                code = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
                if (first == MPI_SUCCESS || (code != MPI_SUCCESS && code != MPIX_ERR_PROC_FAILED))
                    first = code;
            }
        }
        aborted += first == MPIX_ERR_PROC_FAILED;
    }
    fprintf(stderr, "aborted: %d of %d\n", aborted, size - 1);
    _exit(0);
}

/* Rank 1 dies in the middle of a round. Rank 0 is told so by what waits for it: partitions that did
 * not come, a request that it never made, and both once more when they are started again. */
static void partitions_of_the_dead(void)
{
    static int data[4];
    MPI_Request requests[2];
    int here = 0;
    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) {
        MPI_Psend_init(data, 4, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
        MPI_Start(&requests[0]);
        MPI_Pready_range(0, 1, requests[0]);
        MPI_Recv(&here, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    MPI_Precv_init(data, 4, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(data, 4, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    while (!here) {
        MPI_Parrived(requests[0], 1, &here);
    }
    MPI_Send(&here, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    int codes[5] = {MPI_Wait(&requests[0], MPI_STATUS_IGNORE),
                    MPI_Wait(&requests[1], MPI_STATUS_IGNORE)};
    MPI_Startall(2, requests);
    codes[2] = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    codes[3] = MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    codes[4] = MPI_Psend_init(data, 4, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
    fprintf(stderr, "aborted: %d %d %d %d %d\n", codes[0] == MPIX_ERR_PROC_FAILED,
            codes[1] == MPIX_ERR_PROC_FAILED, codes[2] == MPIX_ERR_PROC_FAILED,
            codes[3] == MPIX_ERR_PROC_FAILED, codes[4] == MPIX_ERR_PROC_FAILED);
    _exit(0);
}

/* Rank 1 dies with the exclusive lock of its window. Rank 0 gets an error from the lock that it
 * waits for, from operations and a flush, and from a fence of another window. */
static void windows_of_the_dead(void)
{
    MPI_Win win[2];
    int *memory, here = 0, codes[3];
    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++) {
        MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                         &win[i]);
        MPI_Win_set_errhandler(win[i], MPI_ERRORS_RETURN);
    }
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win[0]);
        MPI_Send(&here, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        MPI_Recv(&here, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(300000);
        raise(SIGKILL);
    }
    MPI_Recv(&here, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&here, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    codes[0] = MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win[0]);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, win[0]);
    MPI_Get(&here, 1, MPI_INT, 1, 0, 1, MPI_INT, win[0]);
    codes[1] = MPI_Win_unlock(1, win[0]);
    codes[2] = MPI_Win_fence(0, win[1]);
    fprintf(stderr, "aborted: %d %d %d\n", codes[0] == MPIX_ERR_PROC_FAILED,
            codes[1] == MPIX_ERR_PROC_FAILED, codes[2] == MPIX_ERR_PROC_FAILED);
    _exit(0);
}

/* Rank 1 dies with a shared lock of rank 0's window, which ranks 0 and 2 then lock exclusively, and
 * rank 0 as shared. */
static void locks_of_the_dead(void)
{
    MPI_Win win;
    int *memory, codes[3] = {0};
    begin();
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(300000);
        raise(SIGKILL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    codes[0] = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    if (codes[0] == MPI_SUCCESS)
        MPI_Win_unlock(0, win);
    if (rank == 2) {
        MPI_Send(codes, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&codes[1], 1, MPI_INT, 2, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        codes[2] = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        fprintf(stderr, "aborted: %d %d %d\n", codes[0] == MPIX_ERR_PROC_FAILED,
                codes[1] == MPIX_ERR_PROC_FAILED, codes[2] == MPIX_ERR_PROC_FAILED);
    }
    _exit(0);
}

static void (*in_the_middle)(void);

static void on_segv(int number)
{
    (void)number;
    in_the_middle();
}

/* Rank 1 stops in the middle of an accumulate operation, in its origin buffer. Rank 0 then
 * accumulates to the same memory. */
static void accumulate_after(void (*stop)(void))
{
    enum { N = 8192 };
    MPI_Win win;
    long *memory, one = 1;
    int codes[3];
    begin();
    MPI_Win_allocate(N * sizeof one, sizeof one, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_name(win, "sums");
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        long *origin = mmap(NULL, N * sizeof one, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(origin + N / 2, N / 2 * sizeof one, PROT_NONE);
        in_the_middle = stop;
        signal(SIGSEGV, on_segv);
        MPI_Accumulate(origin, N, MPI_LONG, 0, 0, N, MPI_LONG, MPI_SUM, win);
    }
    usleep(300000);
    for (int i = 0; i < 3; i++)
        codes[i] = i == 1 ? MPI_Fetch_and_op(&one, &one, MPI_LONG, 0, 0, MPI_SUM, win)
                          : MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
    fprintf(stderr, "aborted: %d %d %d, sum %ld\n", codes[0] == MPIX_ERR_PROC_FAILED,
            codes[1] == MPIX_ERR_PROC_FAILED, codes[2] == MPIX_ERR_PROC_FAILED, memory[0]);
    _exit(0);
}

static void die_at_once(void)
{
    raise(SIGKILL);
}

static void accumulate_of_the_dead(void)
{
    accumulate_after(die_at_once);
}

static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static void accumulate_stopped(void)
{
    accumulate_after(sleep_for_ever);
}

/* Rank 0 keeps the lock of rank 1's window, for which all others wait, and waits for a message that
 * rank 1 does not send. */
static void lock_kept(void)
{
    MPI_Win win;
    int *memory, here = 0;
    begin();
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_name(win, "cells");
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&here, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
}

/* ---- A rank dies and the others go on */

static int dead = 1, living, wrong;
static char much[1 << 20], arrived[1 << 20];

static void expect(const char *what, bool good)
{
    if (!good) {
        wrong++;
        fprintf(stderr, "rank %d: WRONG: %s\n", rank, what);
    }
}

/* The code of something that only the dead could have completed. The sentence of the error names
 * the dead, also after another error. */
static void expect_aborted(const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING], named[16];
    int length;
    MPI_Send(NULL, 0, MPI_INT, size, 0, MPI_COMM_WORLD); /* no such rank */
    MPI_Error_string(code, text, &length);
    snprintf(named, sizeof named, "rank %d ", dead);
    expect(what, code == MPIX_ERR_PROC_FAILED && strstr(text, named));
}

/* What waits for the dead while it dies, which all of these do before they let it. */
static void wait_while_it_dies(void)
{
    MPI_Request requests[4];
    MPI_Irecv(&value, 1, MPI_INT, dead, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(much, sizeof much, MPI_BYTE, dead, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Issend(&rank, 1, MPI_INT, dead, 3, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(much, sizeof much, MPI_BYTE, dead, 4, MPI_COMM_WORLD, &requests[3]);
    MPI_Send(&rank, 1, MPI_INT, dead, 9, MPI_COMM_WORLD);
    expect_aborted("a receive", MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    expect_aborted("a long receive", MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    expect_aborted("a synchronous send", MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
    expect_aborted("a long send", MPI_Wait(&requests[3], MPI_STATUS_IGNORE));
}

static void ask_the_dead(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    expect_aborted("MPI_Recv",
                   MPI_Recv(&value, 1, MPI_INT, dead, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    expect_aborted("MPI_Send", MPI_Send(&rank, 1, MPI_INT, dead, 1, MPI_COMM_WORLD));
    expect_aborted("MPI_Ssend", MPI_Ssend(&rank, 1, MPI_INT, dead, 1, MPI_COMM_WORLD));
    expect_aborted("MPI_Send of much",
                   MPI_Send(much, sizeof much, MPI_BYTE, dead, 1, MPI_COMM_WORLD));
    expect_aborted("MPI_Probe", MPI_Probe(dead, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    int code = MPI_Irecv(&value, 1, MPI_INT, dead, 1, MPI_COMM_WORLD, &request);
    expect_aborted("MPI_Irecv", code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Collectives with the dead: those who need something of it through others only get no other error.
 */
static void meet_the_dead(void)
{
    int sum = 0, all[8] = {0};
    value = -1;
    expect_aborted("MPI_Bcast from the dead", MPI_Bcast(&value, 1, MPI_INT, dead, MPI_COMM_WORLD));
    expect_aborted("MPI_Allreduce",
                   MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    expect_aborted("MPI_Barrier", MPI_Barrier(MPI_COMM_WORLD));
    expect_aborted("MPI_Allgather",
                   MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
}

static void go_on_among_the_living(void)
{
    int from = -1, sum = 0;
    MPI_Group world, rest_of_it;
    MPI_Comm comm;
    MPIX_Comm_failure_ack(MPI_COMM_WORLD);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % living, 5, &from, 1, MPI_INT, MPI_ANY_SOURCE, 5,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("a ring of the living", from == (rank + living - 1) % living);
    memset(much, rank, sizeof much);
    MPI_Sendrecv(much, sizeof much, MPI_BYTE, (rank + 1) % living, 5, arrived, sizeof arrived,
                 MPI_BYTE, (rank + living - 1) % living, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("a ring of long messages", arrived[0] == from && arrived[sizeof arrived - 1] == from);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &dead, &rest_of_it);
    expect("a communicator of the living",
           MPI_Comm_create_group(MPI_COMM_WORLD, rest_of_it, 6, &comm) == MPI_SUCCESS);
    expect("MPI_Allreduce of the living",
           MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS &&
               sum == living * (living - 1) / 2);
}

/* So many that the ranks of one node share memory for collectives then. */
static void barriers(void)
{
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* The survivors leave together: rank 0 comes late, after a message that it has not received yet. */
static void finalize_without_the_dead(void)
{
    int last = 1 % living;
    if (rank == last)
        MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    if (rank == 0) {
        rest(0.5);
        MPI_Recv(&value, 1, MPI_INT, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect("a message of a rank that finalizes", value == last);
    }
    expect("MPI_Finalize", MPI_Finalize() == MPI_SUCCESS);
    fprintf(stderr, "rank %d went on, %d wrong\n", rank, wrong);
    exit(0);
}

static void begin_to_go_on(void)
{
    begin();
    living = dead = size - 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    barriers();
    if (rank != dead) {
        return;
    }
    for (int i = 0; i < living; i++) {
        MPI_Recv(&value, 1, MPI_INT, i, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    raise(SIGKILL);
}

static void go_on(void)
{
    begin_to_go_on();
    wait_while_it_dies();
    ask_the_dead();
    go_on_among_the_living();
    meet_the_dead();
    go_on_among_the_living();
    finalize_without_the_dead();
}

/* Under the default handlers, which no operation of these ranks has a reason to call. */
static void finalize_after_a_death(void)
{
    begin();
    living = dead = size - 1;
    if (rank == dead)
        raise(SIGKILL);
    finalize_without_the_dead();
}

/* The last rank is stopped for longer than a stopped rank may be: the others go on without it, and
 * let it run again, which ends it. */
static void stopped_too_long(void)
{
    int pid = (int)getpid();
    begin();
    living = dead = size - 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Bcast(&pid, 1, MPI_INT, dead, MPI_COMM_WORLD);
    barriers();
    if (rank == dead) {
        raise(SIGSTOP);
        for (;;)
            rest(1);
    }
    expect_aborted("MPI_Recv",
                   MPI_Recv(&value, 1, MPI_INT, dead, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    expect("MPI_Finalize", MPI_Finalize() == MPI_SUCCESS);
    fprintf(stderr, "rank %d went on, %d wrong\n", rank, wrong);
    if (rank == 0)
        kill(pid, SIGCONT);
    exit(0);
}

/* The others wait in MPI_Finalize for one that comes seconds later: it looks meanwhile whether they
 * have died. */
static void finalize_late(void)
{
    enum { SECONDS = 7 };
    int found = 0;
    begin();
    living = dead = size - 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    barriers();
    if (rank == dead)
        raise(SIGKILL);
    expect_aborted("MPI_Recv",
                   MPI_Recv(&value, 1, MPI_INT, dead, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (double begun = MPI_Wtime(); rank == 0 && MPI_Wtime() < begun + SECONDS; rest(0.001))
        MPI_Iprobe(1, 9, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    expect("MPI_Finalize", MPI_Finalize() == MPI_SUCCESS);
    fprintf(stderr, "rank %d went on, %d wrong\n", rank, wrong);
    exit(0);
}

/* Those who wait by tests and probes alone are told as well. */
static void go_on_testing(void)
{
    MPI_Request request;
    int flag = 0, code = MPI_SUCCESS;
    begin_to_go_on();
    MPI_Irecv(&value, 1, MPI_INT, dead, 1, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, dead, 9, MPI_COMM_WORLD);
    if (rank == 0) {
        while (code == MPI_SUCCESS && !flag) {
            code = MPI_Iprobe(dead, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        }
    } else {
        while (code == MPI_SUCCESS && !flag) {
            code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
    }
    expect_aborted(rank == 0 ? "MPI_Iprobe" : "MPI_Test", code);
    fprintf(stderr, "rank %d went on, %d wrong\n", rank, wrong);
    _exit(0);
}

/* MPI_Isendrecv whose receive is complete when its source dies, and whose send is still under way:
 * it completes without an error. The message has the size at which it lies where an RTS header
 * would. */
static void isendrecv_with_the_dead(void)
{
    enum { BYTES = 64 };
    volatile char message[BYTES] = {0};
    MPI_Request request;
    int done = 0;
    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) {
        memset((char *)message, 1, BYTES);
        MPI_Send((char *)message, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    if (rank == 2) {
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(much, sizeof much, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        _exit(0);
    }
    MPI_Isendrecv(much, sizeof much, MPI_BYTE, 2, 4, (char *)message, BYTES, MPI_BYTE, 1, 1,
                  MPI_COMM_WORLD, &request);
    while (!message[BYTES - 1]) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    expect("the send is still under way", !done);
    MPI_Send(&rank, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    expect_aborted("MPI_Recv",
                   MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Send(&rank, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    fprintf(stderr, "completed: %d, %d wrong\n", code == MPI_SUCCESS, wrong);
    _exit(0);
}

/* Nonblocking and persistent collectives through shared memory, which a rank has initialized but
 * will not start; a blocking one is queued behind them. */
static void areas_of_the_dead(void)
{
    MPI_Request requests[3];
    int sum;
    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    barriers();
    MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[0]);
    if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    MPI_Start(&requests[0]);
    MPI_Iallreduce(MPI_IN_PLACE, much, sizeof much / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                   &requests[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
    if (rank == 0)
        MPI_Send(&rank, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
    expect_aborted("MPI_Barrier", MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 3; i++)
        expect_aborted("MPI_Wait", MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    fprintf(stderr, "rank %d went on, %d wrong\n", rank, wrong);
    /* Who ends first is dead too, and an error of the other would name it. */
    MPI_Sendrecv(&rank, 1, MPI_INT, 2 - rank, 9, &value, 1, MPI_INT, 2 - rank, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    _exit(0);
}

/* With the default handler, so that the first rank that finds an error ends the job. */
static void hello_threads(void)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

/* First contact with a dead rank, through communicators on other VCIs than the one on which its
 * death was noticed. */
static void deals_of_the_dead(void)
{
    MPI_Comm twins[2];
    int provided, codes[2];
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &twins[i]);
    if (rank == 1)
        raise(SIGKILL);
    expect_aborted("MPI_Recv",
                   MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    codes[0] = MPI_Recv(&value, 1, MPI_INT, 1, 1, twins[0], MPI_STATUS_IGNORE);
    codes[1] = MPI_Ssend(&value, 1, MPI_INT, 1, 1, twins[1]);
    fprintf(stderr, "aborted: %d %d, %d wrong\n", codes[0] == MPIX_ERR_PROC_FAILED,
            codes[1] == MPIX_ERR_PROC_FAILED, wrong);
    _exit(0);
}

/* With the default handler the first who needs the dead ends the job, and says why. */
static void go_on_in_vain(void)
{
    begin_to_go_on();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Send(&rank, 1, MPI_INT, dead, 9, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, dead, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 1 comes to MPI_Init late. */
static void late_in_init(void)
{
    if (early_rank() == 1) {
        rest(2.5);
    }
    begin();
    end_well();
}

/* From now on no packet from the address of the interface weft0 arrives. */
static void lose_network(void)
{
    if (system(
            "nft 'add table ip lost; add chain ip lost in { type filter hook input priority 0; };"
            " add rule ip lost in ip saddr 10.78.0.1 drop'")) {
        exit(3);
    }
}

/* The network is lost for good while rank 0 waits for rank 1, which tests. */
static void network_lost(void)
{
    MPI_Request request;
    int done = 0;
    begin();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    lose_network();
    MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    end_well();
}

/* The network is lost for good before the first message. */
static void network_lost_before(void)
{
    begin();
    if (rank == 1) {
        lose_network();
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    rest(0.5);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    end_well();
}

/* Rank 1 comes to the barrier late, and reads no message before. */
static void late(void)
{
    begin();
    if (rank == 1) {
        rest(2.5);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end_well();
}

/* The same in memory that the ranks share. */
static void late_again(void)
{
    begin();
    barriers();
    if (rank == 1) {
        rest(2.5);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end_well();
}

/* The same, nonblocking. */
static void late_in_the_background(void)
{
    MPI_Request request;
    begin();
    barriers();
    if (rank == 1)
        rest(2.5);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end_well();
}

/* Twelve receives wait at once, more than a report shows. */
static void late_for_many(void)
{
    MPI_Request requests[12];
    int values[12];
    begin();
    for (int i = 0; rank == 0 && i < 12; i++) {
        MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]);
    }
    if (rank == 0) {
        MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
    } else {
        rest(2.5);
        for (int i = 0; i < 12; i++) {
            MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
        }
    }
    end_well();
}

/* One wait of two seconds, but with news in every half second. */
static void slow_news(void)
{
    MPI_Request requests[5];
    int values[5];
    begin();
    for (int i = 0; i < 5; i++) {
        if (rank == 0) {
            MPI_Irecv(&values[i], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[i]);
        } else {
            rest(0.45);
            MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    }
    end_well();
}

/* Rank 1 asks rank 0, which waits in MPI_Recv, by signal. */
static void asked_in_recv(void)
{
    begin();
    if (rank == 0) {
        int pid = (int)getpid();
        MPI_Send(&pid, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        rest(0.5);
        kill(value, SIGUSR1);
        rest(0.5);
        MPI_Send(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    }
    end_well();
}

/* A rank that never waits, but asks again and again, answers as well, and only once. */
static void asked_in_test(void)
{
    MPI_Request request;
    int done = 0;
    begin();
    MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, &request);
    if (rank == 0) {
        raise(SIGUSR1);
    }
    for (int i = 0; i < 100; i++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 3, &size, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD);
    if (!done) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    end_well();
}

/* A session that opens between SIGUSR1 and the next call does not lose the request for a report. */
static void asked_before_a_session(void)
{
    MPI_Session session;
    begin();
    if (rank == 0) {
        raise(SIGUSR1);
    }
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 3, &size, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    end_well();
}

static volatile sig_atomic_t caught;

static void note(int signal)
{
    caught += signal == SIGUSR1;
}

/* A handler that the program has stays; without one the signal is the program's again at the end.
 */
static void own_handler(void)
{
    struct sigaction now;
    signal(SIGUSR1, note);
    begin();
    raise(SIGUSR1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (caught == 1 && !sigaction(SIGUSR1, NULL, &now) && now.sa_handler == note) {
        end_well();
    }
}

static void handler_goes(void)
{
    struct sigaction before, within, after;
    sigaction(SIGUSR1, NULL, &before);
    begin();
    sigaction(SIGUSR1, NULL, &within);
    MPI_Finalize();
    sigaction(SIGUSR1, NULL, &after);
    if (before.sa_handler == SIG_DFL && within.sa_handler != SIG_DFL &&
        after.sa_handler == SIG_DFL) {
        printf("ended well\n");
        exit(0);
    }
}

static const struct {
    const char *name;
    void (*act)(void);
} acts[] = {{"hello", hello},
            {"hello-threads", hello_threads},
            {"start-program", start_program},
            {"exit-before-init", exit_before_init},
            {"killed-before-init", killed_before_init},
            {"killed-after-init", killed_after_init},
            {"crash-after-init", crash_after_init},
            {"killed-while-sending", killed_while_sending},
            {"exit-after-init", exit_after_init},
            {"exit-code-after-init", exit_code_after_init},
            {"bad-rank", bad_rank},
            {"bad-type", bad_type},
            {"negative-count", negative_count},
            {"negative-elements", negative_elements},
            {"window-too-large", window_too_large},
            {"too-small", too_small},
            {"too-small-of-many", too_small_of_many},
            {"errors-abort", errors_abort},
            {"abort-42", abort_42},
            {"agree-unreachable", agree_unreachable},
            {"rank-before-init", rank_before_init},
            {"send-before-init", send_before_init},
            {"barrier-after-finalize", barrier_after_finalize},
            {"init-twice", init_twice},
            {"missing-program", missing_program},
            {"silent-child", silent_child},
            {"ready-posted", ready_posted},
            {"ready-posted-long", ready_posted_long},
            {"ready-early", ready_early},
            {"ready-early-long", ready_early_long},
            {"both-ssend", both_ssend},
            {"roots-differ", roots_differ},
            {"roots-differ-in-shared-memory", roots_differ_in_shared_memory},
            {"roots-differed-long-ago", roots_differed_long_ago},
            {"leaves-all", leaves_all},
            {"counts-differ", counts_differ},
            {"both-send-large", both_send_large},
            {"probe-for-nothing", probe_for_nothing},
            {"disconnect-world", disconnect_world},
            {"disconnect-pending", disconnect_pending},
            {"barrier-alone", barrier_alone},
            {"file-alone", file_alone},
            {"cancel-unanswered", cancel_unanswered},
            {"detach-too-early", detach_too_early},
            {"locks-of-the-dead", locks_of_the_dead},
            {"wrong-tag", wrong_tag},
            {"partitions-missing", partitions_missing},
            {"partitions-of-the-dead", partitions_of_the_dead},
            {"windows-of-the-dead", windows_of_the_dead},
            {"lock-kept", lock_kept},
            {"accumulate-of-the-dead", accumulate_of_the_dead},
            {"accumulate-stopped", accumulate_stopped},
            {"go-on", go_on},
            {"go-on-testing", go_on_testing},
            {"finalize-late", finalize_late},
            {"stopped-too-long", stopped_too_long},
            {"finalize-after-a-death", finalize_after_a_death},
            {"go-on-in-vain", go_on_in_vain},
            {"isendrecv-with-the-dead", isendrecv_with_the_dead},
            {"areas-of-the-dead", areas_of_the_dead},
            {"deals-of-the-dead", deals_of_the_dead},
            {"holes-of-the-dead", holes_of_the_dead},
            {"copies-of-a-dead-sender", copies_of_a_dead_sender},
            {"holes-of-a-dead-sender", holes_of_a_dead_sender},
            {"exchanges-of-the-dead", exchanges_of_the_dead},
            {"headers-of-the-dead", headers_of_the_dead},
            {"copies-for-a-dead-receiver", copies_for_a_dead_receiver},
            {"holes-for-a-dead-receiver", holes_for_a_dead_receiver},
            {"late-in-init", late_in_init},
            {"network-lost", network_lost},
            {"network-lost-before", network_lost_before},
            {"late", late},
            {"late-again", late_again},
            {"late-in-the-background", late_in_the_background},
            {"late-for-many", late_for_many},
            {"slow-news", slow_news},
            {"asked-in-recv", asked_in_recv},
            {"asked-in-test", asked_in_test},
            {"asked-before-a-session", asked_before_a_session},
            {"own-handler", own_handler},
            {"handler-goes", handler_goes}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof acts / sizeof acts[0]; i++) {
        if (strcmp(argv[1], acts[i].name) == 0) {
            acts[i].act();
            printf("NOT NOTICED\n");
            return 0;
        }
    }
    fprintf(stderr, "usage: victim ACT, one of:");
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        fprintf(stderr, " %s", acts[i].name);
    }
    fprintf(stderr, "\n");
    return 2;
}
