// SPDX-License-Identifier: BSD-3-Clause
/*
 * The list of lanes: see lanes.h.
 */
#include "lanes/lanes.h"

#include "core/message/lane_fast.h"
#include "ofi/net.h"
#include "self/self.h"
#include "shm/shm.h"
#include "tcp/tcp.h"

const struct weft_lane *const weft_lane_list[WEFT_LANES_MAX] = {[WEFT_LANE_SELF] = &weft_self_lane,
                                                                [WEFT_LANE_SHM] = &weft_shm_lane,
                                                                [WEFT_LANE_NET] = &weft_net_lane,
                                                                [WEFT_LANE_TCP] = &weft_tcp_lane};
