! SPDX-License-Identifier: BSD-3-Clause
! run: ranks=1,3 lanes=rxm,shm seconds=40
! Procedures that a program hands to MPI, in the style of the older interfaces: handles and
! attributes are INTEGERs.
program callbacks_old
    use mpi
    use check
    implicit none
    external :: largest, on_error, copy, delete
    integer :: code, rank, size, op, handler, key, comm, value
    integer(kind=MPI_ADDRESS_KIND) :: wide
    integer :: mine(2), all(2), last, calls
    logical :: flag
    common /seen/ last, calls

    last = -1
    calls = 0
    call MPI_INIT(code)
    call MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
    call MPI_COMM_SIZE(MPI_COMM_WORLD, size, code)

    call MPI_OP_CREATE(largest, .true., op, code)
    mine = [rank, -rank]
    call MPI_ALLREDUCE(mine, all, 2, MPI_INTEGER, op, MPI_COMM_WORLD, code)
    call expect(all(1), size - 1, 'the largest')
    call expect(all(2), 0, 'the largest of the negative ones')
    call MPI_OP_FREE(op, code)

    call MPI_COMM_DUP(MPI_COMM_SELF, comm, code)
    call MPI_COMM_CREATE_ERRHANDLER(on_error, handler, code)
    call MPI_COMM_SET_ERRHANDLER(comm, handler, code)
    call MPI_SEND(mine, -1, MPI_INTEGER, 0, 0, comm, code)
    call MPI_ERROR_CLASS(last, value, code)
    call expect(value, MPI_ERR_COUNT, 'the class that an error handler gets')
    call MPI_ERRHANDLER_FREE(handler, code)

    ! INTEGER attributes, and what the newer procedures see of them.
    call MPI_KEYVAL_CREATE(copy, delete, key, 77, code)
    call MPI_ATTR_PUT(comm, key, -5, code)
    call MPI_ATTR_GET(comm, key, value, flag, code)
    call expect(flag .and. value == -5, 'an INTEGER attribute')
    call MPI_COMM_GET_ATTR(comm, key, wide, flag, code)
    call expect(flag .and. wide == -5, 'an INTEGER attribute, read with the address kind')
    call MPI_COMM_DUP(comm, handler, code)
    call MPI_ATTR_GET(handler, key, value, flag, code)
    call expect(flag .and. value == -4, 'the copy of an INTEGER attribute')
    call MPI_COMM_FREE(handler, code)
    call expect(calls, 1, 'the copy is deleted')
    call MPI_ATTR_DELETE(comm, key, code)
    call expect(calls, 2, 'the attribute is deleted')
    call MPI_KEYVAL_FREE(key, code)
    call MPI_ATTR_GET(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, code)
    call expect(flag .and. value >= 32767, 'MPI_TAG_UB is the number')

    call MPI_KEYVAL_CREATE(MPI_DUP_FN, MPI_NULL_DELETE_FN, key, 0, code)
    call MPI_ATTR_PUT(comm, key, 8, code)
    call MPI_COMM_DUP(comm, handler, code)
    call MPI_COMM_FREE(comm, code)
    call MPI_ATTR_GET(handler, key, value, flag, code)
    call expect(flag .and. value == 8, 'MPI_DUP_FN copies')
    call MPI_COMM_FREE(handler, code)
    call MPI_KEYVAL_FREE(key, code)

    call MPI_FINALIZE(code)
    call finished()
end program callbacks_old

subroutine largest(invec, inoutvec, len, datatype)
    use mpi
    use check
    implicit none
    integer :: len, datatype
    integer :: invec(len), inoutvec(len)
    call expect(datatype, MPI_INTEGER, 'the datatype that an operation gets')
    inoutvec = max(invec, inoutvec)
end subroutine largest

subroutine on_error(comm, error_code)
    implicit none
    integer :: comm, error_code, last, calls
    common /seen/ last, calls
    last = error_code
end subroutine on_error

subroutine copy(comm, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    use check
    implicit none
    integer :: comm, keyval, extra_state, attribute_val_in, attribute_val_out, ierror
    logical :: flag
    call expect(extra_state, 77, 'the extra state of a copy')
    attribute_val_out = attribute_val_in + 1
    flag = .true.
    ierror = 0
end subroutine copy

subroutine delete(comm, keyval, attribute_val, extra_state, ierror)
    implicit none
    integer :: comm, keyval, attribute_val, extra_state, ierror, last, calls
    common /seen/ last, calls
    calls = calls + 1
    ierror = 0
end subroutine delete
