/* SPDX-License-Identifier: MIT */
/* deferred.c - the list of what was put off. */
#include "store/deferred.h"

#include <sqlite3.h>

static const char *text_at(sqlite3_stmt *s, int column)
{
    const unsigned char *text = sqlite3_column_text(s, column);

    return text ? (const char *)text : "";
}

int fb_deferred_each(struct db *db, int (*each)(void *context, const struct deferred *d),
                     void *context)
{
    sqlite3_stmt *s = fb_db_statement(
        db, "SELECT b.list, b.output, d.item, d.id, d.place, d.reason, d.not_before_s, d.made_s"
            " FROM deferred d JOIN batch b ON b.id = d.batch"
            " ORDER BY d.not_before_s, d.batch, d.item");
    int found;

    while ((found = fb_db_step(db, s)) > 0) {
        struct deferred d = {.list = text_at(s, 0),
                             .output = text_at(s, 1),
                             .item = (uint64_t)sqlite3_column_int64(s, 2),
                             .id = text_at(s, 3),
                             .place = text_at(s, 4),
                             .reason = text_at(s, 5),
                             .not_before_s = sqlite3_column_int64(s, 6),
                             .made_s = sqlite3_column_int64(s, 7)};
        int result = each(context, &d);
        if (result != 0) {
            (void)sqlite3_reset(s);
            return result;
        }
    }
    return found;
}
