# SPDX-License-Identifier: MIT
"""`flyball demo`: it ends by itself, tells the truth, and leaves nothing behind."""
import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
import terminal

ROOT = Path(__file__).resolve().parents[2]
FLYBALL = Path(os.environ.get('FLYBALL_BUILD', ROOT / 'build')) / 'flyball'
LONG_S = 180


def environment(folder, **more):
    return {**os.environ, 'HOME': str(folder), 'XDG_STATE_HOME': str(folder / 'state'), 'CI': '1',
            **more}


def files(folder):
    return [p for p in folder.rglob('*') if not p.is_dir()]


def demo(folder, *words):
    done = subprocess.run([FLYBALL, 'demo', *words], env=environment(folder), cwd=folder, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False,
                          timeout=LONG_S)
    assert (done.returncode, done.stderr) == (0, ''), done
    assert '\r' not in done.stdout and '\x1b' not in done.stdout
    assert not files(folder)
    return done.stdout


def test_it_ends_by_itself_and_tells_the_secret(tmp_path):
    told = demo(tmp_path, '--requests', '60', '--seed', '7')
    assert re.search(r'API +http://127\.0\.0\.1:\d+', told)
    assert re.search(r'60 of 60 done in [\d.]+ s, none lost', told)
    arrivals, accepted, refused = map(int, re.search(
        r'The API counted (\d+) arrivals: (\d+) accepted, (\d+) refused', told).groups())
    assert accepted == 60 and arrivals == accepted + refused
    assert refused == int(re.findall(r'429s (\d+)', told)[-1])
    rate, burst = re.search(r'The secret was ([\d.]+)/s, burst (\d+)\.', told).groups()
    assert 10 <= float(rate) <= 20 and 10 <= int(burst) <= 30
    needed = float(re.search(r'A client that knew it needs ([\d.]+) s', told).group(1))
    assert abs(needed - (60 - int(burst)) / float(rate)) < 0.06
    assert 0 < int(re.search(r'flyball used (\d+) %', told).group(1)) <= 100


def ask(told, path):
    where = re.search(r'dashboard +(http://127\.0\.0\.1:\d+) ', told).group(1)
    with urllib.request.urlopen(where + path, timeout=LONG_S) as answer:
        return answer.read().decode()


def test_its_dashboard_shows_it_meanwhile(tmp_path):
    with subprocess.Popen([FLYBALL, 'demo', '--requests', '60'], env=environment(tmp_path),
                          cwd=tmp_path, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE) as process:
        told = ''
        for line in process.stdout:
            told += line
            if ' of ?  ' in line:
                break
        status = json.loads(ask(told, '/status'))
        assert [b['name'] for b in status['batches']] == ['demo'] and len(status['keys']) == 1
        assert '<title>flyball</title>' in ask(told, '/')
        rest, _ = process.communicate(timeout=LONG_S)
    assert process.returncode == 0 and 'stays up' not in rest and not files(tmp_path)


def test_on_a_terminal_the_dashboard_stays_until_ctrl_c(tmp_path):
    here, there = terminal.open_terminal(100)
    env = {**environment(tmp_path), 'CI': '', 'TERM': 'xterm'}
    with subprocess.Popen([FLYBALL, 'demo', '--requests', '20'], env=env, cwd=tmp_path,
                          stdin=subprocess.DEVNULL, stdout=there, stderr=there) as process:
        os.close(there)
        told = ''
        while 'Dashboard stays up; Ctrl-C ends.' not in told:
            told += os.read(here, 65536).decode()
        batch, = json.loads(ask(told, '/status'))['batches']
        assert batch['items']['ok'] == 20 and not batch['running']
        process.send_signal(signal.SIGINT)
        terminal.read_all(here)
        assert process.wait(timeout=LONG_S) == 0
    assert not files(tmp_path)


def test_same_seed_same_secret(tmp_path):
    def secret(*words):
        return re.search(r'The secret was .*\.', demo(tmp_path, '--requests', '3', *words)).group()

    assert secret('--seed', '5') == secret('--seed', '5')
    assert len({secret('--seed', str(seed)) for seed in (1, 2, 3)}) > 1


@pytest.mark.parametrize('dialect', ['none', 'github', 'openai'])
def test_dialects(tmp_path, dialect):
    assert ' none lost' in demo(tmp_path, '--requests', '20', '--dialect', dialect)


def test_side_by_side(tmp_path):
    told = demo(tmp_path, '--requests', '90', '--seed', '3', '--compare')
    rows = {name.strip(): tuple(map(int, rest)) for name, *rest in re.findall(
        r'^ +(flyball|old limiter|no governor) +(\d+) done in +[\d.]+ s, +(\d+) refused, '
        r' *(\d+) lost, +(\d+) to do$', told, re.M)}
    assert rows['flyball'][0] == 90 and rows['flyball'][2:] == (0, 0)
    assert all(sum(row) - row[1] == 90 for row in rows.values()), rows
    burst = int(re.search(r'burst (\d+)', told).group(1))
    done, refused, lost, to_do = rows['no governor']
    assert burst <= done < 90 and to_do == 0 and refused >= 3 * lost > 0
    assert rows['old limiter'][0] > 0 and not files(tmp_path)


def children(pid):
    return Path(f'/proc/{pid}/task/{pid}/children').read_text().split()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_it(tmp_path, number):
    with subprocess.Popen([FLYBALL, 'demo'], env=environment(tmp_path), cwd=tmp_path, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            if ' of ?  ' in line:
                break
        api, = children(process.pid)
        process.send_signal(number)
        process.communicate(timeout=LONG_S)
    end = time.monotonic() + LONG_S
    while Path(f'/proc/{api}/exe').exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    assert all(tmp_path / 'state' in p.parents for p in files(tmp_path))
    if number == signal.SIGINT:
        assert process.returncode == 130 and not files(tmp_path)


def test_mistakes(tmp_path):
    for words, said in ((['--dialect', 'gihub'], "did you mean 'github'?"),
                        (['--requests', '0'], '--requests'), (['--sed', '1'], '--seed')):
        done = subprocess.run([FLYBALL, 'demo', *words], env=environment(tmp_path), text=True,
                              capture_output=True, check=False)
        assert done.returncode == 2 and said in done.stderr and not files(tmp_path)
