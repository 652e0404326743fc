#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""peers.py - decisions beside other limiters, in one interleaved run.

    peers.py --build DIR [--rounds N] [--json FILE]

Each peer is a program that answers lines "CASE TIMES" with nanoseconds of one operation. In every
round each peer does each case once, so that whatever disturbs the machine disturbs all alike; a
figure is the median over the rounds, a ratio the median of the ratios within each round. All read
the clock for each decision, as a caller has to. Bytes of a key are what a process grows by when it
has a million of them, names included.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GUAVA = '/usr/share/java/guava.jar'
CASES = {'one': 'one thread on one key', 'two': 'two threads on one key',
         'keys': 'a million keys'}
KEYS = 1_000_000
ROUND_NS = 40_000_000  # how long one case runs in one round
AT_MOST = {'two': 1.5, 'keys': 2.0}  # times the floor


def build(out):
    """The command of each peer, by name; the floor is the first."""
    out.mkdir(parents=True, exist_ok=True)
    library = out.parent.resolve()
    subprocess.run(['gcc', '-O3', '-std=c17', '-D_DEFAULT_SOURCE', f'-I{ROOT / "include"}', '-o',
                    out / 'ours', HERE / 'ours.c', f'-L{library}', '-lflyball', '-pthread',
                    f'-Wl,-rpath,{library}'], check=True)
    subprocess.run(['go', 'build', '-o', out / 'go', HERE / 'peer.go'], check=True,
                   env=dict(os.environ, GO111MODULE='off', GOPATH='/usr/share/gocode',
                            GOCACHE=str(out / 'cache')))
    subprocess.run(['javac', '-cp', GUAVA, '-d', out, HERE / 'Peer.java'], check=True)
    for name in ('package.json', 'package-lock.json', '.npmrc', 'peer.js'):
        shutil.copy(HERE / name, out)
    subprocess.run(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'],
                   cwd=out, check=True)
    return {'floor': [out / 'ours', 'floor'], 'flyball': [out / 'ours'],
            'Go x/time/rate': [out / 'go'],
            'Guava RateLimiter': ['java', '-cp', f'{GUAVA}:{out}', 'Peer'],
            'npm limiter': ['node', '--max-old-space-size=4096', out / 'peer.js']}


class Peer:
    """A peer that runs and waits for lines."""

    def __init__(self, name, command):
        self.process = subprocess.Popen([str(c) for c in command], text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.cases = [c for c in CASES if not (name.startswith('npm') and c == 'two')]
        self.times, self.ns, self.bytes = {}, {c: [] for c in self.cases}, 0.0

    def ask(self, case, times):
        self.process.stdin.write(f'{case} {times}\n')
        return float(self.process.stdout.readline())

    def resident(self):
        """Bytes of memory that the process has now."""
        status = Path(f'/proc/{self.process.pid}/status').read_text()
        return 1024 * int(status.split('VmRSS:')[1].split()[0])

    def calibrate(self):
        for case in self.cases:
            times = 100_000
            before = self.resident()
            for _ in range(3):  # the compilers that learn have time to
                times = max(10_000, int(ROUND_NS / max(1.0, self.ask(case, times))))
            self.times[case] = times
            if case == 'keys':
                self.bytes = (self.resident() - before) / KEYS

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def ratio(peer, floor, case):
    return statistics.median(a / b for a, b in zip(peer.ns[case], floor.ns[case]))


def run(peers, rounds):
    for peer in peers.values():
        peer.calibrate()
    for _ in range(rounds):
        for case in CASES:
            for peer in peers.values():
                if case in peer.cases:
                    peer.ns[case].append(peer.ask(case, peer.times[case]))


def report(peers):
    results = []
    for case, what in CASES.items():
        more = f'{"bytes a key":>13}' if case == 'keys' else ''
        print(f'{what:28}{"ns":>10}{"x floor":>10}{more}')
        for name, peer in peers.items():
            if case not in peer.cases:
                continue
            ns = statistics.median(peer.ns[case])
            times = ratio(peer, peers['floor'], case)
            results.append({'case': case, 'name': name, 'ns': round(ns, 2),
                            'ratio': round(times, 3)})
            more = f'{peer.bytes:13.0f}' if case == 'keys' else ''
            if more:
                results[-1]['bytes'] = round(peer.bytes, 1)
            print(f'  {name:26}{ns:10.1f}{times:10.2f}{more}')
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', type=Path, required=True)
    parser.add_argument('--rounds', type=int, default=15)
    parser.add_argument('--json', type=Path)
    options = parser.parse_args()
    commands = build((options.build / 'peers').resolve())
    peers = {name: Peer(name, command) for name, command in commands.items()}
    run(peers, options.rounds)
    results = report(peers)
    targets = [{'case': case, 'at_most': most,
                'value': round(ratio(peers['flyball'], peers['floor'], case), 3)}
               for case, most in AT_MOST.items()]
    for target in targets:
        target['pass'] = target['value'] <= target['at_most']
        verdict = 'reached' if target['pass'] else 'MISSED'
        print(f'flyball, {CASES[target["case"]]}: {target["value"]:.2f} x the floor, '
              f'at most {target["at_most"]:.2f}: {verdict}')
    if options.json:
        options.json.write_text(json.dumps(
            {'schema': 'flyball.bench-peers/1', 'rounds': options.rounds, 'results': results,
             'targets': targets}, indent=1) + '\n')
    for peer in peers.values():
        peer.close()
    return 0


if __name__ == '__main__':
    sys.exit(main())
