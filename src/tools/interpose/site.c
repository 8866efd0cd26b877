// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sites: see site.h.
 */
#include "tools/interpose/site.h"
#include "core/base/hash.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef HAVE_LIBDW
#include <elfutils/libdwfl.h>
#endif

enum { MODULES_MAX = 512, FRAMES_MAX = 32, PROGRAMS_MAX = 16, FOREIGN_MAX = 256 };

/* The program and its libraries; an address outside of them was loaded later. */
static struct {
    int n;
    struct module {
        uintptr_t begin, end, base;
        uint32_t name; /* a hash of the file's name without its directory */
        bool is_mpi;
    } at[MODULES_MAX];
} modules;

struct weft_site_range weft_site_program_range;

/* Programs of other ranks, and sites in them. */
static struct {
    int n, n_sites;
    struct program {
        uint32_t name;
        char path[256];
    } at[PROGRAMS_MAX];
    struct foreign {
        const struct program *program;
        uint64_t offset;
    } sites[FOREIGN_MAX];
} programs;

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_mpi_library(const char *file)
{
    return strncmp(file, "libmpi", 6) == 0 || strncmp(file, "libweft_", 8) == 0;
}

void weft_site_program(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    path[n < 0 ? 0 : n] = 0;
}

void weft_site_add_program(const char *path)
{
    const uint32_t name = (uint32_t)weft_hash_text(file_of(path));
    for (int i = 0; i < programs.n; i++)
        if (programs.at[i].name == name)
            return;
    if (programs.n == PROGRAMS_MAX)
        return;
    struct program *program = &programs.at[programs.n++];
    program->name = name;
    snprintf(program->path, sizeof program->path, "%s", path);
}

static int read_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size, (void)arg;
    if (modules.n == MODULES_MAX)
        return 1;
    struct module *module = &modules.at[modules.n++];
    char program[256];
    weft_site_program(program, sizeof program);
    const char *file = file_of(info->dlpi_name[0] ? info->dlpi_name : program);
    *module = (struct module){UINTPTR_MAX, 0, info->dlpi_addr, (uint32_t)weft_hash_text(file),
                              is_mpi_library(file)};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t first = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD)
            continue;
        module->begin = first < module->begin ? first : module->begin;
        if (first + header->p_memsz > module->end)
            module->end = first + header->p_memsz;
    }
    return 0;
}

void weft_site_read_modules(void)
{
    modules.n = 0;
    dl_iterate_phdr(read_module, NULL);
    if (modules.n && !modules.at[0].is_mpi) /* the first one is the program */
        weft_site_program_range = (struct weft_site_range){modules.at[0].begin, modules.at[0].end};
}

static const struct module *module_of(uintptr_t address)
{
    for (int i = 0; i < modules.n; i++)
        if (address >= modules.at[i].begin && address < modules.at[i].end)
            return &modules.at[i];
    return NULL;
}

static bool in_library(uintptr_t address)
{
    const struct module *module = module_of(address);
    return module && module->is_mpi;
}

struct weft_portable_site weft_site_pack(const void *address)
{
    const struct module *module = module_of((uintptr_t)address);
    if (!module)
        return (struct weft_portable_site){0};
    return (struct weft_portable_site){(uintptr_t)address - module->base, module->name};
}

static const void *foreign_site(const struct program *program, uint64_t offset)
{
    int i = 0;
    while (i < programs.n_sites &&
           (programs.sites[i].program != program || programs.sites[i].offset != offset))
        i++;
    if (i == FOREIGN_MAX)
        return NULL;
    programs.sites[i] = (struct foreign){program, offset};
    programs.n_sites = i == programs.n_sites ? i + 1 : programs.n_sites;
    return &programs.sites[i];
}

const void *weft_site_unpack(struct weft_portable_site site)
{
    for (int i = 0; i < modules.n; i++)
        if (site.offset && modules.at[i].name == site.module)
            return (const void *)(modules.at[i].base + site.offset);
    for (int i = 0; i < programs.n; i++)
        if (site.offset && programs.at[i].name == site.module)
            return foreign_site(&programs.at[i], site.offset);
    return NULL;
}

/* ---- Unwinding */

struct walk {
    uintptr_t found;
    uintptr_t stack; /* the stack pointer of that frame at the call */
    int frames;
};

static _Unwind_Reason_Code see_frame(struct _Unwind_Context *context, void *arg)
{
    struct walk *walk = arg;
    uintptr_t address = _Unwind_GetIP(context);
    if (address && !in_library(address))
        walk->found = address;
    walk->stack = _Unwind_GetCFA(context);
    return walk->found || ++walk->frames == FRAMES_MAX ? _URC_END_OF_STACK : _URC_NO_REASON;
}

const void *weft_site_in_library(const void *returns)
{
    struct walk walk = {0};
    if (!in_library((uintptr_t)returns))
        return returns;
    _Unwind_Backtrace(see_frame, &walk);
    return walk.found ? (const void *)walk.found : returns;
}

const void *weft_site_unwind(const void *returns, const void *frame, int32_t *offset)
{
    struct walk walk = {0};
    uintptr_t stored;
    *offset = 0;
    _Unwind_Backtrace(see_frame, &walk);
    if (!walk.found)
        return returns;
    /* The call pushed the return address below the caller's stack pointer, on x86-64. */
    const char *at = (const char *)(walk.stack - sizeof stored);
    if (walk.stack > (uintptr_t)frame && walk.stack - (uintptr_t)frame < INT32_MAX) {
        memcpy(&stored, at, sizeof stored);
        if (stored == walk.found)
            *offset = (int32_t)(at - (const char *)frame);
    }
    return (const void *)walk.found;
}

struct live {
    uintptr_t frame;
    uintptr_t code, stack; /* of the frame before */
    bool found, passed;
};

static _Unwind_Reason_Code compare_frame(struct _Unwind_Context *context, void *arg)
{
    struct live *live = arg;
    uintptr_t stack = _Unwind_GetCFA(context);
    live->found = live->frame >= live->stack && live->frame < stack && in_library(live->code);
    live->code = _Unwind_GetIP(context);
    live->stack = stack;
    live->passed = stack > live->frame;
    return live->passed ? _URC_END_OF_STACK : _URC_NO_REASON;
}

bool weft_site_is_in_call(const void *frame)
{
    struct live live = {.frame = (uintptr_t)frame, .stack = UINTPTR_MAX};
    _Unwind_Backtrace(compare_frame, &live);
    return live.found || !live.passed;
}

/* ---- Lookup */

/* The readable form of a C++ name, if the program has the library for it. */
static void set_function(struct weft_site *site, const char *name)
{
    char *(*demangle)(const char *name, char *space, size_t *length, int *status) = NULL;
    char *text = NULL;
    int status = -1;
    void *symbol =
        name && strncmp(name, "_Z", 2) == 0 ? dlsym(RTLD_DEFAULT, "__cxa_demangle") : NULL;
    memcpy(&demangle, &symbol, sizeof demangle);
    if (demangle)
        text = demangle(name, NULL, NULL, &status);
    snprintf(site->function, sizeof site->function, "%s",
             text && status == 0 ? text
             : name              ? name
                                 : "");
    free(text);
}

#ifdef HAVE_LIBDW
static void print_line(Dwfl_Module *module, Dwarf_Addr at, struct weft_site *site)
{
    Dwfl_Line *line = module ? dwfl_module_getsrc(module, at) : NULL;
    const char *function = module ? dwfl_module_addrname(module, at) : NULL;
    const char *file = line ? dwfl_lineinfo(line, NULL, &site->line, NULL, NULL, NULL) : NULL;
    set_function(site, function);
    snprintf(site->file, sizeof site->file, "%s", file ? file : "");
}

static void look_up_line(const void *address, struct weft_site *site)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_linux_proc_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
    };
    Dwfl *dwfl = dwfl_begin(&callbacks);
    Dwarf_Addr at = (uintptr_t)address - 1; /* inside the call, not behind it */
    if (!dwfl)
        return;
    if (dwfl_linux_proc_report(dwfl, getpid()) == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0)
        print_line(dwfl_addrmodule(dwfl, at), at, site);
    dwfl_end(dwfl);
}
/* The same in a file. */
static void look_up_foreign(const struct foreign *foreign, struct weft_site *site)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    const char *path = foreign->program->path;
    Dwfl *dwfl = dwfl_begin(&callbacks);
    GElf_Addr bias = 0;
    if (!dwfl)
        return;
    Dwfl_Module *module = dwfl_report_offline(dwfl, path, path, -1);
    if (module && dwfl_report_end(dwfl, NULL, NULL) == 0 && dwfl_module_getelf(module, &bias))
        print_line(module, foreign->offset + bias - 1, site);
    dwfl_end(dwfl);
}
#else
static void look_up_foreign(const struct foreign *foreign, struct weft_site *site)
{
    (void)foreign, (void)site;
}

static void look_up_line(const void *address, struct weft_site *site)
{
    (void)address, (void)site;
}
#endif

static void look_up(const void *address, struct weft_site *site)
{
    Dl_info info;
    *site = (struct weft_site){0};
    if (!address)
        return;
    const struct foreign *foreign = address;
    if (foreign >= programs.sites && foreign < programs.sites + FOREIGN_MAX) {
        look_up_foreign(foreign, site);
        if (!site->file[0])
            snprintf(site->file, sizeof site->file, "%.200s+0x%zx", file_of(foreign->program->path),
                     (size_t)foreign->offset - 1);
        return;
    }
    look_up_line(address, site);
    if (site->file[0] || !dladdr(address, &info) || !info.dli_fname)
        return;
    snprintf(site->file, sizeof site->file, "%s+0x%zx", file_of(info.dli_fname),
             (size_t)((uintptr_t)address - 1 - (uintptr_t)info.dli_fbase));
    if (!site->function[0])
        set_function(site, info.dli_sname);
}

/* A mistake in a loop is reported each time: the lines found last are kept. */
void weft_site_lookup(const void *address, struct weft_site *site)
{
    enum { KEPT = 256 };
    static struct {
        const void *address;
        struct weft_site site;
    } kept[KEPT];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct foreign *foreign = address;
    if (foreign >= programs.sites && foreign < programs.sites + FOREIGN_MAX) {
        look_up(address, site);
        return;
    }
    const size_t at = ((uintptr_t)address ^ (uintptr_t)address >> 8) % KEPT;
    pthread_mutex_lock(&lock);
    if (!address || kept[at].address != address) {
        look_up(address, &kept[at].site);
        kept[at].address = address;
    }
    *site = kept[at].site;
    pthread_mutex_unlock(&lock);
}
