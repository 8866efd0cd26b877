// SPDX-License-Identifier: BSD-3-Clause
/*
 * The facts about a provider from its fi_info, and the limit of registered memory.
 */
#ifndef WEFT_CHECK_FACTS_H
#define WEFT_CHECK_FACTS_H

#include "ofi/select/provider.h"

/* Writes lines of text, each ended by a newline. Returns buf. */
char *weft_check_facts(const struct weft_provider_choice *choice, char *buf, size_t len);

/* The limit of locked memory as text: "unlimited", "64 KiB". Returns buf. */
char *weft_check_lockable(char *buf, size_t len);

#endif
