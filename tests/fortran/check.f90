! SPDX-License-Identifier: BSD-3-Clause
! What the Fortran tests share: expectations that name themselves when they fail. A test ends with
! `call finished()` after MPI_Finalize, which stops with status 1 if anything failed.
module check
    implicit none
    private
    public :: expect, finished

    integer :: failures = 0

    interface expect
        procedure expect_true, expect_integer, expect_text
    end interface

contains

    subroutine expect_true(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what
        if (.not. condition) then
            failures = failures + 1
            print '(a)', 'not so: ' // what
        end if
    end subroutine expect_true

    subroutine expect_integer(got, wanted, what)
        integer, intent(in) :: got, wanted
        character(len=*), intent(in) :: what
        if (got /= wanted) then
            failures = failures + 1
            print '(a, i0, a, i0)', what // ' is ', got, ', not ', wanted
        end if
    end subroutine expect_integer

    subroutine expect_text(got, wanted, what)
        character(len=*), intent(in) :: got, wanted, what
        if (got /= wanted) then
            failures = failures + 1
            print '(a)', what // ' is "' // got // '", not "' // wanted // '"'
        end if
    end subroutine expect_text

    subroutine finished()
        if (failures > 0) stop 1
    end subroutine finished

end module check
