#include "base/num.h"
#include "gen/gen_internal.h"

#include <math.h>
#include <string.h>

static const struct value null_value = {.type = VALUE_NULL};

static bool is_text(const struct value *value)
{
    return value->type == VALUE_TEXT || value->type == VALUE_BLOB;
}

static struct value real_or_null(double r)
{
    return r == r ? value_real(r) : null_value;
}

struct value gen_number(const struct value *value)
{
    if (value->type == VALUE_INT)
        return *value;
    if (value->type == VALUE_REAL)
        return real_or_null(value->as.r);
    if (!is_text(value))
        return null_value;
    struct slice text = {value->as.text, value->bytes};
    int64_t i;
    double r;
    if (num_i64(text, &i))
        return value_int(i);
    return num_real(text, &r) ? value_real(r) : null_value;
}

bool gen_whole(const struct value *value, int64_t *out)
{
    struct value number = gen_number(value);
    if (number.type == VALUE_REAL) {
        double r = floor(number.as.r);
        if (!(r >= -GEN_WHOLE_END && r < GEN_WHOLE_END))
            return false;
        *out = (int64_t)r;
        return true;
    }
    if (number.type == VALUE_INT)
        *out = number.as.i;
    return number.type == VALUE_INT;
}

static double real_of(const struct value *number)
{
    return number->type == VALUE_INT ? (double)number->as.i : number->as.r;
}

static struct value real_apply(enum gen_operator op, double a, double b)
{
    switch ((int)op) {
    case GEN_ADD: return real_or_null(a + b);
    case GEN_SUB: return real_or_null(a - b);
    case GEN_MUL: return real_or_null(a * b);
    case GEN_NEG: return real_or_null(-a);
    default: break;
    }
    if (b == 0)
        return null_value;
    if (op == GEN_DIV)
        return real_or_null(a / b);
    if (op == GEN_IDIV)
        return real_or_null(floor(a / b));
    double rest = fmod(a, b);
    return real_or_null(rest * b < 0 ? rest + b : rest);
}

/* Quotient and rest toward minus infinity; b is neither 0 nor -1. */
static struct value floor_divide(enum gen_operator op, int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    int64_t rest = a % b;
    if (rest != 0 && (rest < 0) != (b < 0)) {
        quotient--;
        rest += b;
    }
    return value_int(op == GEN_IDIV ? quotient : rest);
}

static struct value whole_apply(enum gen_operator op, int64_t a, int64_t b)
{
    int64_t result = 0;
    bool over = false;
    switch ((int)op) {
    case GEN_ADD: over = __builtin_add_overflow(a, b, &result); break;
    case GEN_SUB: over = __builtin_sub_overflow(a, b, &result); break;
    case GEN_MUL: over = __builtin_mul_overflow(a, b, &result); break;
    case GEN_NEG: over = __builtin_sub_overflow(0, a, &result); break;
    case GEN_IDIV:
        if (b == 0)
            return null_value;
        if (b != -1)
            return floor_divide(op, a, b);
        over = __builtin_sub_overflow(0, a, &result);
        break;
    case GEN_MOD:
        if (b == 0)
            return null_value;
        return b == -1 ? value_int(0) : floor_divide(op, a, b);
    default: over = true; break; /* GEN_DIV is always real */
    }
    return over ? real_apply(op, (double)a, (double)b) : value_int(result);
}

static int sign_of(bool less, bool more)
{
    return less ? -1 : more;
}

/* Two texts by their bytes, else two numbers; false when they cannot be compared. */
static bool compare(const struct value *a, const struct value *b, int *sign)
{
    if (is_text(a) && is_text(b)) {
        uint32_t shared = a->bytes < b->bytes ? a->bytes : b->bytes;
        int order = shared > 0 ? memcmp(a->as.text, b->as.text, shared) : 0;
        *sign =
            order ? sign_of(order<0, order> 0) : sign_of(a->bytes<b->bytes, a->bytes> b->bytes);
        return true;
    }
    struct value x = gen_number(a);
    struct value y = gen_number(b);
    if (x.type == VALUE_NULL || y.type == VALUE_NULL)
        return false;
    if (x.type == VALUE_INT && y.type == VALUE_INT) {
        *sign = sign_of(x.as.i<y.as.i, x.as.i> y.as.i);
        return true;
    }
    double left = real_of(&x);
    double right = real_of(&y);
    *sign = sign_of(left<right, left> right);
    return true;
}

static struct value compare_apply(enum gen_operator op, const struct value *a,
                                  const struct value *b)
{
    int sign;
    if (!compare(a, b, &sign))
        return null_value;
    switch ((int)op) {
    case GEN_EQ: return value_int(sign == 0);
    case GEN_NE: return value_int(sign != 0);
    case GEN_LT: return value_int(sign < 0);
    case GEN_LE: return value_int(sign <= 0);
    case GEN_GT: return value_int(sign > 0);
    default: return value_int(sign >= 0);
    }
}

static struct value logic_apply(enum gen_operator op, const struct value *a,
                                const struct value *b)
{
    bool left = real_of(a) != 0;
    bool right = real_of(b) != 0;
    if (op == GEN_NOT)
        return value_int(!left);
    return value_int(op == GEN_AND ? left && right : left || right);
}

void gen_apply(enum gen_operator op, const struct value *a, const struct value *b,
               struct value *out)
{
    if (op >= GEN_EQ && op <= GEN_GE) {
        *out = compare_apply(op, a, b);
        return;
    }
    struct value x = gen_number(a);
    struct value y = gen_number(b);
    if (x.type == VALUE_NULL || y.type == VALUE_NULL)
        *out = null_value;
    else if (op >= GEN_AND)
        *out = logic_apply(op, &x, &y);
    else if (x.type == VALUE_INT && y.type == VALUE_INT)
        *out = whole_apply(op, x.as.i, y.as.i);
    else
        *out = real_apply(op, real_of(&x), real_of(&y));
}

void gen_eval_arith(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    uint32_t mark = ctx->scratch_used;
    struct value a;
    struct value b = value_int(0);
    gen_eval(ctx, node->pair[0], &a);
    if (node->count == 2)
        gen_eval(ctx, node->pair[1], &b);
    ctx->scratch_used = mark;
    gen_apply(node->op, &a, &b, out);
}
