#include "base/hash.h"
#include "base/text.h"
#include "suite/suite_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRATCH_BLOCK_BYTES = 1 << 16 };

/* ---- sources */
static const struct suite_builtin *find_builtin(struct slice name)
{
    for (uint32_t i = 0; i < suite_builtin_count; i++) {
        if (slice_is(name, suite_builtins[i].name))
            return &suite_builtins[i];
    }
    return NULL;
}

static bool is_path(const char *name)
{
    size_t bytes = strlen(name);
    return strchr(name, '/') || (bytes > 4 && strcmp(name + bytes - 4, ".lua") == 0);
}

static const struct suite_chunk *add_chunk(struct suite_loader *ld, struct suite_chunk *chunk)
{
    for (size_t i = 0; i < ld->chunks.count; i++) {
        const struct suite_chunk *other = ld->chunks.items[i];
        if (strcmp(other->name, chunk->name) == 0)
            chunk->name = arena_printf(ld->arena, "built-in %s", chunk->name);
    }
    ld->hash = hash_bytes(ld->hash, chunk->source, chunk->bytes);
    ld->hash = hash_bytes(ld->hash, "", 1);
    suite_list_add(ld->arena, &ld->chunks, chunk);
    return chunk;
}

static const struct suite_chunk *add_builtin(struct suite_loader *ld,
                                             const struct suite_builtin *builtin)
{
    struct suite_chunk *chunk = arena_new(ld->arena, struct suite_chunk);
    chunk->name = arena_printf(ld->arena, "%s.lua", builtin->name);
    chunk->source = builtin->source;
    chunk->bytes = builtin->bytes;
    return add_chunk(ld, chunk);
}

/* Reads up to `room` bytes; -1 with errno. */
static ssize_t read_all(int fd, char *buffer, size_t room)
{
    size_t done = 0;
    while (done < room) {
        ssize_t got = read(fd, buffer + done, room - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static char *read_source(struct suite_loader *ld, const char *path, size_t *bytes,
                         const char **why)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        char reason[128];
        *why = arena_printf(ld->arena, "cannot read '%s': %s", path,
                            strerror_r(errno, reason, sizeof(reason)));
        return NULL;
    }
    char *buffer = NULL;
    ssize_t got = -1;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        buffer = arena_alloc(ld->arena, SUITE_SOURCE_BYTES_MAX + 1, 1);
        got = read_all(fd, buffer, SUITE_SOURCE_BYTES_MAX + 1);
    }
    close(fd);
    if (got < 0)
        *why = arena_printf(ld->arena, "cannot read '%s': not a readable file", path);
    *bytes = got < 0 ? 0 : (size_t)got;
    return got < 0 ? NULL : buffer;
}

static const struct suite_chunk *add_file(struct suite_loader *ld, const char *path,
                                          const char **why)
{
    struct suite_chunk *chunk = arena_new(ld->arena, struct suite_chunk);
    const char *slash = strrchr(path, '/');
    chunk->source = read_source(ld, path, &chunk->bytes, why);
    if (!chunk->source)
        return NULL;
    if (chunk->bytes > SUITE_SOURCE_BYTES_MAX) {
        *why = arena_printf(ld->arena, "'%s' has more than 1 MiB", path);
        return NULL;
    }
    chunk->name = slash ? slash + 1 : path;
    chunk->folder = ".";
    if (slash == path)
        chunk->folder = "/";
    else if (slash)
        chunk->folder = arena_slice(ld->arena, (struct slice){path, (size_t)(slash - path)});
    return add_chunk(ld, chunk);
}

static bool leaves_folder(const char *path)
{
    struct slice rest = slice_of(path), part;
    if (path[0] == '/')
        return true;
    while (rest.bytes > 0) {
        slice_split(rest, '/', &part, &rest);
        if (slice_is(part, ".."))
            return true;
    }
    return false;
}

const struct suite_chunk *suite_find_chunk(struct suite_loader *ld, const char *name,
                                           const struct suite_chunk *from, const char **why)
{
    const struct suite_builtin *builtin = find_builtin(slice_of(name));
    if (builtin)
        return add_builtin(ld, builtin);
    if (!is_path(name)) {
        *why = arena_printf(ld->arena, "no built-in suite '%.63s' (a file's name ends in .lua)",
                            name);
        return NULL;
    }
    if (!from->folder || leaves_folder(name)) {
        *why = "a suite may extend a built-in one or a file beside it";
        return NULL;
    }
    return add_file(ld, arena_printf(ld->arena, "%s/%s", from->folder, name), why);
}

/* ---- what can be checked when everything is there */
static bool has_clients(const struct suite_scenario *s, uint32_t clients)
{
    for (uint32_t i = 0; i < s->client_count; i++) {
        if (s->clients[i] == clients)
            return true;
    }
    return false;
}

/* True also when there is no program that could have it. */
static bool has_phase(const struct suite_scenario *s, const char *phase)
{
    bool any = false;
    for (unsigned d = 0; d < DIALECT_COUNT; d++) {
        const struct program *p = s->source->programs[d];
        for (uint16_t i = 0; p && i < p->phase_count; i++) {
            if (strcmp(p->phases[i], phase) == 0)
                return true;
        }
        any |= p != NULL;
    }
    return !any;
}

static const struct suite_scenario *find_scenario(const struct suite_def *def, const char *name)
{
    for (size_t i = 0; i < def->scenarios.count; i++) {
        const struct suite_scenario_def *s = def->scenarios.items[i];
        if (strcmp(s->s.name, name) == 0)
            return &s->s;
    }
    return NULL;
}

static void check_side(struct suite_loader *ld, const struct suite_relation_def *def,
                       const char *name, uint32_t clients, const char *phase)
{
    const struct suite_scenario *s = find_scenario(ld->def, name);
    const char *relation = def->r.name;
    if (!s)
        suite_fault_add(ld, &def->where, "relation '%s': no scenario '%.63s'", relation, name);
    else if (clients == 0 && s->client_count > 1)
        suite_fault_add(ld, &def->where,
                        "relation '%s': scenario '%s' has several numbers of clients: write "
                        "{ \"%s\", clients = %u }",
                        relation, name, name, s->clients[0]);
    else if (clients > 0 && !has_clients(s, clients))
        suite_fault_add(ld, &def->where,
                        "relation '%s': scenario '%s' has no cell of %u clients", relation,
                        name, clients);
    else if (phase && !has_phase(s, phase))
        suite_fault_add(ld, &def->where, "relation '%s': scenario '%s' has no phase '%.63s'",
                        relation, name, phase);
}

static void check_relations(struct suite_loader *ld)
{
    for (size_t i = 0; i < ld->def->relations.count; i++) {
        const struct suite_relation_def *def = ld->def->relations.items[i];
        check_side(ld, def, def->r.a, def->r.a_clients, def->r.a_phase);
        check_side(ld, def, def->r.b, def->r.b_clients, def->r.b_phase);
    }
}

static bool is_param(const struct suite_loader *ld, struct slice name)
{
    for (size_t i = 0; i < ld->params.count; i++) {
        const struct suite_param_def *def = ld->params.items[i];
        if (slice_is(name, def->p.name))
            return true;
    }
    return false;
}

static bool check_overrides(struct suite_loader *ld, struct err *err)
{
    for (uint32_t i = 0; i < ld->options->override_count; i++) {
        struct slice name, value;
        const char *text = ld->options->overrides[i];
        if (!slice_split(slice_of(text), '=', &name, &value))
            return err_set(err, ERR_USAGE, "expected NAME=VALUE, got '%.60s'", text);
        if (is_param(ld, name))
            continue;
        struct text known;
        text_init(&known, ld->arena, 300);
        for (size_t p = 0; p < ld->params.count; p++)
            text_addf(&known, "%s%s", p > 0 ? ", " : "",
                      ((const struct suite_param_def *)ld->params.items[p])->p.name);
        return err_set(err, ERR_USAGE, "unknown parameter '%.*s'; suite '%s' has: %s",
                       name.bytes > 60 ? 60 : (int)name.bytes, name.at, ld->def->name,
                       known.bytes > 0 ? known.at : "none");
    }
    return true;
}

/* ---- the finished suite */
static void copy_lists(struct suite_loader *ld, struct suite *suite)
{
    struct arena *arena = ld->arena;
    const struct suite_def *def = ld->def;
    struct suite_param *params = arena_array(arena, struct suite_param, ld->params.count);
    struct suite_table *tables = arena_array(arena, struct suite_table, ld->tables.count);
    struct suite_scenario *scenarios =
        arena_array(arena, struct suite_scenario, def->scenarios.count);
    struct suite_relation *relations =
        arena_array(arena, struct suite_relation, def->relations.count);
    for (size_t i = 0; i < ld->params.count; i++)
        params[i] = ((const struct suite_param_def *)ld->params.items[i])->p;
    for (size_t i = 0; i < ld->tables.count; i++)
        tables[i] = ((const struct suite_table_def *)ld->tables.items[i])->table;
    for (size_t i = 0; i < def->scenarios.count; i++)
        scenarios[i] = ((const struct suite_scenario_def *)def->scenarios.items[i])->s;
    for (size_t i = 0; i < def->relations.count; i++)
        relations[i] = ((const struct suite_relation_def *)def->relations.items[i])->r;
    suite->params = params;
    suite->tables = tables;
    suite->scenarios = scenarios;
    suite->relations = relations;
    suite->param_count = (uint32_t)ld->params.count;
    suite->table_count = (uint32_t)ld->tables.count;
    suite->scenario_count = (uint32_t)def->scenarios.count;
    suite->relation_count = (uint32_t)def->relations.count;
}

static void init_loader(struct suite_loader *ld, struct arena *arena,
                        const struct suite_options *options, struct err *err)
{
    *ld = (struct suite_loader){.arena = arena,
                                .scratch = arena_create(SCRATCH_BLOCK_BYTES),
                                .arena_start = arena_bytes(arena),
                                .options = options,
                                .pool = arena_new(arena, struct gen_pool),
                                .hash = HASH_START,
                                .err = err};
    gen_pool_init(ld->pool, arena);
}

static bool finish(struct suite_loader *ld, const struct suite_chunk *chunk, const char *path,
                   struct suite *suite, struct suite_faults *faults)
{
    bool ran = suite_run_lua(ld, chunk);
    if (ld->usage)
        return false;
    if (ran)
        check_relations(ld);
    if (ran && suite_over_limits(ld))
        suite_fault_add(ld, &ld->def->where, "the suite is too large");
    if (ld->faults.count > 0)
        return suite_faults_report(ld, faults, ld->err);
    if (!check_overrides(ld, ld->err))
        return false;
    *suite = (struct suite){.name = ld->def->name,
                            .summary = ld->def->summary,
                            .path = path,
                            .hash = ld->hash,
                            .seed = ld->options->seed,
                            .quick = ld->options->quick,
                            .pool = ld->pool};
    copy_lists(ld, suite);
    return true;
}

static bool refuse_name(struct suite_loader *ld, const char *name, struct err *err)
{
    struct text known;
    text_init(&known, ld->arena, 300);
    for (uint32_t i = 0; i < suite_builtin_count; i++)
        text_addf(&known, "%s%s", i > 0 ? ", " : "", suite_builtins[i].name);
    return err_set(
        err, ERR_USAGE,
        "unknown suite '%.63s'; there are: %s (a file's name has a / or ends in .lua)", name,
        known.at);
}

bool suite_load(struct arena *arena, const struct suite_options *options, struct suite *suite,
                struct suite_faults *faults, struct err *err)
{
    struct suite_loader ld;
    const char *why = NULL;
    const char *path = "built-in";
    const struct suite_chunk *chunk = NULL;
    const struct suite_builtin *builtin = find_builtin(slice_of(options->name));
    init_loader(&ld, arena, options, err);
    *faults = (struct suite_faults){0};
    if (builtin) {
        chunk = add_builtin(&ld, builtin);
    } else if (is_path(options->name)) {
        path = arena_text(arena, options->name);
        chunk = add_file(&ld, path, &why);
    }
    bool done = false;
    if (chunk)
        done = finish(&ld, chunk, path, suite, faults);
    else if (why)
        err_set(err, ERR_USAGE, "%s", why);
    else
        refuse_name(&ld, options->name, err);
    arena_destroy(&ld.scratch);
    return done;
}

bool suite_load_text(struct arena *arena, struct slice source,
                     const struct suite_options *options, struct suite *suite,
                     struct suite_faults *faults, struct err *err)
{
    struct suite_loader ld;
    init_loader(&ld, arena, options, err);
    *faults = (struct suite_faults){0};
    struct suite_chunk *chunk = arena_new(arena, struct suite_chunk);
    *chunk = (struct suite_chunk){.name = arena_text(arena, options->name),
                                  .source = source.at,
                                  .bytes = source.bytes};
    bool done = false;
    if (source.bytes > SUITE_SOURCE_BYTES_MAX) {
        struct suite_place where = {.text = chunk->name};
        suite_fault_add(&ld, &where, "more than 1 MiB");
        suite_faults_report(&ld, faults, err);
    } else {
        done = finish(&ld, add_chunk(&ld, chunk), chunk->name, suite, faults);
    }
    arena_destroy(&ld.scratch);
    return done;
}

const char *suite_scenario_fixed(const struct suite_scenario *scenario)
{
    if (scenario->rows_loaded)
        return "it loads a known number of rows";
    if (scenario->growth_table)
        return "its check of the table's growth counts its executions";
    return scenario->after_count ? "its checks afterwards may count its executions" : NULL;
}
