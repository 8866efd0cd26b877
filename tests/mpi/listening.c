// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,sockets seconds=20
/*
 * TCP sockets that listen: all that a rank opens are bound to one address, that of the job's
 * interface, and none to every interface of the node. Those that it has from srun do not count.
 */
#include "check.h"

#include <dirent.h>

enum { SOCKETS = 256 };

/* Inodes of sockets of this process: all of them, and those from before MPI_Init. */
static struct sockets {
    unsigned long inodes[SOCKETS];
    int n;
} now, before;

static void list_sockets(struct sockets *list)
{
    DIR *fds = opendir("/proc/self/fd");
    CHECK(fds, "no /proc/self/fd");
    for (struct dirent *entry; fds && (entry = readdir(fds)) != NULL;) {
        char path[300], target[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length > 0 && list->n < SOCKETS &&
            sscanf(target, "socket:[%lu]", &list->inodes[list->n]) == 1)
            list->n++;
    }
    if (fds)
        closedir(fds);
}

static bool is_in(const struct sockets *list, unsigned long inode)
{
    for (int i = 0; i < list->n; i++)
        if (list->inodes[i] == inode)
            return true;
    return false;
}

/* Other providers than those of TCP listen on no socket of the process. */
static bool must_listen(void)
{
    const char *provider = getenv("WEFT_PROVIDER");
    return provider &&
           (strstr(provider, "tcp") || strstr(provider, "net") || strstr(provider, "sockets"));
}

/* Checks the listening sockets in one of the kernel's tables; returns how many. first: the address
 * of the first one. */
static int check_table(const char *table, char *first)
{
    enum { LISTEN = 0x0A };
    char line[512], address[64];
    unsigned port, state;
    unsigned long inode;
    int listening = 0;
    FILE *file = fopen(table, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, " %*d: %63[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu",
                   address, &port, &state, &inode) != 4 ||
            state != LISTEN || !is_in(&now, inode) || is_in(&before, inode))
            continue;
        listening++;
        CHECK(strspn(address, "0") != strlen(address), "port %u listens on every interface", port);
        if (!*first)
            strcpy(first, address);
        CHECK(!strcmp(first, address), "port %u listens on %s, another one on %s", port, address,
              first);
    }
    if (file)
        fclose(file);
    return listening;
}

int main(int argc, char **argv)
{
    char first[64] = "";
    int value = 0;
    list_sockets(&before);
    check_begin(&argc, &argv, 2);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    list_sockets(&now);
    int listening = check_table("/proc/net/tcp", first) + check_table("/proc/net/tcp6", first);
    CHECK(listening > 0 || !must_listen(), "no socket listens: the test sees nothing");
    printf("%d sockets listen\n", listening);
    return check_done();
}
