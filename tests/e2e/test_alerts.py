# SPDX-License-Identifier: MIT
"""Alerts of flyball serve: who is told, of what, and how often."""
import json
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from mock_api import Mock
from schemas import check_answer
from served import Daemon, wait_for, write_list


class Hook:
    """Somebody who is told by POST: `.heard` is what came."""

    def __init__(self, status=204):
        hook = self
        self.heard = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                hook.heard.append((self.path, self.headers['Content-Type'], json.loads(body)))
                self.send_response(status)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *_):
                pass
        self.server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}/told?key=hidden'

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def alerts(self, kind):
        bodies = [check_answer(body, 'alert') for _, _, body in list(self.heard)]
        return [body for body in bodies if body['kind'] == kind]


PROVIDER = 'providers:\n  it:\n    hosts: [127.0.0.1]\n    limit: window=20/1h margin=0%\n'


def told(path):
    """Whole lines only: the command may be writing one."""
    if not path.exists():
        return []
    return [check_answer(json.loads(x), 'alert') for x in path.read_text().split('\n')[:-1]]


def command(folder):
    path = folder / 'tell'
    path.write_text(f'#!/bin/sh\ncat >>{folder}/told\n')
    path.chmod(0o700)
    return path


def test_webhook_and_command_are_told(tmp_path):
    config = (f'{PROVIDER}alerts:\n  wait: 5s\n  webhook_env: HOOK\n'
              f'  command: [{command(tmp_path)}]\n')
    with Mock() as mock, Hook() as hook, Daemon(tmp_path, config, env={'HOOK': hook.url}) as d:
        d.submit(list=write_list(tmp_path / 'list', mock.port, 30), provider='it')
        # The window is full after twenty of them, and the rest waits for an hour.
        for kind, level in (('utilization', 'critical'), ('wait', 'warning')):
            def both():
                lines = [x for x in told(tmp_path / 'told') if x['kind'] == kind]
                return lines and hook.alerts(kind) and (lines, hook.alerts(kind))
            by_command, by_hook = wait_for(both)
            assert by_command[-1] == by_hook[-1]
            alert = by_hook[-1]
            assert alert['schema'] == 'flyball.alert/1'
            assert (alert['provider'], alert['pool'], alert['level']) == ('it', 'default', level)
            assert alert['text'].startswith('it/default ') and alert['time']
        assert all(p == '/told?key=hidden' and t == 'application/json' for p, t, _ in hook.heard)

        wait_for(lambda: 'the webhook has it, with status 204' in d.log.read_text())
        # In the audit, the log and the metrics as well; and not again before its time.
        audit = [e for e in d.json('/view/audit?json=1')['events'] if e['kind'] == 'alert']
        assert {e['cause'] for e in audit} >= {'utilization', 'wait'}
        assert '"alert"' in d.log.read_text()
        assert b'\nflyball_alerts_total 0\n' not in d.ask('/metrics')[2]
        with d.events() as e:
            for _ in range(3):
                e.next('tick')
        assert len(hook.alerts('wait')) == 1
        assert len(hook.alerts('utilization')) <= 2  # warning, then critical
        # The URL of the webhook is a secret.
        for text in (d.log.read_text(), d.ask('/status')[2].decode(), json.dumps(audit)):
            assert 'hidden' not in text


def gauge(d, name, labels):
    """The value of a sample, or None where there is none."""
    head = f'{name}{{{labels}}} '
    lines = d.ask('/metrics')[2].decode().splitlines()
    return next((float(x[len(head):]) for x in lines if x.startswith(head)), None)


@pytest.mark.parametrize('limit', ['rate=200/s burst=40 window=20/1h', 'window=20/1h adapt=probe'])
def test_a_full_window_beside_a_rate(tmp_path, limit):
    config = (f'providers:\n  it:\n    hosts: [127.0.0.1]\n    limit: {limit} margin=0%\n'
              f'alerts:\n  command: [{command(tmp_path)}]\n')
    with Mock() as mock, Daemon(tmp_path, config) as d:
        d.submit(list=write_list(tmp_path / 'list', mock.port, 30), provider='it')
        alert = wait_for(lambda: [x for x in told(tmp_path / 'told')
                                  if (x['kind'], x['level']) == ('utilization', 'critical')])[0]
        assert alert['provider'] == 'it'
        wait_for(lambda: gauge(d, 'flyball_limit_used_ratio',
                               'provider="it",pool="default"') == 1)


def test_a_warning_that_is_not_critical(tmp_path):
    """17 of 20: more than 80 %, less than 90 %."""
    config = (f'{PROVIDER.replace("window", "rate=100/s window")}'
              f'alerts:\n  command: [{command(tmp_path)}]\n')
    with Mock() as mock, Daemon(tmp_path, config) as d:
        name = d.submit(list=write_list(tmp_path / 'list', mock.port, 17), provider='it')
        assert d.wait_ended(name)['exit'] == 0
        alerts = wait_for(lambda: told(tmp_path / 'told'))
        with d.events() as e:
            for _ in range(3):
                e.next('tick')
        alerts = told(tmp_path / 'told')
        assert [(x['kind'], x['level']) for x in alerts] == [('utilization', 'warning')]
        assert alerts[0]['text'] == 'it/default at 85.0 % of its limit'
        assert gauge(d, 'flyball_limit_used_ratio', 'provider="it",pool="default"') == 0.85


def test_answers_that_are_all_404_are_seen(tmp_path):
    """The server is well and the work is not: the grade, its alert, the key's state and why."""
    config = (f'alerts:\n  command: [{command(tmp_path)}]\n'
              'providers:\n  it:\n    hosts: [127.0.0.1]\n    limit: rate=20/s adapt=off\n')
    with Mock() as mock, Daemon(tmp_path, config) as d:
        urls = ''.join(f'http://127.0.0.1:{mock.port}/{i}?status=404\n' for i in range(100))
        (tmp_path / 'list').write_text(urls)
        assert d.json('/healthz')['grade'] == 'healthy'
        name = d.submit(list=str(tmp_path / 'list'))
        wait_for(lambda: d.json('/healthz')['grade'] == 'degraded')
        key, = d.status()['keys']
        assert (key['state'], key['because']) == ('warning', '4xx'), key
        assert re.fullmatch(r'the last \d\d+ answers were all 4xx, the latest 404: the requests '
                            r'are wrong, not the pace', key['why']), key
        assert re.search(r'^it +. warning .* 4xx$', d.command('status').stdout, re.M)
        alert, = wait_for(lambda: [x for x in told(tmp_path / 'told') if x['kind'] == 'grade'])
        assert alert['level'] == 'warning', alert
        assert alert['text'] == ('was healthy, is degraded: the last answers of a provider were '
                                 'all 4xx')
        events = [e for e in d.json('/view/audit?json=1')['events']
                  if e['kind'] == 'grade']
        assert [(e['cause'], e['outcome']) for e in events] == [('client_errors', 'degraded')]
        (tmp_path / 'well').write_text(f'http://127.0.0.1:{mock.port}/well\n')
        assert d.wait_ended(name)['exit'] == 3
        assert d.json('/healthz')['grade'] == 'degraded'
        # One that succeeds, and they are not all wrong.
        d.submit(list=str(tmp_path / 'well'), output=str(tmp_path / 'well.jsonl'))
        wait_for(lambda: d.json('/healthz')['grade'] == 'healthy')
        assert d.status()['keys'][0]['state'] != 'warning'


def test_a_change_of_the_grade(tmp_path):
    config = (f'alerts:\n  command: [{command(tmp_path)}]\nbreaker:\n  failures: 1000\n'
              'providers:\n  it:\n    hosts: [127.0.0.1]\n    limit: rate=50/s\n')
    with Mock('--fail', '99%') as mock, Daemon(tmp_path, config) as d:
        d.submit(list=write_list(tmp_path / 'list', mock.port, 60))

        def worst():
            return [x for x in told(tmp_path / 'told')
                    if x['kind'] == 'grade' and x['text'].endswith('is failing')]
        assert wait_for(worst)[0]['level'] == 'critical'
        assert d.status()['grade'] == 'failing'
        assert 'was healthy, is failing' in d.command('audit').stdout
        grades = [e for e in d.json('/view/alerts')['events'] if e['kind'] == 'grade']
        assert 'failing' in [e['outcome'] for e in grades]


def test_nobody_can_be_told(tmp_path):
    """A command that is not there, and a webhook that refuses: the work goes on."""
    config = (f'{PROVIDER}alerts:\n  wait: 1s\n  command: [{tmp_path}/none]\n'
              f'  webhook_file: {tmp_path}/url\n')
    with Mock() as mock, Hook(500) as hook:
        with Daemon(tmp_path, config) as d:
            d.submit(list=write_list(tmp_path / 'list', mock.port, 30), provider='it')
            wait_for(lambda: f'cannot run {tmp_path}/none' in d.log.read_text())
            wait_for(lambda: f'{tmp_path}/url' in d.log.read_text())
            (tmp_path / 'url').write_text(hook.url + '\n')
            d.configure(config.replace('wait: 1s', 'wait: 2s\n  every: 1s'))
            assert d.act('reload')[0] == 200
            wait_for(lambda: hook.heard)
            wait_for(lambda: 'not posted: 8 are on their way' in d.log.read_text())
            assert d.ask('/healthz')[0] == 200


def test_a_webhook_that_refuses(tmp_path):
    config = f'{PROVIDER}alerts:\n  wait: 1s\n  webhook_env: HOOK\n'
    with Mock() as mock, Hook(403) as hook, Daemon(tmp_path, config, env={'HOOK': hook.url}) as d:
        d.submit(list=write_list(tmp_path / 'list', mock.port, 30), provider='it')
        wait_for(lambda: 'the webhook does not have it: failed, status 403' in d.log.read_text())
        assert 'hidden' not in d.log.read_text()


def test_the_end_waits_for_no_command(tmp_path):
    script = tmp_path / 'slow'
    script.write_text('#!/bin/sh\n: >"$0.began"\nexec sleep 600\n')
    script.chmod(0o700)
    config = f'{PROVIDER}alerts:\n  wait: 1s\n  command: [{script}]\n'
    with Mock() as mock, Daemon(tmp_path, config) as d:
        d.submit(list=write_list(tmp_path / 'list', mock.port, 30), provider='it')
        wait_for((tmp_path / 'slow.began').exists)


def test_rules_for_prometheus_are_right(tmp_path):
    rules = Path(__file__).resolve().parents[2] / 'share/alerts.yaml'
    done = subprocess.run(['promtool', 'check', 'rules', rules], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    with Daemon(tmp_path, 'watch: {items: {url: "http://127.0.0.1:1/"}, sources: {x: {url: '
                          '"http://127.0.0.1:1/{id}", fields: {a: /a}}}}\n') as d:
        text = d.ask('/metrics')[2].decode()
    for name in set(re.findall(r'\bflyball_\w+', rules.read_text())):
        assert f'# TYPE {re.sub("_total$", "", name)}' in text, name
