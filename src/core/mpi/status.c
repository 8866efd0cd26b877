// SPDX-License-Identifier: BSD-3-Clause
/*
 * Statuses (MPI 5.0 sections 3.2.5 and 5.1.11). None of these needs the lock: they read predefined or
 * user-owned objects only.
 */
#include "core/mpi/api.h"
#include "core/datatype/datatype.h"
#include "core/object/error.h"
#include "core/pt2pt/request.h"

#include <limits.h>

static int bad_type(const char *function, MPI_Datatype handle)
{
    return weft_error(NULL, MPI_ERR_TYPE, function, "%p is no datatype; was it freed?",
                      (void *)handle);
}

static const struct weft_datatype *type_of(MPI_Datatype handle)
{
    return weft_handle_resolve(handle, WEFT_KIND_DATATYPE);
}

/* Whether a call has its status and a place for its result; if not, the error is raised. */
static bool is_given(const char *function, const MPI_Status *status, const void *result)
{
    if (weft_unlikely(status == MPI_STATUS_IGNORE))
        weft_error(NULL, MPI_ERR_ARG, function,
                   "the status is MPI_STATUS_IGNORE; the call that is to fill it needs one too");
    else if (weft_unlikely(!result))
        weft_error(NULL, MPI_ERR_ARG, function, "the pointer to the result is null");
    return status != MPI_STATUS_IGNORE && result;
}

/* A number that an int cannot hold is MPI_UNDEFINED (MPI 5.0, 3.2.5). */
static int narrow(MPI_Count n)
{
    return n > INT_MAX ? MPI_UNDEFINED : (int)n;
}

WEFT_EXPORT(Get_count_c);
int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    if (!is_given("MPI_Get_count", status, count))
        return MPI_ERR_ARG;
    const struct weft_datatype *type = type_of(datatype);
    if (!type)
        return bad_type("MPI_Get_count", datatype);
    *count = weft_datatype_count(type, weft_status_bytes(status));
    return MPI_SUCCESS;
}

WEFT_EXPORT(Get_count);
int PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    if (!is_given("MPI_Get_count", status, count))
        return MPI_ERR_ARG;
    const struct weft_datatype *type = type_of(datatype);
    if (!type)
        return bad_type("MPI_Get_count", datatype);
    *count = narrow(weft_datatype_count(type, weft_status_bytes(status)));
    return MPI_SUCCESS;
}

WEFT_EXPORT(Get_elements_c);
int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    if (!is_given("MPI_Get_elements", status, count))
        return MPI_ERR_ARG;
    const struct weft_datatype *type = type_of(datatype);
    if (!type)
        return bad_type("MPI_Get_elements", datatype);
    *count = weft_datatype_elements(type, weft_status_bytes(status));
    return MPI_SUCCESS;
}

WEFT_EXPORT(Get_elements);
int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    if (!is_given("MPI_Get_elements", status, count))
        return MPI_ERR_ARG;
    const struct weft_datatype *type = type_of(datatype);
    if (!type)
        return bad_type("MPI_Get_elements", datatype);
    *count = narrow(weft_datatype_elements(type, weft_status_bytes(status)));
    return MPI_SUCCESS;
}

WEFT_EXPORT(Status_get_source);
int PMPI_Status_get_source(const MPI_Status *status, int *source)
{
    if (!is_given("MPI_Status_get_source", status, source))
        return MPI_ERR_ARG;
    *source = status->MPI_SOURCE;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Status_get_tag);
int PMPI_Status_get_tag(const MPI_Status *status, int *tag)
{
    if (!is_given("MPI_Status_get_tag", status, tag))
        return MPI_ERR_ARG;
    *tag = status->MPI_TAG;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Status_get_error);
int PMPI_Status_get_error(const MPI_Status *status, int *err)
{
    if (!is_given("MPI_Status_get_error", status, err))
        return MPI_ERR_ARG;
    *err = status->MPI_ERROR;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Status_set_source);
int PMPI_Status_set_source(MPI_Status *status, int source)
{
    if (!is_given("MPI_Status_set_source", status, status))
        return MPI_ERR_ARG;
    status->MPI_SOURCE = source;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Status_set_tag);
int PMPI_Status_set_tag(MPI_Status *status, int tag)
{
    if (!is_given("MPI_Status_set_tag", status, status))
        return MPI_ERR_ARG;
    status->MPI_TAG = tag;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Status_set_error);
int PMPI_Status_set_error(MPI_Status *status, int err)
{
    if (!is_given("MPI_Status_set_error", status, status))
        return MPI_ERR_ARG;
    status->MPI_ERROR = err;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Get_elements_x);
int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    if (!is_given("MPI_Get_elements_x", status, count))
        return MPI_ERR_ARG;
    const struct weft_datatype *type = type_of(datatype);
    if (!type)
        return bad_type("MPI_Get_elements_x", datatype);
    *count = weft_datatype_elements(type, weft_status_bytes(status));
    return MPI_SUCCESS;
}

static int set_elements(const char *function, MPI_Status *status, MPI_Datatype datatype,
                        MPI_Count count)
{
    if (!is_given(function, status, status))
        return MPI_ERR_ARG;
    const struct weft_datatype *type = type_of(datatype);
    if (!type)
        return bad_type(function, datatype);
    size_t bytes;
    if (count < 0 || !weft_datatype_bytes_of(type, count, &bytes))
        return weft_error(NULL, MPI_ERR_COUNT, function,
                          "%lld basic elements of that datatype cannot be", (long long)count);
    weft_status_set_bytes(status, bytes);
    return MPI_SUCCESS;
}

WEFT_EXPORT(Status_set_elements_c);
int PMPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements", status, datatype, count);
}

WEFT_EXPORT(Status_set_elements_x);
int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements_x", status, datatype, count);
}

WEFT_EXPORT(Status_set_cancelled);
int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    if (!is_given("MPI_Status_set_cancelled", status, status))
        return MPI_ERR_ARG;
    weft_status_set_cancelled(status, flag);
    return MPI_SUCCESS;
}

WEFT_EXPORT(Test_cancelled);
int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    if (!is_given("MPI_Test_cancelled", status, flag))
        return MPI_ERR_ARG;
    *flag = weft_status_cancelled(status);
    return MPI_SUCCESS;
}
