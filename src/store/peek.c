/* SPDX-License-Identifier: MIT */
/* peek.c - one item of a journal. */
#include "store/peek.h"

#include <assert.h>
#include <errno.h>
#include <sqlite3.h>

#include "store/journal_parts.h"

int fb_peek_state(struct db *db, const char *list, uint64_t item, enum entry_state *ret_state)
{
    sqlite3_stmt *s =
        fb_db_statement(db, "SELECT id FROM batch WHERE list = ?1 ORDER BY id DESC LIMIT 1");
    struct chunk c;

    assert(item > 0);
    if (s)
        sqlite3_bind_text(s, 1, list, -1, SQLITE_STATIC);
    int found = fb_db_step(db, s);
    if (found <= 0)
        return found < 0 ? found : -ENOENT;
    int64_t batch = sqlite3_column_int64(s, 0);
    (void)sqlite3_reset(s);
    found = fb_chunk_read(db, batch, (item - 1) / CHUNK_ITEMS, &c);
    if (found < 0)
        return found;
    enum entry_state state = fb_mark_state(c.at[(item - 1) % CHUNK_ITEMS]);
    *ret_state = found > 0 && state < ENTRY_STATES ? state : ENTRY_pending;
    return 0;
}
