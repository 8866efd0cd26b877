! SPDX-License-Identifier: BSD-3-Clause
! The types of MPI 5.0 in Fortran: handles, which are equal when their integers are, and a status.
! A handle in memory is the INTEGER of the older interfaces, a status their array.
module weft_mpi_types
    implicit none

    type, bind(C) :: MPI_Comm
        integer :: MPI_VAL
    end type MPI_Comm

    type, bind(C) :: MPI_Datatype
        integer :: MPI_VAL
    end type MPI_Datatype

    type, bind(C) :: MPI_Errhandler
        integer :: MPI_VAL
    end type MPI_Errhandler

    type, bind(C) :: MPI_File
        integer :: MPI_VAL
    end type MPI_File

    type, bind(C) :: MPI_Group
        integer :: MPI_VAL
    end type MPI_Group

    type, bind(C) :: MPI_Info
        integer :: MPI_VAL
    end type MPI_Info

    type, bind(C) :: MPI_Message
        integer :: MPI_VAL
    end type MPI_Message

    type, bind(C) :: MPI_Op
        integer :: MPI_VAL
    end type MPI_Op

    type, bind(C) :: MPI_Request
        integer :: MPI_VAL
    end type MPI_Request

    type, bind(C) :: MPI_Session
        integer :: MPI_VAL
    end type MPI_Session

    type, bind(C) :: MPI_Win
        integer :: MPI_VAL
    end type MPI_Win

    type, bind(C) :: MPI_Status
        integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR
        integer, private :: internal(5)
    end type MPI_Status

    interface operator(==)
        module procedure equal_comm
        module procedure equal_datatype
        module procedure equal_errhandler
        module procedure equal_file
        module procedure equal_group
        module procedure equal_info
        module procedure equal_message
        module procedure equal_op
        module procedure equal_request
        module procedure equal_session
        module procedure equal_win
    end interface

    interface operator(/=)
        module procedure differ_comm
        module procedure differ_datatype
        module procedure differ_errhandler
        module procedure differ_file
        module procedure differ_group
        module procedure differ_info
        module procedure differ_message
        module procedure differ_op
        module procedure differ_request
        module procedure differ_session
        module procedure differ_win
    end interface

    private :: equal_comm, &
        equal_datatype, &
        equal_errhandler, &
        equal_file, &
        equal_group, &
        equal_info, &
        equal_message, &
        equal_op, &
        equal_request, &
        equal_session, &
        equal_win
    private :: differ_comm, &
        differ_datatype, &
        differ_errhandler, &
        differ_file, &
        differ_group, &
        differ_info, &
        differ_message, &
        differ_op, &
        differ_request, &
        differ_session, &
        differ_win

contains

    elemental logical function equal_comm(a, b)
        type(MPI_Comm), intent(in) :: a, b
        equal_comm = a%MPI_VAL == b%MPI_VAL
    end function equal_comm

    elemental logical function differ_comm(a, b)
        type(MPI_Comm), intent(in) :: a, b
        differ_comm = a%MPI_VAL /= b%MPI_VAL
    end function differ_comm

    elemental logical function equal_datatype(a, b)
        type(MPI_Datatype), intent(in) :: a, b
        equal_datatype = a%MPI_VAL == b%MPI_VAL
    end function equal_datatype

    elemental logical function differ_datatype(a, b)
        type(MPI_Datatype), intent(in) :: a, b
        differ_datatype = a%MPI_VAL /= b%MPI_VAL
    end function differ_datatype

    elemental logical function equal_errhandler(a, b)
        type(MPI_Errhandler), intent(in) :: a, b
        equal_errhandler = a%MPI_VAL == b%MPI_VAL
    end function equal_errhandler

    elemental logical function differ_errhandler(a, b)
        type(MPI_Errhandler), intent(in) :: a, b
        differ_errhandler = a%MPI_VAL /= b%MPI_VAL
    end function differ_errhandler

    elemental logical function equal_file(a, b)
        type(MPI_File), intent(in) :: a, b
        equal_file = a%MPI_VAL == b%MPI_VAL
    end function equal_file

    elemental logical function differ_file(a, b)
        type(MPI_File), intent(in) :: a, b
        differ_file = a%MPI_VAL /= b%MPI_VAL
    end function differ_file

    elemental logical function equal_group(a, b)
        type(MPI_Group), intent(in) :: a, b
        equal_group = a%MPI_VAL == b%MPI_VAL
    end function equal_group

    elemental logical function differ_group(a, b)
        type(MPI_Group), intent(in) :: a, b
        differ_group = a%MPI_VAL /= b%MPI_VAL
    end function differ_group

    elemental logical function equal_info(a, b)
        type(MPI_Info), intent(in) :: a, b
        equal_info = a%MPI_VAL == b%MPI_VAL
    end function equal_info

    elemental logical function differ_info(a, b)
        type(MPI_Info), intent(in) :: a, b
        differ_info = a%MPI_VAL /= b%MPI_VAL
    end function differ_info

    elemental logical function equal_message(a, b)
        type(MPI_Message), intent(in) :: a, b
        equal_message = a%MPI_VAL == b%MPI_VAL
    end function equal_message

    elemental logical function differ_message(a, b)
        type(MPI_Message), intent(in) :: a, b
        differ_message = a%MPI_VAL /= b%MPI_VAL
    end function differ_message

    elemental logical function equal_op(a, b)
        type(MPI_Op), intent(in) :: a, b
        equal_op = a%MPI_VAL == b%MPI_VAL
    end function equal_op

    elemental logical function differ_op(a, b)
        type(MPI_Op), intent(in) :: a, b
        differ_op = a%MPI_VAL /= b%MPI_VAL
    end function differ_op

    elemental logical function equal_request(a, b)
        type(MPI_Request), intent(in) :: a, b
        equal_request = a%MPI_VAL == b%MPI_VAL
    end function equal_request

    elemental logical function differ_request(a, b)
        type(MPI_Request), intent(in) :: a, b
        differ_request = a%MPI_VAL /= b%MPI_VAL
    end function differ_request

    elemental logical function equal_session(a, b)
        type(MPI_Session), intent(in) :: a, b
        equal_session = a%MPI_VAL == b%MPI_VAL
    end function equal_session

    elemental logical function differ_session(a, b)
        type(MPI_Session), intent(in) :: a, b
        differ_session = a%MPI_VAL /= b%MPI_VAL
    end function differ_session

    elemental logical function equal_win(a, b)
        type(MPI_Win), intent(in) :: a, b
        equal_win = a%MPI_VAL == b%MPI_VAL
    end function equal_win

    elemental logical function differ_win(a, b)
        type(MPI_Win), intent(in) :: a, b
        differ_win = a%MPI_VAL /= b%MPI_VAL
    end function differ_win

end module weft_mpi_types
