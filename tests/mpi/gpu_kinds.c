// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,shm-hip,rxm seconds=60
/*
 * Memory allocation kinds: what MPI_COMM_WORLD, sessions, windows and files support, and assertions
 * that buffers are on the host. Under these the driver is asked about no buffer; under others, and
 * under those of kinds that are not supported, about each.
 */
#include "gpu.h"

#include "file.h"

#include <sys/mman.h>

enum { BYTES = 4096 };

struct list {
    const char *kinds;
    bool supported, host;
};

/* DEV is replaced by the name of the driver's kinds. */
static const struct list lists[] = {
    {"system", true, true},
    {"mpi", true, true},
    {"mpi,system", true, true},
    {"mpi:alloc_mem,mpi:win_allocate:win_allocate_shared", true, true},
    {"system,DEV:host,DEV:managed", true, true},
    {"", true, true},
    {"DEV:device", true, false},
    {"system,DEV", true, false},
    {"DEV:host:managed", true, true},
    {"system,DEV:host:device", true, false},
    {"DEV:device:managed", true, false},
    {"system:device", false, false},
    {"mpi:nowhere", false, false},
    {"system,DEV:shared", false, false},
    {"system,level_zero:device", false, false},
    {"system,,mpi", false, false},
    {"systems", false, false},
};

static char *memory; /* of the host, neither on the heap nor on the stack */
static const int *looks;
static const char *kind; /* of the driver */

static const char *with_name(const char *text)
{
    static char out[128];
    size_t n = 0;
    for (; *text; text++)
        if (!strncmp(text, "DEV", 3)) {
            n += (size_t)sprintf(out + n, "%s", kind);
            text += 2;
        } else {
            out[n++] = *text;
        }
    out[n] = 0;
    return out;
}

/* The value of a key, or NULL. Frees the object. */
static const char *value_of(MPI_Info info, const char *key)
{
    static char value[200];
    int found, length = sizeof value;
    MPI_Info_get_string(info, key, &length, value, &found);
    MPI_Info_free(&info);
    return found ? value : NULL;
}

static void check_asserted(MPI_Info info, const char *what, const struct list *list)
{
    const char *value = value_of(info, "mpi_assert_memory_alloc_kinds");
    const char *wanted = list->supported ? with_name(list->kinds) : NULL;
    CHECK(wanted ? value && !strcmp(value, wanted) : !value,
          "a %s with the assertion '%s' returns '%s'", what, with_name(list->kinds),
          value ? value : "none");
}

/* Checks the calls of the driver since there were `before`. */
static void check_looks(const char *what, int before, const struct list *list)
{
    CHECK(list->host ? *looks == before : *looks > before,
          "%s with the assertion '%s': the driver was asked %d times", what, with_name(list->kinds),
          *looks - before);
}

static void on_communicator(const struct list *list, MPI_Info info)
{
    MPI_Comm comm;
    MPI_Info has;
    MPI_Request request;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Comm_get_info(comm, &has);
    check_asserted(has, "communicator", list);
    MPI_Barrier(comm);
    int before = *looks;
    if (check.rank == 0)
        MPI_Send(memory, BYTES, MPI_BYTE, 1, 0, comm);
    else
        MPI_Recv(memory, BYTES, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
    check_looks("a message", before, list);
    before = *looks;
    MPI_Bcast(memory, BYTES, MPI_BYTE, 0, comm);
    check_looks("MPI_Bcast", before, list);
    before = *looks;
    MPI_Ibcast(memory, BYTES, MPI_BYTE, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_looks("MPI_Ibcast", before, list);
    MPI_Comm_free(&comm);
}

static void on_window(const struct list *list, MPI_Info info)
{
    MPI_Win win;
    MPI_Info has;
    void *base;
    MPI_Win_allocate(BYTES, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Win_get_info(win, &has);
    check_asserted(has, "window", list);
    MPI_Win_fence(0, win);
    int before = *looks;
    MPI_Put(memory, BYTES, MPI_BYTE, 1 - check.rank, 0, BYTES, MPI_BYTE, win);
    check_looks("MPI_Put", before, list);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void on_file(const struct list *list, MPI_Info info)
{
    MPI_File file;
    MPI_Info has;
    MPI_File_open(MPI_COMM_WORLD, file_name("kinds"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_File_get_info(file, &has);
    check_asserted(has, "file", list);
    int before = *looks;
    MPI_File_write_at(file, check.rank * BYTES, memory, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    check_looks("MPI_File_write_at", before, list);
    MPI_File_close(&file);
    file_remove("kinds");
}

static void check_supported(MPI_Info info, const char *what)
{
    char device[40];
    const char *value = value_of(info, "mpi_memory_alloc_kinds");
    snprintf(device, sizeof device, "%s:device", kind);
    CHECK(value && strstr(value, device) && strstr(value, "system") && strstr(value, "mpi"),
          "a %s supports '%s'", what, value ? value : "no kinds");
}

/* What MPI_COMM_WORLD and the like support. */
static void supported(void)
{
    MPI_Info info, wanted;
    MPI_Session session;
    MPI_File file;
    MPI_Comm_get_info(MPI_COMM_WORLD, &info);
    check_supported(info, "communicator");
    MPI_Info_create(&wanted);
    MPI_Info_set(wanted, "mpi_memory_alloc_kinds", "system,nonsense");
    MPI_Session_init(wanted, MPI_ERRORS_RETURN, &session);
    MPI_Info_free(&wanted);
    MPI_Session_get_info(session, &info);
    check_supported(info, "session");
    MPI_Session_finalize(&session);
    file = file_open("kinds", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_get_info(file, &info);
    check_supported(info, "file");
    MPI_File_close(&file);
    file_remove("kinds");
}

/* MPI_Comm_set_info replaces an assertion, and a message of device memory arrives under one. */
static void replaced(MPI_Info info)
{
    static const struct list device = {"DEV:device", true, false};
    struct gpu_buffer b = gpu_buffer_new(GPU_DEVICE, BYTES);
    MPI_Comm comm;
    MPI_Info has;
    MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", with_name(device.kinds));
    MPI_Comm_set_info(comm, info);
    MPI_Comm_get_info(comm, &has);
    check_asserted(has, "communicator", &device);
    if (check.rank == 0) {
        check_fill(b.host, BYTES, 0, 0, 0);
        gpu_put(&b);
        MPI_Send(b.data, BYTES, MPI_BYTE, 1, 0, comm);
    } else {
        MPI_Recv(b.data, BYTES, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
        gpu_get(&b);
        CHECK_DATA(b.host, BYTES, 0, 0, 0);
    }
    gpu_buffer_free(&b);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Info info;
    gpu_begin();
    kind = gpu_is_hip() ? "rocm" : "cuda";
    looks = dlsym(gpu.driver, "stand_in_looks");
    if (!looks) {
        fprintf(stderr, "the driver does not count its calls\n");
        return 77;
    }
    check_begin(&argc, &argv, 2);
    memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    file_begin();
    check_step("what is supported");
    supported();
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        check_step("the assertion '%s'", with_name(lists[i].kinds));
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", with_name(lists[i].kinds));
        on_communicator(&lists[i], info);
        on_window(&lists[i], info);
        on_file(&lists[i], info);
        MPI_Info_free(&info);
    }
    MPI_Info_create(&info);
    replaced(info);
    MPI_Info_free(&info);
    file_end();
    munmap(memory, BYTES);
    return check_done();
}
