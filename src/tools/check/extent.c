// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory objects: see extent.h.
 */
#include "tools/check/extent.h"
#include "tools/check/blocks.h"

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
#include <dwarf.h>
#include <elfutils/libdwfl.h>

enum { FRAMES_MAX = 64 };

/* The modules of the process, read once. NULL: they cannot be read. */
static Dwfl *modules(void)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_linux_proc_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
    };
    static bool is_read;
    static Dwfl *dwfl;
    if (is_read)
        return dwfl;
    is_read = true;
    dwfl = dwfl_begin(&callbacks);
    if (dwfl && (dwfl_linux_proc_report(dwfl, getpid()) || dwfl_report_end(dwfl, NULL, NULL))) {
        dwfl_end(dwfl);
        dwfl = NULL;
    }
    return dwfl;
}

/* ---- Global variables */

static bool find_global(uintptr_t address, struct check_extent *extent)
{
    Dwfl_Module *module = modules() ? dwfl_addrmodule(modules(), address) : NULL;
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name =
        module ? dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL) : NULL;
    if (!name || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size)
        return false;
    extent->low = address - offset;
    extent->high = extent->low + symbol.st_size;
    snprintf(extent->name, sizeof extent->name, "%s", name);
    return true;
}

/* ---- Local variables */

/* For the variable that has an address, or for the pointers with that value in one function. */
struct search {
    uintptr_t address;
    uintptr_t site;       /* 0: the frame is that which has the address; else that of this call */
    uintptr_t code, base; /* of the frame: an instruction and the frame address */
    int line;             /* of the call */
    int frames;
    int pointers, alike; /* that have been found, and those to elements of one type */
};

static _Unwind_Reason_Code see_frame(struct _Unwind_Context *context, void *arg)
{
    struct search *search = arg;
    const uintptr_t stack = _Unwind_GetCFA(context); /* the frame address of the one before */
    if (search->code && (search->site ? search->code == search->site : stack > search->address)) {
        search->base = stack;
        return _URC_END_OF_STACK;
    }
    search->code = _Unwind_GetIP(context);
    return ++search->frames == FRAMES_MAX ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* The type without its names and qualifiers, and without the arrays around it if asked. */
static bool resolve_type(Dwarf_Die *of, bool in_arrays, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr_integrate(of, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, type) ||
        dwarf_peel_type(type, type))
        return false;
    while (in_arrays && dwarf_tag(type) == DW_TAG_array_type) {
        Dwarf_Die array = *type;
        if (!dwarf_attr_integrate(&array, DW_AT_type, &attribute) ||
            !dwarf_formref_die(&attribute, type) || dwarf_peel_type(type, type))
            return false;
    }
    return true;
}

static char kind_of(Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding;
    if (dwarf_tag(type) != DW_TAG_base_type ||
        dwarf_formudata(dwarf_attr_integrate(type, DW_AT_encoding, &attribute), &encoding))
        return 0;
    switch (encoding) {
    case DW_ATE_signed:
        return 'i';
    case DW_ATE_unsigned:
        return 'u';
    case DW_ATE_float:
        return 'f';
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
        return 'c';
    default:
        return 0;
    }
}

/* Adds a member, or the element of a variable, with the arrays around it. */
static bool add_member(Dwarf_Die *of, int64_t offset, struct check_extent *extent)
{
    Dwarf_Die outer, type;
    Dwarf_Word bytes, size;
    if (extent->n == CHECK_MEMBERS_MAX || !resolve_type(of, false, &outer) ||
        !resolve_type(of, true, &type) || dwarf_aggregate_size(&outer, &bytes) ||
        dwarf_aggregate_size(&type, &size))
        return false;
    extent->members[extent->n++] =
        (struct check_member){offset, (int64_t)bytes, kind_of(&type), (int)size, dwarf_diename(of)};
    return true;
}

static bool add_members(Dwarf_Die *structure, struct check_extent *extent)
{
    Dwarf_Die child;
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    if (dwarf_child(structure, &child))
        return false;
    do {
        if (dwarf_tag(&child) != DW_TAG_member && dwarf_tag(&child) != DW_TAG_inheritance)
            continue;
        if (dwarf_formudata(dwarf_attr(&child, DW_AT_data_member_location, &attribute), &offset) ||
            !add_member(&child, (int64_t)offset, extent))
            return false; /* of bits, for example */
    } while (dwarf_siblingof(&child, &child) == 0);
    return true;
}

/* The elements of a variable, without the arrays around them, or of what a pointer points at. */
static void read_elements(Dwarf_Die *of, struct check_extent *extent)
{
    Dwarf_Die type;
    Dwarf_Word size;
    extent->n = 0;
    extent->stride = 0;
    if (!resolve_type(of, true, &type) || dwarf_aggregate_size(&type, &size) || size == 0)
        return;
    if (dwarf_tag(&type) == DW_TAG_structure_type ? !add_members(&type, extent)
                                                  : !add_member(of, 0, extent))
        return;
    extent->stride = (int64_t)size;
}

/* The address of a variable that stays in the frame. */
static bool find_address(Dwarf_Die *variable, const struct search *search, uintptr_t *at)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *location;
    size_t n;
    if (!dwarf_attr_integrate(variable, DW_AT_location, &attribute) ||
        dwarf_getlocation(&attribute, &location, &n) || n != 1 || location->atom != DW_OP_fbreg)
        return false;
    *at = search->base + location->number;
    return true;
}

static void copy_name(Dwarf_Die *variable, struct check_extent *extent)
{
    const char *name = dwarf_diename(variable);
    snprintf(extent->name, sizeof extent->name, "%s", name ? name : "a variable");
}

/* True if the variable has the address. */
static bool has_address(Dwarf_Die *variable, const struct search *search,
                        struct check_extent *extent)
{
    Dwarf_Die type;
    Dwarf_Word size;
    if (!find_address(variable, search, &extent->low) || !resolve_type(variable, false, &type) ||
        dwarf_aggregate_size(&type, &size))
        return false;
    extent->high = extent->low + size;
    if (search->address < extent->low || search->address >= extent->high)
        return false;
    copy_name(variable, extent);
    read_elements(variable, extent);
    return true;
}

static bool is_alike(const struct check_extent *a, const struct check_extent *b)
{
    bool alike = a->n == b->n && a->stride == b->stride;
    for (int i = 0; i < a->n && alike; i++)
        alike =
            a->members[i].kind == b->members[i].kind && a->members[i].size == b->members[i].size;
    return alike;
}

/* A variable that is declared later has no value yet. */
static bool is_later(Dwarf_Die *variable, const struct search *search)
{
    int line;
    return dwarf_decl_line(variable, &line) == 0 && search->line && line > search->line;
}

/* Counts the variable if it is a pointer with the value. */
static void count_pointer(Dwarf_Die *variable, struct search *search, struct check_extent *extent)
{
    const struct check_extent before = *extent;
    Dwarf_Die type;
    uintptr_t at, value;
    if (!find_address(variable, search, &at) || !resolve_type(variable, false, &type) ||
        dwarf_tag(&type) != DW_TAG_pointer_type || is_later(variable, search))
        return;
    memcpy(&value, (const void *)at, sizeof value);
    if (value != search->address)
        return;
    copy_name(variable, extent);
    read_elements(&type, extent);
    search->alike += extent->stride && (search->pointers == 0 || is_alike(extent, &before));
    search->pointers++;
}

static bool find_in_scope(Dwarf_Die *scope, struct search *search, struct check_extent *extent)
{
    Dwarf_Die child;
    if (dwarf_child(scope, &child))
        return false;
    do {
        if (dwarf_tag(&child) != DW_TAG_variable && dwarf_tag(&child) != DW_TAG_formal_parameter)
            continue;
        if (search->site)
            count_pointer(&child, search, extent);
        else if (has_address(&child, search, extent))
            return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* True if offsets of variables count from the frame address. */
static bool has_frame_base(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *location;
    size_t n;
    return dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) &&
           dwarf_getlocation(&attribute, &location, &n) == 0 && n == 1 &&
           location->atom == DW_OP_call_frame_cfa;
}

static bool is_c(Dwarf_Die *unit)
{
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
        return true;
    default:
        return false;
    }
}

/* Looks at the variables of a frame. */
static bool find_in_frame(struct search *search, struct check_extent *extent)
{
    Dwarf_Addr bias;
    Dwarf_Die *scopes = NULL, *unit = NULL;
    _Unwind_Backtrace(see_frame, search);
    const uintptr_t code = search->code - 1; /* inside the call */
    Dwfl_Module *module = search->base && modules() ? dwfl_addrmodule(modules(), code) : NULL;
    if (module)
        unit = dwfl_module_addrdie(module, code, &bias);
    if (!unit || !is_c(unit))
        return false;
    Dwfl_Line *line = dwfl_module_getsrc(module, code);
    if (line)
        dwfl_lineinfo(line, NULL, &search->line, NULL, NULL, NULL);
    const int n = dwarf_getscopes(unit, code - bias, &scopes);
    int function = 0;
    while (function < n && dwarf_tag(&scopes[function]) != DW_TAG_subprogram)
        function++;
    bool is_found = false;
    if (function < n && has_frame_base(&scopes[function]))
        for (int i = 0; i <= function && !is_found; i++)
            is_found = find_in_scope(&scopes[i], search, extent);
    if (n > 0)
        free(scopes);
    return is_found;
}

static bool find_local(uintptr_t address, struct check_extent *extent)
{
    struct search search = {.address = address};
    return find_in_frame(&search, extent);
}

static bool find_pointers(uintptr_t site, uintptr_t address, struct check_extent *extent)
{
    struct search search = {.address = address, .site = site};
    if (check_block_was_freed(address)) /* pointers to the one before may be left */
        return false;
    find_in_frame(&search, extent);
    return search.alike > 0 && search.alike == search.pointers;
}
#else
static bool find_global(uintptr_t address, struct check_extent *extent)
{
    (void)address, (void)extent;
    return false;
}

static bool find_local(uintptr_t address, struct check_extent *extent)
{
    (void)address, (void)extent;
    return false;
}

static bool find_pointers(uintptr_t site, uintptr_t address, struct check_extent *extent)
{
    (void)site, (void)address, (void)extent;
    return false;
}
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the debug information */

bool check_extent_find(uintptr_t address, struct check_extent *extent)
{
    char here;
    *extent = (struct check_extent){.low = 0};
    if (check_block_find(address, &extent->low, &extent->high))
        return true;
    pthread_mutex_lock(&lock);
    const uintptr_t distance = address - (uintptr_t)&here;
    const bool is_found =
        distance < (uintptr_t)64 << 20 ? find_local(address, extent) : find_global(address, extent);
    pthread_mutex_unlock(&lock);
    return is_found;
}

bool check_extent_find_pointers(const void *site, uintptr_t address, struct check_extent *extent)
{
    *extent = (struct check_extent){.low = address};
    pthread_mutex_lock(&lock);
    const bool is_found = find_pointers((uintptr_t)site, address, extent);
    pthread_mutex_unlock(&lock);
    return is_found;
}
