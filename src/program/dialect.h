#ifndef PROGRAM_DIALECT_H
#define PROGRAM_DIALECT_H

/* SQL dialects: how a suite names the text meant for one kind of target. MySQL and MariaDB
 * share DIALECT_MARIADB where a suite gives no text of its own for "mysql". */

#include "base/slice.h"

#include <stdbool.h>

enum dialect {
    DIALECT_SQLITE,
    DIALECT_POSTGRES,
    DIALECT_MARIADB,
    DIALECT_MYSQL,
    DIALECT_COUNT,
};

const char *dialect_name(enum dialect dialect); /* "sqlite" "postgres" "mariadb" "mysql" */
bool dialect_parse(struct slice name, enum dialect *dialect);

/* What follows the placeholder character: SQLite and MariaDB say ?, PostgreSQL $1, $2. */
char dialect_placeholder(enum dialect dialect);

#endif
