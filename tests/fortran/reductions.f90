! SPDX-License-Identifier: BSD-3-Clause
! run: ranks=1,3 lanes=rxm,shm seconds=40
! Reductions on every datatype of Fortran, with Fortran's own arithmetic beside them. The block of
! each datatype is the same but for the type.
program reductions
    use mpi_f08
    use check
    implicit none
    integer :: rank, size

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    block
        integer(kind=1) :: x(2), y(2)
        x = [rank + 1, -rank]
        call MPI_Allreduce(x, y, 2, MPI_INTEGER1, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (size + 1) / 2 .and. y(2) == -(size * (size - 1) / 2), 'a sum of MPI_INTEGER1')
        call MPI_Allreduce(x, y, 2, MPI_INTEGER1, MPI_MAX, MPI_COMM_WORLD)
        call expect(y(1) == size .and. y(2) == 0, 'a maximum of MPI_INTEGER1')
        call MPI_Allreduce(x, y, 2, MPI_INTEGER1, MPI_BOR, MPI_COMM_WORLD)
        call expect(y(2) == merge(0, -1, size == 1) .or. size > 2, 'the bits of MPI_INTEGER1')
    end block
    block
        integer(kind=2) :: x(2), y(2)
        x = [rank + 1, -rank]
        call MPI_Allreduce(x, y, 2, MPI_INTEGER2, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (size + 1) / 2 .and. y(2) == -(size * (size - 1) / 2), 'a sum of MPI_INTEGER2')
        call MPI_Allreduce(x, y, 2, MPI_INTEGER2, MPI_MAX, MPI_COMM_WORLD)
        call expect(y(1) == size .and. y(2) == 0, 'a maximum of MPI_INTEGER2')
        call MPI_Allreduce(x, y, 2, MPI_INTEGER2, MPI_BOR, MPI_COMM_WORLD)
        call expect(y(2) == merge(0, -1, size == 1) .or. size > 2, 'the bits of MPI_INTEGER2')
    end block
    block
        integer(kind=4) :: x(2), y(2)
        x = [rank + 1, -rank]
        call MPI_Allreduce(x, y, 2, MPI_INTEGER4, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (size + 1) / 2 .and. y(2) == -(size * (size - 1) / 2), 'a sum of MPI_INTEGER4')
        call MPI_Allreduce(x, y, 2, MPI_INTEGER4, MPI_MAX, MPI_COMM_WORLD)
        call expect(y(1) == size .and. y(2) == 0, 'a maximum of MPI_INTEGER4')
        call MPI_Allreduce(x, y, 2, MPI_INTEGER4, MPI_BOR, MPI_COMM_WORLD)
        call expect(y(2) == merge(0, -1, size == 1) .or. size > 2, 'the bits of MPI_INTEGER4')
    end block
    block
        integer(kind=8) :: x(2), y(2)
        x = [rank + 1, -rank]
        call MPI_Allreduce(x, y, 2, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (size + 1) / 2 .and. y(2) == -(size * (size - 1) / 2), 'a sum of MPI_INTEGER8')
        call MPI_Allreduce(x, y, 2, MPI_INTEGER8, MPI_MAX, MPI_COMM_WORLD)
        call expect(y(1) == size .and. y(2) == 0, 'a maximum of MPI_INTEGER8')
        call MPI_Allreduce(x, y, 2, MPI_INTEGER8, MPI_BOR, MPI_COMM_WORLD)
        call expect(y(2) == merge(0, -1, size == 1) .or. size > 2, 'the bits of MPI_INTEGER8')
    end block
#ifdef HAVE_INTEGER16
    block
        integer(kind=16) :: x(2), y(2)
        x = [rank + 1, -rank]
        call MPI_Allreduce(x, y, 2, MPI_INTEGER16, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (size + 1) / 2 .and. y(2) == -(size * (size - 1) / 2), 'a sum of MPI_INTEGER16')
        call MPI_Allreduce(x, y, 2, MPI_INTEGER16, MPI_MAX, MPI_COMM_WORLD)
        call expect(y(1) == size .and. y(2) == 0, 'a maximum of MPI_INTEGER16')
        call MPI_Allreduce(x, y, 2, MPI_INTEGER16, MPI_BOR, MPI_COMM_WORLD)
        call expect(y(2) == merge(0, -1, size == 1) .or. size > 2, 'the bits of MPI_INTEGER16')
    end block
#endif
    block
        integer :: x(2), y(2)
        x = [rank + 1, -rank]
        call MPI_Allreduce(x, y, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (size + 1) / 2 .and. y(2) == -(size * (size - 1) / 2), 'a sum of MPI_INTEGER')
        call MPI_Allreduce(x, y, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
        call expect(y(1) == size .and. y(2) == 0, 'a maximum of MPI_INTEGER')
        call MPI_Allreduce(x, y, 2, MPI_INTEGER, MPI_BOR, MPI_COMM_WORLD)
        call expect(y(2) == merge(0, -1, size == 1) .or. size > 2, 'the bits of MPI_INTEGER')
    end block
    block
        real(kind=4) :: x(2), y(2)
        x = [rank + 0.5, -1.0]
        call MPI_Allreduce(x, y, 2, MPI_REAL4, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * size / 2.0 .and. y(2) == -size, 'a sum of MPI_REAL4')
        call MPI_Allreduce(x, y, 2, MPI_REAL4, MPI_MIN, MPI_COMM_WORLD)
        call expect(y(1) == 0.5 .and. y(2) == -1, 'a minimum of MPI_REAL4')
    end block
    block
        real(kind=8) :: x(2), y(2)
        x = [rank + 0.5, -1.0]
        call MPI_Allreduce(x, y, 2, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * size / 2.0 .and. y(2) == -size, 'a sum of MPI_REAL8')
        call MPI_Allreduce(x, y, 2, MPI_REAL8, MPI_MIN, MPI_COMM_WORLD)
        call expect(y(1) == 0.5 .and. y(2) == -1, 'a minimum of MPI_REAL8')
    end block
#ifdef HAVE_REAL16
    block
        real(kind=16) :: x(2), y(2)
        x = [rank + 0.5, -1.0]
        call MPI_Allreduce(x, y, 2, MPI_REAL16, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * size / 2.0 .and. y(2) == -size, 'a sum of MPI_REAL16')
        call MPI_Allreduce(x, y, 2, MPI_REAL16, MPI_MIN, MPI_COMM_WORLD)
        call expect(y(1) == 0.5 .and. y(2) == -1, 'a minimum of MPI_REAL16')
    end block
#endif
    block
        real :: x(2), y(2)
        x = [rank + 0.5, -1.0]
        call MPI_Allreduce(x, y, 2, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * size / 2.0 .and. y(2) == -size, 'a sum of MPI_REAL')
        call MPI_Allreduce(x, y, 2, MPI_REAL, MPI_MIN, MPI_COMM_WORLD)
        call expect(y(1) == 0.5 .and. y(2) == -1, 'a minimum of MPI_REAL')
    end block
    block
        double precision :: x(2), y(2)
        x = [rank + 0.5, -1.0]
        call MPI_Allreduce(x, y, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * size / 2.0 .and. y(2) == -size, 'a sum of MPI_DOUBLE_PRECISION')
        call MPI_Allreduce(x, y, 2, MPI_DOUBLE_PRECISION, MPI_MIN, MPI_COMM_WORLD)
        call expect(y(1) == 0.5 .and. y(2) == -1, 'a minimum of MPI_DOUBLE_PRECISION')
    end block
    block
        complex(kind=4) :: x(2), y(2)
        x = [(1.0, -2.0), (0.0, 1.0)]
        call MPI_Allreduce(x, y, 2, MPI_COMPLEX8, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (1.0, -2.0), 'a sum of MPI_COMPLEX8')
        call MPI_Allreduce(x, y, 2, MPI_COMPLEX8, MPI_PROD, MPI_COMM_WORLD)
        call expect(y(2) == (0.0, 1.0)**size, 'a product of MPI_COMPLEX8')
    end block
    block
        complex(kind=8) :: x(2), y(2)
        x = [(1.0, -2.0), (0.0, 1.0)]
        call MPI_Allreduce(x, y, 2, MPI_COMPLEX16, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (1.0, -2.0), 'a sum of MPI_COMPLEX16')
        call MPI_Allreduce(x, y, 2, MPI_COMPLEX16, MPI_PROD, MPI_COMM_WORLD)
        call expect(y(2) == (0.0, 1.0)**size, 'a product of MPI_COMPLEX16')
    end block
#ifdef HAVE_REAL16
    block
        complex(kind=16) :: x(2), y(2)
        x = [(1.0, -2.0), (0.0, 1.0)]
        call MPI_Allreduce(x, y, 2, MPI_COMPLEX32, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (1.0, -2.0), 'a sum of MPI_COMPLEX32')
        call MPI_Allreduce(x, y, 2, MPI_COMPLEX32, MPI_PROD, MPI_COMM_WORLD)
        call expect(y(2) == (0.0, 1.0)**size, 'a product of MPI_COMPLEX32')
    end block
#endif
    block
        complex :: x(2), y(2)
        x = [(1.0, -2.0), (0.0, 1.0)]
        call MPI_Allreduce(x, y, 2, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (1.0, -2.0), 'a sum of MPI_COMPLEX')
        call MPI_Allreduce(x, y, 2, MPI_COMPLEX, MPI_PROD, MPI_COMM_WORLD)
        call expect(y(2) == (0.0, 1.0)**size, 'a product of MPI_COMPLEX')
    end block
    block
        complex(kind=8) :: x(2), y(2)
        x = [(1.0, -2.0), (0.0, 1.0)]
        call MPI_Allreduce(x, y, 2, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (1.0, -2.0), 'a sum of MPI_DOUBLE_COMPLEX')
        call MPI_Allreduce(x, y, 2, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD)
        call expect(y(2) == (0.0, 1.0)**size, 'a product of MPI_DOUBLE_COMPLEX')
    end block
    block
        logical(kind=1) :: x(2), y(2)
        x = [rank == 0, .true.]
        call MPI_Allreduce(x, y, 2, MPI_LOGICAL1, MPI_LAND, MPI_COMM_WORLD)
        call expect(logical((y(1) .eqv. size == 1) .and. y(2)), 'a conjunction of MPI_LOGICAL1')
        call MPI_Allreduce(x, y, 2, MPI_LOGICAL1, MPI_LXOR, MPI_COMM_WORLD)
        call expect(logical(y(1) .and. (y(2) .eqv. mod(size, 2) == 1)), 'an exclusive disjunction of MPI_LOGICAL1')
    end block
    block
        logical(kind=2) :: x(2), y(2)
        x = [rank == 0, .true.]
        call MPI_Allreduce(x, y, 2, MPI_LOGICAL2, MPI_LAND, MPI_COMM_WORLD)
        call expect(logical((y(1) .eqv. size == 1) .and. y(2)), 'a conjunction of MPI_LOGICAL2')
        call MPI_Allreduce(x, y, 2, MPI_LOGICAL2, MPI_LXOR, MPI_COMM_WORLD)
        call expect(logical(y(1) .and. (y(2) .eqv. mod(size, 2) == 1)), 'an exclusive disjunction of MPI_LOGICAL2')
    end block
    block
        logical(kind=4) :: x(2), y(2)
        x = [rank == 0, .true.]
        call MPI_Allreduce(x, y, 2, MPI_LOGICAL4, MPI_LAND, MPI_COMM_WORLD)
        call expect(logical((y(1) .eqv. size == 1) .and. y(2)), 'a conjunction of MPI_LOGICAL4')
        call MPI_Allreduce(x, y, 2, MPI_LOGICAL4, MPI_LXOR, MPI_COMM_WORLD)
        call expect(logical(y(1) .and. (y(2) .eqv. mod(size, 2) == 1)), 'an exclusive disjunction of MPI_LOGICAL4')
    end block
    block
        logical(kind=8) :: x(2), y(2)
        x = [rank == 0, .true.]
        call MPI_Allreduce(x, y, 2, MPI_LOGICAL8, MPI_LAND, MPI_COMM_WORLD)
        call expect(logical((y(1) .eqv. size == 1) .and. y(2)), 'a conjunction of MPI_LOGICAL8')
        call MPI_Allreduce(x, y, 2, MPI_LOGICAL8, MPI_LXOR, MPI_COMM_WORLD)
        call expect(logical(y(1) .and. (y(2) .eqv. mod(size, 2) == 1)), 'an exclusive disjunction of MPI_LOGICAL8')
    end block
#ifdef HAVE_LOGICAL16
    block
        logical(kind=16) :: x(2), y(2)
        x = [rank == 0, .true.]
        call MPI_Allreduce(x, y, 2, MPI_LOGICAL16, MPI_LAND, MPI_COMM_WORLD)
        call expect(logical((y(1) .eqv. size == 1) .and. y(2)), 'a conjunction of MPI_LOGICAL16')
        call MPI_Allreduce(x, y, 2, MPI_LOGICAL16, MPI_LXOR, MPI_COMM_WORLD)
        call expect(logical(y(1) .and. (y(2) .eqv. mod(size, 2) == 1)), 'an exclusive disjunction of MPI_LOGICAL16')
    end block
#endif
    block
        logical :: x(2), y(2)
        x = [rank == 0, .true.]
        call MPI_Allreduce(x, y, 2, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
        call expect(logical((y(1) .eqv. size == 1) .and. y(2)), 'a conjunction of MPI_LOGICAL')
        call MPI_Allreduce(x, y, 2, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD)
        call expect(logical(y(1) .and. (y(2) .eqv. mod(size, 2) == 1)), 'an exclusive disjunction of MPI_LOGICAL')
    end block
    block
        integer(kind=MPI_ADDRESS_KIND) :: x(2), y(2)
        x = [rank + 1, -rank]
        call MPI_Allreduce(x, y, 2, MPI_AINT, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (size + 1) / 2 .and. y(2) == -(size * (size - 1) / 2), 'a sum of MPI_AINT')
        call MPI_Allreduce(x, y, 2, MPI_AINT, MPI_MAX, MPI_COMM_WORLD)
        call expect(y(1) == size .and. y(2) == 0, 'a maximum of MPI_AINT')
    end block
    block
        integer(kind=MPI_COUNT_KIND) :: x(2), y(2)
        x = [rank + 1, -rank]
        call MPI_Allreduce(x, y, 2, MPI_COUNT, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (size + 1) / 2 .and. y(2) == -(size * (size - 1) / 2), 'a sum of MPI_COUNT')
        call MPI_Allreduce(x, y, 2, MPI_COUNT, MPI_MAX, MPI_COMM_WORLD)
        call expect(y(1) == size .and. y(2) == 0, 'a maximum of MPI_COUNT')
    end block
    block
        integer(kind=MPI_OFFSET_KIND) :: x(2), y(2)
        x = [rank + 1, -rank]
        call MPI_Allreduce(x, y, 2, MPI_OFFSET, MPI_SUM, MPI_COMM_WORLD)
        call expect(y(1) == size * (size + 1) / 2 .and. y(2) == -(size * (size - 1) / 2), 'a sum of MPI_OFFSET')
        call MPI_Allreduce(x, y, 2, MPI_OFFSET, MPI_MAX, MPI_COMM_WORLD)
        call expect(y(1) == size .and. y(2) == 0, 'a maximum of MPI_OFFSET')
    end block
    block
        real :: x(2), y(2)
        x = [-rank, rank]
        call MPI_Allreduce(x, y, 1, MPI_2REAL, MPI_MINLOC, MPI_COMM_WORLD)
        call expect(y(1) == 1 - size .and. y(2) == size - 1, 'where the minimum of MPI_2REAL is')
        call MPI_Allreduce(x, y, 1, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD)
        call expect(y(1) == 0 .and. y(2) == 0, 'where the maximum of MPI_2REAL is')
    end block
    block
        double precision :: x(2), y(2)
        x = [-rank, rank]
        call MPI_Allreduce(x, y, 1, MPI_2DOUBLE_PRECISION, MPI_MINLOC, MPI_COMM_WORLD)
        call expect(y(1) == 1 - size .and. y(2) == size - 1, 'where the minimum of MPI_2DOUBLE_PRECISION is')
        call MPI_Allreduce(x, y, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD)
        call expect(y(1) == 0 .and. y(2) == 0, 'where the maximum of MPI_2DOUBLE_PRECISION is')
    end block
    block
        integer :: x(2), y(2)
        x = [-rank, rank]
        call MPI_Allreduce(x, y, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD)
        call expect(y(1) == 1 - size .and. y(2) == size - 1, 'where the minimum of MPI_2INTEGER is')
        call MPI_Allreduce(x, y, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD)
        call expect(y(1) == 0 .and. y(2) == 0, 'where the maximum of MPI_2INTEGER is')
    end block
    block
        character(len=5) :: text
        text = merge('hello', '.....', rank == 0)
        call MPI_Bcast(text, 5, MPI_CHARACTER, 0, MPI_COMM_WORLD)
        call expect(text, 'hello', 'a text that is sent')
    end block
    call MPI_Finalize()
    call finished()
end program reductions
