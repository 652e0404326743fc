# SPDX-License-Identifier: MIT
"""flyball serve with real processes: doors, pages, batches, reload, the end."""
import csv
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mock_api import Mock
from schemas import check, check_answer
from served import FLYBALL, PATIENCE_S, Daemon, inside, wait_for, write_list


def results(daemon, name='out.jsonl'):
    lines = (daemon.folder / name).read_text().splitlines()
    return [check(json.loads(line), 'journal') for line in lines]


# ------------------------------------------------------------------------------------------ doors

def test_who_may_ask_what(tmp_path):
    config = 'listeners:\n  internal:\n    token_env: TOKEN\n'
    with Daemon(tmp_path, config, env={'TOKEN': 's3cret'}) as d:
        for path in ('/status', '/healthz', '/history', '/history?step=60'):
            for door in ('public', 'internal', 'control'):
                assert d.ask(path, door)[0] == 200, (path, door)
        for path in ('/metrics', '/admin/reload', '/view/status', '/admin/batch'):
            assert d.ask(path, 'public')[0] == 404
            assert d.ask(path, 'public', 'POST')[0] == 404
        assert d.ask('/metrics', 'internal')[0] == 200
        assert d.ask('/history?step=7', 'public')[0] == 400

        assert d.ask('/status', 'public', Host='evil.test')[0] == 403
        assert d.ask('/metrics', 'internal', Host='evil.test')[0] == 403
        token = {'Authorization': 'Bearer s3cret'}
        assert d.ask('/admin/recycle', 'internal', 'GET', **token)[0] == 405
        assert d.ask('/admin/recycle', 'internal', 'POST')[0] == 403
        assert d.ask('/admin/recycle', 'internal', 'POST', Authorization='Bearer no')[0] == 403
        form = {'Content_Type': 'application/x-www-form-urlencoded'}
        assert d.ask('/admin/recycle', 'internal', 'POST', 'a=b', **form)[0] == 403
        assert d.ask('/admin/recycle', 'internal', 'POST', **token)[0] == 200
        for field in ({'Origin': 'http://evil'}, {'Sec_Fetch_Site': 'cross-site'},
                      {'Host': 'evil.test'}):
            assert d.ask('/admin/recycle', 'internal', 'POST', **token, **field)[0] == 403
        head = d.ask('/status', 'public')[1]
        assert "default-src 'none'" in head['content-security-policy']
        assert head['x-content-type-options'] == 'nosniff'
        assert d.status()['sequence'] >= 1


def refused(tmp_path, *words):
    return subprocess.run([FLYBALL, 'serve', *words], cwd=tmp_path, text=True, check=False,
                          capture_output=True, timeout=PATIENCE_S,
                          env={**os.environ, 'XDG_RUNTIME_DIR': str(tmp_path),
                               'XDG_STATE_HOME': str(tmp_path), 'HOME': str(tmp_path)})


def test_others_could_reach_it(tmp_path):
    for door in ('public', 'internal'):
        done = refused(tmp_path, '--set', f'listeners.{door}.listen=0.0.0.0:0')
        assert done.returncode == 2
        assert f'listeners.{door}' in done.stderr and 'allow_remote' in done.stderr


def test_configurations_that_are_none(tmp_path):
    done = refused(tmp_path, '--config', 'none.yaml')
    assert done.returncode == 2 and 'none.yaml' in done.stderr
    (tmp_path / 'bad.yaml').write_text('limit: fast\nmodes: x\n')
    done = refused(tmp_path, '--config', 'bad.yaml')
    assert done.returncode == 2
    assert 'bad.yaml:1:' in done.stderr and 'bad.yaml:2:' in done.stderr


def test_only_one(tmp_path):
    with Daemon(tmp_path) as d:
        again = subprocess.run(d.words, env=d.env, text=True, capture_output=True, check=False,
                               timeout=PATIENCE_S)
        assert again.returncode == 1
        assert f'process {d.process.pid}' in again.stderr
        check_answer(d.json('/healthz'), 'health')
        # One that was killed leaves a socket behind; the next takes its place.
        d.process.kill()
        d.process.wait()
        d.code = -signal.SIGKILL
    assert d.socket.exists()
    with Daemon(tmp_path) as d:
        assert d.ask('/healthz')[0] == 200
    assert not d.socket.exists()
    assert not d.socket.with_suffix('.sock.lock').exists()


# -------------------------------------------------------------------------------------- batches

def test_a_batch_that_is_submitted(tmp_path):
    with Mock('--limit', 'window=200/1s', '--dialect', 'github') as mock, Daemon(tmp_path) as d:
        path = write_list(tmp_path / 'list', mock.port, 100)
        name = d.submit(list=path, request_id=True)
        ended = d.wait_ended(name)
        assert ended['exit'] == 0
        assert ended['items']['ok'] == 100
        assert sorted(int(r['id']) for r in results(d)) == list(range(1, 101))

        status = d.status()
        key = status['keys'][0]
        assert key['provider'] == f'127.0.0.1:{mock.port}'
        assert status['failures'][0]['answers'] >= 100
        assert status['usage']['sources'][0]['source'].startswith('127.0.0.1')
        assert status['usage']['overall']['total_active_sources'] in (0, 1)
        assert status['config']['concurrency_total'] == 40
        assert status['queue']['length'] == 0
        assert status['grade'] == 'healthy'

        # What everybody may see says nothing about this machine.
        public = d.ask('/status', 'public')[2].decode()
        assert str(tmp_path) not in public and str(d.process.pid) not in public
        check_answer(json.loads(public), 'status')
        assert '""' not in public and not {'version', 'pid'} & json.loads(public).keys()

        # The same list again: nothing is left to do.
        before = mock.stats()['arrivals']
        name = d.submit(list=path)
        assert d.wait_ended(name)['exit'] == 0
        assert mock.stats()['arrivals'] == before


def test_figures_of_each_batch_alone(tmp_path):
    """Two at once: one is refused and waits, the other knows nothing of it."""
    with Mock('--limit', 'window=3/1h', '--dialect', 'none') as tight, Mock() as free, \
            Daemon(tmp_path) as d:
        held = d.submit(list=write_list(tmp_path / 'held', tight.port, 20), name='held')
        wait_for(lambda: d.batch(held)['throttled'] > 0)
        name = d.submit(list=write_list(tmp_path / 'free', free.port, 12), name='free',
                        output=str(tmp_path / 'free.jsonl'))
        ended = d.wait_ended(name)
        assert ended['throttled'] == 0 and ended['requests'] == 12
        assert ended['latency']['p50_s'] > 0
        assert str(tight.port) not in (ended.get('bound_by') or '')
        assert d.batch(held)['throttled'] > 0
    # What is over is known without the daemon, too.
    done = d.command('status', '--json')
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)['batches']) == 2


def test_a_long_list_is_counted_beside_the_work(tmp_path):
    with Mock() as mock, Daemon(tmp_path) as d:
        assert d.act('pause')[0] == 200
        path = write_list(tmp_path / 'list', mock.port, 20_000)
        assert os.path.getsize(path) > 1 << 18
        name = d.submit(list=path)
        wait_for(lambda: d.batch(name)['items'].get('total') == 20_000)
        d.submit(list=path, output=str(tmp_path / 'more'))  # and the end comes before the number


def test_submitting_by_command(tmp_path):
    with Mock() as mock, Daemon(tmp_path) as d:
        done = d.command('fetch', '--submit', f'http://127.0.0.1:{mock.port}/{{1..5}}', '--jsonl',
                         'words.jsonl')
        assert done.returncode == 0, done.stderr
        name = done.stdout.split(',')[0]
        assert d.wait_ended(name)['items']['ok'] == 5
        assert len(results(d, 'words.jsonl')) == 5
        for words in (['-'], ['a', '-H', 'X: y'], ['a', '--limit', 'rate=1/s'], ['a', '--plan']):
            done = d.command('fetch', '--submit', *words)
            assert done.returncode == 2, words
            assert '--submit' in done.stderr
        done = d.command('fetch', '--submit', 'none.txt')
        assert done.returncode == 2 and 'none.txt' in done.stderr
        assert done.stderr.count('flyball fetch:') == 1, done.stderr


def test_a_batch_has_one_name(tmp_path):
    """As it was told when it was handed over: whole in every table, and taken by every command."""
    with Mock('--limit', 'window=3/1h', '--dialect', 'retry-after') as mock, Daemon(tmp_path) as d:
        done = d.command('fetch', '--submit', f'http://127.0.0.1:{mock.port}/{{1..9}}')
        name = done.stdout.split(',')[0]
        assert re.fullmatch(r'batch-\d+-\d+', name)
        wait_for(lambda: d.batch(name)['throttled'] > 0)
        wait_for(lambda: 'hold' in d.command('why', name).stdout)  # the record is written by then
        d.wait_ended(d.submit(urls=[f'http://127.0.0.1:{d.port["public"]}/healthz'], name='other'))
        for words in (['status'], ['top', '--once'], ['status', name], ['why', name]):
            done = d.command(*words)
            assert done.returncode == 0 and name in done.stdout, (words, done)
        assert 'because' in done.stdout and 'hold' in done.stdout, done.stdout
        told = json.loads(d.command('why', 'last', '--json').stdout)
        assert told['batch'] == name and told['verdict'] == 'waits', told
        # Whose files are not those of the daemon asks it.
        d.env['XDG_STATE_HOME'] = str(tmp_path / 'elsewhere')
        for words in (['status', name], ['why', name]):
            done = d.command(*words)
            assert done.returncode == 0 and name in done.stdout, (words, done)
        assert 'because' in done.stdout and 'hold' in done.stdout, done.stdout
        told = json.loads(d.command('status', name, '--json').stdout)
        assert [b['name'] for b in check_answer(told, 'status')['batches']] == [name]
        told = json.loads(d.command('why', 'other', '--json').stdout)
        assert check_answer(told, 'why')['verdict'] == 'done' and told['batch'] == 'other'
        assert json.loads(d.command('why', 'last', '--json').stdout)['batch'] == 'other'
        for words in (['status', 'nobody'], ['status', 'x' * 3000], ['why', 'nobody'],
                      ['why', 'x' * 3000]):
            assert d.command(*words).returncode == 3, words
        d.env['XDG_STATE_HOME'] = str(tmp_path / 'state')
    for words in (['status'], ['status', name], ['why', name]):  # and without the daemon
        done = d.command(*words)
        assert done.returncode == 0 and name in done.stdout, (words, done)
    assert d.command('why', f'{name}x').returncode == 3


def test_items_that_fail_are_seen(tmp_path):
    """Beside the grade, which knows that one of two servers says 404 to everything."""
    with Mock('--limit', 'window=1000/1h') as mock, Daemon(tmp_path) as d:
        lines = tmp_path / 'list'
        here = f'http://127.0.0.1:{d.port["public"]}/none'
        lines.write_text(''.join(f'{here}/{n}\n' for n in range(30)) +
                         ''.join(f'http://127.0.0.1:{mock.port}/{n}\n' for n in range(2000)))
        name = d.submit(list=str(lines))
        wait_for(lambda: d.batch(name)['items']['failed'] == 30)
        d.act('pause')
        wait_for(lambda: d.json('/healthz')['grade'] == 'degraded')
        text = d.command('status').stdout
        ended = d.batch(name)['items']['ended']
        assert f'providers degraded, 30 of {ended:,} items failed' in text, text
        assert '30 failed' in text, text


def test_batches_that_cannot_be(tmp_path):
    with Daemon(tmp_path) as d:
        for body in ('', '[]', '{"list":"relative"}', '{}', '{"urls":[1]}', '{"list":1}',
                     '{"urls":["http://a/"],"name":"../x"}', '{"a":1,"a":2}',
                     '{"list":"/none","output":"/tmp/x"}'):
            status, _, answer = d.ask('/admin/batch', method='POST', body=body)
            assert status == 422, (body, answer)
            assert json.loads(answer)['error']
        assert d.status()['batches'] == []


def test_batches_of_the_configuration(tmp_path):
    with Mock() as mock:
        path = write_list(tmp_path / 'list', mock.port, 20)
        with Daemon(tmp_path, f'batches:\n  mine:\n    list: {path}\n') as d:
            assert d.wait_ended('mine')['items']['ok'] == 20
        assert len((tmp_path / 'state/flyball/mine.jsonl').read_text().splitlines()) == 20


# ---------------------------------------------------------------------------------------- pages

def test_metrics_are_clean(tmp_path):
    with Mock('--limit', 'window=100/1s', '--fail', '20%') as mock, Daemon(tmp_path) as d:
        d.wait_ended(d.submit(list=write_list(tmp_path / 'list', mock.port, 40)))
        wait_for(lambda: b'flyball_rate_sent{provider="127' in d.ask('/metrics')[2])
        status, head, text = d.ask('/metrics')
        assert status == 200 and head['content-type'].startswith('text/plain; version=0.0.4')
        checked = subprocess.run(['promtool', 'check', 'metrics'], input=text, check=False,
                                 capture_output=True, timeout=PATIENCE_S)
        assert (checked.returncode, checked.stderr) == (0, b'')
        lines = [x.rsplit(' ', 1) for x in text.decode().splitlines() if not x.startswith('#')]
        assert len({name for name, _ in lines}) == len(lines), 'a series is there twice'
        value = dict(lines)
        labels = f'provider="127.0.0.1:{mock.port}",pool="default"'
        assert float(value['flyball_tasks_total{%s,outcome="ok"}' % labels]) == 40
        assert float(value['flyball_requests_total{%s,outcome="error"}' % labels]) > 0
        assert 'flyball_build_info{version="0.1.0"}' in value
        opened, reused = (float(value[f'flyball_connections_{x}_total'])
                          for x in ('opened', 'reused'))
        assert opened >= 1 and opened + reused >= 40
        assert float(value['flyball_connections_saturated']) == 0
        assert (float(value['flyball_connections_idle'])
                <= float(value['flyball_connections_open']) <= opened)
        assert (f'server_address="127.0.0.1",server_port="{mock.port}",'
                'network_protocol_version="1.1"') in text.decode()
        assert float(value['process_open_fds']) > 5

        _, head, text = d.ask('/metrics', Accept='application/openmetrics-text; version=1.0.0')
        assert head['content-type'].startswith('application/openmetrics-text')
        assert text.endswith(b'\n# EOF\n')
        assert b'# TYPE flyball_tasks counter' in text


def test_the_status_is_as_its_schema_says(tmp_path):
    config = ('providers:\n  it:\n    hosts: [127.0.0.1]\n'
              '    limit: pacing=demand reserve=10% adapt=off\n')
    with Mock('--limit', 'window=50/60s', '--dialect', 'github', '--fail', '5%') as mock, \
            Daemon(tmp_path, config) as d:
        for door in ('public', 'internal', 'control'):
            check_answer(d.status(door), 'status')
        d.submit(list=write_list(tmp_path / 'list', mock.port, 80), provider='it')

        def quota():
            return next((k['quota'] for k in d.status()['keys'] if 'quota' in k), None)
        assert wait_for(quota)['limit'] == 50
        assert quota()['reserve'] == 5
        for door in ('public', 'internal', 'control'):
            status = d.status(door)
            assert status['batches'] and status['failures']
            check_answer(status, 'status')
        check_answer(d.json('/view/top?json=1'), 'top')
        check_answer(d.json('/view/limits?json=1'), 'limits')
        check_answer(d.json('/view/audit?json=1'), 'audit')


def test_a_trace_is_carried_on(tmp_path):
    trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    config = f'log:\n  level: debug\n  file: {tmp_path}/own.log\n'
    seen = []

    class Origin(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.headers['traceparent'])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass
    with ThreadingHTTPServer(('127.0.0.1', 0), Origin) as origin, Daemon(tmp_path, config) as d:
        threading.Thread(target=origin.serve_forever, daemon=True).start()
        url = f'http://127.0.0.1:{origin.server_address[1]}/'
        for given, expected in ((trace, trace), ('00-nonsense', None)):
            body = json.dumps({'urls': [url], 'output': f'{tmp_path}/{len(given)}.jsonl'})
            answer = d.json('/admin/batch', method='POST', body=body, traceparent=given)
            d.wait_ended(answer['batch'])
            assert seen.pop() == expected
            d.env['TRACEPARENT'] = given
            own = f'{tmp_path}/own{len(given)}.jsonl'
            done = d.command('fetch', '--submit', url, '--jsonl', own)
            assert done.returncode == 0, done.stderr
            d.wait_ended(done.stdout.partition(',')[0])
            assert seen.pop() == expected
        exact = 'application/openmetrics-text'
        wait_for(lambda: b'# {trace_id="0af7651916cd43dd8448eb211c80319c"} '
                 in d.ask('/metrics', Accept=exact)[2])
        assert b'trace_id' not in d.ask('/metrics')[2]
        wait_for(lambda: '"trace_id":"0af7651916cd43dd8448eb211c80319c"'
                 in (tmp_path / 'own.log').read_text())
        origin.shutdown()


def test_events_and_who_comes_back(tmp_path):
    with Daemon(tmp_path) as d:
        with d.events() as e:
            d.act('recycle')
            first = e.next('audit')
            assert first['data']['kind'] == 'recycle' and first['data']['cause'] == 'operator'
            assert e.next('tick')['data']['grade'] == 'healthy'
        d.act('pause')
        d.act('resume')
        with d.events(last=first['id']) as e:
            again = [e.next('audit') for _ in range(2)]
            assert [x['data']['kind'] for x in again] == ['pause', 'resume']
        with d.events(last='1-1') as e:
            assert e.next()['event'] == 'gap'
            while e.next('audit')['data']['kind'] != 'resume':
                pass
        assert d.ask('/events', 'public', Host='evil.test')[0] == 403


def test_too_many_who_listen(tmp_path):
    with Daemon(tmp_path) as d:
        clients = []

        def one_more():
            client = d.connection('public')
            client.request('GET', '/events')
            answer = client.getresponse()
            clients.append((client, answer))
            return answer.status
        while one_more() == 200:
            assert len(clients) <= 256
        assert clients[-1][1].status == 503 and len(clients) > 64
        for which in (0, 0):
            for part in clients.pop(which):
                part.close()
        wait_for(lambda: f'flyball_event_clients {len(clients) - 1}\n'.encode()
                 in d.ask('/metrics')[2])
        assert wait_for(lambda: one_more() == 200)
        for client, answer in clients:
            answer.close()
            client.close()


def test_figures_as_rows(tmp_path):
    own = tmp_path / 'figures.csv'
    with Mock() as mock, Daemon(tmp_path, f'metrics:\n  csv: {own}\n  series: 2\n') as d:
        where = f'127.0.0.1:{mock.port}'
        d.wait_ended(d.submit(list=write_list(tmp_path / 'list', mock.port, 30)))

        def sent():
            rows = list(csv.DictReader(own.read_text().split('\n')))
            return sum(float(r['sent'] or 0) for r in rows if r['provider'] == where) == 30
        wait_for(sent)
        own.rename(tmp_path / 'old.csv')
        os.kill(d.process.pid, signal.SIGUSR1)
        wait_for(own.exists)
        # Two label sets: that provider, and all others.
        with Mock() as other:
            d.wait_ended(d.submit(list=write_list(tmp_path / 'more', other.port, 5),
                                  output=str(tmp_path / 'more.jsonl')))
        wait_for(lambda: 'other,other,' in own.read_text())
        assert f'"127.0.0.1:{other.port}"'.encode() not in d.ask('/metrics')[2]


def test_history(tmp_path):
    with Mock() as mock, Daemon(tmp_path) as d:
        d.wait_ended(d.submit(list=write_list(tmp_path / 'list', mock.port, 30)))

        def sent():
            h = d.json('/history?step=1', 'public')
            return [s for s in h['series'] if s['provider'].endswith(str(mock.port))
                    and sum(x or 0 for x in s['sent']) == 30]
        assert wait_for(sent)
        assert 'watch' in d.json('/history?watch=1', 'public')
        assert 'series' in d.json('/history?watch=0', 'public')
        assert set(d.json('/history?watch=1&figure=recoveries', 'public')['watch']) <= {
            'recoveries'}
        # What is not understood is not passed over.
        for words in ('watch=true', 'watch=', 'watch=10', 'watch=' + '1' * 40, 'figure=nothing',
                      'figure=' + 'sent' * 20, 'step=' + '1' * 40, 'samples=' + '1' * 40,
                      'provider=' + 'x' * 200, 'pool=' + 'x' * 200, 'figure=%zz'):
            assert d.ask(f'/history?{words}', 'public')[0] == 400, words


# --------------------------------------------------------------------------------------- actions

def test_switching_a_provider_off_and_on(tmp_path):
    with Mock('--limit', 'window=20/1s', '--dialect', 'none') as mock:
        port = mock.port
        config = f'providers:\n  it:\n    hosts: [127.0.0.1]\n    limit: rate=20/s burst=1\n'
        with Daemon(tmp_path, config) as d:
            name = d.submit(list=write_list(tmp_path / 'list', port, 60), provider='it')
            mock.wait_for(lambda s: s['arrivals'] >= 5)
            assert d.command('provider', 'disable', 'it').returncode == 0
            wait_for(lambda: d.status()['queue']['active_tasks'] == 0)
            before = mock.stats()['arrivals']
            time.sleep(1)
            assert mock.stats()['arrivals'] == before < 60
            assert not d.status()['keys'][0]['enabled']
            assert d.command('provider', 'enable', 'it').returncode == 0
            assert d.wait_ended(name)['items']['ok'] == 60
            done = d.command('provider', 'disable', 'nobody')
            assert done.returncode == 2 and 'nobody' in done.stderr
            kinds = [e['kind'] for e in d.json('/view/audit?json=1')['events']]
            assert 'disable' in kinds and 'enable' in kinds


def test_whoever_is_off_is_seen(tmp_path):
    """With nothing sent, and with something queued: what is off, and what turns it on."""
    provider = 'providers:\n  it:\n    hosts: [127.0.0.1]\n    enabled: false\n'
    how = 'flyball provider enable it'

    def off(d):
        said = d.ask('/metrics')[2].decode()
        return 'flyball_provider_disabled{provider="it",pool="default"} 1' in said

    with Mock() as mock, Daemon(tmp_path, provider) as d:
        url = f'http://127.0.0.1:{mock.port}/i/1'
        wait_for(lambda: off(d))
        (key,) = d.status()['keys']
        assert (key['provider'], key['state'], key['enabled']) == ('it', 'idle', False)
        name = None
        for queued in (0, 5):
            if queued:
                name = d.submit(list=write_list(tmp_path / 'list', mock.port, queued),
                                provider='it')
                wait_for(lambda: d.status()['keys'][0]['queued'] == queued)
            (key,) = d.status()['keys']
            assert (key['cause'], key['may_start']) == ('disabled', False)
            assert key['state'] == ('holding' if queued else 'idle')
            check_answer(d.json('/status'), 'status')
            shown = d.command('status').stdout
            assert f'it is switched off; turn it on with: {how}' in shown
            assert 'with an answer' not in shown and 'switched off' in shown.split('\n')[3]
            for subject in (url, 'it'):
                why = d.command('why', subject)
                assert why.returncode == 0
                assert 'waits\n' in why.stdout and 'switched off' in why.stdout
                assert how in why.stdout
            told = json.loads(d.command('why', url, '--json').stdout)
            check_answer(told, 'why')
            assert (told['verdict'], told['cause']) == ('waits', 'disabled')
            assert told['change'].endswith(how)
        assert d.command('provider', 'enable', 'it').returncode == 0
        assert d.wait_ended(name)['items']['ok'] == 5
        wait_for(lambda: not off(d))
        assert 'switched off' not in d.command('status').stdout


def test_commands_without_a_daemon(tmp_path):
    env = {**os.environ, 'XDG_RUNTIME_DIR': str(tmp_path), 'HOME': str(tmp_path)}
    for words in (['reload'], ['recycle'], ['provider', 'enable', 'x'],
                  ['fetch', '--submit', 'http://127.0.0.1/']):
        done = subprocess.run([FLYBALL, *words], env=env, text=True, capture_output=True,
                              check=False, timeout=PATIENCE_S)
        assert done.returncode == 3, words
        assert f'{tmp_path}/flyball/control.sock' in done.stderr
        assert 'start it with: flyball serve' in done.stderr


# ---------------------------------------------------------------------------------------- reload

def test_reload_in_place(tmp_path):
    config = 'concurrency:\n  total: {}\n'
    with Daemon(tmp_path, config.format(7)) as d:
        assert d.status()['config']['concurrency_total'] == 7
        d.file.write_text(config.format(8))
        assert d.command('reload').returncode == 0
        assert d.status()['config']['concurrency_total'] == 8

        d.file.write_text(config.format(9))
        os.kill(d.process.pid, signal.SIGHUP)
        wait_for(lambda: d.status()['config']['concurrency_total'] == 9)

        d.file.write_text(config.format(10))  # nobody says a word
        wait_for(lambda: d.status()['config']['concurrency_total'] == 10)


def test_the_quota_is_known_from_the_start(tmp_path, origin):
    """The path that tells it is asked before anything else; status and limits show it."""
    config = ('providers:\n  mine:\n    hosts: [127.0.0.1]\n    limit: adapt=off pacing=demand\n'
              '    quota: /left/3000\n    pools:\n      search: {path: /i/7}\n      core: {}\n')
    with Daemon(tmp_path, config) as d:
        port = origin.url.rpartition(':')[2]
        d.submit(list=write_list(tmp_path / 'list', port, 9))
        wait_for(lambda: len(origin.arrivals) >= 2)
        keys = wait_for(lambda: {k['pool']: k for k in d.status()['keys']
                                 if k['pool'] != 'quota' and 'quota' in k})
        assert (keys['core']['quota']['remaining'], keys['core']['state']) == (0, 'holding')
        assert keys['core']['told_by'] == '/left/3000' and keys['core']['queued'] == 8
        assert 'Remaining: 0 / 100' in d.command('limits').stdout
        assert 'waits until' in d.command('why', 'mine/core').stdout
        assert [a['path'] for a in origin.arrivals] == ['/left/3000', '/i/7']


def test_a_reload_switches_providers(tmp_path):
    """Off and on by the file; and on where the file says no more that it is off."""
    provider = 'providers:\n  it:\n    hosts: [127.0.0.1]\n    enabled: {}\n'
    other = 'providers:\n  other:\n    hosts: [other.example]\n'
    with Mock() as mock, Daemon(tmp_path, provider.format('true')) as d:
        at = 1
        for change in (provider.format('true'), other, ''):
            d.configure(provider.format('false'))
            assert d.act('reload')[0] == 200
            name = d.submit(list=write_list(tmp_path / f'list{at}', mock.port, 3, first=at),
                            output=str(tmp_path / f'out{at}'), provider='it')
            wait_for(lambda: d.status()['queue']['length'] == 3)
            assert mock.stats()['arrivals'] == at - 1
            d.configure(change or '# nothing\n')
            assert d.act('reload')[0] == 200
            assert d.wait_ended(name)['items']['ok'] == 3
            at += 3
        # What an operator has switched is not the file's: it stays.
        assert d.command('provider', 'disable', 'it').returncode == 0
        d.configure(other)
        assert d.act('reload')[0] == 200
        assert not d.status()['keys'][0]['enabled']


def test_what_has_changed_is_told(tmp_path):
    with Daemon(tmp_path, 'concurrency:\n  total: 7\n') as d:
        d.configure('concurrency:\n  total: 8\nlisteners:\n  admin:\n    socket: /tmp/other\n')
        assert d.act('reload')[0] == 200
        assert d.act('reload')[0] == 200
        told = [e['text'] for e in d.json('/view/audit?json=1')['events'] if e['kind'] == 'reload']
        assert any('concurrency.total' in t for t in told), told
        assert any(t.endswith('changed: nothing') for t in told), told
        assert 'listeners.admin.socket: takes effect at the next start' in d.log.read_text()


def test_a_credential_is_rotated(tmp_path):
    """Another secret in its file while a batch runs: nothing is lost, and the new one is used."""
    seen = []

    class Origin(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def do_GET(self):
            seen.append(self.headers['Authorization'])
            self.send_response(200)
            self.send_header('Content-Length', '0')
            self.end_headers()

        def log_message(self, *_):
            pass
    secret = tmp_path / 'secret'
    secret.write_text('first\n')
    config = ('providers:\n  it:\n    hosts: [127.0.0.1]\n    limit: rate=100/s burst=1\n'
              f'    credentials:\n      own:\n        file: {secret}\n')
    with ThreadingHTTPServer(('127.0.0.1', 0), Origin) as origin, Daemon(tmp_path, config) as d:
        threading.Thread(target=origin.serve_forever, daemon=True).start()
        name = d.submit(list=write_list(tmp_path / 'list', origin.server_address[1], 800))
        wait_for(lambda: len(seen) >= 5)
        secret.unlink()  # gone for a moment: the old one is used on
        assert d.act('reload')[0] == 200
        before = len(seen)
        wait_for(lambda: len(seen) >= before + 5)
        secret.write_text('second\n')
        assert d.act('reload')[0] == 200
        assert d.wait_ended(name)['items']['ok'] == 800
        origin.shutdown()
    assert set(seen) == {'Bearer first', 'Bearer second'}
    assert seen[-1] == 'Bearer second' and seen.index('Bearer second') > before
    assert 'first' not in d.log.read_text() and 'second' not in d.log.read_text()


def test_a_file_with_a_mistake_changes_nothing(tmp_path):
    with Daemon(tmp_path, 'concurrency:\n  total: 7\n') as d:
        d.file.write_text('concurrency:\n  total: many\n')
        done = d.command('reload')
        assert done.returncode == 2
        assert 'flyball.yaml:2:' in done.stderr
        status = d.status()
        assert status['config']['concurrency_total'] == 7
        assert 'flyball.yaml:2:' in status['note']
        assert not status['reload']['in_force']
        assert 'flyball.yaml' not in d.status('public')['note']
        assert 'flyball.yaml:2:' in d.log.read_text()
        d.file.write_text('concurrency:\n  total: 8\n')
        assert d.command('reload').returncode == 0
        assert d.status()['note'] is None


def test_log_and_figures_are_opened_anew(tmp_path):
    """By a signal and by an action, which does the same; both are in the audit."""
    own, rows = tmp_path / 'own.log', tmp_path / 'rows.csv'
    config = f'log:\n  file: {own}\nmetrics:\n  csv: {rows}\n  every: 1s\n'
    with Daemon(tmp_path, config) as d:
        for i, cause in enumerate(('SIGUSR1', 'operator')):
            wait_for(lambda: own.exists() and own.read_text() and rows.exists())
            own.rename(tmp_path / f'{i}.log')
            rows.rename(tmp_path / f'{i}.csv')
            if cause == 'operator':
                assert d.act('log/reopen')[0] == 200
            else:
                os.kill(d.process.pid, signal.SIGUSR1)
            wait_for(lambda: own.exists() and rows.exists())
            audit = wait_for(lambda: [e['cause'] for e in d.json('/view/audit?json=1')['events']
                                      if e['kind'] == 'reopen'])
            assert cause in audit and len(audit) == i + 1
            d.act('recycle')
            wait_for(lambda: 'recycle' in own.read_text())
        for line in (tmp_path / '0.log').read_text().splitlines():
            assert list(json.loads(line))[:3] == ['time', 'level', 'event']
        # What cannot be opened is said, and the old one goes on.
        own.unlink()
        own.mkdir()
        status, _, body = d.act('log/reopen')
        assert status == 500 and 'own.log' in json.loads(body)['error']


# --------------------------------------------------------------------------------------- the end

def test_the_end_lets_what_is_under_way_end(tmp_path):
    with Mock('--latency', '500ms') as mock, Daemon(tmp_path) as d:
        path = write_list(tmp_path / 'list', mock.port, 200)
        d.submit(list=path)
        mock.wait_for(lambda s: s['arrivals'] >= 1)
        d.process.send_signal(signal.SIGTERM)
        d.process.wait(timeout=PATIENCE_S)
        ended = len(results(d))
        assert 1 <= ended < 200
        assert mock.stats()['aborted'] == 0
        # The next daemon goes on where this one was.
        with Daemon(tmp_path) as again:
            again.wait_ended(again.submit(list=path))
            ids = [r['id'] for r in results(again)]
            assert len(ids) == len(set(ids)) == 200


def test_a_second_signal_ends_it_at_once(tmp_path):
    with Mock('--latency', '60s') as mock, Daemon(tmp_path) as d:
        d.submit(list=write_list(tmp_path / 'list', mock.port, 3))
        mock.wait_for(lambda s: s['arrivals'] >= 1)
        d.process.send_signal(signal.SIGTERM)
        wait_for(lambda: 'stopping' in d.log.read_text())
        d.process.send_signal(signal.SIGTERM)
        d.process.wait(timeout=30)  # not the sixty seconds of an answer


def test_signals_at_any_time(tmp_path):
    """TERM while it starts and while it reloads, and all of them together."""
    for delay in (0, 0.002, 0.01, 0.03):
        d = Daemon(tmp_path)
        with d.log.open('a') as log:
            process = subprocess.Popen(d.words, cwd=tmp_path, env=d.env, stderr=log,
                                       stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE_S) in (0, -signal.SIGTERM), d.log.read_text()
    with Daemon(tmp_path) as d:
        for _ in range(20):
            for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGHUP):
                d.process.send_signal(number)
        d.process.send_signal(signal.SIGTERM)


def test_the_service_manager_is_told(tmp_path):
    path = tmp_path / 'notify'
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(path))
        manager.settimeout(PATIENCE_S)

        def heard(word):
            while word not in manager.recv(4096).decode().splitlines():
                pass
        env = {'NOTIFY_SOCKET': str(path), 'WATCHDOG_USEC': '200000'}
        with Daemon(tmp_path, env=env) as d:
            heard('READY=1')
            heard('WATCHDOG=1')
            d.act('reload')
            heard('RELOADING=1')
            heard('READY=1')
            d.process.send_signal(signal.SIGTERM)
            heard('STOPPING=1')


# ------------------------------------------------------------------------------------- questions

def test_commands_ask_the_daemon(tmp_path):
    with Mock() as mock, Daemon(tmp_path) as d:
        d.wait_ended(d.submit(list=write_list(tmp_path / 'list', mock.port, 10), name='mine'))
        where = f'127.0.0.1:{mock.port}'
        for words, schema in [(['status'], 'status'), (['limits'], 'limits'),
                              (['top', '--once'], 'top'), (['audit'], 'audit'),
                              (['why', f'http://{where}/x?key=secret'], 'why')]:
            done = d.command(*words, '--json')
            assert done.returncode == 0, done.stderr
            answer = json.loads(done.stdout)
            assert answer['schema'] == f'flyball.{schema}/1'
            assert 'secret' not in done.stdout
        assert json.loads(d.command('status', '--json').stdout)['source'] == 'daemon'
        for words, part in [(['status'], 'mine'), (['limits'], where), (['learned'], where),
                            (['audit'], 'submit'), (['why', where], where)]:
            done = d.command(*words)
            assert done.returncode == 0 and part in done.stdout, (words, done.stdout, done.stderr)
        assert d.command('learned', 'reset', '--yes').returncode == 0
        assert 'forget' in d.command('audit').stdout
    assert d.command('audit').returncode == 3


def test_status_without_anything(tmp_path):
    env = {**os.environ, 'XDG_RUNTIME_DIR': str(tmp_path), 'HOME': str(tmp_path),
           'XDG_STATE_HOME': str(tmp_path)}
    for words in (['status'], ['status', '--json'], ['audit']):
        done = subprocess.run([FLYBALL, *words], env=env, text=True, capture_output=True,
                              check=False, timeout=PATIENCE_S)
        assert done.returncode == 3, done
        assert f'{tmp_path}/flyball/control.sock' in done.stderr
        assert 'start it with: flyball serve' in done.stderr


# --------------------------------------------------------------------------------------- secrets

def test_a_secret_is_nowhere(tmp_path):
    """Put in twelve places, and looked for in all that is written or shown."""
    canary = 'CANARY9f3a'
    config = ('log:\n  level: debug\n  file: {0}/own.log\n'
              'listeners:\n  internal:\n    token_env: TOKEN\n'
              'providers:\n  it:\n    hosts: [127.0.0.1]\n'
              '    credentials:\n      first:\n        env: KEY\n'
              'alerts:\n  wait: 1s\n  webhook: http://127.0.0.1:1/{1}-hook?{1}=1&b={1}\n'
              ).format(tmp_path, canary)
    env = {'TOKEN': f'{canary}-token', 'KEY': f'{canary}-env'}
    with Mock('--fail', '10%') as mock, Daemon(tmp_path, config, env=env) as d:
        base = f'http://{canary}-user:{canary}-password@127.0.0.1:{mock.port}'
        tasks = [{'url': f'{base}/{i}?api_key={canary}-query&status={status}#{canary}-fragment',
                  'headers': {'Authorization': f'Bearer {canary}-header',
                              'Cookie': f'sid={canary}-cookie', 'X-Token': f'{canary}-x'},
                  'alternatives': [f'http://127.0.0.1:1/?sig={canary}-alternative'],
                  'id': str(i)}
                 for i, status in enumerate([200] * 6 + [404, 500, 429, 200, 200])]
        tasks.append({'url': f'http://127.0.0.1:{mock.port}/post', 'method': 'POST',
                      'body': f'{canary}-body', 'id': 'post'})
        (tmp_path / 'list').write_text(''.join(json.dumps(t) + '\n' for t in tasks))
        with d.events() as e:
            name = d.submit(list=str(tmp_path / 'list'), no_bodies=True)
            wait_for(lambda: mock.stats()['arrivals'] >= 8)
            shown = [d.ask(path, door)[2].decode() for path, door in [
                ('/status', 'public'), ('/status', 'control'), ('/history', 'public'),
                ('/', 'public'), *((path, 'control') for path in inside())]]
            shown.append(json.dumps(e.next()))
            d.ask('/admin/batch/stop?batch=' + name, method='POST')
            d.wait_ended(name)
        shown.append(d.ask(f'/view/why?subject={base}/x?api_key={canary}', 'control')[2].decode())
        shown += [d.ask(path, 'control')[2].decode() for path in inside()]
        for words in (['status'], ['limits', '-v'], ['learned', '-v'], ['audit'], ['deferred'],
                      *(['config', 'show', how, str(d.file)] for how in ('--origin', '--json'))):
            done = d.command(*words)
            assert done.returncode == 0, done.stderr
            shown.append(done.stdout + done.stderr)
    for text in shown:
        assert canary not in text
    assert sum('http://127.0.0.1:1/...' in text for text in shown) >= 6  # the settings were there
    for path in tmp_path.rglob('*'):
        # The list and the file are where it was put; results name the URLs that were asked for.
        if path.is_file() and path.name not in ('list', 'flyball.yaml', 'out.jsonl'):
            assert canary.encode() not in path.read_bytes(), path
