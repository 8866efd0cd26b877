! SPDX-License-Identifier: BSD-3-Clause
! What binaries of Fortran use: run by tests/frontend/run with 2 ranks, once with mpif.h, once with
! the module (-DMODULE).
program old
#ifdef MODULE
    use mpi
    implicit none
#else
    implicit none
    include 'mpif.h'
#endif
    integer :: rank, size, ierror, other, value, got, total(3), status(MPI_STATUS_SIZE), length
    integer :: requests(2), statuses(MPI_STATUS_SIZE, 2), operation, type, extent, key, comm, errors
    integer(kind=MPI_ADDRESS_KIND) :: attribute
    logical :: flag
    double precision :: numbers(4)
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    external :: add

    errors = 0
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    other = 1 - rank

    value = 100 + rank
    call MPI_Sendrecv(value, 1, MPI_INTEGER, other, 5, got, 1, MPI_INTEGER, MPI_ANY_SOURCE, &
                      MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, length, ierror)
    call check(got == 100 + other .and. status(MPI_SOURCE) == other .and. status(MPI_TAG) == 5 &
               .and. length == 1, 'sendrecv')

    call MPI_Irecv(got, 1, MPI_INTEGER, other, 6, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(value, 1, MPI_INTEGER, other, 6, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, statuses, ierror)
    call check(statuses(MPI_SOURCE, 1) == other .and. requests(1) == MPI_REQUEST_NULL, 'waitall')
    call MPI_Recv(got, 1, MPI_INTEGER, MPI_PROC_NULL, 7, MPI_COMM_WORLD, status, ierror)
    call check(status(MPI_SOURCE) == MPI_PROC_NULL .and. status(MPI_TAG) == MPI_ANY_TAG, 'no rank')

    total = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check(all(total == 3), 'in place')
    call MPI_Op_create(add, .true., operation, ierror)
    call MPI_Reduce(value, got, 1, MPI_INTEGER, operation, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0) call check(got == 201, 'operation')
    call MPI_Op_free(operation, ierror)

    call MPI_Type_vector(2, 1, 2, MPI_DOUBLE_PRECISION, type, ierror)
    call MPI_Type_commit(type, ierror)
    numbers = rank
    call MPI_Sendrecv_replace(numbers, 1, type, other, 8, other, 8, MPI_COMM_WORLD, &
                              MPI_STATUS_IGNORE, ierror)
    call check(numbers(1) == other .and. numbers(2) == rank .and. numbers(3) == other, 'vector')
    call MPI_Type_size(type, extent, ierror)
    call check(extent == 16, 'size of a type')
    call MPI_Type_free(type, ierror)

    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, &
                                ierror)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 77_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_get_attr(comm, key, attribute, flag, ierror)
    call check(flag .and. attribute == 77, 'attribute')
    call MPI_Comm_get_attr(comm, MPI_TAG_UB, attribute, flag, ierror)
    call check(flag .and. attribute >= 32767, 'tag')
    call MPI_Comm_compare(comm, MPI_COMM_WORLD, got, ierror)
    call check(got == MPI_CONGRUENT, 'compare')
    call MPI_Comm_free(comm, ierror)
    call check(comm == MPI_COMM_NULL, 'free')

    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    call MPI_Send(value, 1, MPI_INTEGER, size + 7, 1, MPI_COMM_WORLD, ierror)
    call check(ierror == MPI_ERR_RANK, 'error')
    call MPI_Get_processor_name(name, length, ierror)
    call check(length > 0 .and. name(length + 1:) == ' ', 'name')
    call MPI_Finalize(ierror)
    if (errors > 0) stop 1

contains
    subroutine check(good, what)
        logical, intent(in) :: good
        character(len=*), intent(in) :: what
        if (good) return
        print *, 'rank', rank, what
        errors = errors + 1
    end subroutine
end program

subroutine add(in, inout, length, type)
    implicit none
    integer :: length, type, in(length), inout(length)
    if (type == 0) return
    inout = inout + in
end subroutine
