#ifndef TRUTH_FAKE_DRIVER_H
#define TRUTH_FAKE_DRIVER_H

/* The parts of a driver that a test does not look at. */

#include "driver/driver.h"

static bool fake_open(struct drv_conn *conn, struct err *err)
{
    (void)conn, (void)err;
    return true;
}

static void fake_close(struct drv_conn *conn)
{
    (void)conn;
}

static bool fake_prepare(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count,
                         struct err *err)
{
    (void)conn, (void)stmts, (void)count, (void)err;
    return true;
}

#endif
