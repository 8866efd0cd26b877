# SPDX-License-Identifier: BSD-3-Clause
# WEFT_FORTRAN: finds the Fortran compiler and learns by running programs what the bindings rest on.
#
# Sets enable_fortran to yes, or to no with the reason in weft_fortran_why; defines WEFT_FORTRAN_* in
# config.h. A compiler that lacks something the bindings need is an error only where Fortran was
# asked for with --enable-fortran.
AC_DEFUN([WEFT_FORTRAN], [
AC_ARG_ENABLE([fortran],
    [AS_HELP_STRING([--disable-fortran],
        [do not build mpif.h and the modules mpi and mpi_f08 (default: build them if there is a compiler)])],
    [], [enable_fortran=auto])
AC_ARG_VAR([FC], [Fortran compiler that the modules are for, and that mpifort calls])
AC_ARG_VAR([FCFLAGS], [flags of the Fortran compiler])
weft_fortran_asked=$enable_fortran
weft_fortran_why="--disable-fortran"
AS_VAR_IF([enable_fortran], [no], [], [
    AC_CHECK_TOOLS([FC], [gfortran flang-new flang])
    AS_VAR_IF([FC], [], [
        enable_fortran=no
        weft_fortran_why="no Fortran compiler was found; give one as FC=COMPILER"
    ], [_WEFT_FORTRAN_PROBE])
])
AS_CASE([$weft_fortran_asked:$enable_fortran], [yes:no],
    [AC_MSG_ERROR([--enable-fortran: $weft_fortran_why.])])
: "${FCFLAGS=-O2}"
AM_CONDITIONAL([FORTRAN], [test "x$enable_fortran" = xyes])
AC_SUBST([FORTRAN_CPPFLAGS])
])

# A program in Fortran passes to a function in C what the bindings pass. Its output is assignments.
AC_DEFUN([_WEFT_FORTRAN_PROBE], [
AC_MSG_CHECKING([what $FC passes to C])
enable_fortran=no
# The header for array descriptors is the Fortran compiler's: gfortran prints its path, flang's is
# beside the program. A copy, so that C compilers and checkers see no other header of theirs.
FORTRAN_CPPFLAGS=
AS_MKDIR_P([src/fortran/compiler])
weft_fc_dir=$(dirname "$(readlink -f "$(command -v ${FC%% *})")")
for weft_binding in "$($FC -print-file-name=include/ISO_Fortran_binding.h 2>/dev/null)" \
    "$weft_fc_dir/../include/flang/ISO_Fortran_binding.h"; do
    AS_IF([test -r "$weft_binding"], [
        cp "$weft_binding" src/fortran/compiler/
        FORTRAN_CPPFLAGS="-isystem $PWD/src/fortran/compiler"
        break])
done
cat >conftest_c.c <<'WEFT_EOF'
#include <ISO_Fortran_binding.h>
#include <stdio.h>
#include <string.h>
void weft_section(CFI_cdesc_t *a, int *ierror)
{
    printf("weft_cfi=%s\n", a->rank == 2 && a->elem_len == 8 && a->dim[[0]].sm == 16 &&
                            a->dim[[0]].extent == 2 && a->dim[[1]].sm == 32 && !ierror ? "yes" : "no");
}
void weft_text(CFI_cdesc_t *a)
{
    printf("weft_cfi_text=%s\n", a->elem_len == 5 && !memcmp(a->base_addr, "three", 5) ? "yes" : "no");
}
void weftst_(char *a, int *i, char *b, size_t a_length, size_t b_length)
{
    printf("weft_lengths=%s\n", a_length == 3 && b_length == 5 && *i == 7 && *a == 'o' && *b == 't' ? "yes" : "no");
}
void weftlg_(int *is_true, int *is_false, int *sizes)
{
    printf("weft_true=%d\nweft_false=%d\n", *is_true, *is_false);
    printf("weft_logical_size=%d\nweft_integer_size=%d\n", sizes[[0]], sizes[[1]]);
    printf("weft_real_size=%d\nweft_double_size=%d\n", sizes[[2]], sizes[[3]]);
    printf("weft_int16=%d\nweft_real16=%d\nweft_wide=%d\n", sizes[[4]], sizes[[5]], sizes[[6]]);
    fflush(stdout);
}
WEFT_EOF
cat >conftest_f.f90 <<'WEFT_EOF'
program conftest
    implicit none
    interface
        subroutine weft_section(a, ierror) bind(C, name="weft_section")
            type(*), dimension(..), asynchronous :: a
            integer, optional :: ierror
        end subroutine
        subroutine weft_text(a) bind(C, name="weft_text")
            character(len=*) :: a
        end subroutine
    end interface
    external :: weftst, weftlg
    double precision :: a(4, 2)
    integer :: sizes(7)
    a = 0
    sizes(1) = storage_size(.true.) / 8
    sizes(2) = storage_size(1) / 8
    sizes(3) = storage_size(1.0) / 8
    sizes(4) = storage_size(1d0) / 8
    sizes(5) = selected_int_kind(38)
    sizes(6) = selected_real_kind(33)
    sizes(7) = selected_int_kind(18)
    call weft_section(a(1:4:2, :))
    call weft_text("three")
    call weftst("one", 7, "three")
    call weftlg(.true., .false., sizes)
end program
WEFT_EOF
# A module directory, and a choice buffer of any type and kind in module mpi.
cat >conftest_m.f90 <<'WEFT_EOF'
module weft_conftest_module
    interface
        subroutine weft_any(buf, n)
            type(*), dimension(*) :: buf
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
            !DIR$ IGNORE_TKR buf
            integer, intent(in) :: n
        end subroutine
    end interface
contains
    subroutine weft_uses()
        real :: x
        character(len=3) :: y
        integer :: z(2, 2)
        call weft_any(x, 1)
        call weft_any(y, 1)
        call weft_any(z, 1)
    end subroutine
end module
WEFT_EOF
AS_IF(
    [! { $CC $CPPFLAGS $CFLAGS $FORTRAN_CPPFLAGS -c conftest_c.c -o conftest_c.o; } >>config.log 2>&1],
        [weft_fortran_why="$CC cannot compile with ISO_Fortran_binding.h of $FC (see config.log)"],
    [! { $FC $FCFLAGS conftest_f.f90 conftest_c.o -o conftest; } >>config.log 2>&1],
        [weft_fortran_why="$FC cannot pass TYPE(*), DIMENSION(..) to $CC (see config.log)"],
    [! ./conftest >conftest.out 2>>config.log],
        [weft_fortran_why="a program built by $FC does not run (see config.log)"],
    [! { mkdir -p conftest.dir && $FC $FCFLAGS -J conftest.dir -c conftest_m.f90 -o conftest_m.o &&
         test -s conftest.dir/weft_conftest_module.mod; } >>config.log 2>&1],
        [weft_fortran_why="$FC has no arguments of any type, or no -J for modules (see config.log)"],
    [. ./conftest.out
    AS_IF([test "$weft_cfi$weft_cfi_text" != yesyes],
            [weft_fortran_why="$FC does not describe sections and strings as C expects"],
        [test "$weft_lengths" != yes],
            [weft_fortran_why="$FC does not pass lengths of strings as size_t after all arguments"],
        [test "$weft_logical_size $weft_integer_size $weft_real_size $weft_double_size $weft_wide" != "4 4 4 8 8"],
            [weft_fortran_why="the default types of $FC have other sizes or kinds than the datatypes of Weft; take options such as -fdefault-integer-8 out of FCFLAGS"],
        [enable_fortran=yes])])
# Options that gfortran has and others do not.
FORTRAN_WARNINGS="-Wall -Wno-c-binding-type -Wno-unused-dummy-argument -Wno-conversion"
FORTRAN_MISMATCH="-w -fallow-argument-mismatch"
echo end >conftest_o.f90
$FC $FORTRAN_WARNINGS -c conftest_o.f90 -o conftest_o.o >>config.log 2>&1 || FORTRAN_WARNINGS=
$FC $FORTRAN_MISMATCH -c conftest_o.f90 -o conftest_o.o >>config.log 2>&1 || FORTRAN_MISMATCH=-w
AC_SUBST([FORTRAN_WARNINGS])
AC_SUBST([FORTRAN_MISMATCH])
# There is no standard function that selects the kind of a LOGICAL.
echo 'logical(kind=16) :: x; x = .true.; print *, x; end' >conftest_o.f90
weft_logical16=no
{ $FC $FCFLAGS -c conftest_o.f90 -o conftest_o.o; } >>config.log 2>&1 && weft_logical16=yes
# For tests, which the preprocessor adapts to the compiler.
FORTRAN_KINDS=-cpp
AS_VAR_IF([weft_int16], [16], [AS_VAR_APPEND([FORTRAN_KINDS], [" -DHAVE_INTEGER16"])])
AS_VAR_IF([weft_real16], [16], [AS_VAR_APPEND([FORTRAN_KINDS], [" -DHAVE_REAL16"])])
AS_VAR_IF([weft_logical16], [yes], [AS_VAR_APPEND([FORTRAN_KINDS], [" -DHAVE_LOGICAL16"])])
AC_SUBST([FORTRAN_KINDS])
rm -rf conftest*
AS_VAR_IF([enable_fortran], [yes], [
    AC_MSG_RESULT([descriptors, lengths, LOGICALs $weft_true and $weft_false])
    AC_DEFINE_UNQUOTED([WEFT_FORTRAN_TRUE], [($weft_true)], [.TRUE. as an integer])
    AC_DEFINE_UNQUOTED([WEFT_FORTRAN_FALSE], [($weft_false)], [.FALSE. as an integer])
    AC_DEFINE_UNQUOTED([WEFT_FORTRAN_LOGICAL_SIZE], [$weft_logical_size], [bytes of a LOGICAL])
    AC_DEFINE_UNQUOTED([WEFT_FORTRAN_INTEGER_SIZE], [$weft_integer_size], [bytes of an INTEGER])
    AC_DEFINE_UNQUOTED([WEFT_FORTRAN_REAL_SIZE], [$weft_real_size], [bytes of a REAL])
    AC_DEFINE_UNQUOTED([WEFT_FORTRAN_DOUBLE_SIZE], [$weft_double_size], [bytes of a DOUBLE PRECISION])
    AC_DEFINE_UNQUOTED([WEFT_FORTRAN_HAS_INTEGER16],
        [$(test "$weft_int16" = 16 && echo 1 || echo 0)], [1 if there are integers of 16 bytes])
    AC_DEFINE_UNQUOTED([WEFT_FORTRAN_HAS_LOGICAL16],
        [$(test "$weft_logical16" = yes && echo 1 || echo 0)], [1 if there are LOGICALs of 16 bytes])
    AC_DEFINE_UNQUOTED([WEFT_FORTRAN_HAS_REAL16], [$(test "$weft_real16" = 16 && echo 1 || echo 0)],
        [1 if there are reals of 16 bytes])
], [AC_MSG_RESULT([not enough: $weft_fortran_why])])
])
