// SPDX-License-Identifier: BSD-3-Clause
/*
 * The data of a job that the PMIx server has, and its ranks read.
 */
#include "server_internal.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void load_u32(pmix_info_t *info, const char *key, uint32_t value)
{
    PMIX_INFO_LOAD(info, key, &value, PMIX_UINT32);
}

static void load_u16(pmix_info_t *info, const char *key, uint16_t value)
{
    PMIX_INFO_LOAD(info, key, &value, PMIX_UINT16);
}

static void load_rank(pmix_info_t *info, const char *key, pmix_rank_t value)
{
    PMIX_INFO_LOAD(info, key, &value, PMIX_PROC_RANK);
}

void weft_server_load_text(pmix_info_t *info, const char *key, const char *value)
{
    PMIX_INFO_LOAD(info, key, value, PMIX_STRING);
}

static void load_array(pmix_info_t *info, const char *key, pmix_info_t *members, size_t n)
{
    pmix_data_array_t array;
    array.type = PMIX_INFO;
    array.size = n;
    array.array = members;
    PMIX_INFO_LOAD(info, key, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_FREE(members, n); /* the load made a copy */
}

static void load_proc(pmix_info_t *info, const struct job *job, const struct rank *r)
{
    pmix_info_t *m;
    size_t n = 0;
    PMIX_INFO_CREATE(m, 8);
    load_rank(&m[n++], PMIX_RANK, (pmix_rank_t)r->rank); /* must be the first */
    load_rank(&m[n++], PMIX_GLOBAL_RANK, (pmix_rank_t)r->rank);
    load_rank(&m[n++], PMIX_APP_RANK, (pmix_rank_t)r->index);
    load_u32(&m[n++], PMIX_APPNUM, (uint32_t)(r->app - job->apps));
    load_u16(&m[n++], PMIX_LOCAL_RANK, (uint16_t)r->rank);
    load_u16(&m[n++], PMIX_NODE_RANK, (uint16_t)r->rank);
    load_u32(&m[n++], PMIX_NODEID, 0);
    weft_server_load_text(&m[n++], PMIX_HOSTNAME, job->host);
    load_array(info, PMIX_PROC_INFO_ARRAY, m, n);
}

static void load_app(pmix_info_t *info, const struct job *job, int index)
{
    pmix_info_t *m;
    PMIX_INFO_CREATE(m, 3);
    load_u32(&m[0], PMIX_APPNUM, (uint32_t)index); /* must be the first */
    load_u32(&m[1], PMIX_APP_SIZE, (uint32_t)job->apps[index].count);
    load_rank(&m[2], PMIX_APPLDR, (pmix_rank_t)job->apps[index].first);
    load_array(info, PMIX_APP_INFO_ARRAY, m, 3);
}

/* "0,1,2,...,n-1", to be freed. */
static char *list_ranks(int n)
{
    char *text = malloc((size_t)n * 11 + 1);
    if (!text)
        abort();
    char *end = text;
    for (int i = 0; i < n; i++)
        end += sprintf(end, i ? ",%d" : "%d", i);
    return text;
}

/* The value of MPI_UNIVERSE_SIZE: of --usize, else of the slots that the line states, else the
 * number of processors. */
static int universe(const struct job *job)
{
    cpu_set_t cpus;
    int n = job->universe ? job->universe : job->slots;
    if (n == 0 && sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        n = CPU_COUNT(&cpus);
    return n > job->size ? n : job->size;
}

/* Fills the job data that are the same for all ranks. Returns the number of entries. */
static size_t load_job(pmix_info_t *info, const struct job *job)
{
    char *peers = list_ranks(job->size), *nodes = NULL, *procs = NULL;
    uint32_t size = (uint32_t)job->size;
    size_t n = 0;
    /* Not from PMIx_generate_regex: libpmix's pattern code overruns its buffer of 50 bytes if a
     * host's name begins with more letters than that. */
    if (asprintf(&nodes, "raw:%s", job->host) < 0 || asprintf(&procs, "raw:%s", peers) < 0)
        abort();
    PMIX_INFO_LOAD(&info[n++], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[n++], PMIX_PROC_MAP, procs, PMIX_REGEX);
    weft_server_load_text(&info[n++], PMIX_JOBID, job->nspace);
    load_u32(&info[n++], PMIX_JOB_SIZE, size);
    load_u32(&info[n++], PMIX_UNIV_SIZE, (uint32_t)universe(job));
    load_u32(&info[n++], PMIX_MAX_PROCS, size);
    load_u32(&info[n++], PMIX_JOB_NUM_APPS, (uint32_t)job->napps);
    load_u32(&info[n++], PMIX_NUM_NODES, 1);
    load_u32(&info[n++], PMIX_LOCAL_SIZE, size);
    load_u32(&info[n++], PMIX_NODE_SIZE, size);
    weft_server_load_text(&info[n++], PMIX_LOCAL_PEERS, peers);
    load_rank(&info[n++], PMIX_LOCALLDR, 0);
    load_u32(&info[n++], PMIX_NODEID, 0);
    if (job->call) {
        bool yes = true;
        pmix_proc_t parent;
        PMIX_LOAD_PROCID(&parent, job->call->parent, job->call->parent_rank);
        PMIX_INFO_LOAD(&info[n++], PMIX_SPAWNED, &yes, PMIX_BOOL);
        PMIX_INFO_LOAD(&info[n++], PMIX_PARENT_ID, &parent, PMIX_PROC);
    }
    free(peers);
    free(nodes);
    free(procs);
    return n;
}

pmix_status_t weft_server_register_job(struct job *job)
{
    size_t space = 15 + (size_t)job->napps + (size_t)job->size;
    pmix_info_t *info;
    PMIX_INFO_CREATE(info, space);
    size_t n = load_job(info, job);
    for (int i = 0; i < job->napps; i++)
        load_app(&info[n++], job, i);
    for (int i = 0; i < job->size; i++)
        load_proc(&info[n++], job, &job->ranks[i]);
    pmix_status_t rc = PMIx_server_register_nspace(job->nspace, job->size, info, n, NULL, NULL);
    PMIX_INFO_FREE(info, space);
    for (int i = 0; i < job->size && (rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED); i++) {
        pmix_proc_t proc;
        PMIX_LOAD_PROCID(&proc, job->nspace, (pmix_rank_t)i);
        rc = PMIx_server_register_client(&proc, geteuid(), getegid(), &job->ranks[i], NULL, NULL);
    }
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}
