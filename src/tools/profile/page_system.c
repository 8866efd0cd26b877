// SPDX-License-Identifier: BSD-3-Clause
/*
 * The page: files, windows, bindings, memory.
 */
#include "tools/profile/sections.h"
#include "tools/interpose/xml.h"

#include <string.h>

/* ---- Files and windows */

static void put_access(FILE *file, const char *name, const struct profile_access *access,
                       double seconds)
{
    char bytes[PROFILE_TEXT], each[PROFILE_TEXT], rate[PROFILE_TEXT];
    if (!access->calls)
        return;
    fprintf(file,
            "<tr><td>%s</td><td>%llu</td><td>%s</td><td>%s</td><td>%.0f %%</td><td>%.0f "
            "%%</td><td>%s/s</td></tr>\n",
            name, (unsigned long long)access->calls,
            profile_text_bytes((double)access->bytes, bytes),
            profile_text_bytes((double)access->bytes / (double)access->calls, each),
            share((double)access->small, (double)access->calls),
            share((double)access->aligned, (double)access->located),
            profile_text_bytes(seconds > 0 ? (double)access->bytes / seconds : 0, rate));
}

void page_put_files(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    char a[PROFILE_TEXT];
    if (sums->reads.calls || sums->writes.calls) {
        fprintf(file,
                "</section><section><h2>Files</h2><p>Files take %.1f %% of the time. The rate is "
                "that of one rank: "
                "bytes over the time in calls that read or write; nonblocking calls count with the "
                "time of their start alone. Aligned are those that begin in the file, and end, at "
                "multiples of 4 KiB, of those whose offset is known.</p>\n<div "
                "class=\"wide\"><table><tr><th></th><th>calls</th><th>bytes</th>"
                "<th>each</th><th>below 64 KiB</th><th>aligned</th><th>rate of a rank</th></tr>\n",
                share(sums->classes[PROFILE_FILE], sums->all_wall));
        put_access(file, "read", &sums->reads, sums->read_seconds);
        put_access(file, "write", &sums->writes, sums->write_seconds);
        fprintf(file, "</table></div>\n");
    }
    if (sums->rma)
        fprintf(file,
                "</section><section><h2>Windows</h2><p>%s by puts, gets and accumulates; calls on "
                "windows take %.1f %% "
                "of the time.</p>\n",
                profile_text_bytes((double)sums->rma, a),
                share(sums->classes[PROFILE_RMA], sums->all_wall));
    (void)job;
}

/* ---- Bindings and memory */

static bool is_same_binding(const struct profile_rank *a, const struct profile_rank *b)
{
    return a->threads && b->threads && a->node == b->node &&
           strcmp(a->binding.cpus, b->binding.cpus) == 0 &&
           strcmp(a->binding.network, b->binding.network) == 0;
}

/* Ranks of one node that may run on as many hardware threads as it has, with others beside them. */
static int unbound(const struct profile_job *job)
{
    int n = 0;
    for (int i = 0; i < job->size; i++)
        n += job->ranks[i].threads && job->ranks[i].binding.n_cpus >= job->ranks[i].cores;
    return n;
}

void page_put_bindings(FILE *file, const struct profile_job *job)
{
    int rows = 0;
    fprintf(file,
            "</section><section><h2>Nodes, bindings, networks</h2><p>%d ranks on %d node%s; %d of "
            "them may run on all "
            "hardware threads of their node (weftrun --bind changes that).</p>\n<div "
            "class=\"wide\"><table><tr><th>ranks</th><th>node</th><th>host</th>"
            "<th>hardware threads</th><th>network</th></tr>\n",
            job->reported, job->nodes, job->nodes == 1 ? "" : "s", unbound(job));
    for (int i = 0, end; i < job->size && rows < ROWS_SHOWN; i = end, rows++) {
        const struct profile_rank *r = &job->ranks[i];
        for (end = i + 1; end < job->size && is_same_binding(r, &job->ranks[end]); end++)
            continue;
        if (!r->threads)
            continue;
        if (end - i > 1)
            fprintf(file, "<tr><td>%d-%d</td>", i, end - 1);
        else
            fprintf(file, "<tr><td>%d</td>", i);
        fprintf(file, "<td>%d</td><td>", r->node);
        weft_xml_put_text(file, r->binding.host);
        fprintf(file, "</td><td>%s of %d</td><td>", r->binding.cpus, r->cores);
        weft_xml_put_text(file, *r->binding.network ? r->binding.network : "none");
        fprintf(file, "</td></tr>\n");
    }
    fprintf(file, "</table></div>\n");
    if (rows == ROWS_SHOWN)
        fprintf(file, "<p>The first %d rows; the file of figures has all ranks.</p>\n", ROWS_SHOWN);
}

void page_put_memory(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    char text[7][PROFILE_TEXT];
    uint64_t resident = 0, library = 0;
    for (int i = 0; i < job->size; i++) {
        const struct profile_rank *r = &job->ranks[i];
        resident = r->binding.resident > resident ? r->binding.resident : resident;
    }
    for (int i = PROFILE_MEMORY_REQUESTS; i < PROFILE_MEMORY_SEGMENT; i++)
        library += sums->most[i];
    fprintf(
        file,
        "</section><section><h2>Memory</h2><p>A process had at most %s. Of that the library has at "
        "most %s for "
        "messages and collectives: %s for requests, %s for unexpected messages, %s shared for "
        "collectives, %s for bounce buffers. The segment for shared memory of a node has %s, of "
        "which pages that no message has used take no memory.</p>\n",
        profile_text_bytes((double)resident, text[0]), profile_text_bytes((double)library, text[1]),
        profile_text_bytes((double)sums->most[PROFILE_MEMORY_REQUESTS], text[2]),
        profile_text_bytes((double)sums->most[PROFILE_MEMORY_UNEXPECTED], text[3]),
        profile_text_bytes((double)sums->most[PROFILE_MEMORY_COLLECTIVES], text[4]),
        profile_text_bytes((double)sums->most[PROFILE_MEMORY_BOUNCE], text[5]),
        profile_text_bytes((double)sums->most[PROFILE_MEMORY_SEGMENT], text[6]));
}
