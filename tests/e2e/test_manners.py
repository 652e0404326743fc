# SPDX-License-Identifier: MIT
"""How the command behaves towards people, check by check: each test has the number of its check.

    1-4 help and mistakes     5-11 progress      12-13 plans        14-15 stop and resume
    16 exit codes             17-19 answers      20-22 configuration
    23-24 outputs             25-27 completion, manual, version
    28 secrets                29 speed of help   30 signals
"""
import json
import os
import re
import signal
import subprocess
import time

import jsonschema
import pytest
import terminal
from batch import FAST, FLYBALL, LONG_S, ROOT, Batch, kill
from mock_api import Mock
from schemas import check_answer
from served import Daemon, write_list
from terminal import drawn

PACE = ['--limit', 'rate=40/s burst=1']
SGR = re.compile(r'\x1b\[[\d;]*m')
CANARY = 'CANARY9f3a'


def flyball(*words, **more):
    return subprocess.run([FLYBALL, *words], text=True, capture_output=True, check=False,
                          timeout=LONG_S, **more)


def on_terminal(batch, columns, *words, **more):
    return terminal.on_terminal(batch.command(*words), columns, batch.folder, batch.env, **more)


def wait_for(fact):
    end = time.monotonic() + LONG_S
    while not fact():
        assert time.monotonic() < end
        time.sleep(0.02)


def commands():
    return [c['name'] for c in json.loads(flyball('help', '--json').stdout)['commands']]


# ------------------------------------------------------------------------------ help and mistakes

def test_01_help():
    alone = flyball()
    assert alone.returncode == 0 and alone.stdout == flyball('help').stdout
    lines = alone.stdout.splitlines()
    examples = lines[lines.index('Examples:') + 1:]
    assert len(lines) <= 24 and len(examples) == 3
    for command in commands():
        short = flyball(command, '-h')
        assert short.returncode == 0 and short.stdout == flyball('help', command).stdout
        assert 'Examples:' in short.stdout and short.stdout.startswith(f'flyball {command} - ')
        told = short.stdout + flyball(command, '--help').stdout
        assert max(map(len, told.splitlines())) <= 80, command
        assert len(short.stdout.splitlines()) <= 30
    assert len(flyball('help', 'fetch').stdout.splitlines()) <= 24


def test_02_a_mistyped_command():
    done = flyball('fecth')
    assert done.returncode == 2 and done.stderr.endswith("did you mean 'fetch'?\n")
    assert flyball('help', 'fecth').returncode == 2
    assert flyball('xyzzy').stderr.endswith("'flyball help' lists them\n")


def test_03_a_mistyped_option():
    done = flyball('fetch', '--ratee', '2', 'u.txt')
    assert done.returncode == 2 and done.stderr.endswith("did you mean '--rate'?\n")
    done = flyball('fetch', '--progress=jsn', 'u.txt')
    assert done.returncode == 2 and done.stderr.endswith("did you mean 'json'?\n")


@pytest.mark.parametrize('words, said', [
    (['fetch', '--jsonl', '--plan', 'u.txt'],
     'flyball fetch: --jsonl: expected the name of a file, found \'--plan\', which looks like an '
     'option; if it is meant, write --jsonl=--plan or ./--plan\n'),
    (['fetch', '-i', '-q', 'u.txt'], 'write --input=-q or ./-q\n'),
    (['fetch', '-o', '--plann', 'u.txt'], 'write --output=--plann or ./--plann\n'),
    (['fetch', 'u.txt', '--jsonl', '--', 'out'], 'write --jsonl=-- or ./--\n'),
    (['fetch', '--rate', '--jsonl=o', 'u.txt'], "found '--jsonl', which looks like an option; if "
     'it is meant, write --rate=--jsonl\n'),
    (['fetch', '--pages', '--plan', 'u.txt'], "--pages: expected a whole number from 1 on, found "
     "'--plan', which looks like an option\n"),
    (['fetch', '--jsonl', '--proxy-user=u:secret'], 'or ./--proxy-user\n'),
    (['mock', '--listen', '--limit', 'rate=5/s'], 'write --listen=--limit\n'),
    (['config', 'check', '--set', '--json'], 'write --set=--json\n'),
])
def test_03_an_option_where_a_value_is_expected(tmp_path, words, said):
    done = subprocess.run([FLYBALL, *words], cwd=tmp_path, text=True, capture_output=True,
                          timeout=LONG_S, check=False)
    assert done.returncode == 2 and done.stderr.endswith(said), done.stderr
    assert 'secret' not in done.stderr and not list(tmp_path.iterdir())


def test_03_a_name_like_an_option_can_be_meant(batch, api):
    for word, name in (('--jsonl=--plan', '--plan'), ('--jsonl=-q', '-q')):
        done = batch.run(f'{api}/1', word)
        assert done.returncode == 0 and (batch.folder / name).read_text(), done.stderr


def test_04_no_list_on_a_terminal(batch):
    began = time.monotonic()
    code, seen = on_terminal(batch, 80, stdin=None)
    assert code == 2 and 'flyball fetch [OPTION...]' in seen
    assert time.monotonic() - began < LONG_S / 2


# --------------------------------------------------------------------------------------- progress

def test_05_data_and_talk_are_apart(batch, api):
    urls = batch.write([f'{api}/{i}' for i in range(30)])
    done = batch.run(urls, *PACE)
    assert done.returncode == 0
    assert sorted(json.loads(line)['item'] for line in done.stdout.splitlines()) == [*range(1, 31)]
    assert '\r' not in done.stderr and '\x1b' not in done.stderr and '30 done in ' in done.stderr


def test_06_the_live_line(batch):
    with Mock('--limit', 'window=100000/1h', '--dialect', 'github') as api:
        urls = batch.write([f'http://127.0.0.1:{api.port}/{i}' for i in range(60)])
        code, seen = on_terminal(batch, 80, urls, '--jsonl', batch.out, '--limit',
                                 'rate=40/s burst=1 adapt=off')
    assert code == 0
    assert any(re.search(r'\d+/60 .*[\d.]+/s .*\d+ left .*429s 0 .*ETA .*bound by ', line)
               for line in drawn(seen)), drawn(seen)


def test_07_nothing_wraps_at_40_columns(batch, api):
    code, seen = on_terminal(batch, 40, f'{api}/{{1..60}}', '--jsonl', batch.out, *PACE)
    lines = drawn(seen)
    assert code == 0 and len(lines) > 2
    assert all(len(SGR.sub('', line)) < 40 for line in lines[:-1]), lines


def test_08_colour_and_bar_are_two_switches(batch):
    with Mock('--limit', 'rate=5/s burst=3 penalty=4s', '--dialect', 'retry-after') as api:
        words = [f'http://127.0.0.1:{api.port}/{{1..4}}', '--fresh', '--jsonl', batch.out,
                 '--limit', 'adapt=off concurrency=40']
        assert SGR.search(on_terminal(batch, 80, *words)[1])
        seen = on_terminal(batch, 80, *words, NO_COLOR='1')[1]
        assert 'holding ' in seen and not SGR.search(seen) and len(drawn(seen)) > 2
        seen = on_terminal(batch, 80, *words, '--color=never')[1]
        assert 'holding ' in seen and not SGR.search(seen) and len(drawn(seen)) > 2
        seen = on_terminal(batch, 80, *words, TERM='dumb')[1]
        assert 'holding ' in seen and '\x1b' not in seen and '\r' not in seen.replace('\r\n', '\n')


def test_09_progress_for_programs(batch, api):
    urls = batch.write([*[f'{api}/{i}' for i in range(60)], f'{api}/?status=404', 'nothing'])
    done = batch.run(urls, '--progress=json', '--keep-going', *PACE)
    told = [json.loads(line) for line in done.stderr.splitlines()]
    assert done.returncode == 3 and told[-1]['type'] == 'summary'
    assert {'progress', 'message', 'summary'} == {t['type'] for t in told}
    assert told[-1]['done'] == 61 and told[-1]['failed'] == 1


def test_10_quiet_means_silent(batch, api):
    for more in ([], ['--progress=json'], ['--progress=bar']):
        done = batch.run(f'{api}/{{1..9}}', '--fresh', '-q', *PACE, *more)
        assert (done.returncode, done.stderr) == (0, '')


def test_11_a_signal_asks(batch, api):
    process = batch.start(f'{api}/{{1..2000}}', '--jsonl', batch.out, *PACE)
    wait_for(lambda: batch.out.exists() and batch.out.read_text())
    process.send_signal(signal.SIGUSR1)
    assert re.search(r' fetch done=\d+ total=2000 rate=', process.stderr.readline())
    size = batch.out.stat().st_size
    wait_for(lambda: batch.out.stat().st_size > size)
    assert process.poll() is None
    kill(process)


# ------------------------------------------------------------------------------------------ plans

def test_12_a_plan_sends_nothing(batch):
    with Mock() as api:
        urls = batch.write([f'http://127.0.0.1:{api.port}/{i}' for i in range(500)])
        done = batch.run(urls, '--plan', '--rate', '2/s')
        assert done.returncode == 0 and api.stats()['arrivals'] == 0
    told = dict(re.findall(r'^(requests|bound by|duration|finish) +(.*)$', done.stdout, re.M))
    assert told['requests'] == '500' and told['bound by'].startswith('2.00/s')
    assert told['duration'] == '4m 10s' and re.fullmatch(r'\d\d:\d\d:\d\d', told['finish'])


def test_13_a_plan_comes_true(batch, api):
    """The exact figures are in tests/unit/test_eta_sim.c, where the clock is not that of a machine
    which has other things to do."""
    words = [f'{api}/{{1..200}}', '--jsonl', batch.out, '--limit', 'rate=20/s burst=1']
    plan = json.loads(batch.run(*words, '--plan', '--progress=json').stdout)
    assert plan['requests'] == 200 and 9 <= plan['now']['eta_s'] <= 11
    began = time.monotonic()
    process = batch.start(*words, '--progress=json')
    ends = []
    for line in process.stderr:
        told = json.loads(line)
        if told['type'] == 'progress' and told['done'] >= 20 and 'eta_s' in told:
            ends.append(time.monotonic() - began + told['eta_s'])
    spent = time.monotonic() - began
    assert process.wait(timeout=LONG_S) == 0
    assert abs(ends[0] - spent) < 0.35 * spent and abs(plan['now']['eta_s'] - spent) < 0.35 * spent


# -------------------------------------------------------------------------------- stop and resume

def test_14_interrupt_once_and_twice(batch, origin):
    urls = batch.write([f'{origin.url}/ok/{i}' for i in range(400)], 'short')
    words = [urls, '--jsonl', batch.out, '--rate', '20/s']
    process = batch.start(*words)
    wait_for(lambda: len(origin.arrivals) >= 3)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=LONG_S)[1]
    assert process.returncode == 130
    resume = re.search(r'^resume: (.*)$', told, re.M).group(1)
    assert resume == ' '.join(['flyball', *process.args[1:]])
    urls = batch.write([f'{origin.url}/slow/600000/{i}' for i in range(3)], 'long')
    process = batch.start(urls, '--jsonl', batch.folder / 'long.jsonl', *FAST)
    before = len(origin.arrivals)
    wait_for(lambda: len(origin.arrivals) >= before + 3)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LONG_S)
    assert process.returncode == 130


def test_14_an_interrupt_has_five_seconds_for_what_is_under_way(batch, origin):
    urls = batch.write([f'{origin.url}/slow/600000/{i}' for i in range(3)])
    process = batch.start(urls, '--jsonl', batch.out, *FAST)
    wait_for(lambda: len(origin.arrivals) >= 3)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    told = process.communicate(timeout=LONG_S)[1]
    spent = time.monotonic() - began
    assert process.returncode == 130 and 'resume: ' in told
    assert 4 < spent < 8, spent  # three seconds for a machine that has other things to do


def test_15_killed_and_resumed(batch, origin):
    urls = batch.write([f'{origin.url}/ok/{i}' for i in range(300)])
    words = [urls, '--jsonl', batch.out, '--request-id', '--limit', 'rate=60/s burst=1']
    process = batch.start(*words)
    wait_for(lambda: batch.out.exists() and batch.out.read_text().count('\n') >= 100)
    kill(process)
    finished = {r['id'] for r in batch.results() if r}
    before = len(origin.arrivals)
    done = batch.run(*words[:-2], *FAST)
    told = re.match(r'resuming: (\d+) done, (\d+) to go\n', done.stderr)
    assert done.returncode == 0 and int(told[1]) >= 100 and int(told[1]) + int(told[2]) == 300
    again = {a['id'] for a in origin.arrivals[before:]}
    assert not finished & again and len(batch.by_id()) == 300


# ------------------------------------------------------------------------------------- exit codes

def test_16_exit_codes(tmp_path, origin):
    ok, gone = f'{origin.url}/ok/1', f'{origin.url}/status/404'
    later = f'{origin.url}/hold/7000'
    for code, urls, words in [
            (0, [ok], []), (1, [ok], ['--jsonl', '/dev/full']), (2, [ok], ['--what']),
            (2, ['no url'], []), (3, [ok, gone], []), (4, [ok, later], []),
            (3, [ok, gone, later], []), (1, [gone], ['--jsonl', '/dev/full'])]:
        # A hold is remembered by those that come after: each has a memory of its own.
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        batch = Batch(folder)
        done = batch.run(batch.write(urls), *words, '-q', '--max-wait', '1s', *FAST)
        assert done.returncode == code, (urls, words, done.stderr)
    page = (ROOT / 'docs/man/flyball.1').read_text().split('.Sh EXIT STATUS')[1]
    assert [int(n) for n in re.findall(r'^\.It (\d+)$', page, re.M)] == [0, 1, 2, 3, 4, 5, 130]


# ---------------------------------------------------------------------------------------- answers

RESPONSE = 'HTTP/1.1 429 Too Many Requests\nRetry-After: 41\nX-RateLimit-Limit: 60\n\n'


def test_17_answers_for_programs(tmp_path):
    """Of a daemon, and of files where none runs."""
    config = 'providers:\n  it:\n    hosts: [it.example]\n'
    with (Mock('--limit', 'window=5/1h', '--dialect', 'github') as api,
          Daemon(tmp_path, config) as d):
        d.submit(list=write_list(tmp_path / 'list', api.port, 20), name='mine')
        wait_for(lambda: d.batch('mine')['items']['ok'] >= 1)
        for words in (['status'], ['limits'], ['learned'], ['why', 'last'], ['audit'],
                      ['deferred'], ['top', '--once']):
            told = json.loads(d.command(*words, '--json').stdout)
            check_answer(told, words[0])
        told = json.loads(d.command('signals', '--json', input=RESPONSE).stdout)
        check_answer(told, 'signals')
        told = json.loads(d.command('config', 'show', '--json').stdout)
        check_answer(told, 'config-show', 'flyball.config/1')
        schema = json.loads(d.command('config', 'schema').stdout)
        jsonschema.Draft202012Validator(schema).validate(told['config'])
        for code, words in [(0, ['reload']), (0, ['recycle']),
                            (0, ['provider', 'disable', 'it']),
                            (0, ['provider', 'enable', 'it']),
                            (2, ['provider', 'enable', 'nobody'])]:
            done = d.command(*words, '--json')
            told = check_answer(json.loads(done.stdout), 'admin')
            assert (done.returncode, told['ok'], done.stderr) == (code, code == 0, '')
    for words in (['reload'], ['recycle'], ['provider', 'enable', 'it'],
                  ['source', 'enable', 'it']):
        done = d.command(*words, '--json')
        told = check_answer(json.loads(done.stdout), 'admin')
        assert (done.returncode, told['ok'], done.stderr) == (3, False, '')
        assert 'no daemon answers' in told['error']
    for words in (['limits'], ['learned'], ['why', 'last'], ['deferred'], ['status']):
        check_answer(json.loads(d.command(*words, '--json').stdout), words[0])


def test_18_no_daemon(tmp_path):
    env = {**os.environ, 'XDG_RUNTIME_DIR': str(tmp_path), 'HOME': str(tmp_path),
           'XDG_STATE_HOME': str(tmp_path)}
    done = flyball('status', env=env)
    assert done.returncode == 3 and f'{tmp_path}/flyball/control.sock' in done.stderr
    assert done.stderr.endswith('start it with: flyball serve\n')


def test_19_why(tmp_path):
    with Mock('--limit', 'window=5/1h', '--dialect', 'retry-after') as api, Daemon(tmp_path) as d:
        d.submit(list=write_list(tmp_path / 'list', api.port, 20))
        url = f'http://127.0.0.1:{api.port}/i/9'
        wait_for(lambda: 'Retry-After' in d.command('why', url).stdout)
        told = d.command('why', url)
        assert told.returncode == 0
        assert re.search(r'waits until \d\d:\d\d:\d\d, in \d+', told.stdout)
        said = dict(re.findall(r'^  (because|rule|change) +(.*)$', told.stdout, re.M))
        assert said['rule'].startswith('Retry-After: ') and said['because'] and said['change']


# ---------------------------------------------------------------------------------- configuration

def test_20_every_mistake_of_a_file(tmp_path):
    (tmp_path / 'bad.yaml').write_text('mode: fast\nproviders:\n  github:\n    rat: 5/s\n'
                                       'timeouts: {conect: 1s}\n')
    done = flyball('config', 'check', 'bad.yaml', cwd=tmp_path)
    lines = done.stderr.splitlines()
    assert done.returncode == 2 and len(lines) == 9 and done.stdout == ''
    assert [line.split(' ')[0] for line in lines[::3]] == [
        'bad.yaml:1:7:', 'bad.yaml:4:5:', 'bad.yaml:5:12:']
    assert re.match(r"bad\.yaml:4:5: unknown key 'rat', expected one of .*"
                    r"\(did you mean 'rate'\?\)$", lines[3])
    for shown, caret, column in zip(lines[1::3], lines[2::3], (7, 5, 12)):
        assert caret.index('^') == shown.index('|') + 1 + column


def test_21_a_file_that_is_not_there(tmp_path):
    done = flyball('config', 'check', 'none.yaml', cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, 'none.yaml: there is no such file\n')


def test_22_where_each_value_came_from(tmp_path):
    (tmp_path / 'flyball.yaml').write_text('providers:\n  github: {rate: 0.5/s}\nretries: 4\n')
    env = {**os.environ, 'HOME': str(tmp_path), 'FLYBALL_MODE': 'strict'}
    done = flyball('config', 'show', '--origin', '-s', 'timeouts.connect=1s', cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    said = dict(re.findall(r'^ *([a-z_]+): .*# (.*)$', done.stdout, re.M))
    assert said['retries'] == './flyball.yaml:3:10' and said['rate'] == './flyball.yaml:2:18'
    assert said['mode'] == 'environment FLYBALL_MODE' and said['redirects'] == 'default'
    assert said['connect'] == 'flag --set timeouts.connect' and said['hosts'] == 'preset github'
    values = [line for line in done.stdout.splitlines() if re.search(r': [^#{]', line)]
    assert values and all(' # ' in line for line in values), values


# ---------------------------------------------------------------------------------------- outputs

def test_23_a_reader_that_leaves(batch, api):
    urls = batch.write([f'{api}/{i}?bytes=5000' for i in range(300)])
    line = f'{FLYBALL} fetch {urls} --limit "adapt=off concurrency=8" | head -1 >/dev/null'
    done = subprocess.run(['bash', '-c', f'{line}; exit ${{PIPESTATUS[0]}}'], cwd=batch.folder,
                          env=batch.env, text=True, capture_output=True, timeout=LONG_S,
                          check=False)
    assert (done.returncode in (0, 141)) and done.stderr == ''
    batch.assert_journals_sound()
    for words in (['help'], ['completion', 'bash'], ['simulate', '--list']):
        line = f'{FLYBALL} {" ".join(words)} | true; exit ${{PIPESTATUS[0]}}'
        done = subprocess.run(['bash', '-c', line], text=True, capture_output=True, check=False)
        assert done.returncode in (0, 141) and done.stderr == ''


def test_24_a_full_disk(batch, api):
    urls = batch.write([f'{api}/{i}' for i in range(50)])
    done = batch.run(urls, '--jsonl', '/dev/full', '-q', *FAST)
    errors = [line for line in done.stderr.splitlines() if not line.startswith('resume: ')]
    assert done.returncode == 1 and len(errors) == 1
    assert '/dev/full: No space left on device' in errors[0]
    with open('/dev/full', 'w', encoding='utf-8') as full:
        for words in (['help'], ['fetch', '--help'], ['--version'], ['completion', 'zsh']):
            done = subprocess.run([FLYBALL, *words], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False)
            assert done.returncode == 1 and done.stderr.count('\n') == 1


# -------------------------------------------------------------------- completion, manual, version

COMPLETE = r'''
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_flyball
printf '%s\n' "${COMPREPLY[@]}"
'''


def completed(script, *words):
    """What bash offers behind these words, the last of which is being typed."""
    done = subprocess.run(['bash', '-c', COMPLETE, 'bash', script, 'flyball', *words], text=True,
                          capture_output=True, check=False)
    assert done.stderr == ''
    return done.stdout.split()


def test_25_completion(tmp_path):
    scripts = {}
    for shell in ('bash', 'zsh', 'fish'):
        scripts[shell] = tmp_path / shell
        scripts[shell].write_text(flyball('completion', shell).stdout)
        check = subprocess.run([shell, '-n', scripts[shell]], text=True, capture_output=True,
                               check=False)
        assert (check.returncode, check.stderr) == (0, '')
    bash = scripts['bash']
    assert set(commands()) < set(completed(bash, ''))
    assert completed(bash, 'fet') == ['fetch'] and completed(bash, 'help', 'fet') == ['fetch']
    assert completed(bash, 'fetch', '--prog') == ['--progress']
    assert completed(bash, 'fetch', '--progress', 'j') == ['json']
    assert completed(bash, 'fetch', '--progress', '=', 'j') == ['json']
    assert completed(bash, 'fetch', '--provider', 'gith') == ['github']
    assert completed(bash, 'mock', '--dialect', 'op') == ['openai']
    assert completed(bash, 'completion', 'z') == ['zsh']
    (tmp_path / 'urls.txt').touch()
    for words in (['fetch'], ['fetch', '--jsonl'], ['fetch', '-i']):
        assert completed(bash, *words, f'{tmp_path}/url') == [f'{tmp_path}/urls.txt']
    fish = subprocess.run(
        ['fish', '-c', f'source {scripts["fish"]}; complete -C "flyball fetch --prov"; '
         'complete -C "flyball fetch --provider gith"; complete -C "flyball sim"'],
        text=True, capture_output=True, env={**os.environ, 'HOME': str(tmp_path)}, check=False)
    assert [line.split()[0] for line in fish.stdout.splitlines()] == [
        '--provider', 'github', 'simulate']


def test_25_zsh_takes_every_option(tmp_path):
    """_arguments reads its specifications when it is called: none may be malformed."""
    (tmp_path / '_flyball').write_text(flyball('completion', 'zsh').stdout)
    call = '''
    fpath=({0} $fpath); autoload -U compinit; compinit -u -d {0}/dump; source {0}/_flyball
    _arguments() {{ print -rl -- "$@"; }}
    _describe() {{ print -rl -- "$commands[@]"; }}
    for command in {1}; do words=(flyball $command ''); CURRENT=3; _flyball; done
    words=(flyball ''); CURRENT=2; _flyball
    '''.format(tmp_path, ' '.join(commands()))
    done = subprocess.run(['zsh', '-f', '-c', call], text=True, capture_output=True, check=False)
    assert done.returncode == 0 and done.stderr == ''
    told = done.stdout
    for command in json.loads(flyball('help', '--json').stdout)['commands']:
        assert f"{command['name']}:" in told
        for option in command['options']:
            assert re.search(re.escape(option['name']) + r'=?\[', told), option['name']


def test_26_the_manual():
    pages = sorted((ROOT / 'docs/man').glob('*.[1-8]'))
    lint = subprocess.run(['mandoc', '-T', 'lint', *pages], text=True, capture_output=True,
                          check=False).stdout
    assert not [line for line in lint.splitlines() if 'referenced manual not found' not in line
                and 'outdated mandoc.db' not in line]
    for command in json.loads(flyball('help', '--json').stdout)['commands']:
        page = ROOT / f"docs/man/flyball-{command['name']}.1"
        text = subprocess.run(['mandoc', '-T', 'ascii', page], text=True, capture_output=True,
                              check=True).stdout
        plain = re.sub('.\b', '', text)
        for option in command['options']:
            assert option['name'] in plain, (command['name'], option['name'])


def test_27_the_version():
    text = flyball('--version').stdout
    told = json.loads(flyball('--version', '--json').stdout)
    assert told['schema'] == 'flyball.version/1' and f"flyball {told['version']}" in text
    for name in ('libcurl', 'ssl', 'sqlite', 'libuv'):
        assert told['libraries'][name] in text
    assert 'redis' in told['libraries'] and 'tls' in told['features']
    assert told['commit'] is None or told['commit'] in text
    assert flyball('--version', '--jsn').returncode == 2


# ------------------------------------------------------------------------------------- and others

def test_28_a_token_appears_nowhere(batch, origin):
    urls = batch.write([{'url': f'{origin.url}/ok/1?access_token={CANARY}'},
                        {'url': f'{origin.url}/hold/7000?token={CANARY}'},
                        {'url': f'{origin.url}/status/404', 'headers': {'Cookie': CANARY}}])
    done = batch.run(urls, '--jsonl', '/dev/null', '-H', f'Authorization: Bearer {CANARY}',
                     f'-HX-Own: {CANARY}', '--max-wait', '1s', *FAST)
    assert done.returncode == 3 and CANARY not in done.stderr
    told = batch.run(f'{origin.url}/ok/2?key={CANARY}', '--jsonl', '/dev/full',
                     f'-HX-Own: {CANARY}', '--provider', 'another', *FAST)
    assert 'resume: ' in told.stderr and CANARY not in told.stderr
    for words in (['status'], ['limits', '--all', '-v'], ['learned', '-v'], ['deferred'],
                  ['why', 'last'], ['why', '2'], ['top', '--once']):
        for form in ([], ['--json']):
            done = flyball(*words, *form, env=batch.env)
            assert done.stdout and CANARY not in done.stdout + done.stderr, words
    kept = [p for p in batch.folder.rglob('*') if p.is_file() and p != urls]
    assert kept and not [p for p in kept if CANARY.encode() in p.read_bytes()]


WAITS = re.compile(r'^\d+ +(?:socket|connect|poll|ppoll|select|epoll_\w+|clock_nanosleep|nanosleep|'
                   r'clone3?|fork|vfork|fsync|fdatasync)\(', re.M)


def test_29_help_opens_nothing_and_waits_for_nothing(tmp_path):
    """How many ms that takes is `make bench-help`; here, that nothing is done which could last."""
    trace = tmp_path / 'trace'
    here = tmp_path / 'here'
    here.mkdir()
    env = {'PATH': os.environ['PATH'], 'HOME': str(here), 'XDG_STATE_HOME': str(here / 'state')}
    for words in (['--help'], ['fetch', '--help'], ['help', 'mock']):
        done = subprocess.run(['strace', '-f', '-o', trace, FLYBALL, *words], cwd=here, env=env,
                              text=True, capture_output=True, check=False)
        assert done.returncode == 0
        text = trace.read_text()
        opened = re.findall(r'\b(?:open|openat|creat|mkdir)\([^"]*"([^"]+)"', text)
        assert not WAITS.search(text)
        assert opened and not [p for p in opened if not re.search(r'\.so(\.|$)|ld\.so\.cache', p)]
    assert not list(here.iterdir())


def test_30_signals():
    done = flyball('signals', input=RESPONSE)
    assert done.returncode == 0 and re.search(r'^POOL +LIMIT', done.stdout, re.M)
    assert '41 s' in done.stdout
    told = json.loads(flyball('signals', '--json', input=RESPONSE).stdout)
    assert told['schema'] == 'flyball.signals/1' and told['retry_after_s'] == 41
    assert told['scopes'][0]['limit'] == 60 and told['throttled'] is True
    assert flyball('signals', input='HTTP/1.1 200 OK\n\n').returncode == 3
