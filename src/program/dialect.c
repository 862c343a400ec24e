#include "program/dialect.h"

#include <assert.h>

static const char *const names[DIALECT_COUNT] = {
    [DIALECT_SQLITE] = "sqlite",
    [DIALECT_POSTGRES] = "postgres",
    [DIALECT_MARIADB] = "mariadb",
    [DIALECT_MYSQL] = "mysql",
};

const char *dialect_name(enum dialect dialect)
{
    assert(dialect < DIALECT_COUNT);
    return names[dialect];
}

bool dialect_parse(struct slice name, enum dialect *dialect)
{
    for (unsigned i = 0; i < DIALECT_COUNT; i++) {
        if (slice_is(name, names[i])) {
            *dialect = (enum dialect)i;
            return true;
        }
    }
    return false;
}

char dialect_placeholder(enum dialect dialect)
{
    return dialect == DIALECT_POSTGRES ? '$' : '?';
}
