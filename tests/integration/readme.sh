#!/bin/sh
# The figures of the README stand between markers that are well formed and filled.
exec "$DBDYNO" fill "$DBDYNO_SOURCE_DIR/README.md" --check
