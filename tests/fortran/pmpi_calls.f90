! SPDX-License-Identifier: BSD-3-Clause
! Three sends to this rank itself, by two interfaces; the profiling libraries of tests/fortran/run
! count them.
subroutine older()
    implicit none
    include 'mpif.h'
    integer :: code, x(1), request
    x = 1
    call MPI_Irecv(x, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request, code)
    call MPI_Send(x, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, code)
    call MPI_Wait(request, MPI_STATUS_IGNORE, code)
end subroutine older

subroutine newer()
    use mpi_f08
    implicit none
    integer :: x(9), y(3)
    type(MPI_Request) :: requests(2)
    x = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    call MPI_Isend(x(1:9:4), 3, MPI_INTEGER, 0, 2, MPI_COMM_SELF, requests(1))
    call MPI_Isend(x, 3, MPI_INTEGER, 0, 3, MPI_COMM_SELF, requests(2))
    call MPI_Recv(y, 3, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    if (any(y /= [1, 5, 9])) stop 3
    call MPI_Recv(y, 3, MPI_INTEGER, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
end subroutine newer

subroutine program_calls()
    implicit none
    include 'mpif.h'
    integer :: code
    call MPI_Init(code)
    call older()
    call newer()
    call MPI_Finalize(code)
end subroutine program_calls
