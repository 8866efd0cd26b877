// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls of PMIx_Spawn: PMIx's thread copies them, the main thread takes and answers them.
 *
 * Invariant: each call is answered once, by weft_server_answer_spawn, or at once if it cannot be
 * copied.
 */
#include "server_internal.h"
#include "pmix/job_file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    pmix_spawn_cbfunc_t done;
    void *arg;
};

static struct {
    pthread_mutex_t lock;
    struct spawn_call *first, **last; /* not taken yet, in the order in which they came */
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &calls.first};

/* A copy of a list of strings that ends with NULL; without memory *ok becomes false. */
static char **copy_list(char *const *list, bool *ok)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    char **copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        *ok &= (copy[i] = strdup(list[i])) != NULL;
    *ok &= copy != NULL;
    return copy;
}

static void free_list(char **list)
{
    for (char **text = list; text && *text; text++)
        free(*text);
    free(list);
}

static void copy_text(char **copy, const char *text, bool *ok)
{
    free(*copy);
    *copy = text ? strdup(text) : NULL;
    *ok &= !text || *copy;
}

/* Stores the value of a key, if it is one that weftrun serves. A key that the caller requires and
 * weftrun does not serve refuses the call. */
static void copy_key(struct spawn_call *call, struct spawn_app *app, const pmix_info_t *info,
                     bool *ok)
{
    bool text = info->value.type == PMIX_STRING;
    if (PMIX_CHECK_KEY(info, WEFT_UNNAMED_KEY))
        call->unnamed = true;
    else if (text && PMIX_CHECK_KEY(info, PMIX_WDIR))
        copy_text(&app->dir, info->value.data.string, ok);
    else if (text && (PMIX_CHECK_KEY(info, PMIX_HOST) || PMIX_CHECK_KEY(info, PMIX_ADD_HOST)))
        copy_text(&app->hosts, info->value.data.string, ok);
    else if (text &&
             (PMIX_CHECK_KEY(info, PMIX_HOSTFILE) || PMIX_CHECK_KEY(info, PMIX_ADD_HOSTFILE)))
        copy_text(&app->host_file, info->value.data.string, ok);
    else if (PMIX_INFO_IS_REQUIRED(info))
        copy_text(&call->refused_key, info->key, ok);
}

/* The program's name stands in front of the arguments, whatever the caller wrote there. */
static void copy_app(struct spawn_call *call, struct spawn_app *to, const pmix_app_t *from,
                     bool *ok)
{
    to->count = from->maxprocs;
    to->argv = copy_list(from->argv, ok);
    if (to->argv && !to->argv[0]) {
        free(to->argv);
        to->argv = copy_list((char *[]){from->cmd, NULL}, ok);
    } else if (to->argv && from->cmd) {
        copy_text(&to->argv[0], from->cmd, ok);
    }
    to->env = copy_list(from->env, ok);
    copy_text(&to->dir, from->cwd, ok);
    for (size_t i = 0; i < from->ninfo; i++)
        copy_key(call, to, &from->info[i], ok);
}

void weft_server_free_spawn(struct spawn_call *call)
{
    for (int i = 0; call && call->apps && i < call->napps; i++) {
        free_list(call->apps[i].argv);
        free_list(call->apps[i].env);
        free(call->apps[i].dir);
        free(call->apps[i].hosts);
        free(call->apps[i].host_file);
    }
    if (call) {
        free(call->apps);
        free(call->refused_key);
        free(call->answer);
    }
    free(call);
}

pmix_status_t weft_server_on_spawn(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                   const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done,
                                   void *arg)
{
    struct spawn_call *call = calloc(1, sizeof *call);
    struct answer *answer = malloc(sizeof *answer);
    bool ok = call && answer;
    if (ok) {
        call->apps = calloc(napps + 1, sizeof *call->apps);
        ok = call->apps != NULL;
    }
    if (ok) {
        *answer = (struct answer){done, arg};
        call->answer = answer;
        call->napps = (int)napps;
        call->parent_rank = proc->rank;
        snprintf(call->parent, sizeof call->parent, "%s", proc->nspace);
        for (size_t i = 0; i < napps; i++) {
            copy_app(call, &call->apps[i], &apps[i], &ok);
            for (size_t k = 0; k < ninfo; k++)
                copy_key(call, &call->apps[i], &info[k], &ok);
        }
    } else {
        free(answer);
    }
    if (!ok) {
        weft_server_free_spawn(call);
        return PMIX_ERR_NOMEM;
    }
    pthread_mutex_lock(&calls.lock);
    *calls.last = call;
    calls.last = &call->next;
    pthread_mutex_unlock(&calls.lock);
    weft_server_wake();
    return PMIX_SUCCESS;
}

struct spawn_call *weft_server_next_spawn(void)
{
    pthread_mutex_lock(&calls.lock);
    struct spawn_call *call = calls.first;
    if (call) {
        calls.first = call->next;
        if (!calls.first)
            calls.last = &calls.first;
    }
    pthread_mutex_unlock(&calls.lock);
    return call;
}

void weft_server_answer_spawn(struct spawn_call *call, enum spawn_result result, const char *nspace)
{
    static const pmix_status_t status[] = {
        [SPAWN_DONE] = PMIX_SUCCESS,
        [SPAWN_NOT_FOUND] = PMIX_ERR_JOB_EXE_NOT_FOUND,
        [SPAWN_NOT_USABLE] = PMIX_ERR_JOB_APP_NOT_EXECUTABLE,
        [SPAWN_NOT_SUPPORTED] = PMIX_ERR_NOT_SUPPORTED,
        [SPAWN_NO_SPACE] = PMIX_ERR_JOB_INSUFFICIENT_RESOURCES,
        [SPAWN_FAILED] = PMIX_ERR_JOB_FAILED_TO_LAUNCH,
    };
    struct answer *answer = call->answer;
    pmix_nspace_t name;
    PMIX_LOAD_NSPACE(name, call->unnamed ? "" : nspace);
    answer->done(status[result], name, answer->arg);
}
