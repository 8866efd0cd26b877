! SPDX-License-Identifier: BSD-3-Clause
! What binaries that use mpi_f08 of other MPIs need: run by tests/frontend/run with 2 ranks. -DMPICH:
! the module has forms for large counts, and conversions of statuses are in the library.
module callbacks
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: handled = 0, copied = 0, deleted = 0
contains
    subroutine add(in, inout, length, type)
        type(c_ptr), value :: in, inout
        integer :: length
        type(MPI_Datatype) :: type
        integer, pointer :: a(:), b(:)
        call c_f_pointer(in, a, [length])
        call c_f_pointer(inout, b, [length])
        if (type == MPI_INTEGER) b = a + b
    end subroutine

    subroutine handle(comm, code)
        type(MPI_Comm) :: comm
        integer :: code
        if (comm == MPI_COMM_WORLD .and. code == MPI_ERR_RANK) handled = handled + 1
    end subroutine

    subroutine copy(comm, key, extra, in, out, flag, ierror)
        type(MPI_Comm) :: comm
        integer :: key, ierror
        integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
        logical :: flag
        if (comm == MPI_COMM_WORLD .and. extra == 5) copied = copied + 1
        out = in + extra
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine

    subroutine delete(comm, key, value, extra, ierror)
        type(MPI_Comm) :: comm
        integer :: key, ierror
        integer(kind=MPI_ADDRESS_KIND) :: value, extra
        if (comm /= MPI_COMM_WORLD .and. value == 82) deleted = deleted + 1
        ierror = MPI_SUCCESS
    end subroutine
end module

program f08
    use mpi_f08
    use callbacks
    implicit none
    integer :: rank, size, other, ierror, errors, i, got, value, length, position, old(MPI_STATUS_SIZE)
    integer, target, asynchronous :: numbers(10), received(10), square(4, 4), window(4)
    type :: point
        double precision :: x = 0
        integer :: number = 0, more = -5
    end type
    type(point) :: points(10)
    type(MPI_Status) :: status, statuses(2), again
    type(MPI_Request) :: requests(2)
    type(MPI_Comm) :: comm, graph
    type(MPI_Op) :: operation
    type(MPI_Datatype) :: type
    type(MPI_Errhandler) :: errhandler
    type(MPI_Info) :: info
    type(MPI_Win) :: win
    integer(kind=MPI_ADDRESS_KIND) :: attribute, address
    integer :: key
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=64) :: space
    double precision :: start

    errors = 0
    call MPI_Init()
    start = MPI_Wtime()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    other = 1 - rank
    call check(ierror == MPI_SUCCESS .and. size == 2, 'init')

    ! Messages and statuses
    value = 100 + rank
    call MPI_Sendrecv(value, 1, MPI_INTEGER, other, 5, got, 1, MPI_INTEGER, MPI_ANY_SOURCE, &
                      MPI_ANY_TAG, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, length)
    call check(got == 100 + other .and. status%MPI_SOURCE == other .and. status%MPI_TAG == 5 .and. &
               length == 1, 'sendrecv')
#ifdef MPICH
    call MPI_Status_f082f(status, old)
    call MPI_Status_f2f08(old, again)
    call check(old(MPI_SOURCE) == other .and. again%MPI_TAG == 5, 'conversion of a status')
#endif
    if (rank == 0) call PMPI_Send(value, 1, MPI_INTEGER, 1, 6, MPI_COMM_WORLD)
    if (rank == 1) call MPI_Recv(got, 1, MPI_INTEGER, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    if (rank == 1) call check(got == 100, 'recv')
    call MPI_Irecv(received, 10, MPI_INTEGER, other, 6, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(numbers, 3, MPI_INTEGER, other, 6, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses, ierror)
    call MPI_Get_count(statuses(1), MPI_INTEGER, length)
    call check(statuses(1)%MPI_SOURCE == other .and. length == 3 .and. &
               requests(1) == MPI_REQUEST_NULL, 'waitall')
    call MPI_Irecv(got, 1, MPI_INTEGER, other, 7, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(value, 1, MPI_INTEGER, other, 7, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(got == 100 + other .and. requests(2) == MPI_REQUEST_NULL, 'waitall without statuses')
    call MPI_Recv(got, 1, MPI_INTEGER, MPI_PROC_NULL, 7, MPI_COMM_WORLD, status)
    call check(status%MPI_SOURCE == MPI_PROC_NULL .and. status%MPI_TAG == MPI_ANY_TAG, 'no rank')

    ! Sections
    numbers = [(100 * rank + i, i = 1, 10)]
    received = -1
    call MPI_Sendrecv(numbers(1:9:2), 5, MPI_INTEGER, other, 8, received(2:10:2), 5, MPI_INTEGER, &
                      other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(received(2:10:2) == [(100 * other + i, i = 1, 9, 2)]) .and. &
               all(received(1:9:2) == -1), 'sections')
    square = reshape([(1000 * rank + i, i = 1, 16)], [4, 4])
    call by_shape(square)
    points%number = numbers
    call MPI_Sendrecv(points%number, 10, MPI_INTEGER, other, 8, received, 10, MPI_INTEGER, other, &
                      8, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(received == [(100 * other + i, i = 1, 10)]), 'a component of an array')
    if (MPI_SUBARRAYS_SUPPORTED) then
        received = -1
        call MPI_Irecv(received(10:2:-2), 5, MPI_INTEGER, other, 9, MPI_COMM_WORLD, requests(1))
        call MPI_Isend(square(2, :), 4, MPI_INTEGER, other, 9, MPI_COMM_WORLD, requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call check(all(received(10:4:-2) == 1000 * other + [2, 6, 10, 14]) .and. &
                   received(2) == -1 .and. received(9) == -1, 'nonblocking sections')
    end if
#ifdef MPICH
    received = 0
    call MPI_Sendrecv(numbers, 10_MPI_COUNT_KIND, MPI_INTEGER, other, 8, received, &
                      10_MPI_COUNT_KIND, MPI_INTEGER, other, 8, MPI_COMM_WORLD, status)
    call check(received(10) == 100 * other + 10, 'large count')
#endif

    ! Addresses with a meaning
    numbers = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, numbers, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(numbers(1:3) == 3), 'in place')
    call MPI_Get_address(numbers, address)
    call MPI_Type_create_hindexed(1, [10], [address], MPI_INTEGER, type)
    call MPI_Type_commit(type)
    numbers = rank
    if (rank == 0) call MPI_Send(MPI_BOTTOM, 1, type, 1, 10, MPI_COMM_WORLD)
    if (rank == 1) call MPI_Recv(MPI_BOTTOM, 1, type, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(numbers == 0), 'bottom')
    call MPI_Type_free(type)
    call check(type == MPI_DATATYPE_NULL, 'type free')
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [other], MPI_UNWEIGHTED, 1, [other], &
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph)
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, graph)
    call MPI_Dist_graph_neighbors_count(graph, i, length, flag)
    call check(got == other .and. i == 1 .and. .not. flag, 'unweighted')
    call MPI_Comm_free(graph)

    ! Callbacks
    call MPI_Op_create(add, .true., operation)
    call MPI_Reduce(value, got, 1, MPI_INTEGER, operation, 0, MPI_COMM_WORLD)
    if (rank == 0) call check(got == 201, 'operation')
    call MPI_Op_free(operation)
    call check(operation == MPI_OP_NULL, 'op free')
    call MPI_Comm_create_errhandler(handle, errhandler)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler)
    call MPI_Send(value, 1, MPI_INTEGER, size + 7, 1, MPI_COMM_WORLD, ierror)
    call check(handled == 1 .and. ierror == MPI_ERR_RANK, 'errhandler')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    call MPI_Errhandler_free(errhandler)
    call MPI_Comm_create_keyval(copy, delete, key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 77_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_get_attr(comm, key, attribute, flag)
    call check(flag .and. attribute == 82 .and. copied == 1, 'copied attribute')
    call MPI_Comm_free(comm)
    call check(deleted == 1 .and. comm == MPI_COMM_NULL, 'deleted attribute')
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    call MPI_Comm_free_keyval(key)
    call check(key == MPI_KEYVAL_INVALID, 'keyval')
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 78_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_get_attr(comm, key, attribute, flag)
    call check(flag .and. attribute == 78, 'predefined copy function')
    call MPI_Comm_get_attr(comm, MPI_TAG_UB, attribute, flag)
    call check(flag .and. attribute >= 32767, 'predefined attribute')

    ! Strings and handles
    call MPI_Comm_set_name(comm, 'a name')
    call MPI_Comm_get_name(comm, name, length)
    call check(name == 'a name' .and. length == 6, 'name')
    call check(comm%MPI_VAL /= MPI_COMM_WORLD%MPI_VAL .and. comm /= MPI_COMM_WORLD, 'handles')
    call MPI_Comm_free(comm)
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'key', 'its value')
    call MPI_Info_get(info, 'key', 64, space, flag)
    call check(flag .and. space == 'its value', 'info')
    call MPI_Info_free(info)
    address = 0
    call MPI_Pack_external('external32', [1, 2, 3], 3, MPI_INTEGER, space, &
                           int(len(space), MPI_ADDRESS_KIND), address)
    call check(address == 12 .and. iachar(space(4:4)) == 1, 'pack_external')
    position = 0
    call MPI_Pack(numbers(1:10:9), 2, MPI_INTEGER, space, len(space), position, MPI_COMM_WORLD)
    call check(position == 8, 'pack')
    call MPI_Sizeof(start, length)
    call check(length == 8, 'sizeof')

    ! A window
    window = rank
    call MPI_Win_create(window, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    call MPI_Put(value, 1, MPI_INTEGER, other, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, attribute, flag)
    call check(window(2) == 100 + other .and. window(1) == rank .and. attribute == 16, 'window')
    call MPI_Win_free(win)
    call check(win == MPI_WIN_NULL .and. MPI_Wtime() >= start, 'free')
    call MPI_Finalize(ierror)
    if (errors > 0) stop 1

contains
    subroutine by_shape(a)
        integer, intent(inout) :: a(:, :)
        integer :: b(2, 2), c(4)
        call MPI_Sendrecv(a(2:3, 1:4:3), 4, MPI_INTEGER, other, 8, b, 4, MPI_INTEGER, other, 8, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call check(all(b == 1000 * other + reshape([2, 3, 14, 15], [2, 2])), 'section of a matrix')
        call by_size(a, c)
        call check(all(c == 1000 * other + [1, 2, 3, 4]), 'assumed size')
    end subroutine

    subroutine by_size(a, b)
        integer, intent(in) :: a(*)
        integer, intent(out) :: b(*)
        call MPI_Sendrecv(a, 4, MPI_INTEGER, other, 8, b, 4, MPI_INTEGER, other, 8, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end subroutine

    subroutine check(good, what)
        logical, intent(in) :: good
        character(len=*), intent(in) :: what
        if (good) return
        print *, 'rank', rank, what
        errors = errors + 1
    end subroutine
end program
