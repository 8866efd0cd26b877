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

/* The text behind "key":, or NULL. */
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

static uint64_t hex_of(const char *line, const char *key)
{
    const char *value = value_of(line, key);
    return value && *value == '"' ? strtoull(value + 1, NULL, 16) : 0;
}

static uint64_t bytes_of(const char *line, const char *key)
{
    double bytes = number_of(line, key, 0);
    return bytes >= 0 && bytes < 0x1p63 ? (uint64_t)bytes : 0;
}

/* The members of a communicator on this line. */
static bool read_members(const char *line, struct entry *entry)
{
    const char *at = value_of(line, "ranks");
    entry->comm = hex_of(line, "comm");
    if (!at || *at != '[' || !entry->comm)
        return false;
    while (entry->n < ENTRY_MEMBERS && at[1] != ']') {
        char *end;
        long rank = strtol(at + 1, &end, 10);
        if (rank < 0 || rank >= RANKS_MOST || (*end != ',' && *end != ']'))
            return false;
        entry->members[entry->n++] = (int)rank;
        at = *end == ']' ? end - 1 : end;
    }
    return true;
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
        entry->kind = ENTRY_COMM;
        if (strstr(line, "\"communicator\""))
            return read_members(line, entry);
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
    double tag = number_of(line, "tag", 0), root = number_of(line, "root", -1);
    entry->begin = number_of(line, "ts", 0);
    entry->duration = number_of(line, "dur", 0);
    if (!(rank >= 0 && rank < RANKS_MOST && thread >= 0 && thread < THREADS_MOST) ||
        !isfinite(entry->begin) || !isfinite(entry->duration) || fabs(entry->begin) > 1e15 ||
        entry->duration < 0 || entry->duration > 1e15)
        return false;
    entry->id = hex_of(line, "id");
    entry->comm = hex_of(line, "comm");
    entry->root = root >= 0 && root < RANKS_MOST ? (int32_t)root : -1;
    entry->received = bytes_of(line, "received");
    entry->rank = (int)rank;
    entry->thread = (int)thread;
    entry->bytes = bytes_of(line, "bytes");
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
