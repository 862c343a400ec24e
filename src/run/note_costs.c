/* What the client library costs: the same scenario on the same server version through it and
 * through the wire client. */
#include "run/note_internal.h"

#include <string.h>

/* Fewer say little about the CPU time of one. */
#define COST_EXECUTIONS_LEAST 100
#define COST_CPU_LEAST_NS     (10 * NS_PER_MS)

static bool is_wire(const struct cell *cell)
{
    return strcmp(cell->session->target.class->name, "wire") == 0;
}

static bool same_server(const struct session *a, const struct session *b)
{
    const char *version_a = a->facts.server_version, *version_b = b->facts.server_version;
    return a->target.dialect == b->target.dialect && version_a && version_b &&
           *version_a != '\0' && strcmp(version_a, version_b) == 0;
}

static bool is_pair(const struct cell *library, const struct cell *wire)
{
    return is_wire(wire) && !is_wire(library) &&
           (library->session->target.class->caps & DRV_CAP_REMOTE) &&
           same_server(library->session, wire->session);
}

static const char *address_of(const struct runner *runner, const struct cell *cell)
{
    for (size_t i = 0; i < runner->record->target_count; i++) {
        const struct rec_target *target = &runner->record->targets[i];
        if (strcmp(target->label, cell->session->target.label) == 0)
            return target->address ? target->address : "";
    }
    return "";
}

static bool over_socket(const struct runner *runner, const struct cell *cell)
{
    return strcmp(address_of(runner, cell), "unix socket") == 0;
}

static bool pipelines(const struct cell *cell)
{
    bool any = false;
    for (uint32_t i = 0; i < cell->program.op_count; i++)
        any |= cell->program.ops[i].kind == PROG_PIPE_START;
    return any && (cell->session->target.class->caps & DRV_CAP_PIPELINE);
}

/* The latest of that name: a row was noted just now. */
static const struct rec_cell *noted(const struct runner *runner, const struct cell *cell)
{
    for (size_t i = runner->record->cell_count; i > 0; i--) {
        const struct rec_cell *found = &runner->record->cells[i - 1];
        if (!found->phase && strcmp(found->name, cell->scenario->name) == 0 &&
            strcmp(found->target, cell->session->target.label) == 0)
            return found;
    }
    return NULL;
}

static bool is_usable(const struct rec_cell *cell)
{
    return cell &&
           (strcmp(cell->verdict, "valid") == 0 || strcmp(cell->verdict, "reserve") == 0);
}

static bool is_enough(const struct cell *cell)
{
    return cell->executions >= COST_EXECUTIONS_LEAST &&
           cell->client_cpu_ns >= COST_CPU_LEAST_NS;
}

static const char *why_unknown(const struct runner *runner, const struct cell *library,
                               const struct cell *wire)
{
    if (!is_usable(noted(runner, library)) || !is_usable(noted(runner, wire)))
        return "one side has no valid result";
    if (pipelines(library) != pipelines(wire))
        return "only one side can pipeline";
    if (over_socket(runner, library) != over_socket(runner, wire))
        return "one side went over a unix socket, the other over TCP";
    if (!is_enough(library) || !is_enough(wire))
        return "fewer than 100 executions or less than 10 ms of client CPU on one side";
    return NULL;
}

static uint64_t p50_of(const struct rec_cell *cell)
{
    const struct rec_metric *service = cell ? rec_cell_metric(cell, "service_ns") : NULL;
    return service && service->p50.known ? service->p50.value : 0;
}

static double cpu_of(const struct cell *cell)
{
    return (double)cell->client_cpu_ns / (double)cell->executions;
}

static void note_cost(struct runner *runner, const struct cell *library,
                      const struct cell *wire)
{
    struct rec_cost *out = record_add_cost(runner->record);
    const struct rec_cell *library_cell = noted(runner, library);
    out->name = library->scenario->name;
    out->library = library->session->target.label;
    out->wire = wire->session->target.label;
    out->library_client = library->session->target.class->name;
    if (library_cell)
        out->params = library_cell->params; /* same scenario, same clients: of both */
    out->reason = why_unknown(runner, library, wire);
    if (out->reason)
        return;
    out->known = true;
    out->library_cpu_ns = cpu_of(library);
    out->wire_cpu_ns = cpu_of(wire);
    out->library_p50_ns = p50_of(library_cell);
    out->wire_p50_ns = p50_of(noted(runner, wire));
}

void note_costs(struct runner *runner, const struct cell *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < count; k++) {
            if (is_pair(&cells[i], &cells[k]))
                note_cost(runner, &cells[i], &cells[k]);
        }
    }
}
