// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads the state of the ports of RDMA adapters as the kernel shows it in sysfs, for example
 * mlx5_0/ports/1/state with the line "4: ACTIVE".
 */
#include "ofi/select/adapter.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

/* The word of a state file, "" when it cannot be read. */
static void read_state(const char *path, char *state, size_t len)
{
    char line[64] = "";
    FILE *file = fopen(path, "re");
    if (file) {
        if (!fgets(line, sizeof line, file))
            line[0] = 0;
        fclose(file);
    }
    line[strcspn(line, "\n")] = 0;
    const char *word = strchr(line, ' ');
    snprintf(state, len, "%s", word ? word + 1 : "");
}

bool weft_adapter_all_down(const char *root, char *text, size_t len)
{
    char pattern[256], state[32], name[64];
    unsigned port;
    glob_t found;
    bool down = false;
    snprintf(pattern, sizeof pattern, "%s/*/ports/*/state", root);
    if (glob(pattern, 0, NULL, &found))
        return false;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        read_state(path, state, sizeof state);
        down = strcmp(state, "ACTIVE") != 0;
        if (!down)
            break;
        if (sscanf(path + strlen(root), "/%63[^/]/ports/%u", name, &port) == 2)
            snprintf(text, len, "port %u of %s is %s", port, name, *state ? state : "unknown");
    }
    globfree(&found);
    return down;
}
