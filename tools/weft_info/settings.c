// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of settings, for people and for docs/GUIDE.md. The invariant is in views.h.
 */
#include "views.h"

#include "core/base/settings.h"

#include <stdio.h>
#include <string.h>

enum { INDENT = 6, COLUMNS = 96, BOUNDS = 64 };

/* Prints text in lines of at most COLUMNS, each begun by INDENT spaces. */
static void print_wrapped(const char *text)
{
    int column = 0;

    while (*text != '\0') {
        int word = (int)strcspn(text, " ");

        if (column > 0 && column + 1 + word > COLUMNS) {
            printf("\n");
            column = 0;
        }
        column += printf("%*s%.*s", column == 0 ? INDENT : 1, "", word, text);
        text += word;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void print_text(void)
{
    printf("\nSettings, all environment variables:\n");
    printf("    %-22s  %-14s  %-9s  allowed\n", "name", "value", "default");
    for (size_t i = 0; i < weft_settings_count; i++) {
        const struct weft_setting *row = &weft_settings_table[i];
        char value[300], bounds[BOUNDS];

        weft_settings_format(row, value, sizeof value);
        printf("    %-22s  %-14s  %-9s  %s\n", row->name, value[0] != '\0' ? value : "-",
               row->initial[0] != '\0' ? row->initial : "-",
               weft_settings_bounds(row, bounds, sizeof bounds));
        print_wrapped(row->help);
    }
}

/* Prints a cell of a Markdown table, where '|' would end it. */
static void print_column(const char *text)
{
    printf(" ");
    for (; *text != '\0'; text++)
        printf(*text == '|' || *text == '*' || *text == '_' ? "\\%c" : "%c", *text);
    printf(" |");
}

static void print_markdown(void)
{
    printf("| Variable | Default | Allowed | Meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < weft_settings_count; i++) {
        const struct weft_setting *row = &weft_settings_table[i];
        char bounds[BOUNDS];

        printf("| `%s` |", row->name);
        print_column(row->initial[0] != '\0' ? row->initial : "empty");
        print_column(weft_settings_bounds(row, bounds, sizeof bounds));
        print_column(row->help);
        printf("\n");
    }
}

int weft_view_settings(bool markdown)
{
    if (markdown)
        print_markdown();
    else
        print_text();
    return 0;
}
