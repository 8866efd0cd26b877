! SPDX-License-Identifier: BSD-3-Clause
! What binaries that use mpi_f08 of other MPIs need beside tests/fortran. -DMPICH: the module has forms
! for large counts, and conversions of statuses are in the library.
module types
    implicit none
    type box
        class(*), allocatable :: content
    end type
contains
    subroutine put(into, x)
        type(box), intent(inout) :: into
        class(*), intent(in) :: x
        allocate(into%content, source=x)
    end subroutine
end module

program f08
    use mpi_f08
    use check
    use types
    implicit none
    integer :: rank, other, got(3), old(MPI_STATUS_SIZE)
    integer, target :: numbers(3)
    type(MPI_Status) :: status, again
    type(box) :: handle, envelope
    double precision :: start

    call MPI_Init()
    start = MPI_Wtime()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    other = 1 - rank
    numbers = rank
    got = -1
    if (rank == 0) call PMPI_Send(numbers, 3, MPI_INTEGER, 1, 5, MPI_COMM_WORLD)
    if (rank == 1) call PMPI_Recv(got, 3, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, status)
    if (rank == 1) call expect(all(got == 0) .and. status%MPI_TAG == 5, 'by the names of profiling')
#ifdef MPICH
    call MPI_Sendrecv(numbers, 3_MPI_COUNT_KIND, MPI_INTEGER, other, 8, got, 3_MPI_COUNT_KIND, &
        MPI_INTEGER, other, 8, MPI_COMM_WORLD, status)
    call expect(all(got == other), 'a large count')
    call MPI_Status_f082f(status, old)
    call MPI_Status_f2f08(old, again)
    call expect(old(MPI_SOURCE) == other .and. again%MPI_TAG == 8, 'a status there and back')
#endif
    ! The compiler passes the types, which are objects of the library.
    call put(handle, MPI_COMM_WORLD)
    call put(envelope, status)
    call expect(storage_size(handle%content), 32, 'the size of a handle')
    call expect(storage_size(envelope%content), 32 * MPI_STATUS_SIZE, 'the size of a status')
    call expect(MPI_Wtime() >= start, 'the time')
    call MPI_Finalize()
    call finished()
end program
