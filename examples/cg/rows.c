// SPDX-License-Identifier: BSD-3-Clause
/*
 * A sparse matrix divided among ranks; see rows.h.
 */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number for each rank, and where each part begins when they lie one after the other. */
struct parts {
    int *count, *begin, sum;
};

void *rows_room(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "cg: no memory for %zu elements; start more ranks\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    return memory;
}

static struct parts parts_create(int ranks)
{
    int *memory = rows_room(2 * (size_t)ranks, sizeof *memory);
    return (struct parts){memory, memory + ranks, 0};
}

static void parts_add_up(struct parts *p, int ranks)
{
    p->sum = 0;
    for (int i = 0; i < ranks; i++) {
        p->begin[i] = p->sum;
        p->sum += p->count[i];
    }
}

static void parts_free(struct parts *p)
{
    free(p->count);
}

int rows_first(int all, int rank, int ranks)
{
    return (int)((long long)all * rank / ranks);
}

/* Which rank owns a row. */
static int owner(int all, int row, int ranks)
{
    int rank = (int)((long long)row * ranks / all);
    while (rows_first(all, rank + 1, ranks) <= row)
        rank++;
    return rank;
}

/* Hands out rows and entries; column[] still has global numbers. */
static void scatter(struct rows *r, const struct matrix *whole, int rank, int ranks)
{
    struct parts rows = parts_create(ranks), entries = parts_create(ranks);
    int *length = NULL, *column = NULL, mine = 0;
    double *value = NULL;
    if (rank == 0) {
        length = rows_room((size_t)r->all, sizeof *length);
        column = rows_room((size_t)whole->count, sizeof *column);
        value = rows_room((size_t)whole->count, sizeof *value);
        for (int i = 0; i < whole->count; i++) {
            length[whole->entry[i].row]++;
            column[i] = whole->entry[i].column;
            value[i] = whole->entry[i].value;
            entries.count[owner(r->all, whole->entry[i].row, ranks)]++;
        }
        for (int i = 0; i < ranks; i++)
            rows.count[i] = rows_first(r->all, i + 1, ranks) - rows_first(r->all, i, ranks);
        parts_add_up(&rows, ranks);
        parts_add_up(&entries, ranks);
    }
    MPI_Scatter(entries.count, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
    r->begin = rows_room((size_t)r->count + 1, sizeof *r->begin);
    r->column = rows_room((size_t)mine, sizeof *r->column);
    r->value = rows_room((size_t)mine, sizeof *r->value);
    MPI_Scatterv(length, rows.count, rows.begin, MPI_INT, r->begin + 1, r->count, MPI_INT, 0,
                 MPI_COMM_WORLD);
    MPI_Scatterv(column, entries.count, entries.begin, MPI_INT, r->column, mine, MPI_INT, 0,
                 MPI_COMM_WORLD);
    MPI_Scatterv(value, entries.count, entries.begin, MPI_DOUBLE, r->value, mine, MPI_DOUBLE, 0,
                 MPI_COMM_WORLD);
    for (int i = 0; i < r->count; i++)
        r->begin[i + 1] += r->begin[i];
    free(length);
    free(column);
    free(value);
    parts_free(&rows);
    parts_free(&entries);
}

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static bool is_own(const struct rows *r, int row)
{
    return row >= r->first && row < r->first + r->count;
}

/* Finds the ghosts and turns column[] into local numbers. Returns the ghosts' global numbers. */
static int *find_ghosts(struct rows *r)
{
    int entries = r->begin[r->count], *ghost = rows_room((size_t)entries, sizeof *ghost), found = 0;
    for (int i = 0; i < entries; i++)
        if (!is_own(r, r->column[i]))
            ghost[found++] = r->column[i];
    qsort(ghost, (size_t)found, sizeof *ghost, compare);
    r->ghosts = 0;
    for (int i = 0; i < found; i++)
        if (r->ghosts == 0 || ghost[i] != ghost[r->ghosts - 1])
            ghost[r->ghosts++] = ghost[i];
    for (int i = 0; i < entries; i++) {
        if (is_own(r, r->column[i])) {
            r->column[i] -= r->first;
            continue;
        }
        const int *place = bsearch(&r->column[i], ghost, (size_t)r->ghosts, sizeof *ghost, compare);
        r->column[i] = r->count + (int)(place - ghost);
    }
    return ghost;
}

/* One persistent receive from each rank that owns ghosts, one persistent send to each that needs
 * own elements. */
static void prepare(struct rows *r, const struct parts *received, const struct parts *sent,
                    int ranks)
{
    r->request = rows_room(2 * (size_t)ranks, sizeof *r->request);
    for (int i = 0; i < ranks; i++)
        if (received->count[i])
            MPI_Recv_init(r->vector + r->count + received->begin[i], received->count[i], MPI_DOUBLE,
                          i, 0, MPI_COMM_WORLD, &r->request[r->requests++]);
    for (int i = 0; i < ranks; i++)
        if (sent->count[i])
            MPI_Send_init(r->sent + sent->begin[i], sent->count[i], MPI_DOUBLE, i, 0,
                          MPI_COMM_WORLD, &r->request[r->requests++]);
}

/* Exchanges the needed elements: every rank gets the elements that others need from it. */
static void find_neighbours(struct rows *r, int ranks)
{
    struct parts received = parts_create(ranks), sent = parts_create(ranks);
    int *ghost = find_ghosts(r);
    for (int i = 0; i < r->ghosts; i++)
        received.count[owner(r->all, ghost[i], ranks)]++;
    MPI_Alltoall(received.count, 1, MPI_INT, sent.count, 1, MPI_INT, MPI_COMM_WORLD);
    parts_add_up(&received, ranks);
    parts_add_up(&sent, ranks);
    r->sends = sent.sum;
    r->sent_index = rows_room((size_t)r->sends, sizeof *r->sent_index);
    MPI_Alltoallv(ghost, received.count, received.begin, MPI_INT, r->sent_index, sent.count,
                  sent.begin, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < r->sends; i++)
        r->sent_index[i] -= r->first;
    r->sent = rows_room((size_t)r->sends, sizeof *r->sent);
    r->vector = rows_room((size_t)r->count + (size_t)r->ghosts, sizeof *r->vector);
    prepare(r, &received, &sent, ranks);
    free(ghost);
    parts_free(&received);
    parts_free(&sent);
}

void rows_create(struct rows *r, const struct matrix *whole)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    memset(r, 0, sizeof *r);
    if (rank == 0)
        r->all = whole->rows;
    MPI_Bcast(&r->all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    r->first = rows_first(r->all, rank, ranks);
    r->count = rows_first(r->all, rank + 1, ranks) - r->first;
    scatter(r, whole, rank, ranks);
    find_neighbours(r, ranks);
}

void rows_free(struct rows *r)
{
    for (int i = 0; i < r->requests; i++)
        MPI_Request_free(&r->request[i]);
    free(r->request);
    free(r->begin);
    free(r->column);
    free(r->value);
    free(r->vector);
    free(r->sent_index);
    free(r->sent);
}

void rows_multiply(struct rows *r, double *product)
{
    for (int i = 0; i < r->sends; i++)
        r->sent[i] = r->vector[r->sent_index[i]];
    MPI_Startall(r->requests, r->request);
    MPI_Waitall(r->requests, r->request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < r->count; i++) {
        product[i] = 0;
        for (int k = r->begin[i]; k < r->begin[i + 1]; k++)
            product[i] += r->value[k] * r->vector[r->column[k]];
    }
}

void rows_gather(const struct rows *r, const double *part, double *whole)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct parts rows = parts_create(ranks);
    for (int i = 0; i < ranks; i++)
        rows.count[i] = rows_first(r->all, i + 1, ranks) - rows_first(r->all, i, ranks);
    parts_add_up(&rows, ranks);
    MPI_Gatherv(part, r->count, MPI_DOUBLE, whole, rows.count, rows.begin, MPI_DOUBLE, 0,
                MPI_COMM_WORLD);
    parts_free(&rows);
}
