// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Mixed data in one message (MPI 5.0, 5.2): an integer, some characters and some doubles are packed
 * into one buffer and sent as MPI_PACKED. They are received as MPI_PACKED and unpacked, or received
 * at once by a struct type made of their addresses; and what a struct type sends is received as
 * MPI_PACKED. The parts may be unpacked in other portions than they were packed in.
 */
#include "../mpi/check.h"

enum { CHARS = 100, DOUBLES = 500, ROOM = 8000, TAG = 4 };

struct parts {
    int i;
    char text[CHARS];
    double numbers[DOUBLES];
};

static void fill(struct parts *p, int source, int round)
{
    p->i = 1000 * source + round;
    check_fill(p->text, sizeof p->text, source, TAG, round);
    for (int k = 0; k < DOUBLES; k++)
        p->numbers[k] = source + round + k / 8.0;
}

static void check_parts(const struct parts *got, int source, int round, const char *how)
{
    struct parts expected;
    fill(&expected, source, round);
    CHECK(got->i == expected.i, "%s: the integer is %d", how, got->i);
    CHECK(!memcmp(got->text, expected.text, sizeof got->text), "%s: the characters differ", how);
    CHECK(!memcmp(got->numbers, expected.numbers, sizeof got->numbers), "%s: the doubles differ",
          how);
}

/* By absolute addresses, relative to MPI_BOTTOM. */
static MPI_Datatype type_of(const struct parts *p)
{
    int lengths[] = {1, CHARS, DOUBLES};
    MPI_Aint places[3];
    MPI_Datatype types[] = {MPI_INT, MPI_CHAR, MPI_DOUBLE}, type;
    MPI_Get_address(&p->i, &places[0]);
    MPI_Get_address(p->text, &places[1]);
    MPI_Get_address(p->numbers, &places[2]);
    MPI_Type_create_struct(3, lengths, places, types, &type);
    MPI_Type_commit(&type);
    return type;
}

static int pack(const struct parts *p, char *buffer)
{
    int position = 0;
    MPI_Pack(&p->i, 1, MPI_INT, buffer, ROOM, &position, MPI_COMM_WORLD);
    MPI_Pack(p->text, CHARS, MPI_CHAR, buffer, ROOM, &position, MPI_COMM_WORLD);
    MPI_Pack(p->numbers, DOUBLES, MPI_DOUBLE, buffer, ROOM, &position, MPI_COMM_WORLD);
    return position;
}

static void unpack(const char *buffer, int size, struct parts *p)
{
    int position = 0;
    MPI_Unpack(buffer, size, &position, &p->i, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, size, &position, p->text, 1, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Unpack(buffer, size, &position, p->text + 1, CHARS - 1, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Unpack(buffer, size, &position, p->numbers, DOUBLES, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(position == size, "%d of %d packed bytes were used", position, size);
}

static void send_packed(int peer, int round, MPI_Request *request, char *buffer)
{
    struct parts out;
    fill(&out, check.rank, round);
    int size = pack(&out, buffer);
    MPI_Isend(buffer, size, MPI_PACKED, peer, TAG, MPI_COMM_WORLD, request);
}

static void receive_packed(int peer, int round)
{
    struct parts in = {0};
    char buffer[ROOM];
    MPI_Status st;
    int size = -1;
    MPI_Recv(buffer, ROOM, MPI_PACKED, peer, TAG, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_PACKED, &size);
    unpack(buffer, size, &in);
    check_parts(&in, peer, round, "received as MPI_PACKED");
}

static void receive_struct(int peer, int round)
{
    struct parts in = {0};
    MPI_Datatype type = type_of(&in);
    MPI_Status st;
    int count = -1, elements = -1;
    MPI_Recv(MPI_BOTTOM, 1, type, peer, TAG, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, type, &count);
    MPI_Get_elements(&st, type, &elements);
    CHECK(count == 1 && elements == 1 + CHARS + DOUBLES, "received %d, which are %d elements",
          count, elements);
    check_parts(&in, peer, round, "received by a struct type");
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int peer = (check.rank ^ 1) < check.size ? check.rank ^ 1 : check.rank;
    for (int round = 0; round < 9; round++) {
        char buffer[ROOM];
        struct parts out;
        MPI_Request request;
        check_step("round %d", round);
        if (round % 3 < 2) {
            send_packed(peer, round, &request, buffer);
        } else {
            fill(&out, check.rank, round);
            MPI_Datatype type = type_of(&out);
            MPI_Isend(MPI_BOTTOM, 1, type, peer, TAG, MPI_COMM_WORLD, &request);
            MPI_Type_free(&type);
        }
        if (round % 3 == 1)
            receive_struct(peer, round);
        else
            receive_packed(peer, round);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return check_done();
}
