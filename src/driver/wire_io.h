#ifndef DRIVER_WIRE_IO_H
#define DRIVER_WIRE_IO_H

/*
 * What the two wire clients share: a connection's socket, taken over from the library that
 * logged in, and its bytes in both directions.
 *
 * Take-over: the library's socket is duplicated, /dev/null is put in its place, and the
 * library's connection is released (what it says at the end goes to /dev/null). A TLS session
 * stays with the library: then its connection is kept, and bytes go through SSL_read and
 * SSL_write.
 *
 * Buffers are malloc'ed and grow when a message needs it, never beyond `most`; pages that were
 * never used are never touched, so that 5,000 idle connections stay small. Nothing else here
 * allocates.
 */

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire_io {
    int fd;    /* non-blocking; the same from take-over to close; 0: none yet */
    void *tls; /* SSL *, borrowed from the library; NULL: plain */
    char *out; /* bytes out_sent .. out_used wait to be sent */
    size_t out_sent, out_used, out_room;
    char *in; /* bytes in_start .. in_used are received and not yet consumed */
    size_t in_start, in_used, in_room;
    size_t most;     /* bytes of a buffer at most */
    char error[160]; /* why the connection is lost, in words */
};

enum wire_io_state {
    WIRE_IO_DONE,  /* all is sent; or some bytes were received */
    WIRE_IO_READ,  /* wait for reading */
    WIRE_IO_WRITE, /* wait for writing */
    WIRE_IO_LOST,  /* see error */
};

/* Plain: duplicates library_fd and puts /dev/null in its place. The caller releases the
 * library's connection afterwards. With a TLS session: keeps library_fd as it is, and fd is a
 * duplicate for waiting and cutting. */
MUST_CHECK bool wire_io_take(struct wire_io *io, int library_fd, void *tls, size_t most,
                             struct err *err);
void wire_io_close(struct wire_io *io); /* any state; not the library's connection */
void wire_io_sever(struct wire_io *io); /* from another thread: shutdown, never blocks */

/* Room for `bytes` more behind out_used, where they may be written; NULL when that would pass
 * `most` or memory is out. The caller then adds to out_used what it wrote. */
char *wire_io_room(struct wire_io *io, size_t bytes);

enum wire_io_state wire_io_send(struct wire_io *io);
/* The same where nothing is sent yet. False: wire_io_send() has more to do, or to say. */
bool wire_io_send_first(struct wire_io *io);

/* One read into the room behind in_used. Makes room first: moves what is unread to the front,
 * or grows the buffer to hold `need` bytes from in_start (0: as it is). Past `most` it is LOST.
 */
enum wire_io_state wire_io_receive(struct wire_io *io, size_t need);
/* The same where nothing is unread. */
enum wire_io_state wire_io_receive_first(struct wire_io *io);

#endif
