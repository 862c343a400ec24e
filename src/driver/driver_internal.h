#ifndef DRIVER_DRIVER_INTERNAL_H
#define DRIVER_DRIVER_INTERNAL_H

/* What the drivers share among themselves. */

#include "base/text.h"
#include "driver/driver.h"

extern const struct drv_class drv_null, drv_sqlite, drv_libpq, drv_libmariadb, drv_wire_pg;
extern const struct drv_class drv_wire_my;

enum { DRV_ERROR_BYTES = 400 };

/* Does the statement say how many rows it changed? (INSERT, UPDATE, DELETE, REPLACE, MERGE, or
 * a WITH that may lead to one of them; comments before the word are skipped.) */
bool sql_changes_rows(const char *sql);

/* A name between `quote` marks, marks inside doubled. */
const char *sql_quote(struct arena *arena, char quote, const char *name);

/* Copies a message: trailing blanks dropped, line breaks and tabs become single spaces, cut to
 * the room. Returns the buffer. */
const char *error_copy(char *buffer, size_t room, const char *message);
const char *error_copy_slice(char *buffer, size_t room, struct slice message);

/* For `sever` and `fd`: a second descriptor of a connection's socket. The library's own is
 * closed by it as soon as the connection breaks, and the number may be another socket's by
 * then. 0: there is none yet. */
MUST_CHECK bool sever_ready(int *sever_fd, int fd, struct err *err);
void sever_now(int sever_fd);
void sever_done(int *sever_fd);

/* Settings collected one by one, then sorted by name. */
struct setting_list {
    struct drv_setting *at;
    size_t count, room;
};
void settings_add(struct arena *arena, struct setting_list *list, struct drv_setting setting);
void settings_finish(struct setting_list *list, struct drv_facts *facts);

/* Does a parameter, option or setting of that name hold a secret? */
bool secret_name(struct slice name);

static inline bool has_text(const char *text)
{
    return text && *text;
}

#endif
