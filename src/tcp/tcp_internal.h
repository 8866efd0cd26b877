// SPDX-License-Identifier: BSD-3-Clause
/*
 * The files of the lane tcp: socket.c (sockets and their events), address.c (addresses of this
 * host), dial.c (handshakes of this process's connections), listen.c (those of others, and ports),
 * link.c (connections of a peer, and their bytes), memory.c (that of a peer on this host),
 * message.c (frames, and the lane), monitor.c (detection of dead ranks of this job).
 */
#ifndef WEFT_TCP_INTERNAL_H
#define WEFT_TCP_INTERNAL_H

#include "core/message/foreign.h"
#include "core/message/lane.h"
#include "core/message/lane_fast.h"
#include "tcp/handshake.h"
#include "tcp/tcp.h"

/* monitor.c */
extern WEFT_HIDDEN const struct weft_lane_monitor weft_tcp_monitor;

/* ---- socket.c: sockets whose events progress handles */

struct weft_tcp_socket {
    int fd;          /* -1: closed */
    uint32_t events; /* of epoll, that are watched */
    void (*ready)(struct weft_tcp_socket *socket, uint32_t events);
};

int weft_tcp_sockets_open(void); /* 0, or -1 with errno */
void weft_tcp_sockets_close(void);

/* Watches a socket for events of epoll, or for other events. 0, or -1 with errno. */
int weft_tcp_watch(struct weft_tcp_socket *socket, uint32_t events);
void weft_tcp_unwatch(struct weft_tcp_socket *socket);
void weft_tcp_close(struct weft_tcp_socket *socket);

/* Frees memory that contains a socket, when no event can refer to it any more. */
void weft_tcp_free_later(void *memory);

/* Handles what is ready. Returns the number of events. */
int weft_tcp_handle_events(void);

/* Sleeps until something is ready, fd (-1: none) has data or an error, or so long. */
void weft_tcp_sleep(int fd, unsigned microseconds);

/* No delay of short frames; a host that has failed is found within a minute, though no byte is
 * sent.
 */
void weft_tcp_set_options(int fd);

/* True if the other host has acknowledged nothing for a minute, though data were sent again and
 * again: keepalive does not find that. A process that computes is not silent, as its host answers.
 */
bool weft_tcp_is_silent(int fd);

/* No delay of short frames, for a connection on which little is sent: it fails when the other host
 * has answered nothing for so many seconds (0: never). */
void weft_tcp_set_limits(int fd, unsigned seconds);

/* True for an errno of this process or host, as for too many open files: the call will succeed
 * later. Warns once. */
bool weft_tcp_is_shortage(int error);

/* send() and recv() without waiting, never interrupted: the bytes, 0 if none are possible now, -1
 * at the end or after an error, with errno (0: the end). */
ssize_t weft_tcp_write(int fd, const void *data, size_t bytes);
ssize_t weft_tcp_read(int fd, void *data, size_t bytes);

/* ---- address.c */

/* Fills the addresses at which this host listens; WEFT_IFACE selects. Returns an error class. */
int weft_tcp_addresses(struct weft_tcp_record *record, bool *one_interface);

/* The addresses of a record from another process at which this one can reach its host: none of this
 * host's own, if it is another host. */
void weft_tcp_addresses_of(const struct weft_tcp_record *from, const char *host,
                           struct weft_tcp_record *to);

/* A socket that listens at all addresses of this host, or at the first one of the record, whose
 * port it fills; -1 with errno. Of listen.c. */
int weft_tcp_listen(struct weft_tcp_record *at, bool one_interface);

/* An address as text. Returns buf. */
char *weft_tcp_address_text(const unsigned char *address, char *buf, size_t len);
bool weft_tcp_address_parse(const char *text, unsigned char *address);

/* A socket of the family of an address, not blocking, with its name; -1 with errno. */
struct sockaddr_storage;
int weft_tcp_socket_for(const unsigned char *address, uint16_t port, struct sockaddr_storage *name,
                        unsigned *len);

/* ---- dial.c */

/* A handshake of this process with a listener. */
struct weft_dial {
    struct weft_tcp_socket socket;
    struct weft_tcp_record record;
    unsigned index; /* of the address that is tried */
    enum {
        WEFT_DIAL_CONNECTS,
        WEFT_DIAL_READS_NONCE,
        WEFT_DIAL_READS_ANSWER,
        WEFT_DIAL_PAUSES /* between two rounds over the addresses of a link */
    } state;
    double deadline; /* seconds: of connect(), or of the pause */
    bool closed;     /* in this round an address has accepted, and closed the connection; */
    bool silent;     /* one has not answered */
    double pause;    /* seconds: the last one */
    double began;    /* seconds: the start; */
    double accepted; /* when an address has accepted last, or the start; */
    double left;     /* weft_tcp_dial_leave, or 0 */
    bool warned;     /* of refusals */
    struct weft_tcp_hello hello;
    struct weft_key key, nonce, answer;
    size_t have; /* bytes of nonce or answer */
    bool done;   /* the listener has answered: socket is connected, and not watched; or: */
    bool failed; /* no address has answered */
    char why[256];
    void (*prepare)(struct weft_dial *dial, void *arg); /* NULL, or chooses the key of a hello */
    void (*ended)(struct weft_dial *dial, void *arg);   /* may be NULL; may free it */
    void *arg;
    struct weft_dial *next;
};

/* Starts a handshake with a process on a host; hello has purpose and names. The caller may set
 * prepare, ended and arg. NULL without memory. */
struct weft_dial *weft_tcp_dial(const struct weft_tcp_record *record, const char *host,
                                const struct weft_tcp_hello *hello, struct weft_key key);

/* The link has bytes to send and is needed for no more; the dial ends when the other process has
 * refused it for a minute. */
void weft_tcp_dial_leave(struct weft_dial *dial);
void weft_tcp_dial_free(struct weft_dial *dial);
void weft_tcp_dials_check(void);

/* ---- listen.c */

/* This process's contact; valid after weft_tcp_open. */
extern struct weft_contact weft_tcp_own;

int weft_tcp_open(unsigned char *contact, size_t bytes);
int weft_tcp_open_port(char *name, size_t len);
int weft_tcp_close_port(const char *name);
int weft_tcp_take(const char *name, bool *done, struct weft_meeting *meeting);
int weft_tcp_check_port(const char *name);
int weft_tcp_dial_port(const char *name, struct weft_dial **dial);
int weft_tcp_step(struct weft_dial *dial, bool *done, struct weft_meeting *meeting);
void weft_tcp_strangers_check(void);
void weft_tcp_stop_listening(void);

/* ---- link.c */

enum weft_tcp_kind {
    WEFT_TCP_EAGER = 1,
    WEFT_TCP_ANNOUNCE,
    WEFT_TCP_ACK,
    WEFT_TCP_CTS,
    WEFT_TCP_FIN,
    WEFT_TCP_DATA,
    WEFT_TCP_CANCEL,
    WEFT_TCP_CANCELLED,
    WEFT_TCP_TOO_LATE,
    WEFT_TCP_CREDIT,
    WEFT_TCP_BYE,
    WEFT_TCP_ABORT,
    WEFT_TCP_REVOKE /* the communicator with that context is revoked */
};

/* The head of a frame. */
struct weft_tcp_frame {
    uint8_t kind, mode; /* BYE: mode is 1 if the sender leaves MPI */
    uint16_t zero;
    uint32_t payload; /* bytes that follow */
    uint32_t context;
    int32_t source, tag;
    uint32_t id;               /* number of the message among those to this peer */
    uint64_t sender, receiver; /* numbers of requests; ANNOUNCE: receiver is the address of
                                  contiguous data, or 0 */
    uint64_t length; /* of a message; CTS: bytes wanted; DATA: offset; CREDIT: bytes returned so
                        far of the connection with the number `sender`; ABORT: code */
};

enum {
    WEFT_TCP_EAGER_MAX = 16 << 10, /* as the other lanes' eager limits */
    WEFT_TCP_CHUNK = 64 << 10,     /* bytes of a long message in one frame */
    WEFT_TCP_QUEUE = 256 << 10,    /* pieces are packed while less waits to leave */
    WEFT_TCP_CREDITS = 4 << 20,    /* bytes of eager messages that a receiver may keep */
    WEFT_TCP_RETURN = 512 << 10    /* credits are returned in such amounts */
};

/* A reply against the direction of a connection: kind, number of the request. */
enum { WEFT_TCP_REPLY_BYTES = 1 + sizeof(uint64_t) };

/* A connection to a peer. */
struct weft_tcp_output {
    struct weft_tcp_socket socket;
    struct weft_tcp_peer *peer; /* NULL: disconnected, the rest of the bytes leaves */
    struct weft_foreign *foreign;
    struct weft_dial *dial;     /* not NULL while it is being made */
    uint64_t number;            /* of the connection: a random number, that both ends have */
    unsigned hellos;            /* sent to make it */
    uint64_t charged, returned; /* costs of its eager messages, and returned by the peer */
    bool needed;                /* a frame other than CREDIT was appended */
    unsigned char reply[WEFT_TCP_REPLY_BYTES]; /* a reply that is arriving, */
    size_t replied;                            /* and its bytes so far */
    unsigned char *bytes;
    size_t begin, end, space; /* what waits to leave */
    struct weft_tcp_output *next;
};

/* A connection from a peer. */
struct weft_tcp_source {
    struct weft_tcp_socket socket;
    struct weft_tcp_peer *peer; /* NULL: this process has forgotten it: */
    struct weft_key job;        /* that process */
    int rank;
    bool used;                 /* a frame has arrived */
    bool ended;                /* BYE has arrived */
    uint64_t number;           /* of the connection, at its output */
    uint64_t arrived, granted; /* costs of its eager messages, and returned to the peer */
    size_t begin, end;
    struct weft_tcp_source *next;
    unsigned char bytes[2 * (sizeof(struct weft_tcp_frame) + WEFT_TCP_CHUNK)];
};

/* The state of a peer. */
struct weft_tcp_peer {
    struct weft_peer *peer;
    struct weft_foreign *foreign;
    struct weft_tcp_output *output;
    struct weft_tcp_source *sources; /* the first is read */
    struct weft_request *pushing;    /* sends whose data are leaving, in order */
    uint32_t sent;                   /* messages */
    bool memory_tried,
        reads_memory;   /* whether this process may read its memory is known; it does */
    bool left;          /* it has left MPI */
    bool broken;        /* a connection with it has failed: */
    double reads_until; /* seconds: connections that it does not end are closed then, */
    char why[304];      /* because of this */
};

struct weft_tcp_peer *weft_tcp_peer_of(const struct weft_peer *peer);

/* The peer of a process, with its state. NULL without memory. */
struct weft_tcp_peer *weft_tcp_peer_get(struct weft_foreign *foreign);

/* Makes the connection to a peer, if there is none. */
void weft_tcp_connect(struct weft_tcp_peer *peer);

/* Appends a frame with space for its payload, which is returned, or NULL without payload. Ends the
 * job without memory. weft_tcp_flush sends it. */
unsigned char *weft_tcp_append(struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame);
void weft_tcp_flush(struct weft_tcp_peer *peer);

/* Bytes that wait to leave on the connection of a peer. */
size_t weft_tcp_waiting(const struct weft_tcp_peer *peer);

/* A connection from a peer has passed its handshake. */
void weft_tcp_accept(struct weft_foreign *foreign, int fd, uint64_t number);

/* Replies to a CANCEL on the connection on which it has come, for a process that has no
 * communicator with the peer any more, and so no connection to it. */
void weft_tcp_reply(struct weft_tcp_source *source, enum weft_tcp_kind kind, uint64_t number);

void weft_tcp_disconnect(struct weft_foreign *foreign);
void weft_tcp_forget(struct weft_foreign *foreign);
void weft_tcp_close_dead(struct weft_peer *peer);
void weft_tcp_links_check(void);
bool weft_tcp_links_idle(void);
void weft_tcp_links_leave(void);
void weft_tcp_links_close(void);

/* ---- memory.c */

/* Returns the address of this process's contact, and permits others of its user to read. */
uint64_t weft_tcp_memory_open(void);

/* Reads the memory of a process on this host. False if that is not possible; then some bytes may
 * have been read. */
bool weft_tcp_read_memory(struct weft_tcp_peer *peer, uint64_t address, void *to, size_t bytes);

/* ---- message.c: calls of link.c */

/* Takes a frame. False if no process sends such a frame. */
bool weft_tcp_arrived(struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame,
                      const unsigned char *payload);

/* Counts a frame that is dropped, from a process that this one has forgotten. */
void weft_tcp_dropped(struct weft_tcp_source *source, const struct weft_tcp_frame *frame);

/* Packs pieces of long messages while there is space. */
void weft_tcp_push(struct weft_tcp_peer *peer);

#endif
