! SPDX-License-Identifier: BSD-3-Clause
! run: ranks=2 lanes=rxm,shm seconds=60
! Two threads with nonblocking reductions of strided sections, each on a communicator of its own: a
! request of one gets the INTEGER that a request of the other had before, since both have one VCI.
module sections_threads_part
    use, intrinsic :: iso_c_binding
    use mpi_f08
    implicit none
    integer, parameter :: threads = 2, rounds = 10000, elements = 5
    type(MPI_Comm) :: comms(threads)
    integer :: wrong(threads) = 0

    interface
        integer(kind=c_int) function setenv(name, value, overwrite) bind(C)
            import
            character(kind=c_char), intent(in) :: name(*), value(*)
            integer(kind=c_int), value :: overwrite
        end function setenv
        integer(kind=c_int) function pthread_create(thread, attributes, start, argument) bind(C)
            import
            integer(kind=c_long), intent(out) :: thread
            type(c_ptr), value :: attributes, argument
            type(c_funptr), value :: start
        end function pthread_create
        integer(kind=c_int) function pthread_join(thread, result) bind(C)
            import
            integer(kind=c_long), value :: thread
            type(c_ptr), intent(out) :: result
        end function pthread_join
    end interface

contains

    recursive function reduce(number) result(nothing) bind(C)
        type(c_ptr), value :: number
        type(c_ptr) :: nothing
        integer, pointer :: me
        integer, asynchronous :: in(2 * elements), out(2 * elements)
        integer :: round, size
        type(MPI_Request) :: request
        call c_f_pointer(number, me)
        call MPI_Comm_size(comms(me), size)
        do round = 1, rounds
            in = round * me
            out = -1
            call MPI_Iallreduce(in(1::2), out(1::2), elements, MPI_INTEGER, MPI_SUM, comms(me), request)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
            if (any(out(1::2) /= size * round * me) .or. any(out(2::2) /= -1)) wrong(me) = wrong(me) + 1
        end do
        nothing = c_null_ptr
    end function reduce
end module sections_threads_part

program sections_threads
    use sections_threads_part
    use check
    implicit none
    integer :: i, provided
    integer, target :: numbers(threads) = [1, 2]
    integer(kind=c_long) :: handles(threads)
    type(c_ptr) :: nothing
    call expect(setenv('WEFT_VCIS' // c_null_char, '1' // c_null_char, 1), 0, 'a setting')
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
    do i = 1, threads
        call MPI_Comm_dup(MPI_COMM_WORLD, comms(i))
    end do
    do i = 1, threads
        call expect(pthread_create(handles(i), c_null_ptr, c_funloc(reduce), c_loc(numbers(i))), 0, &
            'the start of a thread')
    end do
    do i = 1, threads
        call expect(pthread_join(handles(i), nothing), 0, 'the end of a thread')
        call expect(wrong(i), 0, 'the number of wrong results')
        call MPI_Comm_free(comms(i))
    end do
    call MPI_Finalize()
    call finished()
end program sections_threads
