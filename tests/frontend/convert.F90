! SPDX-License-Identifier: BSD-3-Clause
! What binaries of Fortran with mpif.h or the module (-DMODULE) use beside tests/fortran: handles and
! statuses in C (convert.c), and procedures of MPI-1. 2 ranks.
program convert
    use check
#ifdef MODULE
    use mpi
    implicit none
#else
    implicit none
    include 'mpif.h'
#endif
    integer :: code, rank, other, got(4), status(MPI_STATUS_SIZE), request, good, type, lb, ub, extent
    integer :: handler
    double precision :: numbers(4)
    external :: converts, refuses

    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    other = 1 - rank
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, other, 5, got, 4, MPI_INTEGER, MPI_ANY_SOURCE, &
        MPI_ANY_TAG, MPI_COMM_WORLD, status, code)
    call MPI_Recv_init(got, 1, MPI_INTEGER, other, 6, MPI_COMM_WORLD, request, code)
    call converts(MPI_COMM_WORLD, MPI_DOUBLE_COMPLEX, status, request, good)
    call expect(good, 1, 'handles and statuses in C')
    call refuses(MPI_STATUS_IGNORE, good)
    call expect(good, 1, 'no status in C')
    call MPI_Request_free(request, code)
    call MPI_Recv(got, 1, MPI_INTEGER, MPI_PROC_NULL, 7, MPI_COMM_WORLD, status, code)
    call expect(status(MPI_SOURCE) == MPI_PROC_NULL .and. status(MPI_TAG) == MPI_ANY_TAG, 'no rank')

    call mpi_type_hvector(2, 1, 16, MPI_DOUBLE_PRECISION, type, code)
    call bounds(0, 24, 'hvector')
    call MPI_Type_commit(type, code)
    numbers = rank
    call MPI_Sendrecv_replace(numbers, 1, type, other, 8, other, 8, MPI_COMM_WORLD, &
        MPI_STATUS_IGNORE, code)
    call expect(all(numbers == [other, rank, other, rank]), 'a datatype with gaps')
    call MPI_Type_free(type, code)
    call mpi_type_hindexed(2, [1, 1], [-8, 8], MPI_DOUBLE_PRECISION, type, code)
    call bounds(-8, 16, 'hindexed')
    call MPI_Type_free(type, code)
    call mpi_type_struct(2, [1, 1], [8, 16], [MPI_DOUBLE_PRECISION, MPI_INTEGER], type, code)
    call mpi_type_extent(type, extent, code)
    call expect(extent, 16, 'the extent of a struct')
    call MPI_Type_free(type, code)
    call mpi_errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
    call mpi_errhandler_get(MPI_COMM_WORLD, handler, code)
    call expect(handler, MPI_ERRORS_RETURN, 'the error handler')
    call MPI_Finalize(code)
    call finished()

contains
    subroutine bounds(lower, upper, what)
        integer, intent(in) :: lower, upper
        character(len=*), intent(in) :: what
        call mpi_type_lb(type, lb, code)
        call mpi_type_ub(type, ub, code)
        call mpi_type_extent(type, extent, code)
        call expect(lb == lower .and. ub == upper .and. extent == upper - lower, 'bounds of ' // what)
    end subroutine
end program
