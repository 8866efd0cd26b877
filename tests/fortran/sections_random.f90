! SPDX-License-Identifier: BSD-3-Clause
! run: ranks=1,2,3 lanes=rxm,shm seconds=60
! Sections with several calls outstanding on one array: each round draws a section, cuts its elements
! into parts, and gives each part to a call of its own, or to stores of the program. The same calls on
! a contiguous array give the elements that are expected, and nothing between them is touched.
! WEFT_TEST_SEED repeats a run, WEFT_TEST_FUZZ_SECONDS sets its time. MPI_3: see basics.F90.
program sections_random
    use, intrinsic :: iso_c_binding, only: c_int, c_null_char
    use mpi_f08
    use check
    implicit none
    integer, parameter :: wide = selected_int_kind(18), at_kind = MPI_ADDRESS_KIND
    integer, parameter :: most_parts = 6, room = 600, forms = 10, kinds = 30
    integer(kind=wide), asynchronous :: scratch(room, most_parts), sent(room, most_parts)
    integer(kind=wide), asynchronous :: window(room * most_parts)
    integer(kind=wide) :: state, seed, mine
    integer :: rank, size, round, extents(3), parts, lowest(most_parts), lengths(most_parts)
    integer :: requests_used, begun(2, most_parts)
    ! Arguments of calls stay as they are until the calls are complete.
    integer, parameter :: most = 8
    integer, asynchronous :: counts(most, most_parts), displs(most, most_parts), &
        places(most, most_parts), twice(most, most_parts), doubled(most, most_parts)
    integer(kind=at_kind), asynchronous :: addresses(2, most_parts), own(2, most_parts)
    type(MPI_Datatype), asynchronous :: types(most, most_parts), whole(most)
    type(MPI_Request) :: requests(8 * most_parts)
    type(MPI_Win) :: win
    type(MPI_File) :: file
    type(MPI_Comm) :: ring, line
    double precision :: until
    character(len=300) :: text

    interface
        integer(kind=c_int) function process_id() bind(C, name='getpid')
            import :: c_int
        end function process_id
    end interface

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    call begin()
    round = 0
    do while (another())
        round = round + 1
        call play()
    end do
    call MPI_Win_unlock_all(win)
    call MPI_Win_free(win)
    call MPI_Comm_free(ring)
    call MPI_Comm_free(line)
    call MPI_File_close(file)
    call MPI_Finalize()
    call finished()

contains

    ! ---- Numbers

    integer function draw(n)
        integer, intent(in) :: n
        state = ieor(state, ishft(state, 13))
        state = ieor(state, ishft(state, -7))
        state = ieor(state, ishft(state, 17))
        draw = int(modulo(ishft(state, -20), int(n, wide)))
    end function draw

    logical function another()
        integer :: go
        go = merge(1, 0, MPI_Wtime() < until)
        call MPI_Bcast(go, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
        another = go == 1
    end function another

    subroutine begin()
        integer :: seconds, length, code
        character(len=150) :: folder
        ! The null characters: see files.f90.
        call get_environment_variable('WEFT_TEST_SEED'//c_null_char, text, length)
        call system_clock(seed)
        if (length > 0) read (text, *) seed
        call MPI_Bcast(seed, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD)
        seconds = 4
        call get_environment_variable('WEFT_TEST_FUZZ_SECONDS'//c_null_char, text, length)
        if (length > 0) read (text, *) seconds
        until = MPI_Wtime() + seconds
        call MPI_Win_create(window, int(8 * room * most_parts, at_kind), 8, MPI_INFO_NULL, &
            MPI_COMM_WORLD, win)
        call MPI_Win_lock_all(0, win)
        call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., ring)
        call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.false.], .false., line)
        call get_environment_variable('TMPDIR'//c_null_char, folder)
        if (folder == '') folder = '/tmp'
        ! Other jobs with the same seed run beside this one.
        write (text, *) process_id()
        text = trim(folder) // '/weft-sections-' // adjustl(text)
        call MPI_File_open(MPI_COMM_SELF, text, MPI_MODE_CREATE + MPI_MODE_RDWR + &
            MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, code)
        call expect(code, MPI_SUCCESS, 'the code of MPI_File_open')
    end subroutine begin

    ! ---- A round: on a section, and on a contiguous array

    subroutine play()
        integer(kind=wide), allocatable, asynchronous :: a(:, :, :), p(:, :, :)
        integer(kind=wide), allocatable :: found(:, :, :), got(:, :), put(:)
        integer :: d, i, j, k, last(3), steps(3), first(3), bounds(3)
        integer(kind=wide) :: here, at_start
        state = seed + 7919_wide * round
        state = ieor(state, 88172645463325252_wide)
        do d = 1, 30
            i = draw(2)
        end do
        do d = 1, 3
            extents(d) = 1 + draw(6)
            if (draw(4) == 0) extents(d) = 1
        end do
        if (draw(4) == 0) extents = [1 + draw(40), 1, 1]
        call cut()
        at_start = state
        ! The steps are this rank's own.
        state = ieor(state, 1099511628211_wide * (rank + 1))
        do d = 1, 3
            i = draw(8)
            steps(d) = 1 + draw(3)
            bounds(d) = (extents(d) - 1) * steps(d) + 1 + draw(2)
            first(d) = 1 + draw(bounds(d) - (extents(d) - 1) * steps(d))
            last(d) = first(d) + (extents(d) - 1) * steps(d)
            if (draw(3) == 0) then
                i = first(d)
                first(d) = last(d)
                last(d) = i
                steps(d) = -steps(d)
            end if
        end do
        allocate (a(bounds(1), bounds(2), bounds(3)), p(extents(1), extents(2), extents(3)))
        mine = 0
        do k = 1, extents(3)
            do j = 1, extents(2)
                do i = 1, extents(1)
                    mine = mine + 1
                    p(i, j, k) = 1000000_wide * rank + mine
                end do
            end do
        end do
        a = -7
        a(first(1):last(1):steps(1), first(2):last(2):steps(2), first(3):last(3):steps(3)) = p
        state = at_start
        call pass(p)
        got = scratch
        put = window
        here = state
        state = at_start
        call pass(a(first(1):last(1):steps(1), first(2):last(2):steps(2), first(3):last(3):steps(3)))
        call must(here == state, 'the numbers that are drawn')
        found = a(first(1):last(1):steps(1), first(2):last(2):steps(2), first(3):last(3):steps(3))
        call must(all(found == p), 'the elements of the section')
        call must(count(a == -7) - count(p == -7) == bounds(1) * bounds(2) * bounds(3) - &
            extents(1) * extents(2) * extents(3), 'what lies between the elements')
        call must(all(got == scratch), 'what is sent from the section')
        call must(all(put == window), 'what is put from the section')
    end subroutine play

    subroutine must(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what
        integer :: i
        call expect(condition, what)
        if (condition) return
        print '(a, i0, a, i0, a, i0, a, 3(1x, i0), a, 99(1x, i0))', '    WEFT_TEST_SEED=', seed, &
            ' round ', round, ' rank ', rank, ' extents', extents, ' parts', &
            (lowest(i), lengths(i), begun(1:2, i), i = 1, parts)
        until = 0
    end subroutine must

    ! Parts of the elements, counted from 0.
    subroutine cut()
        integer :: elements, at, plane
        elements = product(extents)
        plane = extents(1) * extents(2)
        parts = 0
        at = 0
        do while (at < elements .and. parts < most_parts)
            parts = parts + 1
            lowest(parts) = at
            lengths(parts) = 1 + draw(min(elements - at, 40))
            if (draw(3) == 0 .and. lengths(parts) > plane) &
                lengths(parts) = lengths(parts) - modulo(lengths(parts), plane)
            at = at + lengths(parts)
        end do
    end subroutine cut

    subroutine pass(buf)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer :: i, way, which, plane
        logical :: flag
        type(MPI_Request) :: one
        window = [(rank * 100000_wide + i, i = 1, room * most_parts)]
        do i = 1, most_parts
            scratch(:, i) = [(-1000_wide * i - which, which = 1, room)]
            sent(:, i) = [(10000_wide * (rank + 1) + 1000_wide * i + which, which = 1, room)]
        end do
        plane = extents(1) * extents(2)
        call MPI_Barrier(MPI_COMM_WORLD)
        requests_used = 0
        requests = MPI_REQUEST_NULL
        begun = 0
        do i = 1, parts
            begun(1, i) = 1 + draw(kinds)
            begun(2, i) = 1 + draw(forms)
            if (modulo(lowest(i), plane) == 0 .and. draw(2) == 0) then
                call start(buf(:, :, 1 + lowest(i) / plane:), i, 0, begun(1, i), begun(2, i))
            else
                call start(buf, i, lowest(i), begun(1, i), begun(2, i))
            end if
            call stores(buf)
        end do
        call stores(buf)
        way = draw(3)
        if (way == 0) call MPI_Waitall(requests_used, requests, MPI_STATUSES_IGNORE)
        do i = 1, requests_used
            if (way == 1) call MPI_Waitany(requests_used, requests, which, MPI_STATUS_IGNORE)
            one = requests(requests_used + 1 - i)
            flag = way /= 2 .or. one == MPI_REQUEST_NULL
            do while (.not. flag)
                call MPI_Test(requests(requests_used + 1 - i), flag, MPI_STATUS_IGNORE)
            end do
            call stores(buf)
        end do
        call MPI_Win_flush_all(win)
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Win_sync(win)
    end subroutine pass

    ! The program stores to the parts that no call uses, while the others' calls are outstanding.
    subroutine stores(buf)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer :: i, at
        do i = 1, parts
            if (begun(1, i) /= 1) cycle
            do at = lowest(i), lowest(i) + lengths(i) - 1
                call store(buf, at)
            end do
        end do
    end subroutine stores

    subroutine store(buf, at)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: at
        integer :: j, k, l
        j = modulo(at, extents(1))
        k = modulo(at / extents(1), extents(2))
        l = at / (extents(1) * extents(2))
        buf(j + 1, k + 1, l + 1) = buf(j + 1, k + 1, l + 1) + 1 + at
    end subroutine store

    ! ---- Datatypes: `inner` n times is within k elements; `outer` is the same from element o on.

    subroutine make(form, o, k, inner, n, outer, many)
        integer, intent(in) :: form, o, k
        type(MPI_Datatype), intent(out) :: inner, outer
        integer, intent(out) :: n, many
        type(MPI_Datatype) :: part
        integer(kind=at_kind) :: lb, extent
        select case (form)
        case (1)
            call MPI_Type_dup(MPI_INTEGER8, inner)
            n = k
        case (2)
            call MPI_Type_dup(MPI_INTEGER, inner)
            n = 2 * k - draw(2)
        case (3)
            call MPI_Type_contiguous(2, MPI_INTEGER8, inner)
            n = k / 2
        case (4)
            call MPI_Type_contiguous(3, MPI_INTEGER, inner)
            n = 2 * k / 3
        case (5)
            call MPI_Type_vector(2, 1, 2, MPI_INTEGER8, inner)
            n = k / 3
        case (6)
            call MPI_Type_create_struct(2, [1, 1], [4_at_kind, 8_at_kind], &
                [MPI_INTEGER, MPI_INTEGER8], part)
            call MPI_Type_create_resized(part, 0_at_kind, 16_at_kind, inner)
            call MPI_Type_free(part)
            n = k / 2
        case (7)
            call MPI_Type_create_hindexed(2, [1, 1], [8_at_kind, 0_at_kind], MPI_INTEGER8, inner)
            n = k / 2
        case (8)
            call MPI_Type_create_resized(MPI_INTEGER, 0_at_kind, 8_at_kind, inner)
            n = k
        case (9)
            call MPI_Type_dup(MPI_BYTE, inner)
            n = 8 * k - draw(8)
        case default
            call MPI_Type_create_struct(2, [1, 1], [0_at_kind, 4_at_kind], &
                [MPI_INTEGER, MPI_INTEGER8], inner)
            call MPI_Type_create_resized(inner, 0_at_kind, 12_at_kind, part)
            call MPI_Type_free(inner)
            inner = part
            n = 8 * k / 12
        end select
        if (n > 0 .and. draw(3) == 0) n = 1 + draw(n)
        call MPI_Type_commit(inner)
        if (o == 0 .and. draw(2) == 0) then
            call MPI_Type_dup(inner, outer)
            many = n
        else
            call MPI_Type_get_extent(inner, lb, extent)
            call MPI_Type_create_hvector(n, 1, extent, inner, part)
            call MPI_Type_create_struct(1, [1], [8_at_kind * o], [part], outer)
            call MPI_Type_free(part)
            many = 1
        end if
        call MPI_Type_commit(outer)
    end subroutine make

    ! ---- Calls

    subroutine add(request)
        type(MPI_Request), intent(in) :: request
        requests_used = requests_used + 1
        requests(requests_used) = request
    end subroutine add

    subroutine start(buf, i, o, kind, form)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: i, o, kind, form
        type(MPI_Datatype) :: inner, outer
        type(MPI_Request) :: request
        integer :: k, n, many, short, root, to, from
        k = lengths(i)
        call make(form, o, k, inner, n, outer, many)
        short = n - merge(draw(n + 1), 0, draw(3) == 0)
        root = draw(size)
        to = modulo(rank + 1, size)
        from = modulo(rank - 1, size)
        request = MPI_REQUEST_NULL
        select case (kind)
        case (1)
            continue ! stores
        case (2)
            call MPI_Irecv(buf, many, outer, from, i, MPI_COMM_WORLD, request)
            call add(request)
            call MPI_Isend(sent(1, i), short, inner, to, i, MPI_COMM_WORLD, request)
        case (3)
            call MPI_Irecv(scratch(1, i), n, inner, from, i, MPI_COMM_WORLD, request)
            call add(request)
            call MPI_Isend(buf, many, outer, to, i, MPI_COMM_WORLD, request)
        case (4)
            call MPI_Isend(sent(1, i), short, inner, to, i, MPI_COMM_WORLD, request)
            call MPI_Recv(buf, many, outer, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        case (5)
            call MPI_Irecv(scratch(1, i), n, inner, from, i, MPI_COMM_WORLD, request)
            call MPI_Send(buf, many, outer, to, i, MPI_COMM_WORLD)
        case (6)
            call MPI_Ibcast(buf, many, outer, root, MPI_COMM_WORLD, request)
        case (7)
            call MPI_Bcast(buf, many, outer, root, MPI_COMM_WORLD)
        case (8)
            call MPI_Sendrecv(sent(1, i), short, inner, to, i, buf, many, outer, from, i, &
                MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        case (9)
            call MPI_Sendrecv_replace(buf, many, outer, to, i, from, i, MPI_COMM_WORLD, &
                MPI_STATUS_IGNORE)
        case (10)
            call imrecv(buf, i, many, outer, short, inner, to, from, request)
        case (11:12)
            call in_file(buf, i, kind, many, outer, short, n, inner, request)
        case (13)
            call MPI_Rget(buf, many, outer, to, int(room * (i - 1), at_kind), n, inner, win, request)
        case (14)
            call MPI_Rput(buf, many, outer, to, int(room * (i - 1), at_kind), n, inner, win, request)
        case (15)
            call packed(buf, i, many, outer, n, inner)
        case (16)
            call persistent(buf, i, many, outer, short, inner, to, from)
        case (17:18)
            if (o == 0 .and. k >= size) call blocks(buf, i, k / size, kind, root, request)
        case (19:21)
            if (k >= size) call displaced(buf, i, o, k / size, kind, root, request)
        case (22)
            if (k >= size) call typed(buf, i, o, k / size, request)
        case (23:25)
            if (o == 0) call reduce(buf, i, n, form, root, request)
        case (26)
            if (k >= 2) call neighbors(buf, i, o, k / 2, request)
        case (27)
            call split(buf, i, many, outer, short, n, inner)
#if !MPI_3
        case (28)
            if (o == 0) call persistent_reduction(buf, i, k)
        case (29)
            call MPI_Isendrecv(sent(1, i), short, inner, to, i, buf, many, outer, from, i, &
                MPI_COMM_WORLD, request)
#endif
        case default
            if (form == 1) call MPI_Raccumulate(buf, many, outer, rank, int(room * (i - 1), at_kind), &
                n, inner, MPI_SUM, win, request)
        end select
        if (request /= MPI_REQUEST_NULL) call add(request)
        call MPI_Type_free(inner)
        call MPI_Type_free(outer)
    end subroutine start

    subroutine imrecv(buf, i, many, outer, short, inner, to, from, request)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: i, many, short, to, from
        type(MPI_Datatype), intent(in) :: outer, inner
        type(MPI_Request), intent(out) :: request
        type(MPI_Message) :: message
        call MPI_Isend(sent(1, i), short, inner, to, 100 + i, MPI_COMM_WORLD, request)
        call add(request)
        call MPI_Mprobe(from, 100 + i, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE)
        if (draw(2) == 0) then
            call MPI_Imrecv(buf, many, outer, message, request)
        else
            call MPI_Mrecv(buf, many, outer, message, MPI_STATUS_IGNORE)
            request = MPI_REQUEST_NULL
        end if
    end subroutine imrecv

    ! The file ends where a part's data are, so that fewer of them are read.
    subroutine in_file(buf, i, kind, many, outer, short, n, inner, request)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: i, kind, many, short, n
        type(MPI_Datatype), intent(in) :: outer, inner
        type(MPI_Request), intent(inout) :: request
        integer(kind=MPI_OFFSET_KIND) :: offset
        offset = 8 * room * (most_parts + 1 - i)
        call MPI_File_set_size(file, offset)
        call MPI_File_write_at(file, offset, sent(1, i), short, inner, MPI_STATUS_IGNORE)
        if (kind == 11 .and. draw(2) == 0) then
            call MPI_File_iread_at(file, offset, buf, many, outer, request)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
        else if (kind == 11) then
            call MPI_File_read_at(file, offset, buf, many, outer, MPI_STATUS_IGNORE)
        else if (draw(2) == 0) then
            call MPI_File_iwrite_at(file, offset, buf, many, outer, request)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
            call MPI_File_read_at(file, offset, scratch(1, i), n, inner, MPI_STATUS_IGNORE)
        else
            call MPI_File_write_at(file, offset, buf, many, outer, MPI_STATUS_IGNORE)
            call MPI_File_read_at(file, offset, scratch(1, i), n, inner, MPI_STATUS_IGNORE)
        end if
    end subroutine in_file

    subroutine split(buf, i, many, outer, short, n, inner)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: i, many, short, n
        type(MPI_Datatype), intent(in) :: outer, inner
        integer(kind=MPI_OFFSET_KIND) :: offset
        offset = 8 * room * (most_parts + 1 - i)
        call MPI_File_set_size(file, offset)
        if (draw(2) == 0) then
            call MPI_File_write_at(file, offset, sent(1, i), short, inner, MPI_STATUS_IGNORE)
            call MPI_File_read_at_all_begin(file, offset, buf, many, outer)
            call MPI_File_read_at_all_end(file, buf, MPI_STATUS_IGNORE)
        else
            call MPI_File_write_at_all_begin(file, offset, buf, many, outer)
            call MPI_File_write_at_all_end(file, buf, MPI_STATUS_IGNORE)
            call MPI_File_read_at(file, offset, scratch(1, i), n, inner, MPI_STATUS_IGNORE)
        end if
    end subroutine split

    subroutine packed(buf, i, many, outer, n, inner)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: i, many, n
        type(MPI_Datatype), intent(in) :: outer, inner
        character(len=1) :: bytes(8 * room)
        integer :: position, end
        position = 0
        if (draw(2) == 0) then
            call MPI_Pack(sent(1, i), n, inner, bytes, 8 * room, position, MPI_COMM_WORLD)
            end = position
            position = 0
            call MPI_Unpack(bytes, end, position, buf, many, outer, MPI_COMM_WORLD)
        else
            call MPI_Pack(buf, many, outer, bytes, 8 * room, position, MPI_COMM_WORLD)
            end = position
            position = 0
            call MPI_Unpack(bytes, end, position, scratch(1, i), n, inner, MPI_COMM_WORLD)
        end if
    end subroutine packed

    ! Started twice
    subroutine persistent(buf, i, many, outer, short, inner, to, from)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: i, many, short, to, from
        type(MPI_Datatype), intent(in) :: outer, inner
        type(MPI_Request) :: pair(2)
        integer :: times
        call MPI_Recv_init(buf, many, outer, from, 200 + i, MPI_COMM_WORLD, pair(1))
        call MPI_Send_init(sent(1, i), short, inner, to, 200 + i, MPI_COMM_WORLD, pair(2))
        do times = 1, 2
            call MPI_Startall(2, pair)
            call MPI_Waitall(2, pair, MPI_STATUSES_IGNORE)
            sent(:, i) = sent(:, i) + 1
        end do
        call MPI_Request_free(pair(1))
        call MPI_Request_free(pair(2))
    end subroutine persistent

#if !MPI_3
    subroutine persistent_reduction(buf, i, n)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: i, n
        type(MPI_Request) :: request
        integer :: times
        if (draw(2) == 0) then
            call MPI_Allreduce_init(sent(1, i), buf, n, MPI_INTEGER8, MPI_BXOR, MPI_COMM_WORLD, &
                MPI_INFO_NULL, request)
        else
            call MPI_Scan_init(MPI_IN_PLACE, buf, n, MPI_INTEGER8, MPI_BXOR, MPI_COMM_WORLD, &
                MPI_INFO_NULL, request)
        end if
        do times = 1, 2
            call MPI_Start(request)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
            sent(:, i) = sent(:, i) + 1
        end do
        call MPI_Request_free(request)
    end subroutine persistent_reduction
#endif

    ! Blocks of c elements for each rank, from the first element on
    subroutine blocks(buf, i, c, kind, root, request)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: i, c, kind, root
        type(MPI_Request), intent(inout) :: request
        integer :: way
        way = draw(6)
        if (kind == 17) then
            if (way == 0) then
                call MPI_Iallgather(sent(1, i), c, MPI_INTEGER8, buf, c, MPI_INTEGER8, &
                    MPI_COMM_WORLD, request)
            else if (way == 1) then
                call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buf, c, MPI_INTEGER8, &
                    MPI_COMM_WORLD, request)
            else if (way == 2) then
                call MPI_Ialltoall(sent(1, i), 2 * c, MPI_INTEGER, buf, c, MPI_INTEGER8, &
                    MPI_COMM_WORLD, request)
            else if (way == 3) then
                call MPI_Ialltoall(buf, 2 * c - 1, MPI_INTEGER, scratch(1, i), 2 * c - 1, &
                    MPI_INTEGER, MPI_COMM_WORLD, request)
            else if (way == 4) then
                call MPI_Allgather(sent(1, i), c, MPI_INTEGER8, buf, c, MPI_INTEGER8, MPI_COMM_WORLD)
            else
                call MPI_Alltoall(sent(1, i), c, MPI_INTEGER8, buf, c, MPI_INTEGER8, MPI_COMM_WORLD)
            end if
        else if (way <= 1) then
            call MPI_Igather(sent(1, i), c, MPI_INTEGER8, buf, c, MPI_INTEGER8, root, &
                MPI_COMM_WORLD, request)
        else if (way == 2) then
            call MPI_Igather(buf, 2 * c - 1, MPI_INTEGER, scratch(1, i), 2 * c - 1, MPI_INTEGER, &
                root, MPI_COMM_WORLD, request)
        else if (way <= 4) then
            call MPI_Iscatter(buf, c, MPI_INTEGER8, scratch(1, i), c, MPI_INTEGER8, root, &
                MPI_COMM_WORLD, request)
        else
            call MPI_Iscatter(sent(1, i), c, MPI_INTEGER8, buf, c, MPI_INTEGER8, root, &
                MPI_COMM_WORLD, request)
        end if
    end subroutine blocks

    ! Blocks from element o on, in the opposite order of the ranks
    subroutine displaced(buf, i, o, c, kind, root, request)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: i, o, c, kind, root
        type(MPI_Request), intent(inout) :: request
        integer :: r
        counts(:, i) = c
        twice(:, i) = 2 * c
        displs(:size, i) = [(o + (size - r) * c, r = 1, size)]
        doubled(:size, i) = 2 * displs(:size, i)
        places(:size, i) = [((r - 1) * c, r = 1, size)]
        if (kind == 19) then
            call MPI_Iallgatherv(sent(1, i), c, MPI_INTEGER8, buf, counts(:, i), displs(:, i), MPI_INTEGER8, &
                MPI_COMM_WORLD, request)
        else if (kind == 20 .and. draw(2) == 0) then
            call MPI_Igatherv(sent(1, i), c, MPI_INTEGER8, buf, counts(:, i), displs(:, i), MPI_INTEGER8, root, &
                MPI_COMM_WORLD, request)
        else if (kind == 20) then
            call MPI_Iscatterv(buf, counts(:, i), displs(:, i), MPI_INTEGER8, scratch(1, i), c, MPI_INTEGER8, &
                root, MPI_COMM_WORLD, request)
        else if (draw(2) == 0) then
            call MPI_Ialltoallv(sent(1, i), counts(:, i), places(:, i), MPI_INTEGER8, buf, twice(:, i), &
                doubled(:, i), MPI_INTEGER, MPI_COMM_WORLD, request)
        else
            call MPI_Ialltoallv(buf, counts(:, i), displs(:, i), MPI_INTEGER8, scratch(1, i), counts(:, i), places(:, i), &
                MPI_INTEGER8, MPI_COMM_WORLD, request)
        end if
    end subroutine displaced

    ! Each block with a datatype of its own
    subroutine typed(buf, i, o, c, request)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: i, o, c
        type(MPI_Request), intent(inout) :: request
        integer :: r
        displs(:size, i) = [(8 * (o + (size - r) * c), r = 1, size)]
        places(:size, i) = [(8 * (r - 1) * c, r = 1, size)]
        counts(:, i) = c
        whole = MPI_INTEGER8
        do r = 1, size
            if (modulo(r + rank + i, 2) == 0) then
                call MPI_Type_dup(MPI_INTEGER8, types(r, i))
            else
                call MPI_Type_contiguous(8, MPI_BYTE, types(r, i))
            end if
            call MPI_Type_commit(types(r, i))
        end do
        if (draw(2) == 0) then
            call MPI_Ialltoallw(sent(1, i), counts(:, i), places(:, i), whole, buf, counts(:, i), &
                displs(:, i), types(:, i), MPI_COMM_WORLD, request)
        else
            call MPI_Ialltoallw(buf, counts(:, i), displs(:, i), types(:, i), scratch(1, i), &
                counts(:, i), places(:, i), whole, MPI_COMM_WORLD, request)
        end if
        do r = 1, size
            call MPI_Type_free(types(r, i))
        end do
    end subroutine typed

    subroutine neighbors(buf, i, o, c, request)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: i, o, c
        type(MPI_Request), intent(inout) :: request
        type(MPI_Comm) :: over
        counts(:2, i) = c
        places(:2, i) = [0, c]
        displs(:2, i) = [o + c, o]
        addresses(:, i) = [8_at_kind * o, 8_at_kind * (o + c)]
        own(:, i) = [0_at_kind, 8_at_kind * c]
        whole = MPI_INTEGER8
        over = ring
        if (draw(2) == 0) over = line
        if (draw(2) == 0) then
            call MPI_Ineighbor_alltoallv(sent(1, i), counts(:, i), places(:, i), MPI_INTEGER8, buf, &
                counts(:, i), displs(:, i), MPI_INTEGER8, over, request)
            if (over == line .and. rank == 0) call store(buf, o + c)
        else if (draw(2) == 0) then
            call MPI_Ineighbor_alltoallw(sent(1, i), counts(:, i), own(:, i), whole, buf, &
                counts(:, i), addresses(:, i), whole, over, request)
            if (over == line .and. rank == size - 1) call store(buf, o + c)
        else if (o == 0) then
            call MPI_Ineighbor_allgather(sent(1, i), c, MPI_INTEGER8, buf, c, MPI_INTEGER8, over, &
                request)
            if (over == line .and. rank == 0) call store(buf, 0)
        else
            call MPI_Ineighbor_alltoallw(buf, counts(:, i), addresses(:, i), whole, scratch(1, i), &
                counts(:, i), own(:, i), whole, over, request)
        end if
    end subroutine neighbors

    subroutine reduce(buf, i, n, form, root, request)
        integer(kind=wide), intent(inout), asynchronous :: buf(:, :, :)
        integer, intent(in) :: i, n, form, root
        type(MPI_Request), intent(inout) :: request
        type(MPI_Datatype) :: type
        integer :: c
        type = MPI_INTEGER8
        if (form == 2) type = MPI_INTEGER
        if (form > 2) return
        c = n / size
        counts(:, i) = c
        select case (draw(11))
        case (0)
            call MPI_Iallreduce(sent(1, i), buf, n, type, MPI_BXOR, MPI_COMM_WORLD, request)
        case (1)
            call MPI_Iallreduce(MPI_IN_PLACE, buf, n, type, MPI_BXOR, MPI_COMM_WORLD, request)
        case (2)
            call MPI_Iallreduce(buf, scratch(1, i), n, type, MPI_MAX, MPI_COMM_WORLD, request)
        case (3)
            call MPI_Iscan(sent(1, i), buf, n, type, MPI_BXOR, MPI_COMM_WORLD, request)
        case (4)
            call MPI_Ireduce(sent(1, i), buf, n, type, MPI_BXOR, root, MPI_COMM_WORLD, request)
        case (5)
            call MPI_Ireduce_scatter_block(sent(1, i), buf, c, type, MPI_BXOR, MPI_COMM_WORLD, &
                request)
        case (6)
            call MPI_Ireduce_scatter(buf, scratch(1, i), counts(:, i), type, MPI_BXOR, MPI_COMM_WORLD, &
                request)
        case (7)
            call MPI_Allreduce(sent(1, i), buf, n, type, MPI_BXOR, MPI_COMM_WORLD)
        case (8)
            call MPI_Reduce_local(sent(1, i), buf, n, type, MPI_BXOR)
        case (9)
            call MPI_Iexscan(sent(1, i), buf, n, type, MPI_BXOR, MPI_COMM_WORLD, request)
        case default
            call MPI_Scan(buf, scratch(1, i), n, type, MPI_MAX, MPI_COMM_WORLD)
        end select
    end subroutine reduce

end program sections_random
