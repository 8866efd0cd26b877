// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,4 lanes=shm,rxm,nodes seconds=40
/*
 * MPI_T's counters of files: what an independent and a collective write of interleaved short
 * records with holes moves, and by which path.
 */
#include "file.h"
#include "tool.h"

enum { RECORDS = 5000, BYTES = 8 * RECORDS };
enum { OPENS, CALLS, READ, WRITTEN, SIEVED, ROUNDS, MERGED, COUNTERS };

static const char *const names[] = {"weft_file_opens",         "weft_file_calls",
                                    "weft_file_bytes_read",    "weft_file_bytes_written",
                                    "weft_file_bytes_sieved",  "weft_file_rounds",
                                    "weft_file_windows_merged"};

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[COUNTERS];
static count_t counts[COUNTERS]; /* since the call before */

static void look(void)
{
    static count_t before[COUNTERS];
    for (int i = 0; i < COUNTERS; i++) {
        count_t now = tool_read(session, handles[i]);
        counts[i] = now - before[i];
        before[i] = now;
    }
}

int main(int argc, char **argv)
{
    static char data[BYTES];
    MPI_Datatype view;
    check_begin(&argc, &argv, 2);
    tool_begin();
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    for (int i = 0; i < COUNTERS; i++)
        handles[i] = tool_pvar(session, names[i], NULL);
    const char *setting = getenv("WEFT_SHM"), *node = getenv("WEFT_TEST_NODE_SIZE");
    int shared = (!setting || strcmp(setting, "0") != 0) && (!node || atoi(node) >= check.size);
    file_begin();
    look();
    MPI_File file = file_open("c", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 8 * (check.size + 1), &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(file, 8 * check.rank, MPI_DOUBLE, view, "native", MPI_INFO_NULL);
    MPI_Type_free(&view);
    look();
    CHECK(counts[OPENS] == 1 && counts[CALLS] == 0, "%llu opens, %llu calls", counts[OPENS],
          counts[CALLS]);
    MPI_File_write_at(file, 0, data, RECORDS, MPI_DOUBLE, MPI_STATUS_IGNORE);
    look();
    CHECK(counts[WRITTEN] >= BYTES && (counts[WRITTEN] > BYTES) == shared,
          "%llu bytes were written", counts[WRITTEN]);
    CHECK((counts[CALLS] < 100) == shared, "%llu system calls", counts[CALLS]);
    CHECK((counts[SIEVED] > BYTES) == shared && counts[ROUNDS] == 0,
          "%llu bytes by the sieve, %llu rounds", counts[SIEVED], counts[ROUNDS]);
    MPI_File_write_at_all(file, 0, data, RECORDS, MPI_DOUBLE, MPI_STATUS_IGNORE);
    look();
    unsigned long long sums[2] = {counts[READ], counts[MERGED]};
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sums[0] > 0 && sums[1] > 0, "%llu bytes in %llu windows were read", sums[0], sums[1]);
    CHECK(counts[ROUNDS] > 0 && counts[SIEVED] == 0 && counts[CALLS] < 100,
          "%llu rounds, %llu bytes by the sieve, %llu calls", counts[ROUNDS], counts[SIEVED],
          counts[CALLS]);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, check.rank ? "romio_cb_read" : "romio_cb_write", "disable");
    MPI_Info_set(info, "romio_ds_write", "disable");
    MPI_File_set_info(file, info);
    MPI_Info_free(&info);
    MPI_File_write_at_all(file, 0, data, RECORDS, MPI_DOUBLE, MPI_STATUS_IGNORE);
    look();
    CHECK(counts[ROUNDS] == 0 && counts[SIEVED] == 0 && counts[CALLS] == RECORDS,
          "%llu rounds, %llu bytes by the sieve, %llu calls without both", counts[ROUNDS],
          counts[SIEVED], counts[CALLS]);
    MPI_File_close(&file);
    file_remove("c");
    file_end();
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
