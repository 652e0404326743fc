#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""help - what `flyball --help` costs: make bench-help

Beside it `curl --version`, which loads nearly the same libraries. They take turns; told are the
least and the median of each, from the start of the process to its end.
"""
import argparse
import statistics
import subprocess
import time

ROUNDS = 100


def once(words):
    began = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--build', default='build')
    flyball = f'{parser.parse_args().build}/flyball'
    took = {'flyball --help': [], 'curl --version': [], 'true': []}
    for _ in range(ROUNDS):
        for name, spent in took.items():
            spent.append(once([flyball, '--help'] if name == 'flyball --help' else name.split()))
    print(f'{"":16}{"least":>10}{"median":>10}')
    for name, spent in took.items():
        print(f'{name:16}{min(spent):7.1f} ms{statistics.median(spent):7.1f} ms')


if __name__ == '__main__':
    main()
