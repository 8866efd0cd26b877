// SPDX-License-Identifier: BSD-3-Clause
/* The names of weftrun's options, and the text of --help. */
#ifndef WEFTRUN_OPTION_TABLE_H
#define WEFTRUN_OPTION_TABLE_H

#include <stdbool.h>

enum option_id {
    OPT_COUNT,
    OPT_TAG,
    OPT_BIND,
    OPT_REPORT,
    OPT_TIMEOUT,
    OPT_KEEP,
    OPT_ERRHANDLER,
    OPT_WITH_FT,
    OPT_DEBUG,
    OPT_CHECK,
    OPT_PROFILE,
    OPT_TRACE,
    OPT_TRACE_LAST,
    OPT_RECORD,
    OPT_REPLAY,
    OPT_TOP,
    OPT_DIR,
    OPT_ENV,
    OPT_EXPORT,
    OPT_SET,
    OPT_VERBOSE,
    OPT_HELP,
    OPT_VERSION,
    OPT_ANYWAY,
    OPT_HERE,
    OPT_ABI,
    OPT_UNIVERSE,
    OPT_JOINED,
    OPT_SLURM_STEP,
    OPT_PER_NODE,
    OPT_MAP,
    OPT_PER_PACKAGE,
    OPT_ELEMENTS,
    OPT_RANK_BY,
    OPT_CPU_SET,
    OPT_RANK_FILE,
    OPT_PLAN,
    OPT_ONE_EACH,
    OPT_GLOBAL_ENV,
    OPT_OUTPUT,
    OPT_HOSTS,
    OPT_HOST_FILE,
    OPT_STARTER,
    OPT_REMOTE_SHELL,
    OPT_BY_NODE,
    OPT_STAMP,
    OPT_READER,
    OPT_OUTPUT_DIR,
    OPT_OUT_FILES,
    OPT_ERR_FILES,
    OPT_PRINT_CODES,
    OPT_PATH,
    OPT_PARAMETER,
    OPT_TUNES, /* another MPI */
    /* Options that weftrun does not support */
    OPT_CONFIG_FILE,
    OPT_PMIX_MCA,
    OPT_NO_ENV,
    OPT_SOFT,
    OPT_ERRORS_TOO,
    OPT_TAGS_ONLY,
    OPT_DEBUGGER,
    OPT_TOOL,
    OPT_GPUS,
    OPT_MEMORY,
    OPT_OTHER_NODES,
    OPT_MACHINE,
    OPT_PID,
    OPT_BUILD_INFO,
    OPTIONS
};

struct option_row {
    const char *names;
    enum option_id id;
    bool takes_value;
    const char *value; /* of an option that takes none, or NULL */
};

/* An option of the command line: "--opt", or "--opt=value". */
struct found {
    const struct option_row *row; /* NULL: there is none */
    const char *name;             /* in the row, not terminated */
    int len;
    const char *value; /* after the '=', or NULL */
};

/* The option that a word of the command line names. */
struct found weft_option_find(const char *word);

/* The replacement of an option that weftrun does not support, or NULL. */
const char *weft_option_instead(enum option_id id);

extern const char weft_option_help[];

#endif
