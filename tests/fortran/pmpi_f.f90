! SPDX-License-Identifier: BSD-3-Clause
! A profiling library for Fortran: counts MPI_SEND of the older interfaces, and MPI_Isend of mpi_f08,
! whose descriptors it passes on.
module pmpi_counts
    implicit none
    integer :: sends = 0
end module pmpi_counts

subroutine MPI_Send(buf, count, datatype, dest, tag, comm, ierror)
    use pmpi_counts
    implicit none
    integer :: buf(*), count, datatype, dest, tag, comm, ierror
    external :: PMPI_Send
    sends = sends + 1
    call PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
end subroutine MPI_Send

subroutine MPI_Isend_f08ts(buf, count, datatype, dest, tag, comm, request, ierror) &
    bind(C, name="mpi_isend_f08ts_")
    use pmpi_counts
    use mpi_f08, only: MPI_Datatype, MPI_Comm, MPI_Request, PMPI_Isend
    implicit none
    type(*), dimension(..), intent(in), asynchronous :: buf
    integer, intent(in) :: count, dest, tag
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Request), intent(out) :: request
    integer, optional, intent(out) :: ierror
    sends = sends + 1
    call PMPI_Isend(buf, count, datatype, dest, tag, comm, request, ierror)
end subroutine MPI_Isend_f08ts

subroutine MPI_Finalize(ierror)
    use pmpi_counts
    implicit none
    integer :: ierror
    external :: PMPI_Finalize
    print '(a, i0, a)', 'Fortran saw ', sends, ' sends'
    call PMPI_Finalize(ierror)
end subroutine MPI_Finalize
