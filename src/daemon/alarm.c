/* SPDX-License-Identifier: MIT */
/*
 * alarm.c - alerts on their way: into the audit, to a webhook, to a command.
 *
 * Both get the same line of JSON. At most ALARMS_MAX are on their way to each at once: an alert
 * that finds no place is in the audit and in the log all the same. What came of one is logged.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/instant.h"
#include "daemon/parts.h"
#include "util/alloc.h"
#include "util/json.h"
#include "view/words.h"

#define ALARMS_MAX 8

/* A command that runs, with what it is given. */
struct errand_out {
    struct errand_out *next;
    uv_process_t process;
    uv_pipe_t in;
    uv_write_t write;
    int handles;
    struct daemon *daemon;
    struct buffer line;
};

/* ------------------------------------------------------------------------------------- command */

static void forget(struct errand_out *o)
{
    struct errand_out **at = &o->daemon->errands;

    while (*at != o)
        at = &(*at)->next;
    *at = o->next;
    o->daemon->alarms_out--;
    fb_buffer_fini(&o->line);
    fb_free(o);
}

static void handle_closed(uv_handle_t *h)
{
    struct errand_out *o = h->data;

    if (--o->handles == 0)
        forget(o);
}

/* At the end of the daemon both are closed, whatever was going on. */
static void close_once(uv_handle_t *h)
{
    if (!uv_is_closing(h))
        uv_close(h, handle_closed);
}

static void written(uv_write_t *write, int status)
{
    struct errand_out *o = write->data;

    (void)status;
    close_once((uv_handle_t *)&o->in);
}

static void exited(uv_process_t *process, int64_t code, int sig)
{
    struct errand_out *o = process->data;

    if (code != 0 || sig != 0)
        fb_log(&o->daemon->log, LEVEL_warning, "alert", "the command ended with %lld, signal %d",
               (long long)code, sig);
    close_once((uv_handle_t *)process);
}

void fb_alarms_end(struct daemon *d)
{
    for (struct errand_out *o = d->errands; o; o = o->next) {
        close_once((uv_handle_t *)&o->in);
        close_once((uv_handle_t *)&o->process);
    }
}

static void give_line(struct errand_out *o)
{
    uv_buf_t buf = uv_buf_init(o->line.bytes, (unsigned)o->line.size);

    o->write.data = o;
    if (uv_write(&o->write, (uv_stream_t *)&o->in, &buf, 1, written) < 0)
        close_once((uv_handle_t *)&o->in);
}

static struct errand_out *errand_new(struct daemon *d, const struct buffer *line)
{
    struct errand_out *o = d->alarms_out < ALARMS_MAX ? fb_alloc(sizeof *o) : NULL;

    if (!o)
        return NULL;
    o->daemon = d;
    o->handles = 2;
    fb_buffer_add(&o->line, line->bytes, line->size);
    (void)uv_pipe_init(&d->loop, &o->in, 0);
    o->in.data = o->process.data = o;
    o->next = d->errands;
    d->errands = o;
    d->alarms_out++;
    return o;
}

static void run_command(struct daemon *d, const char *const *command, const struct buffer *line)
{
    struct errand_out *o = errand_new(d, line);
    uv_stdio_container_t stdio[3] = {0};
    uv_process_options_t options = {
        .exit_cb = exited, .file = command[0], .stdio = stdio, .stdio_count = 3};

    if (!o)
        return;
    stdio[0].flags = UV_CREATE_PIPE | UV_READABLE_PIPE;
    stdio[0].data.stream = (uv_stream_t *)&o->in;
    stdio[2].flags = UV_INHERIT_FD;
    stdio[2].data.fd = STDERR_FILENO;
    /* libuv does not write to the words, but its type says that it may. */
    options.args = (char **)(uintptr_t)command;
    int rc = uv_spawn(&d->loop, &o->process, &options);
    if (rc == 0) {
        give_line(o);
        return;
    }
    fb_log(&d->log, LEVEL_error, "alert", "cannot run %s: %s", command[0], strerror(-rc));
    close_once((uv_handle_t *)&o->in);
    close_once((uv_handle_t *)&o->process);
}

/* ------------------------------------------------------------------------------------- webhook */

/* Through the engine like any other request: its provider is paced, too. */
static void post(struct daemon *d, const struct buffer *line)
{
    const struct config_alerts *c = &d->config->alerts;
    static const struct engine_header TYPE = {"Content-Type", "application/json"};
    struct buffer url = BUFFER_INIT;
    struct fly_error err = {""};

    if (c->webhook)
        fb_buffer_add_text(&url, c->webhook);
    else if (fb_config_read_secret(&c->webhook_secret, &url, &err) < 0)
        fb_log(&d->log, LEVEL_error, "alert", "%s", err.text);
    const char *where = url.size > 0 ? fb_buffer_text(&url) : NULL;
    struct engine_task t = {.url = where,
                            .method = "POST",
                            .header = &TYPE,
                            .header_count = 1,
                            .body = line->bytes,
                            .body_size = line->size,
                            .id = "alert",
                            .provider = "flyball-alerts",
                            .priority = PRIORITY_HIGH,
                            .flags = ENGINE_RETRYABLE,
                            .patience_ns = 60 * FB_NS_PER_S};
    if (where && d->posts_out >= ALARMS_MAX)
        fb_log(&d->log, LEVEL_warning, "alert", "not posted: %d are on their way", d->posts_out);
    else if (where && fb_engine_submit(d->engine, &t, NULL, &err) < 0)
        fb_log(&d->log, LEVEL_error, "alert", "cannot be posted: %s", err.text);
    else if (where)
        d->posts_out++;
    fb_buffer_fini(&url);
}

/* Where to is a secret, and so is not said. */
void fb_alarm_posted(void *user, const struct engine_result *r)
{
    struct daemon *d = user;

    d->posts_out--;
    if (r->end == ENGINE_OK)
        fb_log(&d->log, LEVEL_info, "alert", "the webhook has it, with status %d", (int)r->status);
    else
        fb_log(&d->log, LEVEL_warning, "alert", "the webhook does not have it: %s, status %d",
               fb_engine_end_name(r->end), (int)r->status);
}

/* -------------------------------------------------------------------------------------- raising */

static void make_line(struct daemon *d, const struct view_audit_event *e, const char *level,
                      struct buffer *line)
{
    int64_t now_ns = fb_daemon_now(d);

    fb_buffer_add_char(line, '{');
    fb_json_text(line, "schema", "flyball.alert/1");
    fb_words_json_instant(line, "time", now_ns, now_ns);
    fb_json_text(line, "level", level);
    fb_json_text(line, "kind", e->cause);
    fb_json_text(line, "provider", e->provider);
    fb_json_text(line, "pool", e->pool);
    fb_json_text(line, "text", e->text);
    fb_buffer_add_text(line, "}\n");
}

static void raise_alert(struct daemon *d, enum alert_level level, enum alert_kind kind,
                        const char *provider, const char *pool, const char *text)
{
    const struct config_alerts *c = &d->config->alerts;
    struct view_audit_event e = {.kind = "alert",
                                 .cause = fb_alert_kind_name(kind),
                                 .provider = provider,
                                 .pool = pool,
                                 .text = text};
    struct buffer line = BUFFER_INIT;

    fb_daemon_audit(d, LEVEL_warning, &e);
    make_line(d, &e, fb_alert_level_name(level), &line);
    if (!line.failed && (c->webhook || fb_config_has_secret(&c->webhook_secret)))
        post(d, &line);
    if (!line.failed && c->command && c->command[0])
        run_command(d, c->command, &line);
    fb_buffer_fini(&line);
}

static void look_at(struct daemon *d, size_t set, int64_t now_ns)
{
    const struct gauge *g = &d->gauges.set[set];
    const struct meter_set *m = &d->meters.set[set];
    enum alert_level used = fb_alert_used(&d->alerts.rules, g->used);
    enum alert_level wait = fb_alert_wait(&d->alerts.rules, g->wait_s);
    char text[200];

    if (fb_alert_is_due(&d->alerts, ALERT_utilization, set, used, now_ns)) {
        (void)snprintf(text, sizeof text, "%s/%s at %.1f %% of its limit", m->provider, m->pool,
                       g->used * 100.0);
        raise_alert(d, used, ALERT_utilization, m->provider, m->pool, text);
    }
    if (fb_alert_is_due(&d->alerts, ALERT_wait, set, wait, now_ns)) {
        (void)snprintf(text, sizeof text, "%s/%s waits %.0f s (%s)", m->provider, m->pool,
                       g->wait_s, g->cause);
        raise_alert(d, wait, ALERT_wait, m->provider, m->pool, text);
    }
}

/* What the word alone does not say: servers are well, and whoever asks is not. */
static void say_grade(const struct daemon *d, enum grade before, char *text, size_t size)
{
    bool is_wrong = strcmp(d->grader.cause, "client_errors") == 0;

    (void)snprintf(text, size, "was %s, is %s%s", fb_grade_name(before),
                   fb_grade_name(d->grader.grade),
                   is_wrong ? ": the last answers of a provider were all 4xx" : "");
}

static void look_at_grade(struct daemon *d, int64_t now_ns)
{
    enum grade before = d->alerts.grade;
    enum grade now = d->grader.grade;
    char text[100];

    if (!fb_alert_grade_is_due(&d->alerts, now, now_ns))
        return;
    say_grade(d, before, text, sizeof text);
    raise_alert(d, fb_alert_grade(now), ALERT_grade, "", "", text);
}

void fb_alarm_look(struct daemon *d)
{
    int64_t now_ns = fb_daemon_now(d);

    for (size_t i = 1; i < d->gauges.sets; i++)
        look_at(d, i, now_ns);
    look_at_grade(d, now_ns);
}

void fb_alarm_grade(struct daemon *d, enum grade before)
{
    struct view_audit_event e = {
        .kind = "grade", .cause = d->grader.cause, .outcome = fb_grade_name(d->grader.grade)};
    char text[100];

    say_grade(d, before, text, sizeof text);
    e.text = text;
    fb_daemon_audit(d, LEVEL_info, &e);
}
