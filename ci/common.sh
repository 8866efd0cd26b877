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

say()
{
    printf '%s\n' "$*"
}

die()
{
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
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

# seconds_since START: whole seconds since a former value of $SECONDS.
seconds_since()
{
    say $((SECONDS - $1))
}
