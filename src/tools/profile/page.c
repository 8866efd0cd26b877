// SPDX-License-Identifier: BSD-3-Clause
/*
 * The page: one file without script, font or address of another. Each picture has a sentence above
 * it that states what it shows, with its figures.
 */
#include "tools/profile/sections.h"
#include "tools/interpose/xml.h"
#include "tools/profile/profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unconfigured"
#endif

static const char style[] =
    ":root{color-scheme:light dark;--ink:#222;--quiet:#5f6368;--ground:#fff;--tile:#f4f6f8;"
    "--line:#e0e3e6;--mark:#0072b2;--shade:#0003}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e6e8;--quiet:#a3a8ad;--ground:#16191c;"
    "--tile:#20252a;--line:#363c42;--mark:#56b4e9;--shade:#fff5}}"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);"
    "max-width:60rem;margin:2rem auto;padding:0 1rem}h1{font-size:1.8rem;margin-bottom:.2rem;"
    "line-height:1.25;overflow-wrap:anywhere}h2{font-size:1.25rem;margin:0 0 .3rem;"
    "padding-top:1.2rem;border-top:1px solid var(--line)}section{margin-top:2rem}"
    "svg{display:block;width:100%;min-width:44rem;height:auto}.job{color:var(--quiet)}"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.6rem;"
    "margin:1rem 0}.tiles div{background:var(--tile);border-radius:6px;padding:.5rem .8rem;"
    "font-size:.85rem;color:var(--quiet)}.tiles b{display:block;font-size:1.4rem;"
    "color:var(--ink)}"
    ".try{border-left:4px solid var(--mark);background:var(--tile);padding:.5rem 1rem;"
    "border-radius:0 6px 6px 0}.try p,.try ul{margin:.2rem 0}.try ul{padding-left:1.2rem}"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums;"
    "margin:.7rem 0}th,td{text-align:right;white-space:nowrap;padding:.15rem .5rem;"
    "border-bottom:1px solid var(--line)}td:first-child,th:first-child{text-align:left}"
    ".sites th{white-space:normal;vertical-align:bottom}.sites td,.sites th{padding:.15rem .4rem}"
    ".sites td:first-child{white-space:normal;overflow-wrap:anywhere;min-width:16rem}"
    /* Wide pictures and tables scroll; the shades at their ends show that there is more. */
    ".wide{overflow-x:auto;background:"
    "linear-gradient(to right,var(--ground) 40%,transparent) left/3rem 100% no-repeat local,"
    "linear-gradient(to left,var(--ground) 40%,transparent) right/3rem 100% no-repeat local,"
    "linear-gradient(to right,var(--shade),transparent) left/1rem 100% no-repeat,"
    "linear-gradient(to left,var(--shade),transparent) right/1rem 100% no-repeat}"
    "details{font-size:.95rem;margin-top:2rem}"
    "summary{cursor:pointer;color:var(--quiet)}";

/* ---- Beginning and end */

/* The figures that a reader looks for first. */
static void put_tiles(FILE *file, const struct profile_sums *sums)
{
    char a[PROFILE_TEXT];
    double waiting = sums->wait, moved = (double)sums->reads.bytes + (double)sums->writes.bytes;
    for (int i = 0; i < PROFILE_LATES; i++)
        waiting += sums->late[i];
    fprintf(file,
            "<div class=\"tiles\"><div><b>%s</b>from MPI_Init to MPI_Finalize</div>"
            "<div><b>%.0f %%</b>of the time in MPI</div>"
            "<div><b>%.0f %%</b>of the time waiting for other ranks</div>"
            "<div><b>%s</b>in %llu message%s</div>",
            profile_text_seconds(sums->wall, a), share(sums->mpi, sums->all_wall),
            share(waiting, sums->all_wall),
            profile_text_bytes((double)sums->messages.bytes, (char[PROFILE_TEXT]){0}),
            (unsigned long long)sums->messages.n, sums->messages.n == 1 ? "" : "s");
    if (sums->collectives.n)
        fprintf(file, "<div><b>%s</b>given to collectives</div>",
                profile_text_bytes((double)sums->collectives.bytes, a));
    if (moved > 0)
        fprintf(file, "<div><b>%s</b>read and written</div>", profile_text_bytes(moved, a));
    fprintf(file, "</div>\n");
}

/* The clause before a colon states what to do. */
static void put_advice(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    char advice[PROFILE_ADVICE][PROFILE_SENTENCE];
    int n = profile_advice(job, sums, advice);
    fprintf(file, "<div class=\"try\"><p>What to try:</p><ul>\n");
    for (int i = 0; i < n; i++) {
        char *colon = strchr(advice[i], ':');
        fprintf(file, "<li>");
        if (colon) {
            *colon = '\0';
            fprintf(file, "<b>");
            weft_xml_put_text(file, advice[i]);
            fprintf(file, "</b>:");
        }
        weft_xml_put_text(file, colon ? colon + 1 : advice[i]);
        fprintf(file, "</li>\n");
    }
    fprintf(file, "</ul></div>\n");
}

static void put_head(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    char date[64], a[PROFILE_TEXT];
    time_t now = time(NULL);
    struct tm local;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M", localtime_r(&now, &local));
    fprintf(file, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>Profile of ");
    weft_xml_put_text(file, program_invocation_short_name);
    fprintf(file, "</title><style>%s</style></head><body>\n<h1>", style);
    weft_xml_put_text(file, program_invocation_short_name);
    fprintf(
        file,
        ": %.1f %% of the time in MPI</h1>\n<p class=\"job\">%d rank%s on %d node%s, %s between "
        "MPI_Init and MPI_Finalize, %s, Weft " PACKAGE_VERSION "</p>\n",
        share(sums->mpi, sums->all_wall), job->size, job->size == 1 ? "" : "s", job->nodes,
        job->nodes == 1 ? "" : "s", profile_text_seconds(sums->wall, a), date);
    if (job->reported < job->size)
        fprintf(file, "<p>%d of the ranks did not report.</p>\n", job->size - job->reported);
    put_tiles(file, sums);
    put_advice(file, job, sums);
    fprintf(file, "<section>\n");
}

static void put_foot(FILE *file)
{
    fprintf(file,
            "</section><details><summary>What the figures are</summary><p>Time is measured around "
            "each call "
            "that the program makes between MPI_Init and MPI_Finalize; with threads it is the sum "
            "of those that call MPI, and so is the time that the shares refer to. Bytes are those "
            "that a rank passes to MPI: of a collective those of its send buffer. Persistent and "
            "partitioned sends count when they are started; persistent "
            "collectives have time and no bytes.</p>"
            "</details>\n</body></html>\n");
}

static void put_page(FILE *file, const struct profile_job *job)
{
    struct profile_sums sums;
    profile_sums_make(job, &sums);
    put_head(file, job, &sums);
    page_put_ranks(file, job, &sums);
    page_put_calls(file, job, &sums);
    page_put_sites(file, job, &sums);
    page_put_waits(file, job, &sums);
    page_put_algorithms(file, job);
    page_put_late(file, job, &sums);
    page_put_open(file, &sums);
    page_put_matrices(file, job);
    page_put_lanes(file, &sums);
    page_put_sizes(file, job, &sums);
    page_put_files(file, job, &sums);
    page_put_bindings(file, job);
    page_put_memory(file, job, &sums);
    put_foot(file);
}

void profile_page_write(const struct profile_job *job)
{
    FILE *file = fopen(profile_page, "w");
    if (file)
        put_page(file, job);
    if (!file || fclose(file))
        fprintf(stderr, "weft profile: %s cannot be written: %s\n", profile_page, strerror(errno));
}
