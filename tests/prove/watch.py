#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What flyball watch promises, in real time, as origins and consumers see it: make prove-watch

    tests/prove/watch.py [--seconds N] [--json FILE] [NAME...]     none: all of RUNS, at the end

200 live matches from three sites with limits of their own, of which one answer in twenty is a
failure. What judges shares nothing with what is judged: limits by the origins' logs, values by a
site that nobody watches, ages by what consumers are told. Fails where a promise is not kept.
"""
import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'e2e'))
from follow import Client, Consumer  # noqa: E402
from matches import CAPS, SITES, Sites  # noqa: E402
from mock_api import Mock  # noqa: E402
from served import Daemon, wait_for  # noqa: E402

PACE = 6  # minutes of a match in one of ours
INTERVAL_S = 5.0
OLDER_S = 40.0  # than the latest answer may be that of a source which is believed more
LIMITS = {'score': 'rate=12/s burst=12', 'arena': 'window=80/10s', 'ticker': 'window=360/1m'}
# What flyball is told: of windows it keeps 10 % by itself, of a bucket nothing.
TOLD = {'score': 'rate=11/s burst=10'}
FAULTS = {n: ('--fail', '5%', '--latency', '20ms', '--jitter', '80ms')
          for n in ('score', 'arena', 'ticker')}


# -------------------------------------------------------------------------------------- judging

def fullest(stamps, window_ns):
    """The most in any (t - window, t]."""
    most = first = 0
    for i, t in enumerate(stamps):
        while stamps[first] <= t - window_ns:
            first += 1
        most = max(most, i - first + 1)
    return most


def overdrawn(stamps, rate, burst):
    """Arrivals that a bucket has no token for."""
    tokens, last, count = float(burst), stamps[0] if stamps else 0, 0
    for t in stamps:
        tokens = min(float(burst), tokens + (t - last) * rate / 1e9)
        last = t
        if tokens < 1 - 1e-6:
            count += 1
        else:
            tokens -= 1
    return count


def violations(sites):
    """By the origins' own logs: {site: (arrivals, refused, above the limit, failed on purpose)}"""
    told = {}
    for name, text in LIMITS.items():
        seen = sites.arrivals(name)
        stamps = sorted(t for t, _, _ in seen)
        words = dict(w.split('=') for w in text.split())
        if 'window' in words:
            limit, span = words['window'].split('/')
            span_s = int(span[:-1]) * {'s': 1, 'm': 60}[span[-1]]
            above = max(0, fullest(stamps, span_s * 10 ** 9) - int(limit))
        else:
            above = overdrawn(stamps, float(words['rate'].split('/')[0]), int(words['burst']))
        told[name] = (len(seen), sum(v == 'R' for _, _, v in seen), above,
                      sum(v == 'F' for _, _, v in seen))
    return told


class Truth:
    """A site that nobody watches: what was so, as long ago as what is told may be."""

    def __init__(self, mock):
        self.client = Client(mock.port)
        self.asked = self.wrong = 0
        self.first = None

    async def compare(self, item):
        status, true = await self.client.get(f'/api/match/{item["id"]}')
        if status != 200 or 'minute' not in item['fields']:
            return
        minutes = (item['age_s'] + OLDER_S + 2.0) * PACE / 60
        said = int(item['fields']['minute'])
        self.asked += 1
        if not true['minute'] - minutes - 1 <= said <= true['minute']:
            self.wrong += 1
            self.first = self.first or (item, true)


class Sampler:
    """Once an interval: ages, grade, caps, a few values."""

    def __init__(self, port, truth):
        self.client = Client(port)
        self.truth = truth
        self.rng = random.Random(4)
        self.ages, self.grades, self.unknown = [], [], 0
        self.over = self.over_most = 0
        self.status = None

    async def sample(self):
        _, told = await self.client.get('/items?state=live&most=20000')
        ages = [i['age_s'] for i in told['items']]
        self.unknown += sum(i['seq'] == 0 for i in told['items'])
        self.ages += ages
        self.over = self.over + 1 if max(ages, default=0) >= 120 else 0
        self.over_most = max(self.over, self.over_most)
        _, status = await self.client.get('/status')
        self.status = status['watch']
        self.grades.append(self.status['grade'])
        known = [i for i in told['items'] if i['seq']]
        for item in self.rng.sample(known, min(10, len(known))):
            await self.truth.compare(item)

    async def run(self):
        while True:
            await asyncio.sleep(INTERVAL_S)
            await self.sample()


class Asker:
    """Asks for each live item once a second, as consumers do."""

    def __init__(self, port):
        self.port = port
        self.asked = self.fresh = self.without = 0

    async def ask(self, client, items):
        for item in items:
            status, told = await client.get(f'/items/{item}')
            if status != 200 or told['state'] != 'live':
                continue
            self.asked += 1
            self.fresh += not told['stale']
            whole = set(told['fields']) == set(told['provenance']) and all(
                p['source'] in CAPS for p in told['provenance'].values())
            self.without += bool(told['seq']) and not whole

    async def run(self):
        clients = [Client(self.port) for _ in range(4)]
        ids, second = [], 0
        while True:
            began = time.monotonic()
            if second % 5 == 0:
                _, told = await clients[0].get('/items?state=live&fields=none&most=20000')
                ids = [i['id'] for i in told['items']]
            second += 1
            await asyncio.gather(*(self.ask(c, ids[n::4]) for n, c in enumerate(clients)))
            await asyncio.sleep(max(0.0, began + 1.0 - time.monotonic()))


# ----------------------------------------------------------------------------------------- fresh

def cpu_of(d):
    fields = Path(f'/proc/{d.process.pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def memory_of(d):
    text = Path(f'/proc/{d.process.pid}/status').read_text()
    return next(int(x.split()[1]) for x in text.splitlines() if x.startswith('VmHWM')) * 1024


async def settle(consumers, port):
    """Nothing changes any more: who differs from the daemon?"""
    for c in consumers:
        c.at_end.set()
    client = Client(port)
    last, same = None, 0
    while same < 8:  # two seconds, in which the slowest has come back
        await asyncio.sleep(0.5)
        _, told = await client.get('/items?most=20000')
        now = {i['id']: [i['seq'], i['fields']] for i in told['items']}
        caught_up = all(c.have == now for c in consumers)
        same = same + 1 if now == last else 0
        last = now
        if caught_up and same >= 2:
            break
    return sum(c.have != last for c in consumers), len(last)


async def be_consumers(d, sites, truth, seconds, count):
    port = int(d.port['public'])
    sampler, asker = Sampler(port, truth), Asker(port)
    consumers = [Consumer(port, seed) for seed in range(count)]
    listener = Consumer(port, count, stay_s=(1e6, 1e6))
    tasks = [asyncio.create_task(x.run()) for x in (asker, listener, *consumers)]
    await asyncio.sleep(20)  # until everything was seen once
    asker.asked = asker.fresh = 0
    listener.freshness.clear()
    cpu = cpu_of(d)
    tasks.append(asyncio.create_task(sampler.run()))
    await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for t in tasks:
        if t.done():
            t.result()
    cpu = (cpu_of(d) - cpu) / seconds
    for t in (tasks[0], tasks[1], tasks[-1]):
        t.cancel()
    peaks = {n: m.stats()['peak_inflight'] for n, m in sites.mock.items()}
    for name in list(sites.mock):
        sites.stop(name)
    differ, items = await settle(consumers, port)
    for t in tasks:
        t.cancel()
    return sampler, asker, listener, consumers, differ, items, cpu, peaks


def row(figures, name, value, bound, good):
    figures.append({'name': name, 'value': value, 'bound': bound, 'good': bool(good)})
    print(f'  {"ok " if good else "NOT"}  {name}: {value} ({bound})', flush=True)


def fresh(folder, seconds=600, consumers=100):
    """200 live items, 100 consumers that come and go."""
    figures = []
    with Sites(folder, f'live=200 pace={PACE} unmapped=50', LIMITS, FAULTS) as sites, \
            Mock('--site', 'score', '--matches', f'live=200 pace={PACE}') as true, \
            Daemon(folder, sites.config('5s', '5s', **TOLD)) as d:
        s, asker, listener, followers, differ, items, cpu, peaks = asyncio.run(
            be_consumers(d, sites, Truth(true), seconds, consumers))
        judged = violations(sites)
        below = sum(a < 60 for a in s.ages) / len(s.ages)
        queue, cache = s.status['queue'], s.status['cache']
        row(figures, 'live ages below 60 s', f'{100 * below:.2f} %', '>= 95 %', below >= 0.95)
        p50 = statistics.median(s.ages)
        row(figures, 'median age of live items', f'{p50:.1f} s', '< 30 s', p50 < 30)
        p95 = sorted(s.ages)[int(0.95 * len(s.ages))]
        row(figures, '95th percentile of ages', f'{p95:.1f} s', '< 60 s', p95 < 60)
        row(figures, 'oldest age', f'{max(s.ages):.1f} s', 'told', True)
        row(figures, 'intervals in a row with an age of 120 s', s.over_most, '<= 1',
            s.over_most <= 1)
        row(figures, 'grades', ', '.join(sorted(set(s.grades))), 'healthy',
            set(s.grades) == {'healthy'})
        row(figures, 'looks above the cap', queue['violations'], '0', queue['violations'] == 0)
        row(figures, 'most looks under way', queue['active_most'], '<= 40',
            queue['active_most'] <= 40)
        above = {n: peaks[n] for n, cap in CAPS.items() if peaks[n] > cap}
        row(figures, 'most at once, as each site saw it', {n: peaks[n] for n in CAPS},
            f'<= {CAPS}', not above)
        rate = asker.fresh / asker.asked
        row(figures, f'of {asker.asked} requests for live items answered fresh from memory',
            f'{100 * rate:.2f} %', '>= 85 %', rate >= 0.85)
        told = cache['live']['hit_ratio']
        row(figures, 'the same as the daemon counts it', told, '>= 0.85', told >= 0.85)
        row(figures, 'answers without provenance', asker.without, '0', asker.without == 0)
        for name, (count, refused, over, failed) in judged.items():
            row(figures, f'{name}: {LIMITS[name]}',
                f'{count} arrivals, {refused} refused, {over} above it, {failed} failed', '0 above',
                refused == 0 and over == 0)
        row(figures, f'of {s.truth.asked} values, wrong', s.truth.wrong, '0', s.truth.wrong == 0)
        if s.truth.first:
            print(s.truth.first)
        row(figures, f'of {len(followers)} consumers that differ in {items} items at the end',
            differ, '0', differ == 0)
        comings = sum(c.comings for c in followers)
        row(figures, 'times that one came back', comings, '> their number', comings > consumers)
        row(figures, 'changes applied by them', sum(c.changes for c in followers), 'told', True)
        row(figures, 'versions missed', sum(c.holes for c in followers), '0',
            not any(c.holes for c in followers))
        row(figures, 'gaps told', sum(c.gaps for c in followers), '0',
            not any(c.gaps for c in followers))
        apart = [b - a for a, b in zip(listener.freshness, listener.freshness[1:])]
        row(figures, f'of {len(listener.freshness)} figures of freshness, the furthest apart',
            f'{max(apart):.1f} s', '<= 7.5 s', max(apart) <= 1.5 * INTERVAL_S)
        told = len(listener.freshness) * INTERVAL_S / seconds
        row(figures, 'intervals judged and published', f'{100 * told:.0f} %', '>= 99 %',
            told >= 0.99)
        row(figures, 'processor of the daemon', f'{100 * cpu:.1f} %', 'told', True)
        row(figures, 'memory of the daemon', f'{memory_of(d) / 2 ** 20:.0f} MiB', 'told', True)
    return figures


# --------------------------------------------------------------------------- grades and audit

def kinds(d, *of):
    """Kinds in the audit, the oldest first; of these alone."""
    told = [(e['kind'], e['cause'], e['outcome']) for e in d.json('/view/audit?json=1')['events']]
    return [k for k in reversed(told) if k[0] in of]


class Grades:
    """The grades that follow each other, and when."""

    def __init__(self, d):
        self.daemon, self.told = d, []

    def look(self):
        grade = self.daemon.status()['watch']['grade']
        if not self.told or self.told[-1][0] != grade:
            self.told.append((grade, time.monotonic()))
        return grade

    def names(self):
        return [g for g, _ in self.told]

    def follow(self, seconds, until=None):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.look() != until:
            time.sleep(0.2)


# ------------------------------------------------------------------------------------- overload

def overload(folder, seconds=90):
    """Ten times as many imminent and completed items as there is room for."""
    figures = []
    config = '  queue: 200\n'
    with Sites(folder, f'live=50 pace={PACE} imminent=1000 completed=1000', LIMITS,
               FAULTS) as sites, Daemon(folder, sites.config('5s', '5s', config, **TOLD)) as d:
        grades = Grades(d)
        grades.look()
        worst, over = 0.0, 0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(INTERVAL_S)
            grades.look()
            watch = d.status()['watch']
            worst = max(worst, watch['freshness']['live']['p95_s'])
            over = max(over, watch['queue']['length'])
        row(figures, 'live items at 95 % under overload', f'{worst:.1f} s', '< 60 s', worst < 60)
        row(figures, 'most looks that waited', watch['queue']['most'], '<= 200',
            watch['queue']['most'] <= 200)
        row(figures, 'looks put off', watch['queue']['deferred'], '> 0',
            watch['queue']['deferred'] > 0)
        row(figures, 'grades under overload', ', '.join(grades.names()), 'healthy, degraded',
            grades.names() == ['healthy', 'degraded'])
        # There is room again: it ends, and so does the grade.
        d.configure(sites.config('5s', '5s', '  queue: 100000\n', **TOLD))
        d.act('reload')
        grades.follow(60, until='healthy')
        row(figures, 'grades with room again', ', '.join(grades.names()),
            'healthy, degraded, healthy', grades.names() == ['healthy', 'degraded', 'healthy'])
        told = [k[1:] for k in kinds(d, 'watch-grade')]
        row(figures, 'in the audit', told, 'overload to degraded, fresh to healthy',
            told == [('overload', 'degraded'), ('fresh', 'healthy')])
    for name, (count, refused, above, _) in violations(sites).items():
        row(figures, f'{name} under overload',
            f'{count} arrivals, {refused} refused, {above} above', '0 above',
            refused == 0 and above == 0)
    return figures


# ----------------------------------------------------------------------------------------- dead

EXAMPLE = Path(__file__).resolve().parents[2] / 'examples/matches/flyball.yaml'
DEAD_S = 300.0


def example(sites):
    """examples/matches as it is, with every setting as it is unless said, on free ports."""
    text = EXAMPLE.read_text()
    for n, name in enumerate(SITES):
        text = text.replace(f'127.0.0.1:{8110 + n}', f'127.0.0.1:{sites.mock[name].port}')
    return text


def dead(folder):
    """All sites dead for five minutes, then back; every setting is the usual one."""
    figures = []
    limits = {'score': 'rate=5/s burst=5', 'arena': 'window=30/10s', 'ticker': 'window=60/1m'}
    with Sites(folder, f'live=20 pace={PACE} unmapped=7', limits) as sites, \
            Daemon(folder, example(sites)) as d:
        wait_for(lambda: (w := d.status()['watch'])['intervals'] >= 4 and w['grade'] == 'healthy'
                 and all(i['seq'] for i in d.json('/items?state=live')['items']))
        grades = Grades(d)
        for name in sites.mock:
            sites.stop(name)
        grades.follow(DEAD_S)
        for name in list(sites.mock):
            sites.again(name)
        back = time.monotonic()
        grades.follow(240, until='healthy')
        took = grades.told[-1][1] - back
        want = ['healthy', 'degraded', 'recovering', 'healthy']
        row(figures, 'grades while all sites are dead for 300 s', ', '.join(grades.names()),
            ', '.join(want), grades.names() == want)
        row(figures, 'healthy again after they are back', f'{took:.0f} s', '<= 120 s', took <= 120)
        told = kinds(d, 'recovery', 'unhelped', 'recovered', 'recycle')
        want = ['recovery', 'recycle', 'unhelped', 'recovery', 'recycle', 'recovered']
        row(figures, 'in the audit', ', '.join(k for k, _, _ in told), ', '.join(want),
            [k for k, _, _ in told] == want)
    return figures


# --------------------------------------------------------------------------------------- killed

def killed(folder):
    """kill -9: ages and versions go on where they were."""
    figures = []
    with Sites(folder, f'live=50 pace={PACE}', LIMITS, FAULTS) as sites:
        config = sites.config('1s', '2s', **TOLD)
        with Daemon(folder, config) as d:
            wait_for(lambda: all(i['seq'] for i in d.json('/items?state=live')['items'])
                     and d.json('/items')['total'])
            time.sleep(12)
            before = {i['id']: i for i in d.json('/items')['items']}
            os.kill(d.process.pid, signal.SIGKILL)
            d.process.wait()
            d.code = -signal.SIGKILL
        died = time.monotonic()
        for name in list(sites.mock):
            sites.stop(name)  # nothing new can be learned: what is there was kept
        with Daemon(folder, config) as d:
            after = {i['id']: i for i in d.json('/items')['items']}
            gone = time.monotonic() - died
            kept = [i for i in before if i in after]
            row(figures, 'items known after kill -9', f'{len(kept)} of {len(before)}', 'all',
                len(kept) == len(before))
            back = [i for i in kept if after[i]['seq'] < before[i]['seq'] - 1]
            row(figures, 'versions that went back by more than one', len(back), '0', not back)
            lost = [after[i]['age_s'] - before[i]['age_s'] - gone for i in kept
                    if before[i]['seq']]
            row(figures, 'age lost by the most', f'{max(lost):.1f} s', '<= 12 s', max(lost) <= 12)
            said = [e['text'] for e in d.json('/view/audit?json=1')['events']
                    if e['kind'] == 'restore']
            row(figures, 'in the audit', said, 'restored all of them',
                said == [f'restored {len(after)} items'])
            for name in list(sites.mock):
                sites.again(name)
            began = time.monotonic()
            wait_for(lambda: all(i['age_s'] < time.monotonic() - began
                                 for i in d.json('/items?state=live')['items']))
            took = time.monotonic() - began
            row(figures, 'all live items were asked for anew after', f'{took:.1f} s', '<= 60 s',
                took <= 60)
            row(figures, 'grade then', d.status()['watch']['grade'], 'healthy',
                d.status()['watch']['grade'] == 'healthy')
    return figures


# --------------------------------------------------------------------- liar, clock that steps

def liar(folder):
    """The site that is believed most tells a wrong score of every match; two others agree."""
    figures = []
    with Sites(folder, f'live=20 pace={PACE}', each={'score': f'live=20 pace={PACE} lies=70'}) as \
            sites, Daemon(folder, sites.config('1s', '2s', '  aims: {live: 2s}\n')) as d:
        def lies():
            items = [i for i in d.json('/items?state=live')['items'] if i['seq']]
            return sum(int(i['fields'].get('home', 0)) >= 70 for i in items), len(items)
        wait_for(lambda: lies()[1] >= 20)
        first, began = lies()[0], time.monotonic()
        row(figures, 'lies that are believed at first', first, '> 0', first > 0)
        wait_for(lambda: kinds(d, 'demoted'), 240)
        row(figures, 'the liar is demoted after', f'{time.monotonic() - began:.0f} s', '<= 180 s',
            time.monotonic() - began <= 180)
        wait_for(lambda: lies()[0] == 0, 60)
        told = [e['provider'] for e in d.json('/view/audit?json=1')['events']
                if e['kind'] == 'demoted']
        row(figures, 'demoted', told, 'score', told == ['score'])
        row(figures, 'lies that are believed then', lies()[0], '0', lies()[0] == 0)
        grades = [k[2] for k in kinds(d, 'watch-grade')]
        row(figures, 'other grades meanwhile', grades, 'none', not grades)
    return figures


def clock(folder):
    """The wall clock steps while items are watched: no age jumps, nothing stops."""
    figures = []
    shim, offset = folder / 'wall_clock.so', folder / 'offset'
    subprocess.run(['gcc', '-shared', '-fPIC', '-O2', '-o', shim,
                    Path(__file__).with_name('wall_clock.c'), '-ldl'], check=True)
    offset.write_text('0\n')
    env = {'LD_PRELOAD': str(shim), 'WALL_CLOCK': str(offset)}
    with Sites(folder, f'live=20 pace={PACE}') as sites, \
            Daemon(folder, sites.config('1s', '2s'), env=env) as d:
        wait_for(lambda: (w := d.status()['watch'])['intervals'] >= 4 and w['grade'] == 'healthy'
                 and all(i['seq'] for i in d.json('/items?state=live')['items']))
        for name, step in {'+1 h': 3600, '-1 y': -365 * 86400, '-5 s': -5, 'back': 0}.items():
            looks = d.status()['watch']['looks']['ok']
            offset.write_text(f'{step}\n')
            grades, oldest = Grades(d), 0.0
            end = time.monotonic() + 15
            while time.monotonic() < end:
                grades.look()
                ages = [i['age_s'] for i in d.json('/items?state=live')['items'] if i['seq']]
                oldest = max(oldest, *ages)
                time.sleep(0.5)
            more = d.status()['watch']['looks']['ok'] - looks
            row(figures, f'{name}: oldest age, grades, looks',
                f'{oldest:.1f} s, {", ".join(grades.names())}, {more}', '< 60 s, healthy, > 20',
                oldest < 60 and grades.names() == ['healthy'] and more > 20)
    return figures


RUNS = {'fresh': fresh, 'overload': overload, 'dead': dead, 'killed': killed,
        'liar': liar, 'clock': clock}


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--seconds', type=int, default=600)
    p.add_argument('--consumers', type=int, default=100)
    p.add_argument('--json')
    p.add_argument('runs', nargs='*', default=list(RUNS))
    line = p.parse_args()
    told = {}
    for name in line.runs or RUNS:
        print(f'{name}: {RUNS[name].__doc__}', flush=True)
        with tempfile.TemporaryDirectory() as folder:
            more = {'seconds': line.seconds, 'consumers': line.consumers} if name == 'fresh' else {}
            told[name] = RUNS[name](Path(folder), **more)
    if line.json:
        Path(line.json).write_text(json.dumps(told, indent=1) + '\n')
    return 0 if all(r['good'] for rows in told.values() for r in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
