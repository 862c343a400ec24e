#ifndef CLI_CLI_INTERNAL_H
#define CLI_CLI_INTERNAL_H

/*
 * What the commands share. A command is a function and a row in cli.c's table; its options are
 * an argp table, from which parsing, suggestions and help all come.
 */

#include "base/arena.h"
#include "base/defs.h"
#include "base/err.h"
#include "base/text.h"
#include "driver/target.h"
#include "record/record.h"
#include "run/run.h"
#include "suite/suite.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_exit {
    CLI_FINE = 0,
    CLI_DIFFERS = 1,
    CLI_USAGE = 2,
    CLI_BAD_SUITE = 3,
    CLI_SYSTEM = 4,
    CLI_FAILED = 5,
    CLI_NOT_VALID = 6,
    CLI_SIGNAL = 128, /* plus the signal's number */
};

struct cli {
    struct arena *arena; /* lives as long as the program */
};

struct cli_command {
    const char *name, *summary;
    /* argv[0] is the command's name; argv ends in NULL and may be reordered. */
    int (*run)(struct cli *cli, int argc, char **argv);
};
extern const struct cli_command cli_commands[]; /* ends with name NULL */

int cmd_run(struct cli *cli, int argc, char **argv);
int cmd_list(struct cli *cli, int argc, char **argv);
int cmd_floors(struct cli *cli, int argc, char **argv);
int cmd_rerun(struct cli *cli, int argc, char **argv);
int cmd_fill(struct cli *cli, int argc, char **argv);

/* ---- messages and output (output.c) ---- */

/* "dbdyno: TEXT" on stderr; returns the exit code of the error's kind. */
int cli_fail(const struct err *err);
/* The same for a run: one that a signal has ended exits by that signal's number. */
int cli_fail_run(const struct err *err);
/* The same for a mistake in the command line, with where to read more; returns CLI_USAGE.
 * `command` may be NULL. */
int cli_usage(const char *command, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A line on stderr, "dbdyno: …". */
void cli_say(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* The result on stdout, all of it: CLI_FINE, or CLI_SYSTEM after a message when stdout is
 * closed or full. */
int cli_print(const char *text, size_t bytes);
int cli_print_text(const struct text *text);
int cli_print_version(struct cli *cli);

/* ---- options (options.c) ---- */

/*
 * Looks at every word before argp does, so that an unknown option gets a suggestion; answers
 * --help and --version; then argp fills `input`. The parser reports a fault with cli_usage and
 * returns EINVAL. True: go on. False: *exit_code is the process's.
 */
MUST_CHECK bool cli_parse(struct cli *cli, const struct argp *argp, int argc, char **argv,
                          void *input, int *exit_code);
/* --help and --version: every command's argp has them among its children, or as all of them. */
extern const struct argp cli_common_argp;
extern const struct argp_child cli_common_options[];
/* A row of an argp table; options are shown in the order of `group`. */
#define CLI_OPTION(name, key, arg, doc, group)  \
    {                                           \
        (name), (key), (arg), 0, (doc), (group) \
    }
/* What every help ends with. */
#define CLI_EXIT_CODES                                                             \
    "\nExit codes: 0 fine, 1 gate or check failed, 2 usage, 3 bad suite, script\n" \
    "or document, 4 target or system not available, 5 a scenario failed,\n"        \
    "6 measured but not valid, 129/130/143 interrupted (SIGHUP, SIGINT, SIGTERM).\n"

/* ---- names (nearest.c) ---- */

/* The name that `word` was probably meant to be, or NULL when none is near. NULL entries are
 * passed over. */
const char *cli_nearest(const char *word, const char *const *names, size_t count);
/* ", did you mean 'x'?" or "" */
const char *cli_did_you_mean(struct cli *cli, const char *word, const char *const *names,
                             size_t count);

/* ---- secrets (secret.c) ---- */

/* An argument without its passwords: URL, LABEL=URL, --on=URL, conninfo:…; others unchanged. */
const char *cli_redact(struct arena *arena, const char *argument);
/* Overwrites the passwords of every argument in place with '*'. */
void cli_hide_secrets(struct arena *arena, int argc, char **argv);

/* ---- terminal (terminal.c) ---- */

unsigned cli_width(int fd);   /* columns, 80 at least */
bool cli_colour(int fd);      /* a terminal that has colours, and NO_COLOR is not set */
bool cli_can_rewrite(int fd); /* a terminal on which a line can be written over */

/* ---- progress (progress.c) ---- */

struct cli_progress {
    bool rewrite; /* one line that changes; otherwise a line every ten seconds */
    unsigned width;
    bool shown;       /* a line stands there */
    uint64_t said_ns; /* elapsed time of the last plain line */
};
void cli_progress_init(struct cli_progress *progress);
/* A run_progress_fn. */
void cli_progress_show(void *context, const struct run_progress *progress);
/* Takes the line away, before anything else is printed. */
void cli_progress_end(struct cli_progress *progress);
/* The line itself: "[12/80] id_point on mariadb (4 clients), 0:42", cut to `width`. */
size_t cli_progress_line(char *buffer, size_t room, unsigned width,
                         const struct run_progress *progress);

/* ---- load (run_load.c reads the options, load_apply.c puts them into a suite) ---- */

enum cli_load_option {
    CLI_LOAD_CLIENTS,
    CLI_LOAD_DURATION,
    CLI_LOAD_COUNT,
    CLI_LOAD_WARMUP,
    CLI_LOAD_RATE,
    CLI_LOAD_ARRIVALS,
    CLI_LOAD_MAX_RATE,
    CLI_LOAD_SLO,
    CLI_LOAD_CLIENT,
    CLI_LOAD_THREADS,
    CLI_LOAD_PIN,
    CLI_LOAD_PIN_SERVER,
    CLI_LOAD_OPTIONS
};

struct cli_load {
    struct cli *cli;
    const char *command; /* its name, for messages */
    /* What was given, as it was written; NULL: not given ("" for one without a value). */
    const char *given[CLI_LOAD_OPTIONS];
    const uint32_t *clients; /* of every scenario for load, instead of its own list */
    uint32_t client_count, threads;
    const uint16_t *pin, *pin_server; /* CPUs, each once */
    uint32_t pin_count, pin_server_count;
    uint64_t duration_ns, count; /* one of them, or both 0 */
    uint64_t warmup_ns;          /* with --warmup: a time, or 0 and `warmup` executions */
    uint32_t warmup;
    double rate_per_s; /* 0: closed loop */
    enum suite_arrivals arrivals;
    uint32_t slo_ppm; /* the quantile that --max-rate keeps within slo_ns; 0: no search */
    uint64_t slo_ns;
    const char *const *drivers; /* --client */
    uint32_t driver_count;
};

/* A child of a command's argp; its input is a struct cli_load with `cli` and `command` set. */
extern const struct argp cli_load_argp;
/* Writes the options again as words of a command line. */
void cli_load_spell(const struct cli_load *load, const char ***words, size_t *count,
                    size_t *room);

/*
 * The suite with its scenarios for load (those that name their clients) as the options want
 * them; others stay as they are. One whose checks fix how often it runs is left alone too:
 * `left` (may be NULL) gets its name and the reason, a line each. Nothing but `suite` is
 * changed, and its scenarios are copied. ERR_USAGE when there is nothing to apply them to, or
 * when the load is more than 1e9 executions.
 */
MUST_CHECK bool cli_load_apply(struct arena *arena, const struct cli_load *load,
                               struct suite *suite, struct text *left, struct err *err);
/* How long the scenarios for load are asked to run, on one target. */
uint64_t cli_load_time_ns(const struct cli_load *load, const struct suite *suite);

/* ---- running a suite (run_request.c, run_plan.c, cmd_run.c) ---- */

struct cli_run { /* what the command line asked for */
    struct cli *cli;
    const char *name; /* of the command, for messages */
    const char *suite, *out, *project, *around, *around_at;
    const char **targets, **params, **facts;
    size_t target_count, target_room, param_count, param_room, fact_count, fact_room;
    uint64_t seed, deadline_ns;
    bool quick, keep, no_floors, json, markdown;
    struct cli_load load;
    const char **command; /* for the record: "run" and its arguments, secrets removed */
    size_t command_count;
};

struct cli_plan { /* the same, found to be possible */
    struct suite suite;
    struct drv_target *targets;
    uint32_t target_count;
    uint64_t deadline_ns; /* of the run */
};

#define CLI_RUN_SEED   1
#define CLI_RUN_TARGET "sqlite"
#define CLI_RUN_OUT    "dbdyno.json"

/* argv[0] is the command's name. */
MUST_CHECK bool cli_run_parse(struct cli *cli, int argc, char **argv, struct cli_run *run,
                              int *exit_code);
/* Loads the suite, parses the targets, looks whether the record can be written. */
MUST_CHECK bool cli_run_plan(const struct cli_run *run, struct cli_plan *plan, int *exit_code);
/* Measures, writes the record and prints. Returns the exit code. */
int cli_run_measure(const struct cli_run *run, const struct cli_plan *plan);

/* A suite by name, with every fault on stderr. `command` stands in messages. */
MUST_CHECK bool cli_load_suite(struct cli *cli, const char *command,
                               const struct suite_options *options, struct suite *suite,
                               int *exit_code);

/* ---- other runs (claim.c) ---- */

/* Held until the process ends in whatever way: the kernel drops it. */
struct cli_claim {
    int fd; /* -1: none */
    const char *name;
};
/* One run at a time may write `out`: ERR_SYSTEM when another is at it. Not for children: call
 * it after run_prepare_process. */
MUST_CHECK bool cli_claim_output(struct arena *arena, const char *out, struct cli_claim *claim,
                                 struct err *err);
void cli_claim_drop(struct cli_claim *claim);
/* "pid 7, 8": runs that go on beside this one; NULL when there are none. */
const char *cli_claim_others(struct arena *arena, const struct cli_claim *claim);

/* Adds to an array in the arena. */
void cli_push(struct cli *cli, const char ***list, size_t *count, size_t *room,
              const char *text);

#endif
