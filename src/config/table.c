/* SPDX-License-Identifier: MIT */
/*
 * table.c - all keys of a configuration file.
 *
 * Defaults of what the engine does are the engine's own (tests/unit/test_config.c compares them);
 * the words of a limit are those of core/spec.c.
 */
#include "config/table.h"

#include "config/rows.h"

static const char *const modes[] = {"graceful", "strict", "offline", NULL};
static const char *const fulls[] = {"defer", "drop", NULL};
static const char *const adapts[] = {"probe", "aimd", "step", "off", NULL};
static const char *const pacings[] = {"even", "demand", NULL};
static const char *const forms[] = {"json", "logfmt", NULL};
static const char *const levels[] = {"error", "warning", "info", "debug", NULL};

/* ----------------------------------------------------------------------------------- the limit */

/* A word of a limit has no field: all of them become the limit text of their owner. */
#define LIMIT_WORD(name_, type_, help_, ...)                                             \
    {                                                                                    \
        .name = name_, .type = CONFIG_##type_, .offset = CONFIG_NO_FIELD, .help = help_, \
        __VA_ARGS__                                                                      \
    }
#define COUNT_OF_PERMITS .least = 1, .most = 1000000000, .expects = "a whole number such as 10"

const struct config_table fb_config_limit_keys = {
    .title = "A limit",
    .help = "A limit is a text as in flyball-limits(7), such as 'window=5000/1h concurrency=5', or "
            "its words as keys. Each word counts by itself: one that is said here takes the place "
            "of that of the preset, the others stay.",
    .keys = KEYS(
        LIMIT_WORD("rate", RATE, "So many requests in that time, evenly.", NOTHING),
        LIMIT_WORD("burst", INT, "So many at once after idling.", COUNT_OF_PERMITS),
        LIMIT_WORD("floor", RATE, "What is learned is not below this.", NOTHING),
        LIMIT_WORD("ceiling", RATE, "What is learned is not above this.", NOTHING),
        LIMIT_WORD("window", TEXTS, "Never more in any interval of that length; one, or a list.",
                   CHECKED(fb_check_window, "a count and a length such as 5000/1h")),
        LIMIT_WORD("margin", SHARE, "Stay below the windows by this share.", NOTHING),
        LIMIT_WORD("adapt", WORD, "What learns from the answers.", WORDS(adapts)),
        LIMIT_WORD("pacing", WORD, "How a quota that the server tells is spent.", WORDS(pacings)),
        LIMIT_WORD("reserve", SHARE, "The share of such a quota that is kept back.", NOTHING),
        LIMIT_WORD("interval_min", SPAN, "Requests spread over such a quota are not closer.",
                   RANGE(1, HOUR)),
        LIMIT_WORD("interval_max", SPAN, "Nor further apart.", RANGE(1, HOUR)),
        LIMIT_WORD("ahead", INT, "So many of them may run ahead of that.", RANGE(1, 100000)),
        LIMIT_WORD("concurrency", INT, "At most so many requests under way.", COUNT_OF_PERMITS)),
};

/* ----------------------------------------------------------------------------------- providers */

static const struct config_table pool_table = {
    .title = "A pool",
    .entry = "POOL",
    .help = "Requests that share one budget. The first pool that fits a request is its pool: those "
            "of the file in their order, then those of the preset.",
    .size = sizeof(struct config_pool),
    .keys = KEYS(KEY("method", TEXT, config_pool, method, NULL,
                     "Requests with this method; else with any.",
                     CHECKED(fb_check_method, "a method such as GET")),
                 KEY("path", TEXT, config_pool, path, NULL,
                     "Requests with this path or one below it; \"*\" is one whole segment.",
                     CHECKED(fb_check_url_path, "a path such as /search")),
                 RATE_BESIDE,
                 KEY("limit", LIMIT, config_pool, limit, NULL,
                     "The limit of this pool; else the provider's.", TABLE(fb_config_limit_keys))),
};

static const struct config_table credential_table = {
    .title = "A credential",
    .entry = "CREDENTIAL",
    .help = "Where a secret is: in a variable of the environment or in a file, never in this one.",
    .size = sizeof(struct config_credential),
    .keys = KEYS(
        KEY("env", TEXT, config_credential, secret.env, NULL,
            "The variable of the environment that holds it.",
            CHECKED(fb_check_variable, "the name of a variable such as GITHUB_TOKEN"), PRIVATE),
        KEY("file", TEXT, config_credential, secret.file, NULL, "The file whose first line it is.",
            A_FILE, PRIVATE),
        KEY("header", TEXT, config_credential, header, "Authorization",
            "The header that carries it.",
            CHECKED(fb_check_credential_header,
                    "the name of a header for secrets such as X-Api-Key")),
        KEY("scheme", TEXT, config_credential, scheme, NULL,
            "The word before it; of Authorization it is Bearer unless this says otherwise.",
            CHECKED(fb_check_token, "a word such as Bearer"))),
};

static const struct config_table deadlines_table = {
    .title = "Deadlines of a provider",
    .help = "How long requests to it may take, where that is not as for all.",
    .size = sizeof(struct config_deadlines),
    .keys =
        KEYS(KEY("connect", SPAN, config_deadlines, connect_ns, NULL, "To connect, TLS included.",
                 RANGE(1, YEAR)),
             KEY("first_byte", SPAN, config_deadlines, first_byte_ns, NULL,
                 "From the request sent to the first line of the answer.", RANGE(1, YEAR)),
             KEY("idle", SPAN, config_deadlines, idle_ns, NULL, "Without a byte.", RANGE(1, YEAR)),
             KEY("total", SPAN, config_deadlines, total_ns, NULL, "One attempt.", RANGE(1, YEAR))),
};

static const struct config_table provider_table = {
    .title = "A provider",
    .entry = "PROVIDER",
    .help = "Somebody whose API is called, under one set of limits. A provider with the name of a "
            "preset has that preset, unless it says otherwise.",
    .size = sizeof(struct config_provider),
    .keys = KEYS(KEY("preset", TEXT, config_provider, preset_name, NULL,
                     "What is known of it: the name of a preset such as github, or unknown.",
                     CHECKED(fb_check_preset, "the name of a preset such as github")),
                 KEY("enabled", BOOL, config_provider, enabled, "true",
                     "Whether requests may go there.", NOTHING),
                 KEY("hosts", TEXTS, config_provider, hosts, NULL,
                     "Its hosts; \"*.example.com\" is every host below example.com.",
                     CHECKED(fb_check_host, "a host such as api.example.com or *.example.com")),
                 RATE_BESIDE,
                 KEY("limit", LIMIT, config_provider, limit, NULL,
                     "The limit of what no pool states.", TABLE(fb_config_limit_keys)),
                 KEY("quota", TEXT, config_provider, quota_path, NULL,
                     "The path that answers with the quota and costs nothing of it: asked once for "
                     "each credential, before the first request.",
                     CHECKED(fb_check_url_path, "a path such as /rate_limit")),
                 KEY("unmodified_free", BOOL, config_provider, unmodified_free, "false",
                     "Whether an answer that nothing was modified (304) costs nothing of the "
                     "quota that the provider tells. The limit that is stated here counts it.",
                     NOTHING),
                 KEY("timeouts", SECTION, config_provider, timeouts, NULL,
                     "How long requests to it may take.", TABLE(deadlines_table)),
                 KEY("recovery", TEXTS, config_provider, recovery, NULL,
                     "Rules that come before those of all.",
                     CHECKED(fb_check_rule, "a rule such as download/5xx/1-2=retry")),
                 KEY("pools", MAP, config_provider, pool, NULL, "Its pools.",
                     COUNTED(config_provider, pool_count), TABLE(pool_table), ORDERED),
                 KEY("credentials", MAP, config_provider, credential, NULL, "What it knows us by.",
                     COUNTED(config_provider, credential_count), TABLE(credential_table), PRIVATE),
                 KEY("headers", PAIRS, config_provider, header, NULL,
                     "Sent with every request that does not have them; nothing secret.",
                     COUNTED(config_provider, header_count), PRIVATE)),
};

/* --------------------------------------------------------------------------------- how to send */

/* Each becomes a word of every limit that does not have it. */
static const struct config_table pacing_table = {
    .title = "Pacing",
    .help =
        "How quotas that servers tell are spent, by all providers that do not say it themselves.",
    .keys = KEYS(
        LIMIT_WORD("spend", WORD, "Evenly until the reset, or as there is demand.", WORDS(pacings)),
        LIMIT_WORD("reserve", SHARE, "The share of a quota that is kept back.", NOTHING),
        LIMIT_WORD("min_request_interval", SPAN, "Requests are not closer.", RANGE(1, HOUR)),
        LIMIT_WORD("max_request_interval", SPAN, "Nor further apart.", RANGE(1, HOUR)),
        LIMIT_WORD("burst_allowance", INT, "So many may run ahead of that.", RANGE(1, 100000)),
        LIMIT_WORD("concurrency", INT, "At most so many requests of a key under way.",
                   COUNT_OF_PERMITS)),
};

static const struct config_table concurrency_table = {
    .title = "Concurrency",
    .help = "How many requests may be under way.",
    .keys = KEYS(KEY("total", INT, config_concurrency, total, "40", "In all.", RANGE(1, 10000)),
                 KEY("provider", INT, config_concurrency, provider, "0",
                     "Of one provider; 0: no bound of its own.", RANGE(0, 10000)),
                 KEY("key", INT, config_concurrency, key, "0",
                     "Of one provider, pool and credential; 0: no bound but its limit.",
                     RANGE(0, 10000)),
                 KEY("reserved", INT, config_concurrency, reserved, "0", "Of all, for urgent work.",
                     RANGE(0, 9999))),
};

static const struct config_table timeouts_table = {
    .title = "Timeouts",
    .help = "How long things may take.",
    .keys =
        KEYS(KEY("connect", SPAN, config_timeouts, connect_ns, "10s", "To connect, TLS included.",
                 RANGE(1, YEAR)),
             KEY("first_byte", SPAN, config_timeouts, first_byte_ns, "30s",
                 "From the request sent to the first line of the answer.", RANGE(1, YEAR)),
             KEY("idle", SPAN, config_timeouts, idle_ns, "30s", "Without a byte.", RANGE(1, YEAR)),
             KEY("total", SPAN, config_timeouts, total_ns, "120s", "One attempt.", RANGE(1, YEAR)),
             KEY("hold", SPAN, config_timeouts, hold_ns, "1h",
                 "A wait that a server asks for; a longer one defers the requests. 0: none does.",
                 RANGE(0, YEAR)),
             KEY("outage", SPAN, config_timeouts, outage_ns, "15m",
                 "A provider that is down; a longer outage defers its requests. 0: none does.",
                 RANGE(0, YEAR)),
             KEY("stuck", SPAN, config_timeouts, stuck_ns, "30s",
                 "The daemon's loop without a turn before the watchdog steps in.", RANGE(1, YEAR))),
};

static const struct config_table breaker_table = {
    .title = "Breaker",
    .help = "After failures in a row nothing leaves but trials.",
    .keys = KEYS(KEY("failures", INT, config_breaker, failures, "5", "In a row; 0: never.",
                     RANGE(0, 1000000)),
                 KEY("time", SPAN, config_breaker, time_ns, "60s", "From one trial to the next.",
                     RANGE(0, YEAR)),
                 KEY("counts_429", BOOL, config_breaker, counts_429, "false",
                     "Whether a refusal for rate is a failure.", NOTHING)),
};

static const struct config_table pause_table = {
    .title = "Pause",
    .help = "A key with failures in a row is left alone for a time.",
    .keys = KEYS(KEY("failures", INT, config_pause, failures, "10", "In a row; 0: never.",
                     RANGE(0, 1000000)),
                 KEY("time", SPAN, config_pause, time_ns, "300s", "How long it is left alone.",
                     RANGE(0, YEAR))),
};

static const struct config_table queue_table = {
    .title = "Queue",
    .help = "What waits for a permit.",
    .keys = KEYS(KEY("max", INT, config_queue, max, "1000000", "So many requests at most.",
                     RANGE(1, 100000000)),
                 KEY("when_full", WORD, config_queue, when_full, "defer",
                     "What happens to the lowest and newest when it is full.", WORDS(fulls)),
                 KEY("ageing", INT, config_queue, ageing, "16",
                     "So many starts in a row pass a lower priority over; 0: any number.",
                     RANGE(0, 1000000))),
};

static const struct config_table recycle_table = {
    .title = "Recycle",
    .help = "Connections, name lookups and handles begin anew.",
    .keys = KEYS(KEY("time", SPAN, config_recycle, time_ns, "6h", "After so long.", RANGE(1, YEAR)),
                 KEY("tasks", INT, config_recycle, tasks, "10000", "Or after so many requests.",
                     RANGE(1, INT64_MAX))),
};

static const struct config_table answers_table = {
    .title = "Answers",
    .help = "How large an answer may be.",
    .keys = KEYS(KEY("body", SIZE, config_answers, body_bytes_max, "64MiB",
                     "The body, decompressed.", RANGE(0, INT64_C(1) << 40)),
                 KEY("head", SIZE, config_answers, head_bytes_max, "64KiB", "All of its headers.",
                     RANGE(256, INT64_C(1) << 24)),
                 KEY("headers", INT, config_answers, headers_max, "200", "How many headers.",
                     RANGE(1, 10000)),
                 KEY("inflate", INT, config_answers, inflate_max, "200",
                     "Decompressed to compressed, above the first MiB.", RANGE(1, 1000000))),
};

static const struct config_table connect_table = {
    .title = "Connections",
    .help = "How connections are made.",
    .keys = KEYS(
        KEY("user_agent", TEXT, config_connect, user_agent, NULL,
            "Who we are; else flyball and its version.",
            CHECKED(fb_check_header_value, "a text without line breaks")),
        KEY("contact", TEXT, config_connect, contact, NULL,
            "An address for those who run the API, added to the User-Agent as mailto.",
            CHECKED(fb_check_contact, "an address such as me@example.com")),
        KEY("proxy", TEXT, config_connect, proxy, NULL, "Through this proxy.",
            CHECKED(fb_check_url, "a URL without user and password, such as http://proxy:3128"),
            PRIVATE),
        KEY("no_proxy", TEXT, config_connect, no_proxy, NULL, "Hosts that need no proxy.", NOTHING),
        KEY("ca_file", TEXT, config_connect, ca_file, NULL, "Certificates to trust.", A_FILE),
        KEY("ca_path", TEXT, config_connect, ca_path, NULL, "A folder of them.", A_FILE),
        KEY("client_cert", TEXT, config_connect, client_cert, NULL, "Our own certificate.", A_FILE),
        KEY("client_key", TEXT, config_connect, client_key, NULL, "Its key.", A_FILE),
        KEY("interface", TEXT, config_connect, interface, NULL,
            "The network interface or address to send from.", NOTHING),
        KEY("resolve", TEXTS, config_connect, resolve, NULL,
            "Addresses of hosts, instead of asking for them.",
            CHECKED(fb_check_resolve, "an address such as api.example.com:443:192.0.2.1")),
        KEY("insecure", BOOL, config_connect, insecure, "false", "Certificates are not checked.",
            NOTHING),
        KEY("http1_only", BOOL, config_connect, http1_only, "false", "No HTTP/2.", NOTHING),
        KEY("decompress", BOOL, config_connect, decompress, "false",
            "Ask for compression, and undo it.", NOTHING),
        KEY("refuse_private", BOOL, config_connect, refuse_private, "false",
            "No address of this machine or of a private network at all.", NOTHING),
        KEY("redirect_private", BOOL, config_connect, redirect_private, "false",
            "A redirect may lead from a public address to a private one.", NOTHING)),
};

/* ----------------------------------------------------------------------- what is kept, who sees */

static const struct config_table store_table = {
    .title = "Store",
    .help = "What must last: journals, what was learned, answers.",
    .keys =
        KEYS(KEY("folder", TEXT, config_store, folder, NULL, "Where; else $XDG_STATE_HOME/flyball.",
                 CHECKED(fb_check_path, "the name of a folder"))),
};

static const struct config_table ledger_table = {
    .title = "Ledger",
    .help = "One budget for all processes of this host.",
    .keys = KEYS(KEY("shared", BOOL, config_ledger, shared, "true",
                     "Whether budgets are shared at all.", NOTHING),
                 KEY("path", TEXT, config_ledger, path, NULL,
                     "The file; else $XDG_RUNTIME_DIR/flyball/ledger.", A_FILE),
                 KEY("size", SIZE, config_ledger, bytes, "8MiB", "Of a new file.",
                     RANGE(64 << 10, 1 << 30))),
};

#define LISTEN CHECKED(fb_check_listen, "an address such as 127.0.0.1:8080, or off")
#define REMOTE "It may be another address than one of this machine alone."

static const struct config_table public_table = {
    .title = "The public listener",
    .help = "Status, health and events, for reading only.",
    .keys = KEYS(KEY("listen", TEXT, config_listener, listen, "127.0.0.1:8080", "Where.", LISTEN),
                 KEY("allow_remote", BOOL, config_listener, allow_remote, "false", REMOTE, NOTHING),
                 KEY("hosts", TEXTS, config_listener, hosts, NULL,
                     "Further names by which it may be asked.",
                     CHECKED(fb_check_name, "a name such as flyball.example.com"))),
};

static const struct config_table internal_table = {
    .title = "The internal listener",
    .help = "Metrics and admin.",
    .keys = KEYS(
        KEY("listen", TEXT, config_listener, listen, "127.0.0.1:8081", "Where.", LISTEN),
        KEY("allow_remote", BOOL, config_listener, allow_remote, "false", REMOTE, NOTHING),
        KEY("hosts", TEXTS, config_listener, hosts, NULL, "Further names by which it may be asked.",
            CHECKED(fb_check_name, "a name such as flyball.example.com")),
        KEY("token_env", TEXT, config_listener, token.env, NULL,
            "The variable that holds the token for admin requests.",
            CHECKED(fb_check_variable, "the name of a variable such as ADMIN_TOKEN"), PRIVATE),
        KEY("token_file", TEXT, config_listener, token.file, NULL,
            "The file whose first line is that token.", A_FILE, PRIVATE)),
};

static const struct config_table admin_table = {
    .title = "The admin socket",
    .help = "What the commands talk to.",
    .keys = KEYS(KEY("socket", TEXT, config_admin, socket, NULL,
                     "A path, or off; else /run/flyball/control.sock, or that below "
                     "$XDG_RUNTIME_DIR.",
                     CHECKED(fb_check_path, "the path of a socket, or off"))),
};

static const struct config_table listeners_table = {
    .title = "Listeners",
    .help = "Where the daemon is asked.",
    .keys = KEYS(KEY("public", SECTION, config_listeners, public, NULL, "Everybody may read.",
                     TABLE(public_table)),
                 KEY("internal", SECTION, config_listeners, internal, NULL, "Those who run it.",
                     TABLE(internal_table)),
                 KEY("admin", SECTION, config_listeners, admin, NULL, "The socket of the commands.",
                     TABLE(admin_table))),
};

static const struct config_table alerts_table = {
    .title = "Alerts",
    .help = "What somebody should be told of, and how.",
    .keys = KEYS(
        KEY("warning", SHARE, config_alerts, warning_ppm, "80%", "So much of a limit is used.",
            NOTHING),
        KEY("critical", SHARE, config_alerts, critical_ppm, "90%", "So much of it.", NOTHING),
        KEY("wait", SPAN, config_alerts, wait_ns, "60s", "A longer wait.", RANGE(1, YEAR)),
        KEY("grade", BOOL, config_alerts, grade, "true", "A change of the health grade.", NOTHING),
        KEY("every", SPAN, config_alerts, every_ns, "5m", "The same one not more often.",
            RANGE(0, YEAR)),
        KEY("webhook", TEXT, config_alerts, webhook, NULL, "POST to this URL.",
            CHECKED(fb_check_url, "a URL without user and password, such as "
                                  "https://example.com/alert"),
            HIDDEN),
        KEY("webhook_env", TEXT, config_alerts, webhook_secret.env, NULL,
            "The variable that holds the URL, where it is a secret.",
            CHECKED(fb_check_variable, "the name of a variable such as ALERT_URL"), PRIVATE),
        KEY("webhook_file", TEXT, config_alerts, webhook_secret.file, NULL,
            "The file whose first line is the URL.", A_FILE, PRIVATE),
        KEY("command", TEXTS, config_alerts, command, NULL,
            "Run this, a word each, with the alert on standard input.", NOTHING)),
};

static const struct config_table log_table = {
    .title = "Log",
    .help = "Lines about what is done.",
    .keys = KEYS(
        KEY("form", WORD, config_log, form, "json", "How a line is written.", WORDS(forms)),
        KEY("level", WORD, config_log, level, "info", "This and what is graver.", WORDS(levels)),
        KEY("file", TEXT, config_log, file, NULL, "Into this file; else standard error.", A_FILE),
        KEY("audit", INT, config_log, audit, "200",
            "So many entries of the audit are kept in memory; each is a line as well.",
            RANGE(1, 100000))),
};

static const struct config_table metrics_table = {
    .title = "Metrics",
    .help = "Figures over time, of the daemon.",
    .keys = KEYS(
        KEY("csv", TEXT, config_metrics, csv, NULL,
            "Rows of figures of every provider into this file.", A_FILE),
        KEY("every", SPAN, config_metrics, every_ns, "1s", "A row each.", RANGE(1000000000, YEAR)),
        KEY("series", INT, config_metrics, series_max, "64",
            "Label sets of one metric; the rest is counted as other.", RANGE(1, 64))),
};

static const struct config_table batch_table = {
    .title = "A batch",
    .entry = "BATCH",
    .help = "A list that the daemon works through, as flyball-fetch(1) does.",
    .size = sizeof(struct config_batch),
    .keys =
        KEYS(KEY("enabled", BOOL, config_batch, enabled, "true", "Whether it is run.", NOTHING),
             KEY("list", TEXT, config_batch, list, NULL, "The file of requests.", A_FILE, NEEDED),
             KEY("output", TEXT, config_batch, output, NULL,
                 "Results as JSON lines; else in the store's folder.", A_FILE),
             KEY("folder", TEXT, config_batch, folder, NULL, "Bodies, a file each.",
                 CHECKED(fb_check_path, "the name of a folder")),
             KEY("journal", TEXT, config_batch, journal, NULL,
                 "What is finished; else chosen by list and output.", A_FILE),
             KEY("provider", TEXT, config_batch, provider, NULL, "Whose limits hold; else by host.",
                 CHECKED(fb_check_name, "the name of a provider")),
             KEY("request_id", BOOL, config_batch, request_id, "false",
                 "Send the item's id as X-Request-Id.", NOTHING),
             KEY("bodies", BOOL, config_batch, bodies, "true", "Results hold bodies.", NOTHING),
             KEY("conditional", BOOL, config_batch, conditional, "false",
                 "Keep answers, and ask only for what has changed.", NOTHING),
             KEY("robots", BOOL, config_batch, robots, "false", "Obey robots.txt.", NOTHING),
             KEY("paginate", BOOL, config_batch, paginate, "false",
                 "Follow Link headers to next pages.", NOTHING)),
};

/* ------------------------------------------------------------------------------------- the root */

const struct config_table fb_config_keys = {
    .title = "The file",
    .help = "Everything is optional.",
    .size = sizeof(struct config),
    .keys = KEYS(
        KEY("providers", MAP, config, provider, NULL, "Whose APIs are called.",
            COUNTED(config, provider_count), TABLE(provider_table)),
        KEY("limit", LIMIT, config, limit, NULL,
            "The limit of what neither a provider nor a preset is for.",
            TABLE(fb_config_limit_keys)),
        {.name = "pacing",
         .type = CONFIG_SECTION,
         .offset = 0,
         .help = "How told quotas are spent.",
         .table = &pacing_table},
        KEY("mode", WORD, config, mode, "graceful",
            "graceful: as the recovery table says; strict: nothing is left out or put off; "
            "offline: nothing is sent.",
            WORDS(modes)),
        KEY("retries", INT, config, retries, "2",
            "Attempts after the first, at most; not said: 2, and after a 5xx 4.", RANGE(0, 999)),
        KEY("recovery", TEXTS, config, recovery, NULL,
            "Rules about failures, before the ones built in: operation/class/attempts=strategy.",
            CHECKED(fb_check_rule, "a rule such as download/5xx/1-2=retry")),
        KEY("redirects", INT, config, redirects, "10", "So many in a row are followed.",
            RANGE(0, 100)),
        KEY("concurrency", SECTION, config, concurrency, NULL, "Requests under way.",
            TABLE(concurrency_table)),
        KEY("timeouts", SECTION, config, timeouts, NULL, "How long things may take.",
            TABLE(timeouts_table)),
        KEY("breaker", SECTION, config, breaker, NULL, "When a key fails.", TABLE(breaker_table)),
        KEY("pause", SECTION, config, pause, NULL, "When it goes on failing.", TABLE(pause_table)),
        KEY("queue", SECTION, config, queue, NULL, "What waits.", TABLE(queue_table)),
        KEY("recycle", SECTION, config, recycle, NULL, "Beginning anew.", TABLE(recycle_table)),
        KEY("answers", SECTION, config, answers, NULL, "How large they may be.",
            TABLE(answers_table)),
        KEY("connect", SECTION, config, connect, NULL, "How connections are made.",
            TABLE(connect_table)),
        KEY("store", SECTION, config, store, NULL, "What must last.", TABLE(store_table), FIXED),
        KEY("ledger", SECTION, config, ledger, NULL, "What processes share.", TABLE(ledger_table),
            FIXED),
        KEY("listeners", SECTION, config, listeners, NULL, "Where the daemon is asked.",
            TABLE(listeners_table), FIXED),
        KEY("alerts", SECTION, config, alerts, NULL, "What somebody is told.", TABLE(alerts_table)),
        KEY("log", SECTION, config, log, NULL, "Lines about what is done.", TABLE(log_table)),
        KEY("metrics", SECTION, config, metrics, NULL, "Figures over time.", TABLE(metrics_table)),
        KEY("batches", MAP, config, batch, NULL, "Lists that the daemon works through.",
            COUNTED(config, batch_count), TABLE(batch_table)),
        KEY("watch", SECTION, config, watch, NULL, "Items that are kept fresh.",
            TABLE(fb_config_watch_keys))),
};
