! SPDX-License-Identifier: BSD-3-Clause
! run: ranks=1,3 lanes=rxm,shm seconds=40
! Sections with gaps as buffers in mpi_f08: what arrives is what a contiguous copy would send, and
! nothing between the elements of a receive buffer is touched. A temporary that the compiler makes
! would be gone when a nonblocking call completes. MPI_3: see basics.F90.
module sections_errors
    use mpi_f08
    implicit none
    integer :: errors = 0

contains

    subroutine count_errors(comm, error_code)
        type(MPI_Comm) :: comm
        integer :: error_code
        if (comm /= MPI_COMM_NULL .and. error_code /= MPI_SUCCESS) errors = errors + 1
    end subroutine count_errors

end module sections_errors

program sections
    use, intrinsic :: iso_c_binding, only: c_null_char
    use mpi_f08
    use check
    use sections_errors
    implicit none
    integer, parameter :: n = 12
    integer :: rank, size, i, unused
    integer :: a(n, n), b(n, n), c(n, n)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    a = reshape([(i, i = 1, n * n)], [n, n])
    call expect(MPI_SUBARRAYS_SUPPORTED, 'MPI_SUBARRAYS_SUPPORTED')
    call two_dimensions(2, n, 3, 1, n, 5)
    call two_dimensions(n, 1, -1, n, 2, -2)
    call two_dimensions(1, n, 1, 3, 3, 1)
    call two_dimensions(5, 5, 1, 1, n, 1)
    call two_dimensions(1, n, 1, 2, n, 2)
    call three_dimensions()
    call parts()
    call elements()
    call blocking()
    call persistent()
#if !MPI_3
    call partitioned()
#endif
    call columns()
    call collectives()
    call rooted()
    call one_sided()
    call outstanding()
    call in_files()
    call refused()
    call refused_by_others()
    call refused_on_one_rank()
    call MPI_Finalize()
    call finished()

contains

    subroutine two_dimensions(i1, i2, is, j1, j2, js)
        integer, intent(in) :: i1, i2, is, j1, j2, js
        type(MPI_Request) :: requests(2)
        integer :: many, to, from
        many = ((i2 - i1) / is + 1) * ((j2 - j1) / js + 1)
        to = modulo(rank + 1, size)
        from = modulo(rank - 1, size)
        b = -1
        c = -1
        c(i1:i2:is, j1:j2:js) = a(i1:i2:is, j1:j2:js)
        call MPI_Irecv(b(i1:i2:is, j1:j2:js), many, MPI_INTEGER, from, 1, MPI_COMM_WORLD, requests(1))
        call MPI_Isend(a(i1:i2:is, j1:j2:js), many, MPI_INTEGER, to, 1, MPI_COMM_WORLD, requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call expect(all(b == c), 'a section of two dimensions')
    end subroutine two_dimensions

    subroutine three_dimensions()
        double precision :: x(4, 5, 6), y(4, 5, 6), z(4, 5, 6)
        type(MPI_Request) :: requests(2)
        integer :: k, many
        x = reshape([(dble(k), k = 1, 120)], [4, 5, 6])
        ! Fewer elements than the section has: the first ones in array element order.
        do many = 1, 18, 5
            y = -1
            z = -1
            block
                double precision :: packed(2, 3, 3), got(2, 3, 3)
                packed = x(1:4:2, 2:4, 6:1:-2)
                got = z(1:4:2, 2:4, 6:1:-2)
                got = reshape([reshape(packed, [many]), [(-1d0, k = 1, 18 - many)]], [2, 3, 3])
                z(1:4:2, 2:4, 6:1:-2) = got
            end block
            call MPI_Irecv(y(1:4:2, 2:4, 6:1:-2), many, MPI_DOUBLE_PRECISION, rank, 2, &
                MPI_COMM_WORLD, requests(1))
            call MPI_Isend(x(1:4:2, 2:4, 6:1:-2), many, MPI_DOUBLE_PRECISION, rank, 2, &
                MPI_COMM_WORLD, requests(2))
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
            call expect(all(y == z), 'the first elements of a section of three dimensions')
        end do
    end subroutine three_dimensions

    ! Components of an array of a derived type, and parts of complex numbers.
    subroutine parts()
        type point
            sequence
            double precision :: x
            integer :: tag, more
        end type point
        type(point) :: points(10)
        complex :: z(8)
        integer :: tags(10)
        type(MPI_Request) :: request
        real :: imaginary(8)
        points%x = 0
        points%more = -5
        points%tag = [(k2(i), i = 1, 10)]
        call MPI_Isend(points%tag, 10, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, request)
        call MPI_Recv(tags, 10, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call expect(all(tags == [(k2(i), i = 1, 10)]), 'a component of an array')
#if !MPI_3 /* gfortran 12 fails for complex parts without bind(C) */
        z = [(cmplx(i, -i), i = 1, 8)]
        call MPI_Isend(z%im, 8, MPI_REAL, rank, 4, MPI_COMM_WORLD, request)
        call MPI_Recv(imaginary, 8, MPI_REAL, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call expect(all(imaginary == [(real(-i), i = 1, 8)]), 'the imaginary parts')
#endif
    end subroutine parts

    integer function k2(k)
        integer, intent(in) :: k
        k2 = k * k
    end function k2

    ! A datatype that is smaller than the elements, and a count that ends within one.
    subroutine elements()
        double precision :: x(10), y(10)
        integer :: words(20), i
        integer(kind=MPI_COUNT_KIND) :: many
        type(MPI_Request) :: requests(2)
        x = [(dble(i), i = 1, 10)]
        y = 0
        many = 9
        call MPI_Irecv(y(1:10:2), many, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, requests(1))
        call MPI_Isend(x(1:10:2), many, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call expect(all(y(1:8:2) == x(1:8:2)), 'whole elements')
        words = transfer(x, words)
        words(18) = 0
        call expect(y(9) == transfer(words(17:18), 1d0), 'half an element')
        call expect(all(y(2:10:2) == 0), 'what lies between')
    end subroutine elements

    ! Calls that return when they are done take a copy, also for reductions and for datatypes with
    ! gaps of their own.
    subroutine blocking()
        integer :: x(20), y(20), wanted(20), k, total
        type(MPI_Datatype) :: vector
        x = [(k, k = 1, 20)]
        y = -1
        call MPI_Allreduce(x(1:20:2), y(20:1:-2), 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        wanted = -1
        wanted(20:1:-2) = size * x(1:20:2)
        call expect(all(y == wanted), 'a reduction of sections')
        y = rank
        call MPI_Bcast(y(3:20:4), 5, MPI_INTEGER, size - 1, MPI_COMM_WORLD)
        wanted = rank
        wanted(3:20:4) = size - 1
        call expect(all(y == wanted), 'a broadcast to a section')
        call MPI_Type_vector(3, 1, 2, MPI_INTEGER, vector)
        call MPI_Type_commit(vector)
        y = -1
        call MPI_Sendrecv(x(1:20:2), 1, vector, rank, 1, y(2:20:2), 1, vector, rank, 1, &
            MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        wanted = -1
        wanted([2, 6, 10]) = x([1, 5, 9])
        call expect(all(y == wanted), 'a datatype with gaps in a section with gaps')
        call MPI_Type_free(vector)
        total = 0
        call MPI_Reduce(x(4:4), total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
        call expect(rank /= 0 .or. total == 4 * size, 'a section of one element')
    end subroutine blocking

    subroutine persistent()
        type(MPI_Request) :: requests(2)
        integer, asynchronous :: x(10), y(10)
        integer :: k
        call MPI_Recv_init(y(1:10:3), 4, MPI_INTEGER, rank, 7, MPI_COMM_WORLD, requests(1))
        call MPI_Send_init(x(10:1:-3), 4, MPI_INTEGER, rank, 7, MPI_COMM_WORLD, requests(2))
        do k = 1, 3
            x = [(k * i, i = 1, 10)]
            y = 0
            call MPI_Startall(2, requests)
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
            call expect(all(y == [10, 0, 0, 7, 0, 0, 4, 0, 0, 1] * k), 'a persistent section')
        end do
        call MPI_Request_free(requests(1))
        call MPI_Request_free(requests(2))
    end subroutine persistent

#if !MPI_3
    ! Partitions with the same gaps: parts of a line, lines and columns, forwards and backwards, cut
    ! alike and differently at the two ends.
    subroutine partitioned()
        type(MPI_Request) :: requests(2)
        call MPI_Psend_init(a(2:n:3, 1), 4, 1, MPI_INTEGER, modulo(rank + 1, size), 9, &
            MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
        call MPI_Precv_init(b(n:1:-3, 2), 2, 2, MPI_INTEGER, modulo(rank - 1, size), 9, &
            MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
        c = -1
        c(n:1:-3, 2) = a(2:n:3, 1)
        call exchange(requests, 4, 'partitions of a line')
        call MPI_Psend_init(a(5, :), 3, n / 3, MPI_INTEGER, modulo(rank + 1, size), 9, &
            MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
        call MPI_Precv_init(b(:, 7), 4, n / 4, MPI_INTEGER, modulo(rank - 1, size), 9, &
            MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
        c = -1
        c(:, 7) = a(5, :)
        call exchange(requests, 3, 'partitions of a line that become a column')
        call MPI_Psend_init(a(1:5:2, n:3:-2), 5, 3, MPI_INTEGER, modulo(rank + 1, size), 9, &
            MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
        call MPI_Precv_init(b(2:6, 1:n:5), 3, 5, MPI_INTEGER, modulo(rank - 1, size), 9, &
            MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
        c = -1
        c(2:6, 1:n:5) = reshape(a(1:5:2, n:3:-2), [5, 3])
        call exchange(requests, 5, 'partitions of two dimensions')
        ! Whole columns are one line; the last element is not sent.
        call MPI_Psend_init(a(:, 2:n), 3, 5, MPI_INTEGER, modulo(rank + 1, size), 9, &
            MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
        call MPI_Precv_init(b(1:n:2, 4:6), 1, 15, MPI_INTEGER, modulo(rank - 1, size), 9, &
            MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
        c = -1
        c(1:n:2, 4:5) = reshape(a(:, 2), [6, 2])
        c(1:5:2, 6) = a(1:3, 3)
        call exchange(requests, 3, 'one partition that ends within a column')
    end subroutine partitioned

    subroutine exchange(requests, partitions, what)
        type(MPI_Request), intent(inout) :: requests(2)
        integer, intent(in) :: partitions
        character(len=*), intent(in) :: what
        integer :: k, round
        do round = 1, 2
            b = -1
            call MPI_Startall(2, requests)
            do k = partitions - 1, 0, -1
                call MPI_Pready(k, requests(1))
            end do
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
            call expect(all(b == c), what)
        end do
        call MPI_Request_free(requests(1))
        call MPI_Request_free(requests(2))
    end subroutine exchange
#endif

    ! Whole columns have no gaps, and nonblocking collectives take them.
    subroutine columns()
        type(MPI_Request) :: request
        c = rank
        b = -1
        call MPI_Iallreduce(a(:, 2:4), b(:, 5:7), 3 * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
            request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call expect(all(b(:, 5:7) == size * a(:, 2:4)), 'a nonblocking reduction of columns')
        call expect(all(b(:, :4) == -1) .and. all(b(:, 8:) == -1), 'the columns beside them')
        call MPI_Ibcast(c(:, 3:n), n * (n - 2), MPI_INTEGER, size - 1, MPI_COMM_WORLD, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call expect(all(c(:, :2) == rank) .and. all(c(:, 3:) == size - 1), &
            'a nonblocking broadcast of columns')
    end subroutine columns

    ! Nonblocking and persistent collectives of sections with gaps: the result is in the section when
    ! the request is complete, by whichever call, and not before.
    subroutine collectives()
        type(MPI_Request) :: request, requests(3)
        type(MPI_Status) :: status
        integer, asynchronous :: x(20), y(20), z(20), wanted(20)
        integer :: k, way, which, many, list(3)
        logical :: flag
        do way = 1, 9
            x = [(k + rank, k = 1, 20)]
            y = -1
            call MPI_Iallreduce(x(1:20:2), y(20:1:-2), 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
                request)
            call expect(all(y == -1), 'a section before its reduction is complete')
            requests = MPI_REQUEST_NULL
            requests(2) = request
            flag = .false.
            select case (way)
            case (1)
                call MPI_Wait(request, status)
            case (2)
                do while (.not. flag)
                    call MPI_Test(request, flag, MPI_STATUS_IGNORE)
                end do
            case (3)
                call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
            case (4)
                do while (.not. flag)
                    call MPI_Testall(3, requests, flag, MPI_STATUSES_IGNORE)
                end do
            case (5)
                call MPI_Waitany(3, requests, which, MPI_STATUS_IGNORE)
                call expect(which, 2, 'the index of a reduction')
            case (6)
                do while (.not. flag)
                    call MPI_Testany(3, requests, which, flag, MPI_STATUS_IGNORE)
                end do
            case (7)
                call MPI_Waitsome(3, requests, many, list, MPI_STATUSES_IGNORE)
                call expect(many == 1 .and. list(1) == 2, 'the indices of a reduction')
            case (8)
                many = 0
                do while (many == 0)
                    call MPI_Testsome(3, requests, many, list, MPI_STATUSES_IGNORE)
                end do
                call expect(list(1), 2, 'the index of MPI_Testsome')
            case (9)
                do while (.not. flag)
                    call MPI_Request_get_status(request, flag, MPI_STATUS_IGNORE)
                end do
            end select
            wanted = -1
            wanted(20:1:-2) = size * [(k, k = 1, 20, 2)] + size * (size - 1) / 2
            call expect(all(y == wanted), 'a nonblocking reduction of sections')
            if (way == 9) then
                y = 5
                call MPI_Wait(request, MPI_STATUS_IGNORE)
                call expect(all(y == 5), 'a section that is complete is not written again')
            end if
        end do
        call MPI_Iallreduce(MPI_IN_PLACE, x(2:20:3), 7, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, request)
        call MPI_Ibcast(z(1:20:4), 5, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1))
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        wanted = [(k + rank, k = 1, 20)]
        wanted(2:20:3) = [(k + size - 1, k = 2, 20, 3)]
        call expect(all(x == wanted), 'a nonblocking reduction in place')
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
#if !MPI_3
        call MPI_Allreduce_init(x(1:20:5), z(4:1:-1), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
            MPI_INFO_NULL, request)
        do k = 1, 3
            x = k + rank
            z = 0
            call MPI_Start(request)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
            call expect(all(z(:4) == k * size + size * (size - 1) / 2) .and. all(z(5:) == 0), &
                'a persistent reduction of a section')
        end do
        z = 0
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call expect(all(z == 0), 'the wait for an inactive request')
        call MPI_Request_free(request)
#endif
    end subroutine collectives

    ! What only the root receives is not touched elsewhere.
    subroutine rooted()
        type(MPI_Request) :: request
        integer, asynchronous :: x(2), y(6 * n)
        integer :: k
        x = rank
        y = -1
        call MPI_Igather(x, 2, MPI_INTEGER, y(1:6*size:3), 2, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
        if (rank /= 0) y = -2
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        if (rank == 0) then
            do k = 0, size - 1
                call expect(all(y(6*k+1:6*k+6) == [k, -1, -1, k, -1, -1]), 'a gathered block')
            end do
        else
            call expect(all(y == -2), 'the receive buffer of a rank that is not the root')
        end if
    end subroutine rooted

    subroutine one_sided()
        type(MPI_Win) :: win
        type(MPI_Request) :: request
        integer, asynchronous :: window(10), x(20), y(20), one(4)
        integer :: to, from, k
        integer(kind=MPI_ADDRESS_KIND), parameter :: first = 0
        to = modulo(rank + 1, size)
        from = modulo(rank - 1, size)
        window = 0
        x = [(100 * rank + k, k = 1, 20)]
        y = -1
        call MPI_Win_create(window, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
        call MPI_Win_fence(0, win)
        call MPI_Put(x(20:1:-2), 10, MPI_INTEGER, to, first, 10, MPI_INTEGER, win)
        call MPI_Win_fence(0, win)
        call expect(all(window == [(100 * from + k, k = 20, 2, -2)]), 'a section that is put')
        call MPI_Get(y(2:20:4), 5, MPI_INTEGER, rank, first, 5, MPI_INTEGER, win)
        call MPI_Win_fence(0, win)
        call expect(all(y(2:20:4) == window(:5)) .and. count(y == -1) == 15, 'a section that is got')
        call MPI_Accumulate(x(1:20:7), 3, MPI_INTEGER, rank, first, 3, MPI_INTEGER, MPI_REPLACE, win)
        call MPI_Win_fence(0, win)
        call expect(all(window(:3) == x(1:20:7)), 'a section that is accumulated')
        y = -1
        call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win)
        call MPI_Rget(y(1:20:10), 2, MPI_INTEGER, rank, first, 2, MPI_INTEGER, win, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call expect(all(y(1:20:10) == window(:2)) .and. count(y == -1) == 18, 'a section by MPI_Rget')
        one = [7, 8, 9, 10]
        call MPI_Fetch_and_op(one(3:1:-2), y(20:1:-3), MPI_INTEGER, rank, first, MPI_REPLACE, win)
        call MPI_Win_unlock(rank, win)
        call expect(window(1) == 9 .and. y(20) == x(1), 'the first element of a section')
        call MPI_Win_free(win)
    end subroutine one_sided

    ! What cannot be described is an error with a sentence, not a wrong message.
    subroutine refused()
        type(MPI_Request) :: request
        integer :: x(20), code, class, length
        character(len=MPI_MAX_ERROR_STRING) :: text
        x = 1
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
        call MPI_Isend(x(1:20:2), 11, MPI_INTEGER, rank, 8, MPI_COMM_WORLD, request, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_COUNT, 'the class for a count beyond the section')
        call MPI_Error_string(code, text, length, unused)
        call expect(index(text, 'MPI_Isend') > 0, 'the sentence names the procedure')
        call MPI_Iallreduce(MPI_IN_PLACE, x(1:20:2), 11, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request, &
            code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_COUNT, 'the class for a reduction beyond the section')
        call MPI_Buffer_attach(x(1:20:2), 40, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_BUFFER, 'the class for a buffer with gaps')
#if !MPI_3
        call MPI_Psend_init(a(1:5, 1:4), 10, 2_MPI_COUNT_KIND, MPI_INTEGER, rank, 8, MPI_COMM_WORLD, &
            MPI_INFO_NULL, request, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_BUFFER, 'the class for a partitioned send')
        call MPI_Error_string(code, text, length, unused)
        call expect(index(text, 'MPI_Psend_init') > 0 .and. index(text, 'gaps') > 0, &
            'the sentence of a partitioned send')
        call MPI_Precv_init(x(1:20:2), 2, 6, MPI_INTEGER, rank, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &
            request, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_COUNT, 'the class for partitions beyond the section')
#endif
        call expect(all(x == 1), 'the elements of a refused section')
        call MPI_Isend(x(1:20:2), -1, MPI_INTEGER, rank, 8, MPI_COMM_WORLD, request, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_COUNT, 'the class for a negative count')
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
    end subroutine refused

    ! Errors of files and windows reach their own handlers: those of communicators are fatal here.
    subroutine refused_by_others()
        type(MPI_Win) :: win
        type(MPI_File) :: file
        type(MPI_Datatype) :: pair
        integer, asynchronous :: window(10), x(20)
        integer :: code, class
        x = 1
        window = 0
        call MPI_Win_create(window, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
        call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
        call MPI_Win_fence(0, win)
        call MPI_Put(x(1:20:2), 11, MPI_INTEGER, rank, 0_MPI_ADDRESS_KIND, 11, MPI_INTEGER, win, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_COUNT, 'the class for a put beyond the section')
        call MPI_Accumulate(x(1:20:2), 1, MPI_INTEGER8, rank, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER8, &
            MPI_SUM, win, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_TYPE, 'the class for an operand in two elements')
        call MPI_Win_fence(0, win)
        call expect(all(window == 0), 'the window after refused calls')
        call MPI_Win_free(win)
        call open_file(file, MPI_MODE_RDWR)
        call MPI_File_read_at_all_begin(file, 0_MPI_OFFSET_KIND, x(1:20:2), 11, MPI_INTEGER, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_COUNT, 'the class for a read beyond the section')
        call MPI_Type_contiguous(1, MPI_INTEGER8, pair)
        call MPI_Type_commit(pair)
        call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_BYTE, MPI_BYTE, 'external32', MPI_INFO_NULL)
        call MPI_File_write(file, x(1:20:2), 1, pair, MPI_STATUS_IGNORE, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_TYPE, 'the class for a converted item in two elements')
        call MPI_File_write(file, x(1:20:2), 10, MPI_INTEGER, MPI_STATUS_IGNORE, code)
        call expect(code, MPI_SUCCESS, 'the code of a write after errors')
        call MPI_Type_free(pair)
        call MPI_File_close(file)
    end subroutine refused_by_others

    ! If one rank passes a section that is too short, all ranks get an error, and the handler is
    ! called once.
    subroutine refused_on_one_rank()
        type(MPI_Comm) :: comm
        type(MPI_Win) :: win
        type(MPI_Errhandler) :: handler, now
        type(MPI_Request) :: request
        type(MPI_Datatype) :: types(size)
        integer, asynchronous :: x(20 * size), y(20 * size), counts(size), displs(size)
        integer :: first, code, k
        x = 1
        first = merge(20 * size - 3, 1, rank == 0)
        call MPI_Comm_dup(MPI_COMM_WORLD, comm)
        call MPI_Comm_create_errhandler(count_errors, handler)
        call MPI_Comm_set_errhandler(comm, handler)
        errors = 0
        call MPI_Allreduce(x(first::2), y, 4, MPI_INTEGER, MPI_SUM, comm, code)
        call expect(code /= MPI_SUCCESS, 'a reduction that one rank refuses')
        call MPI_Bcast(x(first::2), 4, MPI_INTEGER, 0, comm, code)
        call expect(code /= MPI_SUCCESS, 'a broadcast that the root refuses')
        counts = 3
        displs = [(4 * k, k = 0, size - 1)]
        types = MPI_INTEGER
        call MPI_Alltoallw(x(first::2), counts, displs, types, y, counts, displs, types, comm, code)
        call expect(code /= MPI_SUCCESS, 'blocks that one rank refuses')
        call MPI_Ialltoall(x(first::2), 3, MPI_INTEGER, y, 3, MPI_INTEGER, comm, request, code)
        if (code == MPI_SUCCESS) call MPI_Wait(request, MPI_STATUS_IGNORE, code)
        call expect(code /= MPI_SUCCESS, 'nonblocking blocks that one rank refuses')
        call expect(errors, 4, 'calls of the error handler')
        if (rank == 0) then
            call MPI_Win_create(x(::2), 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, win, code)
        else
            call MPI_Win_create(x, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, win, code)
        end if
        call expect(code /= MPI_SUCCESS, 'a window that one rank refuses')
        call expect(errors, 5, 'calls of the error handler')
        call MPI_Comm_get_errhandler(comm, now)
        call expect(now == handler, 'the error handler after errors')
        call MPI_Errhandler_free(now)
        call MPI_Errhandler_free(handler)
        call MPI_Comm_free(comm)
    end subroutine refused_on_one_rank

    subroutine open_file(file, mode)
        type(MPI_File), intent(out) :: file
        integer, intent(in) :: mode
        character(len=200) :: name
        character(len=150) :: folder
        integer(kind=8) :: ticks
        ! The null character: see files.f90.
        call get_environment_variable('TMPDIR'//c_null_char, folder)
        if (folder == '') folder = '/tmp'
        call system_clock(ticks)
        write (name, *) modulo(ticks, 10_8**15) * 100 + rank
        name = trim(folder) // '/weft-sections-' // adjustl(name)
        call MPI_File_open(MPI_COMM_SELF, name, mode + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE, &
            MPI_INFO_NULL, file)
    end subroutine open_file

    ! Each of several calls on one section writes what it receives, and nothing else.
    subroutine outstanding()
        type(MPI_Request) :: request, requests(2)
        type(MPI_Datatype) :: pair
        integer, asynchronous :: x(40), y(40), counts(3), first(3), second(3), mine(4)
        integer :: k
        x = -1
        counts = 2
        first = [0, 2, 4]
        second = [10, 12, 14]
        mine = 10 * rank + [1, 2, 3, 4]
        call MPI_Iallgatherv(mine, 2, MPI_INTEGER, x(1:40:2), counts, first, MPI_INTEGER, &
            MPI_COMM_WORLD, requests(1))
        call MPI_Iallgatherv(mine(3), 2, MPI_INTEGER, x(1:40:2), counts, second, MPI_INTEGER, &
            MPI_COMM_WORLD, requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        y = -1
        do k = 0, size - 1
            y(4 * k + 1:4 * k + 3:2) = 10 * k + [1, 2]
            y(4 * k + 21:4 * k + 23:2) = 10 * k + [3, 4]
        end do
        call expect(all(x == y), 'two gatherings into one section')
        ! The same with blocks whose gaps differ
        call expect_blocks()
        x = rank
        call MPI_Ibcast(x(1:40:2), 3, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
        x(7:40:2) = 77
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call expect(all(x(1:5:2) == 0) .and. all(x(7:40:2) == 77), 'stores beyond a broadcast')
        x = rank
        y = 1
        call MPI_Iallreduce(y(1:40:2), x(40:1:-2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
        x(32:2:-2) = 78
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call expect(all(x(34:40:2) == size) .and. all(x(32:2:-2) == 78), 'stores beyond a reduction')
        ! A datatype that is longer than the elements
        call MPI_Type_contiguous(2, MPI_INTEGER, pair)
        call MPI_Type_commit(pair)
        x = [(k, k = 1, 40)]
        y = -1
        call MPI_Irecv(y(39:1:-2), 10, pair, rank, 8, MPI_COMM_WORLD, requests(1))
        call MPI_Isend(x(1:40:2), 9, pair, rank, 8, MPI_COMM_WORLD, requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call expect(all(y(39:5:-2) == x(1:36:2)) .and. count(y == -1) == 22, &
            'a datatype that is longer than the elements')
        call MPI_Type_free(pair)
    end subroutine outstanding

    ! A wait for one call does not undo what another one has received meanwhile.
    subroutine expect_blocks()
        type(MPI_Request) :: requests(2)
        integer, asynchronous :: one(5), counts(3), first(3), second(3)
        integer :: k, line(20)
        b = -1
        one = [(100 * rank + k, k = 1, 5)]
        counts = 3
        first = [0, 3, 6]
        second = [9, 12, 15]
        call MPI_Iallgatherv(one, 3, MPI_INTEGER, b(1:7:2, 2:10:2), counts, first, MPI_INTEGER, &
            MPI_COMM_WORLD, requests(1))
        call MPI_Iallgatherv(one(3), 3, MPI_INTEGER, b(1:7:2, 2:10:2), counts, second, MPI_INTEGER, &
            MPI_COMM_WORLD, requests(2))
        call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
        line = reshape(b(1:7:2, 2:10:2), [20])
        do k = 0, size - 1
            call expect(all(line(3 * k + 1:3 * k + 3) == 100 * k + [1, 2, 3]), 'the first blocks')
            call expect(all(line(3 * k + 10:3 * k + 12) == 100 * k + [3, 4, 5]), 'the second blocks')
        end do
        call expect(count(b == -1) == n * n - 6 * size, 'what lies between the blocks')
    end subroutine expect_blocks

    ! Files: reads that are outstanding together, the end of a file, and split collectives
    subroutine in_files()
        type(MPI_File) :: file
        type(MPI_Request) :: request
        type(MPI_Status) :: status
        integer, asynchronous :: x(40), y(40)
        integer :: k, got
        call open_file(file, MPI_MODE_RDWR)
        x = [(k, k = 1, 40)]
        call MPI_File_write_at_all_begin(file, 0_MPI_OFFSET_KIND, x(1:40:2), 20, MPI_INTEGER)
        call MPI_File_write_at_all_end(file, x(1:40:2), status)
        call MPI_Get_count(status, MPI_INTEGER, got)
        call expect(got, 20, 'the count of a split collective')
        y = -1
        call MPI_File_iread_at(file, 0_MPI_OFFSET_KIND, y(1:40:2), 10, MPI_INTEGER, request)
        call MPI_File_read_at(file, 40_MPI_OFFSET_KIND, y(21:40:2), 10, MPI_INTEGER, MPI_STATUS_IGNORE)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call expect(all(y(1:40:2) == x(1:40:2)) .and. all(y(2:40:2) == -1), 'two reads into one section')
        y = -1
        call MPI_File_iread_at(file, 60_MPI_OFFSET_KIND, y(1:40:2), 20, MPI_INTEGER, request)
        y(11:40:2) = 5
        call MPI_Wait(request, status)
        call MPI_Get_count(status, MPI_INTEGER, got)
        call expect(got, 5, 'the count at the end of a file')
        call expect(all(y(1:9:2) == x(31:40:2)) .and. all(y(11:40:2) == 5), 'stores beyond a read')
        y = -1
        call MPI_File_seek(file, 4_MPI_OFFSET_KIND, MPI_SEEK_SET)
        call MPI_File_read_all_begin(file, y(40:1:-2), 19, MPI_INTEGER)
        call MPI_File_read_all_end(file, y(40:1:-2), status)
        call expect(all(y(40:4:-2) == x(3:40:2)) .and. count(y == -1) == 21, 'a split read')
        call MPI_File_close(file)
    end subroutine in_files

end program sections
