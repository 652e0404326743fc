/* SPDX-License-Identifier: MIT */
/* meter.c - a few samples of the batch, and a mean of each key that forgets in five seconds. */
#include "fetch/meter.h"

#define NS_PER_S  INT64_C(1000000000)
#define FORGET_NS (5 * NS_PER_S)

double fb_meter_batch(struct meter *m, int64_t began_ns, int64_t now_ns, int64_t done)
{
    size_t newest = m->count % METER_SAMPLES;

    if (m->count == 0) { /* nothing had ended when it began */
        m->sample[0].at_ns = began_ns;
        newest = m->count = 1;
    }
    m->sample[newest].at_ns = now_ns;
    m->sample[newest].done = done;
    m->count++;
    size_t oldest = m->count > METER_SAMPLES ? m->count % METER_SAMPLES : 0;
    int64_t span_ns = now_ns - m->sample[oldest].at_ns;
    return span_ns > 0 ? (double)(done - m->sample[oldest].done) / (double)span_ns * 1e9 : 0.0;
}

static struct meter_key *find(struct meter *m, uint64_t name)
{
    struct meter_key *old = &m->key[0];

    for (size_t i = 0; i < METER_KEYS; i++) {
        struct meter_key *k = &m->key[i];

        if (k->name == name)
            return k;
        if (old->name && (!k->name || k->at_ns < old->at_ns))
            old = k;
    }
    *old = (struct meter_key){.name = 0};
    return old;
}

double fb_meter_key(struct meter *m, uint64_t name, int64_t since_ns, int64_t now_ns, int64_t done,
                    bool waits)
{
    struct meter_key *k = find(m, name);

    if (!k->name)
        *k = (struct meter_key){.name = name,
                                .since_ns = since_ns,
                                .at_ns = since_ns,
                                .done = since_ns < now_ns ? 0 : done};
    if (done < k->done) /* it was forgotten, and counts from 0 again */
        k->done = 0;
    int64_t span_ns = now_ns - k->at_ns;
    int64_t of_ns = now_ns - k->since_ns;
    /* What ended before its first wait is all that is known. */
    if (span_ns > 0 && (!waits || k->rate <= 0.0)) {
        double share = (double)span_ns / (double)(of_ns < FORGET_NS ? of_ns : FORGET_NS);
        double now = (double)(done - k->done) / (double)span_ns * 1e9;

        k->rate += (share < 1.0 ? share : 1.0) * (now - k->rate);
    }
    k->at_ns = now_ns;
    k->done = done;
    return k->rate;
}
