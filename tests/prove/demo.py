#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""demo - `flyball demo` in real time, of ten seeds at a time: what was there, found, and used.

    tests/prove/demo.py [--flyball build/flyball] [--seeds 1-10] [--json FILE]

Each is a process of its own with files of its own, as `make run` is where there is no terminal. The
true limit is the mock's own, told at its end; found is what the last line before the end believes;
used is the share of what a client that knew the limit would have used, as the demo reckons it from
the arrivals that the mock counted. Ends with 1 where a run uses less than 90 %, loses an item, or
does not end by itself. Takes 70 s and little of the processor.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAST = 90  # per cent of what was there
PATIENCE_S = 180


def begin(flyball, folder, seed):
    env = {**os.environ, 'CI': '1', 'HOME': folder, 'XDG_STATE_HOME': f'{folder}/state',
           'XDG_RUNTIME_DIR': folder, 'FLYBALL_LEDGER': f'{folder}/ledger'}
    return subprocess.Popen([flyball, 'demo', '--seed', str(seed)], env=env, cwd=folder, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)


def last(pattern, text):
    found = re.findall(pattern, text)
    return found[-1] if found else None


def read(seed, code, told):
    """What a run says of itself. None: it does not say it."""
    done = last(r'(\d+) of (\d+) done in ([\d.]+) s, none lost', told)
    secret = last(r'The secret was ([\d.]+)/s, burst (\d+)\.', told)
    refused = last(r'accepted, (\d+) refused', told)
    used = last(r'flyball used (\d+) %', told)
    found = last(r'(?:/s of|bound by) ~([\d.]+)', told)
    return {'seed': seed, 'exit': code, 'is_whole': bool(done and done[0] == done[1]),
            'seconds': float(done[2]) if done else None,
            'limit': float(secret[0]) if secret else None,
            'burst': int(secret[1]) if secret else None,
            'found': float(found) if found else None,
            'refused': int(refused) if refused else None, 'used': int(used) if used else None}


def finish(seed, process):
    try:
        told, _ = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        told, _ = process.communicate()
    return read(seed, process.returncode, told), told


def is_well(run):
    return run['exit'] == 0 and run['is_whole'] and (run['used'] or 0) >= LEAST


def show(run):
    def cell(name, form):
        return form.format(run[name]) if run[name] is not None else '-'
    print(f"{run['seed']:>6}  {cell('limit', '{:.1f}/s'):>8}  {cell('burst', '{}'):>5}  "
          f"{cell('found', '~{:.1f}/s'):>8}  {cell('refused', '{}'):>7}  "
          f"{cell('seconds', '{:.1f}'):>7}  {cell('used', '{} %'):>5}"
          f"{'' if is_well(run) else '  <-- exit ' + str(run['exit'])}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--flyball', default=ROOT / 'build/flyball', type=Path)
    parser.add_argument('--seeds', default='1-10', help='the first and the last')
    parser.add_argument('--json', type=Path)
    line = parser.parse_args()
    first, _, end = line.seeds.partition('-')
    seeds = range(int(first), int(end or first) + 1)
    with tempfile.TemporaryDirectory() as folder:
        at_work = []
        for seed in seeds:
            own = f'{folder}/{seed}'
            os.mkdir(own)
            at_work.append((seed, begin(line.flyball.resolve(), own, seed)))
        print('  seed     limit  burst     found  refused  seconds   used', flush=True)
        runs = []
        for seed, process in at_work:
            run, told = finish(seed, process)
            runs.append(run)
            show(run)
            if not is_well(run):
                print(told, file=sys.stderr)
    least = min(run['used'] or 0 for run in runs)
    mean = sum(run['used'] or 0 for run in runs) / len(runs)
    print(f'{mean:.1f} % on average, {least} % at the least; {LEAST} % are asked for')
    if line.json:
        line.json.write_text(json.dumps({'least_asked': LEAST, 'runs': runs}, indent=1) + '\n')
    return 0 if all(map(is_well, runs)) else 1


if __name__ == '__main__':
    sys.exit(main())
