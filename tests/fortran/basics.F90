! SPDX-License-Identifier: BSD-3-Clause
! run: ranks=1,3 lanes=rxm,shm seconds=40
! Messages, results, strings, LOGICALs, indices and special addresses, through one interface. MPI_3:
! one of MPI 3.1, another MPI's (tests/frontend/run).
#include "interface.inc"
program basics
    use check
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: rank, size, code

    call MPI_Init(code)
    call expect(code, MPI_SUCCESS, 'the code of MPI_Init')
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    call MPI_Comm_size(MPI_COMM_WORLD, size, code)
    call messages()
    call indices()
    call collectives()
    call bottom()
    call strings()
    call logicals()
    call representations()
#if !MPI_3
    call properties()
    call statuses()
#endif
    call graphs()
    call buffered()
    call large_types()
    call processes()
    call MPI_Finalize(code)
    call finished()

contains

    subroutine messages()
        STATUS(got)
        STATUSES(all, 2)
        HANDLE(MPI_Request) :: requests(2)
        HANDLE(MPI_Message) :: message
        integer :: to, from, out(3), in(3), n, other(3)
        logical :: flag
        to = modulo(rank + 1, size)
        from = modulo(rank - 1, size)
        out = [rank, 2 * rank, 7]
        in = -1
        call MPI_Sendrecv(out, 3, MPI_INTEGER, to, 5, in, 3, MPI_INTEGER, MPI_ANY_SOURCE, &
            MPI_ANY_TAG, MPI_COMM_WORLD, got, code)
        call expect(all3(in, [from, 2 * from, 7]), 'what MPI_Sendrecv receives')
        call expect(SOURCE_OF(got), from, 'the source')
        call expect(TAG_OF(got), 5, 'the tag')
        call MPI_Get_count(got, MPI_INTEGER, n, code)
        call expect(n, 3, 'the count')
        call MPI_Get_count(got, MPI_INTEGER8, n, code)
        call expect(n, MPI_UNDEFINED, 'the count in longer integers')

        in = -1
        call MPI_Irecv(in, 3, MPI_INTEGER, from, 6, MPI_COMM_WORLD, requests(1), code)
        call MPI_Isend(out, 2, MPI_INTEGER, to, 6, MPI_COMM_WORLD, requests(2), code)
        call MPI_Waitall(2, requests, all, code)
        call MPI_F_sync_reg(in) ! the compiler may have kept its values in registers
        call expect(all3(in, [from, 2 * from, -1]), 'what MPI_Irecv receives')
        call MPI_Get_count(NTH(all, 1), MPI_INTEGER, n, code)
        call expect(n, 2, 'the count of MPI_Waitall')
        call expect(requests(1) == MPI_REQUEST_NULL, 'a request that is complete is null')
        call MPI_Isend(out, 2, MPI_INTEGER, to, 8, MPI_COMM_WORLD, requests(2), code)
        call MPI_Mprobe(from, 8, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE, code)
        call MPI_Mrecv(other, 3, MPI_INTEGER, message, MPI_STATUS_IGNORE, code)
        call MPI_Wait(requests(2), MPI_STATUS_IGNORE, code)
        call expect(other(2), 2 * from, 'what MPI_Mrecv receives')
        call expect(message == MPI_MESSAGE_NULL, 'a message that was received is null')
        call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, got, code)
        call expect(.not. flag, 'MPI_Iprobe finds nothing')
        call MPI_Send_init(out, 3, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests(1), code)
        call MPI_Start(requests(1), code)
        call MPI_Wait(requests(1), got, code)
        call expect(requests(1) /= MPI_REQUEST_NULL, 'a persistent request stays')
        call MPI_Request_free(requests(1), code)
        call expect(requests(1) == MPI_REQUEST_NULL, 'a freed request is null')
    end subroutine messages

    logical function all3(a, b)
        integer, intent(in) :: a(3), b(3)
        all3 = all(a == b)
    end function all3

    ! Indices of completed requests count from 1; there may be more requests than fit on the stack.
    subroutine indices()
        integer, parameter :: n = 100
        HANDLE(MPI_Request) :: requests(n)
        STATUS(got)
        STATUSES(some, n)
        integer :: i, which, many, list(n), values(n), seen(n)
        logical :: flag
        do i = 1, n
            call MPI_Irecv(values(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, requests(i), code)
        end do
        call MPI_Testany(n, requests, which, flag, got, code)
        call expect(.not. flag .and. which == MPI_UNDEFINED, 'MPI_Testany finds none')
        call MPI_Send(70, 1, MPI_INTEGER, rank, 70, MPI_COMM_WORLD, code)
        call MPI_Waitany(n, requests, which, got, code)
        call MPI_F_sync_reg(values)
        call expect(which, 70, 'the index of MPI_Waitany')
        call expect(TAG_OF(got), 70, 'the tag of MPI_Waitany')
        call expect(values(70), 70, 'the value of MPI_Waitany')
        do i = 1, n
            if (i /= 70) call MPI_Send(i, 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, code)
        end do
        seen = 0
        seen(70) = 1
        do while (any(seen == 0))
            call MPI_Waitsome(n, requests, many, list, some, code)
            call expect(many >= 1, 'MPI_Waitsome finds one')
            do i = 1, many
                seen(list(i)) = seen(list(i)) + 1
                call expect(TAG_OF1(some, i), list(i), 'the tag of MPI_Waitsome')
            end do
        end do
        call expect(all(seen == 1), 'each request completes once')
        call MPI_Irecv(values(2), 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, requests(2), code)
        call MPI_Irecv(values(5), 1, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, requests(5), code)
        call MPI_Testsome(n, requests, many, list, some, code)
        call expect(many, 0, 'the count of MPI_Testsome before any message')
        call MPI_Send(5, 1, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, code)
        many = 0
        do while (many == 0)
            call MPI_Testsome(n, requests, many, list, some, code)
        end do
        call expect(many == 1 .and. list(1) == 5, 'the index of MPI_Testsome')
        call expect(TAG_OF1(some, 1), 5, 'the tag of MPI_Testsome')
        call MPI_Send(2, 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, code)
        flag = .false.
        do while (.not. flag)
            call MPI_Testany(n, requests, which, flag, got, code)
        end do
        call expect(which, 2, 'the index of MPI_Testany')
        call MPI_Waitsome(n, requests, many, list, MPI_STATUSES_IGNORE, code)
        call expect(many, MPI_UNDEFINED, 'the count of MPI_Waitsome without requests')
        call MPI_Waitany(n, requests, which, MPI_STATUS_IGNORE, code)
        call expect(which, MPI_UNDEFINED, 'the index of MPI_Waitany without requests')
        call MPI_Testall(n, requests, flag, MPI_STATUSES_IGNORE, code)
        call expect(flag, 'MPI_Testall without requests')
    end subroutine indices

    subroutine collectives()
        integer :: i, mine, sum, all(size), ones(size)
        HANDLE(MPI_Datatype) :: types(size)
        integer :: from(size), to(size), offsets(size)
        HANDLE(MPI_Comm) :: half
        mine = rank + 1
        call MPI_Allreduce(mine, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
        call expect(sum, size * (size + 1) / 2, 'the sum')
        sum = mine
        call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
        call expect(sum, size * (size + 1) / 2, 'the sum in place')
        all = -1
        all(rank + 1) = rank
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, &
            MPI_COMM_WORLD, code)
        do i = 1, size
            call expect(all(i), i - 1, 'a block of MPI_Allgather')
        end do
        from = [(100 * rank + i, i = 0, size - 1)]
        to = -1
        types = MPI_INTEGER
        ones = 1
        offsets = [(4 * i, i = 0, size - 1)]
        call MPI_Alltoallw(from, ones, offsets, types, to, ones, offsets, types, MPI_COMM_WORLD, &
            code)
        do i = 1, size
            call expect(to(i), 100 * (i - 1) + rank, 'a block of MPI_Alltoallw')
        end do
        call MPI_Alltoallw(MPI_IN_PLACE, ones, offsets, types, to, ones, offsets, types, &
            MPI_COMM_WORLD, code)
        do i = 1, size
            call expect(to(i), 100 * rank + i - 1, 'a block of MPI_Alltoallw in place')
        end do
        call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, code)
        call MPI_Comm_size(half, i, code)
        call expect(i, (size + 1 - mod(rank, 2)) / 2, 'the size of a half')
        call MPI_Comm_free(half, code)
        call expect(half == MPI_COMM_NULL, 'a freed communicator is null')
    end subroutine collectives

    ! Data at absolute addresses.
    subroutine bottom()
        HANDLE(MPI_Datatype) :: type
        double precision, save, target :: a(2)
        integer, save :: b(3)
        integer(kind=MPI_ADDRESS_KIND) :: places(2), lb, extent
        integer :: copies(7)
        HANDLE(MPI_Datatype) :: types(2)
        a = [1.5d0, 2.5d0]
        b = [1, 2, 3]
        call MPI_Get_address(a, places(1), code)
        call MPI_Get_address(b, places(2), code)
        types(1) = MPI_DOUBLE_PRECISION
        types(2) = MPI_INTEGER
        call MPI_Type_create_struct(2, [2, 3], places, types, type, code)
        call MPI_Type_commit(type, code)
        copies = -1
        call MPI_Sendrecv(MPI_BOTTOM, 1, type, 0, 1, copies, 28, MPI_BYTE, 0, 1, MPI_COMM_SELF, &
            MPI_STATUS_IGNORE, code)
        call expect(all(transfer(copies(1:4), a(1), 2) == a), 'what lies at MPI_BOTTOM')
        call expect(all(copies(5:7) == b), 'the integers at MPI_BOTTOM')
        call MPI_Type_get_extent(MPI_DOUBLE_PRECISION, lb, extent, code)
        call expect(int(extent), 8, 'the extent of DOUBLE PRECISION')
        call MPI_Type_free(type, code)
    end subroutine bottom

    subroutine strings()
        character(len=MPI_MAX_OBJECT_NAME) :: name
        character(len=4) :: short
        character(len=10) :: value
        character(len=MPI_MAX_ERROR_STRING) :: text
        character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
        HANDLE(MPI_Info) :: info
        HANDLE(MPI_Comm) :: comm
#if !MPI_3
        HANDLE(MPI_Session) :: session
#endif
        integer :: length, n
        logical :: flag
        call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, code)
        call expect(length, 14, 'the length of a name')
        call expect(name, 'MPI_COMM_WORLD', 'the name')
        call MPI_Comm_dup(MPI_COMM_SELF, comm, code)
        call MPI_Comm_set_name(comm, 'my own name   ', code)
        call MPI_Comm_get_name(comm, name, length, code)
        call expect(length, 11, 'the length without blanks')
        call MPI_Comm_set_name(comm, '  behind blanks ', code)
        call MPI_Comm_get_name(comm, name, length, code)
        call expect(length, 15, 'the length of a name behind blanks')
        call expect(name, '  behind blanks', 'the name behind blanks')
        call MPI_Comm_set_name(comm, 'my own name   ', code)
#if !MPI_3
        call MPI_Comm_get_name(comm, short, length, code)
        call expect(short, 'my o', 'a name that is cut')
#endif
        call MPI_Comm_free(comm, code)
        call MPI_Info_create(info, code)
        call MPI_Info_set(info, ' key ', '  a value  ', code)
        value = 'xxxxxxxxxx'
        call MPI_Info_get(info, 'key', 7, value, flag, code)
        call expect(flag, 'the key is there')
        call expect(value, 'a value', 'the value')
#if !MPI_3
        length = 3
        value = 'xxxxxxxxxx'
        call MPI_Info_get_string(info, 'key', length, value, flag, code)
        call expect(length, 7, 'the length of the whole value')
        call expect(value, 'a v', 'the value that is cut')
        length = huge(length)
        call MPI_Info_get_string(info, 'key', length, value, flag, code)
        call expect(code, MPI_SUCCESS, 'the code for the largest buffer')
        call expect(value, 'a value', 'the value in the largest buffer')
#endif
        call MPI_Info_get(info, 'key', huge(length), value, flag, code)
        call expect(value, 'a value', 'the value of at most the largest number')
#if !MPI_3
        length = huge(length)
        call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, code)
        call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, value, code)
        call expect(code, MPI_SUCCESS, 'the code for the largest name of a process set')
        call expect(value, 'mpi://WORL', 'the name of a process set that is cut')
        call expect(length, 11, 'the length of the name of a process set')
        call MPI_Session_finalize(session, code)
#endif
        call MPI_Info_get_valuelen(info, 'key', length, flag, code)
        call expect(length, 7, 'the length of the value')
        call MPI_Info_get_nthkey(info, 0, name, code)
        call expect(name, 'key', 'the first key')
        call MPI_Info_get(info, 'another', 7, value, flag, code)
        call expect(.not. flag, 'another key is not there')
        call MPI_Info_get_nkeys(info, n, code)
        call expect(n, 1, 'the number of keys')
        call MPI_Info_free(info, code)
        call MPI_Error_string(MPI_ERR_RANK, text, length, code)
        call expect(length > 0 .and. len_trim(text) == length, 'the text of an error')
        call MPI_Get_library_version(version, length, code)
        call expect(len_trim(version), length, 'the length of the version')
    end subroutine strings

    subroutine logicals()
        HANDLE(MPI_Comm) :: cart, lines
        logical :: periods(2), flag, keep(2), many(40)
        integer :: dims(2), coords(2), n, kind, all_dims(40), all_coords(40), many_bits(40)
        equivalence (many, many_bits)
        HANDLE(MPI_Op) :: op
        dims = [size, 1]
        call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart, code)
        dims = -1
        periods = .false.
        call MPI_Cart_get(cart, 2, dims, periods, coords, code)
        call expect(all(dims == [size, 1]), 'the dimensions')
        call expect(periods(1) .and. .not. periods(2), 'the periods')
        call expect(coords(1), rank, 'the first coordinate')
        many_bits = 77
        call MPI_Cart_get(cart, 40, all_dims, many, all_coords, code)
        call expect(many(1) .and. .not. many(2), 'the periods in a long array')
        call expect(all(many_bits(3:) == 77), 'what is behind the periods is left')
        keep = [.false., .true.]
        call MPI_Cart_sub(cart, keep, lines, code)
        call MPI_Comm_size(lines, n, code)
        call expect(n, 1, 'the size of a line')
        call MPI_Topo_test(cart, kind, code)
        call expect(kind, MPI_CART, 'the topology')
        call MPI_Comm_free(lines, code)
        call MPI_Comm_free(cart, code)
        call MPI_Initialized(flag, code)
        call expect(flag, 'MPI is initialized')
        call MPI_Finalized(flag, code)
        call expect(.not. flag, 'MPI is not finalized')
        call MPI_Comm_test_inter(MPI_COMM_WORLD, flag, code)
        call expect(.not. flag, 'the world is no inter-communicator')
        call MPI_Op_commutative(MPI_SUM, flag, code)
        call expect(flag, 'a sum commutes')
        op = MPI_OP_NULL
        call expect(op == MPI_OP_NULL, 'a null operation')
    end subroutine logicals

    ! What is not .FALSE. is .TRUE., and a result is one of the two that the compiler makes.
    subroutine representations()
        integer, parameter :: bits(4) = [-1, 2, 256, -2147483647]
        HANDLE(MPI_Comm) :: cart
        logical :: odd(2), periods(2)
        integer :: odd_bits(2), periods_bits(2), dims(2), coords(2), i
        equivalence (odd, odd_bits), (periods, periods_bits)
        do i = 1, 4
            odd_bits = [bits(i), 0]
            periods_bits = 7
            call MPI_Cart_create(MPI_COMM_SELF, 2, [1, 1], odd, odd(1), cart, code)
            call MPI_Cart_get(cart, 2, dims, periods, coords, code)
            call expect(periods_bits(1), transfer(.true., 1), 'the bits of a true result')
            call expect(periods_bits(2), transfer(.false., 1), 'the bits of a false result')
            call MPI_Comm_free(cart, code)
        end do
    end subroutine representations

#if !MPI_3
    ! The C library's properties of Fortran, from Fortran.
    subroutine properties()
        HANDLE(MPI_Info) :: info
        character(len=10) :: value
        logical :: found, yes, no
        integer :: bytes, class, unused
        call MPI_Abi_get_fortran_info(info, code)
        call MPI_Info_get(info, 'mpi_integer_size', 10, value, found, code)
        bytes = storage_size(1) / 8
        call expect(found .and. value == char(ichar('0') + bytes), 'mpi_integer_size')
        call MPI_Info_get(info, 'mpi_integer8_supported', 10, value, found, code)
        call expect(found .and. value == 'true', 'mpi_integer8_supported')
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, code)
        call MPI_Abi_set_fortran_info(info, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_ABI, 'the class of sizes that are set again')
        call MPI_Abi_set_fortran_booleans(bytes, .true., .false., code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_ABI, 'the class of LOGICALs that are set again')
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, code)
        call MPI_Info_free(info, code)
        yes = .false.
        no = .true.
        call MPI_Abi_get_fortran_booleans(bytes, yes, no, found, code)
        call expect(found .and. transfer(yes, 1) == transfer(.true., 1), 'the bits of .TRUE.')
        call expect(transfer(no, 1) == transfer(.false., 1), 'the bits of .FALSE.')
    end subroutine properties

    ! A status is MPI_STATUS_SIZE integers or a TYPE(MPI_Status), and either becomes the other.
    subroutine statuses()
        STATUS(got)
#if !MPIF_H
        type(MPI_Status) :: as_type
#endif
        integer :: as_integers(MPI_STATUS_SIZE), again(MPI_STATUS_SIZE), n
        logical :: flag
        call expect(MPI_STATUS_SIZE, 8, 'MPI_STATUS_SIZE')
        call MPI_Status_set_elements(got, MPI_INTEGER, 11, code)
        call MPI_Status_set_cancelled(got, .true., code)
        SOURCE_OF(got) = 21
        TAG_OF(got) = 22
        ERROR_OF(got) = 23
#if MODULE_F08
        call MPI_Status_f082f(got, as_integers, code)
#else
        as_integers = got
#endif
        call expect(all(as_integers([MPI_SOURCE, MPI_TAG, MPI_ERROR]) == [21, 22, 23]), &
            'a status as integers')
        again = as_integers
#if !MPIF_H
        call MPI_Status_f2f08(as_integers, as_type, code)
        call expect(as_type%MPI_SOURCE == 21 .and. as_type%MPI_TAG == 22 .and. &
            as_type%MPI_ERROR == 23, 'a status as a type')
        call MPI_Status_f082f(as_type, again, code)
#endif
        call expect(all(again == as_integers), 'a status there and back')
        call MPI_Test_cancelled(got, flag, code)
        call MPI_Get_elements(got, MPI_INTEGER, n, code)
        call expect(flag .and. n == 11, 'what a status keeps for MPI')
    end subroutine statuses
#endif

    subroutine graphs()
        HANDLE(MPI_Comm) :: graph
        integer :: ins, outs, sources(1), destinations(1), no_weights(1), more_weights(1)
        logical :: weighted
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [rank], MPI_UNWEIGHTED, 1, [rank], &
            MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, code)
        call expect(code, MPI_SUCCESS, 'the code of a graph without weights')
        call MPI_Dist_graph_neighbors_count(graph, ins, outs, weighted, code)
        call expect(ins == 1 .and. outs == 1 .and. .not. weighted, 'a graph without weights')
        call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, &
            MPI_UNWEIGHTED, code)
        call expect(sources(1), rank, 'the only neighbor')
        call MPI_Comm_free(graph, code)
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, [integer ::], MPI_WEIGHTS_EMPTY, 0, &
            [integer ::], MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., graph, code)
        call MPI_Dist_graph_neighbors_count(graph, ins, outs, weighted, code)
        call expect(ins == 0 .and. outs == 0 .and. weighted, 'a graph with empty weights')
        call MPI_Comm_free(graph, code)
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [rank], [3], 1, [rank], [4], &
            MPI_INFO_NULL, .false., graph, code)
        call MPI_Dist_graph_neighbors(graph, 1, sources, no_weights, 1, destinations, &
            more_weights, code)
        call expect(no_weights(1) == 3 .and. more_weights(1) == 4, 'the weights')
        call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, &
            MPI_UNWEIGHTED, code)
        call expect(sources(1), rank, 'the neighbor of a graph with weights, without them')
        call MPI_Comm_free(graph, code)
    end subroutine graphs

    subroutine buffered()
        integer, parameter :: room = 1000
        character(len=1), target, save :: space(room + MPI_BSEND_OVERHEAD)
        integer :: n, got
        call MPI_Buffer_attach(space, room + MPI_BSEND_OVERHEAD, code)
        call MPI_Bsend(11, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, code)
        call MPI_Recv(got, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
        call expect(got, 11, 'a buffered message')
        call detach(n)
        call expect(n, room + MPI_BSEND_OVERHEAD, 'the size of the buffer')
#if !MPI_3
        call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0, code)
        call expect(code, MPI_SUCCESS, 'the code for an automatic buffer')
        call MPI_Bsend(12, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, code)
        call MPI_Recv(got, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
        call expect(got, 12, 'a message in an automatic buffer')
#if MODULE_F08
        block
            use, intrinsic :: iso_c_binding, only: c_ptr, c_associated, c_loc
            type(c_ptr) :: address
            call MPI_Buffer_detach(address, n, code)
            call expect(c_associated(address, c_loc(MPI_BUFFER_AUTOMATIC)), &
                'the address of a detached automatic buffer')
        end block
#else
        call detach(n)
#endif
#endif
    end subroutine buffered

    subroutine detach(n)
        integer, intent(out) :: n
#if MODULE_F08
        block
            use, intrinsic :: iso_c_binding, only: c_ptr, c_associated
            type(c_ptr) :: address
            call MPI_Buffer_detach(address, n, code)
            call expect(c_associated(address), 'MPI_Buffer_detach returns an address')
        end block
#else
        integer :: unused
        call MPI_Buffer_detach(unused, n, code)
#endif
    end subroutine detach

    ! Datatypes by precision and by size.
    subroutine large_types()
        HANDLE(MPI_Datatype) :: type, same
        integer :: n
        call MPI_Type_create_f90_real(15, MPI_UNDEFINED, type, code)
        call MPI_Type_size(type, n, code)
        call expect(n, 8, 'the size of a real of 15 digits')
        call MPI_Type_create_f90_real(6, 30, same, code)
        call MPI_Type_size(same, n, code)
        call expect(n, 4, 'the size of a real of 6 digits')
        call MPI_Type_create_f90_complex(15, 300, type, code)
        call MPI_Type_size(type, n, code)
        call expect(n, 16, 'the size of a complex number of 15 digits')
        call MPI_Type_create_f90_integer(4, type, code)
        call MPI_Type_size(type, n, code)
        call expect(n, 2, 'the size of an integer of 4 digits')
        call MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, same, code)
        call MPI_Type_size(same, n, code)
        call expect(n, 16, 'the size of a complex number')
#if !MPIF_H
        block
            double precision :: wide(3)
            integer(kind=1) :: narrow
            call MPI_Sizeof(wide, n, code)
            call expect(n, 8, 'MPI_Sizeof of an array')
            call MPI_Sizeof(narrow, n, code)
            call expect(n, 1, 'MPI_Sizeof of a scalar')
        end block
#endif
    end subroutine large_types

    ! What Weft does not have yet says so, through the error handler.
    subroutine processes()
        HANDLE(MPI_Comm) :: children
        integer :: class, unused
        character(len=MPI_MAX_PORT_NAME) :: port
        call MPI_Open_port(MPI_INFO_NULL, port, code)
        call expect(index(port, 'weft1/'), 1, 'the name of a port')
        call MPI_Close_port(port, code)
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, code)
        call MPI_Comm_spawn('nothing', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &
            children, MPI_ERRCODES_IGNORE, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_SPAWN, 'the class of MPI_Comm_spawn')
        call MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, children, code)
        call MPI_Error_class(code, class, unused)
        call expect(class, MPI_ERR_PORT, 'the class of MPI_Comm_connect to a closed port')
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, code)
    end subroutine processes

    integer function TAG_OF1(statuses, i)
        integer, intent(in) :: i
#if MODULE_F08
        type(MPI_Status), intent(in) :: statuses(:)
        TAG_OF1 = statuses(i)%MPI_TAG
#else
        integer, intent(in) :: statuses(:, :)
        TAG_OF1 = statuses(MPI_TAG, i)
#endif
    end function TAG_OF1

end program basics
