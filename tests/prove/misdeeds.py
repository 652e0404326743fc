#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""misdeeds - what becomes of requests to an origin that misbehaves: as documented, in time.

    tests/prove/misdeeds.py [--flyball build/flyball] [--rounds 4] [--slack 1]

One `flyball fetch` reads its list from a pipe and asks for every path of evil.py, with GET and
with POST, again and again. Each must end as WANTED says, within its deadline and --slack seconds;
no POST may arrive twice; a POST that nobody can know about must be `unknown`. After the last round
there may be no more sockets and at most 4 MB more than after the first. Ends with 1 otherwise.
"""
import argparse
import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import evil  # noqa: E402

GROWTH_MB = 4
SPARE_SOCKETS = 4  # connections that are kept for the next request: sometimes more, sometimes less
READ, TOTAL = 'read', 'total'  # deadlines
OK, FAILED, DEFERRED, UNKNOWN = 'ok', 'failed', 'deferred', 'unknown'
# outcome, class of failure, seconds it may take; of a POST that left and was lost: unknown
WANTED = {
    'hang': (FAILED, 'first-byte-timeout', READ), 'half-head': (FAILED, 'idle-timeout', READ),
    'half-body': (FAILED, 'idle-timeout', READ), 'drip': (FAILED, 'total-timeout', TOTAL),
    'slow-head': (FAILED, 'first-byte-timeout', READ),
    'endless-body': (FAILED, 'too-large', TOTAL), 'large-body': (FAILED, 'too-large', TOTAL),
    'reset': (FAILED, 'reset', 1), 'reset-head': (FAILED, 'reset', 1),
    'reset-body': (FAILED, 'reset', 1), 'close': (FAILED, 'reset', 1),
    'early': (FAILED, '4xx', 1), 'server-error': (FAILED, '5xx', 1),
    'excess': (OK, None, 1), 'length-and-chunks': (OK, None, 1), 'folded': (OK, None, 1),
    'no-length': (OK, None, 1), 'second-answer': (OK, None, 1), 'interim': (OK, None, 1),
    'script': (OK, None, 1), 'ok': (OK, None, 1),
    'bomb': (FAILED, 'too-large', 2), 'bomb-twice': (FAILED, 'too-large', 2),
    'loop': (FAILED, 'redirects', 2), 'to-file': (FAILED, 'policy', 1),
    'to-gopher': (FAILED, 'policy', 1),
    **{name: (DEFERRED, 'throttled', 1) for name in evil.PAGES if name.startswith('wait-')},
    **{name: (OK, None, 1) for name in evil.PAGES if name.startswith('limit-')},
    'PORT-never-read': (FAILED, 'first-byte-timeout', READ),
    'PORT-never-accept': (FAILED, 'connect-timeout', READ),
    'PORT-reset': (FAILED, 'reset', 1),
}
# Everything else is an answer that cannot be believed.
WANTED.update({name: (FAILED, 'payload', TOTAL) for name in evil.PAGES if name not in WANTED})
# A POST that was answered, or that never left: no doubt about those.
CERTAIN = {'too-large', '4xx', '5xx', 'redirects', 'policy', 'connect-timeout', 'throttled'}


class Fetch:
    """The command with a pipe for its list."""

    def __init__(self, args, folder):
        words = ['-', '--request-id', '-q', '--compressed', '--retries', '0', '--max-wait', '1s',
                 '--connect-timeout', f'{args.read}s', '--read-timeout', f'{args.read}s',
                 '--total-timeout', f'{args.total}s', '--max-filesize', '8M', '--ledger', 'none',
                 '--recovery', '*/*=escalate', '--recovery', '*/throttled=retry',
                 '--concurrency', '200']
        env = {**os.environ, 'XDG_STATE_HOME': folder, 'HOME': folder}
        self.process = subprocess.Popen([args.flyball, 'fetch', *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env=env, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def ask(self, items):
        """Results by id."""
        for item in items:
            self.process.stdin.write(json.dumps(item) + '\n')
        self.process.stdin.flush()
        results = (self.lines.get(timeout=120) for _ in items)
        return {r['id']: r for r in results}

    def sockets(self):
        """Those that are connected or try to; idle ones are closed by the other side, too."""
        links = []
        for fd in Path(f'/proc/{self.process.pid}/fd').iterdir():
            with contextlib.suppress(OSError):
                links.append(os.readlink(fd))
        return sum(link.startswith('socket:') for link in links)

    def megabytes(self, name):
        status = Path(f'/proc/{self.process.pid}/status').read_text(encoding='ascii')
        return next(int(line.split()[1]) / 1024 for line in status.splitlines()
                    if line.startswith(name))

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=60)


@contextlib.contextmanager
def origin():
    with subprocess.Popen([sys.executable, HERE / 'evil.py'], stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            yield [int(port) for port in process.stdout.readline().split()]
        finally:
            process.terminate()


def url_of(name, ports):
    others = {'PORT-never-read': 1, 'PORT-never-accept': 2, 'PORT-reset': 3}
    return f'http://127.0.0.1:{ports[others.get(name, 0)]}/{name}'


def items_of(number, ports):
    """A pool for each: what one of them does is not the others' fault, nor that of the next
    round where it would be believed."""
    for method in ('GET', 'POST'):
        for name in WANTED:
            is_believed = name.startswith(('limit-', 'wait-'))
            yield {'id': f'{method}/{name}/{number}', 'url': url_of(name, ports), 'method': method,
                   'pool': f'{method}-{name}-{number if is_believed else 0}'}


def fault_of(item, result, args):
    method, name, _ = item['id'].split('/')
    outcome, failure, seconds = WANTED[name]
    if method == 'POST' and outcome == FAILED and failure not in CERTAIN:
        outcome = UNKNOWN
    found = (result['outcome'], result.get('error', {}).get('class'))
    if name == 'PORT-reset' and found == (FAILED, 'refused'):
        return None  # the reset came before it knew that it was connected: nothing left
    if found != (outcome, failure):
        return f"{method} {name}: {found}, not {(outcome, failure)}"
    seconds = {READ: args.read, TOTAL: args.total}.get(seconds, seconds)
    if result['duration_ms'] > 1000 * (seconds + args.slack):
        return f"{method} {name}: {result['duration_ms']} ms, not {seconds} s"
    if 'STOLEN' in result.get('body', '') or 'evil=1' in json.dumps(
            result.get('headers', {}).get('set-cookie', '')):
        return f'{method} {name}: took what was not for it'
    return None


def prove(args, ports, folder):
    fetch = Fetch(args, folder)
    base_mb = base_sockets = None
    faults = []
    for number in range(args.rounds):
        items = list(items_of(number, ports))
        results = fetch.ask(items)
        faults += filter(None, (fault_of(i, results[i['id']], args) for i in items))
        time.sleep(0.5)  # the last results are told before their sockets are closed
        sockets, rss_mb = fetch.sockets(), fetch.megabytes('VmRSS')
        base_mb, base_sockets = (base_mb, base_sockets) if base_mb else (rss_mb, sockets)
        print(f'round {number + 1}: {len(items)} requests, {sockets} sockets, {rss_mb:.1f} MB',
              flush=True)
    if sockets > base_sockets + SPARE_SOCKETS:
        faults.append(f'{sockets} sockets at the end, {base_sockets} after the first round')
    if rss_mb > base_mb + GROWTH_MB:
        faults.append(f'{rss_mb:.1f} MB at the end, {base_mb:.1f} after the first round')
    print(f"peak memory {fetch.megabytes('VmHWM'):.1f} MB")
    code = fetch.end()
    if code != 5:
        faults.append(f'exit code {code}, not 5, which a refusal by policy has')
    return faults


def sent_twice(ports):
    with urllib.request.urlopen(f'http://127.0.0.1:{ports[0]}/count') as answer:
        count = json.load(answer)
    return [f'{name} arrived {n} times' for name, n in count.items()
            if n > 1 and not name.split('/')[1:2] == ['loop']]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--flyball', default='build/flyball')
    parser.add_argument('--rounds', type=int, default=4,
                        help='at most 4: after 5 failures a host is left alone for a while')
    parser.add_argument('--read', type=int, default=2, help='deadlines in seconds: connect, idle,')
    parser.add_argument('--total', type=int, default=4, help='and the whole')
    parser.add_argument('--slack', type=float, default=1.0, help='seconds above a deadline')
    args = parser.parse_args()
    args.flyball = os.path.abspath(args.flyball)
    with tempfile.TemporaryDirectory() as folder, origin() as ports:
        faults = prove(args, ports, folder) + sent_twice(ports)
    print(*faults, sep='\n', end='\n' if faults else '')
    print(f'{len(WANTED)} kinds of misbehaviour, {args.rounds} rounds, {len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
