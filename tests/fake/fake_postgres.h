#ifndef FAKE_POSTGRES_H
#define FAKE_POSTGRES_H

/*
 * A PostgreSQL server with known times: it answers every statement with one row, the integer 1,
 * after a service time that it measures itself, from the last byte read until just before the
 * answer is sent. One connection, one thread, a unix socket in a private folder. Message
 * formats: PostgreSQL manual, "Frontend/Backend Protocol".
 */

#include "os/now.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FAKE_TIMES_MAX 65536

struct fake_postgres {
    char folder[64], path[96];
    int listener;
    pthread_t thread;
    uint64_t service_ns;            /* of every Execute; 0: at once */
    uint64_t sleep_ns;              /* it sleeps so much of it, and spins the rest */
    uint64_t freeze_every;          /* every so many statements … */
    uint64_t freeze_ns;             /* … it takes so much longer; 0: never */
    uint64_t times[FAKE_TIMES_MAX]; /* its own measurements of executed statements */
    uint64_t ended[FAKE_TIMES_MAX]; /* and when each was done */
    uint32_t count;
};

struct fake_out {
    unsigned char at[2048];
    size_t bytes;
};

static void fake_u32(unsigned char *at, uint32_t value)
{
    at[0] = (unsigned char)(value >> 24);
    at[1] = (unsigned char)(value >> 16);
    at[2] = (unsigned char)(value >> 8);
    at[3] = (unsigned char)value;
}

static void fake_add(struct fake_out *out, char type, const void *body, size_t bytes)
{
    if (out->bytes + bytes + 5 > sizeof out->at)
        abort();
    out->at[out->bytes] = (unsigned char)type;
    fake_u32(out->at + out->bytes + 1, (uint32_t)bytes + 4);
    memcpy(out->at + out->bytes + 5, body, bytes);
    out->bytes += bytes + 5;
}

static bool fake_read(int fd, void *buffer, size_t bytes)
{
    char *at = buffer;
    while (bytes > 0) {
        ssize_t got = read(fd, at, bytes);
        if (got <= 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

static void fake_send(int fd, struct fake_out *out)
{
    size_t sent = 0;
    while (sent < out->bytes) {
        ssize_t n = send(fd, out->at + sent, out->bytes - sent, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    out->bytes = 0;
}

static void fake_hello(struct fake_out *out)
{
    static const char *const status[][2] = {
        {"server_version",              "15.0"},
        {"server_encoding",             "UTF8"},
        {"client_encoding",             "UTF8"},
        {"standard_conforming_strings", "on"  },
        {"integer_datetimes",           "on"  }
    };
    fake_add(out, 'R', "\0\0\0\0", 4);
    for (size_t i = 0; i < sizeof status / sizeof *status; i++) {
        char body[64];
        size_t name = strlen(status[i][0]) + 1, value = strlen(status[i][1]) + 1;
        memcpy(body, status[i][0], name);
        memcpy(body + name, status[i][1], value);
        fake_add(out, 'S', body, name + value);
    }
    fake_add(out, 'K', "\0\0\0\1\0\0\0\1", 8);
    fake_add(out, 'Z', "I", 1);
}

static void fake_row_description(struct fake_out *out)
{
    static const unsigned char body[] = "\0\1"
                                        "one\0"
                                        "\0\0\0\0"
                                        "\0\0"
                                        "\0\0\0\27"
                                        "\0\4"
                                        "\377\377\377\377"
                                        "\0";
    fake_add(out, 'T', body, 2 + 4 + 4 + 2 + 4 + 2 + 4 + 2);
}

static void fake_row(struct fake_out *out)
{
    fake_add(out, 'D',
             "\0\1\0\0\0\1"
             "1",
             7);
    fake_add(out, 'C', "SELECT 1", 9);
}

/* The work: spins at its end, because a sleep ends late. */
static void fake_work(struct fake_postgres *fake, uint64_t start_ns)
{
    uint64_t due_ns = start_ns + fake->service_ns;
    if (fake->freeze_ns && (fake->count + 1) % fake->freeze_every == 0)
        due_ns += fake->freeze_ns;
    if (fake->sleep_ns > 0)
        os_sleep_until_ns(due_ns - fake->service_ns + fake->sleep_ns);
    while (os_now_ns() < due_ns) {
    }
}

static void fake_message(struct fake_postgres *fake, int fd, char type, struct fake_out *out,
                         uint64_t *started_ns)
{
    switch (type) {
    case 'P': fake_add(out, '1', "", 0); break;
    case 'B': fake_add(out, '2', "", 0); break;
    case 'D': fake_row_description(out); break;
    case 'E':
        fake_row(out);
        *started_ns = os_now_ns();
        break;
    case 'C': fake_add(out, '3', "", 0); break;
    case 'Q':
        fake_add(out, 'C', "DEALLOCATE ALL", 15);
        fake_add(out, 'Z', "I", 1);
        fake_send(fd, out);
        break;
    case 'S':
        fake_add(out, 'Z', "I", 1);
        if (*started_ns) {
            fake_work(fake, *started_ns);
            if (fake->count < FAKE_TIMES_MAX) {
                fake->ended[fake->count] = os_now_ns();
                fake->times[fake->count] = fake->ended[fake->count] - *started_ns;
                fake->count++;
            }
            *started_ns = 0;
        }
        fake_send(fd, out);
        break;
    default: break;
    }
}

static void fake_serve(struct fake_postgres *fake, int fd)
{
    struct fake_out out = {.bytes = 0};
    unsigned char head[5], body[8192];
    uint64_t started_ns = 0;
    if (!fake_read(fd, head, 4))
        return;
    uint32_t length = (uint32_t)head[2] << 8 | head[3];
    if (length < 4 || length - 4 > sizeof body || !fake_read(fd, body, length - 4))
        return;
    fake_hello(&out);
    fake_send(fd, &out);
    while (fake_read(fd, head, 5)) {
        length = (uint32_t)head[1] << 24 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 8 |
                 head[4];
        if (length < 4 || length - 4 > sizeof body || !fake_read(fd, body, length - 4))
            return;
        /* A statement's Describe ('S') is answered with its parameters first. */
        if (head[0] == 'D' && body[0] == 'S')
            fake_add(&out, 't', "\0\0", 2);
        fake_message(fake, fd, (char)head[0], &out, &started_ns);
    }
}

static void *fake_main(void *context)
{
    struct fake_postgres *fake = context;
    int fd = accept(fake->listener, NULL, NULL);
    if (fd >= 0) {
        fake_serve(fake, fd);
        close(fd);
    }
    return NULL;
}

/* Connect with "host=<folder> port=5432". */
static void fake_start(struct fake_postgres *fake)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(fake->folder, "/tmp/dbdyno-fake-XXXXXX", 24);
    if (!mkdtemp(fake->folder))
        abort();
    size_t length = strlen(fake->folder);
    memcpy(fake->path, fake->folder, length);
    memcpy(fake->path + length, "/.s.PGSQL.5432", 15);
    memcpy(address.sun_path, fake->path, length + 15);
    fake->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fake->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fake->listener, 1) != 0 ||
        pthread_create(&fake->thread, NULL, fake_main, fake) != 0)
        abort();
}

/* After the client has closed its connection. */
static void fake_stop(struct fake_postgres *fake)
{
    pthread_join(fake->thread, NULL);
    close(fake->listener);
    unlink(fake->path);
    rmdir(fake->folder);
}

#endif
