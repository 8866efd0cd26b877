# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What ci/osu and ci/imb share; sourced, after ci/common.sh. Owns: their options, the lanes, the scratch
# directory with the copy of the sources, the start of a program, the table.
#
# The script that sources this has a function "refuses FILE": it prints why the output of a run that
# exited with 0 is not that of a correct run, and nothing if it is.
#
# Invariant: a row is a pass only if the program exited with 0 within the limit and its output was
# accepted. The given sources are only read.

build=build work='' launcher=weftrun limit=${limit:-120} lane_list=shm,rxm,net rank_list=2,4
# shellcheck disable=SC2034  # used by those who source this
benchmark_options='  --build DIR       the build of Weft (build)
  --work DIR        where the sources are copied to and built, and kept (a temporary directory)
  --lanes LIST      of shm,rxm,net (all)
  --ranks LIST      numbers of ranks (2,4)
  --launcher L      weftrun (default) or srun, of a cluster that runs: ci/slurm1 run
  --seconds N       limit of one run (120; ci/imb: 600)'
operands=()
# For read_options
# shellcheck disable=SC2034  # likewise
benchmark_specs=(build:build work:work lanes:lane_list ranks:rank_list launcher:launcher seconds:limit
    @operands)
# shellcheck source=bench/options.sh
. "$(dirname "${BASH_SOURCE[0]}")/../bench/options.sh"

tcp=net # libfabric's provider of messages over TCP without ofi_rxm: tcp since 1.18
! pkg-config --atleast-version=1.18 libfabric || tcp=tcp
declare -A lane_settings=(
    [shm]="WEFT_SHM=1"
    [rxm]="WEFT_SHM=0 WEFT_IFACE=lo WEFT_PROVIDER=tcp;ofi_rxm"
    [net]="WEFT_SHM=0 WEFT_IFACE=lo WEFT_PROVIDER=$tcp"
)

# prepare NAME FILE: checks the options and the first operand, a directory with FILE. Sets sources, scratch, lanes,
# ranks, weftrun and wrapper.
prepare()
{
    local lane
    sources=${operands[0]:-}
    [[ -e $sources/$2 ]] || die "the directory \"$sources\" has no $2; give the one with the sources of $1"
    sources=$(cd "$sources" && pwd)
    [[ -d $build ]] || die "no build directory $build: ci/build $build makes it"
    build=$(cd "$build" && pwd)
    weftrun=$(weftrun_of "$build")
    # shellcheck disable=SC2034  # used by those who source this
    wrapper=$build/tools/wrapper
    [[ $launcher == weftrun || $launcher == srun ]] || die "--launcher takes weftrun or srun, not $launcher"
    IFS=, read -ra lanes <<<"$lane_list"
    # shellcheck disable=SC2034  # used by those who source this
    IFS=, read -ra ranks <<<"$rank_list"
    for lane in "${lanes[@]}"; do
        [[ -n ${lane_settings[$lane]:-} ]] || die "there is no lane $lane: take shm, rxm or net"
    done
    if [[ $work ]]; then
        mkdir -p "$work"
        scratch=$(cd "$work" && pwd)
    else
        scratch=$(mktemp -d)
        trap 'rm -rf "$scratch"' EXIT
    fi
}

# wanted NAME: whether the operands name it, or no program.
wanted()
{
    local pattern
    ((${#operands[@]} > 1)) || return 0
    for pattern in "${operands[@]:1}"; do
        # shellcheck disable=SC2053  # a pattern
        [[ $1 != $pattern ]] || return 0
    done
    return 1
}

head_of_table()
{
    printf '%-32s %-5s %5s  %-6s %8s\n' program lane ranks result seconds
}

# try LANE RANKS PROGRAM ARGUMENT...: a row of the table. The array "settings" has further VARIABLE=VALUE.
settings=()
try()
{
    local lane=$1 count=$2 name words begin=$EPOCHREALTIME code=0 why='' result=pass
    local output=$scratch/output.$$ start=("$weftrun" -n "$2")
    shift 2
    name=$(basename "$1")
    read -ra words <<<"${lane_settings[$lane]}"
    words+=("${settings[@]}")
    [[ $launcher == weftrun ]] || start=(srun --mpi=pmix -K -n "$count")
    env --chdir="$scratch" "${words[@]}" timeout --foreground -k 5 "$limit" "${start[@]}" "$@" </dev/null >"$output" 2>&1 || code=$?
    case $code in
    0) why=$(refuses "$output") ;;
    124 | 137) why="it did not end within $limit s" ;;
    *) why="exit status $code" ;;
    esac
    [[ ! $why ]] || result=FAIL
    awk -v name="$name" -v lane="$lane" -v ranks="$count" -v result="$result" -v begin="$begin" \
        -v end="$EPOCHREALTIME" \
        'BEGIN { printf "%-32s %-5s %5d  %-6s %8.1f\n", name, lane, ranks, result, end - begin }'
    if [[ $why ]]; then
        failed=$((failed + 1))
        say "not ok $name, $lane, $count ranks: $why"
        tail -n 15 "$output" | sed 's/^/    | /'
        say "    again: $(printf '%q ' "${words[@]}" "${start[@]}" "$@")"
    else
        passed=$((passed + 1))
    fi
    rm -f "$output"
}
