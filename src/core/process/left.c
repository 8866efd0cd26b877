// SPDX-License-Identifier: BSD-3-Clause
/*
 * The report of MPI_Finalize: see left.h.
 */
#include "core/process/left.h"
#include "core/coll/coll.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/handle_list.h"
#include "core/base/settings.h"
#include "core/message/count.h"
#include "core/message/lane.h"
#include "core/file/file.h"
#include "core/rma/win.h"

#include <stdarg.h>
#include <stdio.h>

enum { SHOWN = 3 };

/* A line that lists the first few of a kind. */
struct list {
    enum weft_kind kind;
    int count;
    size_t used;
    char text[SHOWN * 200];
};

__attribute__((format(printf, 2, 3))) static void add(struct list *list, const char *format, ...)
{
    va_list args;
    if (list->count++ >= SHOWN)
        return;
    if (list->used)
        list->used += (size_t)snprintf(list->text + list->used, 3, ", ");
    va_start(args, format);
    int n = vsnprintf(list->text + list->used, 198, format, args);
    va_end(args);
    list->used += n < 198 ? (size_t)n : 197;
    weft_assert(n >= 0 && list->used < sizeof list->text);
}

/* "MPI_Finalize: 4 groups were not freed: 0x1, 0x2, 0x3 and 1 more" */
static void print(const struct list *list, const char *what, const char *state)
{
    char more[32] = "";
    if (list->count > SHOWN)
        snprintf(more, sizeof more, " and %d more", list->count - SHOWN);
    if (list->count)
        weft_warn("MPI_Finalize: %d %s%s %s %s: %s%s", list->count, what, weft_plural(list->count),
                  list->count == 1 ? "was" : "were", state, list->text, more);
}

/* ---- Messages */

static void warn_of_collective(void *arg, struct weft_match_message *match)
{
    int *left = arg;
    const struct weft_message *message = weft_message_of(match);
    const struct weft_channel *channel = weft_channel_of(match->context, match->source, match->tag);
    if (!channel || channel != &channel->comm->coll || (*left)++)
        return;
    weft_warn("a message of %zu bytes from rank %d for %s on %.100s was never received; have all "
              "ranks made the same collective calls in the same order, with the same root?",
              message->arrival.length, match->source, weft_coll_name_of_tag(match->tag),
              weft_comm_name(channel->comm));
}

static void see_message(void *arg, struct weft_match_message *match)
{
    const struct weft_message *message = weft_message_of(match);
    const struct weft_channel *channel = weft_channel_of(match->context, match->source, match->tag);
    if (channel && weft_channel_use(channel) == WEFT_CONTEXT_P2P)
        add(arg, "%zu bytes from rank %d with tag %d on %.100s", message->arrival.length,
            match->source, match->tag, weft_comm_name(channel->comm));
}

/* ---- Requests */

static void see_request(void *arg, struct weft_request *request)
{
    const struct weft_request_ops *row = weft_request_row(request);
    bool plain = row->sends || row->receives;
    if (!row->name || request->flags & (WEFT_REQUEST_SUB | WEFT_REQUEST_ORPHAN) ||
        (plain && weft_channel_use(request->channel) != WEFT_CONTEXT_P2P))
        return; /* not the program's */
    add(arg, "%s%s %p", request->flags & WEFT_REQUEST_PERSISTENT ? "persistent " : "", row->name,
        (void *)request);
}

/* ---- Objects */

static void see_object(void *arg, const void *object)
{
    struct list *list = arg;
    const char *name = NULL;
    if (list->kind == WEFT_KIND_COMM)
        name = ((const struct weft_comm *)object)->name;
    if (list->kind == WEFT_KIND_DATATYPE) {
        const struct weft_datatype *type = object;
        if (type->flags & WEFT_TYPE_PREDEFINED)
            return; /* made by MPI_Type_create_f90_*, and cannot be freed */
        name = type->name;
    }
    if (list->kind == WEFT_KIND_WIN)
        name = ((const struct weft_win *)object)->name;
    if (list->kind == WEFT_KIND_FILE)
        name = ((const struct weft_file *)object)->name;
    if (name && *name)
        add(list, "%.100s", name);
    else
        add(list, "%p", object);
}

static void report_objects(void)
{
    static const struct {
        enum weft_kind kind;
        const char *what;
    } kinds[] = {{WEFT_KIND_COMM, "communicator"}, {WEFT_KIND_GROUP, "group"},
                 {WEFT_KIND_DATATYPE, "datatype"}, {WEFT_KIND_OP, "operation"},
                 {WEFT_KIND_WIN, "window"},        {WEFT_KIND_FILE, "file"},
                 {WEFT_KIND_INFO, "info object"},  {WEFT_KIND_ERRHANDLER, "error handler"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct list list = {.kind = kinds[i].kind};
        weft_handle_list_each(kinds[i].kind, see_object, &list);
        print(&list, kinds[i].what, "not freed");
    }
    weft_handle_list_free();
}

void weft_left_report(void)
{
    int left = 0;
    struct list messages = {0}, requests = {0};
    if (!weft_coll_any_failed() && !weft_counts.deaths)
        weft_vcis_each_message(warn_of_collective, &left);
    if (!weft_settings.verbose)
        return;
    weft_vcis_each_message(see_message, &messages);
    print(&messages, "message", "never received");
    weft_request_each(see_request, &requests);
    print(&requests, "request", "neither completed nor freed");
    report_objects();
}
