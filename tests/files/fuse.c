// SPDX-License-Identifier: BSD-3-Clause
/*
 * A file system in the memory of this process, by the kernel's FUSE protocol (linux/fuse.h): it has
 * no fallocate, and a write that would use more than its quota fails with EDQUOT.
 *
 *   fuse FOLDER BYTES   mounts it and serves it until it is unmounted; 77: it cannot be mounted
 *
 * One request at a time. A file or folder is a slot, its number the slot's index plus 1, so that
 * the root has FUSE_ROOT_ID. Invariant: a slot is used again only when its name is removed and the
 * kernel has forgotten it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SLOTS = 256, WRITE_BYTES = 128 << 10, LARGEST = 1 << 30 };

static struct slot {
    uint64_t parent; /* 0: no name */
    char name[256];
    uint32_t mode; /* 0: a free slot */
    uint64_t known;
    char *bytes;
    size_t size;
} slots[SLOTS];

static int device;
static size_t used, quota;

/* ---- Replies */

static void reply(uint64_t unique, int error, const void *data, size_t bytes)
{
    struct fuse_out_header header = {
        .len = (uint32_t)(sizeof header + bytes), .error = -error, .unique = unique};
    struct iovec parts[] = {{&header, sizeof header}, {(void *)(uintptr_t)data, bytes}};
    if (writev(device, parts, bytes ? 2 : 1) < 0 && errno != ENOENT) /* an interrupted request */
        perror("fuse: a reply");
}

static struct fuse_attr attr_of(uint64_t node)
{
    const struct slot *slot = &slots[node - 1];
    return (struct fuse_attr){.ino = node,
                              .size = slot->size,
                              .blocks = (slot->size + 511) / 512,
                              .mode = slot->mode,
                              .nlink = 1,
                              .uid = getuid(),
                              .gid = getgid(),
                              .blksize = 4096};
}

static struct fuse_entry_out entry_of(uint64_t node)
{
    slots[node - 1].known++;
    return (struct fuse_entry_out){.nodeid = node, .attr = attr_of(node)};
}

/* ---- Slots */

static uint64_t find(uint64_t parent, const char *name)
{
    for (uint64_t i = 0; i < SLOTS; i++)
        if (slots[i].parent == parent && !strcmp(slots[i].name, name))
            return i + 1;
    return 0;
}

static uint64_t make(uint64_t parent, const char *name, uint32_t mode)
{
    for (uint64_t i = 0; i < SLOTS; i++)
        if (!slots[i].mode) {
            slots[i] = (struct slot){.parent = parent, .mode = mode};
            snprintf(slots[i].name, sizeof slots[i].name, "%s", name);
            return i + 1;
        }
    return 0;
}

static void free_unused(struct slot *slot)
{
    if (slot->parent || slot->known)
        return;
    used -= slot->size;
    free(slot->bytes);
    *slot = (struct slot){0};
}

/* Returns 0 or an error. */
static int resize(struct slot *slot, uint64_t size)
{
    if (size > LARGEST)
        return EFBIG;
    if (size > slot->size && used + (size - slot->size) > quota)
        return EDQUOT;
    char *bytes = realloc(slot->bytes, size + 1);
    if (!bytes)
        return ENOMEM;
    if (size > slot->size)
        memset(bytes + slot->size, 0, size - slot->size);
    used = used - slot->size + size;
    slot->bytes = bytes;
    slot->size = size;
    return 0;
}

/* ---- Requests */

static void remove_name(const struct fuse_in_header *in, const char *name)
{
    uint64_t node = find(in->nodeid, name);
    if (node) {
        slots[node - 1].parent = 0;
        free_unused(&slots[node - 1]);
    }
    reply(in->unique, node ? 0 : ENOENT, NULL, 0);
}

static void make_entry(const struct fuse_in_header *in, const char *name, uint32_t mode, bool open)
{
    struct {
        struct fuse_entry_out entry;
        struct fuse_open_out open;
    } out = {.open = {0}};
    uint64_t node = find(in->nodeid, name);
    if (node || !(node = make(in->nodeid, name, mode))) {
        reply(in->unique, node ? EEXIST : ENOSPC, NULL, 0);
        return;
    }
    out.entry = entry_of(node);
    reply(in->unique, 0, &out, open ? sizeof out : sizeof out.entry);
}

static void write_file(const struct fuse_in_header *in, const struct fuse_write_in *write)
{
    struct slot *slot = &slots[in->nodeid - 1];
    struct fuse_write_out out = {.size = write->size};
    uint64_t end = write->offset + write->size;
    int error = end > slot->size ? resize(slot, end) : 0;
    if (!error)
        memcpy(slot->bytes + write->offset, write + 1, write->size);
    reply(in->unique, error, &out, error ? 0 : sizeof out);
}

static void read_file(const struct fuse_in_header *in, const struct fuse_read_in *read)
{
    const struct slot *slot = &slots[in->nodeid - 1];
    size_t rest = read->offset < slot->size ? slot->size - read->offset : 0;
    reply(in->unique, 0, rest ? slot->bytes + read->offset : NULL,
          rest < read->size ? rest : read->size);
}

static void set_attr(const struct fuse_in_header *in, const struct fuse_setattr_in *set)
{
    struct slot *slot = &slots[in->nodeid - 1];
    int error = set->valid & FATTR_SIZE ? resize(slot, set->size) : 0;
    if (set->valid & FATTR_MODE)
        slot->mode = (slot->mode & S_IFMT) | (set->mode & 07777);
    struct fuse_attr_out out = {.attr = attr_of(in->nodeid)};
    reply(in->unique, error, &out, error ? 0 : sizeof out);
}

static void serve(const struct fuse_in_header *in, const void *data)
{
    struct slot *slot = &slots[in->nodeid ? in->nodeid - 1 : 0];
    struct fuse_entry_out entry;
    struct fuse_attr_out attr;
    uint64_t node;
    switch (in->opcode) {
    case FUSE_INIT: {
        struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
                                    .minor = 31,
                                    .max_readahead = WRITE_BYTES,
                                    .flags = FUSE_BIG_WRITES,
                                    .max_write = WRITE_BYTES};
        reply(in->unique, 0, &out, sizeof out);
        return;
    }
    case FUSE_LOOKUP:
        if (!(node = find(in->nodeid, data))) {
            reply(in->unique, ENOENT, NULL, 0);
            return;
        }
        entry = entry_of(node);
        reply(in->unique, 0, &entry, sizeof entry);
        return;
    case FUSE_FORGET:
        slot->known -= ((const struct fuse_forget_in *)data)->nlookup;
        free_unused(slot);
        return;
    case FUSE_BATCH_FORGET: {
        const struct fuse_batch_forget_in *batch = data;
        const struct fuse_forget_one *one = (const void *)(batch + 1);
        for (uint32_t i = 0; i < batch->count; i++) {
            slots[one[i].nodeid - 1].known -= one[i].nlookup;
            free_unused(&slots[one[i].nodeid - 1]);
        }
        return;
    }
    case FUSE_GETATTR:
        attr = (struct fuse_attr_out){.attr = attr_of(in->nodeid)};
        reply(in->unique, 0, &attr, sizeof attr);
        return;
    case FUSE_SETATTR:
        set_attr(in, data);
        return;
    case FUSE_CREATE: {
        const struct fuse_create_in *create = data;
        make_entry(in, (const char *)(create + 1), create->mode, true);
        return;
    }
    case FUSE_MKDIR: {
        const struct fuse_mkdir_in *folder = data;
        make_entry(in, (const char *)(folder + 1), S_IFDIR | folder->mode, false);
        return;
    }
    case FUSE_UNLINK:
    case FUSE_RMDIR:
        remove_name(in, data);
        return;
    case FUSE_OPEN:
    case FUSE_OPENDIR: {
        struct fuse_open_out out = {0};
        reply(in->unique, 0, &out, sizeof out);
        return;
    }
    case FUSE_READ:
        read_file(in, data);
        return;
    case FUSE_WRITE:
        write_file(in, data);
        return;
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_FSYNC:
    case FUSE_READDIR: /* an empty list */
        reply(in->unique, 0, NULL, 0);
        return;
    case FUSE_STATFS: {
        struct fuse_statfs_out out = {.st = {.bsize = 4096, .namelen = 255}};
        reply(in->unique, 0, &out, sizeof out);
        return;
    }
    case FUSE_INTERRUPT:
        return;
    default: /* FUSE_FALLOCATE, too */
        reply(in->unique, ENOSYS, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    static union {
        struct fuse_in_header header;
        char bytes[WRITE_BYTES + 8192];
    } request;
    char options[100];
    if (argc != 3) {
        fprintf(stderr, "usage: fuse FOLDER BYTES\n");
        return 2;
    }
    quota = strtoul(argv[2], NULL, 10);
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device,
             getuid(), getgid());
    if (device < 0 || mount("weft-test", argv[1], "fuse", MS_NOSUID | MS_NODEV, options)) {
        fprintf(stderr, "%s: %s\n", device < 0 ? "/dev/fuse" : "mount", strerror(errno));
        return 77;
    }
    slots[FUSE_ROOT_ID - 1] = (struct slot){.parent = FUSE_ROOT_ID, .mode = S_IFDIR | 0755};
    for (;;) {
        ssize_t n = read(device, &request, sizeof request);
        if (n < 0 && errno == ENODEV) /* unmounted */
            return 0;
        if (n < (ssize_t)sizeof request.header) {
            if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
                continue;
            perror("fuse: a request");
            return 1;
        }
        if (request.header.nodeid <= SLOTS)
            serve(&request.header, &request.header + 1);
    }
}
