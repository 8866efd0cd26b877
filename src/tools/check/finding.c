// SPDX-License-Identifier: BSD-3-Clause
/*
 * Findings: see finding.h.
 */
#include "tools/check/finding.h"
#include "tools/check/check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A rank has at most so many, and all ranks together so many or LEAST_MAX each: a program with more
 * needs the first ones repaired. */
enum { FINDINGS_MAX = 1000, JOB_MAX = 20000, LEAST_MAX = 16 };

static void print_location(const char *call, const struct weft_site *site, char *text, size_t size)
{
    const char *slash = strrchr(site->file, '/'), *file = slash ? slash + 1 : site->file;
    char line[16] = "";
    if (site->line)
        snprintf(line, sizeof line, ":%d", site->line);
    snprintf(text, size, "%s%s%s%s%s%s%s", call, *file ? " at " : "", file, line,
             site->function[0] ? " (" : "", site->function, site->function[0] ? ")" : "");
}

void check_location_print(const struct check_location *location, char *text, size_t size)
{
    struct weft_site site;
    weft_site_lookup(location->site, &site);
    print_location(location->function->name, &site, text, size);
}

/* ---- Printing */

static void print_finding(struct check_finding *finding)
{
    const struct check_rule_text *rule = &check_rules[finding->rule];
    char location[512], who[64], times[32] = "";
    print_location(finding->call, &finding->where, location, sizeof location);
    if (finding->ranks == 1)
        snprintf(who, sizeof who, "rank %d", finding->rank);
    else if (finding->last_rank - finding->rank + 1 == finding->ranks)
        snprintf(who, sizeof who, "ranks %d-%d", finding->rank, finding->last_rank);
    else
        snprintf(who, sizeof who, "%d ranks from %d to %d", finding->ranks, finding->rank,
                 finding->last_rank);
    if (finding->times > finding->ranks)
        snprintf(times, sizeof times, " (%d times)", finding->times);
    fprintf(stderr,
            "weft check: %s: %s: %s: %s%s\n"
            "    MPI 5.0, section %s: %s.\n"
            "    Change: %s.\n",
            rule->id, who, location, finding->text, times, rule->section, rule->standard,
            rule->change);
    finding->printed = true;
}

/* ---- Recording */

/* True if two findings are of one rule and at one line. */
static bool is_at_one_line(const struct check_finding *a, const struct check_finding *b)
{
    return a->rule == b->rule && strcmp(a->call, b->call) == 0 && a->where.line == b->where.line &&
           strcmp(a->where.file, b->where.file) == 0;
}

/* The finding of a rule at a location; NULL: there is none yet. */
static struct check_finding *find_equal(const struct check_finding *like)
{
    for (int i = 0; i < check.findings.n; i++)
        if (is_at_one_line(&check.findings.list[i], like))
            return &check.findings.list[i];
    return NULL;
}

static int findings_max(void)
{
    const int share = JOB_MAX / (check.size ? check.size : 1);
    return share > FINDINGS_MAX ? FINDINGS_MAX : share < LEAST_MAX ? LEAST_MAX : share;
}

static void append(const struct check_finding *finding)
{
    struct check_findings *findings = &check.findings;
    weft_assert(findings->n < findings_max());
    if (findings->n == findings->capacity)
        findings->list =
            check_enlarge(findings->list, findings->n, &findings->capacity, sizeof *findings->list);
    findings->list[findings->n++] = *finding;
}

static void report(int rank, enum check_rule rule, const struct check_location *location, bool now,
                   const char *format, va_list arguments)
{
    struct check_finding finding = {
        .rule = rule, .rank = rank, .last_rank = rank, .ranks = 1, .times = 1};
    snprintf(finding.call, sizeof finding.call, "%s", location->function->name);
    weft_site_lookup(location->site, &finding.where);
    vsnprintf(finding.text, sizeof finding.text, format, arguments);
    check_lock();
    struct check_finding *old = find_equal(&finding);
    if (old) {
        old->times++;
    } else if (check.findings.n == findings_max()) {
        check.findings.left_out = 1;
    } else {
        if (now)
            print_finding(&finding);
        append(&finding);
    }
    check_unlock();
}

void check_report(enum check_rule rule, const struct check_location *location, bool now,
                  const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(check.rank, rule, location, now, format, arguments);
    va_end(arguments);
}

void check_report_of(int rank, enum check_rule rule, const struct check_location *location,
                     bool now, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(rank, rule, location, now, format, arguments);
    va_end(arguments);
}

void check_findings_print_own(void)
{
    check_lock();
    for (int i = 0; i < check.findings.n; i++)
        if (!check.findings.list[i].printed)
            print_finding(&check.findings.list[i]);
    check_unlock();
}

/* Writes the SARIF file, if one is asked for. A spawned job has a file of its own. */
static void write_file(const struct check_finding *list, int n)
{
    const char *path = getenv("WEFT_CHECK_SARIF");
    char own[4096];
    if (!path || !*path)
        return;
    if (check.is_spawned)
        snprintf(own, sizeof own, "%s.spawned%ld", path, (long)getpid());
    else
        snprintf(own, sizeof own, "%s", path);
    check_sarif_write(own, list, n);
}

void check_findings_write_own(void)
{
    check_lock();
    write_file(check.findings.list, check.findings.n);
    check_unlock();
}

/* ---- The end */

static bool is_same(const struct check_finding *a, const struct check_finding *b)
{
    return is_at_one_line(a, b) && strcmp(a->where.function, b->where.function) == 0 &&
           strcmp(a->text, b->text) == 0;
}

/* Joins findings that differ in the rank alone; returns how many there are then. */
static int join(struct check_finding *list, int n)
{
    int joined = 0;
    for (int i = 0; i < n; i++) {
        int at = 0;
        while (at < joined && !is_same(&list[at], &list[i]))
            at++;
        if (at == joined) {
            list[joined++] = list[i];
            continue;
        }
        list[at].last_rank = list[i].rank;
        list[at].ranks++;
        list[at].times += list[i].times;
        list[at].printed |= list[i].printed;
    }
    return joined;
}

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

static void print_left_out(int findings)
{
    if (findings)
        fprintf(stderr, "weft check: further findings were left out; repair these first\n");
    if (check.races_left_out)
        fprintf(stderr,
                "weft check: races were not looked for: the calls of %d ranks need %zu MiB; run "
                "fewer ranks\n",
                check.size, check.races_left_out >> 20);
}

static void print_all(struct check_finding *list, int n, int ranks)
{
    const char *job = check.is_spawned ? " of a spawned job" : "";
    int errors = 0;
    for (int i = 0; i < n; i++) {
        errors += check_rules[list[i].rule].error;
        if (!list[i].printed)
            print_finding(&list[i]);
    }
    if (n == 0)
        fprintf(stderr, "weft check: no findings in %d rank%s%s\n", ranks, plural(ranks), job);
    else
        fprintf(stderr, "weft check: %d finding%s in %d rank%s%s: %d error%s, %d warning%s\n", n,
                plural(n), ranks, plural(ranks), job, errors, plural(errors), n - errors,
                plural(n - errors));
}

int check_findings_end(void)
{
    const size_t each = sizeof(struct check_finding);
    struct check_findings *own = &check.findings;
    int all = 0, n = own->n, left_out = 0, rank, ranks; /* without dead ranks */
    weft_next.Comm_rank(check.channel, &rank);
    weft_next.Comm_size(check.channel, &ranks);
    int *counts = weft_interpose_allocate((size_t)ranks * 2, sizeof *counts), *at = counts + ranks;
    weft_next.Gather(&n, 1, MPI_INT, counts, 1, MPI_INT, 0, check.channel);
    weft_next.Reduce(&own->left_out, &left_out, 1, MPI_INT, MPI_MAX, 0, check.channel);
    for (int i = 0; i < ranks; i++) {
        at[i] = all;
        all += counts[i];
    }
    struct check_finding *list = weft_interpose_allocate((size_t)all + 1, each);
    MPI_Datatype finding;
    weft_next.Type_contiguous((int)each, MPI_BYTE, &finding);
    weft_next.Type_commit(&finding);
    weft_next.Gatherv(own->list, n, finding, list, counts, at, finding, 0, check.channel);
    weft_next.Type_free(&finding);
    if (rank == 0) {
        all = join(list, all);
        print_all(list, all, ranks);
        print_left_out(left_out);
        write_file(list, all);
    }
    weft_next.Bcast(&all, 1, MPI_INT, 0, check.channel);
    for (int i = 0; i < own->n; i++)
        own->list[i].printed = true;
    free(list);
    free(counts);
    return all;
}
