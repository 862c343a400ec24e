#ifndef DRIVER_DRIVER_INTERNAL_H
#define DRIVER_DRIVER_INTERNAL_H

/* What the drivers share among themselves. */

#include "base/text.h"
#include "driver/driver.h"

extern const struct drv_class drv_null, drv_sqlite, drv_libpq, drv_libmariadb;

enum { DRV_ERROR_BYTES = 400 };

/* Does the statement say how many rows it changed? (INSERT, UPDATE, DELETE, REPLACE, MERGE, or
 * a WITH that may lead to one of them; comments before the word are skipped.) */
bool sql_changes_rows(const char *sql);

/* A name between `quote` marks, marks inside doubled. */
const char *sql_quote(struct arena *arena, char quote, const char *name);

/* Copies a message: trailing blanks dropped, line breaks and tabs become single spaces, cut to
 * the room. Returns the buffer. */
const char *error_copy(char *buffer, size_t room, const char *message);

/* A number that a server sent as text: int when whole and in range, else real, else the text.
 */
struct value number_decode(const char *text, uint32_t bytes);
struct value real_decode(const char *text, uint32_t bytes); /* knows NaN and Infinity */

/* The socket of a connection, for `sever`: a library may have closed it by itself meanwhile,
 * and its number may be somebody else's by then, so what it was is remembered too. */
struct drv_socket {
    int fd;
    uint64_t inode;
};
void socket_note(struct drv_socket *known, int fd);
void socket_sever(const struct drv_socket *known);

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
