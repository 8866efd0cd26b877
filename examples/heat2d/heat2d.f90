! SPDX-License-Identifier: BSD-3-Clause
! heat2d in Fortran 2008: the heat equation of heat2d.c, with the same result to the last bit on any
! number of ranks.
!
!     heat2d_f08 STEPS PICTURE        a binary PGM picture with at most 256 grey values
!
! The plate is divided into a block for each rank, old(1:w, 1:h), with a frame around it that holds
! the neighbours' edges. The edges are sections of the array, two of them with gaps, and so are the
! blocks of the plate that rank 0 sends and collects: MPI takes them as they are.
program heat2d
    use, intrinsic :: iso_fortran_env, only: int8, int64, error_unit
    use mpi_f08
    implicit none
    double precision, parameter :: rate = 0.2d0
    type(MPI_Comm) :: grid
    integer :: rank, ranks, steps, width, height, n, dims(2)
    integer :: west, east, north, south, x0, x1, y0, y1, w, h
    double precision, allocatable :: plate(:, :)
    double precision, allocatable, asynchronous :: old(:, :), new(:, :)
    double precision :: start

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call read_picture()
    call divide()
    call exchange_plate(.true.)
    start = MPI_Wtime()
    do n = 1, steps
        call step()
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) print '(i0, a, f0.3, a)', ranks, ' ranks: ', MPI_Wtime() - start, ' s'
    call exchange_plate(.false.)
    if (rank == 0) call conclude()
    call MPI_Finalize()

contains

    ! Ends the job with a sentence.
    subroutine give_up(sentence)
        character(len=*), intent(in) :: sentence
        write (error_unit, '(a)') 'heat2d_f08: ' // sentence
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine give_up

    ! Rank 0 reads the picture into plate(x, y); everyone learns its size.
    subroutine read_picture()
        character(len=1000) :: word, path
        integer(int8), allocatable :: grey(:, :)
        integer :: size(2), status, unit, maximum
        if (command_argument_count() /= 2) call give_up('usage: heat2d_f08 STEPS PICTURE')
        call get_command_argument(1, word)
        call get_command_argument(2, path)
        read (word, *, iostat=status) steps
        if (status /= 0) call give_up('the number of steps is "' // trim(word) // '"')
        if (rank == 0) then
            open (newunit=unit, file=trim(path), access='stream', form='unformatted', &
                status='old', action='read', iostat=status)
            if (status /= 0) call give_up('cannot read ' // trim(path))
            if (next_word(unit) /= 'P5') call give_up(trim(path) // ' is not a binary PGM picture')
            word = next_word(unit)
            read (word, *) size(1)
            word = next_word(unit)
            read (word, *) size(2)
            word = next_word(unit)
            read (word, *) maximum
            if (maximum > 255) call give_up(trim(path) // ' has more than 256 grey values')
            allocate (grey(size(1), size(2)), plate(size(1), size(2)))
            read (unit) grey
            close (unit)
            plate = iand(int(grey), 255)
        else
            allocate (plate(0, 0))
        end if
        call MPI_Bcast(size, 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
        width = size(1)
        height = size(2)
    end subroutine read_picture

    ! The next word of a picture's head; the rest of a line after # is a comment.
    function next_word(unit) result(word)
        integer, intent(in) :: unit
        character(len=20) :: word
        character :: c
        integer :: length
        word = ''
        length = 0
        do
            read (unit) c
            if (c == '#') then
                do while (c /= new_line(c))
                    read (unit) c
                end do
            else if (c == ' ' .or. c == new_line(c) .or. c == achar(9) .or. c == achar(13)) then
                if (length > 0) return
            else
                length = length + 1
                if (length <= len(word)) word(length:length) = c
            end if
        end do
    end function next_word

    ! A grid of ranks, its neighbours, and the cells of this rank.
    subroutine divide()
        integer :: coords(2)
        dims = 0
        call MPI_Dims_create(ranks, 2, dims)
        if (dims(1) > width .or. dims(2) > height) call give_up('there are more ranks than cells')
        call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., grid)
        call MPI_Cart_shift(grid, 0, 1, west, east)
        call MPI_Cart_shift(grid, 1, 1, north, south)
        call MPI_Cart_coords(grid, rank, 2, coords)
        call span(coords, x0, x1, y0, y1)
        w = x1 - x0 + 1
        h = y1 - y0 + 1
        allocate (old(0:w + 1, 0:h + 1), new(0:w + 1, 0:h + 1))
        old = 0
        new = 0
    end subroutine divide

    subroutine span(coords, from_x, to_x, from_y, to_y)
        integer, intent(in) :: coords(2)
        integer, intent(out) :: from_x, to_x, from_y, to_y
        from_x = coords(1) * width / dims(1) + 1
        to_x = (coords(1) + 1) * width / dims(1)
        from_y = coords(2) * height / dims(2) + 1
        to_y = (coords(2) + 1) * height / dims(2)
    end subroutine span

    ! Rank 0 sends each rank its block of the plate, or collects them.
    subroutine exchange_plate(out)
        logical, intent(in) :: out
        type(MPI_Request) :: mine, others(ranks)
        integer :: other, coords(2), a, b, c, d
        if (out) then
            call MPI_Irecv(old(1:w, 1:h), w * h, MPI_DOUBLE_PRECISION, 0, 1, grid, mine)
        else
            call MPI_Isend(old(1:w, 1:h), w * h, MPI_DOUBLE_PRECISION, 0, 1, grid, mine)
        end if
        if (rank == 0) then
            do other = 0, ranks - 1
                call MPI_Cart_coords(grid, other, 2, coords)
                call span(coords, a, b, c, d)
                if (out) then
                    call MPI_Isend(plate(a:b, c:d), (b - a + 1) * (d - c + 1), &
                        MPI_DOUBLE_PRECISION, other, 1, grid, others(other + 1))
                else
                    call MPI_Irecv(plate(a:b, c:d), (b - a + 1) * (d - c + 1), &
                        MPI_DOUBLE_PRECISION, other, 1, grid, others(other + 1))
                end if
            end do
            call MPI_Waitall(ranks, others, MPI_STATUSES_IGNORE)
            call MPI_F_sync_reg(plate)
        end if
        call MPI_Wait(mine, MPI_STATUS_IGNORE)
    end subroutine exchange_plate

    ! The cells within while the edges travel, then the outer ones.
    subroutine step()
        type(MPI_Request) :: requests(8)
        call MPI_Irecv(old(0, 1:h), h, MPI_DOUBLE_PRECISION, west, 1, grid, requests(1))
        call MPI_Irecv(old(w + 1, 1:h), h, MPI_DOUBLE_PRECISION, east, 2, grid, requests(2))
        call MPI_Irecv(old(1:w, 0), w, MPI_DOUBLE_PRECISION, north, 3, grid, requests(3))
        call MPI_Irecv(old(1:w, h + 1), w, MPI_DOUBLE_PRECISION, south, 4, grid, requests(4))
        call MPI_Isend(old(w, 1:h), h, MPI_DOUBLE_PRECISION, east, 1, grid, requests(5))
        call MPI_Isend(old(1, 1:h), h, MPI_DOUBLE_PRECISION, west, 2, grid, requests(6))
        call MPI_Isend(old(1:w, h), w, MPI_DOUBLE_PRECISION, south, 3, grid, requests(7))
        call MPI_Isend(old(1:w, 1), w, MPI_DOUBLE_PRECISION, north, 4, grid, requests(8))
        call compute(2, w - 1, 2, h - 1)
        call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE)
        ! Nothing flows out of the plate: beyond its edge lies the edge itself.
        if (west == MPI_PROC_NULL) old(0, 1:h) = old(1, 1:h)
        if (east == MPI_PROC_NULL) old(w + 1, 1:h) = old(w, 1:h)
        if (north == MPI_PROC_NULL) old(1:w, 0) = old(1:w, 1)
        if (south == MPI_PROC_NULL) old(1:w, h + 1) = old(1:w, h)
        call compute(1, w, 1, 1)
        if (h > 1) call compute(1, w, h, h)
        call compute(1, 1, 2, h - 1)
        if (w > 1) call compute(w, w, 2, h - 1)
        old(1:w, 1:h) = new(1:w, 1:h)
    end subroutine step

    subroutine compute(from_x, to_x, from_y, to_y)
        integer, intent(in) :: from_x, to_x, from_y, to_y
        integer :: x, y
        double precision :: around
        do y = from_y, to_y
            do x = from_x, to_x
                around = (old(x, y - 1) + old(x, y + 1)) + (old(x - 1, y) + old(x + 1, y))
                new(x, y) = old(x, y) + rate * (around - 4 * old(x, y))
            end do
        end do
    end subroutine compute

    subroutine conclude()
        double precision :: total
        character(len=16) :: digits
        integer :: x, y
        total = 0
        do y = 1, height
            do x = 1, width
                total = total + plate(x, y)
            end do
        end do
        print '(3(a, f0.6))', 'lowest ', minval(plate), '  mean ', total / (dble(width) * height), &
            '  highest ', maxval(plate)
        write (digits, '(z16.16)') checksum()
        do x = 1, 16
            if (digits(x:x) >= 'A') digits(x:x) = achar(iachar(digits(x:x)) + 32)
        end do
        print '(a)', 'checksum ' // digits
    end subroutine conclude

    ! FNV-1a of the bytes of all cells, in 64 bits that wrap around.
    integer(int64) function checksum()
        integer(int64) :: bits
        integer :: x, y, byte
        checksum = -3750763034362895579_int64
        do y = 1, height
            do x = 1, width
                bits = transfer(plate(x, y), bits)
                do byte = 0, 7
                    checksum = ieor(checksum, ibits(bits, 8 * byte, 8))
                    ! times 2**40 + 435
                    checksum = add(ishft(checksum, 40), add(435 * ibits(checksum, 0, 32), &
                        ishft(435 * ibits(checksum, 32, 32), 32)))
                end do
            end do
        end do
    end function checksum

    ! The sum of two numbers without their overflow.
    pure integer(int64) function add(a, b)
        integer(int64), intent(in) :: a, b
        integer(int64) :: low
        low = ibits(a, 0, 32) + ibits(b, 0, 32)
        add = ior(ishft(ibits(a, 32, 32) + ibits(b, 32, 32) + ishft(low, -32), 32), &
            ibits(low, 0, 32))
    end function add

end program heat2d
