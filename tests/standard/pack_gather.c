// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm seconds=60
/*
 * A counter and that many characters from every rank, gathered at a root that does not know how
 * many there will be (MPI 5.0, 5.2): each rank packs both into one buffer, the root gathers the
 * lengths of the buffers and then the buffers themselves, and unpacks one after the other.
 */
#include "../mpi/check.h"

enum { MOST = 200, ROOT = 0 };

static char letter(int rank, int i)
{
    return (char)('a' + (rank * 7 + i) % 26);
}

/* What rank contributes: more or less than its neighbours, sometimes nothing. */
static int how_many(int rank, int round)
{
    return (rank * 37 + round * 11) % MOST;
}

static char *pack_mine(int count, int *length)
{
    char text[MOST];
    int of_count, of_text;
    for (int i = 0; i < count; i++)
        text[i] = letter(check.rank, i);
    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &of_count);
    MPI_Pack_size(count, MPI_CHAR, MPI_COMM_WORLD, &of_text);
    char *packed = check_alloc((size_t)(of_count + of_text));
    *length = 0;
    MPI_Pack(&count, 1, MPI_INT, packed, of_count + of_text, length, MPI_COMM_WORLD);
    MPI_Pack(text, count, MPI_CHAR, packed, of_count + of_text, length, MPI_COMM_WORLD);
    CHECK(*length <= of_count + of_text, "packing took %d bytes, MPI_Pack_size said %d", *length,
          of_count + of_text);
    return packed;
}

/* All characters in the order of ranks, one string. */
static void concatenate(const char *packed, const int *places, const int *lengths, int round)
{
    char *all = check_alloc((size_t)check.size * MOST);
    int used = 0, expected = 0;
    for (int rank = 0; rank < check.size; rank++) {
        int position = 0, count = -1;
        MPI_Unpack(packed + places[rank], lengths[rank], &position, &count, 1, MPI_INT,
                   MPI_COMM_WORLD);
        CHECK(count == how_many(rank, round), "rank %d announces %d characters", rank, count);
        MPI_Unpack(packed + places[rank], lengths[rank], &position, all + used, count, MPI_CHAR,
                   MPI_COMM_WORLD);
        CHECK(position == lengths[rank], "%d of %d packed bytes were used", position,
              lengths[rank]);
        used += count;
    }
    for (int rank = 0; rank < check.size; rank++)
        for (int i = 0; i < how_many(rank, round); i++, expected++)
            CHECK(all[expected] == letter(rank, i), "character %d of rank %d is '%c'", i, rank,
                  all[expected]);
    CHECK(used == expected, "the string has %d characters, not %d", used, expected);
    free(all);
}

static void gather(int round)
{
    int length, total = 0;
    char *mine = pack_mine(how_many(check.rank, round), &length), *packed = NULL;
    int *lengths = check_host((size_t)check.size * sizeof(int));
    int *places = check_host((size_t)check.size * sizeof(int));
    check_step("gathering in round %d", round);
    MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    if (check.rank == ROOT) {
        for (int rank = 0; rank < check.size; rank++) {
            places[rank] = total;
            total += lengths[rank];
        }
        packed = check_alloc((size_t)total);
    }
    MPI_Gatherv(mine, length, MPI_PACKED, packed, lengths, places, MPI_PACKED, ROOT,
                MPI_COMM_WORLD);
    if (check.rank == ROOT)
        concatenate(packed, places, lengths, round);
    free(packed);
    free(lengths);
    free(places);
    free(mine);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    for (int round = 0; round < 20; round++)
        gather(round);
    return check_done();
}
