! SPDX-License-Identifier: BSD-3-Clause
! The Fortran half of mixed.c: sets, reads and passes what C gives it.
subroutine fortran_sets(comm, key, value)
    use mpi
    implicit none
    integer, intent(in) :: comm, key
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: value
    integer :: code
    call MPI_Comm_set_attr(comm, key, value, code)
end subroutine fortran_sets

subroutine fortran_puts(comm, key, value)
    use mpi
    implicit none
    integer, intent(in) :: comm, key, value
    integer :: code
    call MPI_Attr_put(comm, key, value, code)
end subroutine fortran_puts

subroutine fortran_gets(comm, key, value, found)
    use mpi_f08
    implicit none
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: key
    integer(kind=MPI_ADDRESS_KIND), intent(out) :: value
    integer, intent(out) :: found
    logical :: flag
    value = 0
    call MPI_Comm_get_attr(comm, key, value, flag)
    found = merge(1, 0, flag)
end subroutine fortran_gets

! The sizes of Fortran's types, in the order of the C table.
subroutine fortran_sizes(sizes)
    implicit none
    integer, intent(out) :: sizes(6)
    sizes = [storage_size(1), storage_size(1.0), storage_size(1d0), storage_size((1.0, 1.0)), &
        storage_size((1d0, 1d0)), storage_size(.true.)] / 8
end subroutine fortran_sizes

! Receives with a status in Fortran, and returns its integers to C.
subroutine fortran_receives(comm, f_status)
    use mpi_f08
    implicit none
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out) :: f_status(MPI_STATUS_SIZE)
    type(MPI_Status) :: status
    integer :: x(10)
    call MPI_Recv(x, 10, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status)
    call MPI_Status_f082f(status, f_status)
end subroutine fortran_receives

! A derived datatype that is made here and used in C.
subroutine fortran_types(type)
    use mpi_f08
    implicit none
    type(MPI_Datatype), intent(out) :: type
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, type)
    call MPI_Type_commit(type)
end subroutine fortran_types

! Procedures that C uses with the objects made here, by C's functions.
module fortran_procedures
    use, intrinsic :: iso_c_binding
    use mpi_f08
    implicit none
contains
    subroutine largest(invec, inoutvec, len, datatype)
        type(c_ptr), value :: invec, inoutvec
        integer :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: a(:), b(:)
        call c_f_pointer(invec, a, [len])
        call c_f_pointer(inoutvec, b, [len])
        if (datatype == MPI_INTEGER .or. datatype == MPI_INT) b = max(a, b)
    end subroutine largest

    subroutine frees_name(comm, error_code)
        type(MPI_Comm) :: comm
        integer :: error_code
        if (error_code /= MPI_SUCCESS) call MPI_Comm_set_name(comm, 'handled by Fortran')
    end subroutine frees_name

    subroutine copies(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, &
        ierror)
        type(MPI_Comm) :: oldcomm
        integer :: comm_keyval, ierror
        integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
        logical :: flag
        attribute_val_out = attribute_val_in + extra_state
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine copies

    subroutine extent(datatype, extent_of, extra_state, ierror)
        type(MPI_Datatype) :: datatype
        integer(kind=MPI_ADDRESS_KIND) :: extent_of, extra_state
        integer :: ierror
        extent_of = extra_state
        ierror = merge(MPI_SUCCESS, MPI_ERR_TYPE, datatype == MPI_REAL)
    end subroutine extent

    subroutine reads(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        type(c_ptr), value :: userbuf, filebuf
        type(MPI_Datatype) :: datatype
        integer :: count, ierror
        integer(kind=MPI_OFFSET_KIND) :: position
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        integer, pointer :: to(:), from(:)
        call c_f_pointer(userbuf, to, [count])
        call c_f_pointer(filebuf, from, [count])
        to = from + int(position) + int(extra_state)
        ierror = merge(MPI_SUCCESS, MPI_ERR_TYPE, datatype == MPI_INTEGER)
    end subroutine reads

    subroutine makes(op, handler, key) bind(C, name="fortran_makes")
        type(MPI_Op), intent(out) :: op
        type(MPI_Errhandler), intent(out) :: handler
        integer, intent(out) :: key
        call MPI_Op_create(largest, .true., op)
        call MPI_Comm_create_errhandler(frees_name, handler)
        call MPI_Comm_create_keyval(copies, MPI_COMM_NULL_DELETE_FN, key, 5_MPI_ADDRESS_KIND)
    end subroutine makes

    subroutine registers() bind(C, name="fortran_registers")
        call MPI_Register_datarep(' mine ', reads, MPI_CONVERSION_FN_NULL, extent, &
            9_MPI_ADDRESS_KIND)
    end subroutine registers
end module fortran_procedures

! Reduces with an operation of C, and raises an error at a handler of C.
subroutine fortran_uses(op, comm, result)
    use mpi
    implicit none
    integer, intent(in) :: op, comm
    integer, intent(out) :: result
    integer :: code
    call MPI_Allreduce(21, result, 1, MPI_INTEGER, op, comm, code)
    call MPI_Send(1, 1, MPI_INTEGER, 77, 0, comm, code)
end subroutine fortran_uses

! Arrays of strings and their special addresses, which C's functions get in mixed.c.
subroutine fortran_spawns()
    use mpi_f08
    implicit none
    type(MPI_Comm) :: children
    character(len=8) :: argv(4), commands(2), argvs(2, 3)
    integer :: codes(3)
    argv = ['one     ', '  two   ', 'eightlet', '        ']
    call MPI_Comm_spawn(' a.out  ', argv, 3, MPI_INFO_NULL, 0, MPI_COMM_SELF, children, codes)
    commands = ['first   ', 'second  ']
    argvs(1, :) = ['x       ', '        ', 'no      ']
    argvs(2, :) = ['y       ', 'z       ', '        ']
    call MPI_Comm_spawn_multiple(2, commands, argvs, [1, 2], [MPI_INFO_NULL, MPI_INFO_ENV], 0, &
        MPI_COMM_SELF, children, codes)
    ! Arguments without a blank one behind them, of a process that is not the root
    argv = 'eightlet'
    call MPI_Comm_spawn('c.out', argv, 1, MPI_INFO_NULL, 1, MPI_COMM_SELF, children, codes)
end subroutine fortran_spawns

subroutine fortran_spawns_less()
    use mpi
    implicit none
    integer :: children, code
    call MPI_Comm_spawn('b.out', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, children, &
        MPI_ERRCODES_IGNORE, code)
    call MPI_Comm_spawn_multiple(2, ['p', 'q'], MPI_ARGVS_NULL, [1, 1], &
        [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_SELF, children, MPI_ERRCODES_IGNORE, code)
end subroutine fortran_spawns_less
