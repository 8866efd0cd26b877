// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of GPUs: which addresses are device memory, and copies to and from it.
 *
 * The driver's library is never loaded: its functions are looked up once the program has loaded it
 * (driver.h). A process looks for that if it has the library when MPI starts, or if the machine has
 * the driver's device file, because the program may load the library at its first use of the GPU.
 *
 * Invariants:
 *  - Addresses are classified each time, by the driver unless they are on the heap or the stack. A
 *    cache would be wrong after memory was freed and its addresses used again.
 *  - Managed memory and host memory that is registered with the driver are host memory.
 *  - No current context is needed, and the thread's is the same afterwards.
 *  - A mapping of another process's memory is not closed while it is in use. Lengths and offsets
 *    that the other process has written are compared with what the driver has mapped.
 */
#ifndef WEFT_GPU_H
#define WEFT_GPU_H

#include "core/base/handle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_gpu_setting { WEFT_GPU_AUTO, WEFT_GPU_OFF, WEFT_GPU_ON };

/* True if addresses have to be classified. Constant while MPI runs. */
extern WEFT_HIDDEN bool weft_gpu_enabled;

/* Sets weft_gpu_enabled, by the setting WEFT_GPU. */
void weft_gpu_open(void);

/* True if an address is memory of a GPU that the processor cannot access. */
WEFT_COLD bool weft_gpu_owns(const void *at);

/* For reports: the driver, and how messages pass, as "CUDA driver 12.4, messages through host
 * memory". NULL if no library is loaded. */
const char *weft_gpu_describe(char *buf, size_t len);

/* Copies between device memory and host memory, or within device memory; returns when the data have
 * arrived. Ends the job if the driver reports an error. */
void weft_gpu_copy(void *to, const void *from, size_t bytes);

/* Rows of equal length: contiguous on the host, pitch bytes apart on the device. */
struct weft_gpu_rows {
    uintptr_t device;
    char *host;
    size_t bytes, rows;
    intptr_t pitch;
};

/* Copies between weft_gpu_begin and weft_gpu_end, which returns when all data have arrived. They
 * may be executed at once. device: an address in the memory of the device. */
void weft_gpu_begin(const void *device);
void weft_gpu_copy_rows(bool to_device, const struct weft_gpu_rows *rows);
void weft_gpu_end(void);

/* The same without waiting for the data: weft_gpu_begin_later, copies, weft_gpu_end_later. The
 * copies have ended when weft_gpu_has_ended has returned true, which frees the event; until then
 * both memories are theirs. Copies to the device and copies from it do not wait for each other. */
struct weft_gpu_event {
    void *context, *event; /* of the driver; event NULL: the copies have ended */
};
void weft_gpu_begin_later(const void *device, bool to_device);
struct weft_gpu_event weft_gpu_end_later(void);
bool weft_gpu_has_ended(struct weft_gpu_event *event);

/* ---- Host memory that the driver reads and writes without copying it first */

/* Registers memory of full pages. False if the driver refuses. */
bool weft_gpu_pin(void *host, size_t bytes);
void weft_gpu_unpin(void *host);

/* ---- Memory of other processes of the node (CUDA IPC) */

enum { WEFT_GPU_HANDLE = 64 };

/* Device memory, as its owner describes it to other processes. */
struct weft_gpu_export {
    unsigned char handle[WEFT_GPU_HANDLE]; /* of the driver */
    uint64_t buffer;                       /* the allocation's number, never used again */
    uint64_t base, bytes, offset;          /* of the allocation; the data begin at the offset */
};

/* False if the driver exports no such memory: that of pools, mapped memory. */
bool weft_gpu_export(const void *device, struct weft_gpu_export *out);

/* True if this process may map memory of others. */
bool weft_gpu_imports(void);

/* Maps memory of another process, which its rank names, and of which so many bytes are to be copied
 * to device memory, or (NULL) to the host: *at is the address of the data, until
 * weft_gpu_import_end. NULL if the driver refuses. Mappings are kept for the next messages. */
struct weft_gpu_import;
struct weft_gpu_import *weft_gpu_import(int owner, const struct weft_gpu_export *from, size_t bytes,
                                        const void *to, const void **at);
void weft_gpu_import_end(struct weft_gpu_import *import);

/* Closes all mappings. */
void weft_gpu_close(void);

/* ---- Device memory that adapters read and write */

/* A device, as libfabric names it. */
struct weft_gpu_device {
    enum { WEFT_GPU_CUDA, WEFT_GPU_HIP } interface;
    int number;
};

/* The device of memory for which weft_gpu_owns is true, after the copies of the program that have
 * been given to the driver have ended. */
struct weft_gpu_device weft_gpu_device_of(const void *at);

/* Bytes copied between device memory and host memory, and from memory of other processes; bytes of
 * messages whose device memory was registered with the provider. */
struct weft_gpu_counts {
    uint64_t staged, ipc, direct;
};
extern WEFT_HIDDEN struct weft_gpu_counts weft_gpu_counts;

#endif
