# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The other MPIs of this machine, for the scripts that measure Weft beside them: which are there, how
# a benchmark is compiled against one and how its job is started. Sourced, after bench/where.sh, by
# scripts that have set openmpi and mpich: the prefixes under which these are, empty for PATH. Those that
# write files of figures have set command, their own command line, and source_dir.
#
# Each MPI runs as Debian ships it and as its users would run it, without tuning. A rank has a core
# of its own where there are enough; more ranks than cores are bound to none.
#
# Invariant: what was asked for and is not there ends the script with the packages' names.

: "${openmpi=}" "${mpich=}" "${command=}"
declare -A prefix=([openmpi]=$openmpi [mpich]=$mpich)
declare -a cc_openmpi run_openmpi cc_mpich run_mpich
: "${cc_openmpi[@]}" "${run_openmpi[@]}" "${cc_mpich[@]}" "${run_mpich[@]}" # reached by their name
peers=()  # those that find_peers has found
launch=() # what launcher has made

# Where programs for other MPIs are compiled; gone in the end.
peer_dir=$(mktemp -d)
trap 'rm -rf "$peer_dir"' EXIT
export TMPDIR=$peer_dir

# For awk programs: the median of a list of numbers with spaces between them.
# shellcheck disable=SC2034
awk_median='function median(list,    n, i, j, swap, value) {
    n = split(list, value, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && value[j - 1] + 0 > value[j] + 0; j--) {
            swap = value[j]; value[j] = value[j - 1]; value[j - 1] = swap
        }
    return n % 2 ? value[(n + 1) / 2] + 0 : n ? (value[n / 2] + value[n / 2 + 1]) / 2 : 0
}
'

# only LIST WORD...: the words of LIST on lines; dies at one that is none of the others.
only()
{
    local list=$1 word
    shift
    for word in ${list//,/ }; do
        [[ " $* " == *" $word "* ]] || die "\"$word\" is none of: $*"
        printf '%s\n' "$word"
    done
}

# first_file PATTERN...: the first of these that is a file.
first_file()
{
    local pattern file
    for pattern in "$@"; do
        while read -r file; do
            [[ ! -f $file ]] || { printf '%s\n' "$file"; return 0; }
        done < <(compgen -G "$pattern" || true)
    done
    return 1
}

# find_peer MPI: how MPI's programs are compiled (the array cc_MPI) and started (run_MPI); fails
# where it is not there.
find_peer()
{
    local at=${prefix[$1]} header lib run
    local -n cc=cc_$1 start=run_$1
    if [[ -z $at ]]; then
        command -v "mpicc.$1" >/dev/null && command -v "mpiexec.$1" >/dev/null || return 1
        cc=("mpicc.$1")
        start=("mpiexec.$1")
        return
    fi
    at=$(cd "$at" 2>/dev/null && pwd) || return 1
    if [[ -x $at/bin/mpicc ]]; then
        cc=("$at/bin/mpicc")
        start=(env "PATH=$at/bin:$PATH" "$at/bin/mpiexec")
        return
    fi
    # Debian's packages, unpacked but not installed: their mpicc looks for them in /usr.
    header=$(first_file "$at/usr/include/*/$1/mpi.h") || return 1
    lib=$(first_file "$at/usr/lib/*/lib$1.so") || return 1
    run=$(first_file "$at/usr/bin/mpiexec.hydra" "$at/usr/bin/mpiexec.$1") || return 1
    cc=(cc "-I${header%/*}" "-L${lib%/*}" "-Wl,-rpath,${lib%/*},--no-as-needed" "-l$1")
    start=(env "PATH=${run%/*}:$PATH" "LD_LIBRARY_PATH=${lib%/*}" "$run")
}

# The version of a peer, or nothing where it does not tell.
version_of()
{
    # shellcheck disable=SC2178
    local -n start=run_$1
    "${start[@]}" --version 2>&1 | grep -m 1 -oE '[0-9]+\.[0-9]+[0-9.a-z]*' || true
}

# find_peers LIST ASKED: sets the array peers to those of LIST that are there. Dies where none is,
# and where one is not that was asked for, by ASKED or by a prefix.
find_peers()
{
    local mpi words
    words=$(only "$1" openmpi mpich)
    for mpi in $words; do
        if find_peer "$mpi"; then
            peers+=("$mpi")
        elif [[ -n $2 || -n ${prefix[$mpi]} ]]; then
            die "no $mpi ${prefix[$mpi]:+under ${prefix[$mpi]}}: apt-get install libopenmpi-dev" \
                "openmpi-bin libmpich-dev mpich, or name a prefix by --$mpi"
        fi
    done
    ((${#peers[@]} > 0)) ||
        die "no other MPI is here: apt-get install libopenmpi-dev openmpi-bin libmpich-dev mpich," \
            "or name a prefix by --openmpi or --mpich"
}

# compile MPI PROGRAM SOURCE...: from bench/, for another MPI, as
# $peer_dir/MPI_PROGRAM; once. A program that is in PEER_PROGRAMS is not compiled again.
compile()
{
    local mpi=$1 program=$2 source_files
    # shellcheck disable=SC2178
    local -n cc=cc_$1
    shift 2
    [[ ! -x $peer_dir/${mpi}_$program ]] || return 0
    if [[ -x ${PEER_PROGRAMS:-}/${mpi}_$program ]]; then
        ln -s "$PEER_PROGRAMS/${mpi}_$program" "$peer_dir/"
        return 0
    fi
    source_files=("${@/#/$source_dir/bench/}")
    # -w: some headers do not agree with their own constants.
    "${cc[@]}" -std=gnu11 -D_GNU_SOURCE -O2 -DNDEBUG -w -I"$source_dir/bench" \
        -o "$peer_dir/${mpi}_$program" "${source_files[@]/%/.c}" >&2 ||
        die "the compiler of $mpi could not compile bench/$1.c; what it said is above"
}

# The options of Open MPI for a way, in the names of its version: with 5.0 btl vader became sm, single
# copies became smsc, and osc pt2pt was removed. osc rdma maps the windows of its node, which are not
# over TCP then: UCX remains.
openmpi_options()
{
    local sm=vader one_copy=(--mca btl_vader_single_copy_mechanism none)
    local windows=(--mca pml ob1 --mca btl 'self,tcp' --mca btl_tcp_if_include lo --mca osc pt2pt)
    if [[ ! ${openmpi_major:-} ]]; then
        openmpi_major=$(version_of openmpi)
        openmpi_major=${openmpi_major%%.*}
    fi
    if ((${openmpi_major:-4} >= 5)); then
        sm=sm one_copy=(--mca smsc '^cma,knem,xpmem')
        windows=(--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any --mca osc ucx
            -x 'UCX_TLS=tcp,self' -x UCX_NET_DEVICES=lo)
    fi
    case $1 in
    node) launch+=(--mca pml ob1 --mca btl "self,$sm") ;;
    staged) launch+=(--mca pml ob1 --mca btl "self,$sm" "${one_copy[@]}") ;;
    tcp) launch+=(--mca pml ob1 --mca btl 'self,tcp' --mca btl_tcp_if_include lo) ;;
    tcp-windows) launch+=("${windows[@]}") ;;
    ofi)
        launch+=(--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'tcp;ofi_rxm'
            -x FI_TCP_IFACE=lo)
        ;;
    esac
}

# launcher MPI WAY RANKS [no]: sets the array launch to what starts a peer's job by its way (node,
# staged: one node; tcp: its own way over TCP, tcp-windows for one-sided operations; ofi: over
# libfabric's TCP). no: no rank is bound.
launcher()
{
    # shellcheck disable=SC2178
    local -n start=run_$1
    launch=("${start[@]}")
    case $1.$2 in
    openmpi.*) openmpi_options "$2" ;;
    mpich.staged) launch+=(-genv UCX_TLS 'posix,sysv,self') ;;
    mpich.tcp*)
        launch+=(-genv UCX_TLS 'tcp,self' -genv UCX_NET_DEVICES lo -genv MPIR_CVAR_NOLOCAL 1)
        ;;
    esac
    local bound=
    [[ ${4:-} == no ]] || (($3 > $(nproc))) || bound=yes
    case $1.$bound in
    openmpi.yes) launch+=(--allow-run-as-root --bind-to core --map-by core -n "$3") ;;
    openmpi.) launch+=(--allow-run-as-root --oversubscribe --bind-to none -n "$3") ;;
    mpich.yes) launch+=(-bind-to core -n "$3") ;;
    mpich.) launch+=(-n "$3") ;;
    esac
}

# cores_of_pair: whether the cores of two bound ranks are near each other, by the time of 8 bytes
# between them. Near cores take 0.05 to 0.1 us, and far ones 0.2 or more; a virtual machine's change.
cores_of_pair()
{
    for _ in 1 2 3 4 5; do
        "${build_dir:?}/bench/raw_shm" -b -m 8:8
    done | awk '/^8 / && (!us || $2 < us) { us = $2 }
        END { printf "%s, 8 bytes without MPI in %s us\n", us < 0.15 ? "near" : "far", us }'
}

# head_of TABLE TEXT: what a file of figures begins with.
head_of()
{
    local mpi
    say "# table $1: $2"
    say "# machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs," \
        "Linux $(uname -r), $(. /etc/os-release && say "$PRETTY_NAME")"
    say "# command: $command"
    say "# date: $(date -u +%Y-%m-%dT%H:%MZ)"
    say "# version weft: ${BENCH_VERSION:-$(git -C "$source_dir" describe --always --dirty 2>/dev/null || say release)}"
    for mpi in "${peers[@]}"; do
        say "# version $mpi: $(version_of "$mpi")"
    done
}
