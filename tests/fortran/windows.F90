! SPDX-License-Identifier: BSD-3-Clause
! run: ranks=1,3 lanes=rxm,shm seconds=40
! Windows through one interface: a ring of puts, sums, atomic operations, attributes, and memory that
! MPI allocates.
#include "interface.inc"
program windows
    use, intrinsic :: iso_c_binding
    use check
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: rank, size, code

    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    call MPI_Comm_size(MPI_COMM_WORLD, size, code)
    call created()
#ifndef MPIF_H
    call allocated()
#endif
    call MPI_Finalize(code)
    call finished()

contains

    subroutine created()
        HANDLE(MPI_Win) :: win
        HANDLE(MPI_Group) :: group
        HANDLE(MPI_Request) :: request
        STATUS(got)
        integer KEPT :: cells(0:3), one, seen, mine, expected
        integer :: length
        integer(MPI_ADDRESS_KIND) :: value
        logical :: flag
        character(len=MPI_MAX_OBJECT_NAME) :: name
        cells = 0
        one = 1
        mine = rank + 10
        call MPI_Win_create(cells, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
        call expect(code, MPI_SUCCESS, 'the code of MPI_Win_create')
        call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, code)
        call expect(merge(int(value), -1, flag), 16, 'MPI_WIN_SIZE')
        call MPI_Win_set_name(win, 'cells', code)
        call MPI_Win_get_name(win, name, length, code)
        call expect(merge(length, -1, name == 'cells'), 5, 'the name')
        call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, code)
        call MPI_Put(mine, 1, MPI_INTEGER, modulo(rank + 1, size), 0_MPI_ADDRESS_KIND, 1, &
            MPI_INTEGER, win, code)
        call MPI_Accumulate(mine, 1, MPI_INTEGER, 0, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, &
            win, code)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, code)
        call expect(cells(0), modulo(rank - 1, size) + 10, 'what was put')
        expected = 10 * size + size * (size - 1) / 2
        if (rank == 0) call expect(cells(1), expected, 'the sum')
        call MPI_Win_lock_all(0, win, code)
        call MPI_Fetch_and_op(one, seen, MPI_INTEGER, 0, 2_MPI_ADDRESS_KIND, MPI_SUM, win, code)
        call MPI_Win_flush(0, win, code)
        call expect(merge(1, 0, seen >= 0 .and. seen < size), 1, 'MPI_Fetch_and_op')
        call MPI_Rget(seen, 1, MPI_INTEGER, 0, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, request, &
            code)
        call MPI_Wait(request, got, code)
        call expect(seen, expected, 'MPI_Rget')
        call MPI_Win_unlock_all(win, code)
        call MPI_Win_get_group(win, group, code)
        call MPI_Win_post(group, 0, win, code)
        call MPI_Win_start(group, 0, win, code)
        call MPI_Get(seen, 1, MPI_INTEGER, 0, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, code)
        call MPI_Win_complete(win, code)
        call MPI_Win_wait(win, code)
        call expect(seen, size, 'the count')
        call MPI_Group_free(group, code)
        call MPI_Win_free(win, code)
        call expect(code, MPI_SUCCESS, 'the code of MPI_Win_free')
    end subroutine created

#ifndef MPIF_H
    subroutine allocated()
        HANDLE(MPI_Win) :: win
        type(c_ptr) :: base, theirs
        integer, pointer :: cells(:)
        integer(MPI_ADDRESS_KIND) :: bytes
        integer :: unit
        call MPI_Win_allocate_shared(8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, &
            win, code)
        call c_f_pointer(base, cells, [2])
        call MPI_Win_fence(0, win, code)
        cells = [rank, -rank]
        call MPI_Win_fence(0, win, code)
        call MPI_Win_shared_query(win, size - 1, bytes, unit, theirs, code)
        call expect(int(bytes) + unit, 12, 'the size and the displacement unit')
        call c_f_pointer(theirs, cells, [2])
        call expect(cells(2), 1 - size, 'the last rank''s second cell')
        call MPI_Win_free(win, code)
    end subroutine allocated
#endif
end program windows
