#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the daemon promises, at full size: make prove-daemon

    tests/prove/daemon.py [NAME...]     reloads, hosts, descriptors, stopped; none: all of them

Each run prints one line of figures and fails where a promise is not kept.
"""
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'e2e'))
from mock_api import Mock  # noqa: E402
from served import Daemon, wait_for, write_list  # noqa: E402


def most_in_window(arrivals_ns, window_ns):
    """The largest number of arrivals in any interval of that length."""
    most = first = 0
    for last, at in enumerate(arrivals_ns):
        while arrivals_ns[first] <= at - window_ns:
            first += 1
        most = max(most, last - first + 1)
    return most


def arrivals(path):
    """Nanoseconds, as the mock wrote them."""
    rows = [line.split('\t') for line in Path(path).read_text().splitlines()]
    return sorted(int(r[1]) for r in rows if r[0] == 'A')


# ------------------------------------------------------------------------------------------ runs

def reloads(folder, count=1000, limit=100):
    """Reloads by signal, by command and by file, while a batch runs at its limit."""
    config = ('providers:\n  it:\n    hosts: [127.0.0.1]\n    limit: window={}/1s margin=0%\n'
              'concurrency:\n  total: {}\n')
    items = count * 3
    with Mock('--limit', f'window={limit}/1s', '--dialect', 'none',
              '--log', f'{folder}/seen') as mock:
        with Daemon(folder, config.format(limit, 20)) as d:
            name = d.submit(list=write_list(folder / 'list', mock.port, items), request_id=True)
            mock.wait_for(lambda s: s['arrivals'] >= 10)
            wait_for(lambda: d.status()['queue']['active_tasks'] >= 0)
            fds = d.fds()
            rng = random.Random(1)
            for i in range(count):
                # Never above the true limit; the last one is the limit itself.
                now = limit if i + 1 == count else rng.randint(limit // 2, limit)
                d.configure(config.format(now, rng.randint(10, 40)))
                if i % 3 == 0:
                    os.kill(d.process.pid, signal.SIGHUP)
                else:
                    assert d.act('reload')[0] == 200
                if i % 50 == 0:  # one that is wrong in between
                    d.configure('limit: fast\n')
                    assert d.act('reload')[0] == 422
            ended = d.wait_ended(name)
            status = d.status()
            wait_for(lambda: d.fds() <= fds)
            seen = mock.stats()
            rows = [json.loads(x) for x in (folder / 'out.jsonl').read_text().splitlines()]
            ids = {r['id'] for r in rows}
            done = status['reload']['count']
            assert ended['items']['ok'] == items == len(ids) == len(rows), ended
            assert done >= count * 2 // 3
            leaked = d.fds() - fds
    most = most_in_window(arrivals(folder / 'seen'), 10 ** 9)
    print(f'reloads: {done} in force, {status["reload"]["failed"]} refused; {items} items, '
          f'0 failed, 0 twice; at most {most} of {limit} arrivals in any second; '
          f'{leaked} descriptors more')
    assert most <= limit and seen['arrivals'] == items and leaked <= 0, seen


def hosts(folder, count=100_000):
    """As many providers as nobody has: the series stay bounded and a scrape quick."""
    with Mock('--listen', '0.0.0.0:0') as mock, Daemon(folder) as d:
        urls = (f'http://127.{1 + i // 62500}.{i // 250 % 250}.{1 + i % 250}:{mock.port}/{i}'
                for i in range(count))
        (folder / 'list').write_text('\n'.join(urls) + '\n')
        name = d.submit(list=str(folder / 'list'), no_bodies=True)
        series, took = set(), []
        while d.batch(name)['running']:
            began = time.monotonic()
            text = d.ask('/metrics', 'internal')[2].decode()
            took.append(time.monotonic() - began)
            series.add(sum(not x.startswith('#') for x in text.splitlines()))
            time.sleep(1)
        for _ in range(20):
            began = time.monotonic()
            text = d.ask('/metrics', 'internal')[2].decode()
            took.append(time.monotonic() - began)
        series.add(sum(not x.startswith('#') for x in text.splitlines()))
        rss = int(Path(f'/proc/{d.process.pid}/statm').read_text().split()[1]) * 4096
        ended = d.batch(name)
    took.sort()
    print(f'hosts: {ended["items"]["ok"]} of {count} answered; at most {max(series)} series; '
          f'{len(took)} scrapes: median {took[len(took) // 2] * 1e3:.0f} ms, slowest '
          f'{took[-1] * 1e3:.0f} ms; {rss >> 20} MiB')
    assert ended['items']['ok'] == count
    assert max(series) <= 64 * 120 and took[len(took) // 2] < 0.2


def descriptors(folder):
    """With 64 descriptors: what can be served is, the rest is told so, and it recovers."""
    with Mock('--limit', 'window=50/1s') as mock:
        with Daemon(folder, prefix=['prlimit', '--nofile=64']) as d:
            name = d.submit(list=write_list(folder / 'list', mock.port, 200))
            clients, refused = [], 0
            for _ in range(100):
                c = d.connection('public')
                try:
                    c.request('GET', '/healthz')
                    refused += c.getresponse().status != 200
                    clients.append(c)
                except OSError:
                    refused += 1
            cpu = cpu_of(d)
            time.sleep(2)
            spin = (cpu_of(d) - cpu) / 2
            for c in clients:
                c.close()
            wait_for(lambda: d.ask('/healthz', 'public')[0] == 200)
            ended = d.wait_ended(name)
    print(f'descriptors: {100 - refused} of 100 clients served, {refused} refused, '
          f'{spin:.0%} of a processor meanwhile; {ended["items"]["ok"]} of 200 items done')
    assert ended['items']['ok'] == 200 and spin < 0.2 and refused > 0


def cpu_of(d):
    fields = Path(f'/proc/{d.process.pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def stopped(folder, for_s=70, limit=50):
    """SIGSTOP for longer than any window, then SIGCONT: no burst above the limit."""
    config = (f'providers:\n  it:\n    hosts: [127.0.0.1]\n'
              f'    limit: window={limit}/1s margin=0%\n')
    with Mock('--limit', f'window={limit}/1s', '--dialect', 'none',
              '--log', f'{folder}/seen') as mock:
        with Daemon(folder, config) as d:
            name = d.submit(list=write_list(folder / 'list', mock.port, 1000))
            mock.wait_for(lambda s: s['arrivals'] >= 100)
            os.kill(d.process.pid, signal.SIGSTOP)
            time.sleep(for_s)
            os.kill(d.process.pid, signal.SIGCONT)
            ended = d.wait_ended(name)
            seen = mock.stats()
    most = most_in_window(arrivals(folder / 'seen'), 10 ** 9)
    print(f'stopped: for {for_s} s; {ended["items"]["ok"]} of 1000 done; at most {most} of {limit} '
          f'arrivals in any second; {seen["arrivals"]} arrivals')
    assert ended['items']['ok'] == 1000 and most <= limit


RUNS = [reloads, hosts, descriptors, stopped]


def main():
    wanted = sys.argv[1:] or [r.__name__ for r in RUNS]
    for run in RUNS:
        if run.__name__ in wanted:
            with tempfile.TemporaryDirectory() as folder:
                run(Path(folder))
            sys.stdout.flush()


if __name__ == '__main__':
    main()
