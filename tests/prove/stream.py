#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""stream - a list of millions of URLs: is it read as it goes, or loaded?

    tests/prove/stream.py [--flyball build/flyball] [--count 5000000]

`flyball fetch`, journal and all, against a local nginx. Its peak memory must stay below 150 MB, and
the output must have every item once. Ends with 1 otherwise. Needs 2 GB of disk and some minutes.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'bench/fetch'))
import peers  # noqa: E402

PEAK_MB = 150


def write_list(path, count):
    with open(path, 'w', encoding='ascii') as urls:
        for i in range(count):
            urls.write(f'http://127.0.0.1:{peers.PORT}/item/{i}\n')


def fetch(flyball, work):
    """Seconds and peak megabytes."""
    env = {**os.environ, 'XDG_STATE_HOME': str(work / 'state')}
    words = ['urls', '--jsonl', 'out', '--journal', 'journal', '--no-bodies', '--quiet',
             '--ledger', 'none', '--limit', 'rate=1000000/s burst=1000000']
    begin = time.monotonic()
    peak_mb = 0.0
    with subprocess.Popen([flyball, 'fetch', *words], cwd=work, env=env) as process:
        while process.poll() is None:
            peak_mb = max(peak_mb, peers.peak_of(process.pid))
            time.sleep(0.5)
    if process.returncode:
        sys.exit(f'flyball ended with {process.returncode}')
    return time.monotonic() - begin, peak_mb


def missing(path, count):
    """Every item once? Lines begin with their item."""
    seen = bytearray(count + 1)
    with open(path, 'rb') as out:
        for line in out:
            item = int(line[len(b'{"item":'):line.index(b',')])
            if seen[item] or not line.startswith(b'"outcome":"ok"', line.index(b',') + 1):
                return f'item {item} is there twice, or failed'
            seen[item] = 1
    return f'{count - sum(seen)} items are missing' if sum(seen) != count else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--flyball', default='build/flyball')
    parser.add_argument('--count', type=int, default=5000000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        write_list(work / 'urls', args.count)
        server = peers.origin(work)
        try:
            seconds, peak_mb = fetch(os.path.abspath(args.flyball), work)
        finally:
            server.terminate()
            server.wait(timeout=20)
        fault = missing(work / 'out', args.count)
        journal_mb = (work / 'journal').stat().st_size / 1e6
    print(f'{args.count} URLs in {seconds:.0f} s, {args.count / seconds:.0f}/s, peak memory '
          f'{peak_mb:.1f} MB (below {PEAK_MB}), journal {journal_mb:.1f} MB')
    if fault:
        print(fault)
    return 1 if fault or peak_mb >= PEAK_MB else 0


if __name__ == '__main__':
    sys.exit(main())
