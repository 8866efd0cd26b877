// SPDX-License-Identifier: BSD-3-Clause
/*
 * The decision table of collectives, for people. The invariant is in views.h.
 */
#include "views.h"

#include "core/coll/choose.h"
#include "core/coll/shared.h"
#include "core/base/settings.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 1000 };

__attribute__((format(printf, 2, 3))) static void add(char *line, const char *format, ...)
{
    size_t used = strlen(line);
    va_list args;
    va_start(args, format);
    vsnprintf(line + used, LINE - used, format, args);
    va_end(args);
}

static unsigned needs_of(const struct weft_coll_family *family, enum weft_algorithm algorithm)
{
    for (int i = 0; i < WEFT_COLL_OPTIONS; i++)
        if (family->options[i].algorithm == algorithm)
            return family->options[i].needs;
    return 0;
}

static void add_needs(char *line, unsigned needs)
{
    static const char *const words[] = {"a commutative operation",
                                        "2^n ranks",
                                        "equal blocks",
                                        "nodes of several ranks",
                                        "more ranks than cores",
                                        "consecutive ranks on each node"};
    const char *separator = " (with ";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (needs >> i & 1) {
            add(line, "%s%s", separator, words[i]);
            separator = ", ";
        }
    if (needs)
        add(line, ")");
}

static void add_rule(char *line, const struct weft_coll_family *family,
                     const struct weft_coll_rule *rule)
{
    add(line, "%s%s", *line ? "; " : "", weft_algorithm_name(rule->algorithm));
    if (rule->ranks)
        add(line, " up to %d ranks", rule->ranks);
    if (rule->below != SIZE_MAX && rule->below >= 1024)
        add(line, " below %zuK", rule->below / 1024);
    else if (rule->below != SIZE_MAX)
        add(line, " below %zu", rule->below);
    add_needs(line, needs_of(family, rule->algorithm) | rule->needs);
}

/* The algorithm that the user's setting chooses, or NULL. */
static const struct weft_coll_option *chosen(const struct weft_coll_family *family)
{
    int setting =
        family->setting ? *(const int *)((const char *)&weft_settings + family->setting) : 0;
    return setting ? &family->options[setting - 1] : NULL;
}

static void add_bytes(char *line, struct weft_shared_limit limit)
{
    if (limit.more == SIZE_MAX)
        add(line, "any number of bytes");
    else
        add(line, "up to %zuK", limit.more / 1024);
    if (limit.two < limit.more)
        add(line, ", 2 ranks up to %zuK", limit.two / 1024);
}

/* The shared-memory algorithm of blocking calls on one node, for the first kind of the family. */
static void print_shared(const struct weft_coll_family *family)
{
    char line[LINE] = "";
    int kind = 0;
    while (weft_coll_family_of((enum weft_coll_kind)kind) != family)
        kind++;
    if (!weft_settings.shm || !weft_settings.shm_coll || !weft_shared_limits[kind].more ||
        chosen(family))
        return;
    if (kind != WEFT_COLL_BARRIER)
        add_bytes(line, weft_shared_limits[kind]);
    printf("      all ranks on one node, blocking: shared memory%s%s\n", *line ? ", " : "", line);
}

int weft_view_collectives(void)
{
    printf("\nCollectives: the first algorithm that fits, by the bytes named; a WEFT_COLL_ setting "
           "goes first:\n");
    for (const struct weft_coll_family *f = weft_coll_families; f->name; f++) {
        char line[LINE] = "";
        const struct weft_coll_option *option = chosen(f);
        printf("    %s; bytes: %s\n", f->members, f->bytes);
        if (option) {
            add(line, "set: %s", weft_algorithm_name(option->algorithm));
            add_needs(line, option->needs);
        }
        for (int i = 0; i < WEFT_COLL_RULES && f->rules[i].algorithm; i++)
            add_rule(line, f, &f->rules[i]);
        printf("      %s\n", line);
        print_shared(f);
    }
    return 0;
}
