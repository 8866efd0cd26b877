! SPDX-License-Identifier: BSD-3-Clause
! The messages of bench/latency.c through mpi_f08: the buffer is a contiguous array of one dimension.
module latency_f08
    use, intrinsic :: iso_c_binding, only: c_char, c_int
    use mpi_f08
    implicit none
contains
    subroutine f08_send(buffer, count, peer, tag) bind(C)
        integer(c_int), value :: count, peer, tag
        character(kind=c_char), intent(in) :: buffer(count)
        call MPI_Send(buffer, count, MPI_CHARACTER, peer, tag, MPI_COMM_WORLD)
    end subroutine f08_send

    subroutine f08_recv(buffer, count, peer, tag) bind(C)
        integer(c_int), value :: count, peer, tag
        character(kind=c_char), intent(inout) :: buffer(count)
        call MPI_Recv(buffer, count, MPI_CHARACTER, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end subroutine f08_recv
end module latency_f08
