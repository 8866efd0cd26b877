// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions of the lanes that messages and progress call, although the lanes are above them;
 * core/pt2pt/lane.h and the headers of the lanes describe the functions. core/pt2pt/lane.c has the
 * table, and core/process sets it before there are peers. None of these is on a fast path.
 */
#ifndef WEFT_LANE_OPS_H
#define WEFT_LANE_OPS_H

#include "core/message/process.h"

struct weft_arrival;

struct weft_lane_ops {
    /* Peers and requests begin. */
    enum weft_lane (*to)(int world);
    void (*init_peer)(struct weft_peer *peer);
    int (*connect)(struct weft_peer *peer, char *why, size_t len);
    void (*init_request)(struct weft_request *request);

    /* A message has arrived. */
    void (*fetch)(struct weft_request *receive, const struct weft_arrival *message);
    void (*matched)(const struct weft_request *receive, const struct weft_arrival *message);
    void (*kept)(const struct weft_arrival *message, int by);

    /* A rank has died. */
    void (*close_dead)(struct weft_peer *peer);
    bool (*waits_for_peer)(const struct weft_request *request);
    void (*abandon)(struct weft_request *request);
    bool (*net_withdraw)(struct weft_request *request);
    void (*net_check_hosts)(void);

    /* Progress and waits. */
    int (*shm_progress)(unsigned vci);
    bool (*shm_is_idle)(void);
    void (*shm_sleep)(unsigned microseconds);
    bool (*shm_set_doorbell)(void);
    void (*shm_await_doorbell)(unsigned microseconds);
    void (*shm_wake_self)(void);
    int (*shm_cores)(void);
    int (*net_progress)(unsigned vci);
    int (*net_wait_fds)(int fds[WEFT_LOCKS_MAX]);
};

extern WEFT_HIDDEN const struct weft_lane_ops *weft_lane_ops;

#endif
