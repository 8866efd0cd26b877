// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,rxm seconds=30
/*
 * MPI_Init registers for membarrier() before it starts a thread: later the kernel would take 5 to
 * 20 ms for each registration. The syscall() of this program is called in place of the C library's,
 * and counts the threads at each registration.
 */
#include "check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <stdarg.h>
#include <sys/syscall.h>

static int threads, registrations, late;

static int count_threads(void)
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *e; tasks && (e = readdir(tasks));)
        n += e->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return n;
}

long syscall(long number, ...)
{
    static long (*next)(long, ...);
    long with[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        with[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_membarrier && ((int)with[0] == MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED ||
                                     (int)with[0] == MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)) {
        registrations++;
        late += count_threads() > threads;
    }
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    return next(number, with[0], with[1], with[2], with[3], with[4], with[5]);
}

int main(int argc, char **argv)
{
    check_watch();
    threads = count_threads();
    MPI_Init(&argc, &argv);
    check_world(2);
    bool can = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) > 0;
    CHECK(registrations == (can ? 2 : 0), "%d registrations, expected %d", registrations,
          can ? 2 : 0);
    CHECK(late == 0, "%d of %d registrations came after a thread was started", late, registrations);
    return check_done();
}
