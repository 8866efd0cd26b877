// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_info: what Weft would use on this machine and why, its settings, and the self-test of a
 * provider; whether a program would run on Weft.
 *
 * Invariant: it joins no job, so it runs anywhere, also inside one. Exit status: 0 no error, 1 an
 * error that the user can correct, 2 a wrong command line.
 */
#include "config.h"

#include "core/base/settings.h"
#include "views.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum view {
    VIEW_ALL,
    VIEW_SETTINGS,
    VIEW_MARKDOWN,
    VIEW_PROVIDERS,
    VIEW_COLLECTIVES,
    VIEW_TOOLS,
    VIEW_CHECK,
    VIEW_PROGRAM
};

enum { TIMEOUT_DEFAULT = 10, TIMEOUT_MAX = 3600 };

static void print_help(void)
{
    printf("Usage: weft_info [option]\n"
           "       weft_info --check [PROVIDER]\n"
           "       weft_info PROGRAM\n"
           "Shows what Weft would use on this machine and why, or if a program would run on Weft.\n"
           "\n"
           "  --providers      only the providers, for jobs on several nodes and on one\n"
           "  --settings       only the settings (WEFT_* variables)\n"
           "  --collectives    only the algorithms of collectives\n"
           "  --mpi-t          only the performance variables and events of MPI_T\n"
           "  --markdown       the settings as a table in Markdown\n"
           "  --check          test PROVIDER (default: the one Weft would choose) between\n"
           "                   processes of this node\n"
           "  --timeout SECS   let each test of --check take at most SECS seconds (default %d)\n"
           "  -h, --help       print this text\n"
           "  -V, --version    print Weft's version\n"
           "\n"
           "Exit status: 0 no error, 1 an error that the user can correct, 2 wrong usage.\n",
           (int)TIMEOUT_DEFAULT);
}

static int complain(const char *text, const char *about)
{
    fprintf(stderr, "weft_info: %s%s; 'weft_info --help' lists the options.\n", text, about);
    return 2;
}

static int show(enum view view, const char *argument, unsigned timeout)
{
    int bad = 0;

    switch (view) {
    case VIEW_SETTINGS:
        return weft_view_settings(false);
    case VIEW_MARKDOWN:
        return weft_view_settings(true);
    case VIEW_PROVIDERS:
        return weft_view_providers(true);
    case VIEW_COLLECTIVES:
        return weft_view_collectives();
    case VIEW_TOOLS:
        return weft_view_tools();
    case VIEW_CHECK:
        return weft_view_check(argument, timeout);
    case VIEW_PROGRAM:
        return weft_view_program(argument);
    case VIEW_ALL:
        printf("Weft %s\n", PACKAGE_VERSION);
        if (*PACKAGE_URL)
            printf("Project: %s\n", PACKAGE_URL);
        if (*WEFT_SECURITY_CONTACT)
            printf("Security problems are reported to: %s\n", WEFT_SECURITY_CONTACT);
        bad |= weft_view_versions();
        bad |= weft_view_providers(false);
        bad |= weft_view_settings(false);
        bad |= weft_view_collectives();
        break;
    }
    return bad;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"providers", no_argument, NULL, 'p'},     {"settings", no_argument, NULL, 's'},
        {"markdown", no_argument, NULL, 'm'},      {"check", no_argument, NULL, 'c'},
        {"collectives", no_argument, NULL, 'C'},   {"mpi-t", no_argument, NULL, 'T'},
        {"timeout", required_argument, NULL, 't'}, {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},       {0}};
    enum view view = VIEW_ALL;
    long timeout = TIMEOUT_DEFAULT;
    char why[1024], *end;
    int option, bad = 0;

    while ((option = getopt_long(argc, argv, "hV", options, NULL)) != -1) {
        switch (option) {
        case 'p':
            view = VIEW_PROVIDERS;
            break;
        case 's':
            view = VIEW_SETTINGS;
            break;
        case 'C':
            view = VIEW_COLLECTIVES;
            break;
        case 'T':
            view = VIEW_TOOLS;
            break;
        case 'm':
            view = VIEW_MARKDOWN;
            break;
        case 'c':
            view = VIEW_CHECK;
            break;
        case 't':
            timeout = strtol(optarg, &end, 10);
            if (end == optarg || *end != '\0' || timeout < 1 || timeout > TIMEOUT_MAX)
                return complain("--timeout takes a number of seconds from 1 to 3600, not ", optarg);
            break;
        case 'h':
            print_help();
            return 0;
        case 'V':
            printf("weft_info (Weft) %s\n", PACKAGE_VERSION);
            return 0;
        default:
            return complain("the command line was not understood", "");
        }
    }
    if (view == VIEW_ALL && optind < argc)
        view = VIEW_PROGRAM;
    if (argc - optind > (view == VIEW_CHECK || view == VIEW_PROGRAM))
        return complain("there is one argument too many: ", argv[argc - 1]);
    if (weft_settings_load(why, sizeof why) != 0) {
        fprintf(stderr, "weft_info: %s\n", why);
        bad = 1;
    }
    bad |= show(view, optind < argc ? argv[optind] : "", (unsigned)timeout);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("weft_info: standard output");
        bad = 1;
    }
    return bad;
}
