/* Where and with what a run was made. */
#include "base/text.h"
#include "os/now.h"
#include "os/proc.h"
#include "run/run_internal.h"

#include <string.h>

static void add_text(struct record *record, struct rec_pairs *pairs, const char *name,
                     const char *text)
{
    struct value value = {.type = VALUE_NULL};
    if (text)
        value = value_text(text, (uint32_t)strlen(text));
    rec_pairs_add(record->arena, pairs, name, value);
}

static void add_whole(struct record *record, const char *name, uint64_t value)
{
    rec_pairs_add(record->arena, &record->host, name, value_int((int64_t)value));
}

void note_host(struct record *record, const char *folder)
{
    struct host_facts facts;
    host_read(record->arena, folder, &facts);
    add_text(record, &record->host, "class", facts.class);
    add_text(record, &record->host, "cpu_model", facts.cpu_model);
    add_whole(record, "cpus_online", facts.cpus_online);
    add_whole(record, "cpus_allowed", facts.cpus_allowed);
    add_text(record, &record->host, "kernel", facts.kernel);
    add_text(record, &record->host, "os", facts.os);
    add_text(record, &record->host, "virtualisation", facts.virtualisation);
    add_text(record, &record->host, "filesystem", facts.filesystem);
    add_text(record, &record->host, "mount_options", facts.mount_options);
    add_text(record, &record->host, "device", facts.device);
    add_whole(record, "disk_free_bytes", facts.disk_free_bytes);
    add_whole(record, "memory_bytes", facts.memory_bytes);
    add_whole(record, "memory_available_bytes", facts.memory_available_bytes);
    add_whole(record, "swap_bytes", facts.swap_bytes);
    struct value none = {.type = VALUE_NULL}; /* no limit */
    uint64_t memory = facts.cgroup_memory_bytes;
    rec_pairs_add(record->arena, &record->host, "cgroup_memory_bytes",
                  memory ? value_int((int64_t)memory) : none);
    rec_pairs_add(record->arena, &record->host, "cgroup_cpus",
                  facts.cgroup_cpus > 0 ? value_real(facts.cgroup_cpus) : none);
    add_text(record, &record->host, "clock_source", facts.clock_source);
    add_text(record, &record->host, "governor", facts.governor);
    add_text(record, &record->host, "huge_pages", facts.huge_pages);
    rec_pairs_add(record->arena, &record->host, "load1", value_real(facts.load1));
}

static const char *git(struct arena *arena, const char *program, const char *folder,
                       const char *const words[3])
{
    const char *const argv[] = {program, "-C", folder, words[0], words[1], words[2], NULL};
    const char *output;
    struct err err;
    if (!proc_capture(arena, argv, 10 * NS_PER_S, 1u << 20, &output, &err))
        return NULL;
    return arena_slice(arena, slice_trim(slice_of(output)));
}

void note_project(struct record *record, const char *folder)
{
    static const char *const head[3] = {"rev-parse", "HEAD", NULL};
    static const char *const status[3] = {"status", "--porcelain", NULL};
    const char *program = proc_find(record->arena, "git");
    add_text(record, &record->project, "folder", folder);
    const char *commit = program ? git(record->arena, program, folder, head) : NULL;
    add_text(record, &record->project, "commit", commit);
    if (!commit) {
        add_text(record, &record->project, "unavailable",
                 program ? "not a git checkout" : "git is not installed");
        return;
    }
    const char *changes = git(record->arena, program, folder, status);
    uint32_t lines = changes && *changes ? 1 : 0;
    for (const char *at = changes; at && *at; at++)
        lines += *at == '\n';
    rec_pairs_add(record->arena, &record->project, "dirty", value_int(lines > 0));
    rec_pairs_add(record->arena, &record->project, "dirty_files", value_int(lines));
}

void note_floors(struct runner *runner, const char *when)
{
    struct probe_floor floors[PROBE_FLOORS_MAX];
    if (runner->options->floor_budget_ns == 0)
        return;
    const char *folder = NULL;
    for (uint32_t i = 0; i < runner->session_count && !folder; i++)
        folder = session_data_folder(&runner->sessions[i]);
    runner_show(runner, "floors of this machine", NULL);
    note_floors_of(runner->record, folder, runner->options->floor_budget_ns, when, floors);
}

void note_floors_of(struct record *record, const char *folder, uint64_t budget_ns,
                    const char *when, struct probe_floor floors[PROBE_FLOORS_MAX])
{
    unsigned count = probe_floors(record->arena, folder, budget_ns, NULL, floors);
    for (unsigned i = 0; i < count; i++) {
        struct rec_floor *out = record_add_floor(record);
        out->name = floors[i].name;
        out->what = floors[i].what;
        out->unit = floors[i].unit;
        out->when = when;
        out->n = floors[i].n;
        bool measured = !floors[i].unavailable, spread = floors[i].max > 0;
        out->min = (struct rec_number){measured && spread, floors[i].min};
        out->p50 = (struct rec_number){measured, floors[i].p50};
        out->p99 = (struct rec_number){measured && floors[i].p99 > 0, floors[i].p99};
        out->max = (struct rec_number){measured && spread, floors[i].max};
        out->unavailable = floors[i].unavailable;
    }
}

static const char *home_name(enum drv_home home)
{
    static const char *const names[] = {[DRV_HOME_EMBEDDED] = "embedded",
                                        [DRV_HOME_MANAGED] = "managed",
                                        [DRV_HOME_RUNNING] = "running"};
    return names[home];
}

static const char *address_of(struct runner *runner, const struct session *session)
{
    if (session->target.home == DRV_HOME_EMBEDDED)
        return "in process";
    if (session->server)
        return "unix socket";
    return arena_text(runner->arena, session->target.shown);
}

static const char *filesystem_of(struct arena *arena, const struct session *session)
{
    struct host_facts facts;
    const char *folder = session_data_folder(session);
    if (!folder)
        return NULL;
    host_read(arena, folder, &facts);
    return facts.filesystem;
}

/* What stays after the run, and how to get at it. */
static const char *kept_text(struct runner *runner, const struct session *session)
{
    struct arena *arena = runner->arena;
    if (!runner->options->keep || session->is_null)
        return NULL;
    if (session->server)
        return arena_printf(arena, "the server runs on as process %d; --on @%s logs in",
                            (int)server_pid(session->server), server_kept(session->server));
    if (session->place)
        return arena_printf(arena, "everything is in %s", session->place);
    bool memory = session->target.path && strcmp(session->target.path, ":memory:") == 0;
    return memory ? NULL : session->target.path;
}

void note_targets(struct runner *runner)
{
    for (uint32_t i = 0; i < runner->session_count; i++) {
        struct session *session = &runner->sessions[i];
        struct rec_target *out = record_add_target(runner->record);
        const struct drv_facts *facts = &session->facts;
        out->label = session->target.label;
        out->kind = session->target.kind;
        out->shown = session->target.shown;
        out->home = home_name(session->target.home);
        out->client = session->target.class->name;
        out->server_version = facts->server_version;
        out->client_version = facts->client_version;
        out->tier = drv_tier_name(facts->tier);
        out->tier_why = facts->tier_why;
        out->address = address_of(runner, session);
        out->kept = kept_text(runner, session);
        out->debug_build = facts->debug_build;
        out->superuser = facts->superuser;
        out->data_folder_filesystem = filesystem_of(runner->arena, session);
        if (session->server) {
            out->init_ns = (struct rec_number){true, server_init_ns(session->server)};
            out->startup_ns = (struct rec_number){true, server_startup_ns(session->server)};
        }
        for (uint32_t k = 0; k < facts->setting_count; k++)
            add_text(runner->record, &out->settings, facts->settings[k].name,
                     facts->settings[k].value);
        out->verdict = "ok";
    }
}

static void note_pin(struct record *record, const char *name, const uint16_t *cpus,
                     uint32_t count)
{
    struct text text;
    text_init(&text, record->arena, 8192);
    for (uint32_t i = 0; i < count; i++)
        text_addf(&text, "%s%u", i ? "," : "", cpus[i]);
    if (count > 0)
        rec_pairs_add(record->arena, &record->host, name,
                      value_text(text.at, (uint32_t)text.bytes));
}

void note_pins(struct record *record, const struct run_options *options)
{
    note_pin(record, "pin", options->pin, options->pin_count);
    note_pin(record, "pin-server", options->pin_server, options->pin_server_count);
}
