/*
 * null_postgres [FOLDER]: a PostgreSQL server that answers from canned bytes (null_answer.h):
 * what a client costs, and how fast it can go, with no database behind it. One thread, one
 * loop, up to as many connections as the system lets us have descriptors.
 *
 * Listens on a free port of 127.0.0.1 and, given a folder, on FOLDER/.s.PGSQL.PORT. Prints the
 * port when it is ready, and at the end how many messages of each type came ("B 1000"). Ends on
 * SIGTERM, SIGINT, or when its standard input is a pipe that
 * closes, so that it cannot outlive who started it.
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "loop/loop.h"
#include "null_answer.h"
#include "os/proc.h"
#include "os/sig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    CONNS_MOST = 65536, /* by descriptor */
    READ_BYTES = 65536,
    IN_BYTES = NULL_KEPT_BYTES + READ_BYTES,
    OUT_BYTES = 1 << 18,
    EVENTS = 64,
    BACKLOG = 4096,
};

/* Bytes are kept only while a message has not come whole, or a client does not read. */
struct conn {
    struct null_session session;
    bool open, closing; /* closing: what is unsent is sent first */
    char *in, *out;
    size_t in_bytes, out_sent, out_bytes;
};

struct null_server {
    struct loop *loop;
    struct conn *conns; /* CONNS_MOST, by descriptor; pages are touched when used */
    char *in;           /* of the connection at hand */
    struct null_out out;
    int tcp, local;
    char path[108]; /* of the socket, "" without one */
};

static void close_conn(struct null_server *server, int fd)
{
    struct conn *conn = &server->conns[fd];
    loop_forget(server->loop, fd);
    close(fd);
    free(conn->in);
    free(conn->out);
    *conn = (struct conn){.open = false};
}

static char *copy_bytes(const char *from, size_t bytes)
{
    char *copy = malloc(bytes);
    if (!copy)
        abort();
    memcpy(copy, from, bytes);
    return copy;
}

/* Sends; what the client does not take now is kept, and nothing more is read from it before
 * that is gone. False: the connection is lost. */
static bool send_answers(struct null_server *server, int fd)
{
    struct conn *conn = &server->conns[fd];
    struct null_out *out = &server->out;
    struct err ignored;
    ssize_t sent = send(fd, out->at, out->used, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    size_t done = sent > 0 ? (size_t)sent : 0;
    if (done == out->used)
        return true;
    conn->out_bytes = out->used - done;
    conn->out_sent = 0;
    conn->out = copy_bytes(out->at + done, conn->out_bytes);
    return loop_watch(server->loop, fd, (uint32_t)fd, false, true, &ignored);
}

/* Answers what is in server->in; false: close. */
static bool answer_bytes(struct null_server *server, int fd, size_t bytes)
{
    struct conn *conn = &server->conns[fd];
    size_t at = 0;
    while (!conn->out && !conn->closing) {
        size_t consumed = 0;
        server->out.used = 0;
        conn->closing =
            !null_answer(&conn->session, server->in + at, bytes - at, &server->out, &consumed);
        at += consumed;
        if (server->out.used == 0)
            break;
        if (!send_answers(server, fd))
            return false;
    }
    if (conn->closing)
        return conn->out != NULL;
    if (bytes > at)
        conn->in = copy_bytes(server->in + at, bytes - at);
    conn->in_bytes = bytes - at;
    return true;
}

/* What was kept, if anything, to the front of server->in. */
static size_t take_kept(struct null_server *server, struct conn *conn)
{
    size_t kept = conn->in_bytes;
    if (kept > 0) {
        memcpy(server->in, conn->in, kept);
        free(conn->in);
        conn->in = NULL;
        conn->in_bytes = 0;
    }
    return kept;
}

static bool read_conn(struct null_server *server, int fd)
{
    struct conn *conn = &server->conns[fd];
    size_t kept = take_kept(server, conn);
    ssize_t got = recv(fd, server->in + kept, IN_BYTES - kept, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        return false;
    return answer_bytes(server, fd, kept + (got > 0 ? (size_t)got : 0));
}

static bool write_conn(struct null_server *server, int fd)
{
    struct conn *conn = &server->conns[fd];
    struct err ignored;
    size_t left = conn->out_bytes - conn->out_sent;
    ssize_t sent = send(fd, conn->out + conn->out_sent, left, MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    conn->out_sent += (size_t)sent;
    if (conn->out_sent < conn->out_bytes)
        return true;
    free(conn->out);
    conn->out = NULL;
    if (conn->closing || !loop_watch(server->loop, fd, (uint32_t)fd, true, false, &ignored))
        return false;
    return answer_bytes(server, fd, take_kept(server, conn));
}

static void accept_all(struct null_server *server, int listener)
{
    const int yes = 1;
    struct err ignored;
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (fd >= CONNS_MOST ||
            !loop_watch(server->loop, fd, (uint32_t)fd, true, false, &ignored)) {
            close(fd);
            continue;
        }
        server->conns[fd] = (struct conn){.open = true};
    }
}

static void serve_event(struct null_server *server, const struct loop_event *event)
{
    int fd = (int)event->index;
    if (event->kind != LOOP_FD)
        return;
    if (fd == STDIN_FILENO) {
        char byte;
        if (read(fd, &byte, 1) <= 0)
            sig_request(SIGTERM);
    } else if (fd == server->tcp || fd == server->local) {
        accept_all(server, fd);
    } else if (server->conns[fd].open) {
        bool waits = server->conns[fd].out != NULL;
        if (!(waits ? write_conn(server, fd) : read_conn(server, fd)))
            close_conn(server, fd);
    }
}

static void serve(struct null_server *server)
{
    struct loop_event events[EVENTS];
    while (sig_pending() == 0) {
        unsigned count = loop_wait(server->loop, events, EVENTS);
        for (unsigned i = 0; i < count; i++)
            serve_event(server, &events[i]);
    }
}

/* ---- start and end */

static bool listen_at(int fd, const struct sockaddr *address, socklen_t bytes, struct err *err)
{
    return (fd >= 0 && bind(fd, address, bytes) == 0 && listen(fd, BACKLOG) == 0) ||
           err_errno(err, "listening");
}

static int open_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static bool listen_tcp(struct null_server *server, uint16_t *port, struct err *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t bytes = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->tcp = open_socket(AF_INET);
    if (!listen_at(server->tcp, (struct sockaddr *)&address, bytes, err))
        return false;
    if (getsockname(server->tcp, (struct sockaddr *)&address, &bytes) != 0)
        return err_errno(err, "asking for the port");
    *port = ntohs(address.sin_port);
    return true;
}

static bool listen_local(struct null_server *server, const char *folder, uint16_t port,
                         struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(folder) + sizeof "/.s.PGSQL.65535" > sizeof address.sun_path)
        return err_set(err, ERR_USAGE, "the folder's name is too long for a socket");
    text_print(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.%u", folder, port);
    server->local = open_socket(AF_UNIX);
    if (!listen_at(server->local, (struct sockaddr *)&address, sizeof address, err))
        return false;
    memcpy(server->path, address.sun_path, sizeof server->path);
    return true;
}

static bool watch(struct null_server *server, int fd, struct err *err)
{
    return fd < 0 || loop_watch(server->loop, fd, (uint32_t)fd, true, false, err);
}

static bool start(struct null_server *server, struct arena *arena, const char *folder,
                  struct err *err)
{
    uint16_t port = 0;
    struct err ignored;
    if (!loop_create(arena, &server->loop, err) || !listen_tcp(server, &port, err) ||
        (folder && !listen_local(server, folder, port, err)) ||
        !watch(server, server->tcp, err) || !watch(server, server->local, err))
        return false;
    (void)watch(server, STDIN_FILENO, &ignored); /* a file cannot be watched */
    server->conns = arena_array(arena, struct conn, CONNS_MOST);
    server->in = arena_array(arena, char, IN_BYTES);
    server->out =
        (struct null_out){.at = arena_array(arena, char, OUT_BYTES), .room = OUT_BYTES};
    printf("%u\n", port);
    return fflush(stdout) == 0 || err_errno(err, "saying the port");
}

static void finish(struct null_server *server)
{
    for (int fd = 0; server->conns && fd < CONNS_MOST; fd++) {
        if (server->conns[fd].open)
            close_conn(server, fd);
    }
    for (int type = 0; type < 256; type++) {
        if (server->out.counts[type] > 0)
            printf("%c %" PRIu64 "\n", type, server->out.counts[type]);
    }
    loop_destroy(&server->loop);
    if (server->path[0])
        (void)unlink(server->path);
}

int main(int argc, char **argv)
{
    struct null_server server = {.tcp = -1, .local = -1};
    struct arena *arena = arena_create(65536);
    struct err err = {0};
    if (argc > 2) {
        (void)fputs("usage: null_postgres [FOLDER]\n", stderr);
        return 2;
    }
    proc_allow_descriptors();
    sig_install();
    bool ok = start(&server, arena, argc > 1 ? argv[1] : NULL, &err);
    if (ok)
        serve(&server);
    else
        (void)fprintf(stderr, "null_postgres: %s\n", err.text);
    finish(&server);
    arena_destroy(&arena);
    return ok ? 0 : err_exit_code(err.kind);
}
