// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2 lanes=self,shm seconds=60
/*
 * Published names: found by other ranks, and by a program without a launcher, which finds them in
 * the folder of WEFT_NAMES; error classes; who may read the folder's files; a name whose publisher
 * has died is free again.
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char folder[64], self[4096];

/* Runs this program with two words, without a launcher. Returns its exit code. */
static int alone(const char *what, const char *name)
{
    char names[80], path[4200], *library = getenv("LD_LIBRARY_PATH");
    snprintf(names, sizeof names, "WEFT_NAMES=%s", folder);
    snprintf(path, sizeof path, "LD_LIBRARY_PATH=%s", library ? library : "");
    char *env[] = {names, path, "PATH=/usr/bin:/bin", "HOME=/", NULL};
    char *argv[] = {self, (char *)(uintptr_t)what, (char *)(uintptr_t)name, NULL};
    pid_t pid;
    int status = -1;
    if (posix_spawn(&pid, self, NULL, NULL, argv, env) || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The program without a launcher: the exit code is the error class. */
static int run_alone(const char *what, const char *name)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int code = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (strcmp(what, "lookup") == 0)
        code = MPI_Lookup_name(name, MPI_INFO_NULL, port);
    else
        code = MPI_Publish_name(name, MPI_INFO_NULL, "weft:other");
    if (strcmp(what, "leave") == 0)
        _exit(check_class(code));
    MPI_Finalize();
    if (strcmp(what, "lookup") == 0 && code == MPI_SUCCESS && strcmp(port, "weft:test/port") != 0)
        return 99;
    return check_class(code);
}

static void lookup(const char *name, int expected)
{
    char port[MPI_MAX_PORT_NAME] = "none";
    int class = check_class(MPI_Lookup_name(name, MPI_INFO_NULL, port));
    CHECK(class == expected, "the lookup of %s returns %d", name, class);
    CHECK(class != MPI_SUCCESS || !strcmp(port, "weft:test/port"), "%s is %s", name, port);
}

/* What is no port's name is not published. */
static void wrong_ports(void)
{
    char port[2 * MPI_MAX_PORT_NAME];
    memset(port, 'a', sizeof port);
    port[sizeof port - 1] = 0;
    int class = check_class(MPI_Publish_name("wrong", MPI_INFO_NULL, port));
    CHECK(class == MPI_ERR_ARG, "a port of %zu characters: %d", sizeof port - 1, class);
    class = check_class(MPI_Publish_name("wrong", MPI_INFO_NULL, "two\nlines"));
    CHECK(class == MPI_ERR_ARG, "a port of two lines: %d", class);
    lookup("wrong", MPI_ERR_NAME);
}

static int unpublish(const char *name, const char *port)
{
    return check_class(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
}

/* The file of a name is only for the user, and one that others may write is not read. */
static void files(void)
{
    char path[256];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, "a%20name");
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "%s: %s", path, strerror(errno));
    CHECK(alone("lookup", "a name") == MPI_SUCCESS,
          "a program without a launcher does not find it");
    CHECK(alone("publish", "a name") == MPI_ERR_SERVICE, "it publishes the name once more");
    chmod(path, 0620);
    CHECK(alone("lookup", "a name") == MPI_ERR_NAME, "a file of others is read");
    chmod(path, 0600);
    chmod(folder, 0777);
    CHECK(alone("publish", "b") == MPI_ERR_SERVICE, "a folder of others is used");
    chmod(folder, 0700);

    /* A pid of another PID namespace or boot is no process of this host, whatever has it here. */
    CHECK(alone("leave", "space") == MPI_SUCCESS, "a name cannot be published");
    snprintf(path, sizeof path, "sed -i '2s/.$/x/' %s/space && chmod 600 %s/space", folder, folder);
    CHECK(system(path) == 0, "%s", path);
    CHECK(alone("publish", "space") == MPI_ERR_SERVICE, "the name of another host is removed");
    snprintf(path, sizeof path, "%s/space", folder);
    CHECK(unlink(path) == 0, "%s: %s", path, strerror(errno));

    CHECK(alone("leave", "left") == MPI_SUCCESS, "a name cannot be published");
    CHECK(alone("lookup", "left") == MPI_ERR_NAME, "the name of a dead process is found");
    CHECK(MPI_Publish_name("left", MPI_INFO_NULL, "weft:test/port") == MPI_SUCCESS,
          "the name of a dead process is taken");
    CHECK(alone("lookup", "left") == MPI_SUCCESS, "the new name is not found");
    CHECK(unpublish("left", "weft:test/port") == MPI_SUCCESS, "it is not unpublished");
    snprintf(path, sizeof path, "%s/left", folder);
    CHECK(access(path, F_OK) != 0, "the file %s is left", path);
}

int main(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    if (argc == 3)
        return run_alone(argv[1], argv[2]);
    const char *rank = getenv("PMIX_RANK");
    snprintf(folder, sizeof folder, "/tmp/weft-test-names-%d-%s", (int)getppid(),
             rank ? rank : "0");
    setenv("WEFT_NAMES", folder, 1);
    check_begin(&argc, &argv, 1);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    lookup("a name", MPI_ERR_NAME);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        CHECK(MPI_Publish_name("a name", MPI_INFO_NULL, "weft:test/port") == MPI_SUCCESS,
              "it is not published");
        int again = check_class(MPI_Publish_name("a name", MPI_INFO_NULL, "weft:test/port"));
        CHECK(again == MPI_ERR_SERVICE, "the second publish returns %d", again);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    lookup("a name", MPI_SUCCESS);
    if (check.rank > 0)
        CHECK(unpublish("a name", "weft:test/port") == MPI_ERR_SERVICE, "another rank may remove");
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        wrong_ports();
        files();
        CHECK(unpublish("a name", "weft:another") == MPI_ERR_SERVICE, "any port will do");
        CHECK(unpublish("a name", "weft:test/port") == MPI_SUCCESS, "it is not unpublished");
        CHECK(unpublish("a name", "weft:test/port") == MPI_ERR_SERVICE, "twice");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    lookup("a name", MPI_ERR_NAME);
    rmdir(folder);
    return check_done();
}
