#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""peers - `flyball fetch` beside others, on one list, from one nginx, interleaved.

    bench/fetch/peers.py --build build [--count 20000] [--rounds 5] [--json FILE]

CPU time (user and system of the client alone) per 1000 requests, requests a second and peak
memory; medians over the rounds. `bare` is libcurl's multi interface and nothing else, without a
journal: the floor. A peer that is not installed is left out, and said to be.
"""
import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NGINX = """daemon off; worker_processes 1; pid {dir}/pid; error_log {dir}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off; keepalive_requests 10000000; client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fcgi; uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    server {{ listen 127.0.0.1:{port}; location / {{ default_type text/plain;
        return 200 "{body}"; }} }}
}}
"""
PORT = 18437
AIMS = [('CPU per 1000, times bare', 'cpu', 'bare', 1.3, False),
        ('requests/s, times curl --parallel', 'rate', 'curl', 1.5, True),
        ('requests/s, times wget2', 'rate', 'wget2', 1.0, True)]
RSS_MB = 24


def commands(args, work):
    """name -> argv, for what is installed."""
    urls = work / 'urls'
    config = work / 'curl.config'
    config.write_text(''.join(f'url = {u}\noutput = /dev/null\n'
                              for u in urls.read_text().split()))
    peers = {
        'bare': [args.build / 'bare', urls, '40'],
        'flyball': [args.build / 'flyball', 'fetch', urls, '--jsonl', work / 'out', '--journal',
                    work / 'journal', '--concurrency', '40', '--quiet',
                    '--limit', 'rate=1000000/s burst=1000000'],
        'curl': ['curl', '--parallel', '--parallel-max', '40', '--silent', '--config', config],
        'wget2': ['wget2', '--quiet', '--max-threads', '40', '-O', '/dev/null', '-i', urls],
    }
    for name in [n for n in ('curl', 'wget2') if not shutil.which(peers[n][0])]:
        print(f'{name} is not installed: left out')
        del peers[name]
    if args.peers:
        peers = {name: argv for name, argv in peers.items() if name in args.peers.split(',')}
    return peers


def peak_of(pid):
    """Megabytes, from the process itself: rusage would tell of whoever started it, too."""
    try:
        status = Path(f'/proc/{pid}/status').read_text(encoding='ascii')
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in status.splitlines()
                 if line.startswith('VmHWM')), 0.0)


def timed(argv, work, count):
    """One run from nothing: what it used."""
    for name in ('out', 'journal', 'journal-wal', 'journal-shm', 'state'):
        path = work / name
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    env = {**os.environ, 'XDG_STATE_HOME': str(work / 'state'),
           'FLYBALL_LEDGER': str(work / 'state' / 'ledger')}
    (work / 'state').mkdir()
    start = time.monotonic()
    process = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, cwd=work)
    peak_mb = 0.0
    while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
        peak_mb = max(peak_mb, peak_of(process.pid))
        time.sleep(0.02)
    seconds = time.monotonic() - start
    _, status, usage = ended
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f'{argv[0]} ended with {process.returncode}')
    return {'cpu': 1e6 * (usage.ru_utime + usage.ru_stime) / count, 'rate': count / seconds,
            'rss': peak_mb}


def origin(work):
    (work / 'nginx.conf').write_text(NGINX.format(dir=work, port=PORT, body='x' * 200))
    process = subprocess.Popen(['nginx', '-c', work / 'nginx.conf', '-p', work],
                               stderr=subprocess.DEVNULL)
    time.sleep(1)
    return process


def measure(args, work):
    (work / 'urls').write_text(''.join(f'http://127.0.0.1:{PORT}/item/{i}\n'
                                       for i in range(args.count)))
    peers = commands(args, work)
    runs = {name: [] for name in peers}
    for _ in range(args.rounds):
        for name, argv in peers.items():
            runs[name].append(timed(argv, work, args.count))
    return {name: {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}
            for name, rounds in runs.items()}


def report(result):
    print(f"{'':10} {'CPU ms/1000':>12} {'requests/s':>11} {'peak MB':>8}")
    for name, r in result.items():
        print(f"{name:10} {r['cpu']:12.1f} {r['rate']:11.0f} {r['rss']:8.1f}")
    for what, key, peer, aim, least in AIMS:
        if peer in result and 'flyball' in result:
            ratio = result['flyball'][key] / result[peer][key]
            kept = ratio >= aim if least else ratio <= aim
            print(f"{what}: {ratio:.2f} ({'at least' if least else 'at most'} {aim}: "
                  f"{'kept' if kept else 'MISSED'})")
    if 'flyball' in result:
        rss = result['flyball']['rss']
        print(f"peak memory: {rss:.1f} MB (below {RSS_MB}: {'kept' if rss < RSS_MB else 'MISSED'})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--build', type=lambda p: Path(p).resolve(), default='build')
    parser.add_argument('--count', type=int, default=20000)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--peers', default='', help='only these, by name, commas between')
    parser.add_argument('--json')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        server = origin(Path(name))
        try:
            result = measure(args, Path(name))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=20)
    report(result)
    if args.json:
        Path(args.json).write_text(json.dumps(result, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
