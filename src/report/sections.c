#include "report/report_internal.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 4096 };

static struct text new_text(struct pen *pen)
{
    struct text text;
    text_init(&text, pen->arena, TEXT_MAX);
    return text;
}

/* "  sqlite    " for a list of targets; in Markdown an item. */
static const char *target_lead(struct pen *pen, const char *label)
{
    size_t widest = 0;
    if (pen->markdown)
        return arena_printf(pen->arena, "- %s: ", label);
    for (size_t i = 0; i < pen->record->target_count; i++) {
        size_t columns = text_columns(or_dash(pen->record->targets[i].label));
        widest = columns > widest && columns <= 24 ? columns : widest;
    }
    return arena_printf(pen->arena, "  %s%*s  ", label,
                        text_columns(label) < widest ? (int)(widest - text_columns(label)) : 0,
                        "");
}

/* ---- targets ---- */

static void add_duration(struct text *line, const char *what, const struct rec_number *ns)
{
    char shown[40];
    if (!ns->known)
        return;
    figure_glued(shown, sizeof(shown), "ns", (double)ns->value);
    text_addf(line, ", %s %s", what, shown);
}

/* Without what follows the number in "PostgreSQL 15.18 (Debian …) on x86_64 …, compiled by …".
 */
static void add_version(struct text *line, const char *version)
{
    const char *bracket = strstr(version, " ("), *on = strstr(version, " on ");
    size_t bytes = strlen(version);
    if (bracket)
        bytes = (size_t)(bracket - version);
    if (on && (size_t)(on - version) < bytes)
        bytes = (size_t)(on - version);
    text_add_slice(line, (struct slice){version, bytes});
}

/* "; commits wait for fsync on ext4 (fsync=on, synchronous_commit=on)" */
static void add_durability(struct text *line, const struct rec_target *target)
{
    if (target->tier && text_same(target->tier, "none") && target->tier_why) {
        text_addf(line, "; %s", target->tier_why);
        return;
    }
    if (target->tier)
        text_addf(line, "; commits wait for %s", target->tier);
    if (target->data_folder_filesystem)
        text_addf(line, "%s on %s", target->tier ? "" : "; data",
                  target->data_folder_filesystem);
    if (target->tier_why && target->tier_why[0])
        text_addf(line, " (%s)", target->tier_why);
}

static void show_target(struct pen *pen, const struct rec_target *target)
{
    struct text line = new_text(pen);
    bool has_version = target->server_version && target->server_version[0];
    add_version(&line, or_dash(has_version ? target->server_version : target->kind));
    if (has_version && target->client_version && target->client_version[0])
        text_addf(&line, ", %s", target->client_version);
    if (target->address)
        text_addf(&line, ", %s", target->address);
    add_duration(&line, "made in", &target->init_ns);
    add_duration(&line, "started in", &target->startup_ns);
    add_durability(&line, target);
    if (target->debug_build)
        text_add(&line, "; DEBUG BUILD");
    if (target->kept)
        text_addf(&line, "; kept: %s", target->kept);
    if (target->verdict && !text_same(target->verdict, "ok"))
        text_addf(&line, "; %s: %s", target->verdict, or_dash(target->reason));
    pen_wrap(pen, target_lead(pen, or_dash(target->label)), line.at);
}

void part_targets(struct pen *pen)
{
    if (pen->record->target_count > 0)
        pen_heading(pen, "Targets");
    for (size_t i = 0; i < pen->record->target_count; i++)
        show_target(pen, &pen->record->targets[i]);
}

/* ---- failures ---- */

static void add_key(struct text *line, const struct rec_cell *cell)
{
    char shown[128];
    text_add(line, or_dash(cell->name));
    for (size_t i = 0; i < cell->params.count; i++) {
        value_print(shown, sizeof(shown), &cell->params.items[i].value);
        text_addf(line, " %s=%s", cell->params.items[i].name, shown);
    }
    if (cell->phase)
        text_addf(line, ", %s", cell->phase);
}

static void show_failure(struct pen *pen, const struct rec_cell *cell)
{
    struct text line = new_text(pen);
    add_key(&line, cell);
    failure_targets(&line, pen->record, cell);
    text_add(&line, ": ");
    failure_words(&line, cell);
    for (size_t i = 0; i < cell->check_count; i++) {
        if (cell->checks[i].ok || cell->checks[i].times < 2)
            continue;
        text_addf(&line, " (looked at %llu times)", (unsigned long long)cell->checks[i].times);
        break;
    }
    for (size_t i = 0; i < cell->failure_count && i < 3; i++) {
        const struct rec_failure *failure = &cell->failures[i];
        if (failure->count < 2 && cell->failure_count < 2)
            continue; /* the words say it */
        text_addf(&line, "; %llu x %s", (unsigned long long)failure->count,
                  or_dash(failure->sqlstate && failure->sqlstate[0] ? failure->sqlstate
                                                                    : failure->text));
    }
    pen_item(pen, line.at);
}

/* Was the same failure told with an earlier cell? */
static bool is_told(const struct record *record, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (failure_same(&record->cells[i], &record->cells[index]))
            return true;
    }
    return false;
}

void part_failures(struct pen *pen)
{
    bool any = false;
    for (size_t i = 0; i < pen->record->cell_count; i++) {
        const struct rec_cell *cell = &pen->record->cells[i];
        if (!text_same(cell->verdict, "failed") || is_told(pen->record, i))
            continue;
        if (!any)
            pen_heading(pen, "Failed");
        any = true;
        show_failure(pen, cell);
    }
}

/* ---- CPU and memory ---- */

struct usage {
    double client_cores, server_cores, client_bytes, server_bytes;
    const struct rec_cell *client_cell, *server_cell;
    const char *server_unknown;
};

static void look_at_usage(const struct rec_cell *cell, struct usage *usage)
{
    double figure;
    if (cell_stat(cell, "client_cores", "value", &figure) && figure >= usage->client_cores) {
        usage->client_cores = figure;
        usage->client_cell = cell;
    }
    if (cell_stat(cell, "server_cores", "value", &figure) && figure >= usage->server_cores) {
        usage->server_cores = figure;
        usage->server_cell = cell;
    }
    if (cell_stat(cell, "client_peak_resident_bytes", "value", &figure) &&
        figure > usage->client_bytes)
        usage->client_bytes = figure;
    if (cell_stat(cell, "server_resident_bytes", "value", &figure) &&
        figure > usage->server_bytes)
        usage->server_bytes = figure;
    const struct rec_metric *server = rec_cell_metric(cell, "server_cores");
    if (!server)
        server = rec_cell_metric(cell, "server_cpu_ns");
    if (server && server->unavailable)
        usage->server_unknown = server->unavailable;
}

static void add_most(struct text *line, const char *side, double cores,
                     const struct rec_cell *cell)
{
    text_addf(line, "%s at most %.2f cores (%s", side, cores, or_dash(cell->name));
    const struct value *clients = rec_pairs_find(&cell->params, "clients");
    if (clients && clients->type == VALUE_INT)
        text_addf(line, ", %lld clients", (long long)clients->as.i);
    text_add(line, ")");
}

static void show_usage(struct pen *pen, const struct rec_target *target,
                       const struct usage *usage)
{
    char shown[40];
    struct text line = new_text(pen);
    if (usage->client_cell)
        add_most(&line, "client", usage->client_cores, usage->client_cell);
    if (usage->client_bytes > 0) {
        figure_glued(shown, sizeof(shown), "bytes", usage->client_bytes);
        text_addf(&line, "%s%s resident", line.bytes > 0 ? ", " : "client ", shown);
    }
    const char *gap = line.bytes > 0 ? "; " : "";
    if (usage->server_cell) {
        text_add(&line, gap);
        add_most(&line, "server", usage->server_cores, usage->server_cell);
        gap = ", ";
    } else if (usage->server_unknown) {
        text_addf(&line, "%sserver CPU not known: %s", gap, usage->server_unknown);
        gap = ", ";
    }
    double peak = target->peak_resident_bytes.known ? (double)target->peak_resident_bytes.value
                                                    : usage->server_bytes;
    if (peak > 0) {
        figure_glued(shown, sizeof(shown), "bytes", peak);
        text_addf(&line, "%s%s%s resident", gap, usage->server_cell ? "" : "server ", shown);
    }
    pen_wrap(pen, target_lead(pen, or_dash(target->label)), line.at);
}

void part_usage(struct pen *pen)
{
    bool any = false;
    for (size_t t = 0; t < pen->record->target_count; t++) {
        const struct rec_target *target = &pen->record->targets[t];
        struct usage usage = {0};
        for (size_t i = 0; i < pen->record->cell_count; i++) {
            if (text_same(pen->record->cells[i].target, target->label))
                look_at_usage(&pen->record->cells[i], &usage);
        }
        if (!usage.client_cell && usage.client_bytes <= 0 && !usage.server_cell &&
            !target->peak_resident_bytes.known)
            continue;
        if (!any)
            pen_heading(pen, "CPU and memory");
        any = true;
        show_usage(pen, target, &usage);
    }
}

/* ---- guards ---- */

enum { GROUP_NAMES = 3 };

/* Cells in which the same guard fired. Counts go beyond what there is room for. */
struct group {
    const struct rec_guard *guard;
    size_t cells;
    const char *scenarios[GROUP_NAMES + 1];
    const char **targets;
    size_t scenario_count, target_count;
};

static void add_name(const char **names, size_t *count, size_t room, const char *name)
{
    for (size_t i = 0; i < *count && i < room; i++) {
        if (strcmp(names[i], name) == 0)
            return;
    }
    if (*count < room)
        names[*count] = name;
    (*count)++;
}

static bool fires(const struct rec_cell *cell, const struct rec_guard *like)
{
    for (size_t i = 0; i < cell->guard_count; i++) {
        if (text_same(cell->guards[i].id, or_dash(like->id)) &&
            text_same(cell->guards[i].level, or_dash(like->level)))
            return true;
    }
    return false;
}

static void gather(const struct pen *pen, struct group *group)
{
    const struct record *record = pen->record;
    group->targets = arena_array(pen->arena, const char *, record->target_count + 1);
    for (size_t i = 0; i < record->cell_count; i++) {
        const struct rec_cell *cell = &record->cells[i];
        if (!fires(cell, group->guard))
            continue;
        group->cells++;
        add_name(group->scenarios, &group->scenario_count, GROUP_NAMES, or_dash(cell->name));
        add_name(group->targets, &group->target_count, record->target_count + 1,
                 or_dash(cell->target));
    }
}

static void add_where(struct pen *pen, struct text *line, const struct group *group)
{
    size_t targets = group->target_count <= pen->record->target_count ? group->target_count : 0;
    if (group->cells > 1)
        text_addf(line, "%zu cells: ", group->cells);
    if (group->scenario_count > GROUP_NAMES) {
        for (size_t i = 0; i < GROUP_NAMES; i++)
            text_addf(line, "%s, ", group->scenarios[i]);
        text_add(line, "...");
    } else {
        list_names(line, group->scenarios, group->scenario_count);
    }
    text_add(line, " on ");
    if (targets == pen->record->target_count && targets > 1)
        text_add(line, "all targets");
    else
        list_names(line, group->targets, targets);
    text_add(line, group->cells > 1 ? "; the first: " : ": ");
}

static void show_guard(struct pen *pen, const struct rec_guard *guard, struct group *group)
{
    struct text line = new_text(pen);
    text_addf(&line, "%s %s%s%s: ", or_dash(guard->level), guard->code ? guard->code : "",
              guard->code ? " " : "", or_dash(guard->id));
    if (group)
        add_where(pen, &line, group);
    text_add(&line, or_dash(guard->text));
    pen_item(pen, line.at);
}

/* Is this the first cell and guard of its kind? */
static bool is_first(const struct record *record, size_t cell, size_t guard)
{
    const struct rec_guard *like = &record->cells[cell].guards[guard];
    for (size_t i = 0; i < cell; i++) {
        if (fires(&record->cells[i], like))
            return false;
    }
    for (size_t i = 0; i < guard; i++) {
        const struct rec_guard *other = &record->cells[cell].guards[i];
        if (text_same(other->id, or_dash(like->id)) &&
            text_same(other->level, or_dash(like->level)))
            return false;
    }
    return true;
}

/* A finding that failed a scenario stands among the failures. */
static bool is_failure(const struct record *record, const struct rec_guard *guard)
{
    for (size_t i = 0; i < record->cell_count; i++) {
        if (text_same(record->cells[i].verdict, "failed") &&
            text_same(record->cells[i].reason, or_dash(guard->text)))
            return true;
    }
    return false;
}

static void show_level(struct pen *pen, const char *level, bool *any)
{
    const struct record *record = pen->record;
    for (size_t i = 0; i < record->guard_count; i++) {
        if (!text_same(record->guards[i].level, level) ||
            is_failure(record, &record->guards[i]))
            continue;
        if (!*any)
            pen_heading(pen, "How far the figures hold");
        *any = true;
        show_guard(pen, &record->guards[i], NULL);
    }
    for (size_t i = 0; i < record->cell_count; i++) {
        for (size_t k = 0; k < record->cells[i].guard_count; k++) {
            const struct rec_guard *guard = &record->cells[i].guards[k];
            if (!text_same(guard->level, level) || !is_first(record, i, k))
                continue;
            if (!*any)
                pen_heading(pen, "How far the figures hold");
            *any = true;
            struct group group = {.guard = guard};
            gather(pen, &group);
            show_guard(pen, guard, &group);
        }
    }
}

void part_guards(struct pen *pen)
{
    bool any = false;
    show_level(pen, "invalid", &any);
    show_level(pen, "warning", &any);
    show_level(pen, "info", &any);
}

/* ---- the rest ---- */

void part_limits(struct pen *pen)
{
    if (pen->record->limit_count > 0)
        pen_heading(pen, "This run does not tell");
    for (size_t i = 0; i < pen->record->limit_count; i++)
        pen_item(pen, pen->record->limits[i]);
}

static const char *pair_words(struct pen *pen, const struct value *value)
{
    char shown[300];
    if (value->type == VALUE_NULL)
        return "-";
    if (value->type == VALUE_TEXT)
        return arena_slice(pen->arena, (struct slice){value->as.text, value->bytes});
    value_print(shown, sizeof(shown), value);
    return arena_text(pen->arena, shown);
}

/* What is not known is left out; why stands alone. */
static void add_pairs(struct pen *pen, struct text *line, const struct rec_pairs *pairs)
{
    const char *gap = "";
    for (size_t i = 0; i < pairs->count; i++) {
        const struct rec_pair *pair = &pairs->items[i];
        if (pair->value.type == VALUE_NULL)
            continue;
        bool why = text_same(pair->name, "unavailable");
        text_addf(line, "%s%s%s%s", gap, why ? "" : pair->name, why ? "" : "=",
                  pair_words(pen, &pair->value));
        gap = ", ";
    }
}

void part_host(struct pen *pen)
{
    struct table *table = table_create(pen->arena);
    table_column(table, NULL, "host", TABLE_LEFT, false);
    table_column(table, NULL, "value", TABLE_LEFT, false);
    for (size_t i = 0; i < pen->record->host.count; i++) {
        const struct rec_pair *pair = &pen->record->host.items[i];
        table_row(table);
        table_cell(table, pair->name);
        table_cell(table, pair_words(pen, &pair->value));
    }
    pen_table(pen, table);
}

void part_run(struct pen *pen)
{
    const struct record *record = pen->record;
    char took[40];
    struct text line = new_text(pen);
    figure_glued(took, sizeof(took), "ns", (double)record->duration_ns);
    text_addf(&line, "dbdyno %s, %s, took %s, seed %llu", or_dash(record->dbdyno_version),
              or_dash(record->started), took, (unsigned long long)record->seed);
    if (record->suite_params.count > 0) {
        text_add(&line, "; ");
        add_pairs(pen, &line, &record->suite_params);
    }
    if (record->project.count > 0) {
        text_add(&line, "; project ");
        add_pairs(pen, &line, &record->project);
    }
    if (record->facts.count > 0) {
        text_add(&line, "; ");
        add_pairs(pen, &line, &record->facts);
    }
    const struct value *class = rec_pairs_find(&record->host, "class");
    if (class && class->type == VALUE_TEXT) {
        text_add(&line, "; host ");
        text_add_slice(&line, (struct slice){class->as.text, class->bytes});
    }
    pen_heading(pen, "Run");
    pen_wrap(pen, pen->markdown ? "" : "  ", line.at);
}
