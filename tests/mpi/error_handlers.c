// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * Error handlers: a user's function is called once for each error, with the communicator and a code
 * of the right class, on the communicator that the error belongs to; what it left is what the call
 * returns; handlers can be asked for, replaced and freed while they are set. A handler may leave by
 * longjmp.
 */
#include "check.h"

#include <setjmp.h>

static int world_calls, self_calls;
static int last_code;
static MPI_Comm last_comm;

static void on_world(MPI_Comm *comm, int *code, ...)
{
    world_calls++;
    last_code = *code;
    last_comm = *comm;
}

static void on_self(MPI_Comm *comm, int *code, ...)
{
    self_calls++;
    last_code = *code;
    last_comm = *comm;
}

/* One call that must fail with a class, and call exactly these handlers. */
static void expect(int code, int class, int world, int self, const char *what)
{
    CHECK(check_class(code) == class, "%s: class %d, not %d", what, check_class(code), class);
    CHECK(world_calls == world && self_calls == self,
          "%s: handler of the world called %d times, of self %d; expected %d and %d", what,
          world_calls, self_calls, world, self);
    if (world + self > 0) {
        CHECK(last_code == code, "%s: the handler got code %d, the caller %d", what, last_code,
              code);
        CHECK(last_comm == (world ? MPI_COMM_WORLD : MPI_COMM_SELF),
              "%s: the handler got another communicator", what);
    }
    world_calls = self_calls = 0;
}

static jmp_buf back;

static void leave(MPI_Comm *comm, int *code, ...)
{
    last_comm = *comm;
    last_code = *code;
    longjmp(back, 1);
}

static void left_by_longjmp(void)
{
    MPI_Comm dup;
    MPI_Errhandler leaves;
    static volatile int left;
    int value = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_create_errhandler(leave, &leaves);
    MPI_Comm_set_errhandler(dup, leaves);
    MPI_Errhandler_free(&leaves);
    left = 0;
    if (setjmp(back))
        left++;
    if (left < 3)
        MPI_Send(&value, -1, MPI_INT, 0, 1, dup);
    CHECK(left == 3 && last_comm == dup && check_class(last_code) == MPI_ERR_COUNT,
          "the handler was left %d times", left);
    MPI_Comm_disconnect(&dup);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What is made of a communicator has its handler, until it gets another. */
static void inherited(MPI_Errhandler own)
{
    MPI_Comm made[3], cart;
    MPI_Errhandler found;
    int dims[] = {check.size}, periods[] = {0}, value = 0, calls = world_calls;
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made[1]);
    MPI_Comm_create(MPI_COMM_WORLD, group, &made[2]);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart);
    MPI_Group_free(&group);
    for (int i = 0; i < 4; i++) {
        MPI_Comm *comm = i < 3 ? &made[i] : &cart;
        MPI_Comm_get_errhandler(*comm, &found);
        CHECK(found == own, "communicator %d has another handler than the one it is made of", i);
        MPI_Errhandler_free(&found);
        MPI_Send(&value, -1, MPI_INT, 0, 1, *comm);
        CHECK(world_calls == ++calls && last_comm == *comm, "the handler was not called for %d", i);
        MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
        MPI_Send(&value, -1, MPI_INT, 0, 1, *comm);
        CHECK(world_calls == calls, "the old handler was called for %d", i);
        MPI_Comm_free(comm);
    }
    world_calls = 0;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    MPI_Errhandler world, self, found;
    int value = 0, flag;
    char small = 0;

    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    CHECK(found == MPI_ERRORS_ARE_FATAL, "the first handler is not MPI_ERRORS_ARE_FATAL");
    MPI_Errhandler_free(&found);
    CHECK(found == MPI_ERRHANDLER_NULL, "MPI_Errhandler_free left the handle");

    MPI_Comm_create_errhandler(on_world, &world);
    MPI_Comm_create_errhandler(on_self, &self);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, self);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    CHECK(found == world, "MPI_Comm_get_errhandler gives another handler than was set");
    MPI_Errhandler_free(&found);
    inherited(world);
    MPI_Errhandler_free(&world); /* stays in force until it is replaced */
    MPI_Errhandler_free(&self);

    check_step("errors on their communicators");
    expect(MPI_Send(&value, -1, MPI_INT, 0, 1, MPI_COMM_WORLD), MPI_ERR_COUNT, 1, 0, "world");
    expect(MPI_Send(&value, -1, MPI_INT, 0, 1, MPI_COMM_SELF), MPI_ERR_COUNT, 0, 1, "self");
    expect(MPI_Bcast(&value, 1, MPI_INT, 99, MPI_COMM_WORLD), MPI_ERR_ROOT, 1, 0, "collective");
    expect(MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_NULL), MPI_ERR_COMM, 0, 1, "no comm");
    expect(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD), MPI_SUCCESS, 0, 0,
           "success");
    MPI_Request garbage = (MPI_Request)0x1ff;
    expect(MPI_Test(&garbage, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST, 0, 1, "no request");

    check_step("a handler that does not return");
    left_by_longjmp();

    check_step("an error of a receive that shows when it is waited for");
    MPI_Request request;
    MPI_Irecv(&small, 1, MPI_CHAR, check.rank, 2, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_INT, check.rank, 2, MPI_COMM_WORLD);
    expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, 1, 0, "truncation");

    check_step("MPI_ERRORS_RETURN in place of a user's handler");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect(MPI_Send(&value, -1, MPI_INT, 0, 1, MPI_COMM_WORLD), MPI_ERR_COUNT, 0, 0, "returned");
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    CHECK(found == MPI_ERRORS_RETURN, "MPI_Comm_get_errhandler after MPI_ERRORS_RETURN");
    return check_done();
}
