// SPDX-License-Identifier: BSD-3-Clause
/*
 * Integer forms of handles (MPI 5.0 section 20.3.4): what Fortran stores. One pair per kind of
 * handle, all over weft_handle_to_int and weft_handle_from_int; requests have numbers of their own.
 */
#include "core/mpi/api.h"
#include "core/object/handle.h"
#include "core/pt2pt/request.h"

WEFT_EXPORT(Comm_toint);
int PMPI_Comm_toint(MPI_Comm handle)
{
    return weft_handle_to_int(handle);
}

WEFT_EXPORT(Comm_fromint);
MPI_Comm PMPI_Comm_fromint(int value)
{
    return weft_handle_from_int(value, (uintptr_t)MPI_COMM_NULL);
}

WEFT_EXPORT(Errhandler_toint);
int PMPI_Errhandler_toint(MPI_Errhandler handle)
{
    return weft_handle_to_int(handle);
}

WEFT_EXPORT(Errhandler_fromint);
MPI_Errhandler PMPI_Errhandler_fromint(int value)
{
    return weft_handle_from_int(value, (uintptr_t)MPI_ERRHANDLER_NULL);
}

WEFT_EXPORT(File_toint);
int PMPI_File_toint(MPI_File handle)
{
    return weft_handle_to_int(handle);
}

WEFT_EXPORT(File_fromint);
MPI_File PMPI_File_fromint(int value)
{
    return weft_handle_from_int(value, (uintptr_t)MPI_FILE_NULL);
}

WEFT_EXPORT(Group_toint);
int PMPI_Group_toint(MPI_Group handle)
{
    return weft_handle_to_int(handle);
}

WEFT_EXPORT(Group_fromint);
MPI_Group PMPI_Group_fromint(int value)
{
    return weft_handle_from_int(value, (uintptr_t)MPI_GROUP_NULL);
}

WEFT_EXPORT(Info_toint);
int PMPI_Info_toint(MPI_Info handle)
{
    return weft_handle_to_int(handle);
}

WEFT_EXPORT(Info_fromint);
MPI_Info PMPI_Info_fromint(int value)
{
    return weft_handle_from_int(value, (uintptr_t)MPI_INFO_NULL);
}

WEFT_EXPORT(Message_toint);
int PMPI_Message_toint(MPI_Message handle)
{
    return weft_handle_to_int(handle);
}

WEFT_EXPORT(Message_fromint);
MPI_Message PMPI_Message_fromint(int value)
{
    return weft_handle_from_int(value, (uintptr_t)MPI_MESSAGE_NULL);
}

WEFT_EXPORT(Op_toint);
int PMPI_Op_toint(MPI_Op handle)
{
    return weft_handle_to_int(handle);
}

WEFT_EXPORT(Op_fromint);
MPI_Op PMPI_Op_fromint(int value)
{
    return weft_handle_from_int(value, (uintptr_t)MPI_OP_NULL);
}

WEFT_EXPORT(Request_toint);
int PMPI_Request_toint(MPI_Request handle)
{
    if ((uintptr_t)handle < WEFT_PREDEFINED_HANDLES)
        return (int)(uintptr_t)handle;
    return WEFT_REQUEST_INTEGERS + (int)((struct weft_request *)handle)->number;
}

WEFT_EXPORT(Request_fromint);
MPI_Request PMPI_Request_fromint(int value)
{
    if (value >= WEFT_REQUEST_INTEGERS) {
        struct weft_request *request =
            weft_request_numbered((unsigned)(value - WEFT_REQUEST_INTEGERS));
        return request ? (MPI_Request)request : MPI_REQUEST_NULL;
    }
    return weft_handle_from_int(value, (uintptr_t)MPI_REQUEST_NULL);
}

WEFT_EXPORT(Session_toint);
int PMPI_Session_toint(MPI_Session handle)
{
    return weft_handle_to_int(handle);
}

WEFT_EXPORT(Session_fromint);
MPI_Session PMPI_Session_fromint(int value)
{
    return weft_handle_from_int(value, (uintptr_t)MPI_SESSION_NULL);
}

WEFT_EXPORT(Type_toint);
int PMPI_Type_toint(MPI_Datatype handle)
{
    return weft_handle_to_int(handle);
}

WEFT_EXPORT(Type_fromint);
MPI_Datatype PMPI_Type_fromint(int value)
{
    return weft_handle_from_int(value, (uintptr_t)MPI_DATATYPE_NULL);
}

WEFT_EXPORT(Win_toint);
int PMPI_Win_toint(MPI_Win handle)
{
    return weft_handle_to_int(handle);
}

WEFT_EXPORT(Win_fromint);
MPI_Win PMPI_Win_fromint(int value)
{
    return weft_handle_from_int(value, (uintptr_t)MPI_WIN_NULL);
}
