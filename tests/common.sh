# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: BSD-3-Clause
#
# What the scripts of tests/ share; sourced, never run. Owns the scratch directory $dir and the counts.
#
# Invariant: each case prints one line, "ok - NAME" or "not ok - NAME"; finish_suite prints the line that
# add_suite of ci/common.sh reads.

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0 skipped=0
limit=60 # seconds of a command of try

# clean_environment: removes the variables of Weft, of libfabric and of launchers, so that no
# setting of the caller and no launcher around the script reaches the cases. WEFT_TEST_* and SLURM_CONF
# stay, and those that match the regular expression $keep.
clean_environment()
{
    local name
    while read -r name; do
        [[ $name =~ ^WEFT_TEST_|^SLURM_CONF$ || (${keep:-} && $name =~ $keep) ]] || unset "$name"
    done < <(compgen -e | grep -E '^(WEFT|FI|PMIX|PMI2?|OMPI|PRTE|MV2|FLUX|JSM|SLURMD?|PBS|LSB|MPIEXEC)_' || true)
}

# bare_tcp: libfabric's provider of TCP without a layer above it: net in 1.17, tcp since.
bare_tcp()
{
    if fi_info -l | grep -q '^net:'; then echo net; else echo tcp; fi
}

# try COMMAND...: runs it for at most $limit seconds; its output is in $dir/out, its exit code in $code.
try()
{
    code=0
    timeout -k 5 "$limit" "$@" >"$dir/out" 2>&1 </dev/null || code=$?
    ((code < 124)) || printf '(exit code %d after at most %d s)\n' "$code" "$limit" >>"$dir/out"
}

# has COUNT REGEX: exactly COUNT lines of $dir/out match.
has()
{
    local lines
    lines=$(grep -cE -- "$2" "$dir/out") || true
    [[ $lines == "$1" ]] && return 0
    printf '(%s lines match "%s", %s should)\n' "$lines" "$2" "$1" >>"$dir/out"
    return 1
}

# verdict NAME STATUS [FILE...]: counts a case, which is good with status 0. Of a bad one, the files are
# shown, each up to 40 lines; without files, $dir/out.
verdict()
{
    local name=$1 status=$2
    shift 2
    if [[ $status == 0 ]]; then
        passed=$((passed + 1))
        printf 'ok - %s\n' "$name"
    else
        failed=$((failed + 1))
        printf 'not ok - %s\n' "$name"
        (($# > 0)) || set -- "$dir/out"
        head -n 40 "$@" 2>/dev/null | sed 's/^/    /' || true
    fi
}

# finish_suite: the closing line, and the exit status of the script.
finish_suite()
{
    local tail=
    ((skipped == 0)) || tail=", $skipped skipped"
    printf '%d passed, %d failed%s\n' "$passed" "$failed" "$tail"
    ((failed == 0))
}

# find_tool NAME [BUILD]: for the scripts of the tools that weftrun loads. Leaves the build directory in
# $build, the name of the script in $suite, and in $lines whether the tool names lines of sources.
find_tool()
{
    suite=tests/$1/run
    build=$(readlink -f "${2:-${top_builddir:-build}}")
    [[ -r $build/lib/weft/tools/libweft_$1.so ]] || { echo "$suite: build it first" >&2 && exit 2; }
    lines=no
    ! grep -q '^#define HAVE_LIBDW 1' "$build/config.h" || lines=yes
}

# complain NAME WHY: counts a failure, and shows $dir/err, what the program printed.
complain()
{
    printf '%s: %s: %s\n' "$suite" "$1" "$2"
    sed 's/^/    /' "$dir/err"
    failed=$((failed + 1))
}
