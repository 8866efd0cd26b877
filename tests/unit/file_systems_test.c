// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of file systems, and the stripes of Lustre: this program's fgetxattr, fsetxattr and
 * fstatfs take the place of the C library's.
 */
#include "core/file/systems.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

static char *attribute; /* of the file; memory of its length, so that a sanitizer sees each byte */
static size_t attribute_bytes;
static uint32_t type;

ssize_t fgetxattr(int fd, const char *name, void *value, size_t bytes)
{
    assert_int_equal(fd, 5);
    assert_string_equal(name, "lustre.lov");
    if (!attribute || (bytes && bytes < attribute_bytes)) {
        errno = attribute ? ERANGE : ENODATA;
        return -1;
    }
    if (bytes)
        memcpy(value, attribute, attribute_bytes);
    return (ssize_t)attribute_bytes;
}

int fsetxattr(int fd, const char *name, const void *value, size_t bytes, int flags)
{
    assert_int_equal(fd, 5);
    assert_string_equal(name, "lustre.lov");
    assert_int_equal(flags, 0);
    free(attribute);
    attribute = malloc(bytes);
    assert_non_null(attribute);
    memcpy(attribute, value, bytes);
    attribute_bytes = bytes;
    return 0;
}

int fstatfs(int fd, struct statfs *of)
{
    assert_int_equal(fd, 5);
    if (!type) {
        errno = ENOSYS;
        return -1;
    }
    memset(of, 0, sizeof *of);
    of->f_type = (__typeof__(of->f_type))type;
    return 0;
}

static const struct weft_file_system *row(uint32_t of_type)
{
    type = of_type;
    return weft_file_find_system(5);
}

static void rows_by_type(void **state)
{
    (void)state;
    assert_string_equal(row(0x01021994)->name, "tmpfs");
    assert_string_equal(row(0xef53)->name, "disk");
    assert_string_equal(row(0x9123683e)->name, "disk"); /* Btrfs: the sign bit of 32 bits is set */
    assert_string_equal(row(0x6969)->name, "nfs");
    assert_string_equal(row(0x0bd00bd0)->name, "lustre");
    assert_string_equal(row(0x47504653)->name, "parallel");
    assert_string_equal(row(0x12345678)->name, "other");
    assert_string_equal(row(0)->name, "other");
    assert_true(row(0x6969)->caches);
    assert_false(row(0xef53)->network);
    assert_true(row(0x12345678)->network);
}

static void rows_by_prefix(void **state)
{
    const char *name = "nfs:/a:b", *other = "/nfs:a";
    (void)state;
    assert_string_equal(weft_file_skip_prefix(&name)->name, "nfs");
    assert_string_equal(name, "/a:b");
    assert_null(weft_file_skip_prefix(&other));
    assert_string_equal(other, "/nfs:a");
}

/* Little endian, as the kernel of the supported machines gives it. */
static void put(size_t at, uint64_t value, size_t bytes)
{
    assert_true(at + bytes <= attribute_bytes);
    memcpy(attribute + at, &value, bytes);
}

static void make_attribute(size_t bytes)
{
    free(attribute);
    attribute = calloc(1, bytes);
    assert_non_null(attribute);
    attribute_bytes = bytes;
}

static void put_layout(size_t at, uint32_t magic, uint32_t unit, uint16_t count)
{
    put(at, magic, 4);
    put(at + 4, 1, 4);
    put(at + 24, unit, 4);
    put(at + 28, count, 2);
}

static void expect(int64_t unit, int64_t count)
{
    struct weft_file_stripes stripes = weft_file_get_stripes(row(0x0bd00bd0), 5);
    assert_int_equal(stripes.unit, unit);
    assert_int_equal(stripes.count, count);
}

static void stripes_of_lustre(void **state)
{
    (void)state;
    expect(0, 0); /* no attribute */
    for (size_t bytes = 1; bytes < 32; bytes++) {
        make_attribute(bytes);
        put(0, 0x0bd10bd0, bytes < 4 ? bytes : 4);
        expect(0, 0);
    }
    make_attribute(32 + 24 * 4); /* objects behind */
    put_layout(0, 0x0bd10bd0, 1 << 20, 4);
    expect(1 << 20, 4);
    make_attribute(48 + 24 * 2000); /* of version 3, with the name of a pool; long */
    put_layout(0, 0x0bd30bd0, 4 << 20, 2000);
    expect(4 << 20, 2000);
    put_layout(0, 0x0bd30bd0, 4 << 20, 0xffff); /* all servers: not known yet */
    expect(0, 0);
    put_layout(0, 0x0bd40bd0, 4 << 20, 2); /* unknown */
    expect(0, 0);
}

/* A progressive layout: one stripe at first, then eight. */
static void stripes_of_components(void **state)
{
    (void)state;
    make_attribute(32 + 2 * 48 + 2 * 32);
    put(0, 0x0bd60bd0, 4);
    put(14, 2, 2);
    put(32 + 24, 128, 4);
    put(80 + 24, 160, 4);
    put_layout(128, 0x0bd10bd0, 1 << 20, 1);
    put_layout(160, 0x0bd10bd0, 2 << 20, 8);
    expect(2 << 20, 8);
    put(80 + 24, 161, 4); /* one byte is outside */
    expect(1 << 20, 1);
    put(80 + 24, UINT32_MAX, 4);
    expect(1 << 20, 1);
    put(14, 0xffff, 2); /* more entries than bytes */
    expect(1 << 20, 1);
}

static void stripes_are_set(void **state)
{
    uint16_t first;
    (void)state;
    weft_file_set_stripes(5, (struct weft_file_stripes){2 << 20, 3});
    assert_int_equal(attribute_bytes, 32);
    expect(2 << 20, 3);
    memcpy(&first, attribute + 30, sizeof first);
    assert_int_equal(first, UINT16_MAX);
    weft_file_set_stripes(5, (struct weft_file_stripes){(int64_t)1 << 40, 1 << 20});
    expect(0, 0); /* the defaults of the folder */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_by_type),      cmocka_unit_test(rows_by_prefix),
        cmocka_unit_test(stripes_of_lustre), cmocka_unit_test(stripes_of_components),
        cmocka_unit_test(stripes_are_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
