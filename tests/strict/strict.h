// SPDX-License-Identifier: BSD-3-Clause
/*
 * The checker's objects. Each libfabric object that the program holds is one of these, whose first
 * member is the libfabric structure with the checker's functions, and which knows the real object.
 *
 * Invariants:
 *  - An operation is in its domain's list, and its context and buffers belong to the provider, from
 *    the call that posted it until its completion has been handed to the program.
 *  - Every function that the program calls runs between strict_enter and strict_leave, so that one
 *    thread at a time is in the checker.
 */
#ifndef STRICT_H
#define STRICT_H

#include "rules.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdbool.h>
#include <stdint.h>

enum { STRICT_IOVS = 8, STRICT_BUCKETS = 4096 };

/* profile.c: what a provider offers, and how much of its freedom it uses. */
struct strict_profile {
    const char *name;     /* for STRICT_PROFILE */
    const char *provider; /* prov_name */
    unsigned tag_bits;
    size_t inject_size, tx_iovs, rx_iovs, tx_size, rx_size, cq_data_size, key_size;
    int mr_mode;
    uint64_t mode, caps, order;
    bool peek, discard, wait; /* FI_PEEK and FI_CLAIM, FI_DISCARD, FI_WAIT_FD */
    bool delivers;            /* FI_DELIVERY_COMPLETE */
    unsigned eagain;          /* calls of a thousand that are answered -FI_EAGAIN */
    unsigned empty;           /* reads of a thousand that find nothing */
    unsigned late;            /* reads that a completion is held back at most */
    unsigned registrable;     /* KiB that may be registered after the first peer was inserted */
    unsigned connection;      /* KiB of these that the connection to a peer takes */
    size_t events;            /* entries of the adapter's event queue; 0: it has none */
    unsigned endpoints;       /* of a process; 0: no limit */
    size_t claimable;         /* bytes of the longest message that a claim receives; 0: all */
    bool peek_lacks_data;     /* the completion of a PEEK has no completion data */
    unsigned misses;          /* PEEKs that claim, of a thousand, that miss a message */
    bool device;              /* FI_HMEM and FI_MR_HMEM */
};

const struct strict_profile *strict_profile(void);

/* The real library; filled when the first function is called. */
struct strict_real {
    uint32_t (*version)(void);
    int (*getinfo)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *,
                   struct fi_info **);
    void (*freeinfo)(struct fi_info *);
    struct fi_info *(*dupinfo)(const struct fi_info *);
    int (*fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *);
    const char *(*strerror)(int);
};

const struct strict_real *strict_real(void);

/* A copy of what the program asks for, as the real provider has to be asked; to be freed with the
 * real freeinfo. */
struct fi_info *strict_unmask(const struct fi_info *info);

/* The real provider's name, and whether its remote addresses are virtual ones. */
const char *strict_base(void);
bool strict_base_virtual(void);

/* chance.c: numbers that a seed repeats. */
uint64_t strict_seed(void);
unsigned strict_random(unsigned below);
bool strict_chance(unsigned of_a_thousand);

struct strict_fabric {
    struct fid_fabric fid;
    struct fid_fabric *real;
    unsigned users;
};

struct strict_exposed; /* exposed.c */
struct strict_target;

struct strict_domain {
    struct fid_domain fid;
    struct fid_domain *real;
    struct strict_fabric *fabric;
    enum fi_threading threading;
    bool managed; /* FI_RM_ENABLED */
    bool device;  /* FI_HMEM was asked for */
    int inside;   /* the thread that is in a call, or 0 */
    unsigned users;
    bool has_peers;            /* an address was inserted */
    size_t registered;         /* bytes, since then */
    struct strict_op *ops;     /* in flight, or claimed */
    struct strict_mr *regions; /* open, newest first */
    struct strict_mr *by_key[STRICT_BUCKETS], *by_descriptor[STRICT_BUCKETS];
    struct strict_exposed *exposed;
    struct strict_domain *next;
};

struct strict_av {
    struct fid_av fid;
    struct fid_av *real;
    struct strict_domain *domain;
    struct strict_target *targets; /* every address inserted */
    size_t count;
    unsigned users;
};

struct strict_mr {
    struct fid_mr fid;
    struct fid_mr *real; /* NULL: for local operations only */
    struct strict_domain *domain;
    struct strict_ep *ep; /* FI_MR_ENDPOINT: bound to */
    char *base, *view;    /* view: base, or of device memory where the real provider finds it */
    size_t bytes;
    uint64_t access, key;
    unsigned users; /* operations in flight */
    bool counted;   /* in the domain's registered */
    struct strict_mr *next, **link;
    struct strict_mr *next_by_key, *next_by_descriptor;
};

struct strict_ep {
    struct fid_ep fid;
    struct fid_ep *real;
    struct strict_domain *domain;
    struct strict_av *av;
    struct strict_cq *tx_cq, *rx_cq;
    uint64_t caps;
    size_t tx_size, rx_size, tx_used, rx_used;
    unsigned regions; /* bound */
    bool enabled;
};

/* A completion that the program has not read yet. */
struct strict_done {
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error; /* if failed */
    bool failed;
    uint64_t due; /* the read from which on it may be handed out */
    struct strict_op *op;
    struct strict_done *next;
};

struct strict_cq {
    struct fid_cq fid;
    struct fid_cq *real;
    struct strict_domain *domain;
    size_t entry_bytes; /* of the program's format */
    uint64_t reads;
    struct strict_done *done;
    struct strict_done *failure; /* what fi_cq_readerr gives next */
    unsigned users;
};

enum strict_kind { STRICT_SEND, STRICT_RECV, STRICT_PEEK, STRICT_READ, STRICT_WRITE };

struct strict_op {
    struct fi_context2 context; /* the real provider's; first, so that a completion leads here */
    enum strict_kind kind;
    bool claims;  /* a PEEK that claims what it finds */
    size_t found; /* bytes of what a PEEK has found */
    bool claimed; /* it has: no longer in flight, but its context still is the provider's */
    bool sent;    /* the real provider needs the data no longer */
    struct strict_ep *ep;
    void *user;       /* the program's context */
    size_t user_room; /* bytes of it that the provider may use */
    uint64_t stamp;   /* what these are filled with */
    struct iovec iov[STRICT_IOVS + 1];
    struct strict_mr *regions[STRICT_IOVS];
    size_t pieces, bytes;
    uint64_t sum;                   /* of what is sent */
    struct strict_remote *remote;   /* what a read or write accesses */
    struct strict_op *next, **link; /* in the domain's list */
};

/* fabric.c */
void strict_enter(struct strict_domain *domain, const char *call);
void strict_leave(struct strict_domain *domain);
int strict_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);

/* Whether the program may free memory: called by memory.c for what is released. */
void strict_released(const void *memory, size_t bytes);

/* Memory is in the address space, or else the rule is broken, and no sanitizer says that it is
 * freed. */
void strict_check_memory(enum strict_rule rule, const void *memory, size_t bytes, const char *call);

/* Under AddressSanitizer: no buffer of an operation in flight is freed. */
void strict_check_in_flight(const struct strict_domain *domain);

/* device.c: looks for a driver of tests/gpu; the view on the host of its device memory, or NULL for
 * other memory; the interface of all device memory. */
void strict_device_find(void);
char *strict_device_view(const void *at, size_t bytes);
enum fi_hmem_iface strict_device_interface(void);

/* operation.c */
struct strict_op *strict_op_new(struct strict_ep *ep, enum strict_kind kind, void *user);
void strict_op_buffers(struct strict_op *op, const struct iovec *iov, void **desc, size_t count,
                       uint64_t access, const char *call);
void strict_op_posted(struct strict_op *op);
void strict_op_ended(struct strict_op *op);
void strict_op_finished(struct strict_op *op); /* checks and frees */
void strict_op_drop(struct strict_op *op); /* frees: it was not posted, or its endpoint closes */
struct strict_op *strict_op_of(struct strict_domain *domain, const void *user);
void strict_check_user_context(const struct strict_op *op);
bool strict_op_is_transmit(const struct strict_op *op);

/* queue.c */
int strict_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
                   void *context);
bool strict_cq_holds(struct strict_cq *cq);
void strict_cq_pull(struct strict_cq *cq);
struct strict_done *strict_cq_take(struct strict_cq *cq, const struct strict_op *op);
void strict_cq_failed(struct strict_cq *cq, struct strict_op *op, int error);
void strict_cq_forget(struct strict_cq *cq, const struct strict_ep *ep);

/* address.c */
int strict_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
                   void *context);
struct strict_target *strict_av_target(struct strict_av *av, fi_addr_t address, const char *call);

/* region.c */
int strict_mr_reg(struct fid *domain, const void *buffer, size_t bytes, uint64_t access,
                  uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **mr, void *context);
/* The open region that a descriptor is of, or NULL. */
struct strict_mr *strict_mr_of(struct strict_domain *domain, const void *descriptor);

/* False while there is no connection to a peer: making it takes time, and memory. */
bool strict_connect(struct strict_domain *domain, struct strict_target *target);
int strict_mr_regattr(struct fid *domain, const struct fi_mr_attr *attr, uint64_t flags,
                      struct fid_mr **mr);

/* endpoint.c, tagged.c, rma.c */
int strict_endpoint_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                         void *context);
extern struct fi_ops_tagged strict_tagged;
extern struct fi_ops_rma strict_rma;

/* Whether the queue has room for an operation, and the provider is in the mood. */
bool strict_takes(struct strict_ep *ep, bool transmit, const char *call);

/* exposed.c: the regions that peers may access, in a file for each domain that all processes see.
 */
struct strict_exposed *strict_exposed_open(void);
void strict_exposed_close(struct strict_exposed *exposed);
void strict_expose(struct strict_exposed *exposed, const struct strict_mr *mr);
void strict_conceal(struct strict_exposed *exposed, const struct strict_mr *mr);
void strict_exposed_name(struct strict_exposed *exposed, const void *name, size_t bytes);
struct strict_exposed *strict_exposed_of(const void *name, size_t bytes);

/* A remote access begins: checks it, and writes the real address. Returns what counts a read, or
 * NULL. */
struct strict_remote *strict_remote_begin(struct strict_exposed *exposed, uint64_t key,
                                          uint64_t address, size_t bytes, uint64_t access,
                                          uint64_t *real_address);
void strict_remote_end(struct strict_remote *remote);

/* How many accesses of peers to a region are under way. */
unsigned strict_remote_users(struct strict_exposed *exposed, const struct strict_mr *mr);

struct strict_target {
    fi_addr_t address;
    char name[256];
    size_t name_bytes;
    struct strict_exposed *exposed; /* NULL until a remote access needs it */
    bool connected;
    unsigned tries; /* to send to it before */
};

#endif
