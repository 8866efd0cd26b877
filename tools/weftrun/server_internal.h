// SPDX-License-Identifier: BSD-3-Clause
/* Shared by the files of the PMIx server only: server.c, job_data.c, spawn_call.c, names.c. */
#ifndef WEFTRUN_SERVER_INTERNAL_H
#define WEFTRUN_SERVER_INTERNAL_H

#include "server.h"

#include <pmix.h>
#include <pmix_server.h>

/* Makes the main thread call the functions of server.h that return calls of ranks. */
void weft_server_wake(void);

/* ---- job_data.c */

/* Registers a job and its ranks with libpmix. */
pmix_status_t weft_server_register_job(struct job *job);

void weft_server_load_text(pmix_info_t *info, const char *key, const char *value);

/* ---- Upcalls: they run on PMIx's thread */

pmix_status_t weft_server_on_spawn(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                   const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t done,
                                   void *arg);
pmix_status_t weft_server_on_publish(const pmix_proc_t *proc, const pmix_info_t info[],
                                     size_t ninfo, pmix_op_cbfunc_t done, void *arg);
pmix_status_t weft_server_on_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                    size_t ninfo, pmix_lookup_cbfunc_t done, void *arg);
pmix_status_t weft_server_on_unpublish(const pmix_proc_t *proc, char **keys,
                                       const pmix_info_t info[], size_t ninfo,
                                       pmix_op_cbfunc_t done, void *arg);

#endif
