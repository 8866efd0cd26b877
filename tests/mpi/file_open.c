// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,3 lanes=self,shm,rxm seconds=60
/*
 * Opening, closing and deleting files: access modes, errors that are the same at all ranks, what an
 * open file reports of itself, sizes, hints, and error handlers.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CREATE = MPI_MODE_CREATE | MPI_MODE_RDWR };

static int calls, last_code;
static MPI_File last_file;

static void on_file(MPI_File *file, int *code, ...)
{
    calls++;
    last_file = *file;
    last_code = *code;
}

static int open_class(const char *name, int amode)
{
    MPI_File file = MPI_FILE_NULL;
    int class =
        check_class(MPI_File_open(MPI_COMM_WORLD, file_name(name), amode, MPI_INFO_NULL, &file));
    if (class == MPI_SUCCESS)
        MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL, "there is a file after class %d", class);
    return class;
}

static void modes(void)
{
    CHECK_CLASS(open_class("none", MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(open_class("none/none", CREATE), MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(open_class("", MPI_MODE_RDONLY), MPI_ERR_BAD_FILE);
    CHECK_CLASS(open_class("a", MPI_MODE_CREATE), MPI_ERR_AMODE);
    CHECK_CLASS(open_class("a", MPI_MODE_RDONLY | MPI_MODE_RDWR), MPI_ERR_AMODE);
    CHECK_CLASS(open_class("a", MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE);
    CHECK_CLASS(open_class("a", MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE);
    CHECK_CLASS(open_class("a", CREATE | MPI_MODE_EXCL), MPI_SUCCESS);
    CHECK_CLASS(open_class("a", CREATE | MPI_MODE_EXCL), MPI_ERR_FILE_EXISTS);
    CHECK_CLASS(open_class("a", CREATE), MPI_SUCCESS);
    CHECK_CLASS(open_class("a", MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE), MPI_SUCCESS);
    CHECK_CLASS(open_class("a", MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
}

/* What differs between ranks is an error at all of them, and no file is left. */
static void ranks_differ(void)
{
    MPI_File file = MPI_FILE_NULL;
    char text[MPI_MAX_ERROR_STRING];
    int last = check.rank == check.size - 1, length;
    if (check.size == 1)
        return;
    CHECK_CLASS(open_class("b", last ? CREATE | MPI_MODE_APPEND : CREATE), MPI_ERR_NOT_SAME);
    CHECK_CLASS(open_class("b", last ? 0 : CREATE), MPI_ERR_AMODE);
    MPI_Barrier(MPI_COMM_WORLD); /* rank 0 has made a file, and removed it */
    CHECK(access(file_name("b"), F_OK), "a file was left");
    MPI_Barrier(MPI_COMM_WORLD); /* it makes the next one */
    int code = MPI_File_open(MPI_COMM_WORLD, file_name(last ? "none/b" : "b"), CREATE,
                             MPI_INFO_NULL, &file);
    CHECK_CLASS(code, MPI_ERR_NO_SUCH_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(file_name("b"), F_OK), "a file was left");
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "none/b"), "the error does not name the file: %s", text);
    char name[40];
    snprintf(name, sizeof name, "rank %d on ", check.size - 1);
    CHECK(strstr(text, name), "the error does not name rank %d: %s", check.size - 1, text);
}

static void inquiry(void)
{
    MPI_File file = file_open("c", CREATE);
    MPI_Group of_file, of_world;
    int amode = 0, flag = 1, result;
    MPI_Offset size = -1;
    char name[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    MPI_File_get_amode(file, &amode);
    CHECK(amode == CREATE, "the mode is %#x", amode);
    MPI_File_get_atomicity(file, &flag);
    CHECK(!flag, "the file is in atomic mode");
    MPI_File_get_group(file, &of_file);
    MPI_Comm_group(MPI_COMM_WORLD, &of_world);
    MPI_Group_compare(of_file, of_world, &result);
    CHECK(result == MPI_IDENT, "the group differs");
    MPI_Group_free(&of_file);
    MPI_Group_free(&of_world);
    CHECK_CLASS(MPI_File_set_size(file, 1000), MPI_SUCCESS);
    MPI_File_get_size(file, &size);
    CHECK(size == 1000, "the size is %lld", (long long)size);
    CHECK_CLASS(MPI_File_preallocate(file, 500), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_preallocate(file, 2000), MPI_SUCCESS);
    MPI_File_get_size(file, &size);
    CHECK(size == 2000, "the size is %lld", (long long)size);
    CHECK_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    if (check.size > 1)
        CHECK_CLASS(MPI_File_set_size(file, check.rank), MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_sync(file), MPI_SUCCESS);
    CHECK(MPI_File_fromint(MPI_File_toint(file)) == file, "the integer form differs");
    MPI_File_get_info(file, &info);
    MPI_Info_get(info, "filename", MPI_MAX_INFO_VAL, name, &flag);
    CHECK(flag && !strcmp(name, file_name("c")), "the name is %s", flag ? name : "missing");
    MPI_Info_free(&info);
    CHECK_CLASS(MPI_File_close(&file), MPI_SUCCESS);
    CHECK(file == MPI_FILE_NULL, "the handle is still there");
    file_remove("c");
}

static void hints(void)
{
    char value[MPI_MAX_INFO_VAL + 1];
    struct stat stat_of;
    MPI_Info info, used;
    MPI_File file;
    int flag;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "4096");
    MPI_Info_set(info, "romio_ds_write", "nonsense");
    MPI_Info_set(info, "file_perm", "0600");
    MPI_Info_set(info, "unknown", "1");
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, file_name("d"), CREATE, info, &file), MPI_SUCCESS);
    MPI_File_get_info(file, &used);
    MPI_Info_get(used, "cb_buffer_size", 100, value, &flag);
    CHECK(flag && !strcmp(value, "4096"), "cb_buffer_size is %s", value);
    MPI_Info_get(used, "romio_ds_write", 100, value, &flag);
    CHECK(flag && !strcmp(value, "automatic"), "romio_ds_write is %s", value);
    MPI_Info_get(used, "unknown", 100, value, &flag);
    CHECK(!flag, "an unknown hint is in use");
    CHECK(!stat(file_name("d"), &stat_of) && (stat_of.st_mode & 07777) == 0600,
          "the file has mode %o", stat_of.st_mode);
    MPI_Info_set(info, "cb_buffer_size", "8192"); /* the open has used it */
    MPI_Info_set(info, "ind_rd_buffer_size", "8192");
    CHECK_CLASS(MPI_File_set_info(file, info), MPI_SUCCESS);
    MPI_Info_free(&used);
    MPI_File_get_info(file, &used);
    MPI_Info_get(used, "cb_buffer_size", 100, value, &flag);
    CHECK(flag && !strcmp(value, "4096"), "cb_buffer_size is %s", value);
    MPI_Info_get(used, "ind_rd_buffer_size", 100, value, &flag);
    CHECK(flag && !strcmp(value, "8192"), "ind_rd_buffer_size is %s", value);
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    MPI_File_close(&file);
    file_remove("d");
    MPI_Info_create(&info);
    MPI_Info_set(info, "file_perm", "7700");
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, file_name("d"), CREATE, info, &file), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_File_get_info(file, &used);
    MPI_Info_get(used, "file_perm", 100, value, &flag);
    CHECK(flag && !strcmp(value, "0700"), "file_perm is %s", value);
    CHECK(!stat(file_name("d"), &stat_of) && (stat_of.st_mode & 07777) == 0700,
          "the file has mode %o", stat_of.st_mode);
    MPI_Info_free(&used);
    MPI_File_close(&file);
    file_remove("d");
}

/* The flags of the descriptor behind a name; -1: there is none. */
static int flags_of(const char *name)
{
    char path[64], target[PATH_MAX], absolute[PATH_MAX];
    if (!realpath(name, absolute))
        return -1;
    for (int fd = 3; fd < 1000; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length > 0 && (size_t)length == strlen(absolute) &&
            !memcmp(target, absolute, (size_t)length))
            return fcntl(fd, F_GETFL);
    }
    return -1;
}

/* The prefix of a name chooses the rules of a file system. */
static void rules(void)
{
    static const char *const rows[][2] = {
        {"ufs:", "disk"}, {"nfs:", "nfs"}, {"lustre:", "lustre"}, {"gpfs:", "parallel"}};
    char name[PATH_MAX], value[MPI_MAX_INFO_VAL + 1];
    int flag;
    const char *shm = getenv("WEFT_SHM");
    bool nodes = check.size > 1 && shm && !strcmp(shm, "0"); /* the ranks share no memory */
    for (int i = 0; i < 4; i++) {
        MPI_File file = MPI_FILE_NULL;
        MPI_Info info;
        snprintf(name, sizeof name, "%s%s", rows[i][0], file_name("rules"));
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, CREATE, MPI_INFO_NULL, &file), MPI_SUCCESS);
        MPI_File_get_info(file, &info);
        MPI_Info_get(info, "romio_filesystem_type", MPI_MAX_INFO_VAL, value, &flag);
        CHECK(flag && !strcmp(value, rows[i][1]), "the rules are those of %s", flag ? value : "?");
        MPI_Info_free(&info);
        bool waits = nodes && !strcmp(value, "nfs");
        CHECK(!(flags_of(file_name("rules")) & O_DSYNC) == !waits, "the flags are %#o",
              (unsigned)flags_of(file_name("rules")));
        int out = check.rank + 10 * i, in = -1;
        MPI_File_write_at(file, check.rank * 4, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
        CHECK_CLASS(MPI_File_sync(file), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_CLASS(MPI_File_sync(file), MPI_SUCCESS);
        MPI_File_read_at(file, (check.size - 1) * 4, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
        CHECK(in == check.size - 1 + 10 * i, "the last rank has written %d", in);
        CHECK(!(flags_of(file_name("rules")) & O_DSYNC) == !waits, "sync has changed O_DSYNC");
        CHECK_CLASS(MPI_File_close(&file), MPI_SUCCESS);
    }
    file_remove("rules");
}

/* A file inherits the handler of MPI_FILE_NULL; its own is called with its handle. */
static void handlers(void)
{
    MPI_Errhandler handler, got;
    MPI_File file;
    MPI_Offset size;
    MPI_File_get_errhandler(MPI_FILE_NULL, &got);
    CHECK(got == MPI_ERRORS_RETURN, "MPI_FILE_NULL has another default");
    MPI_File_create_errhandler(on_file, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    MPI_Errhandler_free(&handler);
    CHECK_CLASS(open_class("none", MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
    CHECK(calls == 1 && last_file == MPI_FILE_NULL, "%d calls", calls);
    file = file_open("e", CREATE);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK(calls == 2 && last_file == file && last_code == MPI_ERR_ARG, "%d calls", calls);
    MPI_File_call_errhandler(file, MPI_ERR_OTHER);
    CHECK(calls == 3 && last_code == MPI_ERR_OTHER, "%d calls", calls);
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK(calls == 3, "%d calls", calls);
    MPI_File_close(&file);
    CHECK_CLASS(MPI_File_get_size(file, &size), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_close(&file), MPI_ERR_FILE);
    file_remove("e");
    CHECK_CLASS(MPI_File_delete(file_name("e"), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
}

/* A sequential file has no individual pointers. */
static void sequential(void)
{
    MPI_File file = file_open("f", MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL);
    MPI_Offset offset;
    int n = 1;
    CHECK_CLASS(MPI_File_get_position(file, &offset), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_write(file, &n, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_File_close(&file);
    file_remove("f");
}

/* A pipe takes the data in the order of ranks, and without a reader it is an error. */
static void pipes(void)
{
    enum { MOST = 64 };
    MPI_File file = MPI_FILE_NULL;
    MPI_Datatype holes;
    MPI_Status status;
    int reader = -1, data[2] = {check.rank, 100 + check.rank}, got[MOST];
    int made = check.rank == 0 && mkfifo(file_name("pipe"), 0600) == 0;
    CHECK(check.rank || made || errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM,
          "no pipe: %s", strerror(errno));
    MPI_Bcast(&made, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!made) /* a file system without pipes */
        return;
    if (check.rank == 0)
        reader = open(file_name("pipe"), O_RDONLY | O_NONBLOCK);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(open_class("pipe", MPI_MODE_WRONLY), MPI_ERR_AMODE);
    file = file_open("pipe", MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    CHECK_CLASS(MPI_File_write_ordered(file, data, 2, MPI_INT, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == 8, "%d bytes were written", file_bytes(&status));
    if (check.rank == check.size - 1)
        CHECK_CLASS(MPI_File_write_shared(file, data, 1, MPI_INT, &status), MPI_SUCCESS);
    MPI_Type_create_resized(MPI_INT, 0, 8, &holes);
    MPI_Type_commit(&holes);
    CHECK_CLASS(
        MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, holes, "native", MPI_INFO_NULL),
        MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_Type_free(&holes);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        long bytes = read(reader, got, sizeof got);
        CHECK(bytes == 8 * check.size + 4, "%ld bytes were read", bytes);
        for (int i = 0; i < 2 * check.size; i++)
            CHECK(got[i] == 100 * (i % 2) + i / 2, "%d at %d", got[i], i);
        close(reader);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_write_shared(file, data, 1, MPI_INT, &status), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_close(&file), MPI_SUCCESS);
    file_remove("pipe");
}

/* Two opens that both remove the file. */
static void removed_twice(void)
{
    MPI_File first = file_open("g", CREATE | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File second = file_open("g", CREATE | MPI_MODE_DELETE_ON_CLOSE);
    CHECK_CLASS(MPI_File_close(&first), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_close(&second), MPI_SUCCESS);
    CHECK_CLASS(open_class("g", MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
}

/* Accesses that cannot have their data. */
static void no_data(void)
{
    int data[5] = {0};
    MPI_Datatype empty;
    MPI_Status status;
    MPI_File file = file_open("h", CREATE);
    CHECK_CLASS(MPI_File_write(file, MPI_IN_PLACE, 5, MPI_INT, &status), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_File_read_at_all(file, 0, MPI_IN_PLACE, 5, MPI_INT, &status), MPI_ERR_BUFFER);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, empty, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_write_at(file, 0, data, 5, MPI_INT, &status), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_write_all(file, data, check.rank ? 0 : 5, MPI_INT, &status), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_write_all(file, data, 0, MPI_INT, &status), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_read_at(file, 0, data, 5, MPI_INT, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == 0, "%d bytes were read", file_bytes(&status));
    MPI_Type_free(&empty);
    MPI_File_close(&file);
    file_remove("h");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    file_begin();
    modes();
    ranks_differ();
    inquiry();
    hints();
    rules();
    handlers();
    sequential();
    pipes();
    removed_twice();
    no_data();
    file_end();
    return check_done();
}
