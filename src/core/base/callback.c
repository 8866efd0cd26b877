// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions of the user that run: see callback.h.
 */
#include "core/base/callback.h"
#include "core/base/error.h"

static _Thread_local struct weft_callback *innermost;

void weft_callback_begin(struct weft_callback *callback, const void *object, const char *function)
{
    weft_assert(object && callback != innermost);
    *callback = (struct weft_callback){object, function, innermost};
    innermost = callback;
}

void weft_callback_end(const struct weft_callback *callback)
{
    weft_assert(innermost == callback);
    innermost = callback->outer;
}

int weft_callback_check(const void *object, int errclass, const char *action)
{
    const struct weft_callback *callback = innermost;
    while (callback && object && callback->object != object)
        callback = callback->outer;
    if (!callback)
        return MPI_SUCCESS;
    return weft_error_set(errclass, "%s inside of %s; do it after that function has returned",
                          action, callback->function);
}
