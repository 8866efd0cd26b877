# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What the Slurm suites share; sourced with the build directory as $1. Owns a scratch directory
# (in the build directory, which every machine of ci/netlab sees) and the programs built there.
#
# Invariant: every program runs with the library of the build directory, by LD_LIBRARY_PATH.
# shellcheck source=ci/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../ci/common.sh"
build=$(cd "${1:?usage: $(basename "$0") BUILD-DIR}" && pwd)
scratch=$(mktemp -d "$build/slurm.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
for program in abort die rails survive traffic where; do
    "${CC:-cc}" -I"$source_dir/include" "$source_dir/tests/slurm/$program.c" \
        "$build/lib/libmpi_abi.so.1" -o "$scratch/$program"
done
export LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# within COMMAND...: under a time limit; a hang is exit status 124.
within()
{
    timeout -k 5 "${LIMIT:-60}" "$@"
}

# exits STATUS COMMAND...: the command must end with just that status.
exits()
{
    local want=$1 got=0
    shift
    within "$@" || got=$?
    ((got == want)) || { say "exit status $got, expected $want: $*"; return 1; }
}

# refused REGEX COMMAND...: fails, and says in one sentence what REGEX describes.
refused()
{
    local regex=$1 out
    shift
    if out=$(within "$@" 2>&1); then
        say "succeeded, but should be refused: $*"
        say "$out"
        return 1
    fi
    grep -Eq -- "$regex" <<<"$out" || { say "no word of '$regex' in:"; say "$out"; return 1; }
}

# says LINE COMMAND...: succeeds, and LINE is one of the lines it prints.
says()
{
    local line=$1 out
    shift
    out=$(within "$@" 2>&1) || { say "exit status $?: $*"; say "$out"; return 1; }
    grep -Fxq -- "$line" <<<"$out" || { say "no line '$line' in:"; say "$out"; return 1; }
}
