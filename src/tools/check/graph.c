// SPDX-License-Identifier: BSD-3-Clause
/*
 * The picture of a deadlock: see graph.h.
 */
#include "tools/check/graph.h"
#include "core/base/assert.h"
#include "tools/interpose/xml.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RANKS_MAX = 32, ARROWS_MAX = 512, BOX = 200, LINE = 17, HEIGHT = 3 * LINE + 8, GAP = 24 };

static const char *const colours[] = {"#777777", "#c02020"};

struct point {
    double x, y;
};

static struct {
    int n, n_arrows, left_out;
    struct {
        int rank;
        bool cycle;
        char call[64], where[96];
        struct point at; /* the middle of its box */
    } ranks[RANKS_MAX];
    struct {
        int from, to; /* numbers in the list of ranks */
        bool cycle;
    } arrows[ARROWS_MAX];
} graph;

static int find(int rank)
{
    for (int i = 0; i < graph.n; i++)
        if (graph.ranks[i].rank == rank)
            return i;
    return -1;
}

void check_graph_add_rank(int rank, const char *call, const char *where, bool cycle)
{
    if (find(rank) >= 0)
        return;
    if (graph.n == RANKS_MAX) {
        graph.left_out++;
        return;
    }
    graph.ranks[graph.n].rank = rank;
    graph.ranks[graph.n].cycle = cycle;
    snprintf(graph.ranks[graph.n].call, sizeof graph.ranks->call, "%s", call);
    snprintf(graph.ranks[graph.n].where, sizeof graph.ranks->where, "%s", where);
    graph.n++;
}

void check_graph_add_arrow(int from, int to, bool cycle)
{
    int i = find(from), k = find(to);
    int at = 0;
    while (at < graph.n_arrows && (graph.arrows[at].from != i || graph.arrows[at].to != k))
        at++;
    if (i < 0 || k < 0 || i == k || at == ARROWS_MAX)
        return;
    graph.arrows[at].from = i;
    graph.arrows[at].to = k;
    graph.arrows[at].cycle |= cycle;
    graph.n_arrows = at == graph.n_arrows ? at + 1 : graph.n_arrows;
}

/* Boxes on an ellipse, far enough from each other; two are beside each other. Returns the size of
 * the picture. */
static struct point arrange(void)
{
    double step = 2 * acos(-1) / (graph.n > 2 ? graph.n : 2);
    double y = graph.n > 2 ? fmax(1.3 * HEIGHT, (HEIGHT + GAP) * graph.n / 3.5) : 0;
    double x = fmax(BOX * 0.9, BOX * graph.n / 4.4);
    struct point size = {2 * x + BOX + 2 * GAP, 2 * y + HEIGHT + 2 * GAP};
    for (int i = 0; i < graph.n; i++) {
        double angle = i * step - (graph.n > 2 ? acos(0) : acos(-1));
        graph.ranks[i].at =
            (struct point){size.x / 2 + x * cos(angle), size.y / 2 + y * sin(angle)};
    }
    return size;
}

/* The length of a line in one coordinate until it leaves a box, in units of its direction. */
static double until(double half, double offset, double direction)
{
    return direction > 0   ? (half - offset) / direction
           : direction < 0 ? (-half - offset) / direction
                           : HUGE_VAL;
}

/* The point at which a line leaves a box: it begins at an offset from the middle. */
static struct point edge_of(struct point middle, double x, double y, double dx, double dy)
{
    double scale = fmin(until(BOX / 2.0 + 3, x, dx), until(HEIGHT / 2.0 + 3, y, dy));
    return (struct point){middle.x + x + dx * scale, middle.y + y + dy * scale};
}

static void put_arrow(FILE *file, int i)
{
    struct point a = graph.ranks[graph.arrows[i].from].at, b = graph.ranks[graph.arrows[i].to].at;
    double dx = b.x - a.x, dy = b.y - a.y, length = hypot(dx, dy);
    weft_assert(length > 0);
    /* To the left of its direction, so that an arrow and the opposite one are seen. */
    double x = dy / length * 7, y = -dx / length * 7;
    struct point from = edge_of(a, x, y, dx, dy), to = edge_of(b, x, y, -dx, -dy);
    fprintf(file,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"%s\" marker-end=\"url(#%s)\"/>\n",
            from.x, from.y, to.x, to.y, colours[graph.arrows[i].cycle],
            graph.arrows[i].cycle ? "2" : "1", graph.arrows[i].cycle ? "cycle" : "other");
}

static void put_text(FILE *file, struct point at, int line, const char *weight, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-weight=\"%s\">", at.x,
            at.y - HEIGHT / 2.0 + (line + 1) * LINE, weight);
    weft_xml_put_text(file, text);
    fputs("</text>\n", file);
}

static void put_rank(FILE *file, int i)
{
    char name[32];
    struct point at = graph.ranks[i].at;
    snprintf(name, sizeof name, "rank %d", graph.ranks[i].rank);
    fprintf(file,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#fff\" "
            "stroke=\"%s\" stroke-width=\"%s\"/>\n",
            at.x - BOX / 2.0, at.y - HEIGHT / 2.0, BOX, HEIGHT, colours[graph.ranks[i].cycle],
            graph.ranks[i].cycle ? "2" : "1");
    put_text(file, at, 0, "bold", name);
    put_text(file, at, 1, "normal", graph.ranks[i].call);
    put_text(file, at, 2, "normal", graph.ranks[i].where);
}

static void put_marker(FILE *file, const char *name, const char *colour)
{
    fprintf(file,
            "<marker id=\"%s\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"9\" "
            "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L10 "
            "5L0 10z\" fill=\"%s\"/></marker>\n",
            name, colour);
}

void check_graph_write(const char *path)
{
    FILE *file = fopen(path, "w");
    struct point size = arrange();
    if (file) {
        fprintf(file,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
                "width=\"%.0f\" height=\"%.0f\" font-family=\"system-ui, sans-serif\" "
                "font-size=\"13\">\n<title>Who waits for whom</title>\n<rect width=\"100%%\" "
                "height=\"100%%\" fill=\"#fff\"/>\n<defs>\n",
                size.x, size.y, size.x, size.y);
        put_marker(file, "cycle", colours[1]);
        put_marker(file, "other", colours[0]);
        fputs("</defs>\n", file);
        for (int i = 0; i < graph.n_arrows; i++)
            put_arrow(file, i);
        for (int i = 0; i < graph.n; i++)
            put_rank(file, i);
        if (graph.left_out)
            fprintf(file, "<text x=\"8\" y=\"%.0f\">%d more ranks</text>\n", size.y - 8,
                    graph.left_out);
        fputs("</svg>\n", file);
    }
    if (!file || fclose(file))
        fprintf(stderr, "weft check: %s of WEFT_CHECK_SVG cannot be written: %s\n", path,
                strerror(errno));
    else
        fprintf(stderr, "weft check: the picture of the deadlock is %s\n", path);
}
