// SPDX-License-Identifier: BSD-3-Clause
/*
 * Findings as SARIF 2.1.0 (OASIS), which code hosts show beside the source.
 */
#include "tools/check/check.h"
#include "tools/interpose/json.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unconfigured"
#endif

static void put_rules(FILE *file)
{
    for (int i = 0; i < CHECK_RULES; i++) {
        fprintf(file, "%s\n        {\"id\": ", i ? "," : "");
        weft_json_put_string(file, check_rules[i].id);
        fprintf(file, ", \"shortDescription\": {\"text\": ");
        weft_json_put_string(file, check_rules[i].standard);
        fprintf(file, "}, \"help\": {\"text\": ");
        weft_json_put_string(file, check_rules[i].change);
        fprintf(file, "}}");
    }
}

/* The path of a source file as a relative reference of a URI, in quotes. */
static void put_uri(FILE *file, const char *path)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    fputc('"', file);
    for (; *path; path++)
        fprintf(file, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
    fputc('"', file);
}

static void put_result(FILE *file, const struct check_finding *finding)
{
    char text[sizeof finding->call + sizeof finding->text + 64];
    snprintf(text, sizeof text, "%s on %d of the ranks, first on rank %d: %s", finding->call,
             finding->ranks, finding->rank, finding->text);
    fprintf(file, "{\"ruleId\": ");
    weft_json_put_string(file, check_rules[finding->rule].id);
    fprintf(file, ", \"level\": \"%s\", \"message\": {\"text\": ",
            check_rules[finding->rule].error ? "error" : "warning");
    weft_json_put_string(file, text);
    fprintf(file, "}");
    if (finding->where.line) {
        fprintf(file, ", \"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
        put_uri(file, finding->where.file);
        fprintf(file, "}, \"region\": {\"startLine\": %d}}}]", finding->where.line);
    }
    fprintf(file, "}");
}

void check_sarif_write(const char *path, const struct check_finding *list, int n)
{
    char written[4096]; /* becomes the file when it is complete */
    struct stat there;
    const bool is_special = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
    const int length = is_special ? snprintf(written, sizeof written, "%s", path)
                                  : snprintf(written, sizeof written, "%s.%d-%ld", path, check.rank,
                                             (long)getpid());
    errno = ENAMETOOLONG;
    FILE *file = length < (int)sizeof written ? fopen(written, "w") : NULL;
    if (!file) {
        fprintf(stderr, "weft check: %s of WEFT_CHECK_SARIF cannot be written: %s\n", path,
                strerror(errno));
        return;
    }
    fprintf(file,
            "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
            "  \"version\": \"2.1.0\",\n  \"runs\": [{\n    \"tool\": {\"driver\": {\"name\": "
            "\"weft check\", \"version\": \"" PACKAGE_VERSION "\", \"rules\": [");
    put_rules(file);
    fprintf(file, "]}},\n    \"results\": [");
    for (int i = 0; i < n; i++) {
        fprintf(file, "%s\n      ", i ? "," : "");
        put_result(file, &list[i]);
    }
    fprintf(file, "]\n  }]\n}\n");
    if (fclose(file) == 0 && (is_special || rename(written, path) == 0))
        return;
    fprintf(stderr, "weft check: %s of WEFT_CHECK_SARIF is not complete: %s\n", path,
            strerror(errno));
    if (!is_special)
        unlink(written);
}
