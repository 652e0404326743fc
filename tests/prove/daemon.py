#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the daemon promises, at full size: make prove-daemon

    tests/prove/daemon.py [NAME...]     none: all of RUNS, at the end of this file

Each run prints one line of figures and fails where a promise is not kept.
"""
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'e2e'))
from mock_api import Mock  # noqa: E402
from served import PATIENCE_S, Daemon, inside, wait_for, write_list  # noqa: E402


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


def memory_of(d, what='VmRSS'):
    """Bytes that are resident, or the most that ever were (VmHWM)."""
    text = Path(f'/proc/{d.process.pid}/status').read_text()
    return next(int(x.split()[1]) for x in text.splitlines() if x.startswith(what)) * 1024


def cpu_of(d):
    fields = Path(f'/proc/{d.process.pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def stated(limit, more=''):
    return (f'providers:\n  it:\n    hosts: [127.0.0.1]\n'
            f'    limit: window={limit}/1s margin=0%\n{more}')


# --------------------------------------------------------------------------------------- reloads

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


# -------------------------------------------------------------------------------------- numbers

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
        rss = memory_of(d)
        ended = d.batch(name)
    took.sort()
    print(f'hosts: {ended["items"]["ok"]} of {count} answered; at most {max(series)} series; '
          f'{len(took)} scrapes: median {took[len(took) // 2] * 1e3:.0f} ms, slowest '
          f'{took[-1] * 1e3:.0f} ms; {rss >> 20} MiB')
    assert ended['items']['ok'] == count
    assert max(series) <= 64 * 120 and took[-1] < 0.2


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


def slow(folder, count=500):
    """Clients that bring a byte a second of their heads: others are served all the same."""
    with Daemon(folder) as d:
        where = ('127.0.0.1', int(d.port['public']))
        before, took = memory_of(d), []
        slow_ones = [socket.create_connection(where, PATIENCE_S) for _ in range(count)]
        began, closed = time.monotonic(), set()
        text = b'GET /status HTTP/1.1\r\nHost: ' + b'a' * 1000
        # The server lets none go that has come just now.
        time.sleep(1)
        for turn in range(14):
            for i, s in enumerate(slow_ones):
                try:
                    if i not in closed:
                        s.sendall(text[turn:turn + 1])
                        s.setblocking(False)
                        s.recv(4096)  # a refusal, or the end
                        closed.add(i)
                except BlockingIOError:
                    s.setblocking(True)
                except OSError:
                    closed.add(i)
            if len(closed) == count:
                break
            for _ in range(20):
                at = time.monotonic()
                status = d.ask('/healthz', 'public')[0]
                took.append(time.monotonic() - at)
                assert status == 200, status
                time.sleep(0.04)
        over = time.monotonic() - began
        grown = memory_of(d) - before
        for s in slow_ones:
            s.close()
    took.sort()
    p50, p99 = (took[len(took) * share // 100] * 1e3 for share in (50, 99))
    print(f'slow: {count} clients; {len(took)} good requests meanwhile, all answered, 99 % within '
          f'{p99:.1f} ms, median {p50:.1f} ms; '
          f'{len(closed)} closed within {over:.0f} s; {grown / 2 ** 20:.1f} MiB more')
    assert len(closed) == count and over < 15 and grown < 20 << 20 and p99 < 50


def memory(folder, queued=10_000, clients=1000):
    """So many tasks that wait and clients that dawdle: it stays below 64 MiB."""
    config = stated(1) + f'queue:\n  max: {2 * queued}\n'
    with Mock() as mock, Daemon(folder, config) as d:
        where = ('127.0.0.1', int(d.port['public']))
        write_list(folder / 'list', mock.port, queued + 1000)
        for i in range(queued // 250):  # a batch reads 256 lines ahead for one provider
            write_list(folder / f'list{i}', mock.port, 1000, 1 + 1000 * i)
            d.submit(list=str(folder / f'list{i}'), output=str(folder / f'out{i}'))
            if d.status()['queue']['length'] >= queued:
                break
        length = wait_for(lambda: d.status()['queue']['length'])
        sockets, refused = [], 0
        for _ in range(clients):
            s = socket.create_connection(where, PATIENCE_S)
            s.sendall(b'GET /status HTTP/1.1\r\nHost: loc')
            sockets.append(s)
        time.sleep(1)
        for s in sockets:
            s.setblocking(False)
            try:
                text = s.recv(1000)
                refused += b' 503 ' in text and b'Retry-After' in text
            except OSError:
                pass
            s.close()
        for _ in range(5):
            assert d.ask('/status')[0] == 200
        most = memory_of(d, 'VmHWM')
    print(f'memory: {length} tasks queued, {clients} clients of which {refused} were told 503 and '
          f'when to come again; at most {most / 2 ** 20:.1f} MiB')
    assert most < 64 << 20 and refused > 0 and length >= queued * 9 // 10


# ----------------------------------------------------------------------------------------- time

def stopped(folder, for_s=70, limit=50):
    """SIGSTOP for longer than any window, then SIGCONT: no burst above the limit."""
    with Mock('--limit', f'window={limit}/1s', '--dialect', 'none',
              '--log', f'{folder}/seen') as mock:
        with Daemon(folder, stated(limit)) as d:
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


def clocks(folder, limit=50, items=1000):
    """The wall clock steps while a batch runs; and a machine that has been up for long."""
    steps = {'+1 h': 3600, '-1 y': -365 * 86400, '-5 s': -5, '+1 d': 86400, 'back': 0}
    offset, shim = folder / 'offset', folder / 'wall_clock.so'
    subprocess.run(['gcc', '-shared', '-fPIC', '-O2', '-o', shim,
                    Path(__file__).with_name('wall_clock.c'), '-ldl'], check=True)
    offset.write_text('0\n')
    env = {'LD_PRELOAD': str(shim), 'WALL_CLOCK': str(offset)}
    figures, kept, spans = [], [], []
    for name, more, prefix in [('steps', env, []),
                               ('uptime', {}, ['unshare', '-r', '-T', '--monotonic', '1000000',
                                               '--boottime', '1000000'])]:
        own = folder / name
        own.mkdir()
        with Mock('--limit', f'window={limit}/1s', '--dialect', 'github',
                  '--log', f'{own}/seen') as mock:
            with Daemon(own, stated(limit), env=more, prefix=prefix) as d:
                batch = d.submit(list=write_list(own / 'list', mock.port, items))
                began = time.monotonic()
                for step in steps.values() if more else []:
                    time.sleep(3)
                    offset.write_text(f'{step}\n')
                ended = d.wait_ended(batch)
                took = time.monotonic() - began
                seen = mock.stats()
        most = most_in_window(arrivals(own / 'seen'), 10 ** 9)
        figures.append(f'{name}: {ended["items"]["ok"]} of {items} in {took:.0f} s, at most {most} '
                       f'of {limit} arrivals in any second')
        spans.append(took)
        kept.append(ended['items']['ok'] == items == seen['arrivals'] and most <= limit)
    kept.append(spans[0] < 1.5 * spans[1])
    print(f'clocks: {"; ".join(figures)}; steps of the wall clock: {", ".join(steps)}')
    assert all(kept)


# -------------------------------------------------------------------------------------- signals

def signals(folder, starts=200, many=1000, limit=200):
    """TERM and HUP while it starts, all at random under load, all together at the end."""
    rng = random.Random(2)
    ends = {}
    for i in range(starts):
        d = Daemon(folder)
        with d.log.open('a') as log:
            process = subprocess.Popen(d.words, cwd=folder, env=d.env, stderr=log,
                                       stdout=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, 0.06))
        if i % 2:
            process.send_signal(signal.SIGHUP)
            time.sleep(rng.uniform(0, 0.02))
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=PATIENCE_S)
        ends[code] = ends.get(code, 0) + 1
        # Before the program has begun, nobody hears them.
        assert code in (0, -signal.SIGTERM, -signal.SIGHUP), (code, d.log.read_text())
    items = 3000
    with Mock('--limit', f'window={limit}/1s', '--dialect', 'none',
              '--log', f'{folder}/seen') as mock:
        with Daemon(folder, stated(limit)) as d:
            name = d.submit(list=write_list(folder / 'list', mock.port, items), request_id=True)
            mock.wait_for(lambda s: s['arrivals'] >= 10)
            fds = d.fds()
            for _ in range(many):
                d.process.send_signal(rng.choice([signal.SIGHUP, signal.SIGUSR1]))
                time.sleep(rng.uniform(0, 0.01))
            assert d.wait_ended(name)['items']['ok'] == items
            wait_for(lambda: d.fds() <= fds)
            seen, reloads_done = mock.stats(), d.status()['reload']['count']
            began = time.monotonic()
            for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP):
                d.process.send_signal(number)
            assert d.process.wait(timeout=PATIENCE_S) == 0
            over = time.monotonic() - began
    most = most_in_window(arrivals(folder / 'seen'), 10 ** 9)
    text = ', '.join(f'{n} x {c}' for c, n in sorted(ends.items()))
    print(f'signals: {starts} ended while they started, exit codes {text}; {many} signals under '
          f'load, {reloads_done} reloads, {items} items, 0 failed, 0 twice, at most {most} of '
          f'{limit} in any second, no descriptor more; ended within {over:.1f} s')
    assert seen['arrivals'] == items and most <= limit and over < 10


# -------------------------------------------------------------------------------------- secrets

CANARY = 'CANARY9f3a'


class Leaky(BaseHTTPRequestHandler):
    """Answers of every kind, all with the canary in them."""
    protocol_version = 'HTTP/1.1'
    seen = 0

    def do_GET(self):
        Leaky.seen += 1
        self.rfile.read(int(self.headers.get('Content-Length', 0)))
        kind = int(self.path.split('?')[0].rsplit('/', 1)[-1]) % 6
        status = [200, 404, 500, 302, 403, 200][kind]
        body = json.dumps({'error': {'message': f'{CANARY}-answer is not valid'}}).encode()
        if kind == 5:
            time.sleep(3)  # longer than it is given
        self.send_response(status, f'{CANARY}-reason')
        self.send_header('Set-Cookie', f'sid={CANARY}-set-cookie')
        self.send_header('X-RateLimit-Limit', f'{CANARY}-limit')
        self.send_header('X-Request-Id', f'{CANARY}-id')
        if kind == 3:
            self.send_header('Location', f'/0?token={CANARY}-location')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        pass


def canary(folder):
    """A secret in every place where there may be one, looked for in all that is written or told."""
    server = ThreadingHTTPServer(('127.0.0.1', 0), Leaky)
    server.handle_error = lambda *_: None  # whoever takes too long finds nobody there
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    (folder / 'key').write_text(f'{CANARY}-file\n')
    config = (f'log:\n  level: debug\n  file: {folder}/own.log\n'
              f'timeouts:\n  total: 1s\nmetrics:\n  csv: {folder}/figures.csv\n'
              'listeners:\n  internal:\n    token_env: TOKEN\n'
              'providers:\n  it:\n    hosts: [127.0.0.1]\n    limit: rate=50/s\n'
              f'    credentials:\n      first:\n        env: KEY\n      second:\n'
              f'        file: {folder}/key\n'
              f'alerts:\n  wait: 100ms\n  webhook: http://127.0.0.1:{port}/0?key={CANARY}-hook\n'
              '  every: 1s\n')
    env = {'TOKEN': f'{CANARY}-token', 'KEY': f'{CANARY}-env'}
    places = ['query', 'fragment', 'user', 'password', 'header', 'cookie', 'x-header', 'body',
              'alternative', 'env', 'file', 'token', 'hook', 'answer', 'reason', 'set-cookie',
              'limit', 'id', 'location']
    with Daemon(folder, config, env=env) as d:
        base = f'http://{CANARY}-user:{CANARY}-password@127.0.0.1:{port}'
        tasks = [{'url': f'{base}/{i}?api_key={CANARY}-query#{CANARY}-fragment', 'id': str(i),
                  'headers': {'Authorization': f'Bearer {CANARY}-header',
                              'Cookie': f'sid={CANARY}-cookie', 'X-Token': f'{CANARY}-x-header'},
                  'alternatives': [f'http://127.0.0.1:1/?sig={CANARY}-alternative'],
                  **({'method': 'POST', 'body': f'{CANARY}-body'} if i % 4 == 3 else {})}
                 for i in range(48)]
        (folder / 'list').write_text(''.join(json.dumps(t) + '\n' for t in tasks))
        shown = []
        paths = [('/status', 'public'), ('/status', 'control'), ('/metrics', 'internal'),
                 ('/history', 'public'), ('/', 'public'),
                 *((path, 'control') for path in inside(f'{base}/1?api_key={CANARY}'))]
        with d.events() as e, d.events('control') as within:
            name = d.submit(list=str(folder / 'list'), no_bodies=True, keep_going=True)
            for _ in range(10):
                shown += [d.ask(path, door)[2].decode() for path, door in paths]
                shown += [json.dumps(e.next('tick', 'audit', 'outcome', 'answer', 'deferral')),
                          json.dumps(within.next('status', 'audit', 'outcome', 'answer', 'tick'))]
            d.ask('/admin/batch/stop?batch=' + name, method='POST')
            d.wait_ended(name)
        for words in (['status'], ['limits', '-v'], ['learned', '-v'], ['audit'], ['deferred'],
                      ['config', 'show', '--origin', str(d.file)],
                      ['config', 'show', '--json', str(d.file)]):
            done = d.command(*words)
            assert done.returncode == 0, done.stderr
            shown.append(done.stdout + done.stderr)
    server.shutdown()
    server.server_close()
    # List, key, file and environment are where it was put; results name what was asked for.
    files = [p for p in folder.rglob('*') if p.is_file()
             and p.name not in ('list', 'key', 'out.jsonl', 'flyball.yaml')]
    found = [t[max(0, t.index(CANARY) - 100):][:200] for t in shown if CANARY in t]
    found += [str(p) for p in files if CANARY.encode() in p.read_bytes()]
    print(f'canary: in {len(places)} places, {Leaky.seen} requests; {len(shown)} answers and '
          f'{len(files)} files looked through: found {len(found)} times')
    assert not found, found
    assert Leaky.seen > 10


RUNS = [reloads, hosts, descriptors, slow, memory, stopped, clocks, signals, canary]


def main():
    wanted = sys.argv[1:] or [r.__name__ for r in RUNS]
    for run in RUNS:
        if run.__name__ in wanted:
            with tempfile.TemporaryDirectory() as folder:
                run(Path(folder))
            sys.stdout.flush()


if __name__ == '__main__':
    main()
