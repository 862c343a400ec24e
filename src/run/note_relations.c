/* Figures derived from two cells of the same target, with what else differs between them. */
#include "run/run_internal.h"

struct side {
    const char *scenario, *phase, *shown;
    uint32_t clients;
    bool known;
    double value;
    const char *unit, *reason;
};

static void side_read(struct runner *runner, const struct suite_relation *relation,
                      const char *target, struct side *side)
{
    struct arena *arena = runner->arena;
    const struct rec_cell *cell =
        record_find_cell(runner->record, side->scenario, target, side->clients, side->phase);
    side->shown =
        arena_printf(arena, "%s%s%s%s %s %s", side->scenario, side->phase ? " " : "",
                     side->phase ? side->phase : "",
                     side->clients ? arena_printf(arena, " clients=%u", side->clients) : "",
                     relation->stat, relation->metric);
    if (!cell) {
        side->reason = arena_printf(arena, "%s was not measured", side->scenario);
        return;
    }
    if (strcmp(cell->verdict, "valid") != 0 && strcmp(cell->verdict, "reserve") != 0) {
        side->reason = arena_printf(arena, "%s: %s", side->scenario, cell->verdict);
        return;
    }
    const struct rec_metric *metric = rec_cell_metric(cell, relation->metric);
    if (!metric || metric->unavailable ||
        !rec_metric_stat(metric, relation->stat, &side->value)) {
        side->reason = arena_printf(arena, "%s has no %s of %s: %s", side->scenario,
                                    relation->stat, relation->metric, cell->verdict);
        return;
    }
    side->unit = metric->unit;
    side->known = true;
}

static void relate(struct runner *runner, const struct suite_relation *relation,
                   const char *target)
{
    struct side a = {.scenario = relation->a,
                     .phase = relation->a_phase,
                     .clients = relation->a_clients};
    struct side b = {.scenario = relation->b,
                     .phase = relation->b_phase,
                     .clients = relation->b_clients};
    side_read(runner, relation, target, &a);
    side_read(runner, relation, target, &b);
    struct rec_relation *out = record_add_relation(runner->record);
    out->name = relation->name;
    out->target = target;
    out->a = a.shown;
    out->b = b.shown;
    out->differs = relation->differs;
    out->known = a.known && b.known && b.value > 0;
    if (out->known) {
        out->a_value = a.value;
        out->b_value = b.value;
        out->ratio = a.value / b.value;
        out->unit = a.unit;
    } else {
        out->reason = a.reason ? a.reason : b.reason;
        if (!out->reason)
            out->reason = "the second figure is below what can be measured";
    }
}

void note_relations(struct runner *runner)
{
    const struct suite *suite = runner->options->suite;
    for (uint32_t i = 0; i < suite->relation_count; i++) {
        for (uint32_t k = 0; k < runner->session_count; k++)
            relate(runner, &suite->relations[i], runner->sessions[k].target.label);
    }
}
