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

# profiled NODES COMMAND...: starts four ranks under the profile; the page and the figures have all of
# them, each with the calls and bytes that tests/slurm/traffic.c makes in two rounds.
profiled()
{
    local nodes=$1 page=$scratch/profile.html
    shift
    rm -f "$scratch"/profile.*
    within "$@" env "WEFT_PROFILE=$page" "LD_PRELOAD=$build/lib/weft/tools/libweft_profile.so" \
        "$scratch/traffic" 2 >"$scratch/profile.out" 2>&1 ||
        { say "exit status $?: $*"; cat "$scratch/profile.out"; return 1; }
    if ! grep "^weft profile: 4 ranks on $nodes node" "$scratch/profile.out" || ! grep -q '</svg>' "$page"; then
        say "no line or no page for four ranks:"
        cat "$scratch/profile.out"
        return 1
    fi
    python3 - "$scratch/profile.json" "$nodes" <<'X'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    d = json.load(file)
nodes, calls = int(sys.argv[2]), {i for i, site in enumerate(d["sites"]) if site["call"] == "MPI_Sendrecv"}
right = {
    "ranks": [d["size"], d["reported"], len(d["ranks"])] == [4, 4, 4],
    "nodes": d["nodes"] == len(d["hosts"]) == len({rank["node"] for rank in d["ranks"]}) == nodes,
    "times": all(0 < rank["mpi"] < rank["wall"] for rank in d["ranks"]),
    "calls": sorted(row[1:3] + row[6:7] for row in d["by_rank"] if row[0] in calls)
    == [[rank, 6, 6 << 20] for rank in range(4)],
    "messages": sorted(d["matrix"]) == [[i, j, 2, 2 << 20] for i in range(4) for j in range(4) if i != j],
}
wrong = [name for name, is_right in right.items() if not is_right]
if wrong:
    sys.exit(f"wrong figures: {', '.join(wrong)}")
X
}
