// SPDX-License-Identifier: BSD-3-Clause
/*
 * The data of a rank in a domain, as blocks of equal runs, and their sum, from which the owner of
 * the domain decides whether each byte of a range was given exactly once.
 *
 * Invariant: the hash of bytes is the sum of R^i over the offsets i of all of them, modulo the
 * prime 2^61 - 1, for a random R. The polynomials of two sets of bytes are equal exactly if each
 * byte is as often in one as in the other; different polynomials of a degree of at most 2^23 have
 * equal values for less than one R in 2^37. Sums of offsets or of their squares can be equal for
 * runs that overlap and leave holes, such as two times the bytes 0, 3, 5 and 6 of 8.
 *
 * The hash is kept times R - 1: the run [a, b) adds R^b - R^a. For a block this is a geometric
 * series, so a regular view costs nothing for each run.
 */
#include "core/file/two_phase_internal.h"
#include "core/base/assert.h"

static const uint64_t prime = (UINT64_C(1) << 61) - 1, base = UINT64_C(0x0a3b1c96e85d47f1);

static uint64_t times(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    uint64_t sum = (uint64_t)(product & prime) + (uint64_t)(product >> 61);
    return sum >= prime ? sum - prime : sum;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a + b >= prime ? a + b - prime : a + b;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a >= b ? a - b : a + prime - b;
}

enum { BITS = 10, LOW = 1 << BITS, HIGH = (WEFT_FILE_DOMAIN_MOST >> BITS) + 1 };
static uint64_t small_powers[LOW], large_powers[HIGH];

void weft_file_make_powers(void)
{
    if (small_powers[0])
        return;
    small_powers[0] = large_powers[0] = 1;
    for (int i = 1; i < LOW; i++)
        small_powers[i] = times(small_powers[i - 1], base);
    for (int i = 1; i < HIGH; i++)
        large_powers[i] = times(large_powers[i - 1], times(small_powers[LOW - 1], base));
}

/* R^n */
static uint64_t power(uint64_t n)
{
    weft_assert(small_powers[0] && n <= WEFT_FILE_DOMAIN_MOST);
    return times(small_powers[n % LOW], large_powers[n >> BITS]);
}

/* 1 + q + q^2 + ... of n terms. */
static uint64_t series(uint64_t q, uint64_t n)
{
    uint64_t sum = 0, power_of_q = 1;
    for (int bit = 63 - __builtin_clzll(n | 1); bit >= 0; bit--) {
        sum = times(sum, plus(power_of_q, 1));
        power_of_q = times(power_of_q, power_of_q);
        if (n >> bit & 1) {
            sum = plus(times(sum, q), 1);
            power_of_q = times(power_of_q, q);
        }
    }
    return sum;
}

void weft_file_add_block(struct weft_file_sums *sums, struct weft_file_block block)
{
    int64_t end = block.at + block.stride * (int64_t)(block.count - 1) + (int64_t)block.bytes;
    uint64_t hash = times(power((uint64_t)block.at), minus(power(block.bytes), 1));
    weft_assert(block.count > 0 && block.at >= 0 && end <= WEFT_FILE_DOMAIN_MOST);
    if (block.count > 1)
        hash = times(hash, series(power((uint64_t)block.stride), block.count));
    sums->hash = plus(sums->hash, hash);
    sums->bytes += block.bytes * block.count;
    sums->first = !sums->runs || block.at < sums->first ? block.at : sums->first;
    sums->end = end > sums->end ? end : sums->end;
    sums->runs += block.count;
}

static bool is_block(const struct weft_file_block *block, uint64_t domain)
{
    uint64_t at = (uint64_t)block->at, stride = (uint64_t)block->stride;
    if (at > domain || stride > domain || !block->bytes || block->bytes > domain || !block->count ||
        block->count > domain)
        return false;
    return at + stride * (block->count - 1) + block->bytes <= domain;
}

bool weft_file_check_blocks(const struct weft_file_block *blocks, size_t n, uint64_t domain,
                            uint64_t *bytes)
{
    weft_assert(domain <= WEFT_FILE_DOMAIN_MOST); /* so that products are below 2^47 */
    *bytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_block(&blocks[i], domain) || blocks[i].bytes * blocks[i].count > domain - *bytes)
            return false;
        *bytes += blocks[i].bytes * blocks[i].count;
    }
    return true;
}

uint64_t weft_file_add_hash(uint64_t a, uint64_t b)
{
    return plus(a % prime, b % prime);
}

/* ---- Listing */

void weft_file_begin_blocks(struct weft_file_blocks *blocks, const struct weft_file_access *access,
                            struct weft_file_round round, int index, struct weft_file_positions p)
{
    const struct weft_file_view *view = &access->file->view;
    blocks->view = view;
    blocks->base = view->disp - weft_file_domain_begin(access, round, index);
    blocks->left = p;
    blocks->listed = blocks->used = 0;
}

/* The block at the first position of an array of runs, or of loops over runs. */
static struct weft_file_block regular_block(struct weft_file_blocks *blocks,
                                            const struct weft_layout *layout)
{
    const struct weft_layout *run = layout;
    size_t at = blocks->left.from, n = blocks->left.to - at;
    MPI_Aint stride = blocks->view->filetype->extent;
    struct weft_file_block block = {.at = blocks->base, .count = 1};
    if (layout->kind == WEFT_LAYOUT_LOOP) {
        size_t loop = at / layout->size;
        at -= loop * layout->size;
        n = layout->size - at < n ? layout->size - at : n;
        block.at += (int64_t)loop * stride + layout->offset;
        stride = layout->stride;
        run = layout->body;
    }
    size_t pass = at / run->size, inside = at % run->size;
    block.at += (int64_t)pass * stride + run->offset + (int64_t)inside;
    block.bytes = run->size - inside < n ? run->size - inside : n;
    if (block.bytes == run->size && stride == (MPI_Aint)run->size)
        block.bytes = n / run->size * run->size; /* adjacent elements */
    else if (block.bytes == run->size)
        block.count = n / run->size;
    block.stride = block.count > 1 ? stride : 0;
    blocks->left.from += block.bytes * block.count;
    return block;
}

/* The next run, which is listed again until it is used. */
static const struct weft_run *next_run(struct weft_file_blocks *blocks)
{
    const struct weft_datatype *type = blocks->view->filetype;
    if (blocks->used == blocks->listed) {
        blocks->used = 0;
        blocks->listed = 0;
        if (blocks->left.from < blocks->left.to)
            blocks->listed =
                weft_layout_list_runs(type->layout, type->extent, blocks->base, blocks->left.from,
                                      blocks->left.to, blocks->runs, WEFT_FILE_RUNS);
        for (size_t i = 0; i < blocks->listed; i++)
            blocks->left.from += blocks->runs[i].bytes;
    }
    return blocks->used < blocks->listed ? &blocks->runs[blocks->used] : NULL;
}

bool weft_file_next_block(struct weft_file_blocks *blocks, struct weft_file_block *block)
{
    const struct weft_layout *layout = blocks->view->filetype->layout;
    const struct weft_run *run;
    if (!layout)
        return false;
    if (layout->kind == WEFT_LAYOUT_RUN ||
        (layout->kind == WEFT_LAYOUT_LOOP && layout->body->kind == WEFT_LAYOUT_RUN)) {
        if (blocks->left.from >= blocks->left.to)
            return false;
        *block = regular_block(blocks, layout);
        return true;
    }
    if (!(run = next_run(blocks)))
        return false;
    *block = (struct weft_file_block){.at = run->at, .bytes = run->bytes, .count = 1};
    for (blocks->used++; (run = next_run(blocks)) && run->bytes == block->bytes; blocks->used++) {
        if (block->count == 1)
            block->stride = run->at - block->at;
        if (run->at != block->at + block->stride * (int64_t)block->count)
            break;
        block->count++;
    }
    return true;
}
