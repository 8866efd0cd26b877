// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages as the arguments of a call state them: see messages_internal.h.
 */
#include "tools/check/messages_internal.h"
#include "tools/check/comms.h"
#include "tools/check/known.h"

/* True if the library will refuse the data of a call. */
static bool is_refused(const struct weft_call *call, const struct weft_parameter *data)
{
    const MPI_Datatype type = weft_call_element(call, data->about[1], 0);
    const int64_t count = weft_call_number(call, data->about[0], 0);
    const void *buffer = call->values[data - call->function->parameter].pointer;
    return count < 0 || !type || type == MPI_DATATYPE_NULL ||
           (!buffer && count > 0 && weft_object_is_predefined(type));
}

struct check_side check_describe_side(const struct weft_call *call,
                                      const struct weft_parameter *data)
{
    MPI_Datatype type = weft_call_element(call, data->about[1], 0);
    int64_t count = weft_call_number(call, data->about[0], 0);
    struct check_side side = {.location = check_location_of(call)};
    MPI_Count size = 0;
    if (is_refused(call, data))
        return side;
    side.all = check_signature_of(type, count);
    side.one = check_signature_of(type, 1);
    weft_next.Type_size_c(type, &size);
    side.bytes = (int64_t)size * count;
    return side;
}

const struct weft_parameter *check_data_of(const struct weft_call *call, bool is_receive)
{
    const struct weft_function *function = call->function;
    const struct weft_parameter *found = NULL;
    for (int i = 0; i < function->parameters; i++)
        if (function->parameter[i].kind == WEFT_PARAMETER_DATA && (!found || is_receive))
            found = &function->parameter[i];
    return found;
}

bool check_read_send(const struct weft_call *call, struct check_record *record, int *dest)
{
    const struct check_known *known = check_known_of(call);
    if (known) {
        *record = known->record;
        *dest = known->dest;
        return true;
    }
    const struct weft_parameter *data = check_data_of(call, false);
    int rank = weft_call_find(call, WEFT_PARAMETER_RANK, 0),
        tag = weft_call_find(call, WEFT_PARAMETER_TAG, 0);
    struct check_comm comm;
    if (!data || data->about[2] >= 0 || rank < 0 || tag < 0 || is_refused(call, data) ||
        !check_comm_copy(call, &comm))
        return false;
    int64_t to = weft_call_number(call, rank, 0), number = weft_call_number(call, tag, 0);
    if (to < 0 || number < 0 || !check_comm_find_peer(&comm, to, dest))
        return false;
    struct check_side side = check_describe_side(call, data);
    *record = (struct check_record){.kind = CHECK_RECORD_MESSAGE,
                                    .call = call->function->plain,
                                    .site = weft_site_pack(side.location.site)};
    record->message = (struct check_message){
        .comm = comm.key, .signature = side.all, .bytes = side.bytes, .tag = (int)number};
    if (check_has(call, CHECK_IS_MESSAGE))
        check_known_keep_send(call, record, *dest);
    return true;
}

bool check_read_receive(const struct weft_call *call, struct check_posted *posted)
{
    const struct check_known *known = check_known_of(call);
    if (known) {
        *posted = known->posted;
        return true;
    }
    const struct weft_parameter *data = check_data_of(call, true);
    int source = weft_call_find(call, WEFT_PARAMETER_SOURCE, 0);
    int tag = source < 0 ? -1 : weft_call_find(call, WEFT_PARAMETER_TAG, source);
    struct check_comm comm;
    if (tag < 0 || (data && (data->about[2] >= 0 || is_refused(call, data))) ||
        !check_comm_copy(call, &comm))
        return false;
    int64_t number = weft_call_number(call, tag, 0);
    *posted = (struct check_posted){.comm = comm.key,
                                    .tag = number == MPI_ANY_TAG ? CHECK_ANY : (int)number,
                                    .made_with = CHECK_ANY};
    if (number < 0 && number != MPI_ANY_TAG)
        return false;
    if (!check_comm_find_peer(&comm, weft_call_number(call, source, 0), &posted->source))
        return false;
    posted->is_described = data != NULL;
    if (data)
        posted->side = check_describe_side(call, data);
    if (check_has(call, CHECK_IS_MESSAGE))
        check_known_keep_receive(call, posted);
    return true;
}
