// SPDX-License-Identifier: BSD-3-Clause
/*
 * Performance variables and events, read through MPI_T as by a tool. The invariant is in views.h.
 */
#include "views.h"

#include "mpi.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 64, TEXT = 512 };

static const char *class_name(int class)
{
    static const char *const names[] = {"state", "level",   "size", "percentage", "high",
                                        "low",   "counter", "sum",  "timer",      "generic"};
    return names[class - MPI_T_PVAR_CLASS_STATE];
}

static const char *unit_of(MPI_Datatype type, int bind)
{
    return bind == MPI_T_BIND_MPI_COMM ? "each rank" : type == MPI_DOUBLE ? "double" : "";
}

static int print_variables(void)
{
    int num = 0, bad = MPI_T_pvar_get_num(&num);
    printf("\nPerformance variables of MPI_T (control variables are the settings):\n");
    for (int i = 0; !bad && i < num; i++) {
        char name[NAME], text[TEXT];
        int name_len = NAME, text_len = TEXT, class, bind;
        MPI_Datatype type;
        bad = MPI_T_pvar_get_info(i, name, &name_len, NULL, &class, &type, NULL, text, &text_len,
                                  &bind, NULL, NULL, NULL);
        if (!bad)
            printf("    %-31s  %-10s  %-9s  %s\n", name, class_name(class), unit_of(type, bind),
                   text);
    }
    return bad;
}

/* "rank, lane" for the elements of an event type. */
static int join_elements(MPI_T_enum names, int count, char *line, size_t len)
{
    line[0] = '\0';
    for (int i = 0; i < count; i++) {
        char name[NAME];
        int name_len = NAME, bad = MPI_T_enum_get_item(names, i, NULL, name, &name_len);
        size_t used = strlen(line);
        if (bad)
            return bad;
        snprintf(line + used, len - used, "%s%s", i ? ", " : "", name);
    }
    return 0;
}

static int print_events(void)
{
    int num = 0, bad = MPI_T_event_get_num(&num);
    printf("\nEvents of MPI_T:\n");
    for (int i = 0; !bad && i < num; i++) {
        char name[NAME], text[TEXT], elements[TEXT];
        int name_len = NAME, text_len = TEXT, count = 0;
        MPI_T_enum names;
        bad = MPI_T_event_get_info(i, name, &name_len, NULL, NULL, NULL, &count, &names, NULL, text,
                                   &text_len, NULL);
        if (!bad)
            bad = join_elements(names, count, elements, sizeof elements);
        if (!bad)
            printf("    %-31s  %s\n%37s%s\n", name, elements, "", text);
    }
    return bad;
}

int weft_view_tools(void)
{
    int provided, bad = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (!bad)
        bad = print_variables();
    if (!bad)
        bad = print_events();
    if (bad)
        fprintf(stderr,
                "weft_info: MPI_T answers with error %d; this is a mistake in Weft, please "
                "report it.\n",
                bad);
    MPI_T_finalize();
    return bad != 0;
}
