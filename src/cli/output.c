#include "cli/cli_internal.h"
#include "driver/driver.h"
#include "os/sig.h"

#include <errno.h>
#include <unistd.h>

enum { MESSAGE_ROOM = 2048 };

static void write_line(const char *text)
{
    fprintf(stderr, "dbdyno: %s\n", text);
}

int cli_fail(const struct err *err)
{
    write_line(err->text);
    return err_exit_code(err->kind);
}

int cli_fail_run(const struct err *err)
{
    int code = cli_fail(err);
    int number = sig_pending();
    return err->kind == ERR_CANCELLED && number != 0 ? CLI_SIGNAL + number : code;
}

int cli_usage(const char *command, const char *fmt, ...)
{
    char text[MESSAGE_ROOM];
    va_list args;
    va_start(args, fmt);
    text_vprint(text, sizeof(text), fmt, args);
    va_end(args);
    write_line(text);
    fprintf(stderr, "Try 'dbdyno %s%s--help'.\n", command ? command : "", command ? " " : "");
    return CLI_USAGE;
}

void cli_say(const char *fmt, ...)
{
    char text[MESSAGE_ROOM];
    va_list args;
    va_start(args, fmt);
    text_vprint(text, sizeof(text), fmt, args);
    va_end(args);
    write_line(text);
}

int cli_print(const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t put = write(STDOUT_FILENO, text, bytes);
        if (put < 0 && errno != EINTR) {
            struct err err;
            err_errno(&err, "writing the result to stdout");
            return cli_fail(&err);
        }
        if (put > 0) {
            text += put;
            bytes -= (size_t)put;
        }
    }
    return CLI_FINE;
}

int cli_print_text(const struct text *text)
{
    return cli_print(text->at, text->bytes);
}

int cli_print_version(struct cli *cli)
{
    struct text out;
    text_init(&out, cli->arena, MESSAGE_ROOM);
    text_addf(&out, "dbdyno %s\n", DBDYNO_VERSION);
    for (const struct drv_class *const *at = drv_classes; *at; at++)
        if ((*at)->library)
            text_addf(&out, "%s\n", (*at)->library(cli->arena));
    return cli_print_text(&out);
}
