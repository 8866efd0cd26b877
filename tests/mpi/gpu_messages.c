// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,shm-copy,shm-small,rxm,rxm-soft,rxm-push,rxm-small,net-soft seconds=120
// run: ranks=2 lanes=shm-hip,rxm-hip seconds=120
/*
 * Messages whose buffers are in GPU memory, at either end or both: all modes of send, all kinds of
 * receive, contiguous data and data with holes, pack and unpack, partitioned, and to the own rank.
 * Bytes that belong to no message are not changed.
 */
#include "gpu.h"

#include <mpi-ext.h>

enum { TAG = 5, KINDS = 4 };

static const size_t sizes[] = {0, 1, 24, 100, 1000, 8192, 70000, 300000, 1 << 21};

struct layout {
    const char *name;
    MPI_Datatype type;
    size_t each, extent; /* bytes of data, bytes from one element to the next */
};

static struct layout layouts[KINDS];

static void make_layouts(void)
{
    int lengths[] = {3, 1, 7, 2}, at[] = {0, 5, 7, 20};
    MPI_Datatype row;
    layouts[0] = (struct layout){"bytes", MPI_BYTE, 1, 1};
    MPI_Type_vector(10, 3, 5, MPI_INT, &row);
    MPI_Type_create_resized(row, 0, 208, &layouts[1].type);
    MPI_Type_free(&row);
    layouts[1].name = "a vector";
    layouts[1].each = 120;
    layouts[1].extent = 208;
    MPI_Type_indexed(4, lengths, at, MPI_SHORT, &row);
    MPI_Type_create_resized(row, 0, 50, &layouts[2].type);
    MPI_Type_free(&row);
    layouts[2].name = "an indexed type";
    layouts[2].each = 26;
    layouts[2].extent = 50;
    MPI_Type_create_resized(MPI_DOUBLE, -8, 24, &layouts[3].type);
    layouts[3].name = "spread doubles";
    layouts[3].each = 8;
    layouts[3].extent = 24;
    for (int i = 1; i < KINDS; i++)
        MPI_Type_commit(&layouts[i].type);
}

/* Fills what is to be received: the elements packed are pattern `seed`. */
static void expect(const struct layout *l, size_t count, int seed, char *out)
{
    char *packed = check_alloc(count * l->each);
    int position = 0;
    check_fill(packed, count * l->each, 0, seed, 0);
    MPI_Unpack(packed, (int)(count * l->each), &position, out, (int)count, l->type, MPI_COMM_WORLD);
    free(packed);
}

static void send_by(int way, const void *data, int count, MPI_Datatype type)
{
    MPI_Request request;
    switch (way % 6) {
    case 0:
        MPI_Send(data, count, type, 1, TAG, MPI_COMM_WORLD);
        break;
    case 1:
        MPI_Ssend(data, count, type, 1, TAG, MPI_COMM_WORLD);
        break;
    case 2:
        MPI_Isend(data, count, type, 1, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 3:
        MPI_Bsend(data, count, type, 1, TAG, MPI_COMM_WORLD);
        break;
    case 4:
        MPI_Send_init(data, count, type, 1, TAG, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        break;
    default:
        MPI_Sendrecv(data, count, type, 1, TAG, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

static void receive_by(int way, void *data, int count, MPI_Datatype type)
{
    MPI_Request request;
    MPI_Message message;
    switch (way % 4) {
    case 0:
        MPI_Recv(data, count, type, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Irecv(data, count, type, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(data, count, type, &message, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Recv_init(data, count, type, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
}

static void check_same(struct gpu_buffer *b, const char *wanted, const char *what, size_t bytes)
{
    gpu_get(b);
    CHECK(!memcmp(b->host, wanted, b->bytes), "%s, %zu bytes: wrong data or changed holes", what,
          bytes);
}

static void exchange(const struct layout *l, size_t bytes, enum gpu_kind from, enum gpu_kind to,
                     int way)
{
    size_t count = bytes / l->each, room = count * l->extent + 64;
    struct gpu_buffer b = gpu_buffer_new(check.rank == 0 ? from : to, room);
    check_step("%zu bytes of %s, kinds %d and %d, way %d", bytes, l->name, from, to, way);
    if (check.rank == 0) {
        expect(l, count, way, b.host);
        gpu_put(&b);
        send_by(way, b.data, (int)count, l->type);
    } else {
        receive_by(way, b.data, (int)count, l->type);
        char *wanted = check_alloc(room);
        memset(wanted, CHECK_GUARD_BYTE, room);
        expect(l, count, way, wanted);
        check_same(&b, wanted, l->name, bytes);
        free(wanted);
    }
    gpu_buffer_free(&b);
}

/* Both ranks exchange at once; long data are cut into partitions. */
static void exchange_more(enum gpu_kind kind, size_t bytes)
{
    int other = 1 - check.rank, parts = 4, count = (int)bytes / parts;
    struct gpu_buffer b = gpu_buffer_new(kind, bytes), c = gpu_buffer_new(kind, bytes);
    char *wanted = check_alloc(bytes);
    MPI_Request requests[2];
    check_step("exchanges of %zu bytes of kind %d", bytes, kind);
    check_fill(wanted, bytes, other, 1, 0);
    check_fill(b.host, bytes, check.rank, 1, 0);
    gpu_put(&b);
    MPI_Psend_init(b.data, parts, count, MPI_BYTE, other, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[0]);
    MPI_Precv_init(c.data, parts, count, MPI_BYTE, other, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[1]);
    MPI_Startall(2, requests);
    for (int i = 0; i < parts; i++)
        MPI_Pready(parts - 1 - i, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_same(&c, wanted, "partitions", bytes);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Sendrecv_replace(b.data, (int)bytes, MPI_BYTE, other, TAG, other, TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    check_same(&b, wanted, "MPI_Sendrecv_replace", bytes);
    MPI_Isend(b.data, (int)bytes, MPI_BYTE, 0, TAG, MPI_COMM_SELF, &requests[0]);
    MPI_Recv(c.data, (int)bytes, MPI_BYTE, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    check_same(&c, wanted, "a message to the own rank", bytes);
    gpu_buffer_free(&b);
    gpu_buffer_free(&c);
    free(wanted);
}

static void pack(enum gpu_kind from, enum gpu_kind to)
{
    enum { COUNT = 100 };
    const struct layout *l = &layouts[1];
    size_t packed = COUNT * l->each, room = COUNT * l->extent;
    struct gpu_buffer a = gpu_buffer_new(from, room), b = gpu_buffer_new(to, packed + 8);
    char *wanted = check_alloc(packed + 8);
    int position = 8;
    check_step("packing from kind %d to kind %d", from, to);
    expect(l, COUNT, 9, a.host);
    gpu_put(&a);
    memset(wanted, CHECK_GUARD_BYTE, 8);
    check_fill(wanted + 8, packed, 0, 9, 0);
    MPI_Pack(a.data, COUNT, l->type, b.data, (int)b.bytes, &position, MPI_COMM_WORLD);
    CHECK(position == (int)b.bytes, "the position after packing is %d", position);
    check_same(&b, wanted, "MPI_Pack", packed);
    memset(a.host, CHECK_GUARD_BYTE, room);
    gpu_put(&a);
    position = 8;
    MPI_Unpack(b.data, (int)b.bytes, &position, a.data, COUNT, l->type, MPI_COMM_WORLD);
    char *elements = check_alloc(room);
    memset(elements, CHECK_GUARD_BYTE, room);
    expect(l, COUNT, 9, elements);
    check_same(&a, elements, "MPI_Unpack", packed);
    free(elements);
    free(wanted);
    gpu_buffer_free(&a);
    gpu_buffer_free(&b);
}

/* A file is written from the device and read to it, contiguous and in rows. */
static void file(void)
{
    enum { COUNT = 5000 };
    const struct layout *l = &layouts[1];
    size_t room = COUNT * l->extent, bytes = COUNT * l->each;
    struct gpu_buffer a = gpu_buffer_new(GPU_DEVICE, room), b = gpu_buffer_new(GPU_DEVICE, bytes);
    char name[64], *wanted = check_alloc(bytes);
    MPI_File f;
    check_step("a file");
    snprintf(name, sizeof name, "/tmp/weft-gpu-%d-%d", (int)getpid(), check.rank);
    expect(l, COUNT, 4, a.host);
    gpu_put(&a);
    check_fill(wanted, bytes, 0, 4, 0);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &f);
    MPI_File_write_at(f, 0, a.data, COUNT, l->type, MPI_STATUS_IGNORE);
    MPI_File_read_at(f, 0, b.data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    check_same(&b, wanted, "a file", bytes);
    gpu_buffer_free(&a);
    gpu_buffer_free(&b);
    free(wanted);
}

/* AddressSanitizer has a heap and stacks of its own. */
#ifdef __SANITIZE_ADDRESS__
static const bool counts_looks = false;
#else
static const bool counts_looks = true;
#endif

/* The driver is not asked about buffers on the stack and on the heap. */
static void host_buffers(void)
{
    const int *looks = counts_looks ? dlsym(gpu.driver, "stand_in_looks") : NULL;
    int *heap = check_alloc(64), stack[16] = {0}, before = looks ? *looks : 0;
    MPI_Request request;
    check_step("buffers on the stack and the heap");
    for (int i = 0; i < 10; i++) {
        int *from = i & 1 ? heap : stack, *to = i & 1 ? stack : heap;
        from[0] = i;
        MPI_Irecv(to, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &request);
        MPI_Send(from, 1, MPI_INT, 0, TAG, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(to[0] == i, "received %d", to[0]);
    }
    CHECK(!looks || *looks == before, "%d looks at host buffers", *looks - before);
    free(heap);
}

int main(int argc, char **argv)
{
    int way = 0;
    bool late = check_setting("WEFT_TEST_GPU_LATE", 0);
    if (!late)
        gpu_begin();
    check_begin(&argc, &argv, 2);
    if (late) /* with WEFT_GPU=on */
        gpu_begin();
    CHECK(MPIX_Query_cuda_support() == !gpu_is_hip() && MPIX_Query_rocm_support() == gpu_is_hip(),
          "buffers in GPU memory are not announced");
    void *space = check_alloc(4 << 20);
    MPI_Buffer_attach(space, 4 << 20);
    make_layouts();
    for (int l = 0; l < KINDS; l++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int pair = 1; pair < 4; pair++, way++)
                if (check.rank < 2)
                    exchange(&layouts[l], sizes[s], pair & 1 ? GPU_DEVICE : GPU_HOST,
                             pair & 2 ? GPU_DEVICE : GPU_HOST, way);
    for (int kind = GPU_MANAGED; kind < GPU_KINDS; kind++)
        for (size_t s = 3; s < sizeof sizes / sizeof *sizes; s += 2, way++)
            exchange(&layouts[s % KINDS], sizes[s], (enum gpu_kind)kind, (enum gpu_kind)kind, way);
    host_buffers();
    exchange_more(GPU_DEVICE, 64);
    exchange_more(GPU_DEVICE, 400000);
    for (int pair = 1; pair < 4; pair++)
        pack(pair & 1 ? GPU_DEVICE : GPU_HOST, pair & 2 ? GPU_DEVICE : GPU_HOST);
    file();
    for (int i = 1; i < KINDS; i++)
        MPI_Type_free(&layouts[i].type);
    MPI_Buffer_detach(&space, &way);
    free(space);
    return check_done();
}
