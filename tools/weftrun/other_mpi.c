// SPDX-License-Identifier: BSD-3-Clause
/*
 * Detects programs that were linked with another MPI library: see other_mpi.h.
 *
 * Invariant: the file is not trusted. Every offset that is read from it is compared with its size
 * before use.
 */
#include "other_mpi.h"
#include "lines.h"
#include "loader.h"
#include "mpi_library.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 16 /* generations of a rank's descendants that are looked at */ };

struct image {
    const char *base;
    size_t size;
    const ElfW(Phdr) * headers;
    size_t count;
};

static bool inside(const struct image *image, uint64_t offset, uint64_t bytes)
{
    return offset <= image->size && bytes <= image->size - offset;
}

static bool open_image(struct image *image)
{
    const ElfW(Ehdr) *elf = (const void *)image->base;
    if (image->size < sizeof *elf || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
        elf->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        elf->e_phentsize != sizeof *image->headers || elf->e_phoff % sizeof(void *) ||
        !inside(image, elf->e_phoff, (uint64_t)elf->e_phnum * sizeof *image->headers))
        return false;
    image->headers = (const void *)(image->base + elf->e_phoff);
    image->count = elf->e_phnum;
    return true;
}

/* The string at an address of the loaded file, or "". */
static const char *string_at(const struct image *image, uint64_t address)
{
    for (size_t i = 0; i < image->count; i++) {
        const ElfW(Phdr) *load = &image->headers[i];
        if (load->p_type != PT_LOAD || address < load->p_vaddr ||
            address - load->p_vaddr >= load->p_filesz)
            continue;
        uint64_t offset = load->p_offset + (address - load->p_vaddr);
        if (inside(image, offset, 1) && memchr(image->base + offset, 0, image->size - offset))
            return image->base + offset;
    }
    return "";
}

/* Calls see for each entry of the dynamic section that has a name: its tag and the name. */
typedef void see_entry(void *arg, int64_t tag, const char *name);

static void each_entry(const struct image *image, const ElfW(Dyn) * dynamic, size_t count,
                       see_entry *see, void *arg)
{
    uint64_t strings = 0;
    for (size_t i = 0; i < count && dynamic[i].d_tag != DT_NULL; i++)
        if (dynamic[i].d_tag == DT_STRTAB)
            strings = dynamic[i].d_un.d_ptr;
    for (size_t i = 0; i < count && dynamic[i].d_tag != DT_NULL; i++)
        if (dynamic[i].d_tag == DT_NEEDED || dynamic[i].d_tag == DT_RPATH ||
            dynamic[i].d_tag == DT_RUNPATH)
            see(arg, dynamic[i].d_tag, string_at(image, strings + dynamic[i].d_un.d_val));
}

static void read_image(struct image *image, see_entry *see, void *arg)
{
    if (!open_image(image))
        return;
    for (size_t i = 0; i < image->count; i++) {
        const ElfW(Phdr) *header = &image->headers[i];
        if (header->p_type == PT_DYNAMIC && header->p_offset % sizeof(void *) == 0 &&
            inside(image, header->p_offset, header->p_filesz)) {
            each_entry(image, (const void *)(image->base + header->p_offset),
                       header->p_filesz / sizeof(ElfW(Dyn)), see, arg);
            return;
        }
    }
}

/* Reads the dynamic section of a file; of one that is no ELF file for this machine, nothing. */
static void read_file(const char *path, see_entry *see, void *arg)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        struct image image = {.size = (size_t)st.st_size};
        void *map = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            image.base = map;
            read_image(&image, see, arg);
            munmap(map, image.size);
        }
    }
    if (fd >= 0)
        close(fd);
}

struct needed {
    char *buf;
    size_t len;
    const char *folder;   /* libraries that are in it do not count; or NULL */
    bool found, standard; /* standard: it needs a library of the standard ABI */
};

static void see_library(void *arg, int64_t tag, const char *name)
{
    struct needed *needed = arg;
    char path[4352];
    needed->standard |= tag == DT_NEEDED && strncmp(name, "libmpi_abi.so", 13) == 0;
    if (tag != DT_NEEDED || needed->found || !weft_mpi_library_interface(name))
        return;
    snprintf(path, sizeof path, "%s/%s", needed->folder ? needed->folder : "", name);
    if (needed->folder && access(path, R_OK) == 0)
        return;
    snprintf(needed->buf, needed->len, "%s", name);
    needed->found = true;
}

/* A library that the program needs through another one, such as ScaLAPACK's. */
static void see_indirect(void *arg, const char *name, const char *path)
{
    (void)path;
    if (name)
        see_library(arg, DT_NEEDED, name);
}

const char *weft_other_mpi_needed(const char *path, char *buf, size_t len, bool *standard)
{
    static const struct weft_loader_options plain = {NULL, NULL, false};
    struct needed needed = {.buf = buf, .len = len};
    read_file(path, see_library, &needed);
    *standard = needed.standard;
    if (needed.found || needed.standard)
        return needed.found ? buf : NULL;
    weft_loader_list(path, &plain, see_indirect, &needed);
    *standard = needed.standard;
    return needed.found && !needed.standard ? buf : NULL;
}

const char *weft_other_mpi_missing(const char *path, const char *folder, char *buf, size_t len)
{
    struct needed needed = {.buf = buf, .len = len, .folder = folder};
    read_file(path, see_library, &needed);
    return needed.found ? buf : NULL;
}

struct paths {
    bool rpath, runpath;
};

static void see_path(void *arg, int64_t tag, const char *name)
{
    struct paths *paths = arg;
    (void)name;
    paths->rpath = paths->rpath || tag == DT_RPATH;
    paths->runpath = paths->runpath || tag == DT_RUNPATH;
}

bool weft_other_mpi_has_rpath(const char *path)
{
    struct paths paths = {false, false};
    read_file(path, see_path, &paths);
    return paths.rpath && !paths.runpath; /* a RUNPATH disables it */
}

struct preload {
    const char *folder;
    char *list;
};

static void add_preload(struct preload *preload, const char *name)
{
    char *list = NULL;
    if (asprintf(&list, "%s%s%s/%s", preload->list ? preload->list : "", preload->list ? ":" : "",
                 preload->folder, name) < 0)
        return;
    free(preload->list);
    preload->list = list;
}

static void see_preload(void *arg, int64_t tag, const char *name)
{
    struct preload *preload = arg;
    char path[4352];
    snprintf(path, sizeof path, "%s/%s", preload->folder, name);
    if (tag == DT_NEEDED && access(path, R_OK) == 0)
        add_preload(preload, name);
}

char *weft_other_mpi_preload(const char *path, const char *folder, const char *library)
{
    struct preload preload = {folder, NULL};
    read_file(path, see_preload, &preload);
    if (!preload.list)
        add_preload(&preload, library);
    return preload.list;
}

/* Writes the name of another MPI's library that the process has mapped to buf. False: none, or it
 * has mapped Weft too, or a front end, after which the loader maps Weft. Another MPI's C++
 * bindings, which may be used with a front end, are mapped before that. */
static bool has_mapped(int pid, char *buf, size_t len)
{
    char path[64], line[4352];
    bool found = false, ours = false;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        const char *slash = strrchr(line, '/'), *name = slash ? slash + 1 : "";
        bool is_front_end = strstr(line, "/weft/openmpi/") || strstr(line, "/weft/mpich/");
        bool is_bindings = strstr(name, "cxx") != NULL;
        if (!found && !is_bindings && weft_mpi_library_interface(name)) {
            snprintf(buf, len, "%s", name);
            found = true;
        }
        ours = ours || is_front_end || strncmp(name, "libmpi_abi.so", 13) == 0;
    }
    if (file)
        fclose(file);
    return found && !ours;
}

/* True if the process would join this job by MPI_Init: another launcher that it was started by,
 * such as an mpirun in a script, has not replaced the variables, and it is no loader that lists
 * libraries (ldd, or a weftrun in a script). */
static bool is_of_job(int pid, const struct job *job)
{
    static const char lists[] = "LD_TRACE_LOADED_OBJECTS=";
    char path[64], *entry = NULL, own[300];
    size_t size = 0;
    bool has_own = false, has_other = false;
    snprintf(own, sizeof own, "PMIX_NAMESPACE=%s", job->nspace);
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    FILE *file = fopen(path, "re");
    while (file && getdelim(&entry, &size, 0, file) > 0) {
        has_own |= strcmp(entry, own) == 0;
        has_other |= strncmp(entry, "PMI_FD=", 7) == 0 || strncmp(entry, "PMI_PORT=", 9) == 0 ||
                     strncmp(entry, lists, strlen(lists)) == 0;
    }
    free(entry);
    if (file)
        fclose(file);
    return has_own && !has_other;
}

/* The same for a process or one of its descendants. Returns its pid, 0: none. */
static int find_mapped(int pid, const struct job *job, int depth, char *buf, size_t len)
{
    char path[64];
    int child, found = 0;
    if (has_mapped(pid, buf, len) && is_of_job(pid, job))
        return pid;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    FILE *file = depth < MAX_DEPTH ? fopen(path, "re") : NULL;
    while (file && !found && fscanf(file, "%d", &child) == 1)
        found = find_mapped(child, job, depth + 1, buf, len);
    if (file)
        fclose(file);
    return found;
}

/* The sentence for the user. */
static void print_found(const struct job *job, const struct rank *rank, int pid,
                        const char *library)
{
    const char *interface = weft_mpi_library_interface(library);
    char remedy[200];
    if (!*interface)
        snprintf(remedy, sizeof remedy, "Weft has no library in its place; start it with %s",
                 weft_mpi_library_launcher(library));
    else if (job->abi && strcmp(job->abi, interface) == 0)
        snprintf(remedy, sizeof remedy,
                 "--abi %s works by LD_PRELOAD and LD_LIBRARY_PATH, which something before it has "
                 "taken from its environment",
                 interface);
    else
        snprintf(remedy, sizeof remedy, "write weftrun --abi %s, which uses Weft's library instead",
                 interface);
    weft_lines_print("rank %d%s (pid %d on %s, program %s) has loaded %s, another MPI than Weft, "
                     "and runs as a job of one rank%s; %s.",
                     rank->rank, job->words, pid, job->host, rank->app->argv[0], library,
                     weft_other_mpi_is_allowed(job) ? "" : ", so the job is stopped", remedy);
}

bool weft_other_mpi_is_allowed(const struct job *job)
{
    return job->abi && strcmp(job->abi, "none") == 0;
}

enum weft_other_mpi_look weft_other_mpi_look(const struct job *job, int ranks)
{
    char library[256];
    bool any = job->size > ranks;
    for (int i = 0; i < job->size && i < ranks; i++) {
        const struct rank *rank = &job->ranks[i];
        bool waits = atomic_load(&rank->phase) == PHASE_STARTED;
        int pid =
            waits && rank->running ? find_mapped(rank->pid, job, 0, library, sizeof library) : 0;
        any |= waits;
        if (pid && atomic_load(&rank->phase) == PHASE_STARTED) {
            print_found(job, rank, pid, library);
            return WEFT_OTHER_MPI_FOUND;
        }
    }
    return any ? WEFT_OTHER_MPI_NONE_YET : WEFT_OTHER_MPI_ALL_JOINED;
}
