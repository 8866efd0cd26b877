// SPDX-License-Identifier: BSD-3-Clause
/*
 * The providers and the choice among them. The invariant is in views.h.
 */
#include "views.h"

#include "ofi/select/objects.h"
#include "ofi/select/provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The widths of the columns of one table. */
struct widths {
    int provider, interface, address;
};

static void widen(int *width, const char *text)
{
    int len = (int)strlen(text);

    if (len > *width)
        *width = len;
}

static void print_table(const struct weft_provider_candidate *list, size_t count)
{
    struct widths w = {(int)strlen("provider"), (int)strlen("interface"), (int)strlen("address")};

    for (size_t i = 0; i < count; i++) {
        widen(&w.provider, list[i].provider);
        widen(&w.interface, list[i].interface);
        widen(&w.address, list[i].address);
    }
    printf("    %-*s  %-8s  %-*s  %-*s  why\n", w.provider, "provider", "version", w.interface,
           "interface", w.address, "address");
    for (size_t i = 0; i < count; i++) {
        char version[24];

        snprintf(version, sizeof version, "%u.%u", FI_MAJOR(list[i].version),
                 FI_MINOR(list[i].version));
        printf("  %c %-*s  %-8s  %-*s  %-*s  %s\n", list[i].chosen ? '*' : ' ', w.provider,
               list[i].provider, version, w.interface, list[i].interface, w.address,
               list[i].address, list[i].reason);
    }
}

static void print_choice(const struct weft_provider_choice *choice)
{
    printf("    %s on %s: %s matching, messages up to %zu bytes are sent eagerly, longer ones are "
           "%s\n    %s\n",
           choice->info->fabric_attr->prov_name, choice->interface,
           choice->software_matching ? "software" : "provider", choice->eager_limit,
           choice->push ? "pushed by the sender" : "read by the receiver", choice->row->note);
}

/* Shows the choice for jobs on one node or several, with the candidates or without. */
static int view_shape(bool one_node, bool table)
{
    struct weft_job job = {
        .size = one_node ? 2 : 4, .local_size = 2, .one_node = one_node, .has_node_map = true};
    struct weft_provider_choice choice;
    struct weft_objects objects;
    struct weft_provider_candidate *list = NULL;
    size_t count = 0;
    char why[1024];
    int rc;

    rc = weft_provider_open(&weft_settings, &job, 0, &choice, &objects, &list, &count, why,
                            sizeof why);
    printf("\nNetwork of a job on %s:\n", one_node ? "one node" : "several nodes");
    if (rc == 0)
        print_choice(&choice);
    else
        printf("    none\n");
    if (rc == 0 && !one_node && choice.adapter[0] != '\0')
        printf("    %s\n", choice.adapter);
    if (table && list) {
        printf("\n");
        print_table(list, count);
    }
    if (rc != 0) {
        fflush(stdout);
        fprintf(stderr, "weft_info: a job on %s would fail: %s\n",
                one_node ? "one node" : "several nodes", why);
    }
    free(list);
    if (rc == 0)
        weft_objects_close(&objects);
    weft_provider_free(&choice);
    return rc == 0 ? 0 : 1;
}

int weft_view_providers(bool both)
{
    int bad = view_shape(false, true);

    bad |= view_shape(true, both);
    return bad;
}
