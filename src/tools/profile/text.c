// SPDX-License-Identifier: BSD-3-Clause
/*
 * Numbers and call sites as texts.
 */
#include "tools/profile/job.h"

#include <math.h>
#include <string.h>

struct unit {
    double of;
    const char *name;
};

static const char *with_unit(double value, const struct unit *unit, char *text)
{
    while (unit->of > 0 && value < unit->of)
        unit++;
    double shown = unit->of > 0 ? value / unit->of : value;
    snprintf(text, PROFILE_TEXT, "%.*f %s",
             shown == (int)shown || shown >= 100 ? 0
             : shown < 10                        ? 2
                                                 : 1,
             shown, unit->name);
    return text;
}

const char *profile_text_bytes(double bytes, char *text)
{
    static const struct unit units[] = {
        {0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {0, "B"}};
    return with_unit(bytes, units, text);
}

const char *profile_text_seconds(double seconds, char *text)
{
    static const struct unit units[] = {
        {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {0, "s"}};
    return with_unit(seconds, units, text);
}

const char *const profile_text_late[PROFILE_LATES] = {"a late sender", "a late receiver",
                                                      "late progress"};
const char *const profile_text_lates[PROFILE_LATES] = {"late senders", "late receivers",
                                                       "late progress"};

double profile_variation(const struct profile_site *site)
{
    double mean = site->sum / site->ranks, variance = site->squares / site->ranks - mean * mean;
    return mean > 0 && variance > 0 ? sqrt(variance) / mean : 0;
}

void profile_text_site(const struct profile_site *site, char *text, size_t size)
{
    const char *slash = strrchr(site->text.file, '/');
    const char *file = slash ? slash + 1 : site->text.file;
    char line[16] = "";
    if (site->text.line)
        snprintf(line, sizeof line, ":%d", site->text.line);
    snprintf(text, size, "%s%s%s%s%s%s%s", weft_functions[site->function].name,
             !site->where.offset ? " at other lines"
             : *file             ? " at "
                                 : "",
             file, line, site->text.function[0] ? " (" : "", site->text.function,
             site->text.function[0] ? ")" : "");
}

void profile_text_label(const struct profile_site *site, char text[PROFILE_LABEL])
{
    char all[512];
    profile_text_site(site, all, sizeof all);
    size_t cut = PROFILE_LABEL - 4; /* not inside a letter of UTF-8 */
    while (cut > 0 && ((unsigned char)all[cut] & 0xc0) == 0x80)
        cut--;
    if (strlen(all) >= PROFILE_LABEL)
        memcpy(all + cut, "...", sizeof "...");
    snprintf(text, PROFILE_LABEL, "%.*s", PROFILE_LABEL - 1, all);
}
