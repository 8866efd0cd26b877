! SPDX-License-Identifier: BSD-3-Clause
! What binaries of Fortran use: run by tests/frontend/run with 2 ranks, once with mpif.h, once with
! the module (-DMODULE). convert.c has the C functions.
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
    integer :: handled, copied, deleted
    integer(kind=MPI_ADDRESS_KIND) :: attribute, address
    logical :: flag
    double precision :: numbers(4)
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    external :: add, handle, copy, delete, convert, refuses
    common /counts/ handled, copied, deleted
    common /everywhere/ numbers ! so that MPI_BOTTOM may change it

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
    call MPI_Irecv(got, 1, MPI_INTEGER, other, 6, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(value, 1, MPI_INTEGER, other, 6, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call check(got == 100 + other .and. requests(2) == MPI_REQUEST_NULL, 'waitall, no statuses')
    call MPI_Recv_init(got, 1, MPI_INTEGER, other, 6, MPI_COMM_WORLD, requests(1), ierror)
    call convert(MPI_COMM_WORLD, MPI_DOUBLE_COMPLEX, status, requests(1), length)
    call check(length == 1, 'handles and statuses in C')
    call refuses(MPI_STATUS_IGNORE, length)
    call check(length == 1, 'no status in C')
    call MPI_Request_free(requests(1), ierror)
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

    call MPI_Get_address(numbers, address, ierror)
    call MPI_Type_create_hindexed(1, (/4/), (/address/), MPI_DOUBLE_PRECISION, type, ierror)
    call MPI_Type_commit(type, ierror)
    numbers = rank
    call MPI_Bcast(MPI_BOTTOM, 1, type, 1, MPI_COMM_WORLD, ierror)
    call check(all(numbers == 1), 'bottom')
    call MPI_Type_free(type, ierror)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, (/other/), MPI_UNWEIGHTED, 1, &
                                        (/other/), MPI_UNWEIGHTED, MPI_INFO_NULL, .false., comm, ierror)
    call MPI_Dist_graph_neighbors_count(comm, extent, length, flag, ierror)
    call check(extent == 1 .and. length == 1 .and. .not. flag, 'unweighted')
    call MPI_Comm_free(comm, ierror)

    handled = 0
    copied = 0
    deleted = 0
    call MPI_Comm_create_keyval(copy, delete, key, 5_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 77_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_get_attr(comm, key, attribute, flag, ierror)
    call check(flag .and. attribute == 82 .and. copied == 1, 'copied attribute')
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
    call check(deleted == 2, 'deleted attribute')
    call MPI_Comm_free_keyval(key, ierror)
    call check(key == MPI_KEYVAL_INVALID, 'keyval')
    call MPI_Comm_create_errhandler(handle, operation, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, operation, ierror)
    call MPI_Send(value, 1, MPI_INTEGER, size + 7, 1, MPI_COMM_WORLD, ierror)
    call check(handled == 1 .and. ierror == MPI_ERR_RANK, 'errhandler')
    call MPI_Errhandler_free(operation, ierror)
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

subroutine handle(comm, code)
    implicit none
    include 'mpif.h'
    integer :: comm, code, handled, copied, deleted
    common /counts/ handled, copied, deleted
    if (comm == MPI_COMM_WORLD .and. code == MPI_ERR_RANK) handled = handled + 1
end subroutine

subroutine copy(comm, key, extra, in, out, flag, ierror)
    implicit none
    include 'mpif.h'
    integer :: comm, key, ierror, handled, copied, deleted
    integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    common /counts/ handled, copied, deleted
    if (comm == MPI_COMM_WORLD .and. extra == 5) copied = copied + 1
    out = in + extra
    flag = .true.
    ierror = MPI_SUCCESS
end subroutine

subroutine delete(comm, key, value, extra, ierror)
    implicit none
    include 'mpif.h'
    integer :: comm, key, ierror, handled, copied, deleted
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    common /counts/ handled, copied, deleted
    if (value == 77 .eqv. comm == MPI_COMM_WORLD) deleted = deleted + 1
    ierror = MPI_SUCCESS
end subroutine
