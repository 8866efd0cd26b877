# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What the scripts of ci/ share; sourced, never run. Owns: where the source is, how a sentence is
# said, how root is reached, how something is waited for, how a daemon of ours is ended.
#
# Invariant: nothing here ends a process by name. stop_process takes a pid and a word that must
# stand in that process's command line, so a pid that went to somebody else meanwhile is let be.

# shellcheck disable=SC2034  # used by those who source this
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The programs that another launcher runs too: those that ask it something (addresses, process sets,
# who sits where, new context ids, the end of a rank), and of the others a few that send much to all.
# shellcheck disable=SC2034  # likewise
of_the_launcher=('init_*' 'hello_*' finalize_unfinished late_rank
    comm_make comm_threads intercomm sessions psets info
    environment attributes split_type 'tool_*' error_handlers
    random_p2p wildcard_model cancel held_waits pingpong_sizes
    all_pairs 'threads_*' coll_model coll_nonblocking allreduce
    collectives_beside_messages partitioned_random 'fuzz/*'
    standard/hello standard/shift)

say()
{
    printf '%s\n' "$*"
}

die()
{
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# print_head: the comment on top of the script without its license, as its usage.
print_head()
{
    sed -n '4,${/^#/!q; s/^# \{0,1\}//p}' "$0"
}

# require_host: ends the script with the sentence of its function refusal, if that prints one.
require_host()
{
    local why_not
    why_not=$(refusal)
    [[ -z $why_not ]] || die "$why_not"
}

# lab_main NAMESPACE... -- ARGUMENT...: the main part of a script that runs a command where there is an
# adapter, in namespaces (options of unshare). Its functions: refusal; prepare, which runs before they
# are made; make_adapter, which runs in them.
lab_main()
{
    local namespaces=()
    while [[ $1 != -- ]]; do
        namespaces+=("$1")
        shift
    done
    shift
    case ${1:-} in
    '')
        print_head
        exit 2
        ;;
    check) require_host ;;
    --in-namespace)
        shift
        make_adapter
        exec "$@"
        ;;
    *)
        require_host
        prepare
        exec unshare "${namespaces[@]}" -- "$0" --in-namespace "$@"
        ;;
    esac
}

# as_root COMMAND...: runs it as root, by sudo where we are not.
as_root()
{
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo -- "$@"
    else
        die "'$*' needs root: run this as root, or install sudo"
    fi
}

# wait_for SECONDS COMMAND...: tries the command twenty times a second until it succeeds.
wait_for()
{
    local tries=$(($1 * 20))
    shift
    while ((tries-- > 0)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    return 1
}

# is_alive PID WORD: the process exists, is no zombie, and has WORD in its command line.
is_alive()
{
    [[ -n $1 && -r /proc/$1/cmdline ]] || return 1
    # A zombie's command line is empty, so it counts as gone.
    { tr '\0' ' ' </proc/"$1"/cmdline; } 2>/dev/null | grep -qF -- "$2"
}

is_gone()
{
    ! is_alive "$@"
}

# stop_process PID WORD: TERM, five seconds of patience, KILL.
stop_process()
{
    is_alive "$1" "$2" || return 0
    kill "$1" 2>/dev/null || return 0
    wait_for 5 is_gone "$1" "$2" && return 0
    kill -9 "$1" 2>/dev/null || true
    wait_for 2 is_gone "$1" "$2" || say "process $1 ($2) survives SIGKILL" >&2
}

# write_slurm_config DIR: writes slurm.conf there, of standard input and of what each cluster of ours has.
# ReturnToService brings a node back that a crashed run marked as down.
write_slurm_config()
{
    {
        cat
        cat <<X
AuthType=auth/munge
StateSaveLocation=$1/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
ReturnToService=2
KillWait=2
MinJobAge=10
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
X
    } >"$1/slurm.conf"
    # slurmd 24.11 does not start without it where no cgroups are mounted; 22.05 does not know it. It
    # prints "slurm 24.11.5", or "slurm-wlm 24.11.5".
    if [[ $(slurmd -V) =~ ^slurm[^\ ]*\ ([0-9]+) ]] && ((BASH_REMATCH[1] >= 23)); then
        say "CgroupPlugin=disabled" >"$1/cgroup.conf"
    fi
}

# build_gcc DIR [CONFIGURE-ARGUMENTS...]: the build most stages share, in DIR/gcc; "make install" puts
# it in DIR/installed.
build_gcc()
{
    mkdir -p "$1"
    "$source_dir/ci/build" "$1/gcc" --enable-werror --prefix="$(cd "$1" && pwd)/installed" \
        --with-security-contact=security@example.org "${@:2}"
}

# weftrun_of BUILD-DIR: the launcher of that build.
weftrun_of()
{
    local there
    for there in "$1/weftrun" "$1/tools/weftrun/weftrun" "$1/tools/weftrun"; do
        if [[ -f $there && -x $there ]]; then
            say "$there"
            return
        fi
    done
    die "no weftrun in $1: build first (ci/build $1)"
}

# in_build BUILD-DIR COMMAND...: with what the suites of tests/ and bench/ look for: make check's
# names for the directories, and the launcher.
in_build()
{
    local dir weftrun
    dir=$(cd "$1" && pwd)
    weftrun=$(weftrun_of "$dir")
    shift
    top_srcdir=$source_dir top_builddir=$dir BUILDDIR=$dir WEFTRUN=$weftrun "$@"
}

# seconds_since START: whole seconds since a former value of $SECONDS.
seconds_since()
{
    say $((SECONDS - $1))
}

# --- counting -------------------------------------------------------------------------------------
passed=0 failed=0 skipped=0
failures=() # a line or a few for each, to be repeated at the end

# check NAME COMMAND...: one line ok or not ok; what a failing command said follows it whole.
check()
{
    local name=$1 out begin=$SECONDS
    shift
    out=$(mktemp)
    if "$@" </dev/null >"$out" 2>&1; then
        say "ok $name ($(seconds_since "$begin") s)"
        passed=$((passed + 1))
    else
        say "not ok $name (exit status $?)"
        sed -i 's/^/    | /' "$out"
        cat "$out"
        failures+=("$name")
        mapfile -t -O "${#failures[@]}" failures < <(tail -n 10 "$out")
        failed=$((failed + 1))
    fi
    rm -f "$out"
}

# check_aloud NAME COMMAND...: always shows the command's output, because its figures matter.
check_aloud()
{
    local name=$1 code=0
    shift
    "$@" </dev/null 2>&1 || code=$?
    check "$name" test "$code" -eq 0
}

# skip NAME WHY: printed clearly, because a skipped test tests nothing.
skip()
{
    say "############ SKIPPED: $1: $2"
    skipped=$((skipped + 1))
}

# closing_line PASSED FAILED SKIPPED
closing_line()
{
    local tail=
    (($3 == 0)) || tail=", $3 skipped"
    say "$1 passed, $2 failed$tail"
}

# failures_in FILE: the lines by which suites report a failure (ours, automake's, those of tests/run at
# its end), each with at most ten of what follows of its output.
failures_in()
{
    awk '/^(not ok |(FAIL|ERROR|XPASS): |failed: )/ { print; left = 10; next }
        /^    again: / { print; next }
        /^    \| / && left-- > 0 { print; next }
        { left = 0 }' "$1"
}

# add_suite NAME COMMAND...: runs what ends with a closing line of its own, showing it as it comes,
# and adds its counts. A suite that fails without owning up to a failure counts as one, and so does
# a suite that prints nothing or ran nothing.
add_suite()
{
    local name=$1 out code line
    shift
    out=$(mktemp)
    set +e
    (set -e; "$@") </dev/null 2>&1 | tee "$out"
    code=${PIPESTATUS[0]}
    set -e
    mapfile -t -O "${#failures[@]}" failures < <(failures_in "$out")
    line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$out" | tail -n 1) || true
    rm -f "$out"
    if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
        local p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]} s=${BASH_REMATCH[4]:-0}
        if ((f == 0 && (code != 0 || p + s == 0))); then
            say "not ok $name: exit status $code after '$line'"
            failures+=("$name: exit status $code")
            f=1
        fi
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    else
        say "not ok $name: exit status $code and no closing line 'N passed, N failed'"
        failures+=("$name: exit status $code and no closing line")
        failed=$((failed + 1))
    fi
}

# turn N: the part K/N, for tests/run, of runs that change by change take turns: by the commit, so that
# a commit has the same in each run. WEFT_TEST_TURN is another K.
turn()
{
    local id
    id=$(git -C "$source_dir" rev-parse --short=6 HEAD 2>/dev/null) || id=0
    say "$((${WEFT_TEST_TURN:-0x${id:0:6}} % $1))/$1"
}

# processor_seconds: what this process and the children that it waited for have used, in whole seconds.
processor_seconds()
{
    local fields
    read -r -a fields <"/proc/$$/stat"
    say $(((fields[13] + fields[14] + fields[15] + fields[16]) / $(getconf CLK_TCK)))
}

# finish: the closing line of this script, and its exit status.
finish()
{
    closing_line "$passed" "$failed" "$skipped"
    ((failed == 0))
}

# The runs of tests/run that ci/sanitize makes with AddressSanitizer, each a set of arguments. Left out
# is what only costs time and memory there: gigabytes, floods, great numbers and measured memory. Random
# programs go over more lanes than the others.
without_large=(--without big_4g --without unexpected_flood_20000 --without cancel_race_100000
    --without flood_memory --without flood_node --without 'million_*' --without comm_many
    --without objects_memory)
# shellcheck disable=SC2034  # used by those who source this
# Those that show most of buffers in GPU memory.
with_device_memory=(order_mixed random_p2p pingpong_sizes persistent partitioned_random coll_random
    types_strided truncation bsend rma_random fuzz/p2p)
sanitized_runs=(--lanes 'rxm,shm,self' --max-ranks 4 --without strided_shared --without small_stacks
    "${without_large[@]}")
random_programs=('*random*' 'fuzz/*' cancel_race coll_model persistent)
# shellcheck disable=SC2034  # likewise
sanitized_random_runs=(--lanes 'rxm-soft,shm-copy,mixed' --max-ranks 4 "${random_programs[@]}")

# suppressions KIND: the file for lsan, tsan or valgrind; $dir is for builds.
suppressions()
{
    local supp=$source_dir/tests/suppressions
    if [[ -e $supp/$1-pmix5.supp ]] && pkg-config --atleast-version=5 pmix; then
        cat "$supp/$1.supp" "$supp/$1-pmix5.supp" >"$dir/$1.supp"
        say "$dir/$1.supp"
    else
        say "$supp/$1.supp"
    fi
}

# sanitized COMMAND...: with what AddressSanitizer and UndefinedBehaviorSanitizer are to look for.
sanitized()
{
    sanitized_with detect_leaks=1:fast_unwind_on_malloc=0 "$@"
}

# The same without a search for leaks, which takes two thirds of the time: the search itself, and the
# stack of each allocation by the unwinder that sees through libraries without frame pointers.
sanitized_but_leaks()
{
    sanitized_with detect_leaks=0 "$@"
}

# sanitized_with ASAN-OPTIONS COMMAND...
sanitized_with()
{
    local checks=$1:detect_stack_use_after_return=1
    shift
    checks+=:allocator_may_return_null=1 # a test asks for more than there is
    WEFT_TEST_SHORT=1 ASAN_OPTIONS=$checks:strict_string_checks=1 \
        LSAN_OPTIONS=suppressions=$(suppressions lsan):print_suppressions=0 \
        UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 "$@"
}
