// SPDX-License-Identifier: BSD-3-Clause
/*
 * make_picture: draws the picture that heat2d ships with, an evening with a house, a fire and
 * stars, at any size, as P2 or P5 with 8 or 16 bits. `make_picture 257 193 > evening.pgm` made the
 * one beside this file.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a point lies in a triangle that stands on the line y = base, its peak at (x, top). */
static int tent(double px, double py, double x, double top, double base, double half)
{
    return py >= top && py <= base && fabs(px - x) <= half * (py - top) / (base - top);
}

static int box(double px, double py, double x, double y, double w, double h)
{
    return px >= x && px < x + w && py >= y && py < y + h;
}

/* A star in some cells of a coarse lattice, by a small integer hash. */
static int star(double px, double py)
{
    int i = (int)(px * 24), j = (int)(py * 18);
    unsigned h = ((unsigned)i * 73856093u ^ (unsigned)j * 19349663u) * 2654435761u;
    double x = (i + 0.2 + 0.6 * (h >> 24 & 15) / 15.0) / 24;
    double y = (j + 0.2 + 0.6 * (h >> 28) / 15.0) / 18;
    return (h >> 16 & 7) == 0 && hypot((px - x) * 4 / 3, py - y) < 0.006;
}

static double house(double px, double py, double brightness)
{
    if (box(px, py, 0.57, 0.33, 0.035, 0.14))
        return 0.35; /* the chimney */
    if (tent(px, py, 0.50, 0.32, 0.52, 0.17))
        return 0.30;
    if (!box(px, py, 0.36, 0.52, 0.28, 0.27))
        return brightness;
    if (box(px, py, 0.47, 0.63, 0.06, 0.16))
        return 0.10; /* the door */
    for (int i = 0; i < 2; i++) {
        double x = i ? 0.56 : 0.39;
        if (box(px, py, x, 0.59, 0.055, 0.075))
            return fabs(px - x - 0.0275) < 0.003 || fabs(py - 0.6275) < 0.003 ? 0.2 : 1.0;
    }
    return 0.45;
}

/* The brightness, 0 to 1, at a point of the unit square, y downwards. */
static double scene(double px, double py)
{
    double brightness = 0.05 + 0.10 * py;
    if (star(px, py))
        brightness = 0.9;
    double moon = hypot((px - 0.83) * 4 / 3, py - 0.17);
    if (moon < 0.085 && hypot((px - 0.80) * 4 / 3, py - 0.15) > 0.075)
        brightness = 1.0;
    if (tent(px, py, 0.20, 0.30, 0.80, 0.36) || tent(px, py, 0.88, 0.40, 0.80, 0.32))
        brightness = tent(px, py, 0.20, 0.30, 0.40, 0.06) ? 0.75 : 0.22;
    if (py > 0.79)
        brightness = 0.16 + 0.04 * sin(px * 60) * sin(py * 90);
    brightness = house(px, py, brightness);
    if (tent(px, py, 0.80, 0.66, 0.86, 0.035 + 0.01 * sin(py * 70)))
        brightness = 1.0; /* the fire */
    return brightness;
}

int main(int argc, char **argv)
{
    int text = 0, wide = 0, at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        text |= strcmp(argv[at], "-2") == 0;
        wide |= strcmp(argv[at], "-16") == 0;
    }
    int width = at < argc ? atoi(argv[at]) : 0, height = at + 1 < argc ? atoi(argv[at + 1]) : 0;
    if (width < 1 || height < 1) {
        fprintf(stderr, "usage: make_picture [-2] [-16] WIDTH HEIGHT > PICTURE.pgm\n");
        return 2;
    }
    int max = wide ? 65535 : 255;
    printf("P%d\n# made by make_picture\n%d %d\n%d\n", text ? 2 : 5, width, height, max);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            unsigned value = (unsigned)(scene((x + 0.5) / width, (y + 0.5) / height) * max + 0.5);
            if (text)
                printf("%u%c", value, x % 12 == 11 || x == width - 1 ? '\n' : ' ');
            else if (wide)
                printf("%c%c", (int)(value >> 8), (int)(value & 255));
            else
                putchar((int)value);
        }
    }
    if (fflush(stdout) != 0) {
        perror("make_picture");
        return 1;
    }
    return 0;
}
