# SPDX-License-Identifier: MIT
"""judge - what an origin's log says: refusals, use of the limit, the fullest window."""
import json


def load(path):
    """The lines of a log that are whole; the last one may be cut off."""
    events = []
    with open(path, encoding='utf-8') as log:
        for line in log:
            if line.endswith('\n'):
                events.append(json.loads(line))
    return events


def fullest(stamps, window_ns):
    """The most in any (t - window, t]."""
    most = first = 0
    for i, t in enumerate(stamps):
        while stamps[first] <= t - window_ns:
            first += 1
        most = max(most, i - first + 1)
    return most


def most_at_once(events):
    count = most = 0
    accepted = {e['n'] for e in events if e['kind'] == 'in' and e['ok']}
    for e in events:
        if e['n'] in accepted:
            count += 1 if e['kind'] == 'in' else -1
            most = max(most, count)
    return most


def settled_from(arrivals, settle_s):
    """When use of the limit begins to count: so long after the start, or at the tenth refusal."""
    if settle_s is not None:
        return arrivals[0]['t'] + int(settle_s * 1e9)
    refused = [e['t'] for e in arrivals if not e['ok']][:10]
    return refused[-1] if refused else arrivals[0]['t']


def verdict(path, limit, window_s, settle_s):
    """
    The figures of one run. settle_s: how long it may learn; None: until the tenth refusal. A
    limit of 0 seconds is one on what is in flight.
    """
    events = load(path)
    arrivals = [e for e in events if e['kind'] == 'in']
    refused = [e for e in arrivals if not e['ok']]
    start = settled_from(arrivals, settle_s)
    late = [e for e in arrivals if e['t'] > start]
    span_s = (arrivals[-1]['t'] - start) / 1e9
    result = {
        'arrivals': len(arrivals),
        'refused': len(refused),
        'refused_settled': sum(not e['ok'] for e in late),
        'per_1000': 1000 * len(refused) / len(arrivals),
        'seconds': (arrivals[-1]['t'] - arrivals[0]['t']) / 1e9,
        'ids': len({e['id'] for e in arrivals if e['ok']}),
    }
    if window_s:
        result['fullest'] = fullest([e['t'] for e in arrivals], int(window_s * 1e9))
        accepted = sum(e['ok'] for e in late)
        result['used'] = accepted / (limit * span_s / window_s) if span_s > 0 else 0.0
    else:
        result['fullest'] = most_at_once(events)
    return result
