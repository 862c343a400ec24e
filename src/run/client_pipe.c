/* Pipelines: all operations between PIPE_START and PIPE_END are submitted, then their answers
 * come in that order. Each has a slot of its own, for what its checks look at. */
#include "os/now.h"
#include "run/client_internal.h"

static void slot_bind(struct client *client, struct client_slot *slot)
{
    const struct client_step *step = slot->step;
    uint64_t row = (client->execution - 1) * step->op->repeat + client->repetition + 1;
    slot->used = slot->params;
    if (step->drawable) {
        slot->params[0].type = VALUE_INT;
        if (gen_quick_draw(&step->draw, row, &slot->params[0].as.i))
            return;
    } else if (!step->binds) {
        slot->used = step->wire.params;
        return;
    }
    client->gen.scratch = slot->scratch;
    client_bind(client, step, slot->params);
}

static void slot_submit(struct client *client, struct client_slot *slot, bool more)
{
    const struct client_step *step = slot->step;
    struct drv_op op = step->wire;
    slot_bind(client, slot);
    op.params = slot->used;
    op.more = more;
    slot->submitted_ns = step->op->phase == PROG_NONE ? client->last_ns : os_now_ns();
    client->class->submit(client->conn, &op);
}

static void answer_begin(struct client *client)
{
    client->sink.rows = 0;
    client->sink.count = 0;
}

HOT void client_pipe_fill(struct client *client, uint32_t count)
{
    struct client_step *step = client->at;
    char *scratch = client->gen.scratch;
    client->last_ns = os_now_ns();
    if (!client->start_ns)
        client->start_ns = client->last_ns;
    answer_begin(client);
    client->repetition = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct client_slot *slot = &client->slots[i];
        slot->step = step;
        slot_submit(client, slot, i + 1 < count);
        if (++client->repetition == step->op->repeat) {
            client->repetition = 0;
            step++;
        }
    }
    client->gen.scratch = scratch;
    client->slot_count = client->pipe_left = count;
    client->slot_at = 0;
    client->at = client->slots[0].step;
    atomic_store_explicit(&client->due_ns, client->last_ns + client->at->deadline_ns,
                          memory_order_relaxed);
}

static NOINLINE bool complete_long(struct client *client, const struct client_slot *slot,
                                   uint64_t now_ns)
{
    struct client_step *step = slot->step;
    client->at = step;
    step->wire.params = slot->used;
    if (client->outcome.verdict == DRV_OK && now_ns > slot->submitted_ns + step->deadline_ns)
        client->outcome.verdict = DRV_TIMEOUT;
    if (!client_check(client))
        return false;
    if (step->op->phase != PROG_NONE && client->recording)
        series_record(&client->recorder->phases[step->op->phase], now_ns - slot->submitted_ns);
    client->operations++;
    client->rows += client->outcome.rows;
    if (client->outcome.affected > 0)
        client->affected += (uint64_t)client->outcome.affected;
    if (step->op->save_count)
        client_save(client, step->op);
    step->quick = step->quick_tally != NULL && client->outcome.affected <= 0;
    return true;
}

/* The clock is read where somebody asks: for the last answer, and for those timed apart. */
HOT bool client_pipe_complete(struct client *client)
{
    struct client_slot *slot = &client->slots[client->slot_at++];
    struct client_step *step = slot->step;
    bool last = client->slot_at == client->slot_count;
    bool timed = last || step->op->phase != PROG_NONE;
    uint64_t now_ns = timed ? os_now_ns() : client->last_ns;
    bool quick = step->quick && client->outcome.verdict == DRV_OK &&
                 client->outcome.rows == step->quick_rows &&
                 now_ns - slot->submitted_ns <= step->deadline_ns &&
                 client_quick_value(client, step);
    if (quick)
        step->quick_count++;
    else if (!complete_long(client, slot, now_ns))
        return false;
    answer_begin(client);
    client->pipe_left--;
    if (last) {
        client->last_ns = now_ns;
        client->at = step + 1; /* PIPE_END */
    }
    return true;
}
