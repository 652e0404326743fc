# SPDX-License-Identifier: MIT
"""`flyball config`, and `flyball fetch` under a configuration."""
import json
import os
import subprocess

import jsonschema
import pytest
import yaml

from batch import FLYBALL, LONG_S, ROOT

GOOD = sorted((ROOT / 'tests/vectors/config/good').glob('*.yaml'))
BAD = sorted((ROOT / 'tests/vectors/config/bad').glob('*.yaml'))
CANARY = 'CANARY9f3a'


def config(folder, *words, **environment):
    env = {'HOME': str(folder), 'PATH': os.environ['PATH'], **environment}
    return subprocess.run([FLYBALL, 'config', *words], cwd=folder, env=env, text=True,
                          capture_output=True, check=False, timeout=LONG_S)


def test_mistakes_have_a_caret_below_their_line(tmp_path):
    (tmp_path / 'bad.yaml').write_text('providers:\n  github:\n    rat: 5/s\nmode: fast\n')
    done = config(tmp_path, 'check', 'bad.yaml')
    assert (done.returncode, done.stdout) == (2, '')
    lines = done.stderr.splitlines()
    assert lines[0].startswith("bad.yaml:3:5: unknown key 'rat', expected one of ")
    assert lines[0].endswith("(did you mean 'rate'?)")
    assert lines[1:3] == ['    3 |     rat: 5/s', '      |     ^']
    assert lines[3] == 'bad.yaml:4:7: mode: expected graceful, strict or offline, found "fast"'
    assert lines[4:] == ['    4 | mode: fast', '      |       ^']


def test_every_wrong_file_is_refused_with_its_sentences(tmp_path):
    assert len(BAD) >= 60
    for path in BAD:
        (tmp_path / path.name).write_bytes(path.read_bytes())
        done = config(tmp_path, 'check', path.name)
        told = [line for line in done.stderr.splitlines() if not line[:5].strip().isdigit()
                and not line.startswith('      |')]
        assert (done.returncode, told) == (2, path.with_suffix('.told').read_text().splitlines())
        assert CANARY not in done.stderr


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    done = config(tmp_path, 'check', 'none.yaml')
    assert (done.returncode, done.stderr) == (2, 'none.yaml: there is no such file\n')


@pytest.mark.parametrize('bomb', [
    b'a: &a [x, x]\nb: &b [*a, *a]\n' * 1000, b'[' * 1_000_000, b'{a: ' * 200_000,
    b'x' * 100_000_000, b'a:\n' * 300_000, b'- ' * 400_000,
    b'"' + b'\\x41' * 200_000, b'? ' * 300_000,
    b'providers:\n  a: {hosts: [' + b', '.join(b'h%d.example' % i for i in range(60_000)) + b']}\n'
    b'  b: {hosts: [' + b', '.join(b'h%d.example' % i for i in range(10_000)) + b']}\n',
], ids=['aliases', 'lists', 'maps', 'large', 'twice', 'dashes', 'escapes', 'keys', 'hosts'])
def test_bombs_are_refused_with_little_memory(tmp_path, bomb):
    (tmp_path / 'bomb.yaml').write_bytes(bomb)
    # 64 MB of addresses and a second of the processor: beyond either it would not end like this.
    command = f'ulimit -v 65536; ulimit -t 1; exec {FLYBALL} config check bomb.yaml'
    done = subprocess.run(['/bin/sh', '-c', command],
                          cwd=tmp_path, env={'HOME': str(tmp_path)}, text=True, errors='replace',
                          capture_output=True, check=False, timeout=LONG_S)
    assert done.returncode == 2, done.stderr[:300]
    assert len(done.stderr) < 100_000


@pytest.mark.parametrize('path', GOOD, ids=lambda p: p.stem)
def test_what_is_shown_loads_back(tmp_path, path):
    shown = config(tmp_path, 'show', str(path))
    assert shown.returncode == 0, shown.stderr
    (tmp_path / 'shown.yaml').write_text(shown.stdout)
    again = config(tmp_path, 'show', 'shown.yaml')
    assert (again.returncode, again.stdout) == (0, shown.stdout)
    told = json.loads(config(tmp_path, 'show', '--json', str(path)).stdout)
    back = json.loads(config(tmp_path, 'show', '--json', 'shown.yaml').stdout)
    assert told['schema'] == 'flyball.config/1'
    assert told['config'] == back['config']


def test_each_value_knows_its_origin(tmp_path):
    (tmp_path / 'flyball.yaml').write_text('providers:\n  github: {rate: 0.5/s}\nretries: 4\n')
    done = config(tmp_path, 'show', '--json', '--set', 'timeouts.connect=1s',
                  FLYBALL_PROVIDERS__GITHUB__LIMIT__BURST='3')
    origins = json.loads(done.stdout)['origins']
    assert origins['providers.github.limit.rate'] == './flyball.yaml:2:18'
    assert origins['providers.github.limit.burst'] == \
        'environment FLYBALL_PROVIDERS__GITHUB__LIMIT__BURST'
    assert origins['providers.github.limit.window'] == 'preset github'
    assert origins['timeouts.connect'] == 'flag --set timeouts.connect'
    assert origins['timeouts.total'] == 'default'
    assert origins['retries'] == './flyball.yaml:3:10'


def test_secrets_are_not_shown(tmp_path):
    (tmp_path / 'token').write_text(CANARY + '\n')
    (tmp_path / 'flyball.yaml').write_text(
        'providers:\n  github:\n    credentials:\n      a: {env: MY_TOKEN}\n'
        '      b: {file: token}\n      c: {env: NOT_SET}\n')
    for words in (['show'], ['show', '--origin'], ['show', '--json'], ['check']):
        done = config(tmp_path, *words, MY_TOKEN=CANARY)
        assert done.returncode == 0 and CANARY not in done.stdout + done.stderr
    shown = config(tmp_path, 'show', '--origin', MY_TOKEN=CANARY).stdout
    hashes = [line.rpartition(' ')[2] for line in shown.splitlines() if 'set, hash' in line]
    assert len(hashes) == 2 and hashes[0] == hashes[1]
    assert 'the variable NOT_SET is not set' in shown


def test_the_first_file_is_right_and_is_not_written_twice(tmp_path):
    assert config(tmp_path, 'init', 'flyball.yaml').returncode == 0
    assert config(tmp_path, 'check').returncode == 0
    first = (tmp_path / 'flyball.yaml').read_text()
    again = config(tmp_path, 'init', 'flyball.yaml')
    assert again.returncode == 1 and 'File exists' in again.stderr
    assert config(tmp_path, 'init').stdout == first


def test_the_usual_places(tmp_path):
    (tmp_path / '.config/flyball').mkdir(parents=True)
    (tmp_path / '.config/flyball/flyball.yaml').write_text('retries: 7\n')
    (tmp_path / 'named.yaml').write_text('retries: 8\n')
    assert 'retries: 7\n' in config(tmp_path, 'show').stdout
    (tmp_path / 'flyball.yaml').write_text('retries: 6\n')
    assert 'retries: 6\n' in config(tmp_path, 'show').stdout
    assert 'retries: 8\n' in config(tmp_path, 'show', FLYBALL_CONFIG='named.yaml').stdout
    assert 'no such file' in config(tmp_path, 'show', FLYBALL_CONFIG='gone.yaml').stderr


def test_usage(tmp_path):
    for words in ([], ['chekc'], ['check', 'a', 'b']):
        done = config(tmp_path, *words)
        assert done.returncode == 2 and done.stderr.startswith('flyball config: ')


# ------------------------------------------------------------------------------------- the schema

def value_of(schema, path):
    for part in path.split('.'):
        if 'anyOf' in schema:
            schema = next(s for s in schema['anyOf'] if 'properties' in s)
        schema = schema['additionalProperties'] if part == '*' else schema['properties'][part]
    return schema


def test_keys_and_schema_say_the_same(tmp_path):
    keys = json.loads(config(tmp_path, 'keys', '--json').stdout)['keys']
    schema = json.loads(config(tmp_path, 'schema').stdout)
    assert schema['$schema'] == 'https://json-schema.org/draft/2020-12/schema'
    assert len(keys) > 120
    for key in keys:
        part = value_of(schema, key['path'])
        assert part['description'] == key['about']
        default = part.get('default')
        assert (None if default is None else str(default).replace('True', 'true')
                .replace('False', 'false')) == key['default']
    listed = config(tmp_path, 'keys').stdout
    assert all(key['path'] in listed for key in keys if key['type'] != 'section')


def test_the_schema_takes_what_the_loader_takes(tmp_path):
    schema = json.loads(config(tmp_path, 'schema').stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    checker = jsonschema.Draft202012Validator(schema)
    for path in GOOD:
        content = yaml.safe_load(path.read_text())
        assert not content or not list(checker.iter_errors(content)), path.name
        shown = json.loads(config(tmp_path, 'show', '--json', str(path)).stdout)['config']
        assert not list(checker.iter_errors(shown)), path.name
    for text in ('mode: fast', 'provders: {}', 'retries: -1', 'timeouts: {connect: soon}'):
        assert list(checker.iter_errors(yaml.safe_load(text))), text


def test_examples_are_right(tmp_path):
    examples = sorted((ROOT / 'examples').rglob('*.yaml'))
    assert examples
    for path in examples:
        done = config(tmp_path, 'check', str(path))
        assert (done.returncode, done.stderr) == (0, ''), path
    for name in ('flyball.yaml.5', 'flyball-watch.5'):
        page = (ROOT / 'docs/man' / name).read_text()
        (tmp_path / 'page.yaml').write_text(page.partition('.Bd -literal\n')[2].partition('.Ed')[0])
        assert config(tmp_path, 'check', 'page.yaml').returncode == 0, name


def test_keys_are_completed(tmp_path):
    for shell in ('bash', 'zsh', 'fish'):
        script = subprocess.run([FLYBALL, 'completion', shell], text=True, capture_output=True,
                                check=True).stdout
        assert 'timeouts.connect=' in script and 'providers.*' not in script


# ------------------------------------------------------------------------------------------ fetch

def write_config(batch, text):
    path = batch.folder / 'job.yaml'
    path.write_text(text)
    return path


def headers_of(origin):
    with origin.lock:
        return [{k.lower(): v for k, v in a['headers'].items()} for a in origin.arrivals]


def test_fetch_sends_as_configured(batch, origin):
    path = write_config(batch, 'providers:\n  mine:\n    hosts: [127.0.0.1]\n'
                        '    limit: adapt=off concurrency=3\n    headers: {X-Hello: there}\n'
                        '    credentials:\n      gone: {env: NOT_SET}\n'
                        '      main: {env: MY_TOKEN}\n'
                        'connect: {contact: me@example.com}\nstore: {folder: kept}\n'
                        'ledger: {path: books}\n')
    batch.env['MY_TOKEN'] = CANARY
    done = batch.run('--config', path, '--jsonl', batch.out, '-q', f'{origin.url}/ok/{{1..5}}')
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')
    sent = headers_of(origin)
    assert len(sent) == 5
    for headers in sent:
        assert headers['authorization'] == f'Bearer {CANARY}'
        assert headers['x-hello'] == 'there'
        assert headers['user-agent'].endswith(' (mailto:me@example.com)')
    assert (batch.folder / 'books').exists()
    assert sorted(p.suffix for p in (batch.folder / 'kept').iterdir()
                  if p.suffix == '.journal') == ['.journal']
    for file in (p for p in batch.folder.rglob('*') if p.is_file()):
        assert CANARY.encode() not in file.read_bytes(), file


QUOTA = ('providers:\n  mine:\n    hosts: [127.0.0.1]\n    limit: adapt=off pacing=demand\n'
         '    quota: /left/4\n    credentials:\n      main: {env: MY_TOKEN}\n'
         '    pools:\n      search: {path: /ok/search}\n      core: {}\n')


def test_a_quota_that_is_told_for_free(batch, origin):
    """It is asked first, once, with the credential; what it says of each pool holds."""
    path = write_config(batch, QUOTA)
    batch.env['MY_TOKEN'] = CANARY
    done = batch.run('--config', path, '--jsonl', batch.out, '-q',
                     *(f'{origin.url}/ok/{x}' for x in ('1', '2', 'search/1')))
    assert done.returncode == 0, done.stderr
    with origin.lock:
        arrivals = list(origin.arrivals)
    assert [a['path'] for a in arrivals][:2] == ['/left/4', '/ok/search/1']
    assert {a['path'] for a in arrivals[2:]} == {'/ok/1', '/ok/2'} and len(arrivals) == 4
    assert {a['headers']['Authorization'] for a in arrivals} == {f'Bearer {CANARY}'}
    assert arrivals[1]['at'] - arrivals[0]['at'] < 2 < arrivals[2]['at'] - arrivals[0]['at']
    assert len(batch.results()) == 3


def test_a_credential_stays_with_its_hosts(batch, origin):
    path = write_config(batch, 'providers:\n  mine:\n    hosts: [localhost]\n'
                        '    limit: adapt=off\n    credentials:\n'
                        '      main: {env: MY_TOKEN, header: Private-Token}\n')
    batch.env['MY_TOKEN'] = CANARY
    there = origin.url.replace('127.0.0.1', 'localhost')
    done = batch.run('--config', path, '--jsonl', batch.out, '-q', '--provider', 'mine',
                     '--resolve', f'localhost:{origin.url.rpartition(":")[2]}:127.0.0.1',
                     f'{origin.url}/ok/1', f'{there}/ok/2', f'{there}/to?{origin.url}/ok/3')
    assert done.returncode == 0, done.stderr
    with origin.lock:
        sent = {a['path']: a['headers'].get('Private-Token') for a in origin.arrivals}
    assert sent == {'/ok/1': None, '/ok/2': CANARY, f'/to?{origin.url}/ok/3': CANARY,
                    '/ok/3': None}


def test_without_its_secret_or_switched_off_nothing_is_sent(batch, origin):
    path = write_config(batch, 'providers:\n  mine: {hosts: [127.0.0.1], enabled: false}\n')
    done = batch.run('--config', path, '--jsonl', batch.out, '-q', f'{origin.url}/ok/1')
    assert done.returncode == 5
    assert batch.results()[0]['error']['text'] == 'the provider mine is switched off'
    path.write_text('providers:\n  mine:\n    hosts: [127.0.0.1]\n'
                    '    credentials: {main: {env: NOT_SET}}\n')
    done = batch.run('--config', path, '--jsonl', batch.out, '-q', '--fresh', f'{origin.url}/ok/1')
    assert done.returncode == 5
    assert 'the variable NOT_SET is not set' in batch.results()[0]['error']['text']
    assert not headers_of(origin)


def plan_of(batch, *words):
    done = batch.run('--plan', *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_flags_come_before_the_file(batch, origin):
    path = write_config(batch, 'providers:\n  mine:\n    hosts: [127.0.0.1]\n    rate: 1/s\n')
    url = f'{origin.url}/ok/{{1..100}}'
    assert '1.00/s (mine)' in plan_of(batch, '--config', path, url)
    assert '2.00/s (mine)' in plan_of(batch, '--config', path, '--rate', '2/s', url)
    assert '4.00/s (mine)' in plan_of(batch, '--config', path, '-s', 'providers.mine.rate=4/s', url)
    batch.env['FLYBALL_PROVIDERS__MINE__RATE'] = '5/s'
    assert '5.00/s (mine)' in plan_of(batch, '--config', path, url)
    assert '4.00/s (mine)' in plan_of(batch, '--config', path, '-s', 'providers.mine.rate=4/s', url)


def test_recovery_and_retries_from_the_file(batch, origin):
    path = write_config(batch, 'recovery: [download/5xx=skip]\n'
                        'limit: adapt=off\n')
    done = batch.run('--config', path, '--jsonl', batch.out, '-q', f'{origin.url}/status/500/a')
    assert batch.results()[0]['outcome'] == 'skipped', done.stderr
    done = batch.run('--config', path, '--jsonl', batch.out, '-q', '--fresh', '--recovery',
                     'download/5xx=escalate', f'{origin.url}/status/500/a')
    assert batch.results()[0]['outcome'] == 'failed'


def test_a_wrong_configuration_sends_nothing(batch, origin):
    path = write_config(batch, 'mode: fast\n')
    done = batch.run('--config', path, f'{origin.url}/ok/1')
    assert done.returncode == 2 and 'mode: expected' in done.stderr
    assert not headers_of(origin)
    done = batch.run('--config', batch.folder / 'none.yaml', f'{origin.url}/ok/1')
    assert done.returncode == 2 and 'there is no such file' in done.stderr
