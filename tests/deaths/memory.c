// SPDX-License-Identifier: BSD-3-Clause
/* Windows and files: see mortal.h. */
#include "mortal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 20000 };

static MPI_Win win = MPI_WIN_NULL;
static int *cells;
static MPI_Group everybody;

static void return_errors(void)
{
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &everybody);
}

static void begin_allocated(void)
{
    MPI_Win_allocate(CELLS * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &cells,
                     &win);
    return_errors();
}

static void begin_created(void)
{
    cells = calloc(CELLS, sizeof *cells);
    MPI_Win_create(cells, CELLS * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    return_errors();
}

static void end_window(void)
{
    TRY(MPI_Win_free, &win);
}

static void operation(int target)
{
    static const int counts[] = {1, 1, 20, 3000, CELLS};
    int n = counts[own_random(5)], *out = (int *)out_data, *in = (int *)in_data, one = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (own_random(6)) {
    case 0:
        TRY(MPI_Put, out, n, MPI_INT, target, 0, n, MPI_INT, win);
        break;
    case 1:
        TRY(MPI_Get, in, n, MPI_INT, target, 0, n, MPI_INT, win);
        break;
    case 2:
        TRY(MPI_Accumulate, out, n, MPI_INT, target, 0, n, MPI_INT, MPI_SUM, win);
        break;
    case 3:
        TRY(MPI_Get_accumulate, out, n, MPI_INT, in, n, MPI_INT, target, 0, n, MPI_INT, MPI_SUM,
            win);
        break;
    case 4:
        TRY(MPI_Fetch_and_op, &one, in, MPI_INT, target, 0, MPI_SUM, win);
        break;
    default:
        TRY(MPI_Compare_and_swap, &one, &one, in, MPI_INT, target, 0, win);
    }
    (void)request;
}

static void with_request(int target)
{
    int n = own_random(2) ? 3 : CELLS, *out = (int *)out_data, *in = (int *)in_data;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (own_random(4)) {
    case 0:
        TRY(MPI_Rput, out, n, MPI_INT, target, 0, n, MPI_INT, win, &request);
        break;
    case 1:
        TRY(MPI_Rget, in, n, MPI_INT, target, 0, n, MPI_INT, win, &request);
        break;
    case 2:
        TRY(MPI_Raccumulate, out, n, MPI_INT, target, 0, n, MPI_INT, MPI_SUM, win, &request);
        break;
    default:
        TRY(MPI_Rget_accumulate, out, n, MPI_INT, in, n, MPI_INT, target, 0, n, MPI_INT, MPI_SUM,
            win, &request);
    }
    TRY(MPI_Wait, &request, MPI_STATUS_IGNORE);
}

static void fence(void)
{
    TRY(MPI_Win_fence, 0, win);
    for (int i = own_random(4); i > 0; i--)
        operation(own_random(size));
    TRY(MPI_Win_fence, 0, win);
}

static void lock(void)
{
    for (int i = 0; i < 3; i++) {
        int target = own_random(size), type = own_random(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
        if (!TRY(MPI_Win_lock, type, target, 0, win))
            continue;
        operation(target);
        if (own_random(2))
            TRY(MPI_Win_flush, target, win);
        with_request(target);
        if (own_random(2))
            TRY(MPI_Win_flush_local, target, win);
        TRY(MPI_Win_unlock, target, win);
    }
}

static void lock_all(void)
{
    if (!TRY(MPI_Win_lock_all, 0, win))
        return;
    for (int i = 0; i < 4; i++)
        operation(own_random(size));
    if (own_random(2))
        TRY(MPI_Win_flush_all, win);
    with_request(own_random(size));
    if (own_random(2))
        TRY(MPI_Win_flush_local_all, win);
    TRY(MPI_Win_unlock_all, win);
}

static void post_start(void)
{
    int flag = 0;
    bool exposed = TRY(MPI_Win_post, everybody, 0, win);
    if (TRY(MPI_Win_start, everybody, 0, win)) {
        operation(own_random(size));
        TRY(MPI_Win_complete, win);
    }
    if (!exposed)
        return;
    call("MPI_Win_test");
    for (int tests = own_random(2) * 1000; !flag && tests-- > 0 && check(MPI_Win_test(win, &flag));)
        ;
    if (!flag)
        TRY(MPI_Win_wait, win);
}

static void make_window(void)
{
    MPI_Win made = MPI_WIN_NULL;
    int *base;
    bool done = false;
    switch (shared_random(4)) {
    case 0:
        done = TRY(MPI_Win_allocate, 4000, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
        break;
    case 1:
        done = TRY(MPI_Win_create, out_data, 4000, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
        break;
    case 2:
        done = TRY(MPI_Win_create_dynamic, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
        break;
    default:
        call("MPI_Win_allocate_shared");
        int code = MPI_Win_allocate_shared(4000, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
        int class = code;
        if (code != MPI_SUCCESS)
            MPI_Error_class(code, &class);
        done = class == MPI_ERR_RMA_SHARED ? false : check(code); /* on several nodes */
    }
    if (done) {
        MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN);
        TRY(MPI_Win_free, &made);
    }
}

/* ---- Files */

static MPI_File file = MPI_FILE_NULL;
static char name[200];

static void name_file(void)
{
    const char *folder = getenv("TMPDIR");
    int pid = (int)getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "%s/mortal.%d", folder ? folder : "/tmp", pid);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
}

static void begin_file(void)
{
    MPI_Datatype type;
    name_file();
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Type_vector(100, 64, 64 * size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, 64 * rank, MPI_BYTE, type, "native", MPI_INFO_NULL);
}

static void end_file(void)
{
    if (file != MPI_FILE_NULL)
        TRY(MPI_File_close, &file);
    unlink(name);
}

static void collective_access(void)
{
    int bytes = 1 + some_bytes() / 4;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    switch (shared_random(8)) {
    case 0:
        TRY(MPI_File_write_at_all, file, 100, out_data, bytes, MPI_BYTE, &status);
        break;
    case 1:
        TRY(MPI_File_read_at_all, file, 100, in_data, bytes, MPI_BYTE, &status);
        break;
    case 2:
        TRY(MPI_File_write_all, file, out_data, bytes, MPI_BYTE, &status);
        break;
    case 3:
        TRY(MPI_File_iwrite_at_all, file, 200, out_data, bytes, MPI_BYTE, &request);
        break;
    case 4:
        TRY(MPI_File_iread_at_all, file, 200, in_data, bytes, MPI_BYTE, &request);
        break;
    case 5:
        if (TRY(MPI_File_write_at_all_begin, file, 0, out_data, bytes, MPI_BYTE))
            TRY(MPI_File_write_at_all_end, file, out_data, &status);
        break;
    case 6:
        if (TRY(MPI_File_read_at_all_begin, file, 0, in_data, bytes, MPI_BYTE))
            TRY(MPI_File_read_at_all_end, file, in_data, &status);
        break;
    default:
        TRY(MPI_File_seek, file, 0, MPI_SEEK_SET);
        TRY(MPI_File_iwrite_all, file, out_data, bytes, MPI_BYTE, &request);
    }
    TRY(MPI_Wait, &request, MPI_STATUS_IGNORE);
}

static void shared_access(void)
{
    int bytes = 64;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    switch (shared_random(7)) {
    case 0:
        TRY(MPI_File_write_shared, file, out_data, bytes, MPI_BYTE, &status);
        break;
    case 1:
        TRY(MPI_File_write_ordered, file, out_data, bytes, MPI_BYTE, &status);
        break;
    case 2:
        TRY(MPI_File_read_ordered, file, in_data, bytes, MPI_BYTE, &status);
        break;
    case 3:
        TRY(MPI_File_seek_shared, file, 0, MPI_SEEK_SET);
        break;
    case 4:
        if (TRY(MPI_File_write_ordered_begin, file, out_data, bytes, MPI_BYTE))
            TRY(MPI_File_write_ordered_end, file, out_data, &status);
        break;
    case 5:
        TRY(MPI_File_iwrite_shared, file, out_data, bytes, MPI_BYTE, &request);
        break;
    default:
        TRY(MPI_File_read_shared, file, in_data, bytes, MPI_BYTE, &status);
    }
    TRY(MPI_Wait, &request, MPI_STATUS_IGNORE);
}

static void begin_shared_file(void)
{
    name_file();
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
}

static void manage_file(void)
{
    switch (shared_random(6)) {
    case 0:
        TRY(MPI_File_set_size, file, 100000);
        break;
    case 1:
        TRY(MPI_File_preallocate, file, 200000);
        break;
    case 2:
        TRY(MPI_File_sync, file);
        break;
    case 3:
        TRY(MPI_File_set_atomicity, file, shared_random(2));
        TRY(MPI_File_write_at, file, 64 * rank, out_data, 64, MPI_BYTE, MPI_STATUS_IGNORE);
        break;
    case 4:
        TRY(MPI_File_set_view, file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        break;
    default:
        TRY(MPI_File_set_info, file, MPI_INFO_NULL);
    }
}

static void open_file(void)
{
    MPI_File made = MPI_FILE_NULL;
    if (TRY(MPI_File_open, MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
            &made))
        TRY(MPI_File_close, &made);
}

const struct act memory_acts[] = {{"fence", begin_allocated, fence, end_window, 2},
                                  {"fence-created", begin_created, fence, end_window, 2},
                                  {"lock", begin_allocated, lock, end_window, 2},
                                  {"lock-created", begin_created, lock, end_window, 2},
                                  {"lock-all", begin_allocated, lock_all, end_window, 2},
                                  {"lock-all-created", begin_created, lock_all, end_window, 2},
                                  {"post", begin_allocated, post_start, end_window, 2},
                                  {"post-created", begin_created, post_start, end_window, 2},
                                  {"windows", NULL, make_window, NULL, 2},
                                  {"file", begin_file, collective_access, end_file, 2},
                                  {"file-shared", begin_shared_file, shared_access, end_file, 2},
                                  {"file-manage", begin_shared_file, manage_file, end_file, 2},
                                  {"file-open", name_file, open_file, end_file, 2},
                                  {NULL, NULL, NULL, NULL, 0}};
