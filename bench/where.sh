# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: BSD-3-Clause
#
# Where the built things are; sourced by the scripts of bench/ and tests/bench, never run. Sets
# source_dir, build_dir and the array weftrun.
#
# BUILDDIR (or top_builddir, as make check sets it) is the build directory; without it ./build of
# the source tree or the current directory is taken if Weft was built there. The benchmarks are built
# before. WEFTRUN is the launcher's command, by default the one of the build.

say()
{
    printf '%s\n' "$*"
}

die()
{
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 2
}

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

find_build()
{
    local there
    for there in "${BUILDDIR:-}" "${top_builddir:-}" . "$source_dir/build" "$source_dir"; do
        if [[ -n $there && -x $there/weftrun ]]; then
            [[ ! -e $there/Makefile ]] || make -s -C "$there" bench >&2 || exit 2
            (cd "$there" && pwd)
            return
        fi
    done
    die "no weftrun in the build directory; run make there, then set BUILDDIR to it"
}

find_weftrun()
{
    [[ -x $build_dir/weftrun ]] ||
        die "no weftrun in $build_dir; run make there, or set WEFTRUN to a launcher"
    printf '%s\n' "$build_dir/weftrun"
}

build_dir=$(find_build)
if [[ -n ${WEFTRUN:-} ]]; then
    read -ra weftrun <<<"$WEFTRUN"
else
    weftrun=("$(find_weftrun)")
fi
