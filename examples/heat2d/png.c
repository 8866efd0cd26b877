// SPDX-License-Identifier: BSD-3-Clause
/*
 * PNG files, written without any library; see picture.h. The pixels are wrapped for zlib but stored
 * as they are: larger files, and nothing to depend on.
 */
#include "picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STORED = 65535 }; /* bytes that a stored block of a deflate stream can hold */

struct bytes {
    unsigned char *at;
    size_t count;
};

static void put8(struct bytes *b, unsigned value)
{
    b->at[b->count++] = (unsigned char)value;
}

static void put32(struct bytes *b, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        put8(b, value >> shift & 255);
}

static uint32_t crc32_of(const unsigned char *bytes, size_t n)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static uint32_t adler32_of(const unsigned char *bytes, size_t n)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < n; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

/* Begins a chunk; its length is filled in at the end. Returns where it begins. */
static size_t begin(struct bytes *b, const char *type)
{
    size_t start = b->count;
    put32(b, 0);
    for (int i = 0; i < 4; i++)
        put8(b, (unsigned char)type[i]);
    return start;
}

static void end(struct bytes *b, size_t start)
{
    struct bytes length = {b->at + start, 0};
    uint32_t n = (uint32_t)(b->count - start - 8);
    put32(&length, n);
    put32(b, crc32_of(b->at + start + 4, n + 4));
}

/* The rows as PNG wants them: a filter byte (none) before each, high bytes first. */
static void rows(struct bytes *b, const struct picture *p)
{
    const uint16_t *value = p->values;
    for (int y = 0; y < p->height; y++) {
        put8(b, 0);
        for (int x = 0; x < p->width; x++, value++) {
            /* PNG has no maximum of its own: white is 255 or 65535. */
            unsigned white = p->max > 255 ? 65535 : 255;
            unsigned grey =
                (unsigned)((*value * (uint64_t)white + (unsigned)p->max / 2) / (unsigned)p->max);
            if (white > 255)
                put8(b, grey >> 8);
            put8(b, grey & 255);
        }
    }
}

static void stored(struct bytes *b, const struct bytes *raw)
{
    put8(b, 0x78); /* zlib, window of 32 KiB */
    put8(b, 0x01);
    size_t done = 0;
    do {
        size_t n = raw->count - done < STORED ? raw->count - done : STORED;
        put8(b, done + n == raw->count); /* the last block? */
        put8(b, n & 255);
        put8(b, n >> 8 & 255);
        put8(b, ~n & 255);
        put8(b, ~n >> 8 & 255);
        memcpy(b->at + b->count, raw->at + done, n);
        b->count += n;
        done += n;
    } while (done < raw->count);
    put32(b, adler32_of(raw->at, raw->count));
}

static void compose(struct bytes *b, const struct bytes *raw, const struct picture *p)
{
    static const unsigned char signature[8] = {137, 'P', 'N', 'G', '\r', '\n', 26, '\n'};
    memcpy(b->at, signature, sizeof signature);
    b->count = sizeof signature;
    size_t chunk = begin(b, "IHDR");
    put32(b, (uint32_t)p->width);
    put32(b, (uint32_t)p->height);
    put8(b, p->max > 255 ? 16 : 8);
    for (int i = 0; i < 4; i++)
        put8(b, 0); /* grey, the only compression, the only filters, not interlaced */
    end(b, chunk);
    chunk = begin(b, "IDAT");
    stored(b, raw);
    end(b, chunk);
    end(b, begin(b, "IEND"));
}

bool picture_write_png(const struct picture *p, const char *path, char *why, size_t len)
{
    size_t most = ((size_t)p->width * 2 + 1) * (size_t)p->height;
    struct bytes raw = {malloc(most), 0};
    struct bytes file = {malloc(most + most / STORED * 5 + 128), 0};
    bool good = false;
    FILE *f = NULL;
    errno = ENOMEM;
    if (!raw.at || !file.at)
        goto out;
    if (most > (size_t)1 << 30) {
        errno = EFBIG; /* a chunk's length has 31 bits */
        goto out;
    }
    rows(&raw, p);
    compose(&file, &raw, p);
    f = fopen(path, "wb");
    if (!f)
        goto out;
    good = fwrite(file.at, 1, file.count, f) == file.count;
    if (fclose(f) != 0)
        good = false;
out:
    if (!good)
        snprintf(why, len, "cannot write the picture %s: %s", path, strerror(errno));
    free(raw.at);
    free(file.at);
    return good;
}
