#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""limits - is the limit held, and is it used? As the origin saw it, in a table.

    tests/prove/limits.py [--flyball build/flyball] [--count 2000] [--only TEXT] [--json FILE]
                          [--together 4]

Every row is a limit in a dialect, over a clean path and over one that delays each piece by up to
100 ms; `flyball fetch` is told nothing. With headers nothing may be refused after the first
window and 95 % of the limit be used (with jitter J on a window W: 95 % of W / (W + J)). Without
any header fewer than 10 of 1000 may be refused, and from the tenth refusal on 90 % be used. The
second run of each row starts from what the first one learned and must not be refused at all.
Rows run four at a time: they mostly wait. Ends with 1 when a figure is missed.
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import judge  # noqa: E402

JITTER_S = 0.1
# limit, its number, its window in seconds (0: what is in flight); those that take longest first
LIMITS = [('fixed:100/10', 100, 10.0), ('sliding:50/1', 50, 1.0), ('bucket:50/1:20', 50, 1.0),
          ('concurrency:5', 5, 0)]
DIALECTS = ['github', 'ietf', 'retry-after', 'none']


@contextlib.contextmanager
def server(script, *args):
    """A script that prints its port first; ended when the block is left."""
    with subprocess.Popen([sys.executable, HERE / script, *args], stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()
            process.wait(timeout=20)


def fetch(flyball, port, count, run_dir, state_dir):
    """Every URL once; what is told about the limit is nothing."""
    run_dir.mkdir()
    urls = run_dir / 'urls'
    urls.write_text(''.join(f'http://127.0.0.1:{port}/item/{i}\n' for i in range(count)))
    env = {**os.environ, 'XDG_STATE_HOME': str(state_dir), 'XDG_CACHE_HOME': str(state_dir),
           'FLYBALL_LEDGER': str(state_dir / 'ledger')}
    subprocess.run([flyball, 'fetch', urls, '--jsonl', run_dir / 'out', '--journal',
                    run_dir / 'journal', '--request-id', '--quiet'], env=env, check=True)
    with open(run_dir / 'out', encoding='utf-8') as out:
        return sum(json.loads(line)['outcome'] == 'ok' for line in out)


def one_run(args, limit, dialect, jitter, work, number):
    text, amount, window_s = limit
    log = work / f'log{number}'
    # The same port in both runs of a row: what is learned is learned about an address.
    place = work / 'port'
    same = ['--port', place.read_text() if place.exists() else '0']
    # Answers of 20 ms where what is in flight counts: otherwise nothing ever is.
    delay = ['--delay-ms', '20'] if not window_s else []
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(server('origin.py', '--limit', text, '--dialect', dialect,
                                          '--log', log, *delay, *([] if jitter else same)))
        if jitter:
            port = stack.enter_context(server('relay.py', '--to', str(port), '--jitter-ms',
                                              str(1000 * JITTER_S), *same))
        place.write_text(str(port))
        done = fetch(args.flyball, port, args.count, work / f'run{number}', work / 'state')
    settle_s = None if dialect in ('none', 'retry-after') or not window_s else window_s
    figures = judge.verdict(log, amount, window_s, settle_s)
    figures['done'], figures['count'] = done, args.count
    return figures


def missed(limit, dialect, jitter, first, second):
    """What a row does not keep, in words."""
    _, _, window_s = limit
    headers = window_s and dialect in ('github', 'ietf')
    aim = 0.95 if headers else 0.90
    if headers and jitter:
        aim *= window_s / (window_s + JITTER_S)
    if first['done'] != first['count'] or second['done'] != second['count']:
        yield 'not all were fetched'
    if headers and first['refused_settled']:
        yield f"{first['refused_settled']} refused after the first window"
    if not headers and first['per_1000'] >= 10:
        yield f"{first['per_1000']:.1f} of 1000 refused"
    if window_s and first['used'] < aim:
        yield f"{100 * first['used']:.1f} % used, not {100 * aim:.1f}"
    if second['refused']:
        yield f"{second['refused']} refused in the second run"


def row(args, limit, dialect, jitter):
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        first = one_run(args, limit, dialect, jitter, work, 1)
        second = one_run(args, limit, dialect, jitter, work, 2)
    faults = list(missed(limit, dialect, jitter, first, second))
    used = f"{100 * first['used']:6.1f}" if 'used' in first else '     -'
    print(f"{limit[0]:16} {dialect:12} {'100 ms' if jitter else '-':7} {first['arrivals']:8} "
          f"{first['refused']:7} {first['refused_settled']:7} {first['fullest']:7} {used} "
          f"{second['refused']:7}  {'; '.join(faults) or 'kept'}", flush=True)
    return {'limit': limit[0], 'dialect': dialect, 'jitter': jitter, 'first': first,
            'second': second, 'missed': faults}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--flyball', default='build/flyball')
    parser.add_argument('--count', type=int, default=2000)
    parser.add_argument('--only', default='', help='rows whose limit, dialect contain this')
    parser.add_argument('--json')
    parser.add_argument('--together', type=int, default=4, help='rows at a time')
    args = parser.parse_args()
    args.flyball = os.path.abspath(args.flyball)
    print(f"{'limit':16} {'dialect':12} {'jitter':7} {'arrived':>8} {'refused':>7} {'settled':>7} "
          f"{'fullest':>7} {'used %':>6} {'2nd run':>7}")
    wanted = [(limit, dialect, jitter) for limit in LIMITS for dialect in DIALECTS
              for jitter in (False, True) if args.only in f'{limit[0]} {dialect}']
    with concurrent.futures.ThreadPoolExecutor(args.together) as pool:
        rows = list(pool.map(lambda one: row(args, *one), wanted))
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1) + '\n', encoding='utf-8')
    bad = sum(bool(r['missed']) for r in rows)
    print(f'{len(rows) - bad} of {len(rows)} rows kept')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
