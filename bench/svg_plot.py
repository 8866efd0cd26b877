# SPDX-License-Identifier: BSD-3-Clause
"""Plots as SVG, for bench/report: curves over message sizes on two logarithmic axes, and bars.

Invariant: the text returned is one <svg> element that needs no style sheet, no script and no font
of its own. A size of 0 has a place left of the smallest other, where the axis says so.
"""
import html
import math
from dataclasses import dataclass

WIDTH, HEIGHT = 880, 470
LEFT, RIGHT, TOP, BOTTOM = 66, 150, 44, 52
GRID, MINOR, TEXT = "#dddddd", "#f1f1f1", "#444444"


@dataclass
class Curve:
    """Points (size in bytes, value) with a name. strong: the one the plot is about. dashed: no
    MPI. limit: what the machine can do; it is named beside its end instead of in the legend."""
    name: str
    colour: str
    points: list
    strong: bool = False
    dashed: bool = False
    limit: bool = False


@dataclass
class Level:
    """A limit that does not depend on the size."""
    name: str
    value: float


def size_label(size):
    for unit, letter in ((1 << 20, "M"), (1 << 10, "K")):
        if size >= unit:
            return f"{size // unit}{letter}"
    return str(size)


def number_label(value):
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= max(unit, 1e4):
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def text(x, y, words, anchor="middle", colour=TEXT, size=12, extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" '
            f'font-size="{size}" {extra}>{html.escape(words)}</text>')


def line(x1, y1, x2, y2, colour, extra=""):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'{extra}/>')


def wrap(parts, height=HEIGHT, width=WIDTH, kind="curves"):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" class="{kind}" role="img" '
            f'font-family="system-ui, sans-serif">' + "".join(parts) + "</svg>")


class Axes:
    """Where a size and a value are on the picture. Limits make room for themselves only if asked
    to: most of them are far from everything else."""

    def __init__(self, curves, levels, fit_limits, size):
        self.width, self.height, self.right_margin = size
        sizes = [size for c in curves if not c.limit for size, _ in c.points]
        self.zero = 0 in sizes
        self.first, self.last = min(size for size in sizes if size > 0), max(sizes)
        values = [v for c in curves if fit_limits or not c.limit for size, v in c.points
                  if size <= self.last] + [level.value for level in levels]
        self.left = math.log2(self.first) - (1.5 if self.zero else 0.3)
        self.right = math.log2(self.last) + 0.3
        self.low, self.high = math.log10(min(values)) - 0.12, math.log10(max(values)) + 0.12

    def x(self, size):
        place = math.log2(size) if size > 0 else math.log2(self.first) - 1.2
        return LEFT + (place - self.left) / (self.right - self.left) * (self.width - LEFT - self.right_margin)

    def y(self, value):
        place = (math.log10(value) - self.low) / (self.high - self.low)
        return self.height - BOTTOM - place * (self.height - TOP - BOTTOM)

    def shows(self, size, value):
        return (self.first <= size <= self.last or size == 0) and \
            self.low <= math.log10(value) <= self.high


def grid(axes, x_title, y_title):
    out, decades = [], axes.high - axes.low
    end, bottom = axes.width - axes.right_margin, axes.height - BOTTOM
    labelled = (1, 2, 5) if decades < 3.2 else (1,)
    for exponent in range(math.floor(axes.low), math.ceil(axes.high) + 1):
        for digit in range(1, 10):
            value = digit * 10.0 ** exponent
            if not axes.low <= math.log10(value) <= axes.high:
                continue
            y = axes.y(value)
            out.append(line(LEFT, y, end, y, GRID if digit in labelled else MINOR))
            if digit in labelled:
                out.append(text(LEFT - 8, y + 4, number_label(value), "end"))
    power = math.ceil(math.log2(axes.first))
    while power <= math.log2(axes.last):
        x = axes.x(2 ** power)
        major = power in (0, 3, 6, 10, 13, 16, 20, 22)
        out.append(line(x, TOP, x, bottom, GRID if major else MINOR))
        if major:
            out.append(text(x, bottom + 18, size_label(2 ** power)))
        power += 1
    if axes.zero:
        x = axes.x(0)
        out.append(line(x, TOP, x, bottom, GRID))
        out.append(text(x, bottom + 18, "0"))
    out.append(text((LEFT + end) / 2, axes.height - 10, x_title, size=13))
    middle = (TOP + bottom) / 2
    out.append(text(16, middle, y_title, size=13, extra=f'transform="rotate(-90 16 {middle:.0f})"'))
    return out


def draw_limit(axes, curve):
    """A thin grey curve with its name at the right end."""
    points = [(axes.x(s), axes.y(v)) for s, v in curve.points if axes.shows(s, v)]
    if len(points) < 2:
        return [], None
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    end = points[-1] if points[-1][0] >= axes.x(axes.last) - 1 else None
    return [f'<polyline points="{path}" fill="none" stroke="{curve.colour}" stroke-width="1.3" '
            'stroke-dasharray="1.5 3.5" stroke-linecap="round"/>'], end and end[1]


def draw_curve(axes, curve):
    points = [(axes.x(s), axes.y(v), s, v) for s, v in curve.points if axes.shows(s, v)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in points)
    dash = ' stroke-dasharray="6 4"' if curve.dashed else ""
    width = 2.8 if curve.strong else 1.7
    out = [f'<polyline points="{path}" fill="none" stroke="{curve.colour}" stroke-width="{width}" '
           f'stroke-linejoin="round"{dash}/>']
    for x, y, size, value in points:
        radius = 4 if curve.strong else 2.6
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{curve.colour}" '
                   f'stroke="#fff" stroke-width="1"><title>{html.escape(curve.name)}, '
                   f'{size_label(size)}: {value:.4g}</title></circle>')
    return out


def end_labels(labels, x):
    """Names beside the right ends of curves, moved apart where they would overlap."""
    out, step = [], 15
    labels = sorted(labels)
    places = [y for y, _, _, _ in labels]
    for _ in range(50):
        for i in range(1, len(places)):
            gap = places[i] - places[i - 1]
            if gap < step:
                places[i - 1] -= (step - gap) / 2
                places[i] += (step - gap) / 2
    for place, (y, name, colour, weight) in zip(places, labels):
        out.append(line(x + 1, y, x + 10, place, colour, 'stroke-width="1"'))
        out.append(text(x + 13, place + 4, name, "start", colour, 12, f'font-weight="{weight}"'))
    return out


def legend(curves, end):
    """The names above the plot: the one line that there is room for, or two."""
    out, x, y = [], LEFT, 20
    widths = [58 + 6.6 * len(curve.name) for curve in curves]
    if LEFT + sum(widths) - 26 > end:
        y = 10
    for curve in sorted(curves, key=lambda c: not c.strong):
        width = 58 + 6.6 * len(curve.name)
        if x + width - 26 > end:
            x, y = LEFT, y + 19
        dash = ' stroke-dasharray="6 4"' if curve.dashed else ""
        out.append(f'<line x1="{x}" y1="{y}" x2="{x + 26}" y2="{y}" stroke="{curve.colour}" '
                   f'stroke-width="{2.8 if curve.strong else 1.7}"{dash}/>')
        out.append(f'<circle cx="{x + 13}" cy="{y}" r="{4 if curve.strong else 2.6}" '
                   f'fill="{curve.colour}" stroke="#fff"/>')
        weight = "600" if curve.strong else "400"
        out.append(text(x + 32, y + 4, curve.name, "start", size=13, extra=f'font-weight="{weight}"'))
        x += width
    return out


def plot_parts(curves, x_title, y_title, levels=(), fit_limits=False, size=(WIDTH, HEIGHT, RIGHT)):
    """The elements of a plot of that width, height and right margin."""
    axes = Axes(curves, list(levels), fit_limits, size)
    out, labels = grid(axes, x_title, y_title), []
    end = axes.width - axes.right_margin
    for level in levels:
        y = axes.y(level.value)
        out.append(line(LEFT, y, end, y, "#aaaaaa",
                        'stroke-width="1.3" stroke-dasharray="1.5 3.5" stroke-linecap="round"'))
        out.append(text(end - 6, y - 5, level.name, "end", "#888888"))
    for curve in (c for c in curves if c.limit):
        drawn, last = draw_limit(axes, curve)
        out += drawn
        if last is not None:
            labels.append((last, curve.name, "#888888", "400"))
    real = [c for c in curves if not c.limit]
    for curve in sorted(real, key=lambda c: c.strong):
        out += draw_curve(axes, curve)
    return out + end_labels(labels, end) + legend(real, axes.width)


def plot(curves, x_title, y_title, levels=(), fit_limits=False):
    """Curves over sizes. The strong one is drawn last."""
    return wrap(plot_parts(curves, x_title, y_title, levels, fit_limits))


def beside(panels, foot):
    """Plots side by side, as a file of its own with a white ground: (title, curves, x title, y title) of
    each, and a line below all."""
    width, height, head = WIDTH // len(panels), 290, 24
    out = [f'<rect width="{WIDTH}" height="{height + head + 24}" fill="#ffffff"/>']
    for i, (title, curves, x_title, y_title) in enumerate(panels):
        parts = plot_parts(curves, x_title, y_title, size=(width, height, 16))
        out.append(text(i * width + LEFT, 18, title, "start", "#222222", 15, 'font-weight="600"'))
        out.append(f'<g transform="translate({i * width} {head})">' + "".join(parts) + "</g>")
    out.append(text(LEFT, height + head + 14, foot, "start", "#666666", 12))
    return wrap(out, height + head + 24)


def bars(groups, title, digits=1):
    """Horizontal bars: groups of (title, [(name, colour, value)]). The picture can be read on a narrow
    page too: titles are above their bars."""
    out, y, bar, left, width = [], 16, 20, 150, 600
    greatest = max(value for _, group in groups for _, _, value in group) or 1.0
    scale = (width - left - 60) / greatest
    for group_title, group in groups:
        out.append(text(left, y, group_title, "start", "#222222", 13, 'font-weight="600"'))
        y += 6
        for name, colour, value in group:
            out.append(text(left - 8, y + 14, name, "end"))
            out.append(f'<rect x="{left}" y="{y + 2}" width="{value * scale:.1f}" height="{bar - 4}" '
                       f'fill="{colour}"/>')
            out.append(text(left + value * scale + 6, y + 14, f"{value:.{digits}f}", "start"))
            y += bar
        y += 24
    out.append(text(left, y - 4, title, "start", size=12))
    return wrap(out, y + 6, width, "bars")
