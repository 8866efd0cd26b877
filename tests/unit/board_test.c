// SPDX-License-Identifier: BSD-3-Clause
/*
 * Agreements by words in shared memory: members that store and read in random order, of which some
 * die at any step, or count as dead though they go on. All that end a call have the same result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/comm/board.h"

#include <string.h>

enum { MEMBERS = 5, CALLS = 6, JOBS = 100000, STEPS = 400 };
enum result { OPEN, DECIDED, BY_MESSAGES };

struct member {
    bool dies[MEMBERS]; /* it counts these as dead */
    bool runs, stored;
    uint32_t number;
    int read, flag;
};

static struct {
    uint64_t random;
    int n;
    _Atomic uint64_t words[MEMBERS][2];
    struct member members[MEMBERS];
    enum result results[CALLS + 1];
    int flags[CALLS + 1];
} job;

static unsigned any(unsigned below)
{
    job.random = job.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(job.random >> 33) % below;
}

static bool knows_a_death(const struct member *member)
{
    for (int i = 0; i < job.n; i++)
        if (member->dies[i])
            return true;
    return false;
}

static int flag_of(int member, uint32_t number)
{
    return (int)~(1u << (unsigned)(member * 5 + (int)number % 5));
}

static void end(struct member *member, enum result result)
{
    uint32_t number = member->number;
    if (job.results[number] == OPEN) {
        job.results[number] = result;
        job.flags[number] = member->flag;
    }
    assert_int_equal(job.results[number], result);
    if (result == DECIDED)
        assert_int_equal(job.flags[number], member->flag);
    member->number++;
    member->stored = false;
    member->runs = result == DECIDED && member->number <= CALLS;
}

static void step(int index)
{
    struct member *member = &job.members[index];
    uint64_t word;
    if (!member->stored) {
        member->flag = flag_of(index, member->number);
        weft_board_store(job.words[index], member->number,
                         weft_board_word(member->number, !knows_a_death(member), member->flag));
        member->stored = true;
        member->read = 0;
    } else if (member->read == job.n) {
        end(member, DECIDED);
    } else if (weft_board_read(job.words[member->read], member->number, member->dies[member->read],
                               &word)) {
        if (!(word & WEFT_BOARD_DECIDES)) {
            end(member, BY_MESSAGES);
            return;
        }
        member->flag &= (int)(uint32_t)word;
        member->read++;
    }
}

/* A member dies, or counts as dead: the others learn of it one after the other. */
static void kill(int victim, bool goes_on)
{
    job.members[victim].runs &= goes_on;
    for (int i = 0; i < job.n; i++)
        if (i != victim && any(2))
            job.members[i].dies[victim] = true;
}

static void run_job(uint64_t seed)
{
    memset(&job, 0, sizeof job);
    job.random = seed;
    job.n = 2 + (int)any(MEMBERS - 1);
    for (int i = 0; i < job.n; i++)
        job.members[i] = (struct member){.runs = true, .number = 1};
    int victim = (int)any((unsigned)job.n), at = (int)any(STEPS / 3);
    bool goes_on = any(2), learns = any(4) > 0;
    for (int i = 0; i < STEPS; i++) {
        int index = (int)any((unsigned)job.n);
        if (i == at)
            kill(victim, goes_on);
        if (i > at && learns && index != victim && any(8) == 0)
            job.members[index].dies[victim] = true;
        if (job.members[index].runs)
            step(index);
    }
}

static void same_results(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= JOBS; seed++)
        run_job(seed);
}

/* Without a death each call is decided, with the flags of all. */
static void decided(void **state)
{
    (void)state;
    memset(&job, 0, sizeof job);
    job.n = MEMBERS;
    for (int i = 0; i < job.n; i++)
        job.members[i] = (struct member){.runs = true, .number = 1};
    for (int i = 0; i < STEPS; i++)
        for (int member = 0; member < job.n; member++)
            if (job.members[member].runs)
                step(member);
    for (uint32_t number = 1; number <= CALLS; number++) {
        int all = -1;
        for (int member = 0; member < job.n; member++)
            all &= flag_of(member, number);
        assert_int_equal(job.results[number], DECIDED);
        assert_int_equal(job.flags[number], all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_results), cmocka_unit_test(decided)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
