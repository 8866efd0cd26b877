// SPDX-License-Identifier: BSD-3-Clause
/*
 * See strided_hand.h.
 */
#include "strided_hand.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* As many slots as leave the reader's own cache before the first one's turn comes again. */
enum { PIECE = 32 << 10, SLOTS = 32, TAG = 2, ALONE = 16 << 10 };

/* Of what is fetched ahead, in bytes. */
enum { AHEAD = 2048, BURST = 512, LINE = 64 };

struct strided_hand {
    _Alignas(128) _Atomic size_t laid;  /* pieces, since the beginning */
    _Alignas(128) _Atomic size_t taken; /* by the reader */
    _Alignas(4096) char slots[SLOTS][PIECE];
};

struct strided_hand *strided_hand_open(int rank)
{
    int card[2] = {(int)getpid(), -1}, good, all = 0;
    char path[64];
    if (rank == 0)
        card[1] = memfd_create("strided", MFD_CLOEXEC);
    good = rank != 0 || (card[1] >= 0 && !ftruncate(card[1], sizeof(struct strided_hand)));
    MPI_Bcast(card, 2, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", card[0], card[1]);
    int fd = good && card[1] >= 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *memory = MAP_FAILED;
    if (fd >= 0 && lseek(fd, 0, SEEK_END) == (off_t)sizeof(struct strided_hand))
        memory = mmap(NULL, sizeof(struct strided_hand), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    good = memory != MAP_FAILED;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all ? memory : NULL;
}

/* Runs of a length that the compiler knows where it is 8 or 16. The processor is told a little
 * ahead which lines with holes it will need: these are the ones that are not together. */
static inline void copy_runs(char *to, size_t to_step, const char *from, size_t from_step,
                             size_t run, size_t count)
{
    const char *holes = to_step > from_step ? to : from;
    size_t step = to_step > from_step ? to_step : from_step;
    for (size_t i = 0, n; i < count; i += n) {
        n = count - i < BURST / step + 1 ? count - i : BURST / step + 1;
        for (size_t k = 0; k < n * step && run < LINE; k += LINE)
            __builtin_prefetch(holes + i * step + AHEAD + k);
        if (run == 8)
            for (size_t k = i; k < i + n; k++)
                memcpy(to + k * to_step, from + k * from_step, 8);
        else if (run == 16)
            for (size_t k = i; k < i + n; k++)
                memcpy(to + k * to_step, from + k * from_step, 16);
        else
            for (size_t k = i; k < i + n; k++)
                memcpy(to + k * to_step, from + k * from_step, run);
    }
}

static void pack(char *to, const struct strided_side *side, size_t offset, size_t bytes)
{
    if (side->holes)
        copy_runs(to, side->run, side->data + 2 * offset, 2 * side->run, side->run,
                  bytes / side->run);
    else
        memcpy(to, side->data + offset, bytes);
}

static void unpack(const struct strided_side *side, size_t offset, const char *from, size_t bytes)
{
    if (side->holes)
        copy_runs(side->data + 2 * offset, 2 * side->run, from, side->run, side->run,
                  bytes / side->run);
    else
        memcpy(side->data + offset, from, bytes);
}

/* Packs to memory past the caches, by parts that stay in the nearest one. */
static void pack_past(char *to, const struct strided_side *side, size_t offset, size_t bytes)
{
#if defined(__SSE2__)
    _Alignas(16) char part[STRIDED_HAND_RUN];
    size_t most = sizeof part - sizeof part % side->run;
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < most ? bytes - done : most;
        pack(part, side, offset + done, n);
        size_t i = 0;
        for (; (uintptr_t)(to + done) % 16 == 0 && i + 16 <= n; i += 16)
            _mm_stream_si128((__m128i *)(void *)(to + done + i),
                             _mm_load_si128((const __m128i *)(const void *)(part + i)));
        memcpy(to + done + i, part + i, n - i);
    }
    _mm_sfence();
#else
    pack(to, side, offset, bytes);
#endif
}

void strided_hand_move(struct strided_hand *hand, int rank, const struct strided_side *side,
                       bool past)
{
    size_t whole = PIECE - PIECE % side->run;
    _Atomic size_t *mine = rank == 0 ? &hand->laid : &hand->taken;
    size_t n = atomic_load(mine), room = rank == 0 ? SLOTS : 0;
    const _Atomic size_t *other = rank == 0 ? &hand->taken : &hand->laid;
    for (size_t at = 0, bytes; at < side->bytes; at += bytes, n++) {
        bytes = side->bytes - at < whole ? side->bytes - at : whole;
        while (atomic_load_explicit(other, memory_order_acquire) + room <= n) {
        }
        char *slot = hand->slots[n % SLOTS];
        if (rank == 1)
            unpack(side, at, slot, bytes);
        else if (past)
            pack_past(slot, side, at, bytes);
        else
            pack(slot, side, at, bytes);
        atomic_store_explicit(mine, n + 1, memory_order_release);
    }
}

void strided_hand_alone(const struct strided_side *side, bool scatter)
{
    static char near[ALONE];
    size_t whole = sizeof near - sizeof near % side->run;
    for (size_t at = 0, bytes; at < side->bytes; at += bytes) {
        bytes = side->bytes - at < whole ? side->bytes - at : whole;
        if (scatter)
            unpack(side, at, near, bytes);
        else
            pack(near, side, at, bytes);
        __asm__ volatile("" : : : "memory");
    }
}
