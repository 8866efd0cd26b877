// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,3 lanes=self,shm,rxm,nodes seconds=60
/*
 * Hints of the environment: WEFT_FILE_HINTS and the file of ROMIO_HINTS, those of rank 0 for all
 * ranks, and after those of the program. Hints that set the sizes of system calls and the ranks
 * that make them: this program's pread and pwrite take the place of the C library's. And short
 * blocks of ranks side by side are one call on a network file system.
 */
#include "file.h"

#include <sys/stat.h>
#include <sys/syscall.h>

enum {
    CREATE = MPI_MODE_CREATE | MPI_MODE_RDWR,
    RECORD = 16,
    RECORDS = 20000,
    BYTES = RECORD * RECORDS
};

static char data[BYTES];
static struct {
    int calls;
    size_t most;
} reads, writes;

ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset)
{
    reads.calls++;
    reads.most = bytes > reads.most ? bytes : reads.most;
    return syscall(SYS_pread64, fd, buffer, bytes, offset);
}

ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
    writes.calls++;
    writes.most = bytes > writes.most ? bytes : writes.most;
    return syscall(SYS_pwrite64, fd, buffer, bytes, offset);
}

static void expect(MPI_File file, const char *key, const char *value)
{
    char got[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info info;
    int flag;
    MPI_File_get_info(file, &info);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, got, &flag);
    CHECK(flag && !strcmp(got, value), "%s is \"%s\", not \"%s\"", key, got, value);
    MPI_Info_free(&info);
}

static MPI_File open_with(MPI_Info info)
{
    MPI_File file = MPI_FILE_NULL;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, file_name("a"), CREATE, info, &file), MPI_SUCCESS);
    return file;
}

/* Records of all ranks in turn. */
static void set_records(MPI_File file)
{
    MPI_Datatype record, view;
    MPI_Type_contiguous(RECORD, MPI_BYTE, &record);
    MPI_Type_create_resized(record, 0, (MPI_Aint)RECORD * (check.size + 1), &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(file, (MPI_Offset)RECORD * check.rank, MPI_BYTE, view, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&record);
    MPI_Type_free(&view);
}

/* ---- Where hints come from */

static void write_hints(const char *name, const char *text)
{
    FILE *stream = fopen(file_name(name), "w");
    CHECK(stream && fputs(text, stream) >= 0 && fclose(stream) == 0, "%s cannot be written", name);
}

static void of_setting(void)
{
    struct stat stat_of;
    MPI_File file = open_with(MPI_INFO_NULL);
    check_step("WEFT_FILE_HINTS");
    expect(file, "romio_ds_read", "disable");
    expect(file, "cb_nodes", "1");
    expect(file, "romio_ds_write", "automatic");
    CHECK(!stat(file_name("a"), &stat_of) && (stat_of.st_mode & 07777) == 0600,
          "the file has mode %o", stat_of.st_mode);
    MPI_File_close(&file);
    file_remove("a");
}

/* The program's hints prevail, but for values that are not valid. */
static void of_program(void)
{
    MPI_Info info;
    check_step("hints of the program");
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_read", check.rank ? "nonsense" : "enable");
    MPI_Info_set(info, "cb_nodes", check.rank ? "4" : "2");
    MPI_File file = open_with(info);
    expect(file, "romio_ds_read", check.rank ? "disable" : "enable");
    expect(file, "cb_nodes", "2");
    MPI_Info_set(info, "cb_nodes", "3");
    MPI_Info_set(info, "romio_ds_write", "disable");
    CHECK_CLASS(MPI_File_set_info(file, info), MPI_SUCCESS);
    expect(file, "cb_nodes", "2");
    expect(file, "romio_ds_write", "disable");
    MPI_Info_free(&info);
    MPI_File_close(&file);
    file_remove("a");
}

static void of_file(void)
{
    char name[PATH_MAX];
    check_step("ROMIO_HINTS");
    if (check.rank == 0)
        write_hints("hints",
                    "# of the system; cb_nodes 7\n\ncb_nodes 9\n  romio_ds_write \tdisable \r\n"
                    "cb_buffer_size=65536\ncb_buffer_size 131072\nunknown "
                    "3\nromio_cb_read\nromio_cb_write wrong\n"
                    "file_perm 0640");
    snprintf(name, sizeof name, "%s", file_name(check.rank == 0 ? "hints" : "none"));
    setenv("ROMIO_HINTS", name, 1);
    MPI_File file = open_with(MPI_INFO_NULL);
    expect(file, "romio_ds_write", "disable");
    expect(file, "cb_buffer_size", "65536");
    expect(file, "romio_cb_read", "automatic");
    expect(file, "romio_cb_write", "automatic");
    expect(file, "cb_nodes", "1"); /* WEFT_FILE_HINTS prevails */
    expect(file, "file_perm", "0600");
    MPI_File_close(&file);
    if (check.rank == 0)
        unlink(name);
    file = open_with(MPI_INFO_NULL); /* there is none any more */
    expect(file, "romio_ds_write", "automatic");
    MPI_File_close(&file);
    unsetenv("ROMIO_HINTS");
    file_remove("a");
}

/* ---- What hints do */

static void fill(int salt)
{
    for (int i = 0; i < BYTES; i++)
        data[i] = (char)(i + i / 251 + 3 * check.rank + salt);
}

static void check_data(int salt, const char *what)
{
    int wrong = 0;
    for (int i = 0; i < BYTES; i++)
        wrong += data[i] != (char)(i + i / 251 + 3 * check.rank + salt);
    CHECK(!wrong, "%s: %d bytes are wrong", what, wrong);
}

/* One rank writes and reads, domains of half of 64 KiB. */
static void domains(void)
{
    MPI_Status status;
    MPI_Info info;
    check_step("cb_nodes and cb_buffer_size");
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "cb_buffer_size", check.rank ? "1000000" : "66000");
    MPI_File file = open_with(info);
    MPI_Info_free(&info);
    set_records(file);
    for (int i = 0; i < 2; i++) {
        fill(i);
        writes.calls = reads.calls = 0;
        writes.most = reads.most = 0;
        CHECK_CLASS(MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, &status), MPI_SUCCESS);
        CHECK(file_bytes(&status) == BYTES, "%d bytes were written", file_bytes(&status));
        if (check.size > 1) {
            CHECK((writes.calls > 0) == (check.rank == 0), "%d writes", writes.calls);
            CHECK(writes.most <= 32 << 10, "a write of %zu bytes", writes.most);
        }
        memset(data, 0, sizeof data);
        reads.calls = 0;
        CHECK_CLASS(MPI_File_read_at_all(file, 0, data, BYTES, MPI_BYTE, &status), MPI_SUCCESS);
        CHECK(file_bytes(&status) == BYTES, "%d bytes were read", file_bytes(&status));
        if (check.size > 1) {
            CHECK((reads.calls > 0) == (check.rank == 0), "%d reads", reads.calls);
            CHECK(reads.most <= 32 << 10, "a read of %zu bytes", reads.most);
        }
        check_data(i, "cb_buffer_size");
    }
    MPI_File_close(&file);
    file_remove("a");
}

/* collective_buffering=false of one rank: each rank writes and reads its own records. */
static void no_domains(void)
{
    MPI_Info info;
    check_step("collective_buffering");
    MPI_Info_create(&info);
    if (check.rank == check.size - 1)
        MPI_Info_set(info, "collective_buffering", "false");
    MPI_File file = open_with(info);
    MPI_Info_free(&info);
    expect(file, "collective_buffering", check.rank == check.size - 1 ? "false" : "true");
    set_records(file);
    fill(4);
    writes.calls = 0;
    CHECK_CLASS(MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    CHECK(writes.calls > 0, "another rank has written the data of this one");
    memset(data, 0, sizeof data);
    reads.calls = 0;
    CHECK_CLASS(MPI_File_read_at_all(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    CHECK(reads.calls > 0, "another rank has read the data of this one");
    check_data(4, "collective_buffering=false");
    MPI_File_close(&file);
    file_remove("a");
}

/* Independent access with holes. */
static void sieve(void)
{
    MPI_Status status;
    MPI_Info info;
    check_step("ind_rd_buffer_size and ind_wr_buffer_size");
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_read", "enable");
    MPI_Info_set(info, "ind_rd_buffer_size", "8192");
    MPI_Info_set(info, "ind_wr_buffer_size", "16384");
    MPI_File file = open_with(info);
    set_records(file);
    fill(5);
    writes.most = reads.most = 0;
    for (int rank = 0; rank < check.size; rank++) {
        if (rank == check.rank) /* one at a time: nobody else writes the bytes between */
            CHECK_CLASS(MPI_File_write_at(file, 0, data, BYTES, MPI_BYTE, &status), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(writes.most <= 16384, "a write of %zu bytes", writes.most);
    memset(data, 0, sizeof data);
    reads.most = 0;
    reads.calls = 0;
    CHECK_CLASS(MPI_File_read_at(file, 0, data, BYTES, MPI_BYTE, &status), MPI_SUCCESS);
    int least = BYTES * (check.size + 1) / 8192;
    CHECK(reads.most <= 8192 && reads.calls < 2 * least + 2, "%d reads of at most %zu bytes",
          reads.calls, reads.most);
    check_data(5, "the sieve");
    expect(file, "ind_rd_buffer_size", "8192");
    MPI_File_close(&file);
    MPI_Info_set(info, "ind_rd_buffer_size", "0");
    file = open_with(info);
    expect(file, "ind_wr_buffer_size", "16384");
    expect(file, "ind_rd_buffer_size", "524288"); /* that of local file systems */
    MPI_File_close(&file);
    for (int i = 0; i < 2; i++) {
        const char *huge = i ? "99999999999999999999" : "1099511627776";
        check_step("buffers of %s bytes", huge);
        MPI_Info_set(info, "ind_rd_buffer_size", huge);
        MPI_Info_set(info, "ind_wr_buffer_size", huge);
        file = open_with(info);
        expect(file, "ind_rd_buffer_size", "268435456");
        expect(file, "ind_wr_buffer_size", "268435456");
        set_records(file);
        fill(6 + i);
        for (int rank = 0; rank < check.size; rank++) {
            if (rank == check.rank)
                CHECK_CLASS(MPI_File_write_at(file, 0, data, BYTES, MPI_BYTE, &status),
                            MPI_SUCCESS);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        memset(data, 0, sizeof data);
        CHECK_CLASS(MPI_File_read_at(file, 0, data, BYTES, MPI_BYTE, &status), MPI_SUCCESS);
        check_data(6 + i, "a large sieve");
        MPI_File_close(&file);
    }
    MPI_Info_free(&info);
    file_remove("a");
}

/* ---- Short blocks on a network file system */

static void side_by_side(void)
{
    char name[PATH_MAX + 8];
    MPI_File file = MPI_FILE_NULL;
    MPI_Status status;
    int block[8], got[8];
    snprintf(name, sizeof name, "nfs:%s", file_name("a"));
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, CREATE, MPI_INFO_NULL, &file), MPI_SUCCESS);
    for (int gap = 0; gap < 2; gap++) { /* with a gap behind rank 0, each rank writes its own */
        int n = 5 + check.rank % 3, before = 0, calls;
        check_step("%d bytes between blocks", 100 * gap);
        for (int rank = 0; rank < check.rank; rank++)
            before += 5 + rank % 3;
        MPI_Offset at = 1000 + (MPI_Offset)sizeof(int) * before + (check.rank ? 100 * gap : 0);
        for (int i = 0; i < 8; i++)
            block[i] = 1000 * gap + 10 * check.rank + i;
        writes.calls = 0;
        CHECK_CLASS(MPI_File_write_at_all(file, at, block, n, MPI_INT, &status), MPI_SUCCESS);
        CHECK(file_bytes(&status) == 4 * n, "%d bytes were written", file_bytes(&status));
        MPI_Allreduce(&writes.calls, &calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(calls == (gap ? check.size : 1), "%d writes", calls);
        CHECK_CLASS(MPI_File_sync(file), MPI_SUCCESS);
        CHECK_CLASS(MPI_File_read_at_all(file, at, got, n, MPI_INT, &status), MPI_SUCCESS);
        CHECK(!memcmp(got, block, sizeof(int) * (size_t)n), "the data differ");
    }
    MPI_File_close(&file);
    file_remove("a");
}

int main(int argc, char **argv)
{
    setenv("WEFT_FILE_HINTS", "romio_ds_read=disable; cb_nodes = 1 ;;file_perm=0600;", 1);
    check_begin(&argc, &argv, 1);
    file_begin();
    of_setting();
    of_program();
    of_file();
    domains();
    no_domains();
    sieve();
    side_by_side();
    file_end();
    return check_done();
}
