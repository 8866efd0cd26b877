// SPDX-License-Identifier: BSD-3-Clause
/*
 * Events of a time line: see timeline_file.h.
 *
 * Invariant: an event that is returned has a rank below RANKS_MOST, a thread below THREADS_MOST and
 * finite times, whatever is in the file.
 */
#include "timeline_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 1024 };

/* What is behind "key":, or NULL. */
static const char *value_of(const char *line, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *found = strstr(line, quoted);
    return found ? found + strlen(quoted) : NULL;
}

static double number_of(const char *line, const char *key, double missing)
{
    const char *value = value_of(line, key);
    return value ? strtod(value, NULL) : missing;
}

/* Copies a string without its quotes; one with a backslash ends before it. */
static bool copy_name(const char *value, char *name)
{
    if (!value || *value != '"')
        return false;
    size_t n = strcspn(value + 1, "\"\\");
    n = n < NAME_MOST ? n : NAME_MOST - 1;
    memcpy(name, value + 1, n);
    name[n] = '\0';
    return n > 0;
}

static bool read_kind(const char *line, struct entry *entry)
{
    const char *phase = value_of(line, "ph"), *args = value_of(line, "args");
    switch (phase && phase[0] == '"' && phase[1] && phase[2] == '"' ? phase[1] : 0) {
    case 'X':
        entry->kind = ENTRY_CALL;
        break;
    case 'B':
        entry->kind = ENTRY_OPEN;
        break;
    case 's':
        entry->kind = ENTRY_SEND;
        break;
    case 'f':
        entry->kind = ENTRY_RECEIVE;
        break;
    case 'M':
        entry->kind = ENTRY_RANK;
        return strstr(line, "\"process_name\"") && args &&
               copy_name(value_of(args, "name"), entry->name);
    default:
        return false;
    }
    return copy_name(value_of(line, "name"), entry->name);
}

static bool read_line(const char *line, struct entry *entry)
{
    *entry = (struct entry){0};
    if (!read_kind(line, entry))
        return false;
    double rank = number_of(line, "pid", -1), thread = number_of(line, "tid", 0);
    double bytes = number_of(line, "bytes", 0), tag = number_of(line, "tag", 0);
    entry->begin = number_of(line, "ts", 0);
    entry->duration = number_of(line, "dur", 0);
    if (!(rank >= 0 && rank < RANKS_MOST && thread >= 0 && thread < THREADS_MOST) ||
        !isfinite(entry->begin) || !isfinite(entry->duration) || fabs(entry->begin) > 1e15 ||
        entry->duration < 0 || entry->duration > 1e15)
        return false;
    const char *id = value_of(line, "id");
    entry->id = id && *id == '"' ? strtoull(id + 1, NULL, 16) : 0;
    entry->rank = (int)rank;
    entry->thread = (int)thread;
    entry->bytes = bytes >= 0 && bytes < 0x1p63 ? (uint64_t)bytes : 0;
    entry->tag = tag >= 0 && tag <= INT32_MAX ? (int32_t)tag : 0;
    return true;
}

bool timeline_is_one(FILE *file)
{
    static const char begin[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    char line[LINE_MOST];
    return fgets(line, sizeof line, file) && strncmp(line, begin, strlen(begin)) == 0;
}

bool timeline_read(FILE *file, struct entry *entry)
{
    char line[LINE_MOST];
    while (fgets(line, sizeof line, file))
        if (read_line(line, entry))
            return true;
    return false;
}
