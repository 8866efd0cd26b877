// SPDX-License-Identifier: BSD-3-Clause
/*
 * The hints of a file (MPI 5.0, section 14.2.8), those of ROMIO included, because programs set
 * them: one table. A hint without effect in this version is accepted and reported.
 *
 * Defaults for all files come from the environment of rank 0: WEFT_FILE_HINTS, and the file that
 * ROMIO_HINTS names, whose lines are "key value". Those of the program prevail.
 *
 * Invariant: the info object of a file always has every key of the table.
 */
#include "core/file/file.h"
#include "core/base/error.h"
#include "core/base/info.h"
#include "core/base/settings.h"
#include "gpu/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* AT_OPEN: MPI_File_open uses the value, and later ones have no effect. */
enum form { TEXT, NUMBER, OCTAL, SWITCH, BOOLEAN, AT_OPEN = 8 };

enum {
    TEXT_MOST = 16 << 10,  /* bytes of hints of the environment: some hundred of them */
    SIEVE_LEAST = 4096,    /* a page: less makes more calls than records */
    SIEVE_MOST = 256 << 20 /* bytes: memory of each rank, of which more gains nothing */
};

static const struct hint {
    const char *key, *value;
    int form;
} hints[] = {
    {"access_style", "", TEXT},
    {"collective_buffering", "true", BOOLEAN},
    {"cb_block_size", "0", NUMBER},
    {"cb_buffer_size", "16777216", NUMBER | AT_OPEN},
    {"cb_nodes", "0", NUMBER | AT_OPEN},
    {"cb_config_list", "*:1", TEXT},
    {"chunked", "", TEXT},
    {"chunked_item", "", TEXT},
    {"chunked_size", "", TEXT},
    {"file_perm", "0666", OCTAL | AT_OPEN},
    {"filename", "", TEXT},
    {"io_node_list", "", TEXT},
    {"nb_proc", "0", NUMBER},
    {"num_io_nodes", "0", NUMBER},
    {"striping_factor", "0", NUMBER | AT_OPEN},
    {"striping_unit", "0", NUMBER | AT_OPEN},
    {"ind_rd_buffer_size", "0", NUMBER}, /* 0: that of the file system */
    {"ind_wr_buffer_size", "0", NUMBER}, /* 0: that of the file system */
    {"romio_cb_read", "automatic", SWITCH},
    {"romio_cb_write", "automatic", SWITCH},
    {"romio_ds_read", "automatic", SWITCH},
    {"romio_ds_write", "automatic", SWITCH},
    {"romio_no_indep_rw", "false", BOOLEAN},
    {"romio_cb_pfr", "disable", SWITCH},
    {"romio_cb_fr_alignment", "1", NUMBER},
    {"romio_min_fdomain_size", "0", NUMBER},
    {"romio_lustre_co_ratio", "1", NUMBER},
    {"romio_filesystem_type", "", TEXT},
};

static bool is_number(const char *text, int base)
{
    char *end;
    long long value = strtoll(text, &end, base);
    return *text && !*end && value >= 0;
}

static bool is_valid(const struct hint *hint, const char *value)
{
    if (strlen(value) >= MPI_MAX_INFO_VAL)
        return false;
    switch (hint->form & ~AT_OPEN) {
    case NUMBER:
        return is_number(value, 10);
    case OCTAL:
        return is_number(value, 8);
    case SWITCH:
        return !strcmp(value, "automatic") || !strcmp(value, "enable") || !strcmp(value, "disable");
    case BOOLEAN:
        return !strcmp(value, "true") || !strcmp(value, "false");
    default:
        return strcmp(hint->key, "filename") != 0 && /* set by the open */
               strcmp(hint->key, "romio_filesystem_type") != 0;
    }
}

/* The value of a valid hint, or NULL. */
static const char *given(const struct weft_info *info, const struct hint *hint)
{
    const char *value = weft_info_get(info, hint->key);
    return value && is_valid(hint, value) ? value : NULL;
}

int64_t weft_file_number_hint(const struct weft_file *file, const char *key)
{
    const char *value = weft_info_get(file->info, key);
    return value ? strtoll(value, NULL, 10) : 0;
}

/* Limits the size of the sieve, and the hint that states it. */
static int use_sieve(const struct weft_file *file, const char *key, size_t *bytes)
{
    char text[24];
    int64_t value = weft_file_number_hint(file, key);
    *bytes = value && value < SIEVE_LEAST ? SIEVE_LEAST
             : value > SIEVE_MOST         ? SIEVE_MOST
                                          : (size_t)value;
    if ((int64_t)*bytes == value)
        return MPI_SUCCESS;
    snprintf(text, sizeof text, "%zu", *bytes);
    return weft_info_set(file->info, key, text);
}

/* The values that an access uses. */
static int use_hints(struct weft_file *file)
{
    int code = use_sieve(file, "ind_rd_buffer_size", &file->sieve[0]);
    int write = use_sieve(file, "ind_wr_buffer_size", &file->sieve[1]);
    return code == MPI_SUCCESS ? write : code;
}

/* Sets a hint to a valid value; permissions are those that chmod gives without special bits. */
static int set_hint(const struct weft_file *file, const struct hint *hint, const char *value)
{
    char octal[24];
    if ((hint->form & ~AT_OPEN) == OCTAL) {
        snprintf(octal, sizeof octal, "%04llo", strtoull(value, NULL, 8) & 0777);
        value = octal;
    }
    return weft_info_set(file->info, hint->key, value);
}

int weft_file_take_hints(struct weft_file *file, const struct weft_info *info)
{
    int code = MPI_SUCCESS;
    for (size_t i = 0; i < sizeof hints / sizeof *hints && code == MPI_SUCCESS; i++) {
        const char *value = given(info, &hints[i]);
        if (value && !(file->opened && hints[i].form & AT_OPEN))
            code = set_hint(file, &hints[i], value);
    }
    if (code == MPI_SUCCESS)
        code = use_hints(file);
    return code == MPI_SUCCESS ? weft_gpu_take_kinds(file->info, info, &file->host_only) : code;
}

struct weft_info *weft_file_default_hints(void)
{
    struct weft_info *info = weft_info_make();
    if (info && weft_info_set(info, "mpi_memory_alloc_kinds", weft_gpu_supported_kinds())) {
        weft_info_free(info);
        return NULL;
    }
    for (size_t i = 0; info && i < sizeof hints / sizeof *hints; i++)
        if (weft_info_set(info, hints[i].key, hints[i].value)) {
            weft_info_free(info);
            return NULL;
        }
    return info;
}

/* ---- Hints of the environment */

struct item {
    char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL + 1];
};

/* Reads an item "key=value" or "key value", which a line's end or a semicolon ends. Returns the
 * text behind it, or NULL if there is no further one. */
static const char *next_item(const char *text, struct item *item)
{
    static const char blanks[] = " \t\r";
    for (;;) {
        text += strspn(text, " \t\r\n;");
        if (*text != '#')
            break;
        text += strcspn(text, "\n");
    }
    if (!*text)
        return NULL;
    int length = (int)strcspn(text, ";\n"), key = (int)strcspn(text, " \t\r=;\n");
    const char *value = text + key, *end = text + length;
    value += strspn(value, blanks);
    value += *value == '=';
    value += strspn(value, blanks);
    while (end > value && strchr(blanks, end[-1]))
        end--;
    snprintf(item->key, sizeof item->key, "%.*s", key, text);
    snprintf(item->value, sizeof item->value, "%.*s", end > value ? (int)(end - value) : 0, value);
    return text + length;
}

static const struct hint *find_hint(const char *key)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (!strcmp(hints[i].key, key))
            return &hints[i];
    return NULL;
}

int weft_file_take_text(struct weft_file *file, const char *text, const struct weft_info *info)
{
    struct item item;
    bool taken[sizeof hints / sizeof *hints] = {false};
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && (text = next_item(text, &item))) {
        const struct hint *hint = find_hint(item.key);
        if (!hint || !is_valid(hint, item.value) || taken[hint - hints] || given(info, hint))
            continue;
        taken[hint - hints] = true; /* the first value of a key is used, as by ROMIO */
        code = set_hint(file, hint, item.value);
    }
    return code == MPI_SUCCESS ? use_hints(file) : code;
}

/* A misspelt setting would have no effect. */
static int check_setting(const char *text)
{
    struct item item;
    while ((text = next_item(text, &item))) {
        const struct hint *hint = find_hint(item.key);
        if (!hint || !is_valid(hint, item.value))
            return weft_error_set(
                MPI_ERR_INFO_VALUE,
                "WEFT_FILE_HINTS has \"%.60s=%.60s\", which is not a hint of Weft "
                "or has no such value; the section Files of docs/GUIDE.md lists "
                "the hints",
                item.key, item.value);
    }
    return MPI_SUCCESS;
}

/* Reads the file of ROMIO_HINTS, which other MPIs ignore if it cannot be read. */
static void read_file(char *text)
{
    const char *name = getenv("ROMIO_HINTS");
    FILE *stream = name && *name ? fopen(name, "re") : NULL;
    if (stream)
        text[fread(text, 1, TEXT_MOST, stream)] = '\0';
    else if (name && *name && weft_settings.verbose)
        weft_warn("ROMIO_HINTS names %.200s, which cannot be read; it has no effect", name);
    if (stream)
        fclose(stream);
}

int weft_file_environment_hints(char **text)
{
    const char *setting = weft_settings.file_hints;
    if (!*setting && !getenv("ROMIO_HINTS"))
        return MPI_SUCCESS;
    size_t length = strlen(setting);
    char *all = calloc(1, length + TEXT_MOST + 2); /* with a line's end and a NUL */
    if (!all)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for hints of the environment");
    memcpy(all, setting, length);
    all[length] = '\n';
    read_file(all + length + 1);
    *text = all;
    return check_setting(setting);
}
