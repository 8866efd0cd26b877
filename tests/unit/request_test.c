// SPDX-License-Identifier: BSD-3-Clause
/*
 * The numbers of requests: a VCI has no more requests than it has numbers, so that none has the
 * number of a request of another VCI.
 */
#include "core/base/error.h"
#include "core/message/process.h"
#include "core/message/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NUMBERS = 1 << WEFT_VCI_REQUEST_SHIFT, SLABS = NUMBERS / WEFT_REQUEST_SLAB };

static void numbers_end(void **state)
{
    (void)state;
    struct weft_request_pool *pool = &weft.vcis[0].requests;
    struct weft_request **slabs = calloc(SLABS + 2, sizeof *slabs);
    struct weft_request *last = NULL, *request = NULL;
    assert_non_null(slabs);
    pool->slabs = slabs + 1;
    pool->space = SLABS + 1;
    pool->nslabs = SLABS - 1; /* of other requests */
    for (int i = 0; i < WEFT_REQUEST_SLAB; i++) {
        last = weft_request_get(&weft.vcis[0], WEFT_REQUEST_SEND, 1);
        assert_non_null(last);
    }
    assert_int_equal(last->number, NUMBERS - 1);
    assert_ptr_equal(weft_request_numbered(last->number), last);
    request = weft_request_get(&weft.vcis[0], WEFT_REQUEST_SEND, 1);
    assert_null(request);
    free(pool->slabs[SLABS - 1]);
    free(slabs);
    *pool = (struct weft_request_pool){0};
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
