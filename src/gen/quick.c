#include "gen/quick.h"

#include "gen/gen_internal.h"

bool gen_quick_make(const struct gen_pool *pool, gen_id id, uint64_t seed, uint64_t stream,
                    struct gen_quick *quick)
{
    const struct gen_node *node = &pool->nodes[id];
    if (node->kind != GEN_UNIFORM || node->as.span.range == 0)
        return false;
    *quick = (struct gen_quick){.seed = seed,
                                .key = stream ^ node->salt,
                                .range = node->as.span.range,
                                .lo = node->as.span.lo};
    return true;
}
