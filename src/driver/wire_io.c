#include "driver/wire_io.h"

#include "base/text.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A buffer that a read has filled grows to STREAM_BYTES, so that a large result needs fewer of
 * them; beyond that only for a message that needs it. */
enum { OUT_FIRST_BYTES = 1024, IN_FIRST_BYTES = 4096, STREAM_BYTES = 65536, FD_LEAST = 3 };

static enum wire_io_state lose(struct wire_io *io, const char *what, const char *why)
{
    text_print(io->error, sizeof(io->error), "%s%s%s", what, *why ? ": " : "", why);
    return WIRE_IO_LOST;
}

static enum wire_io_state lose_errno(struct wire_io *io, const char *what)
{
    char reason[100];
    return lose(io, what, strerror_r(errno, reason, sizeof(reason)));
}

/* Puts /dev/null in the place of the library's socket. */
static bool put_null(int library_fd, struct err *err)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return err_errno(err, "opening /dev/null");
    bool ok = dup3(null, library_fd, O_CLOEXEC) >= 0 ||
              err_errno(err, "replacing the client library's socket");
    close(null);
    return ok;
}

bool wire_io_take(struct wire_io *io, int library_fd, void *tls, size_t most, struct err *err)
{
    int fd = fcntl(library_fd, F_DUPFD_CLOEXEC, FD_LEAST);
    if (fd < 0)
        return err_errno(err, "taking over the client library's socket");
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
        (void)err_errno(err, "making a socket non-blocking");
        close(fd);
        return false;
    }
    if (!tls && !put_null(library_fd, err)) {
        close(fd);
        return false;
    }
    *io = (struct wire_io){.fd = fd, .tls = tls, .most = most};
    if (tls)
        (void)SSL_set_mode(tls,
                           SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return true;
}

void wire_io_close(struct wire_io *io)
{
    if (io->fd > 0)
        close(io->fd);
    free(io->out);
    free(io->in);
    *io = (struct wire_io){0};
}

void wire_io_sever(struct wire_io *io)
{
    if (io->fd > 0)
        (void)shutdown(io->fd, SHUT_RDWR);
}

/* Doubles *room until it holds `want` bytes. */
static bool grow(char **at, size_t *room, size_t want, size_t most)
{
    size_t fresh = *room;
    if (want > most)
        return false;
    while (fresh < want)
        fresh = fresh <= most / 2 ? 2 * fresh : most;
    char *moved = realloc(*at, fresh);
    if (!moved)
        return false;
    *at = moved;
    *room = fresh;
    return true;
}

char *wire_io_room(struct wire_io *io, size_t bytes)
{
    if (io->out_sent > 0) {
        memmove(io->out, io->out + io->out_sent, io->out_used - io->out_sent);
        io->out_used -= io->out_sent;
        io->out_sent = 0;
    }
    if (bytes > io->out_room - io->out_used) {
        size_t room = io->out_room ? io->out_room : OUT_FIRST_BYTES;
        size_t want = io->out_used + bytes;
        if (want < bytes || !grow(&io->out, &room, want, io->most))
            return NULL;
        io->out_room = room;
    }
    return io->out + io->out_used;
}

/* SSL's answer as ours. Its buffered errors belong to the thread, so they are cleared before
 * each call. */
static enum wire_io_state tls_state(struct wire_io *io, int got, const char *what)
{
    char reason[120] = "";
    switch (SSL_get_error(io->tls, got)) {
    case SSL_ERROR_WANT_READ: return WIRE_IO_READ;
    case SSL_ERROR_WANT_WRITE: return WIRE_IO_WRITE;
    case SSL_ERROR_ZERO_RETURN: return lose(io, "the server closed the connection", "");
    case SSL_ERROR_SYSCALL:
        if (errno)
            return lose_errno(io, what);
        return lose(io, "the server closed the connection", "");
    default: break;
    }
    ERR_error_string_n(ERR_get_error(), reason, sizeof(reason));
    return lose(io, what, reason);
}

static int clamp(size_t bytes)
{
    return bytes < INT_MAX ? (int)bytes : INT_MAX;
}

/* SIGPIPE: libpq's own reading and writing under SSL uses MSG_NOSIGNAL; a library that leaves
 * this to OpenSSL's sockets needs the signal ignored, as os/sig.h does. */
static enum wire_io_state tls_send(struct wire_io *io)
{
    while (io->out_sent < io->out_used) {
        ERR_clear_error();
        errno = 0;
        int put =
            SSL_write(io->tls, io->out + io->out_sent, clamp(io->out_used - io->out_sent));
        if (put <= 0)
            return tls_state(io, put, "sending");
        io->out_sent += (size_t)put;
    }
    return WIRE_IO_DONE;
}

/* Not send() and recv(): in a program with threads the C library surrounds them with the
 * bookkeeping of pthread_cancel(), which nobody here uses, and which is more than they do. */
static ssize_t socket_send(const struct wire_io *io)
{
    const struct sockaddr *none = NULL;
    return syscall(SYS_sendto, io->fd, io->out + io->out_sent, io->out_used - io->out_sent,
                   MSG_NOSIGNAL, none, 0);
}

static ssize_t socket_receive(const struct wire_io *io)
{
    return syscall(SYS_read, io->fd, io->in + io->in_used, io->in_room - io->in_used);
}

static NOINLINE enum wire_io_state plain_send(struct wire_io *io)
{
    while (io->out_sent < io->out_used) {
        ssize_t put = socket_send(io);
        if (put >= 0)
            io->out_sent += (size_t)put;
        else if (errno == EAGAIN)
            return WIRE_IO_WRITE;
        else if (errno != EINTR)
            return lose_errno(io, "sending");
    }
    return WIRE_IO_DONE;
}

static NOINLINE enum wire_io_state send_rest(struct wire_io *io)
{
    enum wire_io_state state = io->tls ? tls_send(io) : plain_send(io);
    if (io->out_sent == io->out_used)
        io->out_sent = io->out_used = 0;
    return state;
}

HOT bool wire_io_send_first(struct wire_io *io)
{
    ssize_t put = io->tls ? 0 : socket_send(io);
    if (put == (ssize_t)io->out_used) {
        io->out_used = 0;
        return true;
    }
    io->out_sent = put > 0 ? (size_t)put : 0;
    return false;
}

static bool make_room(struct wire_io *io, size_t need)
{
    size_t room = io->in_room ? io->in_room : IN_FIRST_BYTES;
    size_t unread = io->in_used - io->in_start;
    if (need <= unread)
        need = unread + 1;
    if (need > room && !grow(&io->in, &room, need, io->most))
        return false;
    if (!io->in)
        io->in = malloc(room);
    if (!io->in)
        return false;
    io->in_room = room;
    if (io->in_start > 0)
        memmove(io->in, io->in + io->in_start, unread);
    io->in_start = 0;
    io->in_used = unread;
    return true;
}

static NOINLINE enum wire_io_state tls_receive(struct wire_io *io)
{
    ERR_clear_error();
    errno = 0;
    int got = SSL_read(io->tls, io->in + io->in_used, clamp(io->in_room - io->in_used));
    if (got > 0) {
        io->in_used += (size_t)got;
        return WIRE_IO_DONE;
    }
    return tls_state(io, got, "receiving");
}

static NOINLINE enum wire_io_state no_bytes(struct wire_io *io, ssize_t got)
{
    if (got == 0)
        return lose(io, "the server closed the connection",
                    io->in_used > io->in_start ? "in the middle of a message" : "");
    return errno == EAGAIN || errno == EINTR ? WIRE_IO_READ : lose_errno(io, "receiving");
}

HOT enum wire_io_state wire_io_send(struct wire_io *io)
{
    if (io->tls)
        return send_rest(io);
    ssize_t put = socket_send(io);
    if (put > 0)
        io->out_sent += (size_t)put;
    if (io->out_sent != io->out_used)
        return send_rest(io);
    io->out_sent = io->out_used = 0;
    return WIRE_IO_DONE;
}

/* Something is unread, or the last read has filled the buffer, or there is none yet. */
static NOINLINE bool find_room(struct wire_io *io, size_t need)
{
    bool filled = io->in_used == io->in_room && io->in_room < STREAM_BYTES;
    if (filled && need < 2 * io->in_room && 2 * io->in_room <= io->most)
        need = 2 * io->in_room;
    if (io->in_start == io->in_used)
        io->in_start = io->in_used = 0;
    if ((io->in_used < io->in_room && need <= io->in_room - io->in_start) ||
        make_room(io, need))
        return true;
    text_print(io->error, sizeof(io->error),
               "a message of %zu bytes is larger than the %zu that are accepted", need,
               io->most);
    return false;
}

HOT enum wire_io_state wire_io_receive(struct wire_io *io, size_t need)
{
    if (io->in_start == io->in_used && io->in_used < io->in_room && need <= io->in_room)
        io->in_start = io->in_used = 0;
    else if (!find_room(io, need))
        return WIRE_IO_LOST;
    if (io->tls)
        return tls_receive(io);
    ssize_t got = socket_receive(io);
    if (got <= 0)
        return no_bytes(io, got);
    io->in_used += (size_t)got;
    return WIRE_IO_DONE;
}

HOT enum wire_io_state wire_io_receive_first(struct wire_io *io)
{
    if (io->tls || io->in_room == 0)
        return wire_io_receive(io, 1);
    io->in_start = io->in_used = 0;
    ssize_t got = socket_receive(io);
    if (got <= 0)
        return no_bytes(io, got);
    io->in_used = (size_t)got;
    return WIRE_IO_DONE;
}
