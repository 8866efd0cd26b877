// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators: making, opening, freeing.
 *
 * Invariants:
 *  - MPI_COMM_WORLD has the first block of context ids, MPI_COMM_SELF the second, the job the
 *    third.
 *  - A dying communicator (after MPI_Comm_free) keeps its channels and context ids until a sweep
 *    finds no reference. So this process does not propose an id while it has a send or a receive
 *    with that id.
 *  - The messages without a receive that have arrived for a dying communicator are dropped by the
 *    sweep that frees it, and later ones when they arrive: nothing of them can reach a communicator
 *    that gets the same ids later (context.h).
 */
#include "core/base/settings.h"
#include "core/comm/agree.h"
#include "core/comm/comm.h"
#include "core/comm/recovery.h"
#include "core/comm/revoke.h"
#include "core/comm/session.h"
#include "core/comm/spread.h"
#include "core/comm/topology.h"
#include "core/message/count.h"
#include "core/message/foreign.h"
#include "core/message/process.h"
#include "core/message/lane.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"

#include <stdlib.h>
#include <string.h>

struct weft_comm weft_comm_world = {
    .errhandler = &weft_errors_are_fatal, .handle = MPI_COMM_WORLD, .name = "MPI_COMM_WORLD"};
struct weft_comm weft_comm_self = {
    .errhandler = &weft_errors_are_fatal, .handle = MPI_COMM_SELF, .name = "MPI_COMM_SELF"};
struct weft_comm weft_comm_job = {
    .errhandler = &weft_errors_are_fatal, .handle = MPI_COMM_NULL, .name = "the job"};

struct weft_comm_collectives weft_comm_collectives;

/* A sweep visits every request, so it runs once for so many dying communicators. */
enum { SWEEP_AT = 64 };
static struct weft_comm *dying;
static size_t ndying, sweep_at = SWEEP_AT;

enum { PREDEFINED = 3 };

/* ---- Channels */

/* The lanes to the other processes of a communicator. */
struct lanes {
    bool posts, others;   /* the lane that matches receives is one of them; others are */
    unsigned vci_numbers; /* that all of them have */
};

static struct lanes lanes_of(const struct weft_comm *comm)
{
    struct lanes lanes = {.vci_numbers = weft.vci_numbers};
    for (int rank = 0; rank < comm->size; rank++) {
        int world = weft_comm_world_of(comm, rank);
        unsigned number = weft_lane_to(world);
        const struct weft_lane *lane = weft_lanes[number];
        lanes.posts |= weft.posts && number == weft.posts;
        lanes.others |= number != weft.posts && world != weft.job.rank;
        if (lane->vci_numbers && lane->vci_numbers() < lanes.vci_numbers)
            lanes.vci_numbers = lane->vci_numbers();
    }
    return lanes;
}

static void open_channel(struct weft_channel *channel, struct weft_comm *comm, struct lanes lanes,
                         unsigned use, unsigned vci_number)
{
    uint32_t context = (uint32_t)comm->block * WEFT_CONTEXTS + use;
    *channel = (struct weft_channel){.context = context,
                                     .vci = &weft.vcis[vci_number % weft.nvcis],
                                     .peers = comm->remote->peers[vci_number],
                                     .rank = comm->rank,
                                     .size = comm->size,
                                     .vci_number = vci_number,
                                     .comm = comm};
    if (!lanes.posts)
        channel->held = WEFT_HELD_ALWAYS; /* software matches all of its messages */
    channel->sources = (uint32_t)comm->size;
    channel->wildcards_held = channel->held != 0 || lanes.others;
}

/* Opens a channel at the lanes, which may have messages of it already. */
static void announce_channel(struct weft_channel *channel)
{
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->open_channel)
        lane->open_channel(channel);
}

/* The channel of a use, or NULL. */
static struct weft_channel *channel_for(struct weft_comm *comm, unsigned use)
{
    struct weft_comm *local = comm->local;
    struct weft_channel *const channels[WEFT_CONTEXTS] = {
        [WEFT_CONTEXT_P2P] = &comm->p2p,
        [WEFT_CONTEXT_COLL] = &comm->coll,
        [WEFT_CONTEXT_PARTITIONED] = &comm->partitioned,
        [WEFT_CONTEXT_ANNOUNCING] = &comm->announcing,
        [WEFT_CONTEXT_MAKING] = &comm->making,
        [WEFT_CONTEXT_GROUPING] = &comm->grouping,
        [WEFT_CONTEXT_LOCAL_COLL] = local ? &local->coll : NULL,
        [WEFT_CONTEXT_LOCAL_MAKING] = local ? &local->making : NULL};
    return channels[use];
}

static struct weft_channel *channel_of(uint32_t context, int source, int tag)
{
    struct weft_comm *comm = weft_context_owner(context / WEFT_CONTEXTS);
    unsigned use = context % WEFT_CONTEXTS;
    if (!comm)
        return NULL;
    return use == WEFT_CONTEXT_P2P ? weft_comm_channel(comm, source, tag) : channel_for(comm, use);
}

static int channel_world(const struct weft_channel *channel, int rank)
{
    return weft_comm_world_of(channel->comm, rank);
}

static const char *channel_name(const struct weft_channel *channel)
{
    return weft_comm_name(channel->comm);
}

static bool channel_expects(uint32_t context)
{
    return weft_context_is_expected(context / WEFT_CONTEXTS);
}

static int check_channel(const struct weft_channel *channel)
{
    return channel->comm->revoked ? weft_comm_report_revoked(channel->comm) : MPI_SUCCESS;
}

const struct weft_channel_ops weft_comm_channel_ops = {.of = channel_of,
                                                       .world = channel_world,
                                                       .name = channel_name,
                                                       .expects = channel_expects,
                                                       .unacknowledged = weft_comm_unacknowledged,
                                                       .revoked = weft_revoke_arrived,
                                                       .check = check_channel};

/* The number of references to a communicator and to its channels beside those of requests. */
static int count_uses(struct weft_comm *comm)
{
    int uses = comm->uses;
    for (unsigned use = 0; use < WEFT_CONTEXTS; use++) {
        const struct weft_channel *channel = channel_for(comm, use);
        uses += channel ? channel->uses : 0;
    }
    for (unsigned i = 0; comm->spread && i < comm->spread_channels; i++)
        uses += comm->spread[i].uses;
    return uses;
}

/* Assigns a VCI number to a communicator, and so its VCI. */
static void assign_vci(struct weft_comm *comm, int block, unsigned vci_numbers)
{
    comm->block = block;
    comm->vci_number = block < PREDEFINED ? 0 : (unsigned)(block - PREDEFINED + 1) % vci_numbers;
    comm->vci = &weft.vcis[comm->vci_number % weft.nvcis];
    comm->peers = weft_group_open_peers(comm->remote, comm->vci_number);
    weft_assert(comm->vci_number < weft.vci_numbers && comm->rank < comm->group->size);
    if (!comm->peers)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a table of %d peers", comm->size);
}

/* Joins the channels on each VCI: a process may have fewer VCIs than channels. */
static void join_alike(struct weft_channel *spread, unsigned channels)
{
    for (unsigned i = 0; i < channels; i++) {
        unsigned next = i;
        do
            next = (next + 1) % channels;
        while (spread[next].vci != spread[i].vci);
        spread[i].alike = next == i ? NULL : &spread[next];
    }
}

/* Opens the channels of point-to-point messages that the assertions of all processes allow, each on
 * a VCI number of its own. */
static void open_spread(struct weft_comm *comm, struct lanes lanes, unsigned vci_numbers)
{
    unsigned channels = weft_spread_channels(vci_numbers);
    if (comm->spread_rule == WEFT_SPREAD_NONE || channels == 1)
        return;
    comm->spread = calloc(channels, sizeof *comm->spread);
    comm->spread_channels = channels;
    for (unsigned i = 0; i < channels; i++) {
        unsigned vci_number = (comm->vci_number + i) % vci_numbers;
        if (!comm->spread || !weft_group_open_peers(comm->remote, vci_number))
            weft_fatal(MPI_ERR_NO_MEM,
                       "no memory for %u channels of a communicator of %d processes; make it "
                       "without mpi_assert_no_any_tag and mpi_assert_no_any_source",
                       channels, comm->size);
        open_channel(&comm->spread[i], comm, lanes, WEFT_CONTEXT_P2P, vci_number);
    }
    join_alike(comm->spread, channels);
    comm->p2p.size = 0;
    comm->p2p.sources = 0;
    comm->p2p.took_back = true; /* it cannot be seen here from which channel receives were taken */
}

void weft_comm_open(struct weft_comm *comm, int block)
{
    weft_assert(comm->block < 0 && !weft_context_owner((uint32_t)block) && weft_vcis_hold_all());
    struct weft_comm *local = comm->local;
    struct lanes lanes = lanes_of(comm), local_lanes = local ? lanes_of(local) : lanes;
    unsigned vci_numbers =
        lanes.vci_numbers < local_lanes.vci_numbers ? lanes.vci_numbers : local_lanes.vci_numbers;
    assign_vci(comm, block, vci_numbers);
    if (local)
        assign_vci(local, block, vci_numbers);
    for (unsigned use = 0; use < WEFT_CONTEXTS; use++) {
        bool of_local = use >= WEFT_CONTEXT_LOCAL_COLL;
        if (!of_local || local)
            open_channel(channel_for(comm, use), of_local ? local : comm,
                         of_local ? local_lanes : lanes, use, comm->vci_number);
    }
    open_spread(comm, lanes, vci_numbers);
    weft_context_assign(block, comm);
    for (unsigned use = 0; use < WEFT_CONTEXTS; use++)
        if (channel_for(comm, use) && channel_for(comm, use)->size)
            announce_channel(channel_for(comm, use));
    for (unsigned i = 0; comm->spread && i < comm->spread_channels; i++)
        announce_channel(&comm->spread[i]);
    weft_revoke_opened(comm);
}

/* ---- Making and freeing */

/* The least of `most` and the largest tags of the foreign processes in a group. */
static int least_tag_ub(const struct weft_group *group, int most)
{
    for (int i = 0; weft_unlikely(group->foreign) && i < group->size; i++) {
        int world = weft_group_world(group, i);
        if (weft_is_foreign(world) && weft_foreign_of(world)->contact.tag_ub < (uint32_t)most)
            most = (int)weft_foreign_of(world)->contact.tag_ub;
    }
    return most;
}

/* Sets the fields that follow from the groups. */
static bool fill(struct weft_comm *comm, struct weft_group *group, struct weft_group *remote)
{
    if (weft.vci_numbers == 1 &&
        !weft_group_open_peers(remote, 0)) /* else weft_comm_open does it */
        return false;
    comm->object.kind = WEFT_KIND_COMM;
    comm->group = weft_group_keep(group);
    comm->remote = weft_group_keep(remote);
    comm->rank = group->rank;
    comm->size = remote->size;
    comm->tag_ub = least_tag_ub(remote, least_tag_ub(group, weft.tag_ub));
    comm->block = -1;
    return true;
}

/* The communicator contains processes of other jobs, or does not any more. */
static void join_foreign(const struct weft_group *members, int by)
{
    for (int i = 0; weft_unlikely(members->foreign) && i < members->size; i++) {
        int world = weft_group_world(members, i);
        if (!weft_is_foreign(world))
            continue;
        weft_foreign_join(world, by);
        if (!strncmp(weft_foreign_of(world)->contact.host, weft.job.host, WEFT_HOST_SHOWN))
            weft_progress_share_cores();
    }
}

static struct weft_comm *make_one(struct weft_group *group, struct weft_group *remote,
                                  struct weft_errhandler *errhandler)
{
    struct weft_comm *comm = calloc(1, sizeof *comm);
    if (!comm)
        weft_error_set(MPI_ERR_NO_MEM, "no memory for another communicator");
    if (!comm || !fill(comm, group, remote)) {
        free(comm);
        return NULL;
    }
    comm->handle = (MPI_Comm)comm;
    comm->errhandler = errhandler ? errhandler : &weft_errors_are_fatal;
    comm->errhandler->refs++;
    comm->session = weft_session_keep(group->session);
    join_foreign(comm->remote, 1);
    return comm;
}

static void unmake(struct weft_comm *comm)
{
    weft_assert(!comm->uses && !comm->raisings && comm != &weft_comm_world &&
                comm != &weft_comm_self);
    if (comm->local)
        unmake(comm->local);
    join_foreign(comm->remote, -1);
    weft_group_release(comm->group);
    weft_group_release(comm->remote);
    weft_errhandler_release(comm->errhandler);
    weft_session_release(comm->session);
    weft_attribute_free_all(&comm->attributes);
    weft_topology_release(comm->topology);
    weft_comm_collectives.forget(comm);
    if (comm->named)
        free((char *)comm->name);
    weft_handle_retire(&comm->object);
    free(comm->spread);
    free(comm->kinds);
    free(comm);
}

struct weft_comm *weft_comm_make(struct weft_group *group, struct weft_group *remote,
                                 struct weft_errhandler *errhandler)
{
    struct weft_comm *comm = make_one(group, remote ? remote : group, errhandler);
    if (!comm || !remote)
        return comm;
    comm->local = make_one(group, group, NULL);
    if (!comm->local) {
        unmake(comm);
        return NULL;
    }
    comm->local->inter = comm;
    return comm;
}

static void regroup_one(struct weft_comm *comm, struct weft_group *group, struct weft_group *remote)
{
    struct weft_group *old = comm->group, *old_remote = comm->remote;
    weft_assert(comm->block < 0);
    if (!fill(comm, group, remote))
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a communicator of %d processes", remote->size);
    join_foreign(remote, 1);
    join_foreign(old_remote, -1);
    weft_group_release(old);
    weft_group_release(old_remote);
}

void weft_comm_regroup(struct weft_comm *comm, struct weft_group *group, struct weft_group *remote)
{
    regroup_one(comm, group, remote ? remote : group);
    if (comm->local)
        regroup_one(comm->local, group, group);
}

void weft_comm_drop(struct weft_comm *comm)
{
    if (!comm)
        return;
    weft_attribute_delete_all(weft_comm_attributed(comm));
    unmake(comm);
}

void weft_comm_release(struct weft_comm *comm)
{
    weft_assert(comm->object.kind == WEFT_KIND_COMM && comm->block >= PREDEFINED);
    weft_agree_close(comm);
    weft_handle_retire(&comm->object);
    comm->next_dying = dying;
    dying = comm;
    if (++ndying >= sweep_at || weft_comm_is_foreign(comm))
        weft_comm_sweep();
}

static bool is_channel_of(const struct weft_comm *comm, const struct weft_channel *channel)
{
    const char *at = (const char *)channel;
    return (at >= (const char *)comm && at < (const char *)(comm + 1)) ||
           (comm->spread && at >= (const char *)comm->spread &&
            at < (const char *)(comm->spread + comm->spread_channels));
}

bool weft_comm_has_channel(const struct weft_comm *comm, const struct weft_channel *channel)
{
    return is_channel_of(comm, channel) || (comm->local && is_channel_of(comm->local, channel));
}

/* Marks the dying communicator that a request refers to. It compares addresses and does not read
 * channel->comm, because a request without a communicator may keep the pointer to a freed channel.
 */
static void mark_referred(void *arg, struct weft_request *request)
{
    (void)arg;
    for (struct weft_comm *comm = dying; comm; comm = comm->next_dying)
        if (weft_comm_has_channel(comm, request->channel))
            comm->referred = true;
}

/* Drops the messages that were sent on a communicator and never received. */
static void drop_messages(struct weft_comm *comm)
{
    for (unsigned i = 0; i < weft.nvcis; i++)
        for (unsigned use = 0; use < WEFT_CONTEXTS && weft.vcis[i].matcher.unexpected; use++)
            weft_sw_drop_context(&weft.vcis[i].matcher,
                                 (uint32_t)comm->block * WEFT_CONTEXTS + use);
}

/* True while a channel is in its VCI's list `held`: the next claim that finds nothing held takes it
 * off. */
static bool is_listed(struct weft_comm *comm)
{
    bool listed = false;
    for (unsigned use = 0; use < WEFT_CONTEXTS; use++) {
        const struct weft_channel *channel = channel_for(comm, use);
        listed = listed || (channel && channel->listed);
    }
    for (unsigned i = 0; comm->spread && i < comm->spread_channels; i++)
        listed = listed || comm->spread[i].listed;
    return listed;
}

void weft_comm_sweep(void)
{
    weft_assert(weft_vcis_hold_all() && !dying == !ndying);
    if (!dying)
        return;
    weft_lane_collect_all();
    for (struct weft_comm *comm = dying; comm; comm = comm->next_dying)
        comm->referred = count_uses(comm) || comm->raisings || is_listed(comm);
    weft_request_each(mark_referred, NULL);
    struct weft_comm **link = &dying;
    while (*link) {
        struct weft_comm *comm = *link;
        if (comm->referred) {
            link = &comm->next_dying;
            continue;
        }
        weft_assert(ndying > 0 && weft_context_owner((uint32_t)comm->block) == comm);
        *link = comm->next_dying;
        ndying--;
        drop_messages(comm);
        weft_context_free(comm->block);
        unmake(comm);
    }
    sweep_at = ndying * 2 > SWEEP_AT ? ndying * 2 : SWEEP_AT;
}

struct activity {
    const struct weft_comm *comm;
    bool any;
};

static void see_active(void *arg, struct weft_request *request)
{
    struct activity *activity = arg;
    bool waits = activity->comm->agree && weft_request_row(request)->receives && !request->peer &&
                 request->match.tag == WEFT_AGREE_TAG; /* for members that need an answer */
    if (request->pending > 0 && !waits && is_channel_of(activity->comm, request->channel))
        activity->any = true;
}

bool weft_comm_active(struct weft_comm *comm)
{
    struct activity activity = {.comm = comm, .any = count_uses(comm) > (comm->agree != NULL)};
    weft_request_each(see_active, &activity);
    return activity.any;
}

/* ---- Predefined communicators */

static bool open_predefined(struct weft_comm *comm, struct weft_group *group, int block)
{
    if (!group || !fill(comm, group, group) || !weft_context_reserve(block))
        return false;
    weft_comm_open(comm, block);
    return true;
}

void weft_comm_expose(bool visible)
{
    weft_comm_world.object.kind = visible ? WEFT_KIND_COMM : WEFT_KIND_NONE;
    weft_comm_self.object.kind = weft_comm_world.object.kind;
    weft_handle_predefine((uintptr_t)MPI_COMM_WORLD, &weft_comm_world.object);
    weft_handle_predefine((uintptr_t)MPI_COMM_SELF, &weft_comm_self.object);
}

int weft_comm_init(void)
{
    struct weft_group *all = weft_group_run(weft.job.size, 0, 1);
    struct weft_group *self = weft_group_run(1, weft.job.rank, 1);
    if (!all || !self)
        return MPI_ERR_NO_MEM;
    bool well = open_predefined(&weft_comm_world, all, 0) &&
                open_predefined(&weft_comm_self, self, 1) &&
                open_predefined(&weft_comm_job, all, 2);
    weft_group_release(all);
    weft_group_release(self);
    weft_comm_expose(false);
    return well ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void weft_comm_set_initial_errhandler(struct weft_comm *comm)
{
    struct weft_errhandler *handler =
        weft_errhandlers_initial[weft_settings.initial_errhandler].handler;
    weft_errhandler_release(comm->errhandler);
    comm->errhandler = handler;
    handler->refs++;
}

static void close_predefined(struct weft_comm *comm)
{
    if (comm->named)
        free((char *)comm->name);
    comm->named = false;
    comm->name = "";
    free(comm->kinds);
    comm->kinds = NULL;
    comm->host_only = false;
    weft_attribute_free_all(&comm->attributes);
    weft_comm_set_initial_errhandler(comm);
    weft_group_release(comm->group);
    weft_group_release(comm->remote);
    comm->group = comm->remote = NULL;
    comm->object.kind = WEFT_KIND_NONE;
}

static void end(struct weft_comm *comm)
{
    comm->uses = comm->raisings = 0;
    weft_context_free(comm->block);
    unmake(comm);
}

void weft_comm_finalize(void)
{
    while (dying) {
        struct weft_comm *comm = dying;
        dying = comm->next_dying;
        end(comm);
    }
    ndying = 0;
    for (uint32_t block = PREDEFINED;
         block < WEFT_CONTEXT_BLOCKS && weft_context_in_use() > PREDEFINED; block++) {
        struct weft_comm *comm = weft_context_owner(block);
        if (comm)
            end(comm);
    }
    weft_comm_collectives.forget(&weft_comm_world);
    close_predefined(&weft_comm_world);
    close_predefined(&weft_comm_self);
    close_predefined(&weft_comm_job);
    weft_context_reset();
    weft_failure_forget_all();
}

/* ---- Dead members */

static int first_dead(const struct weft_group *group, bool (*is_dead)(int world))
{
    for (int rank = 0; rank < group->size; rank++)
        if (is_dead(weft_group_world(group, rank)))
            return weft_group_world(group, rank);
    return -1;
}

static int find_dead(const struct weft_comm *comm, bool (*is_dead)(int world))
{
    comm = comm->inter ? comm->inter : comm;
    int dead = first_dead(comm->remote, is_dead);
    return dead < 0 && comm->local ? first_dead(comm->group, is_dead) : dead;
}

int weft_comm_find_dead(const struct weft_comm *comm)
{
    return find_dead(comm, weft_process_has_failed);
}

int weft_comm_dead_member(struct weft_comm *comm)
{
    if (!weft_counts.deaths)
        return -1;
    if (comm->deaths_seen != weft_counts.deaths) {
        comm->deaths_seen = weft_counts.deaths;
        comm->dead_member = find_dead(comm, weft_process_has_crashed);
    }
    return comm->dead_member;
}

int weft_comm_report_revoked(const struct weft_comm *comm)
{
    comm = comm->inter ? comm->inter : comm;
    bool is_win = weft_handle_resolve(comm->handle, WEFT_KIND_WIN) != NULL;
    if (weft_comm_is_of_object(comm))
        return weft_error_set(MPIX_ERR_REVOKED,
                              "the %s is revoked (%s); a communicator of the living members "
                              "(MPIX_Comm_shrink) can make a new one",
                              is_win ? "window" : "file",
                              is_win ? "MPIX_Win_revoke" : "MPIX_File_revoke");
    return weft_error_set(MPIX_ERR_REVOKED,
                          "%s is revoked (MPIX_Comm_revoke); MPIX_Comm_shrink makes a communicator "
                          "of its living members",
                          weft_comm_name(comm));
}

int weft_comm_report_broken(const struct weft_comm *comm)
{
    return comm->revoked ? weft_comm_report_revoked(comm)
                         : weft_failure_report_process(weft_comm_find_dead(comm));
}

/* ---- Names and ranks */

int weft_comm_set_name(struct weft_comm *comm, const char *name)
{
    char *copy = strndup(name, MPI_MAX_OBJECT_NAME - 1);
    if (!copy)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for the name of a communicator");
    if (comm->named)
        free((char *)comm->name);
    comm->name = copy;
    comm->named = true;
    return MPI_SUCCESS;
}

struct weft_bsend_owner weft_comm_bsend_owner_of(const struct weft_channel *channel)
{
    struct weft_comm *comm = channel->comm;
    if (comm->bsend.attached)
        return weft_comm_bsend_owner(comm);
    if (comm->session && comm->session->bsend.attached)
        return weft_session_bsend_owner(comm->session);
    return (struct weft_bsend_owner){0};
}
