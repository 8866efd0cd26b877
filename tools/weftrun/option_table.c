// SPDX-License-Identifier: BSD-3-Clause
/*
 * The names of options, and what to write instead of those that weftrun does not have.
 *
 * Invariant: options of other launchers are accepted if they mean the same here, or tune another
 * MPI.
 */
#include "option_table.h"

#include <stddef.h>
#include <string.h>

/* The replacement of each option that weftrun does not support. */
static const char *const replacements[OPTIONS] = {
    [OPT_CONFIG_FILE] = "it must be the first option and the only one",
    [OPT_PMIX_MCA] = "set the variable PMIX_MCA_NAME instead",
    [OPT_NO_ENV] = "remove variables by \"env -u NAME weftrun ...\"",
    [OPT_SOFT] = "ask for the number of ranks by -n alone",
    [OPT_ERRORS_TOO] = "write 2>&1 at the end of the line",
    [OPT_TAGS_ONLY] = "--tag begins each line with its rank, --timestamp-output with the time",
    [OPT_DEBUGGER] = "use --debug, or --debug=0,2 for ranks 0 and 2",
    [OPT_TOOL] = "write the tool before the program, for one rank weftrun -n 1 TOOL program : -n 3 "
                 "program; a library by -x LD_PRELOAD=FILE",
    [OPT_GPUS] = "choose a GPU by weftrun -n N sh -c 'CUDA_VISIBLE_DEVICES=$MPI_LOCALRANKID exec "
                 "program'",
    [OPT_MEMORY] = "write weftrun --bind numa -n N numactl --localalloc program",
    [OPT_OTHER_NODES] = "name the hosts of the ranks by -H or --hostfile",
    [OPT_MACHINE] = "all ranks are on this machine; leave it out",
    [OPT_PID] = "write weftrun ... & echo $! >FILE",
    [OPT_BUILD_INFO] = "weft_info prints how Weft was built",
};

/* Names of one option: those of weftrun, then those of Open MPI and MPICH. Long names are also
 * accepted with a single dash, as by MPICH. */
static const struct option_row rows[] = {
    {"-n --n --np -c", OPT_COUNT, true, NULL},
    {"--tag --tag-output --prefix-output --prepend-rank --label -l", OPT_TAG, false, NULL},
    {"--timestamp-output", OPT_STAMP, false, NULL},
    {"--keep-going --enable-recovery --continuous --disable-auto-cleanup", OPT_KEEP, false, NULL},
    {"--initial-errhandler", OPT_ERRHANDLER, true, NULL},
    {"--with-ft", OPT_WITH_FT, true, NULL},
    {"--bind --bind-to --binding", OPT_BIND, true, NULL},
    {"--debug", OPT_DEBUG, false, NULL}, /* and --debug=RANKS */
    {"--check", OPT_CHECK, false, NULL}, /* and --check=KINDS */
    {"--record", OPT_RECORD, true, NULL},
    {"--replay", OPT_REPLAY, true, NULL},
    {"--profile", OPT_PROFILE, false, NULL}, /* and --profile=FILE */
    {"--trace", OPT_TRACE, false, NULL},     /* and --trace=FILE */
    {"--trace-last", OPT_TRACE_LAST, true, NULL},
    {"--top", OPT_TOP, false, NULL},
    {"--report-bindings --display-map --display-devel-map --print-rank-map", OPT_REPORT, false,
     NULL},
    {"--do-not-launch", OPT_PLAN, false, NULL},
    {"--timeout", OPT_TIMEOUT, true, NULL},
    {"--pset", OPT_SET, true, NULL},
    {"--wdir --wd", OPT_DIR, true, NULL},
    {"-x", OPT_EXPORT, true, NULL},
    {"--env", OPT_ENV, true, NULL},
    {"--genv", OPT_GLOBAL_ENV, true, NULL},
    {"--here", OPT_HERE, false, NULL},
    {"--abi", OPT_ABI, true, NULL},
    {"--usize", OPT_UNIVERSE, true, NULL},
    {"--joined-fd", OPT_JOINED, true, NULL}, /* of MPI_Comm_spawn, as the next */
    {"--slurm-step", OPT_SLURM_STEP, true, NULL},
    {"-v --verbose", OPT_VERBOSE, false, NULL},
    {"-h --help", OPT_HELP, false, NULL},
    {"-V --version", OPT_VERSION, false, NULL},
    {"--output", OPT_OUTPUT, true, NULL},
    {"--output-filename", OPT_OUTPUT_DIR, true, NULL},
    {"--outfile-pattern --outfile", OPT_OUT_FILES, true, NULL},
    {"--errfile-pattern --errfile", OPT_ERR_FILES, true, NULL},
    {"--stdin -s", OPT_READER, true, NULL},
    {"--print-all-exitcodes", OPT_PRINT_CODES, false, NULL},
    /* Placement */
    {"--ppn --perhost --npernode -N --grr", OPT_PER_NODE, true, NULL},
    {"--map-by", OPT_MAP, true, NULL},
    {"--rank-by", OPT_RANK_BY, true, NULL},
    {"--pernode", OPT_PER_NODE, false, "1"},
    {"--npersocket", OPT_PER_PACKAGE, true, NULL},
    {"--cpus-per-proc --cpus-per-rank", OPT_ELEMENTS, true, NULL},
    {"--cpu-set --cpu-list", OPT_CPU_SET, true, NULL},
    {"--rankfile --rf", OPT_RANK_FILE, true, NULL},
    {"--bind-to-core", OPT_BIND, false, "core"},
    {"--bind-to-socket", OPT_BIND, false, "package"},
    {"--bind-to-none", OPT_BIND, false, "none"},
    {"--bycore", OPT_MAP, false, "core"},
    {"--bysocket", OPT_MAP, false, "package"},
    {"--byslot", OPT_MAP, false, "slot"},
    {"--bynode --rr", OPT_BY_NODE, false, NULL},
    {"--nooversubscribe", OPT_ONE_EACH, false, NULL},
    {"--path", OPT_PATH, true, NULL},
    {"--host -H --hosts", OPT_HOSTS, true, NULL},
    {"--hostfile --machinefile --machine -f --default-hostfile", OPT_HOST_FILE, true, NULL},
    {"--starter", OPT_STARTER, true, NULL},
    {"--launcher-exec --bootstrap-exec", OPT_REMOTE_SHELL, true, NULL},
    /* Options for weftrun's default behaviour, and for the start on other machines: ignored */
    {"--oversubscribe --allow-run-as-root --genvall --envall --quiet -q --use-hwthread-cpus "
     "--disable-recovery --display-allocation --display-topo --noprefix --enable-x --disable-x "
     "--leave-session-attached --debug-daemons --show-progress --disable-hostname-propagation "
     "--order-nodes --pmi-port --nolisten",
     OPT_ANYWAY, false, NULL},
    {"--genvlist --envlist --prefix --launcher --bootstrap --rmk "
     "--launch-agent --personality --topolib --demux --localhost --preload-files --display "
     "--branch-count --max-restarts --tmpdir --ppdir",
     OPT_ANYWAY, true, NULL},
    {"--preload-binary", OPT_ANYWAY, false, NULL},
    /* Options that tune other MPIs */
    {"--mca --gmca --prtemca", OPT_PARAMETER, true, NULL},
    {"--tune --am --iface", OPT_TUNES, true, NULL},
    {"--psm2 --ofi --ilp64 --nolocal-shm", OPT_TUNES, false, NULL},
    /* Options that weftrun does not support */
    {"--configfile --app", OPT_CONFIG_FILE, true, NULL},
    {"--soft", OPT_SOFT, true, NULL},
    {"--pmixmca", OPT_PMIX_MCA, true, NULL},
    {"--genvnone --envnone", OPT_NO_ENV, false, NULL},
    {"--merge-stderr-to-stdout", OPT_ERRORS_TOO, false, NULL},
    {"--xml --tag-output-fullname", OPT_TAGS_ONLY, false, NULL},
    {"--prepend-pattern", OPT_TAGS_ONLY, true, NULL},
    {"--gdb --gdba --ddd --tv --totalview", OPT_DEBUGGER, false, NULL},
    {"--xterm --debugger", OPT_DEBUGGER, true, NULL},
    {"--gtool --gtoolfile", OPT_TOOL, true, NULL},
    {"--trace-pt2pt --trace-collectives --check_mpi --aps --mps", OPT_TOOL, false, NULL},
    {"--gpus-per-proc", OPT_GPUS, true, NULL},
    {"--membind", OPT_MEMORY, true, NULL},
    {"--nolocal --skip-launch-node", OPT_OTHER_NODES, false, NULL},
    {"--add-host --add-hostfile --dvm --ompi-server", OPT_OTHER_NODES, true, NULL},
    {"--arch --file", OPT_MACHINE, true, NULL},
    {"--report-pid --report-uri", OPT_PID, true, NULL},
    {"--info", OPT_BUILD_INFO, false, NULL},
};

const char weft_option_help[] =
    "usage: weftrun [options] program [args] [: [options] program [args]]...\n"
    "\n"
    "Starts an MPI program, on this machine or on those of -H or of the allocation.\n"
    "\n"
    "  -n N               number of ranks of this program (default 1; in an allocation of\n"
    "                     a batch system on one node: its tasks)\n"
    "  -x, --env VAR=VAL  set a variable for this program's ranks (repeatable)\n"
    "  --pset NAME        make this program's ranks a process set of MPI sessions\n"
    "  --wdir DIR         start this program's ranks in DIR\n"
    "  --tag              begin each line of output with the rank, as [3]\n"
    "  --bind WHAT        give each rank a core, hwthread, numa node or package; none\n"
    "                     (default)\n"
    "  --map-by WHAT      deal ranks to package, numa, l3cache or core in turn; :PE=N for N cores\n"
    "                     of each, ppr:N:WHAT for N ranks on each\n"
    "  --report-bindings  print the binding of each rank on stderr\n"
    "  --do-not-launch    print the bindings only\n"
    "  --timeout SECS     stop the job after SECS seconds, exit code 124\n"
    "                     (as the variable MPIEXEC_TIMEOUT does)\n"
    "  --keep-going       a rank that fails does not stop the others\n"
    "  --debug[=RANKS]    open a debugger for all ranks, or for those of a list (0,4-7), in\n"
    "                     windows of tmux or xterm\n"
    "  --check[=KINDS]    find mistakes in the use of MPI: objects, collectives, messages,\n"
    "                     deadlocks, buffers, windows, files, all of these (default),\n"
    "                     and races; with fail (--check=all,fail) the exit code is 1 after a\n"
    "                     finding; shuffle[,SEED] chooses among legal orders at random\n"
    "  --record FILE      as --check, and write which message each wildcard, probe, test and\n"
    "                     MPI_Waitany has taken to FILE.rank*\n"
    "  --replay FILE      as --check, and repeat the order of the recorded run\n"
    "  --profile[=FILE]   measure time in MPI by call and line: a summary, and a page with\n"
    "                     pictures (default weft-profile.html)\n"
    "  --trace[=FILE]     write a time line of calls and messages for Perfetto (default\n"
    "                     weft-trace.json)\n"
    "  --trace-last S     the same, of the last S seconds\n"
    "  --top              --profile, and each second a table of what each rank does, on stderr\n"
    "  -H HOST[:N],...    start the ranks on these hosts, N on each (default 1), by ssh and the\n"
    "                     launcher of PRRTE, MPICH or Open MPI; --hostfile FILE reads them\n"
    "  --starter NAME     that launcher: prterun, mpiexec.hydra or mpirun.openmpi\n"
    "  --here             start the ranks on this machine, though the allocation of the\n"
    "                     batch system has other nodes\n"
    "  --abi NAME         what scripts and interpreters load as another MPI, in every process:\n"
    "                     openmpi, mpich, or none (default: by the names of libraries)\n"
    "  --usize N          MPI_UNIVERSE_SIZE: how many ranks there may be, with spawned ones\n"
    "  -configfile FILE   read all options and programs from FILE, one program a line\n"
    "  -v, --verbose      print each step on stderr\n"
    "  -h, --help         this text\n"
    "  -V, --version      the version\n"
    "  --oversubscribe and other options that are common elsewhere: weftrun(1)\n"
    "\n"
    "Exit code: 0, or that of the first rank that failed (128 + S for signal S).\n"
    "More in weftrun(1).\n";

struct found weft_option_find(const char *word)
{
    size_t len = strcspn(word, "=");
    bool one_dash = len > 2 && word[1] != '-';
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t n;
        for (const char *name = rows[i].names; *name; name += n + (name[n] == ' ')) {
            n = strcspn(name, " ");
            if (n == len + one_dash && strncmp(name + one_dash, word, len) == 0)
                return (struct found){&rows[i], name, (int)n, word[len] ? word + len + 1 : NULL};
        }
    }
    return (struct found){0};
}

const char *weft_option_instead(enum option_id id)
{
    return replacements[id];
}
