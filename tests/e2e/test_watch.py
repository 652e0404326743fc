# SPDX-License-Identifier: MIT
"""flyball watch against four real sites: items, events, sources, troubles, restarts."""
import json
import os
import re
import signal
import subprocess
from contextlib import contextmanager

from matches import Sites
from schemas import check_answer
from served import FLYBALL, Daemon, wait_for

# Quick, so that a test sees many intervals; no age is compared with the clock of a busy machine.
QUICK = '''
  aims: {live: 500ms, imminent: 2s, completed: 10s}
  cache: {live: 30s}
'''


@contextmanager
def watching(folder, matches='live=6 pace=60', more=QUICK, rest='', **sites):
    with Sites(folder, matches, **sites) as s, Daemon(folder, s.config(more=more) + rest) as d:
        yield s, d


def watch_of(d):
    return d.status()['watch']


def source_of(d, name):
    return next(s for s in watch_of(d)['sources'] if s['source'] == name)


def all_live(d, count):
    """The live items, once there are so many and each has a version."""
    def known():
        items = d.json('/items?state=live')['items']
        return len(items) == count and all(i['seq'] for i in items) and items
    return wait_for(known)


def metric(d, name, **labels):
    text = d.ask('/metrics', 'internal')[2].decode()
    for line in text.splitlines():
        found = re.match(rf'{name}(?:{{(.*)}})? (\S+)$', line)
        if found and all(f'{k}="{v}"' in (found[1] or '') for k, v in labels.items()):
            return float(found[2])
    raise AssertionError(f'{name} {labels}')


# ----------------------------------------------------------------------------------------- items

def test_items_of_three_sites_become_one_picture(tmp_path):
    with watching(tmp_path) as (sites, d):
        items = all_live(d, 6)
        check_answer(d.json('/items', 'public'), 'items')
        listed = {m['id'] for m in sites.listed() if m['state'] == 'live'}
        assert len(listed & {i['id'] for i in items}) >= 4  # matches end while we look
        assert set(items[0]['fields']) == {'minute', 'home', 'away', 'venue'}

        def agreed():
            """One that several sites tell the same venue of."""
            for i in d.json('/items?state=live')['items']:
                told = d.json(f'/items/{i["id"]}', 'public')
                if len(told['provenance'].get('venue', {}).get('agree', [])) >= 2:
                    return told
            return None
        told = wait_for(agreed)
        check_answer(told, 'item')
        assert set(told['provenance']) == set(told['fields'])
        assert {s['source'] for s in told['sources']} == {'score', 'arena', 'ticker'}
        ids = {s['source']: s['source_id'] for s in told['sources']}
        assert ids['ticker'].isdigit() and ids['score'] == told['id']
        status = watch_of(d)
        assert status['grade'] == 'healthy' and status['queue']['violations'] == 0
        assert {i['id'] for i in status['items']} and all(
            set(i['provenance']) for i in status['items'] if i['seq'])


def test_versions_and_deltas(tmp_path):
    with watching(tmp_path, 'live=3 pace=120') as (_, d):
        all_live(d, 3)
        item = wait_for(lambda: next((i for i in d.json('/items?state=live')['items']
                                      if i['seq'] >= 3), None))
        path = f'/items/{item["id"]}'
        history = d.json(f'{path}/history')
        check_answer(history, 'history')
        seqs = [v['seq'] for v in history['versions']]
        assert seqs == list(range(seqs[0], seqs[0] - len(seqs), -1)) and len(seqs) <= 5
        old = history['versions'][1]
        delta = d.json(f'{path}/delta?since={old["seq"]}')
        check_answer(delta, 'delta')
        assert delta['need'] == 'changes' and delta['changes']
        made = {**old['fields'], **delta['changes']}
        latest = d.json(f'{path}/history')['versions']
        assert {k: v for k, v in made.items() if v is not None} in [v['fields'] for v in latest]
        whole = d.json(f'{path}/delta?since=0')
        assert whole['need'] == 'whole' and set(whole['changes']) == {'minute', 'home', 'away',
                                                                      'venue'}
        assert d.json(f'{path}/delta?since=999999')['need'] == 'whole'
        assert d.ask(f'{path}/delta?since=x')[0] == 400
        assert d.ask(f'{path}/nothing')[0] == 404 and d.ask('/items/nobody')[0] == 404
        assert d.ask('/items?state=dead')[0] == 400


def test_what_the_commands_say(tmp_path):
    with watching(tmp_path, 'live=3 pace=60 unmapped=3') as (_, d):
        items = all_live(d, 3)
        told = d.command('watch', 'status')
        assert told.returncode == 0 and 'healthy' in told.stdout and 'arena' in told.stdout
        check_answer(json.loads(d.command('watch', 'status', '--json').stdout), 'watch')
        told = d.command('items', '--state', 'live')
        assert told.returncode == 0 and len(told.stdout.splitlines()) >= 4
        check_answer(json.loads(d.command('items', '--json').stdout), 'items')
        one = items[-1]['id']
        told = d.command('item', one)
        if told.returncode == 0:  # it may just have gone
            assert told.stdout.startswith(f'{one}: ') and 'next: ' in told.stdout
            check_answer(json.loads(d.command('item', one, '--json').stdout), 'item')
        told = d.command('item', 'nobody')
        assert told.returncode == 3 and "there is no item 'nobody'" in told.stderr
        assert d.command('item').returncode == 2
        assert d.command('watch', 'nonsense').returncode == 2


def test_without_anything_to_watch(tmp_path):
    done = subprocess.run([FLYBALL, 'watch', '--set', 'mode=strict'], cwd=tmp_path, text=True,
                          env={**os.environ, 'HOME': str(tmp_path)}, capture_output=True,
                          check=False)
    assert done.returncode == 2 and 'watches nothing' in done.stderr
    with Daemon(tmp_path) as d:
        assert d.ask('/items')[0] == 404 and 'watch' not in d.status()
        told = d.command('watch', 'status')
        assert told.returncode == 3 and 'nothing is watched' in told.stderr
    assert d.command('items').returncode == 3  # nobody is there


# ---------------------------------------------------------------------------------------- events

def test_who_comes_back_has_missed_nothing(tmp_path):
    with watching(tmp_path, 'live=4 pace=120') as (_, d):
        all_live(d, 4)
        start = d.json('/items')
        have = {i['id']: [i['seq'], i['fields']] for i in start['items']}
        last, seen = start['event'], 0
        while seen < 12:
            with d.events(last=last) as events:  # for a few, then gone again
                for _ in range(3):
                    e = events.next('changed', 'gap', 'removed')
                    assert e['event'] != 'gap'
                    last, data = e['id'], e['data']
                    if e['event'] == 'removed':
                        have.pop(data['id'])
                        continue
                    seq, fields = have.setdefault(data['id'], [0, {}])
                    if data['seq'] <= seq:
                        continue
                    assert data['seq'] == seq + 1, (seq, data)
                    fields.update(data['changes'])
                    have[data['id']][0] = data['seq']
                    seen += 1
        now = {i['id']: i for i in d.json('/items')['items']}
        for item, (seq, fields) in have.items():
            if item in now and now[item]['seq'] == seq:
                assert now[item]['fields'] == fields
        with d.events(last='1-1') as events:
            assert events.next()['event'] == 'gap'


def test_events_of_one_item_and_of_none(tmp_path):
    with watching(tmp_path, 'live=3 pace=120') as (_, d):
        one = all_live(d, 3)[0]['id']
        kinds = {}
        for words in (f'items={one}', 'items=none', 'items=all'):
            client = d.connection('public')
            client.request('GET', f'/events?{words}')
            stream = client.getresponse()
            text = b''
            while text.count(b'event: tick') < 4:
                text += stream.readline()
            client.close()
            kinds[words] = text.decode()
        assert 'event: changed' not in kinds['items=none']
        assert 'event: freshness' in kinds['items=all']
        told = re.findall(r'event: changed\ndata: (.*)', kinds[f'items={one}'])
        assert {json.loads(x)['id'] for x in told} <= {one}


# --------------------------------------------------------------------------------------- sources

def test_a_source_is_switched_off_and_on(tmp_path):
    with watching(tmp_path) as (sites, d):
        all_live(d, 6)
        assert d.command('source', 'disable', 'score').returncode == 0
        assert source_of(d, 'score')['state'] == 'off'
        wait_for(lambda: source_of(d, 'score')['active'] == 0)
        before = sites.mock['score'].stats()['arrivals']
        intervals = watch_of(d)['intervals']
        wait_for(lambda: watch_of(d)['intervals'] >= intervals + 5)
        assert sites.mock['score'].stats()['arrivals'] == before
        assert d.command('source', 'enable', 'score').returncode == 0
        wait_for(lambda: sites.mock['score'].stats()['arrivals'] > before)
        kinds = [e['kind'] for e in json.loads(d.command('audit', '--json').stdout)['events']]
        assert 'disabled' in kinds and 'enabled' in kinds
        assert d.command('source', 'enable', 'nobody').returncode == 2


def test_another_configuration_is_in_force_within_an_interval(tmp_path):
    with watching(tmp_path) as (sites, d):
        items = {i['id']: i for i in all_live(d, 6)}
        d.configure(sites.config(more=QUICK + '  concurrency: 7\n  health: {degraded: 33s}\n'))
        assert d.act('reload')[0] == 200
        wait_for(lambda: watch_of(d)['config']['concurrency'] == 7)
        assert watch_of(d)['config']['degraded_s'] == 33
        for i in d.json('/items')['items']:  # nothing is forgotten
            assert i['seq'] >= items.get(i['id'], i)['seq']
        without = sites.config(more=QUICK).split('    ticker:\n')[0]
        d.configure(without.replace('ids: {ticker: /ids/ticker}', 'id: /id'))
        assert d.act('reload')[0] == 200
        wait_for(lambda: [s['source'] for s in watch_of(d)['sources']] == ['score', 'arena'])
        assert all(i['seq'] for i in all_live(d, 6))


def test_ids_that_do_not_fit_are_told(tmp_path):
    with watching(tmp_path, 'live=6 pace=60 unmapped=3') as (_, d):
        all_live(d, 6)
        wait_for(lambda: watch_of(d)['warned']['unmapped'] >= 2)
        warning = watch_of(d)['warnings'][0]
        assert warning['source'] == 'ticker' and warning['kind'] == 'unmapped'
        assert metric(d, 'flyball_watch_warnings_total', kind='unmapped') >= 2
        assert source_of(d, 'ticker')['unmapped'] >= 2
        assert 'reconciliation' in d.log.read_text()


def test_metrics_say_the_same_as_the_status(tmp_path):
    with watching(tmp_path) as (_, d):
        all_live(d, 6)
        before = source_of(d, 'score')['looks']
        now = sum(metric(d, 'flyball_source_looks_total', domain='score', outcome=o)
                  for o in ('ok', 'same', 'absent', 'failed'))
        assert now >= before - 8  # no lag: at most what is under way is not over yet
        assert metric(d, 'flyball_watch_items', state='live') == 6
        assert metric(d, 'flyball_watch_health', grade='healthy') == 1
        assert metric(d, 'flyball_freshness_age_seconds', state='live', percentile='95') < 60
        text = d.ask('/metrics', 'internal')[2]
        assert d.ask('/metrics', 'public')[0] == 404
        done = subprocess.run(['promtool', 'check', 'metrics'], input=text, capture_output=True,
                              check=False)
        assert done.returncode == 0, done.stderr


def test_what_is_asked_for_is_answered_from_memory(tmp_path):
    with watching(tmp_path) as (_, d):
        assert watch_of(d)['cache']['hit_ratio'] is None  # nobody has asked
        items = all_live(d, 6)
        before = watch_of(d)['cache']['live']
        for i in items:
            d.ask(f'/items/{i["id"]}')
        d.ask('/items/nobody')
        after = watch_of(d)['cache']
        seen = after['live']['hits'] + after['live']['misses']
        assert seen - before['hits'] - before['misses'] >= 4  # some may have ended by now
        assert after['unknown'] >= 1
        assert after['live']['hit_ratio'] > 0 and after['completed']['hit_ratio'] is None
        assert metric(d, 'flyball_watch_cache_hit_ratio', state='live') > 0
        told = watch_of(d)
        assert told['items_total'] == len(told['items']) >= 6 and not told['truncated']


# -------------------------------------------------------------------------------------- troubles

def test_an_item_that_keeps_failing_is_paused_and_others_are_well(tmp_path):
    more = QUICK + '  pause: {failures: 2, time: 2s}\n'
    broken = {n: 'live=6 broken=1' for n in ('score', 'arena', 'ticker')}
    with watching(tmp_path, 'live=6', more=more, each=broken) as (_, d):
        with d.events() as events:
            paused = events.next('paused')['data']
            assert paused['id'].startswith('m1-')
            while events.next('resumed')['data']['id'] != paused['id']:
                pass
        assert watch_of(d)['grade'] != 'failing'
        # The pitch is broken: what was played there before, or is next, fails as well.
        others = [i for i in d.json('/items?state=live')['items'] if i['id'][:3] != 'm1-']
        assert len(others) == 5 and all(i['seq'] for i in others)


def test_an_operator_pauses_resumes_and_recycles(tmp_path):
    with watching(tmp_path, 'live=2') as (_, d):
        one = all_live(d, 2)[0]['id']
        assert d.command('item', 'pause', one, '--for', '10m').returncode == 0
        assert d.json(f'/items/{one}')['paused_until_in_s'] > 60
        wait_for(lambda: watch_of(d)['paused'] == 1)
        assert d.command('item', 'resume', one).returncode == 0
        wait_for(lambda: watch_of(d)['paused'] == 0)
        assert d.command('item', 'pause', 'nobody').returncode == 2
        fresh = {i['id']: i['seq'] for i in d.json('/items')['items']}
        assert d.command('recycle').returncode == 0
        events = json.loads(d.command('audit', '--json').stdout)['events']
        assert [e['cause'] for e in events if e['kind'] == 'recycle'] == ['operator']
        assert {i['id']: i['seq'] for i in d.json('/items')['items'] if i['id'] in fresh}.keys() \
            == fresh.keys()


def test_all_sites_die_and_come_back(tmp_path):
    health = '  health: {degraded: 3s, failing: 5s, stall: 4s, recovery: 20s, patience: 30s}\n'
    with watching(tmp_path, 'live=4', more=QUICK + health) as (sites, d):
        known = {i['id']: i['fresh'] for i in all_live(d, 4)}
        with d.events() as events:
            for name in ('score', 'arena', 'ticker'):
                sites.stop(name)
            seen = []
            while 'recovering' not in seen:
                seen.append(watch_of(d)['grade'])
                events.next('freshness')
            now = {i['id']: i for i in d.json('/items')['items']}
            assert all(now[i]['fresh'] >= known[i] for i in known)  # nothing was forgotten
            for name in ('score', 'arena', 'ticker'):
                sites.again(name)
            wait_for(lambda: watch_of(d)['grade'] == 'healthy')
        kinds = [e['kind'] for e in json.loads(d.command('audit', '--json').stdout)['events']]
        assert 'recovery' in kinds and 'recovered' in kinds and 'down' in kinds and 'up' in kinds
        assert watch_of(d)['recoveries'] >= 1


def test_a_lying_source_is_shown_and_outvoted(tmp_path):
    lies = {'ticker': 'live=4 lies=70'}
    with watching(tmp_path, 'live=4', each=lies) as (_, d):
        all_live(d, 4)

        def contradicted():
            for i in d.json('/items?state=live')['items']:
                home = d.json(f'/items/{i["id"]}')['provenance'].get('home', {})
                if 'ticker' in home.get('disagree', {}):
                    return i, home
            return None
        item, home = wait_for(contradicted)
        assert int(home['disagree']['ticker']) >= 70 and int(item['fields']['home']) < 70


def test_killed_and_started_again(tmp_path):
    with Sites(tmp_path, 'live=4') as sites:
        config = sites.config(more=QUICK)
        with Daemon(tmp_path, config) as d:
            all_live(d, 4)
            intervals = watch_of(d)['intervals']
            before = {i['id']: i for i in d.json('/items')['items']}
            wait_for(lambda: watch_of(d)['intervals'] >= intervals + 2)  # kept by now
            event = d.json('/items')['event']
            os.kill(d.process.pid, signal.SIGKILL)
            d.process.wait()
            d.code = -signal.SIGKILL
        for name in list(sites.mock):
            sites.stop(name)
        with Daemon(tmp_path, config) as d:
            after = {i['id']: i for i in d.json('/items')['items']}
            assert set(before) <= set(after)
            for item, was in before.items():
                assert after[item]['seq'] >= was['seq'] and after[item]['fields']
            with d.events(last=event) as events:
                assert events.next()['event'] == 'gap'


def test_each_look_is_a_line_of_the_log(tmp_path):
    with Sites(tmp_path, 'live=2') as sites:
        config = sites.config(more=QUICK) + 'log: {form: json, level: debug}\n'
        with Daemon(tmp_path, config) as d:
            all_live(d, 2)
        looks = [x for x in map(json.loads, d.log.read_text().splitlines())
                 if x.get('operation') == 'update' and 'provider' in x]
        assert looks
        for x in looks:
            assert x['item'] and x['outcome'] and x['attempt'] and 'duration_ms' in x, x
