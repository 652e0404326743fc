# SPDX-License-Identifier: MIT
"""What is shipped for those who run flyball serve: a unit, rules and a dashboard of others."""
import json
import os
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

from matches import Sites
from mock_api import Mock
from schemas import check_answer
from served import FLYBALL, Daemon, wait_for, write_list

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / 'share/alerts.yaml'
GRAFANA = ROOT / 'share/grafana.json'
UNIT = ROOT / 'examples/flyball.service'
NAME = re.compile(r'\b(?:flyball|http_client|process)_[a-z0-9_]+')


def run(*words):
    done = subprocess.run([str(w) for w in words], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_rules_are_rules():
    told = run('promtool', 'check', 'rules', RULES)
    assert re.search(r'SUCCESS: [1-9]\d* rules found', told)


def test_the_unit_gives_little_away():
    """At most 2.0 of 10, as systemd reckons; and nothing in it that systemd does not know."""
    run('systemd-analyze', 'security', '--offline=true', '--threshold=20', UNIT)
    # Which boot it is has to be readable: a ledger is of one.
    assert 'ProcSubset' not in UNIT.read_text()


def names_of(metrics):
    """Of families, with what a histogram and a counter are made of."""
    names = set()
    for name, kind in re.findall(r'^# TYPE (\S+) (\S+)$', metrics, re.M):
        parts = ('_bucket', '_sum', '_count') if kind == 'histogram' else ('',)
        names |= {name + part for part in parts}
    return names


def test_every_metric_that_is_named_is_there(tmp_path):
    with Sites(tmp_path, 'live=2') as sites, Daemon(tmp_path, sites.config()) as d:
        there = names_of(d.ask('/metrics')[2].decode())
    queries = []

    def gather(o):
        if isinstance(o, dict):
            queries.extend(v for k, v in o.items() if k in ('expr', 'query') and isinstance(v, str))
        for x in o.values() if isinstance(o, dict) else o if isinstance(o, list) else []:
            gather(x)

    gather(json.loads(GRAFANA.read_text()))
    rules = re.sub(r'^ *#.*$', '', RULES.read_text(), flags=re.M)
    for path, text in ((GRAFANA, '\n'.join(queries)), (RULES, rules)):
        named = set(NAME.findall(text))
        assert len(named) > 5, path
        assert named <= there, (path, named - there)


def test_what_was_handed_over_has_to_be_again_after_a_restart(tmp_path):
    """And whoever asks is told how; a command that does it goes on where it was."""
    with Mock('--dialect', 'none') as mock:
        url = write_list(tmp_path / 'list', mock.port, 200)
        with Daemon(tmp_path) as d:
            done = d.command('fetch', '--submit', url, '--jsonl', 'o.jsonl', '--no-bodies')
            name = done.stdout.split(',')[0]
            wait_for(lambda: mock.stats()['arrivals'] > 20)
        said = d.command('status', name).stdout
        told = json.loads(d.command('status', name, '--json').stdout)['batches'][0]
        assert told['command'] == (f'flyball fetch --submit {url} --jsonl {tmp_path}/o.jsonl '
                                   '--no-bodies')
        assert 'go on' in said and '--submit' in said, said
        assert told['exit'] == 130 and told['items']['ended'] < 200, told
        with Daemon(tmp_path) as d:
            assert not json.loads(d.command('status', '--json').stdout)['batches']
            done = d.command(*told['command'].split()[1:])
            assert d.wait_ended(done.stdout.split(',')[0])['items']['ok'] == 200
        assert mock.stats()['accepted'] == 200  # none of them twice


def test_a_daemon_that_ends_after_all_was_done_has_cut_off_nothing(tmp_path):
    with Mock() as mock:
        with Daemon(tmp_path) as d:
            name = d.submit(list=write_list(tmp_path / 'list', mock.port, 3))
            d.wait_ended(name)
        told = json.loads(d.command('status', name, '--json').stdout)['batches'][0]
        assert told['exit'] == 0 and told['items']['ok'] == 3, told


def test_verdict_and_sentence_are_of_one_moment(tmp_path):
    config = 'providers:\n  p:\n    hosts: [127.0.0.1]\n    limit: rate=20/s burst=1\n'
    with Mock() as mock, Daemon(tmp_path, config) as d:
        d.submit(list=write_list(tmp_path / 'list', mock.port, 2000))
        wait_for(lambda: mock.stats()['arrivals'] > 3)
        verdicts = set()
        for _ in range(60):
            told = json.loads(d.command('why', 'p', '--json').stdout)
            verdicts.add(told['verdict'])
            assert ('Next start in' in told['sentence']) == (told['verdict'] == 'waits'), told
            assert told['key']['may_start'] == (told['verdict'] == 'now'), told
        assert 'waits' in verdicts


def test_the_daemon_is_asked_once(tmp_path):
    """What it has learned is laid out here, beside what the files know."""
    row = {'provider': 'a.example', 'host': 'a.example', 'pool': 'default', 'by': 'probe',
           'limit_per_s': 12.5, 'reduction': 0, 'confidence': 0.9, 'recovery_s': 1.5,
           'changed_in_s': -300, 'saved_in_s': 0}
    body = json.dumps({'schema': 'flyball.learned/1', 'learned': [row], 'events': []}).encode()
    asked = []
    path = tmp_path / 'control'
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path))
        door.listen()
        door.settimeout(60)

        def answer():
            while True:
                try:
                    peer = door.accept()[0]
                except OSError:
                    return
                with peer:
                    asked.append(peer.recv(65536).split(b' ')[1])
                    peer.sendall(b'HTTP/1.1 200 OK\r\n\r\n' + body)

        threading.Thread(target=answer, daemon=True).start()
        done = subprocess.run([FLYBALL, 'learned', '--provider', 'a.example'], text=True,
                              capture_output=True, check=False, timeout=60, env={
                                  **os.environ, 'XDG_STATE_HOME': str(tmp_path),
                                  'FLYBALL_LISTENERS__ADMIN__SOCKET': str(path)})
    assert done.returncode == 0, done
    assert len(asked) == 1 and asked[0].endswith(b'provider=a.example'), asked
    line = r'^a\.example +- +12\.5/s +90 % +1\.5 s +probe +5m ago'
    assert re.search(line, done.stdout, re.M), done


def test_what_runs_beside_it_is_shown(tmp_path):
    """A fetch in the foreground is none of the daemon's, but whoever asks wants to see it."""
    with Mock() as mock, Mock('--limit', 'rate=5/s burst=1', '--dialect', 'retry-after') as tight, \
            Daemon(tmp_path) as d:
        d.wait_ended(d.submit(list=write_list(tmp_path / 'list', mock.port, 3)))
        assert 'others' not in json.loads(d.command('status', '--json').stdout)
        assert 'processes of their own' not in d.command('status').stdout
        with subprocess.Popen([FLYBALL, 'fetch', f'http://127.0.0.1:{tight.port}/{{1..2000}}', '-q',
                               '--jsonl', 'beside.jsonl'], cwd=tmp_path, env=d.env) as beside:
            told = wait_for(lambda: json.loads(d.command('status', '--json').stdout).get('others'))
            assert [b['pid'] for b in told] == [beside.pid]
            check_answer(json.loads(d.command('status', '--json').stdout), 'status')
            check_answer(json.loads(d.command('top', '--once', '--json').stdout), 'top')
            for words in (['status'], ['top', '--once']):
                done = d.command(*words)
                assert told[0]['name'][:12] in done.stdout.split('processes of their own')[1], done
            wait_for(lambda: f'127.0.0.1:{tight.port} ' in d.command('learned').stdout)
            done = d.command('learned').stdout
            assert f'127.0.0.1:{tight.port} ' in done.split('Not by the daemon')[1], done
            assert done.count(f'127.0.0.1:{mock.port} ') <= 1
            beside.send_signal(signal.SIGINT)
