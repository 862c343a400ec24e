#include "cli/cli_internal.h"

#include <inttypes.h>
#include <unistd.h>

enum { LINE_ROOM = 512, PLAIN_EVERY_S = 10 };

void cli_progress_init(struct cli_progress *progress)
{
    *progress = (struct cli_progress){.rewrite = cli_can_rewrite(STDERR_FILENO),
                                      .width = cli_width(STDERR_FILENO)};
}

size_t cli_progress_line(char *buffer, size_t room, unsigned width,
                         const struct run_progress *progress)
{
    uint64_t seconds = progress->elapsed_ns / NS_PER_S;
    char time[32];
    size_t time_bytes =
        text_print(time, sizeof(time), ", %" PRIu64 ":%02" PRIu64, seconds / 60, seconds % 60);
    char head[LINE_ROOM];
    size_t head_bytes;
    if (progress->total > 0)
        head_bytes = text_print(head, sizeof(head), "[%" PRIu32 "/%" PRIu32 "] %s",
                                progress->done, progress->total, progress->step);
    else
        head_bytes = text_print(head, sizeof(head), "%s", progress->step);
    if (width > time_bytes && head_bytes + time_bytes > width)
        head_bytes = width - time_bytes;
    return text_print(buffer, room, "%.*s%s", (int)head_bytes, head, time);
}

void cli_progress_show(void *context, const struct run_progress *progress)
{
    struct cli_progress *self = context;
    char line[LINE_ROOM];
    if (self->rewrite) {
        /* The last column stays free: some terminals wrap when it is written. */
        cli_progress_line(line, sizeof(line), self->width - 1, progress);
        fprintf(stderr, "\r%s\033[K", line);
        self->shown = true;
        return;
    }
    if (progress->elapsed_ns < self->said_ns + PLAIN_EVERY_S * NS_PER_S)
        return;
    self->said_ns = progress->elapsed_ns;
    cli_progress_line(line, sizeof(line), LINE_ROOM - 1, progress);
    fprintf(stderr, "dbdyno: %s\n", line);
}

void cli_progress_end(struct cli_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
