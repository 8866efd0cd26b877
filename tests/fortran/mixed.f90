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
