! SPDX-License-Identifier: BSD-3-Clause
! Makes 1000 calls of MPI_Isend and of MPI_Irecv of 8 bytes to this rank itself, through mpi_f08, for
! bench/fortran_instructions to count what they cost beyond C's.
program fortran_calls
    use mpi_f08
    implicit none
    integer, parameter :: window = 50
    integer, asynchronous :: out(2), in(2, window)
    type(MPI_Request) :: sends(window), receives(window)
    integer :: round, i
    call MPI_Init()
    out = 7
    do round = 1, 20
        do i = 1, window
            call MPI_Irecv(in(:, i), 2, MPI_INTEGER, 0, i, MPI_COMM_WORLD, receives(i))
        end do
        do i = 1, window
            call MPI_Isend(out, 2, MPI_INTEGER, 0, i, MPI_COMM_WORLD, sends(i))
        end do
        call MPI_Waitall(window, receives, MPI_STATUSES_IGNORE)
        call MPI_Waitall(window, sends, MPI_STATUSES_IGNORE)
    end do
    if (any(in /= 7)) stop 1
    call MPI_Finalize()
end program fortran_calls
