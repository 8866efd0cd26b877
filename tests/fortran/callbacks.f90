! SPDX-License-Identifier: BSD-3-Clause
! run: ranks=1,3 lanes=rxm,shm seconds=40
! Procedures that a program hands to MPI, as mpi_f08 declares them: they are called with Fortran's
! handles, LOGICALs and extra states. MPI_3: see basics.F90.
module callbacks_procedures
    use, intrinsic :: iso_c_binding
    use mpi_f08
    use check
    implicit none
    type(MPI_Datatype) :: pair
    integer :: calls = 0, last_code = -1, copies = 0, deletions = 0
    type(MPI_Comm) :: last_comm
    integer(kind=MPI_ADDRESS_KIND) :: sum_of_deleted = 0
    logical :: cancelled_after = .true.

contains

    ! Adds pairs of integers; the second ones are multiplied.
    subroutine combine(invec, inoutvec, len, datatype)
        type(c_ptr), value :: invec, inoutvec
        integer :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: a(:, :), b(:, :)
        call c_f_pointer(invec, a, [2, len])
        call c_f_pointer(inoutvec, b, [2, len])
        call expect(datatype == pair, 'the datatype that an operation gets')
        b(1, :) = a(1, :) + b(1, :)
        b(2, :) = a(2, :) * b(2, :)
        calls = calls + 1
    end subroutine combine

#if !MPI_3
    subroutine combine_large(invec, inoutvec, len, datatype)
        type(c_ptr), value :: invec, inoutvec
        integer(kind=MPI_COUNT_KIND) :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: a(:), b(:)
        call c_f_pointer(invec, a, [len])
        call c_f_pointer(inoutvec, b, [len])
        call expect(datatype == MPI_INTEGER, 'the datatype that a large operation gets')
        b = max(a, b)
    end subroutine combine_large
#endif

    subroutine on_error(comm, error_code)
        type(MPI_Comm) :: comm
        integer :: error_code
        last_comm = comm
        last_code = error_code
    end subroutine on_error

    ! A copy is 100 more than the original; the attribute 13 is not copied.
    subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, &
        ierror)
        type(MPI_Comm) :: oldcomm
        integer :: comm_keyval, ierror
        integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
        logical :: flag
        call expect(extra_state == 2_MPI_ADDRESS_KIND**40, 'the extra state of a copy')
        copies = copies + 1
        flag = attribute_val_in /= 13
        attribute_val_out = attribute_val_in + 100
        ierror = MPI_SUCCESS
    end subroutine copy

    subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
        type(MPI_Comm) :: comm
        integer :: comm_keyval, ierror
        integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
        deletions = deletions + 1
        sum_of_deleted = sum_of_deleted + attribute_val
        ierror = MPI_SUCCESS
        if (attribute_val == 666) ierror = MPI_ERR_OTHER
    end subroutine delete

    subroutine query(extra_state, status, ierror)
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        type(MPI_Status) :: status
        integer :: ierror
        status%MPI_SOURCE = 17
        status%MPI_TAG = int(extra_state)
        call MPI_Status_set_elements(status, MPI_INTEGER, 4, ierror)
        call MPI_Status_set_cancelled(status, .false., ierror)
        ierror = MPI_SUCCESS
    end subroutine query

    subroutine release(extra_state, ierror)
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        integer :: ierror
        call expect(int(extra_state), 29, 'the extra state that is released')
        calls = calls + 1
        ierror = MPI_SUCCESS
    end subroutine release

    subroutine cancel(extra_state, complete, ierror)
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        logical :: complete
        integer :: ierror
        call expect(int(extra_state), 29, 'the extra state of a cancelled request')
        cancelled_after = complete
        ierror = MPI_SUCCESS
    end subroutine cancel

end module callbacks_procedures

program callbacks
    use callbacks_procedures
    implicit none
    integer :: rank, size

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    call operations()
    call error_handlers()
    call attributes()
    call predefined_copies()
    call generalized()
    call MPI_Finalize()
    call finished()

contains

    subroutine operations()
        type(MPI_Op) :: op
        integer :: mine(2, 3), all(2, 3), i, wanted
        logical :: commutes
        type(MPI_Request) :: request
        call MPI_Type_contiguous(2, MPI_INTEGER, pair)
        call MPI_Type_commit(pair)
        call MPI_Op_create(combine, .true., op)
        call MPI_Op_commutative(op, commutes)
        call expect(commutes, 'an operation that commutes')
        mine(1, :) = rank
        mine(2, :) = 2
        call MPI_Allreduce(mine, all, 3, pair, op, MPI_COMM_WORLD)
        wanted = 2**size
        call expect(all(1, 1), size * (size - 1) / 2, 'the sum of first members')
        call expect(all(2, 3), wanted, 'the product of second members')
        ! An operation may be freed before it is used for the last time.
        call MPI_Iallreduce(mine, all, 3, pair, op, MPI_COMM_WORLD, request)
        call MPI_Op_free(op)
        call expect(op == MPI_OP_NULL, 'a freed operation is null')
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call expect(all(2, 2), wanted, 'a product by a freed operation')
        do i = 1, 600 ! more than there are trampolines
            call MPI_Op_create(combine, .true., op)
            call MPI_Op_free(op)
        end do
        call MPI_Type_free(pair)
#if !MPI_3
        call MPI_Op_create_c(combine_large, .false., op)
        mine(1, 1) = 3 * rank
        call MPI_Allreduce(mine, all, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
        call expect(all(1, 1), 3 * (size - 1), 'the maximum')
        call MPI_Op_commutative(op, commutes)
        call expect(.not. commutes, 'an operation that does not commute')
        call MPI_Op_free(op)
#endif
    end subroutine operations

    subroutine error_handlers()
        type(MPI_Errhandler) :: handler, got
        type(MPI_Comm) :: comm
        integer :: code, class
        call MPI_Comm_dup(MPI_COMM_WORLD, comm)
        call MPI_Comm_create_errhandler(on_error, handler)
        call MPI_Comm_set_errhandler(comm, handler)
        call MPI_Send(1, 1, MPI_INTEGER, size + 5, 0, comm, code)
        call expect(last_comm == comm, 'the communicator that an error handler gets')
        call MPI_Error_class(last_code, class)
        call expect(class, MPI_ERR_RANK, 'the class that an error handler gets')
        call expect(code, last_code, 'the code that is returned')
        call MPI_Comm_call_errhandler(comm, MPI_ERR_TAG)
        call expect(last_code, MPI_ERR_TAG, 'the code of a handler that is called')
        call MPI_Comm_get_errhandler(comm, got)
        call expect(got == handler, 'the handler that was set')
        call MPI_Errhandler_free(got)
        call MPI_Errhandler_free(handler)
        call expect(handler == MPI_ERRHANDLER_NULL, 'a freed handler is null')
        call MPI_Comm_free(comm)
    end subroutine error_handlers

    subroutine attributes()
        type(MPI_Comm) :: comm, other
        integer :: key, code, unused, class
        integer(kind=MPI_ADDRESS_KIND) :: value
        logical :: flag
        call MPI_Comm_create_keyval(copy, delete, key, 2_MPI_ADDRESS_KIND**40)
        call MPI_Comm_dup(MPI_COMM_SELF, comm)
        call MPI_Comm_get_attr(comm, key, value, flag)
        call expect(.not. flag, 'an attribute that was not set')
        call MPI_Comm_set_attr(comm, key, 2_MPI_ADDRESS_KIND**35)
        call MPI_Comm_get_attr(comm, key, value, flag)
        call expect(flag .and. value == 2_MPI_ADDRESS_KIND**35, 'a wide attribute')
        call MPI_Comm_set_attr(comm, key, 5_MPI_ADDRESS_KIND)
        call expect(deletions == 1 .and. sum_of_deleted == 2_MPI_ADDRESS_KIND**35, &
            'an attribute that is replaced is deleted')
        sum_of_deleted = 0
        call MPI_Comm_dup(comm, other)
        call MPI_Comm_get_attr(other, key, value, flag)
        call expect(flag .and. value == 105, 'the copy of an attribute')
        call MPI_Comm_free(other)
        call expect(sum_of_deleted == 105, 'the copy is deleted')
        call MPI_Comm_set_attr(comm, key, 13_MPI_ADDRESS_KIND)
        call MPI_Comm_dup(comm, other)
        call MPI_Comm_get_attr(other, key, value, flag)
        call expect(.not. flag, 'an attribute that is not copied')
        call MPI_Comm_free(other)
        call MPI_Comm_set_attr(comm, key, 666_MPI_ADDRESS_KIND)
        call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
        call MPI_Comm_delete_attr(comm, key, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_OTHER, 'the class of a deletion that fails')
        call MPI_Comm_set_attr(comm, key, 1_MPI_ADDRESS_KIND, code)
        deletions = 0
        call MPI_Comm_free_keyval(key)
        call expect(key, MPI_KEYVAL_INVALID, 'a freed key')
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
        call expect(flag .and. value >= 32767, 'MPI_TAG_UB is the number')
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag)
        call expect(flag .and. (value == 0 .or. value == 1), 'MPI_WTIME_IS_GLOBAL is the number')
    end subroutine attributes

    ! Attributes of datatypes, copied and deleted by the predefined procedures.
    subroutine predefined_copies()
        integer :: copied, dropped
        integer(kind=MPI_ADDRESS_KIND) :: value
        type(MPI_Datatype) :: type, same
        logical :: flag
        call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, copied, &
            0_MPI_ADDRESS_KIND)
        call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, dropped, &
            0_MPI_ADDRESS_KIND)
        call MPI_Type_contiguous(3, MPI_REAL, type)
        call MPI_Type_set_attr(type, copied, 41_MPI_ADDRESS_KIND)
        call MPI_Type_set_attr(type, dropped, 42_MPI_ADDRESS_KIND)
        call MPI_Type_dup(type, same)
        call MPI_Type_free(type)
        call MPI_Type_get_attr(same, copied, value, flag)
        call expect(flag .and. value == 41, 'MPI_TYPE_DUP_FN copies')
        call MPI_Type_get_attr(same, dropped, value, flag)
        call expect(.not. flag, 'MPI_TYPE_NULL_COPY_FN does not copy')
        call MPI_Type_free(same)
        call MPI_Type_free_keyval(copied)
        call MPI_Type_free_keyval(dropped)
    end subroutine predefined_copies

    subroutine generalized()
        type(MPI_Request) :: request
        type(MPI_Status) :: status
        integer :: n
        logical :: flag
        calls = 0
        call MPI_Grequest_start(query, release, cancel, 29_MPI_ADDRESS_KIND, request)
        call MPI_Test(request, flag, status)
        call expect(.not. flag, 'a generalized request that is not complete')
        call MPI_Cancel(request)
        call expect(.not. cancelled_after, 'the flag of a cancelled request')
        call MPI_Grequest_complete(request)
        call MPI_Wait(request, status)
        call expect(request == MPI_REQUEST_NULL, 'a generalized request that is complete')
        call expect(status%MPI_SOURCE, 17, 'the source of a generalized request')
        call expect(status%MPI_TAG, 29, 'the tag of a generalized request')
        call MPI_Get_count(status, MPI_INTEGER, n)
        call expect(n, 4, 'the count of a generalized request')
        call expect(calls, 1, 'a generalized request is released once')
    end subroutine generalized

end program callbacks
