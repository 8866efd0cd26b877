// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operations of random programs that make and describe objects: communicators, groups, attributes,
 * topologies, datatypes.
 */
#include "program.h"

enum { RANKS = 16, FIELDS = 3, DIMS = 2 };

/* ---- Communicators and groups */

static void put_comm(int slot, MPI_Comm comm, bool inter)
{
    if (comms[slot].comm != MPI_COMM_NULL)
        MPI_Comm_free(&comms[slot].comm);
    comms[slot] = (struct slot){comm, inter};
    if (comm == MPI_COMM_NULL)
        return;
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    note(rank);
    note(size);
}

static MPI_Group some_group(MPI_Comm comm, int ranks)
{
    MPI_Group all, group;
    int list[RANKS], n = 0, way = below(3), range[1][3] = {{below(ranks), ranks - 1, 1 + below(2)}};
    for (int i = 0; i < ranks; i++)
        if (below(3))
            list[n++] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = below(i + 1), swap = list[i];
        list[i] = list[j];
        list[j] = swap;
    }
    MPI_Comm_group(comm, &all);
    if (way == 0)
        MPI_Group_incl(all, n, list, &group);
    else if (way == 1)
        MPI_Group_excl(all, n, list, &group);
    else
        MPI_Group_range_incl(all, 1, range, &group);
    MPI_Group_free(&all);
    return group;
}

static MPI_Comm make_inter(MPI_Comm parent)
{
    MPI_Comm local, inter;
    int of[RANKS], ranks, mine = world_rank, other = -1;
    MPI_Comm_size(parent, &ranks);
    MPI_Allgather(&mine, 1, MPI_INT, of, 1, MPI_INT, parent);
    for (int i = ranks - 1; i >= 0; i--)
        if (of[i] % 2 != world_rank % 2)
            other = i;
    if (other < 0)
        return MPI_COMM_NULL;
    MPI_Comm_split(parent, world_rank % 2, 0, &local);
    MPI_Intercomm_create(local, 0, parent, other, 3, &inter);
    MPI_Comm_free(&local);
    return inter;
}

static MPI_Comm make_topology(MPI_Comm parent, int ranks)
{
    MPI_Comm made;
    int way = below(3), rank, n = 0;
    int dims[DIMS] = {ranks, 1}, periods[DIMS] = {below(2), below(2)};
    int index[RANKS], edges[RANKS * 2], source[RANKS], weights[RANKS];
    MPI_Comm_rank(parent, &rank);
    if (ranks % 2 == 0) {
        dims[0] = ranks / 2;
        dims[1] = 2;
    }
    if (way == 0) {
        if (below(3) == 0)
            dims[0] = 1; /* the others get no communicator */
        MPI_Cart_create(parent, DIMS, dims, periods, 0, &made);
        return made;
    }
    if (way == 1) { /* a ring in both directions: the graph is symmetric */
        for (int i = 0; i < ranks; i++) {
            edges[n++] = (i + 1) % ranks;
            edges[n++] = (i + ranks - 1) % ranks;
            index[i] = n;
        }
        MPI_Graph_create(parent, ranks, index, edges, 0, &made);
        return made;
    }
    int step = 1 + below(ranks), outs = 1 + below(2);
    for (int i = 0; i < outs; i++) {
        edges[i] = (rank + step + i) % ranks;
        source[i] = ((rank - step - i) % ranks + ranks) % ranks;
        weights[i] = i + 1;
    }
    MPI_Dist_graph_create_adjacent(parent, outs, source, weights, outs, edges, weights,
                                   MPI_INFO_NULL, 0, &made);
    return made;
}

void do_comm(void)
{
    MPI_Comm parent, made = MPI_COMM_NULL;
    MPI_Group group;
    bool inter = below(5) == 0, is_inter = false;
    int slot = 1 + below(COMMS - 1), rank, ranks;
    bool have = pick_comm(&parent, inter);
    int way = below(7);
    if (!have || parent == comms[slot].comm) {
        /* All ranks that have the slot free it: none of them may keep what the others replace. */
        if (have)
            return;
        put_comm(slot, MPI_COMM_NULL, false);
        return;
    }
    MPI_Comm_rank(parent, &rank);
    MPI_Comm_size(parent, &ranks);
    if (inter) {
        if (way < 3)
            MPI_Intercomm_merge(parent, world_rank % 2, &made);
        else
            MPI_Comm_dup(parent, &made);
        is_inter = way >= 3;
    } else {
        int color = below(3);
        switch (way) {
        case 0:
            MPI_Comm_dup(parent, &made);
            break;
        case 1:
            MPI_Comm_split(parent, rank % 3 == color ? MPI_UNDEFINED : rank % 2, -rank, &made);
            break;
        case 2:
        case 3:
            group = some_group(parent, ranks);
            int in, kind = MPI_UNDEFINED;
            MPI_Group_rank(group, &in);
            MPI_Topo_test(parent, &kind);
            /* MPI_Comm_create_group of Open MPI 4.1 passes a topology on. */
            if (way == 2 || kind != MPI_UNDEFINED)
                MPI_Comm_create(parent, group, &made);
            else if (in != MPI_UNDEFINED)
                MPI_Comm_create_group(parent, group, 4, &made);
            MPI_Group_free(&group);
            break;
        case 4:
            made = make_inter(parent);
            is_inter = true;
            break;
        default:
            made = make_topology(parent, ranks);
        }
    }
    put_comm(slot, made, is_inter);
}

void do_group(void)
{
    MPI_Comm comm;
    MPI_Group groups[3];
    int ranks, result, from[RANKS], to[RANKS], sizes[2];
    if (!pick_comm(&comm, false))
        return;
    MPI_Comm_size(comm, &ranks);
    groups[0] = some_group(comm, ranks);
    groups[1] = some_group(comm, ranks);
    int way = below(3);
    if (way == 0)
        MPI_Group_union(groups[0], groups[1], &groups[2]);
    else if (way == 1)
        MPI_Group_intersection(groups[0], groups[1], &groups[2]);
    else
        MPI_Group_difference(groups[0], groups[1], &groups[2]);
    for (int i = 0; i < 2; i++) {
        MPI_Group_compare(groups[i], groups[2], &result);
        note(result == MPI_IDENT ? 0 : result == MPI_SIMILAR ? 1 : 2);
        MPI_Group_size(groups[i ? 2 : 0], &sizes[i]);
        note(sizes[i]);
    }
    for (int i = 0; i < sizes[0]; i++)
        from[i] = i;
    MPI_Group_translate_ranks(groups[0], sizes[0], from, groups[2], to);
    for (int i = 0; i < sizes[0]; i++)
        note(to[i] == MPI_UNDEFINED ? -1 : to[i]);
    for (int i = 0; i < 3; i++)
        if (groups[i] != MPI_GROUP_EMPTY)
            MPI_Group_free(&groups[i]);
}

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm;
    (void)key;
    *(intptr_t *)out = (intptr_t)in + 1;
    *flag = *(int *)extra;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)extra;
    note((intptr_t)value);
    return MPI_SUCCESS;
}

void do_attribute(void)
{
    MPI_Comm comm, dup;
    int key, flag, copies = below(2);
    void *value = NULL;
    if (!pick_comm(&comm, false))
        return;
    MPI_Comm_create_keyval(copy, delete, &key, &copies);
    MPI_Comm_set_attr(comm, key, (void *)(intptr_t)(10 + below(5)));
    MPI_Comm_dup(comm, &dup);
    MPI_Comm_get_attr(dup, key, &value, &flag);
    note(flag ? (intptr_t)value : -1);
    MPI_Comm_free(&dup);
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_free_keyval(&key);
}

/* ---- Topologies */

/* Returns whether a periodic dimension has one or two processes: which of the two messages to the
 * same neighbour is which was made clear in MPI 4.0 only (section 8.6), and Open MPI 4 is older. */
static bool describe_cart(MPI_Comm comm, int rank)
{
    bool small = false;
    MPI_Comm sub;
    int n, dims[DIMS], periods[DIMS], coords[DIMS], source, dest, back,
        remain[DIMS] = {below(2), 1};
    MPI_Cartdim_get(comm, &n);
    MPI_Cart_get(comm, DIMS, dims, periods, coords);
    MPI_Cart_rank(comm, coords, &back);
    note(n);
    note(back);
    for (int i = 0; i < DIMS; i++) {
        note(dims[i]);
        note(periods[i]);
        small = small || (periods[i] && dims[i] <= 2);
        note(coords[i]);
        MPI_Cart_shift(comm, i, 1 + below(2), &source, &dest);
        note(source == MPI_PROC_NULL ? -1 : source);
        note(dest == MPI_PROC_NULL ? -1 : dest);
    }
    MPI_Cart_sub(comm, remain, &sub);
    MPI_Comm_rank(sub, &back);
    note(back);
    MPI_Comm_free(&sub);
    MPI_Cart_coords(comm, rank, DIMS, coords);
    note(coords[0]);
    return small;
}

/* The numbers of neighbours that send to this rank and receive from it. */
static void degrees(MPI_Comm comm, int kind, int rank, int *in, int *out)
{
    int weighted, neighbors[4 * RANKS], weights[4 * RANKS], others[4 * RANKS];
    if (kind == MPI_CART) {
        *in = *out = 2 * DIMS;
    } else if (kind == MPI_GRAPH) {
        MPI_Graph_neighbors_count(comm, rank, in);
        MPI_Graph_neighbors(comm, rank, *in, neighbors);
        for (int i = 0; i < *in; i++)
            note(neighbors[i]);
        *out = *in;
    } else {
        MPI_Dist_graph_neighbors_count(comm, in, out, &weighted);
        MPI_Dist_graph_neighbors(comm, *in, neighbors, weights, *out, others, weights + *in);
        for (int i = 0; i < *in; i++)
            note(neighbors[i]);
        for (int i = 0; i < *out; i++)
            note(others[i]);
        note(weighted != 0);
    }
}

void do_topology(void)
{
    MPI_Comm comm;
    MPI_Request request;
    int kind, rank, ins, outs, counts[4 * RANKS], places[4 * RANKS];
    if (!pick_comm(&comm, false))
        return;
    MPI_Topo_test(comm, &kind);
    note(kind == MPI_CART ? 1 : kind == MPI_GRAPH ? 2 : kind == MPI_DIST_GRAPH ? 3 : 0);
    if (kind == MPI_UNDEFINED)
        return;
    MPI_Comm_rank(comm, &rank);
    int ranks;
    MPI_Comm_size(comm, &ranks);
    /* In a graph of two ranks both edges lead to the same one: MPICH 4.0 exchanges their blocks in
     * MPI_Ineighbor_alltoall, but not in MPI_Neighbor_alltoall. */
    bool small = kind == MPI_CART ? describe_cart(comm, rank) : ranks <= 2;
    degrees(comm, kind, rank, &ins, &outs);
    struct type *type = pick_type();
    MPI_Datatype t = type->type;
    int way = below(3), which = small ? 2 * below(2) : below(4), count = 1 + below(5);
    note(10 * which + way);
    int all = (count + 1) * (ins > outs ? ins : outs);
    char *out = to_send(type, all, rank), *in = to_receive(type, all);
    for (int i = 0; i < 4 * RANKS; i++) {
        counts[i] = count;
        places[i] = i * (count + 1);
    }
    switch (which) {
    case 0:
        START(way, &request, Neighbor_allgather, out, count, t, in, count, t, comm);
        break;
    case 1:
        START(way, &request, Neighbor_alltoall, out, count, t, in, count, t, comm);
        break;
    case 2:
        START(way, &request, Neighbor_allgatherv, out, count, t, in, counts, places, t, comm);
        break;
    default:
        START(way, &request, Neighbor_alltoallv, out, counts, places, t, in, counts, places, t,
              comm);
    }
    note_bytes(in, bytes_of(type, all));
}

/* ---- Datatypes */

/* n blocks that do not overlap, in elements of the type. */
static int draw_blocks(int n, int *lengths, int *places)
{
    int at = below(2);
    for (int i = 0; i < n; i++) {
        lengths[i] = 1 + below(2);
        places[i] = at;
        at += lengths[i] + below(3);
    }
    if (below(3) == 0 && n > 1) { /* not in their order in memory */
        int place = places[0], length = lengths[0];
        places[0] = places[n - 1];
        lengths[0] = lengths[n - 1];
        places[n - 1] = place;
        lengths[n - 1] = length;
    }
    return at;
}

/* All fields are marked or none: where only some are, the standard counts those alone (section 5.1,
 * lower bound and upper bound), and MPICH 4.0 counts all. It also pads marked ones, which the
 * standard does not: these get an extent. */
static MPI_Datatype make_struct(struct type *result)
{
    MPI_Datatype of[FIELDS], made;
    MPI_Aint places[FIELDS], at = 0;
    int lengths[FIELDS], wanted = 1 + below(FIELDS), n = 0;
    for (int i = 0; i < wanted; i++) {
        struct type *field = pick_type();
        int length = 1 + below(2);
        if (n && field->marked != result->marked)
            continue;
        result->marked = field->marked;
        of[n] = field->type;
        lengths[n] = length;
        places[n++] = at;
        at = (at + field->extent * length + 15) / 8 * 8;
    }
    result->mixed = true;
    MPI_Type_create_struct(n, lengths, places, of, &made);
    if (result->marked) {
        MPI_Datatype packed = made;
        MPI_Type_create_resized(packed, 0, at, &made);
        MPI_Type_free(&packed);
    }
    return made;
}

static MPI_Datatype make_type(const struct type *of, struct type *result)
{
    MPI_Datatype made, t = of->type;
    MPI_Aint bytes[FIELDS];
    int n = 1 + below(FIELDS), length = 1 + below(2), stride = length + below(3);
    int lengths[FIELDS], places[FIELDS], order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    int sizes[DIMS] = {2 + below(2), 2 + below(2)}, parts[DIMS] = {1 + below(2), 1 + below(2)};
    int starts[DIMS] = {below(sizes[0] - parts[0] + 1), below(sizes[1] - parts[1] + 1)};
    int distributions[DIMS] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, grid[DIMS] = {2, 1};
    int arguments[DIMS] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    draw_blocks(n, lengths, places);
    for (int i = 0; i < n; i++)
        bytes[i] = places[i] * of->extent;
    int width = length;
    switch (below(12)) {
    case 0:
        MPI_Type_contiguous(n, t, &made);
        return made;
    case 1:
        MPI_Type_vector(n, length, stride, t, &made);
        return made;
    case 2:
        MPI_Type_create_hvector(n, length, stride * of->extent, t, &made);
        return made;
    case 3:
        MPI_Type_indexed(n, lengths, places, t, &made);
        return made;
    case 4:
        MPI_Type_create_hindexed(n, lengths, bytes, t, &made);
        return made;
    case 5:
        for (int i = 0; i < n; i++)
            places[i] = i * (width + 1);
        MPI_Type_create_indexed_block(n, width, places, t, &made);
        return made;
    case 6:
        for (int i = 0; i < n; i++)
            bytes[i] = (n - 1 - i) * (width + 1) * of->extent;
        MPI_Type_create_hindexed_block(n, width, bytes, t, &made);
        return made;
    case 7:
        result->marked = true;
        MPI_Type_create_subarray(DIMS, sizes, parts, starts, order, t, &made);
        return made;
    case 8:
        result->marked = true;
        MPI_Type_create_darray(2, below(2), DIMS, sizes, distributions, arguments, grid, order, t,
                               &made);
        return made;
    case 9:
        result->marked = true;
        MPI_Type_create_resized(t, 0, of->extent + 8 * below(3), &made);
        return made;
    case 10:
        MPI_Type_dup(t, &made);
        return made;
    default:
        return make_struct(result);
    }
}

void do_type(void)
{
    int slot = below(TYPES), size, integers, addresses, subtypes, combiner;
    struct type *of = pick_type();
    MPI_Aint lb, extent, true_lb, true_extent;
    struct type result = {.mixed = of->mixed, .marked = of->marked};
    MPI_Datatype made = make_type(of, &result);
    MPI_Type_size(made, &size);
    MPI_Type_get_extent(made, &lb, &extent);
    MPI_Type_get_true_extent(made, &true_lb, &true_extent);
    note(size);
    note(lb);
    note(extent);
    note(true_lb);
    note(true_extent);
    if (size == 0 || size > SIZE_MAX_BYTES || true_lb + true_extent > EXTENT_MAX || extent <= 0 ||
        lb < 0 || lb + extent < true_lb + true_extent) {
        MPI_Type_free(&made);
        return;
    }
    MPI_Type_commit(&made);
    MPI_Type_get_envelope(types[slot].type, &integers, &addresses, &subtypes, &combiner);
    note(integers);
    note(addresses);
    note(subtypes);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(&types[slot].type);
    result.type = made;
    result.size = size;
    result.extent = extent;
    types[slot] = result;
}

void do_pack(void)
{
    struct type *type = pick_type();
    int count = 1 + below(8), room, position = 0;
    char *in = to_send(type, count, world_rank), *out = to_receive(type, count);
    MPI_Pack_size(2 * count, type->type, MPI_COMM_WORLD, &room);
    char *packed = malloc((size_t)room);
    MPI_Pack(in, count, type->type, packed, room, &position, MPI_COMM_WORLD);
    int half = position;
    position = 0;
    MPI_Unpack(packed, half, &position, out, count, type->type, MPI_COMM_WORLD);
    note_bytes(out, bytes_of(type, count));
    free(packed);
    if (type->mixed) /* MPICH 4.0 crashes in MPI_Pack_external of some structures */
        return;
    MPI_Aint bytes, at = 0;
    MPI_Pack_external_size("external32", count, type->type, &bytes);
    char *external = malloc((size_t)bytes + 1);
    MPI_Pack_external("external32", in, count, type->type, external, bytes, &at);
    note(at);
    note_bytes(external, (size_t)at);
    free(external);
}
