// SPDX-License-Identifier: BSD-3-Clause
/*
 * Published names.
 *
 * The file of a name is in the folder of WEFT_NAMES, by default ~/.local/state/weft/names: a line
 * with the port, and one with the process that published it: pid, start time, host, and the boot
 * and PID namespace to which the pid belongs.
 *
 * Invariants:
 *  - Folder and files are this user's, and only the user can read the files, because a port's name
 *    has its secret. Others are refused.
 *  - A file appears with its content, by link(2), which fails if it exists. Files are removed under
 *    a lock of the folder, and only those of this process and of processes of this host that have
 *    ended.
 */
#include "core/comm/names.h"
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/message/process.h"
#include "pmix/boot.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The length of a file's name: NAME_MAX without the suffix of a file that is being written. */
enum { FILE_NAME_MAX = NAME_MAX - 32, START_FIELD = 22 };

struct published {
    char port[MPI_MAX_PORT_NAME];
    int pid;
    unsigned long long start; /* of the process, in clock ticks since boot */
    char host[256], pids[64]; /* pids: see read_pid_space */
};

/* The start of a process on this host, 0 if there is none. */
static unsigned long long start_of(int pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = 0;
    /* The second field, the program in brackets, may have spaces. */
    char *at = strrchr(text, ')');
    for (int field = 2; at && field < START_FIELD; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* An identity of the pids that this process sees: of the boot, and of the PID namespace. Containers
 * may have the host name of another one. */
static void read_pid_space(char text[64])
{
    struct stat st = {0};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, 36) : -1;
    if (fd >= 0)
        close(fd);
    n = n < 0 ? 0 : n;
    stat("/proc/self/ns/pid", &st);
    snprintf(text + n, 64 - (size_t)n, "/%lu", (unsigned long)st.st_ino);
}

static bool is_of_this_host(const struct published *entry)
{
    char pids[64];
    read_pid_space(pids);
    return strcmp(entry->host, weft.job.host) == 0 && strcmp(entry->pids, pids) == 0;
}

static bool is_mine(const struct published *entry)
{
    return entry->pid == getpid() && is_of_this_host(entry) && entry->start == start_of(entry->pid);
}

/* True if the process that published the entry ran on this host and has ended. */
static bool is_stale(const struct published *entry)
{
    return is_of_this_host(entry) && start_of(entry->pid) != entry->start;
}

/* The folder of the setting, or the default. */
static void name_folder(char path[PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (*weft_settings.names)
        snprintf(path, PATH_MAX, "%s", weft_settings.names);
    else if (state && *state == '/')
        snprintf(path, PATH_MAX, "%s/weft/names", state);
    else if (home && *home == '/')
        snprintf(path, PATH_MAX, "%s/.local/state/weft/names", home);
    else
        snprintf(path, PATH_MAX, "/tmp/weft-names-%u", (unsigned)geteuid());
}

/* Opens the folder; makes it, with the folders above it, if it is to be made. Returns a descriptor,
 * or -1 with the error sentence set; with errno ENOENT and without a sentence if there is none. */
static int open_folder(bool make)
{
    char path[PATH_MAX];
    struct stat st;
    name_folder(path);
    for (char *at = path + 1; make && (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(path, 0777);
        *at = '/';
    }
    if (make)
        mkdir(path, 0700);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT && !make)
        return -1;
    if (fd < 0) {
        weft_error_set(MPI_ERR_SERVICE,
                       "the folder %s of published names cannot be used on %s: %s; set WEFT_NAMES "
                       "to a folder that you may write to",
                       path, weft.job.host, strerror(errno));
        errno = 0;
        return -1;
    }
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
        return fd;
    close(fd);
    weft_error_set(MPI_ERR_SERVICE,
                   "the folder %s of published names on %s belongs to another user, or others may "
                   "write to it: set WEFT_NAMES to a folder that is yours alone (mode 700)",
                   path, weft.job.host);
    errno = 0;
    return -1;
}

/* The name of a service's file: letters, digits and a few other characters are kept, all others
 * become %XX. False if it is too long. */
static bool name_file(const char *service, char file[NAME_MAX + 1])
{
    size_t n = 0;
    for (const char *c = service; *c && n < FILE_NAME_MAX; c++) {
        bool is_plain =
            isalnum((unsigned char)*c) || *c == '_' || *c == '-' || (*c == '.' && n > 0);
        n += (size_t)snprintf(file + n, NAME_MAX + 1 - n, is_plain ? "%c" : "%%%02X",
                              (unsigned char)*c);
    }
    file[n] = 0;
    return n > 0 && n < FILE_NAME_MAX;
}

/* Reads a file. False if there is none, or it is not one of this user's alone. */
static bool read_entry(int folder, const char *file, struct published *entry)
{
    char text[MPI_MAX_PORT_NAME + 512];
    struct stat st;
    int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                !(st.st_mode & (S_IRWXG | S_IRWXO));
    ssize_t n = good ? read(fd, text, sizeof text - 1) : -1;
    close(fd);
    char *line = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;
    if (!line || line - text >= MPI_MAX_PORT_NAME)
        return false;
    text[n] = 0;
    *line = 0;
    memcpy(entry->port, text, (size_t)(line - text) + 1);
    return sscanf(line + 1, "%d %llu %255s %63s", &entry->pid, &entry->start, entry->host,
                  entry->pids) == 4;
}

/* Makes the file. The port is shorter than MPI_MAX_PORT_NAME. 0 or errno: EEXIST if there is one.
 */
static int write_entry(int folder, const char *file, const char *port)
{
    char temporary[NAME_MAX + 1], text[MPI_MAX_PORT_NAME + 512], pids[64];
    snprintf(temporary, sizeof temporary, ".%.*s.%d", FILE_NAME_MAX, file, (int)getpid());
    read_pid_space(pids);
    int n = snprintf(text, sizeof text, "%s\n%d %llu %s %s\n", port, (int)getpid(),
                     start_of(getpid()), weft.job.host, pids);
    unlinkat(folder, temporary, 0);
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return errno;
    int error = write(fd, text, (size_t)n) == n ? 0 : errno ? errno : EIO;
    if (!error && linkat(folder, temporary, folder, file, 0))
        error = errno;
    unlinkat(folder, temporary, 0);
    close(fd);
    return error;
}

static int refuse_name(const char *service)
{
    return weft_error_set(MPI_ERR_SERVICE,
                          "the service name \"%.64s\" is empty or too long for a file's name: use "
                          "1 to %d letters and digits",
                          service, FILE_NAME_MAX - 1);
}

/* Publishes in a file. served: the launcher's service has the name, so it does not matter that
 * another job's file is there. */
static int publish_file(const char *service, const char *port, bool served)
{
    char file[NAME_MAX + 1];
    struct published old = {0};
    if (!name_file(service, file))
        return served ? MPI_SUCCESS : refuse_name(service);
    int folder = open_folder(true);
    if (folder < 0)
        return served ? MPI_SUCCESS : MPI_ERR_SERVICE;
    flock(folder, LOCK_EX); /* where the file system has locks */
    int error = write_entry(folder, file, port);
    if (error == EEXIST && read_entry(folder, file, &old) && is_stale(&old)) {
        unlinkat(folder, file, 0);
        error = write_entry(folder, file, port);
    }
    close(folder);
    if (!error || served)
        return MPI_SUCCESS;
    if (error == EEXIST)
        return weft_error_set(MPI_ERR_SERVICE,
                              "rank %d on %s cannot publish \"%.64s\": process %d on %s has "
                              "published it: choose another name, set WEFT_NAMES to another folder "
                              "for this job, or remove the file %s there if that process has ended",
                              weft.job.rank, weft.job.host, service, old.pid, old.host, file);
    return weft_error_set(MPI_ERR_SERVICE,
                          "rank %d on %s cannot publish \"%.64s\": its file cannot be written: %s; "
                          "set WEFT_NAMES to a folder that you may write to",
                          weft.job.rank, weft.job.host, service, strerror(error));
}

/* A port is one line of the file. */
static int check_port(const char *port)
{
    size_t len = strnlen(port, MPI_MAX_PORT_NAME), plain = 0;
    while (plain < len && !iscntrl((unsigned char)port[plain]))
        plain++;
    if (plain == len && len < MPI_MAX_PORT_NAME)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_ARG,
                          "the name of the port to publish is longer than %d characters, or has "
                          "control characters: pass the name that MPI_Open_port has returned",
                          MPI_MAX_PORT_NAME - 1);
}

int weft_name_publish(const char *service, const char *port)
{
    int code = check_port(port);
    if (code != MPI_SUCCESS)
        return code;
    enum weft_boot_name result = weft_boot_name_publish(service, port);
    if (result == WEFT_BOOT_NAME_TAKEN)
        return weft_error_set(MPI_ERR_SERVICE,
                              "rank %d on %s cannot publish \"%.64s\": a process of %s has "
                              "published it: choose another name, or unpublish it first",
                              weft.job.rank, weft.job.host, service, weft.job.launcher);
    return publish_file(service, port, result == WEFT_BOOT_NAME_DONE);
}

int weft_name_lookup(const char *service, char *port)
{
    struct published entry;
    char file[NAME_MAX + 1];
    if (weft_boot_name_lookup(service, port, MPI_MAX_PORT_NAME) == WEFT_BOOT_NAME_DONE)
        return MPI_SUCCESS;
    int folder = name_file(service, file) ? open_folder(false) : -1;
    bool found = folder >= 0 && read_entry(folder, file, &entry) && !is_stale(&entry);
    if (folder >= 0)
        close(folder);
    if (found)
        memcpy(port, entry.port, sizeof entry.port);
    return found ? MPI_SUCCESS
                 : weft_error_set(MPI_ERR_NAME,
                                  "the name \"%.64s\" is not published: look it up again after its "
                                  "publisher has called MPI_Publish_name, and see that both have "
                                  "the same launcher or the same folder of WEFT_NAMES",
                                  service);
}

/* Removes the file, if it is this process's. */
static bool unpublish_file(const char *service, const char *port)
{
    struct published entry;
    char file[NAME_MAX + 1];
    int folder = name_file(service, file) ? open_folder(false) : -1;
    if (folder < 0)
        return false;
    flock(folder, LOCK_EX);
    bool mine = read_entry(folder, file, &entry) && is_mine(&entry) &&
                strcmp(entry.port, port) == 0 && unlinkat(folder, file, 0) == 0;
    close(folder);
    return mine;
}

int weft_name_unpublish(const char *service, const char *port)
{
    char known[MPI_MAX_PORT_NAME];
    bool same = weft_boot_name_lookup(service, known, sizeof known) == WEFT_BOOT_NAME_DONE &&
                strcmp(known, port) == 0;
    bool served = same && weft_boot_name_unpublish(service) == WEFT_BOOT_NAME_DONE;
    bool filed = unpublish_file(service, port);
    if (served || filed)
        return MPI_SUCCESS;
    return weft_error_set(
        MPI_ERR_SERVICE,
        "rank %d on %s cannot unpublish \"%.64s\": this process has not published "
        "it with this port: unpublish it where it was published",
        weft.job.rank, weft.job.host, service);
}
