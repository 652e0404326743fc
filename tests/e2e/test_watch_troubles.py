# SPDX-License-Identifier: MIT
"""flyball watch in trouble: the grades that follow each other, who is told, what the audit says."""
import json

from matches import Sites
from schemas import check_answer
from served import Daemon, wait_for
from test_alerts import Hook
from test_watch import QUICK, all_live, metric, source_of, watch_of, watching

# Far enough apart for a busy machine to see each of them.
HEALTH = '''
  aims: {live: 500ms, imminent: 2s, completed: 10s}
  cache: {live: 30s}
  health: {degraded: 6s, failing: 90s, stall: 9s, recovery: 90s, patience: 120s}
'''


def audit(d, *kinds):
    """(kind, cause, outcome) of these kinds, the oldest first."""
    told = json.loads(d.command('audit', '--json').stdout)
    check_answer(told, 'audit')
    return [(e['kind'], e['cause'], e['outcome']) for e in reversed(told['events'])
            if e['kind'] in kinds]


def names(rows):
    return [row[0] for row in rows]


# ----------------------------------------------------------------------------- grades and audit

def test_a_stall_from_its_beginning_to_its_end(tmp_path):
    with watching(tmp_path, 'live=4', more=HEALTH) as (sites, d):
        all_live(d, 4)
        for name in ('score', 'arena', 'ticker'):
            sites.stop(name)
        wait_for(lambda: watch_of(d)['grade'] == 'recovering')
        for name in ('score', 'arena', 'ticker'):
            sites.again(name)
        wait_for(lambda: watch_of(d)['grade'] == 'healthy')
        told = audit(d, 'watch-grade', 'recovery', 'recycle', 'recovered', 'unhelped')
        assert told[0] in [('watch-grade', cause, 'degraded') for cause in ('median', 'p95')]
        assert told[1:] == [
            ('watch-grade', 'stall', 'recovering'), ('recovery', 'stall', 'begun'),
            ('recycle', 'recovery', 'done'), ('watch-grade', 'fresh', 'healthy'),
            ('recovered', 'stall', 'healthy')]
        down = audit(d, 'down')
        assert len(down) == 3 and all(row[1] == 'failures' and row[2] != 'done' for row in down)
        events = json.loads(d.command('audit', '--json').stdout)['events']
        took = [e['took_s'] for e in events if e['kind'] in ('recovered', 'up')]
        assert len(took) == 4 and all(s > 0 for s in took)


def test_an_entry_says_which_item_and_until_when(tmp_path):
    with watching(tmp_path, 'live=2') as (_, d):
        one = all_live(d, 2)[0]['id']
        assert d.command('item', 'pause', one, '--for', '10m').returncode == 0
        entry = next(e for e in json.loads(d.command('audit', '--json').stdout)['events']
                     if e['kind'] == 'paused')
        assert (entry['item'], entry['cause'], entry['outcome']) == (one, 'operator', 'done')
        assert entry['until'] and 500 < entry['until_in_s'] <= 600
        lines = [json.loads(x) for x in d.log.read_text().splitlines() if '"paused"' in x]
        assert [(x['item'], x['cause'], x['outcome']) for x in lines] == [(one, 'operator', 'done')]


def test_as_many_entries_as_the_configuration_says(tmp_path):
    with watching(tmp_path, 'live=1', rest='log: {audit: 3}\n') as (sites, d):
        all_live(d, 1)
        assert d.status()['config']['audit_max'] == 3
        for _ in range(6):
            d.act('recycle')
        told = json.loads(d.command('audit', '--json').stdout)
        assert len(told['events']) == 3 and told['lost'] >= 3
        assert sum('recycle' in x for x in d.log.read_text().splitlines()) >= 6
        d.configure(sites.config(more=QUICK) + 'log: {audit: 5}\n')
        assert d.act('reload')[0] == 200
        for _ in range(6):
            d.act('recycle')
        assert names(audit(d, 'recycle')) == ['recycle'] * 5


def test_a_worse_grade_of_items_is_the_grade(tmp_path):
    more = '''
  queue: 5
  aims: {live: 500ms, imminent: 500ms, completed: 1s}
'''
    with Hook() as hook, Sites(tmp_path, 'live=3 imminent=300') as sites, \
            Daemon(tmp_path, sites.config(more=more) +
                   f'alerts: {{every: 1s, webhook: "{hook.url}"}}\n') as d:
        wait_for(lambda: watch_of(d)['grade'] == 'degraded')
        wait_for(lambda: d.json('/healthz', 'public')['grade'] == 'degraded')
        assert metric(d, 'flyball_health', grade='degraded') == 1
        alert = wait_for(lambda: hook.alerts('grade'))[0]
        assert alert['level'] == 'warning' and alert['text'] == 'was healthy, is degraded'
        assert ('grade', 'watch', 'degraded') in audit(d, 'grade')
        assert ('watch-grade', 'overload', 'degraded') in audit(d, 'watch-grade')
        d.configure(sites.config(more=more.replace('queue: 5', 'queue: 5000')) +
                    f'alerts: {{every: 1s, webhook: "{hook.url}"}}\n')
        assert d.act('reload')[0] == 200
        wait_for(lambda: d.json('/healthz', 'public')['grade'] == 'healthy')
        assert names(audit(d, 'watch-grade')) == ['watch-grade'] * 2


# -------------------------------------------------------------------------------- one site, caps

def test_one_site_dead_is_done_without(tmp_path):
    with watching(tmp_path, 'live=4', more=HEALTH) as (sites, d):
        all_live(d, 4)
        sites.stop('score')
        wait_for(lambda: ('demoted', 'reliability', 'done') in audit(d, 'demoted'))
        looks = source_of(d, 'score')['looks']
        fresh = {i['id']: i['fresh'] for i in d.json('/items?state=live')['items']}
        wait_for(lambda: all(i['fresh'] > fresh.get(i['id'], '')
                             for i in d.json('/items?state=live')['items']))
        assert source_of(d, 'score')['looks'] - looks <= 20  # it is tried now and then
        assert watch_of(d)['grade'] == 'healthy'
        sites.again('score')
        wait_for(lambda: names(audit(d, 'down', 'up')) == ['down', 'up'])
        assert audit(d, 'watch-grade') == []


def gaps(sites, name, since):
    """Seconds between arrivals after this one."""
    stamps = sorted(t for t, _, _ in sites.arrivals(name))[since:]
    return [(b - a) / 1e9 for a, b in zip(stamps, stamps[1:])]


def test_a_cap_and_a_limit_change_within_an_interval(tmp_path):
    with Sites(tmp_path, 'live=8', more={'score': ('--latency', '300ms')}) as sites, \
            Daemon(tmp_path, sites.config(more=HEALTH)) as d:
        all_live(d, 8)
        text = sites.config(more=HEALTH)
        d.configure(text.replace('concurrency: 8', 'concurrency: 1'))
        assert d.act('reload')[0] == 200
        wait_for(lambda: source_of(d, 'score')['active'] <= 1)
        seen = len(sites.arrivals('score')) + 1
        wait_for(lambda: len(sites.arrivals('score')) >= seen + 10)
        assert min(gaps(sites, 'score', seen)) >= 0.29  # one after the other
        d.configure(text.replace('limit: rate=50/s burst=50', 'limit: rate=1/s burst=1'))
        assert d.act('reload')[0] == 200
        seen = len(sites.arrivals('score')) + 2
        wait_for(lambda: len(sites.arrivals('score')) >= seen + 5)
        assert min(gaps(sites, 'score', seen)) >= 0.95
        assert watch_of(d)['queue']['violations'] == 0
