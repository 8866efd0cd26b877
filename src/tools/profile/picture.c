// SPDX-License-Identifier: BSD-3-Clause
/*
 * Pictures: see picture.h.
 */
#include "tools/profile/picture.h"
#include "tools/interpose/xml.h"
#include "tools/profile/job.h"

#include <math.h>
#include <string.h>

enum { RIGHT = 96, GAP = 5, LEGEND_LINE = 20 };

static void begin(FILE *file, int height)
{
    fprintf(file,
            "<div class=\"wide\"><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "role=\"img\" "
            "font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"currentColor\">",
            PICTURE_WIDTH, height);
}

static void put_label(FILE *file, double x, double y, const char *anchor, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    weft_xml_put_text(file, text);
    fputs("</text>", file);
}

enum { FAINT = 15, STRONG = 80 };

static void put_line(FILE *file, double x1, double y1, double x2, double y2, int per_cent)
{
    fprintf(file,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"currentColor\" "
            "stroke-opacity=\".%d\"/>",
            x1, y1, x2, y2, per_cent);
}

static void put_rectangle(FILE *file, double x, double y, double width, double height,
                          const char *colour)
{
    fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"/>", x, y,
            width, height, colour);
}

/* Draws a legend from x on, if there is a file, and returns the height of its lines. */
static int put_legend(FILE *file, int n, const char *const *names, const char *const *colours,
                      double left)
{
    double x = left;
    int y = 4;
    for (int i = 0; i < n; i++) {
        double width = 32 + 6.9 * (double)strlen(names[i]);
        if (x + width > PICTURE_WIDTH && x > left) {
            x = left;
            y += LEGEND_LINE;
        }
        if (file) {
            put_rectangle(file, x, y, 11, 11, colours[i]);
            put_label(file, x + 16, y + 10, "start", names[i]);
        }
        x += width;
    }
    return y + LEGEND_LINE;
}

/* 1, 2 or 5 times a power of ten: at most six steps to the end of the scale. */
static double step_of(double end)
{
    double step = pow(10, floor(log10(end / 6)));
    while (step * 6 < end)
        step *= step * 2 * 6 >= end ? 2 : step * 5 * 6 >= end ? 5 : 10;
    return step;
}

static double end_of(const struct picture_bars *picture, const struct picture_bar *bars)
{
    double end = 0;
    for (int i = 0; i < picture->n; i++) {
        double sum = 0;
        for (int j = 0; j < picture->segments; j++)
            sum += bars[i].segments[j];
        end = fmax(end, fmax(sum, bars[i].to));
    }
    return end > 0 ? end : 1;
}

/* The segments that are drawn in any bar, for a legend. Returns how many. */
static int used_of(const struct picture_bars *picture, const struct picture_bar *bars,
                   const char *names[PICTURE_SEGMENTS], const char *colours[PICTURE_SEGMENTS])
{
    int used = 0;
    double end = end_of(picture, bars);
    for (int j = 0; j < picture->segments; j++) {
        bool any = false;
        for (int i = 0; i < picture->n; i++)
            any |= bars[i].segments[j] > end / PICTURE_WIDTH / 4;
        names[used] = picture->names[j];
        colours[used] = picture->colours[j];
        used += any;
    }
    return used;
}

static void put_range(FILE *file, double from, double to, double y, double height)
{
    double middle = y + height / 2;
    put_line(file, from, middle, to, middle, STRONG);
    put_line(file, from, y + height * 0.2, from, y + height * 0.8, STRONG);
    put_line(file, to, y + height * 0.2, to, y + height * 0.8, STRONG);
}

void picture_put_bars(FILE *file, const struct picture_bars *picture,
                      const struct picture_bar *bars)
{
    char text[PROFILE_TEXT];
    double end = end_of(picture, bars), step = step_of(end);
    double scale = (PICTURE_WIDTH - picture->left - RIGHT) / end;
    const char *names[PICTURE_SEGMENTS], *colours[PICTURE_SEGMENTS];
    int used = picture->segments > 1 ? used_of(picture, bars, names, colours) : 0;
    int top = used ? put_legend(NULL, used, names, colours, 0) : 4;
    int pitch = picture->height + GAP;
    int bottom = top + picture->n * pitch;
    begin(file, bottom + 24);
    if (used)
        put_legend(file, used, names, colours, 0);
    for (int i = 0; i * step <= end * 1.001; i++) {
        double x = picture->left + i * step * scale;
        put_line(file, x, top, x, bottom, FAINT);
        put_label(file, x, bottom + 16, "middle", i ? profile_text_seconds(i * step, text) : "0");
    }
    for (int i = 0; i < picture->n; i++) {
        double x = picture->left, y = top + i * pitch;
        for (int j = 0; j < picture->segments; j++) {
            double width = bars[i].segments[j] * scale;
            if (width > 0)
                put_rectangle(file, x, y, width, picture->height, picture->colours[j]);
            x += width > 0 ? width : 0;
        }
        if (bars[i].to > 0)
            put_range(file, picture->left + bars[i].from * scale,
                      picture->left + bars[i].to * scale, y, picture->height);
        put_label(file, picture->left - 8, y + picture->height / 2.0 + 4, "end", bars[i].label);
        x = fmax(x, picture->left + bars[i].to * scale);
        put_label(file, x + 6, y + picture->height / 2.0 + 4, "start", bars[i].note);
    }
    fputs("</svg></div>\n", file);
}

static void text_of_size(int i, char *text)
{
    if (i == 0)
        snprintf(text, PROFILE_TEXT, "0");
    else
        profile_text_bytes(ldexp(1, i - 1), text);
}

void picture_put_sizes(FILE *file, const struct picture_sizes *picture)
{
    enum { HEIGHT = 230, TOP = 24, BOTTOM = 40, LEFT = 56 };
    int first = picture->sizes, last = 0, used = 0;
    const char *names[PICTURE_SETS], *colours[PICTURE_SETS];
    uint64_t most = 1;
    char text[PROFILE_TEXT];
    for (int set = 0; set < picture->sets; set++) {
        bool any = false;
        for (int i = 0; i < picture->sizes; i++) {
            uint64_t value = picture->value(picture->of, set, i);
            first = value && i < first ? i : first;
            last = value && i > last ? i : last;
            most = value > most ? value : most;
            any |= value > 0;
        }
        names[used] = picture->names[set];
        colours[used] = picture->colours[set];
        used += any;
    }
    if (first > last)
        return;
    double top = log10((double)most) + 0.3, scale = (HEIGHT - TOP - BOTTOM) / top;
    double each = (double)(PICTURE_WIDTH - LEFT - 20) / (last - first + 1);
    each = each > 70 ? 70 : each;
    begin(file, HEIGHT);
    put_legend(file, used, names, colours, LEFT);
    for (int power = 0; power <= top; power++) {
        double y = HEIGHT - BOTTOM - power * scale * 0.9 - 6;
        snprintf(text, sizeof text, "%.0f", pow(10, power));
        put_line(file, LEFT, y, LEFT + each * (last - first + 1), y, FAINT);
        put_label(file, LEFT - 6, y + 4, "end", text);
    }
    for (int i = first; i <= last; i++) {
        double x = LEFT + (i - first) * each;
        for (int set = 0; set < picture->sets; set++) {
            uint64_t value = picture->value(picture->of, set, i);
            double height = value ? log10((double)value) * scale * 0.9 + 6 : 0;
            if (value)
                put_rectangle(file, x + each * (0.1 + 0.8 / picture->sets * set),
                              HEIGHT - BOTTOM - height, each * 0.76 / picture->sets, height,
                              picture->colours[set]);
        }
        text_of_size(i, text);
        if (each > 52 || (i - first) % 2 == 0)
            put_label(file, x + each * 0.5, HEIGHT - BOTTOM + 16, "middle", text);
    }
    put_label(file, PICTURE_WIDTH / 2.0, HEIGHT - 4, "middle", "size of a message: at least");
    fputs("</svg></div>\n", file);
}

static void put_axis(FILE *file, const struct picture_matrix *picture, double left, double top,
                     double square)
{
    char text[PROFILE_TEXT];
    int every = picture->bins > 32 ? 8 : picture->bins > 16 ? 4 : picture->bins > 8 ? 2 : 1;
    for (int i = 0; i < picture->bins; i += every) {
        snprintf(text, sizeof text, "%d", i * picture->fold);
        put_label(file, left - 6, top + (i + 0.5) * square + 4, "end", text);
        put_label(file, left + (i + 0.5) * square, top - 6, "middle", text);
    }
    put_label(file, left, top - 24, "start", picture->column);
    put_label(file, left - 52, top + 12, "start", picture->row);
}

void picture_put_matrix(FILE *file, const struct picture_matrix *picture)
{
    enum { SIDE = 460, LARGEST = 44, LEFT = 90, TOP = 44 };
    double square = fmin(LARGEST, (double)SIDE / picture->bins), most = 0;
    double side = square * picture->bins;
    char text[PICTURE_NOTE];
    for (int i = 0; i < picture->bins; i++)
        for (int j = 0; j < picture->bins; j++)
            most = fmax(most, picture->value(picture->of, i, j));
    begin(file, TOP + (int)side + 8);
    put_axis(file, picture, LEFT, TOP, square);
    fprintf(file,
            "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\" fill=\"currentColor\" "
            "fill-opacity=\".05\"/>",
            LEFT, TOP, side, side);
    for (int i = 0; i < picture->bins; i++)
        for (int j = 0; j < picture->bins; j++) {
            double value = picture->value(picture->of, i, j);
            if (value <= 0)
                continue;
            /* Six decades from faint to strong */
            double shade = 1 + log10(value / most) / 6;
            shade = shade < 0.08 ? 0.08 : shade;
            fprintf(file,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
                    "fill-opacity=\"%.2f\"><title>",
                    LEFT + j * square + 0.5, TOP + i * square + 0.5, square - 1, square - 1,
                    picture->colour, shade);
            weft_xml_put_text(file, picture->note(picture->of, i, j, text));
            fputs("</title></rect>", file);
        }
    fputs("</svg></div>\n", file);
}
