// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads the values of --bind, --map-by and --rank-by.
 *
 * Words are those of Open MPI 1.8 to 5 and of MPICH's Hydra, in any case. Open MPI separates
 * modifiers by ':' or ','.
 */
#include "placement.h"
#include "lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ELEMENTS_MAX 4096 /* more than a machine has; products of it do not overflow */

static const char *const names[] = {
    [OBJECT_NONE] = "none",       [OBJECT_HWTHREAD] = "hwthread", [OBJECT_CORE] = "core",
    [OBJECT_L1CACHE] = "l1cache", [OBJECT_L2CACHE] = "l2cache",   [OBJECT_L3CACHE] = "l3cache",
    [OBJECT_NUMA] = "numa",       [OBJECT_PACKAGE] = "package"};

const char *weft_placement_name(enum object object)
{
    return names[object];
}

/* True if the first n bytes of text are the word. */
static bool is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncasecmp(text, word, n) == 0;
}

/* True if the first n bytes of text are one of the words of a list that ends with NULL. */
static bool is_one_of(const char *text, size_t n, const char *const *list)
{
    while (*list && !is_word(text, n, *list))
        list++;
    return *list;
}

/* The object of that name. False: there is none. Ranks share the machine in any case. */
static bool find_object(const char *text, size_t n, enum object *object)
{
    static const struct {
        const char *name;
        enum object object;
    } others[] = {
        {"socket", OBJECT_PACKAGE},   {"l1dcache", OBJECT_L1CACHE}, {"l2dcache", OBJECT_L2CACHE},
        {"l2ucache", OBJECT_L2CACHE}, {"l3ucache", OBJECT_L3CACHE}, {"pu", OBJECT_HWTHREAD},
        {"rr", OBJECT_HWTHREAD},      {"numanode", OBJECT_NUMA},    {"machine", OBJECT_NONE},
        {"board", OBJECT_NONE},       {"node", OBJECT_NONE},        {"slot", OBJECT_NONE}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is_word(text, n, names[i])) {
            *object = (enum object)i;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (is_word(text, n, others[i].name)) {
            *object = others[i].object;
            return true;
        }
    }
    return false;
}

/* Reads the n digits at text. -1 after printing that they are no number of processors. */
static int read_number(const char *text, size_t n, int *number)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (n == 0 || end != text + n || value < 1 || value > ELEMENTS_MAX) {
        weft_lines_print("\"%.*s\" is not a number from 1 to %d, of processors or of ranks.",
                         (int)n, text, ELEMENTS_MAX);
        return -1;
    }
    *number = (int)value;
    return 0;
}

int weft_placement_read_elements(struct placement *p, const char *text)
{
    return read_number(text, strlen(text), &p->elements);
}

/* Reads one modifier of n bytes, of the value `value` of an option. */
static int read_modifier(struct placement *p, const char *at, size_t n, const char *value)
{
    static const char *const usual[] = {"if-supported", "nooversubscribe", "no-overload", "span",
                                        "corecpus",     "inherit",         "noinherit",   NULL};
    static const char *const shares[] = {"overload-allowed", "oversubscribe", NULL};
    if (n > 3 && strncasecmp(at, "pe=", 3) == 0)
        return read_number(at + 3, n - 3, &p->elements);
    if (isdigit((unsigned char)*at))
        return read_number(at, n, &p->objects);
    if (is_one_of(at, n, shares)) {
        p->overload = true;
    } else if (is_word(at, n, "hwtcpus")) {
        p->threads = true;
    } else if (is_word(at, n, "ordered")) {
        p->in_turn = true;
    } else if (!is_one_of(at, n, usual)) {
        weft_lines_print("weftrun does not have \"%.*s\" of \"%s\"; leave it out.", (int)n, at,
                         value);
        return -1;
    }
    return 0;
}

/* Reads ":OVERSUBSCRIBE", ":PE=4" and the like from `at`, in the value `value`. */
static int read_modifiers(struct placement *p, const char *at, const char *value)
{
    while (*at) {
        size_t n = strcspn(++at, ":,");
        if (read_modifier(p, at, n, value))
            return -1;
        at += n;
    }
    return 0;
}

int weft_placement_read_bind(struct placement *p, const char *text)
{
    size_t n = strcspn(text, ":,");
    p->binds = true;
    if (is_word(text, n, "user") && text[n]) {
        p->cpus = text + n + 1;
        p->in_turn = true;
        return 0;
    }
    if (is_word(text, n, "cpu-list") || is_word(text, n, "cpu-set"))
        return read_modifiers(p, text + n, text);
    if (!find_object(text, n, &p->bind)) {
        weft_lines_print("--bind takes core, hwthread, l1cache, l2cache, l3cache, numa, package or "
                         "none, not \"%s\".",
                         text);
        return -1;
    }
    return read_modifiers(p, text + n, text);
}

/* "ppr:N:OBJECT" */
static int read_ratio(struct placement *p, int *per_node, const char *text)
{
    const char *number = text + strlen("ppr:");
    size_t digits = strcspn(number, ":");
    const char *word = number + digits + (number[digits] == ':');
    size_t n = strcspn(word, ":,");
    int ranks;
    if (!find_object(word, n, &p->map)) {
        weft_lines_print("--map-by ppr:N:OBJECT takes node, package, numa, l3cache, core or "
                         "hwthread as OBJECT, not \"%s\".",
                         text);
        return -1;
    }
    if (read_number(number, digits, &ranks))
        return -1;
    if (p->map == OBJECT_NONE)
        *per_node = ranks;
    else
        p->per_object = ranks;
    return read_modifiers(p, word + n, text);
}

/* "pe-list=0,2,4:ordered" */
static int read_list(struct placement *p, const char *text)
{
    const char *list = strchr(text, '=') + 1;
    size_t n = strcspn(list, ":");
    p->cpus = strndup(list, n);
    return p->cpus ? read_modifiers(p, list + n, text) : -1;
}

int weft_placement_read_map(struct placement *p, int *per_node, const char *text)
{
    static const char *const file = "rankfile:file=", *const list = "pe-list=";
    size_t n = strcspn(text, ":,");
    if (strncasecmp(text, "ppr:", 4) == 0)
        return read_ratio(p, per_node, text);
    if (strncasecmp(text, list, strlen(list)) == 0)
        return read_list(p, text);
    if (strncasecmp(text, file, strlen(file)) == 0) {
        p->rank_file = text + strlen(file);
        return 0;
    }
    if (n == 0) /* ":OVERSUBSCRIBE" */
        return read_modifiers(p, text, text);
    if (!find_object(text, n, &p->map) || is_word(text, n, "none")) {
        weft_lines_print("weftrun has no mapping \"%s\"; --map-by takes slot, core, hwthread, "
                         "l3cache, numa, package, ppr:N:OBJECT, and :PE=N behind it.",
                         text);
        return -1;
    }
    int before = p->objects;
    p->objects = 0;
    if (read_modifiers(p, text + n, text))
        return -1;
    if (p->objects) {
        weft_lines_print("weftrun deals ranks to one %s after the other, not to %d at a time: use "
                         "--map-by %.*s, and --bind %.*s:%d for several of each rank.",
                         names[p->map], p->objects, (int)n, text, (int)n, text, p->objects);
        return -1;
    }
    p->objects = before;
    return 0;
}

int weft_placement_read_rank_by(struct placement *p, const char *text)
{
    size_t n = strcspn(text, ":,");
    if (is_word(text, n, "fill") || is_word(text, n, "slot")) {
        p->fills = true;
        return 0;
    }
    if (is_word(text, n, "span"))
        return 0;
    if (!find_object(text, n, &p->rank_by) || is_word(text, n, "none")) {
        weft_lines_print("--rank-by takes slot, fill, span, core, hwthread, l3cache, numa, package "
                         "or node, not \"%s\".",
                         text);
        return -1;
    }
    return 0;
}

int weft_placement_finish(struct placement *p)
{
    if (p->threads && p->map == OBJECT_CORE)
        p->map = OBJECT_HWTHREAD;
    if (!p->binds && p->elements)
        p->bind = p->threads || p->map == OBJECT_HWTHREAD ? OBJECT_HWTHREAD : OBJECT_CORE;
    else if (!p->binds)
        p->bind = p->map;
    if (p->bind == OBJECT_HWTHREAD || p->bind == OBJECT_CORE)
        p->objects = p->elements ? p->elements : p->objects;
    p->objects = p->objects ? p->objects : 1;
    /* Numbering by something finer than the mapped object fills one object after the other. */
    if (p->map && p->rank_by && p->rank_by < p->map) {
        p->rank_by = OBJECT_NONE;
        p->fills = true;
    }
    /* Several cores of each rank cannot be in one core. */
    if (p->objects > 1 && p->map <= p->bind && !p->per_object)
        p->map = OBJECT_NONE;
    if (p->in_turn && !p->cpus) {
        weft_lines_print("--bind cpu-list:ordered needs the processors: add --cpu-set LIST.");
        return -1;
    }
    return 0;
}
