/* SPDX-License-Identifier: MIT */
/* secret.c - what hashes of credentials are made with, kept beside the rows that have them. */
#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "store/learned.h"
#include "util/hash.h"

static int64_t sum_of(const char *name, const unsigned char *secret)
{
    uint64_t hash = fb_hash_add(FB_HASH_INIT, name, strlen(name) + 1);

    return (int64_t)fb_hash_end(fb_hash_add(hash, secret, SECRET_BYTES));
}

int fb_secret_read(struct db *db, const char *name, unsigned char ret_secret[SECRET_BYTES])
{
    sqlite3_stmt *s = fb_db_statement(db, "SELECT value, sum FROM secret WHERE name = ?1");

    if (s)
        sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    int found = fb_db_step(db, s);
    if (found <= 0)
        return found < 0 ? found : -ENOENT;
    const void *value = sqlite3_column_blob(s, 0);
    int error = -EUCLEAN;
    if (value && sqlite3_column_bytes(s, 0) == SECRET_BYTES &&
        sqlite3_column_int64(s, 1) == sum_of(name, value)) {
        memcpy(ret_secret, value, SECRET_BYTES);
        error = 0;
    }
    (void)sqlite3_reset(s);
    return error;
}

int fb_secret_write(struct db *db, const char *name, const unsigned char secret[SECRET_BYTES])
{
    sqlite3_stmt *s =
        fb_db_statement(db, "INSERT OR REPLACE INTO secret(name, value, sum) VALUES(?1, ?2, ?3)");

    if (s) {
        sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
        sqlite3_bind_blob(s, 2, secret, SECRET_BYTES, SQLITE_STATIC);
        sqlite3_bind_int64(s, 3, sum_of(name, secret));
    }
    return fb_db_run(db, s);
}
