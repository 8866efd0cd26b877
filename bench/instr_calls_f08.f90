! SPDX-License-Identifier: BSD-3-Clause
! The calls of bench/instr_calls through mpi_f08: buffers are contiguous arrays of one dimension.
module instr_calls_f08
    use, intrinsic :: iso_c_binding, only: c_int
    use mpi_f08
    implicit none
    integer, parameter :: window = 50, bytes = 8, tag = 3
    character, asynchronous :: buffer(bytes, 0:window - 1)
    type(MPI_Request) :: requests(0:window - 1)
contains
    subroutine f08_isend(i) bind(C)
        integer(c_int), value :: i
        call MPI_Isend(buffer(:, i), bytes, MPI_CHARACTER, 1, tag, MPI_COMM_WORLD, requests(i))
    end subroutine f08_isend

    subroutine f08_irecv(i) bind(C)
        integer(c_int), value :: i
        call MPI_Irecv(buffer(:, i), bytes, MPI_CHARACTER, 1, tag, MPI_COMM_WORLD, requests(i))
    end subroutine f08_irecv

    subroutine f08_wait_all() bind(C)
        call MPI_Waitall(window, requests, MPI_STATUSES_IGNORE)
    end subroutine f08_wait_all
end module instr_calls_f08
