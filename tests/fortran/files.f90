! SPDX-License-Identifier: BSD-3-Clause
! run: ranks=1,3 lanes=rxm,shm seconds=40
! Files from mpi_f08: offsets of MPI_OFFSET_KIND, views, all forms of access with sections of
! arrays, the shared pointer, a data representation of the program, and its procedures' arguments.
module files_representation
    use, intrinsic :: iso_c_binding
    use mpi_f08
    use check
    implicit none
    integer(kind=MPI_ADDRESS_KIND), parameter :: state = 2_MPI_ADDRESS_KIND**40
    integer :: conversions = 0

contains

    ! An integer has 8 bytes in the file, and the opposite sign.
    subroutine extent_of(datatype, extent, extra_state, ierror)
        type(MPI_Datatype) :: datatype
        integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
        integer :: ierror
        call expect(extra_state == state, 'the extra state of an extent')
        extent = 8
        ierror = MPI_SUCCESS
        if (datatype /= MPI_INTEGER) ierror = MPI_ERR_TYPE
    end subroutine extent_of

    subroutine write_opposite(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        type(c_ptr), value :: userbuf, filebuf
        type(MPI_Datatype) :: datatype
        integer :: count, ierror
        integer(kind=MPI_OFFSET_KIND) :: position
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        integer, pointer :: user(:)
        integer(c_int64_t), pointer :: stored(:)
        call expect(datatype == MPI_INTEGER, 'the datatype of a conversion')
        call expect(extra_state == state, 'the extra state of a conversion')
        call c_f_pointer(userbuf, user, [int(position) + count])
        call c_f_pointer(filebuf, stored, [count])
        stored = -user(int(position) + 1:)
        conversions = conversions + 1
        ierror = MPI_SUCCESS
    end subroutine write_opposite

    subroutine read_opposite(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        type(c_ptr), value :: userbuf, filebuf
        type(MPI_Datatype) :: datatype
        integer :: count, ierror
        integer(kind=MPI_OFFSET_KIND) :: position
        integer(kind=MPI_ADDRESS_KIND) :: extra_state
        integer, pointer :: user(:)
        integer(c_int64_t), pointer :: stored(:)
        call c_f_pointer(userbuf, user, [int(position) + count])
        call c_f_pointer(filebuf, stored, [count])
        user(int(position) + 1:) = -int(stored)
        conversions = conversions + 1
        ierror = MPI_SUCCESS
    end subroutine read_opposite

end module files_representation

program files
    use, intrinsic :: iso_c_binding
    use mpi_f08
    use check
    use files_representation
    implicit none
    integer, parameter :: n = 600, off = MPI_OFFSET_KIND
    integer :: rank, size, code, i
    type(MPI_File) :: file
    type(MPI_Datatype) :: view
    type(MPI_Status) :: status
    character(len=200) :: name

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    call choose_name()
    call open_file()
    ! Every size-th integer is this rank's.
    call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, &
        int(4 * size, MPI_ADDRESS_KIND), view)
    call MPI_Type_commit(view)
    call accesses()
    call nonblocking()
    call shared_pointer()
    call queries()
    call MPI_File_close(file)
    call expect(file == MPI_FILE_NULL, 'the handle after MPI_File_close')
    call opposite()
    call errors()
    call MPI_Type_free(view)
    call MPI_Finalize()
    call finished()

contains

    ! In TMPDIR or /tmp; no other program has it.
    subroutine choose_name()
        character(len=150) :: folder
        character(len=24) :: number
        integer(c_int64_t) :: ticks
        ! gfortran's library takes names and formats for strings of C, whose end AddressSanitizer
        ! looks for: hence the null here, and no format below.
        call get_environment_variable('TMPDIR'//c_null_char, folder)
        if (folder == '') folder = '/tmp'
        call system_clock(ticks)
        write (number, *) ticks
        name = trim(folder) // '/weft-fortran-' // adjustl(number)
        call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD)
    end subroutine choose_name

    subroutine open_file()
        call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR + &
            MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, code)
        call expect(code, MPI_SUCCESS, 'the code of MPI_File_open')
    end subroutine open_file

    subroutine expect_count(expected, what)
        integer, intent(in) :: expected
        character(len=*), intent(in) :: what
        integer :: count
        call MPI_Get_count(status, MPI_INTEGER, count)
        call expect(count, expected, 'the count of ' // what)
    end subroutine expect_count

    subroutine set_view(representation)
        character(len=*), intent(in) :: representation
        call MPI_File_set_view(file, int(4 * rank, off), MPI_INTEGER, view, representation, &
            MPI_INFO_NULL, code)
        call expect(code, MPI_SUCCESS, 'the code of MPI_File_set_view')
    end subroutine set_view

    subroutine accesses()
        integer :: table(3, n), back(n)
        integer(kind=MPI_OFFSET_KIND) :: offset
        call set_view('native')
        table = -1
        table(2, :) = [(1000 * rank + i, i=1, n)]
        call MPI_File_write_all(file, table(2, :), n, MPI_INTEGER, status) ! a section with holes
        call expect_count(n, 'MPI_File_write_all')
        call MPI_File_get_position(file, offset)
        call expect(int(offset), n, 'the pointer')
        back = 0
        call MPI_File_read_at_all(file, 0_off, back, n, MPI_INTEGER, status)
        call expect_count(n, 'MPI_File_read_at_all')
        call expect(all(back == table(2, :)), 'MPI_File_read_at_all reads what was written')
        call MPI_File_seek(file, -10_off, MPI_SEEK_END)
        back = 0
        call MPI_File_read(file, back, n, MPI_INTEGER, status)
        call expect_count(10, 'MPI_File_read at the end of the file')
        call expect(all(back(:10) == table(2, n - 9:)), 'MPI_File_read at the end of the file')
        call expect(all(back(11:) == 0), 'nothing behind the end of the file')
        call MPI_File_write_at_all_begin(file, 5_off, back, 1, MPI_INTEGER)
        call MPI_File_write_at_all_end(file, back, status)
        call expect_count(1, 'MPI_File_write_at_all_end')
        call MPI_File_get_byte_offset(file, 7_off, offset)
        call expect(int(offset), 4 * (7 * size + rank), 'MPI_File_get_byte_offset')
    end subroutine accesses

    subroutine nonblocking()
        integer, asynchronous :: out(n), in(n)
        type(MPI_Request) :: requests(2)
        out = [(i * i + rank, i=1, n)]
        call MPI_File_iwrite_at(file, 0_off, out, n, MPI_INTEGER, requests(1))
        call MPI_Wait(requests(1), status)
        call expect_count(n, 'MPI_File_iwrite_at')
        call MPI_File_iread_at_all(file, 0_off, in(:n/2), n / 2, MPI_INTEGER, requests(1))
        call MPI_File_iread_at_all(file, int(n / 2, off), in(n/2+1:), n / 2, MPI_INTEGER, &
            requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        if (.not. MPI_ASYNC_PROTECTS_NONBLOCKING) call MPI_F_sync_reg(in)
        call expect(all(in == out), 'MPI_File_iread_at_all')
    end subroutine nonblocking

    subroutine shared_pointer()
        integer :: mine(2), all_of(2 * size)
        integer(kind=MPI_OFFSET_KIND) :: offset
        call MPI_File_set_view(file, 0_off, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
        mine = [rank, -rank]
        call MPI_File_write_ordered(file, mine, 2, MPI_INTEGER, status)
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_File_get_position_shared(file, offset)
        call expect(int(offset), 2 * size, 'the shared pointer')
        call MPI_File_read_at(file, 0_off, all_of, 2 * size, MPI_INTEGER, status)
        call expect(all(all_of(1::2) == [(i, i=0, size - 1)]), &
            'the order of MPI_File_write_ordered')
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_File_seek_shared(file, 0_off, MPI_SEEK_SET)
        call MPI_File_read_shared(file, mine, 2, MPI_INTEGER, status)
        call expect(mine(1) == -mine(2) .and. mine(1) < size, 'MPI_File_read_shared')
    end subroutine shared_pointer

    subroutine queries()
        integer(kind=MPI_OFFSET_KIND) :: offset, bytes
        integer(kind=MPI_ADDRESS_KIND) :: extent
        type(MPI_Datatype) :: etype, filetype
        type(MPI_Group) :: group
        integer :: amode, ranks
        logical :: atomic
        character(len=MPI_MAX_DATAREP_STRING) :: representation
        call MPI_File_get_view(file, offset, etype, filetype, representation)
        call expect(representation, 'native', 'the data representation')
        call expect(etype == MPI_INTEGER .and. offset == 0, 'the view')
        call MPI_File_set_size(file, 4096_off)
        call MPI_File_get_size(file, bytes)
        call expect(int(bytes), 4096, 'the size')
        call MPI_File_preallocate(file, 8192_off)
        call MPI_File_get_amode(file, amode)
        call expect(iand(amode, MPI_MODE_RDWR), MPI_MODE_RDWR, 'the access mode')
        call MPI_File_get_group(file, group)
        call MPI_Group_size(group, ranks)
        call expect(ranks, size, 'the ranks of the file')
        call MPI_Group_free(group)
        call MPI_File_set_atomicity(file, .true.)
        call MPI_File_get_atomicity(file, atomic)
        call expect(atomic, 'the atomic mode')
        call MPI_File_get_type_extent(file, MPI_INTEGER, extent)
        call expect(int(extent), 4, 'the extent of an integer')
        call MPI_File_sync(file)
    end subroutine queries

    subroutine opposite()
        integer :: values(n), back(n)
        integer(c_int64_t) :: stored(n)
        integer(kind=MPI_ADDRESS_KIND) :: extent
        call MPI_Register_datarep('opposite', read_opposite, write_opposite, extent_of, state, code)
        call expect(code, MPI_SUCCESS, 'the code of MPI_Register_datarep')
        call MPI_Register_datarep('opposite', read_opposite, write_opposite, extent_of, state, code)
        call MPI_Error_class(code, i)
        call expect(i, MPI_ERR_DUP_DATAREP, 'the class of a second MPI_Register_datarep')
        call open_file()
        call MPI_File_set_view(file, int(8 * n * rank, off), MPI_INTEGER, MPI_INTEGER, &
            'opposite', MPI_INFO_NULL, code)
        call expect(code, MPI_SUCCESS, 'the code of MPI_File_set_view, opposite')
        values = [(i + rank, i=1, n)]
        call MPI_File_write_all(file, values, n, MPI_INTEGER, status)
        call expect_count(n, 'MPI_File_write_all, opposite')
        back = 0
        call MPI_File_read_at(file, 0_off, back, n, MPI_INTEGER, status)
        call expect(all(back == values), 'what is read, opposite')
        call expect(conversions > 1, 'calls of the conversions')
        call MPI_File_get_type_extent(file, MPI_INTEGER, extent)
        call expect(int(extent), 8, 'the extent of an integer, opposite')
        call MPI_File_set_view(file, int(8 * n * rank, off), MPI_INTEGER8, MPI_INTEGER8, &
            'native', MPI_INFO_NULL)
        call MPI_File_read(file, stored, n, MPI_INTEGER8, status)
        call expect(all(stored == -values), 'what is in the file, opposite')
        call MPI_File_close(file)
    end subroutine opposite

    subroutine errors()
        integer :: class
        call MPI_File_open(MPI_COMM_WORLD, trim(name) // '/none', MPI_MODE_RDONLY, &
            MPI_INFO_NULL, file, code)
        call MPI_Error_class(code, class)
        call expect(class, MPI_ERR_NO_SUCH_FILE, 'the class for a file that is not there')
        call MPI_File_delete(name, MPI_INFO_NULL, code)
        call MPI_Error_class(code, class)
        call expect(class, MPI_ERR_NO_SUCH_FILE, 'the class of MPI_File_delete')
    end subroutine errors

end program files
