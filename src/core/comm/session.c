// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sessions: see session.h.
 *
 * Invariant: the process sets are mpi://WORLD, mpi://SELF, and those of the launcher, in this
 * order.
 */
#include "core/comm/session.h"
#include "core/base/hash.h"
#include "core/comm/comm_make.h"
#include "core/comm/intercomm.h"
#include "core/message/process.h"
#include "pmix/boot.h"
#include "gpu/kinds.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const own_sets[] = {"mpi://WORLD", "mpi://SELF"};
enum { WORLD, SELF, OWN_SETS };

/* ---- The object */

static const struct {
    const char *name;
    int level;
} levels[] = {{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
              {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
              {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
              {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};
enum { LEVELS = sizeof levels / sizeof levels[0] };

/* The thread level of the info key, or -1 if it is none. Without the key, and for
 * MPI_THREAD_SINGLE: MPI_THREAD_MULTIPLE if the process has it. */
static int level_of(const char *name)
{
    int i = 0;
    while (name && i < LEVELS && strcmp(name, levels[i].name) != 0)
        i++;
    if (i == LEVELS)
        return -1;
    if (i > 0)
        return levels[i].level;
    return weft.thread_level == MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

static const char *name_of(int level)
{
    int i = 0;
    while (levels[i].level != level)
        i++;
    return levels[i].name;
}

int weft_session_open(const struct weft_info *info, struct weft_errhandler *errhandler,
                      struct weft_session **made)
{
    const char *name = weft_info_get(info, "thread_level");
    int level = level_of(name);
    if (level < 0)
        return weft_error_set(MPI_ERR_INFO_VALUE,
                              "the info key thread_level is \"%.60s\"; it can be "
                              "MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE",
                              name);
    struct weft_session *session = calloc(1, sizeof *session);
    if (!session)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for a session");
    session->object.kind = WEFT_KIND_SESSION;
    session->refs = 1;
    session->thread_level = level;
    session->errhandler = errhandler;
    errhandler->refs++;
    *made = session;
    return MPI_SUCCESS;
}

struct weft_session *weft_session_keep(struct weft_session *session)
{
    if (session)
        session->refs++;
    return session;
}

void weft_session_release(struct weft_session *session)
{
    weft_assert(!session || session->refs > 0);
    if (!session || --session->refs > 0)
        return;
    weft_errhandler_release(session->errhandler);
    free(session);
}

struct weft_info *weft_session_info(const struct weft_session *session)
{
    struct weft_info *info = weft_info_make();
    if (info && (weft_info_set(info, "thread_level", name_of(session->thread_level)) ||
                 weft_info_set(info, "mpi_memory_alloc_kinds", weft_gpu_supported_kinds()))) {
        weft_info_free(info);
        info = NULL;
    }
    return info;
}

/* ---- Process sets */

int weft_session_psets(void)
{
    const struct weft_boot_pset *sets;
    return OWN_SETS + weft_boot_psets(&sets);
}

const char *weft_session_pset_name(int n)
{
    const struct weft_boot_pset *sets;
    if (n < 0 || n >= OWN_SETS + weft_boot_psets(&sets))
        return NULL;
    return n < OWN_SETS ? own_sets[n] : sets[n - OWN_SETS].name;
}

/* Names of sets are URIs, whose scheme and host are case-insensitive: so are the names of our own
 * sets, which consist of these. */
static int find_set(const char *name)
{
    int sets = weft_session_psets();
    for (int i = 0; i < sets; i++)
        if (!(i < OWN_SETS ? strcasecmp : strcmp)(name, weft_session_pset_name(i)))
            return i;
    return -1;
}

const char *weft_session_pset_spelling(const char *name)
{
    return weft_session_pset_name(find_set(name));
}

struct weft_group *weft_session_pset_group(struct weft_session *session, const char *name,
                                           int *code)
{
    int set = find_set(name);
    if (set < 0) {
        *code = weft_error_set(
            MPI_ERR_ARG, "there is no process set %s; MPI_Session_get_nth_pset names them", name);
        return NULL;
    }
    const struct weft_boot_pset *sets;
    weft_boot_psets(&sets);
    int size = set == WORLD ? weft.job.size : set == SELF ? 1 : sets[set - OWN_SETS].size;
    for (int i = 0; set >= OWN_SETS && i < size; i++) {
        const int rank = sets[set - OWN_SETS].ranks[i];
        if (rank >= 0 && rank < weft.job.size)
            continue;
        *code = weft_error_set(MPI_ERR_OTHER,
                               "the launcher states rank %d as a member of the process set %s, but "
                               "the job has the ranks 0 to %d",
                               rank, name, weft.job.size - 1);
        return NULL;
    }
    struct weft_group *group = weft_group_make(size);
    *code = group ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!group)
        return NULL;
    for (int i = 0; i < size; i++)
        group->table[i] = set == WORLD  ? i
                          : set == SELF ? weft.job.rank
                                        : sets[set - OWN_SETS].ranks[i];
    group->session = weft_session_keep(session);
    return weft_group_seal(group);
}

/* ---- Communicators from groups */

/* The message tag for a string tag. */
static int tag_of(const char *text)
{
    return (int)(weft_hash_text(text) & (uint32_t)weft.tag_ub);
}

int weft_comm_from_group(struct weft_group *group, const char *tag, const struct weft_info *hints,
                         struct weft_errhandler *errhandler, struct weft_comm **out)
{
    int code = weft_comm_create_group(&weft_comm_job, group, tag_of(tag), hints, out);
    if (*out) {
        weft_errhandler_release((*out)->errhandler);
        (*out)->errhandler = errhandler;
        errhandler->refs++;
    }
    return code;
}

int weft_intercomm_from_groups(struct weft_group *local, int leader, MPI_Group remote,
                               int remote_leader, const char *tag, const struct weft_info *hints,
                               struct weft_errhandler *errhandler, struct weft_comm **out)
{
    struct weft_comm *side;
    *out = NULL;
    int code = weft_comm_from_group(local, tag, hints, errhandler, &side);
    int other =
        local->rank == leader ? weft_group_world(weft_group_resolve(remote), remote_leader) : 0;
    if (code != MPI_SUCCESS && local->rank == leader)
        return weft_intercomm_refuse(&weft_comm_job, other, tag_of(tag), code);
    if (code != MPI_SUCCESS || !side)
        return code;
    code = weft_intercomm_join(side, leader, &weft_comm_job, other, tag_of(tag), MPI_SUCCESS, out);
    weft_comm_release(side);
    if (*out)
        weft_comm_take_hints(*out, hints);
    return code;
}
