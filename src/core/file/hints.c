// SPDX-License-Identifier: BSD-3-Clause
/*
 * The hints of a file (MPI 5.0, section 14.2.8), those of ROMIO included, because programs set
 * them: one table. A hint without effect in this version is accepted and reported.
 *
 * Invariant: the info object of a file always has every key of the table.
 */
#include "core/file/file.h"
#include "core/base/info.h"
#include "gpu/kinds.h"

#include <stdlib.h>
#include <string.h>

enum form { TEXT, NUMBER, OCTAL, SWITCH, BOOLEAN };

static const struct hint {
    const char *key, *value;
    enum form form;
} hints[] = {
    {"access_style", "", TEXT},
    {"collective_buffering", "true", BOOLEAN},
    {"cb_block_size", "0", NUMBER},
    {"cb_buffer_size", "16777216", NUMBER},
    {"cb_nodes", "0", NUMBER},
    {"cb_config_list", "*:1", TEXT},
    {"chunked", "", TEXT},
    {"chunked_item", "", TEXT},
    {"chunked_size", "", TEXT},
    {"file_perm", "0666", OCTAL},
    {"filename", "", TEXT},
    {"io_node_list", "", TEXT},
    {"nb_proc", "0", NUMBER},
    {"num_io_nodes", "0", NUMBER},
    {"striping_factor", "0", NUMBER},
    {"striping_unit", "0", NUMBER},
    {"ind_rd_buffer_size", "524288", NUMBER},
    {"ind_wr_buffer_size", "524288", NUMBER},
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
    switch (hint->form) {
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

int weft_file_take_hints(struct weft_file *file, const struct weft_info *info)
{
    int code = MPI_SUCCESS;
    for (size_t i = 0; i < sizeof hints / sizeof *hints && code == MPI_SUCCESS; i++) {
        const char *value = weft_info_get(info, hints[i].key);
        if (value && is_valid(&hints[i], value))
            code = weft_info_set(file->info, hints[i].key, value);
    }
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
