/* SPDX-License-Identifier: MIT */
/* kinds.c - the table of ledgers: which one an address means, and what they have in common. */
#include <errno.h>
#include <string.h>

#include "core/spec.h"
#include "ledger/clock.h"
#include "ledger/ledger.h"
#include "util/alloc.h"
#include "util/text.h"

#define BYTES_DEFAULT (UINT64_C(8) << 20)

#define X(name) &fb_ledger_##name,
static const struct ledger_kind *const kinds[] = {FB_LEDGERS(X)};
#undef X

int fb_ledger_fail(struct fly_error *err, int code, const char *what, const char *why)
{
    struct text t;

    if (err) {
        fb_text_init(&t, err->text, sizeof(err->text));
        fb_text_add(&t, what);
        fb_text_add(&t, ": ");
        fb_text_add(&t, why);
    }
    return -code;
}

/* The kind that the address names, which is then cut off; else it is the path of a file. */
static const struct ledger_kind *kind_of(const char **address)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t size = strlen(kinds[i]->name);
        if (strncmp(*address, kinds[i]->name, size) == 0 && (*address)[size] == ':') {
            *address += size + 1;
            return kinds[i];
        }
    }
    return &fb_ledger_shared;
}

static int open_at(const char *address, uint64_t bytes, struct fly_ledger **ret_ledger,
                   struct fly_error *err)
{
    struct fly_ledger *ledger = fb_alloc(sizeof(*ledger));

    if (!ledger)
        return fb_ledger_fail(err, ENOMEM, address, "out of memory");
    ledger->kind = kind_of(&address);
    int rc = ledger->kind->open(ledger, address, bytes, err);
    if (rc < 0) {
        fly_ledger_close(ledger);
        return rc;
    }
    ledger->ahead_ns = fb_clock_adopt(ledger->head->anchor_ns) - ledger->head->anchor_ns;
    *ret_ledger = ledger;
    return 0;
}

int fly_ledger_open(const char *path, const struct fly_ledger_options *options,
                    struct fly_ledger **ret_ledger, struct fly_error *err)
{
    char found[FB_LEDGER_PATH_BYTES];
    uint64_t bytes = BYTES_DEFAULT;

    if (options && options->size < sizeof(*options))
        return fb_ledger_fail(err, EINVAL, "options.size", "set it to the size of the options");
    if (options && options->bytes > 0)
        bytes = options->bytes;
    if (bytes < FB_LEDGER_BYTES_MIN || bytes > FB_LEDGER_BYTES_MAX)
        return fb_ledger_fail(err, EINVAL, "options.bytes", "a ledger has 64 KiB to 1 GiB");
    if (!path) {
        int rc = fb_ledger_path(found, sizeof(found), err);
        if (rc < 0)
            return rc;
    }
    bytes = (bytes + FB_LEDGER_BYTES_MIN - 1) / FB_LEDGER_BYTES_MIN * FB_LEDGER_BYTES_MIN;
    return open_at(path ? path : found, bytes, ret_ledger, err);
}

void fly_ledger_close(struct fly_ledger *ledger)
{
    if (!ledger)
        return;
    ledger->kind->close(ledger);
    fb_free(ledger);
}

int fly_ledger_limiter(struct fly_ledger *ledger, const struct fly_key *key, const char *spec,
                       struct fly_limiter **ret_limiter, struct fly_error *err)
{
    struct spec s;

    int rc = fb_spec_read(spec, &s, err);
    if (rc < 0)
        return rc;
    return ledger->kind->limiter(ledger, key, &s, spec ? spec : "", ret_limiter, err);
}
