# SPDX-License-Identifier: MIT
"""Commands that answer questions, against real batches: while they run, and after."""
import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import time

import jsonschema
import pytest

from batch import FLYBALL, LONG_S, ROOT, Batch
from mock_api import Mock
from schemas import SCHEMAS, check_answer

SLOW = ['--limit', 'rate=5/s burst=1']


class Asker(Batch):
    def ask(self, *words, **more):
        return subprocess.run([FLYBALL, *map(str, words)], cwd=self.folder, text=True, check=False,
                              env={**self.env, 'LC_ALL': 'C.UTF-8'}, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=LONG_S, **more)

    def ask_json(self, *words, code=0):
        """The answer, which is as its schema says."""
        done = self.ask(*words, '--json')
        assert code in (None, done.returncode), done.stderr
        told = json.loads(done.stdout)
        check_answer(told, words[0])
        return told

    def begin(self, *words):
        """A batch, of which others can tell that it runs."""
        process = self.start(*words)
        wait_for(lambda: [b for b in self.batches() if b['pid'] == process.pid and b['keys']],
                 process)
        return process

    def batches(self):
        """Those that are known; 3 is the code while there are none and no daemon answers."""
        done = self.ask('status', '--json')
        assert done.returncode in (0, 3), done.stderr
        told = json.loads(done.stdout)
        check_answer(told, 'status')
        assert (done.returncode == 3) == (not told['batches'])
        return told['batches']


def wait_for(fact, process=None):
    end = time.monotonic() + LONG_S
    while not fact():
        assert time.monotonic() < end and (not process or process.poll() is None)
        time.sleep(0.05)


def stop(process):
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=LONG_S)


@pytest.fixture(name='asker')
def fixture_asker(tmp_path):
    return Asker(tmp_path)


@pytest.fixture(name='running')
def fixture_running(asker, api):
    """A batch that takes minutes."""
    urls = asker.write([f'{api}/{i}' for i in range(1000)])
    process = asker.begin(urls, '--jsonl', asker.out, *SLOW)
    yield process
    if process.poll() is None:
        stop(process)


def test_schemas_are_schemas():
    for path in SCHEMAS.glob('*.json'):
        jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))


def test_nothing_is_known_at_first(asker):
    assert asker.ask('status').stdout == 'No batch is known. Try: flyball fetch urls.txt\n'
    assert asker.ask('limits').stdout.startswith('No limit is known yet.')
    assert asker.ask('learned').stdout.startswith('Nothing has been learned yet.')
    assert 'Nothing runs.' in asker.ask('top').stdout
    for command in ('limits', 'learned', 'top', 'deferred'):
        asker.ask_json(command)
    assert asker.ask_json('status', code=3)['batches'] == []  # and no daemon answers
    assert asker.ask_json('why', 'last', code=3)['verdict'] == 'unknown'
    assert asker.ask_json('why', 'https://a.example/', code=3)['verdict'] == 'unknown'
    assert not list(asker.folder.rglob('*')), 'a question has left files'


@pytest.fixture(name='later', scope='module')
def fixture_later(tmp_path_factory):
    """The environment of a command for which it is two hours later."""
    folder = tmp_path_factory.mktemp('later')
    subprocess.run(['gcc', '-shared', '-fPIC', '-o', folder / 'clock.so',
                    ROOT / 'tests/prove/wall_clock.c'], check=True)
    (folder / 'seconds').write_text('7200')
    return {'LD_PRELOAD': str(folder / 'clock.so'), 'WALL_CLOCK': str(folder / 'seconds')}


def test_limits_that_were_not_in_use_for_long(asker, api, later):
    assert asker.run(f'{api}/{{1..5}}', '--jsonl', asker.out, '-q', *SLOW).returncode == 0
    name = api.removeprefix('http://')
    assert f'\n{name}:\n  Limit:     5.00/s, as stated\n' in asker.ask('limits').stdout
    asker.env.update(later)
    assert asker.ask('limits').stdout == 'No limit is in use now; --all shows those known.\n'
    assert asker.ask_json('limits')['hidden'] == 1
    told = asker.ask('limits', '--all', '-v').stdout
    assert f'\n{name}:\n  Limit:     5.00/s, as stated\n' in told
    assert re.search(r'^  Seen: +2h( \d+s)? ago', told, re.M), told
    only, = asker.ask_json('limits', '--all')['limits']
    assert only['provider'] == name and -7300 < only['seen_in_s'] < -7190


def test_status_of_one_that_runs(asker, api, running):
    batch, = asker.ask_json('status')['batches']
    assert batch['running'] and batch['pid'] == running.pid
    assert batch['items']['total'] == 1000
    key, = batch['keys']
    assert key['provider'] == api.removeprefix('http://')
    assert key['limit_per_s'] == 5 and key['said_by'] == 'command line' and not key['learned']
    wait_for(lambda: asker.ask_json('status')['batches'][0]['items']['ok'] > 2, running)
    text = asker.ask('status', 'list').stdout
    assert re.search(r'^fetch-[0-9a-f]{16}  \S+ ok  process \d+$', text, re.M)
    assert re.search(r'^  ETA +in ', text, re.M) and '1,000 (' in text
    stop(running)
    batch, = asker.ask_json('status', 'list')['batches']
    assert not batch['running'] and batch['exit'] == 130
    assert 'go on     flyball fetch' in asker.ask('status', 'list').stdout
    assert asker.ask('status', batch['name'][:12]).stdout.startswith(batch['name'])


def test_status_says_what_is_left_to_do(asker, api):
    """All have ended: a line that is no request is none that the same command could make good."""
    urls = asker.write([f'{api}/1', 'nonsense'])
    assert asker.run(urls, '--jsonl', asker.out, '--keep-going', *SLOW).returncode == 3
    text = asker.ask('status', 'list').stdout
    assert '1 of 1 (100 %): 1 ok, 1 line is no request' in text and 'go on' not in text, text
    assert asker.ask_json('status', 'list')['batches'][0]['items']['bad_lines'] == 1
    urls = asker.write([f'{api}/1', 'http://127.0.0.1:9/'], name='other')
    words = ['--jsonl', 'o.jsonl', '--retries', '0', *SLOW]
    assert asker.run(urls, *words).returncode == 3
    text = asker.ask('status', 'other').stdout
    assert re.search(r'^  go on +flyball fetch .* --retry-failed$', text, re.M), text
    assert ', 2 of 2 (100 %), 1 failed\n' in asker.ask('why', 'other').stdout
    again = asker.run(urls, *words).stderr
    assert 'nothing is left to do; --retry-failed or --fresh would do some or all again' in again
    assert asker.run(urls, *words, '--retry-failed').returncode == 3
    assert asker.ask('status', 'other').stdout.count('--retry-failed') == 1


def test_a_command_that_is_too_long_to_keep_is_not_offered_cut(asker):
    urls = asker.write(['http://127.0.0.1:9/'])
    words = ['--jsonl', asker.out, '--retries', '0', '--limit', 'rate=50/s' + ' ' * 600]
    assert asker.run(urls, *words).returncode == 3
    text = asker.ask('status', 'list').stdout
    assert re.search(r'^  go on +the same command again, with --retry-failed$', text, re.M), text
    assert asker.ask_json('why', 'last')['next'] == 'the same command again, with --retry-failed'
    assert 'command' not in asker.ask_json('status')['batches'][0]


def test_rates_have_names_and_keys_are_told(asker, api, running):
    wait_for(lambda: asker.batches()[0]['items']['ok'] > 8, running)
    told = asker.ask_json('status')
    assert [k['provider'] for k in told['keys']] == [api.removeprefix('http://')]
    assert asker.ask_json('top', '--once')['keys']
    text = asker.ask('status', 'list').stdout
    assert re.search(r'^  rate +[\d.]+ items/s now', text, re.M) and 'sent / limit' in text, text
    stop(running)
    text = asker.ask('status', 'list').stdout
    assert re.search(r'^  rate +[\d.]+ items/s over the run: \d+ in [\d.]+ m?s$', text, re.M), text
    assert '0.00 / 5.00/s' in text, text
    assert [k['rate_per_s'] for k in asker.ask_json('status')['keys']] == [0]


def test_status_of_one_that_was_resumed(asker, api):
    """Figures of all runs and of the last one are told apart, as the summary does."""
    words = [asker.write([f'{api}/{i}' for i in range(30)]), '--jsonl', asker.out, *SLOW]
    process = asker.begin(*words)
    wait_for(lambda: asker.batches()[0]['items']['ok'] >= 5, process)
    stop(process)
    assert asker.batches()[0]['items']['earlier'] == 0
    assert '  before ' not in asker.ask('status', 'list').stdout
    done = asker.run(*words)
    told = re.search(r'^(\d+) done in (.*) \((.*)/s\).*; (\d+) requests.*, (\d+) of them before$',
                     done.stderr, re.M).groups()
    batch, = asker.batches()
    assert batch['items']['earlier'] == int(told[4]) and batch['requests'] == int(told[3])
    text = asker.ask('status', 'list').stdout
    assert f'  rate      {told[2]} items/s over the run: {told[0]} in ' in text, text
    assert f'  before    {told[4]} of them, in earlier runs; ' in text, text


def test_status_of_one_that_was_killed(asker, running):
    running.kill()
    running.communicate()
    batch, = asker.ask_json('status')['batches']
    assert not batch['running'] and 'ended' not in batch
    assert 'without saying so' in asker.ask('status', 'list').stdout


def test_status_of_what_is_not_there(asker):
    done = asker.ask('status', 'nothing')
    assert done.returncode == 3 and "'nothing'" in done.stderr and done.stdout == ''
    assert asker.ask('status', 'a', 'b').returncode == 2


def test_top_once_and_until_nothing_runs(asker, api, running):
    told = asker.ask_json('top', '--once')
    assert len(told['batches']) == 1
    text = asker.ask('top', '--once').stdout
    assert '\x1b' not in text and 'next start' in text and '5.00/s' in text
    process = subprocess.Popen([FLYBALL, 'top', '--interval', '100ms', '--json'], text=True,
                               env=asker.env, stdout=subprocess.PIPE)
    for _ in range(3):
        check_answer(json.loads(process.stdout.readline()), 'top')
    stop(running)
    rest = process.communicate(timeout=LONG_S)[0]
    assert process.returncode == 0
    assert json.loads(rest.splitlines()[-1])['batches'] == []


def test_top_on_a_terminal_redraws_and_leaves_it_as_it_was(asker, running):
    here, there = pty.openpty()
    process = subprocess.Popen([FLYBALL, 'top', '--interval', '100ms'], stdin=there, stdout=there,
                               env={**asker.env, 'TERM': 'xterm', 'NO_COLOR': '1'})
    seen = b''
    while seen.count(b'\x1b[H') < 3:
        seen += os.read(here, 65536)
    os.write(here, b'q')
    process.wait(timeout=LONG_S)
    os.set_blocking(here, False)
    try:
        seen += os.read(here, 65536)
    except BlockingIOError:
        pass
    os.close(here)
    os.close(there)
    assert process.returncode == 0 and running.poll() is None
    assert seen.startswith(b'\x1b[?1049h') and seen.endswith(b'\x1b[?1049l')
    assert b'\x1b[3' not in seen, 'colour in spite of NO_COLOR'


def test_limits_tell_what_the_server_told(asker):
    with Mock('--limit', 'fixed=1000/1h', '--dialect', 'github') as api:
        asker.run(f'http://127.0.0.1:{api.port}/{{1..20}}', '--jsonl', asker.out,
                  '--limit', 'adapt=off')
        told = asker.ask_json('limits')
        limit, = told['limits']
        assert told['status'] == 'healthy'
        assert limit['quota']['limit'] == 1000 and limit['quota']['remaining'] == 980
        assert 0 < limit['quota']['reset_in_s'] <= 3600
        text = asker.ask('limits').stdout
        assert text.startswith('Rate Limit Status: HEALTHY')
        assert re.search(r'^127\.0\.0\.1:\d+:\n  Remaining: 980 / 1,000 \(98%\)\n'
                         r'  Resets in: ', text, re.M)
        assert 'Told by:   x-ratelimit-remaining' in asker.ask('limits', '-v').stdout
        assert asker.ask_json('limits', '--provider', 'other')['limits'] == []


def test_a_margin_is_told_apart_from_what_is_stated(asker, api):
    limit = ['--limit', 'window=100/1m']
    asker.run(f'{api}/{{1..5}}', '--jsonl', asker.out, '-q', *limit)
    text = asker.ask('limits').stdout
    assert '85 left; 100/min as stated, of which 90 are used at most\n' in text, text
    window = asker.ask_json('limits')['limits'][0]['window']
    assert window['stated'] == 100 and window['limit'] == 90 and window['remaining'] == 85
    told = asker.run(f'{api}/{{1..300}}', '--jsonl', 'other', '--plan', *limit).stdout
    assert 'bound by  100/min ' in told, told


def test_a_limit_that_headers_tell_does_not_waver(asker):
    """Ten a second is what the server says, however the pace is steered to keep to it."""
    with Mock('--limit', 'fixed=10/1s', '--dialect', 'ietf') as api:
        urls = asker.write([f'http://127.0.0.1:{api.port}/{i}' for i in range(1000)])
        process = asker.begin(urls, '--jsonl', asker.out)
        wait_for(lambda: asker.ask_json('limits')['limits'][0].get('limit_told'), process)
        seen = set()
        for _ in range(40):
            key, = asker.ask_json('limits')['limits']
            seen.add((key['learned_per_s'], key['limit_per_s'], key.get('limit_told')))
            time.sleep(0.1)
        assert seen == {(10.0, 10.0, True)}
        assert 'Limit:     10.0/s, as the server tells\n' in asker.ask('limits').stdout
        talk = stop(process)[1]
        assert '~' not in talk, talk


def test_a_first_window_is_told_as_the_server_tells_it(asker):
    """Each wait has an end; neither a rest of the window nor a search in the dark is spoken of."""
    with Mock('--limit', 'fixed=50/10s', '--dialect', 'ietf') as api:
        urls = asker.write([f'http://127.0.0.1:{api.port}/{i}' for i in range(1000)])
        process = asker.begin(urls, '--jsonl', asker.out)
        wait_for(lambda: asker.ask_json('limits')['limits'][0].get('limit_told'), process)
        for _ in range(15):
            why = asker.ask_json('why', 'last')
            assert why['verdict'] == 'waits' and -0.1 < why['until_in_s'] < 10.1, why
            assert not re.search('window of|no limit met', why.get('sentence', '')), why
            assert re.search(r'ratelimit[a-z-]*: \d+ of 50/10s left', why['rule']), why
            assert 'as the server tells: 50/10s\n' in asker.ask('limits').stdout
            time.sleep(0.1)
        stop(process)


def test_an_end_is_the_same_second_in_every_answer(asker, origin):
    held = asker.write([f'{origin.url}/once/4', f'{origin.url}/b'])
    process = asker.begin(held, '--jsonl', asker.out, '--limit', 'adapt=off')
    wait_for(lambda: asker.ask_json('why', 'last').get('cause') == 'hold', process)
    until = asker.ask_json('why', 'last')['until']
    clock = subprocess.run(['date', '-d', until, '+%H:%M:%S'], check=True, text=True,
                           capture_output=True).stdout.strip()
    assert f'waits until {clock}, in ' in asker.ask('why', 'last').stdout
    assert f'({clock}), because: hold\n' in asker.ask('limits').stdout
    batch, = asker.batches()
    assert batch['keys'][0]['next_start'] == until
    process.communicate(timeout=LONG_S)
    assert f' ago ({clock})\n' in asker.ask('why', 'last').stdout


def test_a_pace_is_not_shown_as_a_limit(asker, api):
    """Nothing has refused: limits knows of no limit, and so does learned."""
    assert asker.run(f'{api}/{{1..9}}', '--jsonl', asker.out, '-q').returncode == 0
    row, = asker.ask_json('learned')['learned']
    assert row['recovery_s'] is None, 'nothing was refused, and it is said how long that lasts'
    assert row['limit_per_s'] == 0 and 'learned_per_s' not in asker.ask_json('limits')['limits'][0]
    assert re.search(r'^127\.0\.0\.1:\d+ +- +- +\d+ % +- +', asker.ask('learned').stdout, re.M)


def test_learned_is_shown_and_forgotten(asker):
    with Mock('--limit', 'rate=20/s burst=5') as api:
        name = f'127.0.0.1:{api.port}'
        asker.run(f'http://{name}/{{1..80}}', '--jsonl', asker.out)
    row, = asker.ask_json('learned')['learned']
    assert row['provider'] == name and row['limit_per_s'] > 0 and row['by'] == 'probe'
    limit, = asker.ask_json('limits')['limits']
    assert row['limit_per_s'] == limit['learned_per_s'], 'one limit, two numbers'
    assert name in asker.ask('learned', '-v').stdout
    assert asker.ask_json('learned', '--provider', 'other')['learned'] == []
    refused = asker.ask('learned', 'reset')
    assert refused.returncode == 2 and '--yes' in refused.stderr
    assert asker.ask('learned', 'reset', 'other', '--yes').stdout == 'forgotten: 0\n'
    assert len(asker.ask_json('learned')['learned']) == 1
    assert asker.ask('learned', 'reset', name, '--yes').stdout == 'forgotten: 1\n'
    assert asker.ask_json('learned')['learned'] == []
    assert asker.ask('learned', 'rest').returncode == 2


def test_what_is_learned_is_known_at_once(asker):
    """As soon as limits show a limit learned does; and it changed when its last event was."""
    with Mock('--limit', 'fixed=50/10s', '--dialect', 'ietf') as api:
        urls = asker.write([f'http://127.0.0.1:{api.port}/{i}' for i in range(1000)])
        process = asker.begin(urls, '--jsonl', asker.out)
        wait_for(lambda: asker.ask_json('limits')['limits'][0].get('limit_told'), process)
        shown = time.monotonic()
        wait_for(lambda: asker.ask_json('learned')['learned'], process)
        assert time.monotonic() - shown < 4
        told = asker.ask_json('learned')
        row, = told['learned']
        event, = told['events']
        assert row['limit_per_s'] == event['after_per_s'] == 5 and row['changed'] == event['at']
        stop(process)
        again = asker.ask_json('learned')
        assert again['learned'][0]['changed'] == again['events'][0]['at'] == row['changed']


def test_a_limit_is_never_lowered_to_nothing(asker, api):
    """What begins anew has no limit yet: that is no change of one."""
    words = ['--jsonl', asker.out, '--ledger', 'none', '--fresh', '-q']
    asker.run(f'{api}/{{1..5}}', *words, '--limit', 'adapt=aimd rate=50/s')
    asker.run(f'{api}/{{1..5}}', *words)
    told = asker.ask_json('learned')
    assert told['learned'][0]['limit_per_s'] == 0
    assert [e['after_per_s'] for e in told['events']] == [50], told['events']


def test_a_stated_limit_does_not_undo_what_was_learned(asker):
    def saved():
        with sqlite3.connect(asker.folder / 'state/flyball/state.db') as db:
            return db.execute('SELECT rate, state FROM learned').fetchall()
    with Mock('--limit', 'rate=50/s burst=5') as api:
        url = f'http://127.0.0.1:{api.port}'
        assert asker.run(f'{url}/{{1..20}}', '--jsonl', asker.out).returncode == 0
        (rate, state), = saved()
        assert b'probe' in state
        words = ['--rate', '20/s', '--jsonl', 'stated.jsonl', '--ledger', 'none']
        assert asker.run(f'{url}/{{1..5}}', *words).returncode == 0
        assert saved() == [(rate, state)]


def test_why_it_waits_for_the_rate(asker, api, running):
    for word in ('last', f'{api}/x?token=geheim'):
        told = asker.ask_json('why', word)
        assert told['verdict'] == 'waits' and told['cause'] == 'bucket'
        assert told['rule'] == 'rate=5/s burst=1 (command line)' and told['change']
        assert 'geheim' not in json.dumps(told)
    told = asker.ask_json('why', '999')
    assert told['verdict'] == 'waits' and told['until_in_s'] > 1 and told['item'] == '999'
    wait_for(lambda: asker.ask_json('why', '1')['verdict'] == 'done', running)
    stop(running)
    assert asker.ask_json('why', '999')['verdict'] == 'stopped'
    assert asker.ask_json('why', 'last')['verdict'] in ('waited', 'waits')


def test_why_by_host_and_by_list(asker, api, running):
    """What status and limits name can be asked about."""
    host = api.removeprefix('http://')
    for word in (host, host.upper(), 'list', './list', asker.folder / 'list', 'out.jsonl'):
        told = asker.ask_json('why', word)
        assert told['verdict'] == 'waits' and told['cause'] == 'bucket', told
        assert told['key']['provider'] == host
    assert asker.ask_json('why', 'list')['batch'] and 'next' not in asker.ask_json('why', 'list')
    stop(running)
    assert asker.ask_json('why', host)['key']['provider'] == host
    assert asker.ask_json('why', 'list')['next'].startswith('flyball fetch ')
    done = asker.ask('why', 'elsewhere.example')
    assert done.returncode == 3 and 'No item, batch, list or host of that name' in done.stdout


def test_verdict_and_sentence_are_of_one_moment(asker, api, running):
    assert running.poll() is None
    for word in ['last', api, api.removeprefix('http://')] * 10:
        told = asker.ask_json('why', word)
        said = told.get('sentence', '') + told['key'].get('why', '')
        assert ('Next start in' in said) <= (told['verdict'] == 'waits' and 'until' in told), told
        assert ('May start now' in said) <= (told['verdict'] == 'now'), told


def test_after_the_end_it_is_told_what_it_waited_for(asker):
    """Which item, when, how long, what the server had said, and what to do next."""
    with Mock('--limit', 'rate=5/s burst=5 penalty=2s', '--dialect', 'retry-after') as api:
        urls = asker.write([f'http://127.0.0.1:{api.port}/{i}' for i in range(300)])
        process = asker.begin(urls, '--jsonl', asker.out)
        wait_for(lambda: [w for w in asker.batches()[0]['waits'] if w['cause'] == 'hold'], process)
        stop(process)
    wait_for(lambda: asker.ask_json('why', 'last')['verdict'] == 'waited')
    told = asker.ask_json('why', 'last')
    assert told['cause'] == 'hold' and 1.5 < told['lasted_s'] < 30
    assert 1 <= asker.ask_json('learned')['learned'][0]['recovery_s'] <= 4, 'it was told to be 2'
    assert [w for w in told['waits'] if w['cause'] == 'hold' and w['span_s'] > 0]
    text = asker.ask('why', 'last').stdout
    for line in (r'. waits no longer; it did for [\d.]+ s, until .* ago \(\d\d:\d\d:\d\d\)',
                 r'  because  hold: .*', r'  rule     Retry-After: \d+, with status 429',
                 r'  key      127\.0\.0\.1:\d+, \d+ queued then', r'  refused  .* ago .*, item \d+',
                 r'  batch    fetch-[0-9a-f]{16}, \d+ of 300 \(\d+ %\)',
                 r'  in all   .*\bhold [\d.]+ m?s.*', r'  next     flyball fetch .*'):
        assert re.search(f'^{line}$', text, re.M), (line, text)


def test_the_whole_length_of_a_wait_is_told(asker, api):
    """Not what was left of it when it was looked at last."""
    urls = asker.write([f'{api}/{i}' for i in range(4)])
    assert asker.run(urls, '--jsonl', asker.out, '--limit', 'rate=0.7/s burst=1').returncode == 0
    told = asker.ask_json('why', 'last')
    assert told['cause'] == 'bucket' and 1.38 < told['lasted_s'] < 1.48, told
    assert 'it did for 1.4 s, until ' in asker.ask('why', 'last').stdout


def test_a_rerun_with_nothing_to_do_leaves_the_record(asker):
    with Mock('--limit', 'rate=20/s burst=5 penalty=2s', '--dialect', 'retry-after') as api:
        urls = asker.write([f'http://127.0.0.1:{api.port}/{i}' for i in range(40)])
        words = [urls, '--jsonl', asker.out, '--limit', 'rate=15/s burst=8']
        assert asker.run(*words).returncode == 0
        first = asker.ask_json('why', 'last')
        assert [w for w in first['waits'] if w['cause'] == 'hold'], first
        again = asker.run(*words)
        assert again.returncode == 0 and 'nothing is left to do' in again.stderr
        assert again.stderr.splitlines()[-1] == '0 done in this run; 40 of 40 done before'
        for word in ('last', 'list'):
            told = asker.ask_json('why', word)
            assert [told[k] for k in ('waits', 'verdict', 'next')] == \
                   [first[k] for k in ('waits', 'verdict', 'next')]
        # A record that does not say so is written anew, and so is that of a run with more to do.
        for record in (asker.folder / 'state').rglob('*.run'):
            record.unlink()
        assert asker.run(*words).returncode == 0
        assert asker.batches()[0]['items'] == {**asker.batches()[0]['items'], 'ok': 40, 'total': 40}
        assert 'waits' not in asker.ask_json('why', 'last')
        assert asker.run(*words, '--fresh').returncode == 0
        assert asker.batches()[0]['requests'] >= 40


def test_why_it_waits_for_a_hold(asker):
    with Mock('--limit', 'fixed=5/1d', '--dialect', 'retry-after') as api:
        url = f'http://127.0.0.1:{api.port}'
        urls = asker.write([f'{url}/{i}' for i in range(20)])
        process = asker.begin(urls, '--jsonl', asker.out, '--limit', 'adapt=off')
        wait_for(lambda: asker.ask_json('why', 'last').get('cause') == 'hold', process)
        told = asker.ask_json('why', f'{url}/x')
        assert told['verdict'] == 'waits' and told['until_in_s'] > 60
        assert told['rule'].startswith('Retry-After: ') and 'status 429' in told['rule']
        text = asker.ask('why', url).stdout
        assert re.search(r'waits until \d\d:\d\d:\d\d, in \d+', text)
        for label in ('because', 'rule', 'key', 'change', 'source'):
            assert re.search(rf'^  {label} ', text, re.M), label
        assert asker.ask_json('limits')['limits'][0]['state'] == 'holding'
        stop(process)
        told = asker.ask_json('why', 'last')
        assert told['verdict'] == 'waits' and told['cause'] == 'hold'


def hold_elsewhere(asker, url):
    """A run with other records than ours is refused for a minute: the ledger is all we share."""
    other = Asker(asker.folder)
    other.env = {**asker.env, 'XDG_STATE_HOME': str(asker.folder / 'elsewhere')}
    process = other.start(other.write([f'{url}/{i}' for i in range(30)], name='theirs'),
                          '--jsonl', 'theirs.jsonl', '--limit', 'adapt=off')
    wait_for(lambda: other.ask_json('why', 'theirs.jsonl', code=None).get('cause') == 'hold',
             process)
    stop(process)
    return other


def test_of_a_batch_that_runs_every_question_has_one_answer(asker):
    """Its pace in a climb is that of its limiter, and not of a copy, which would begin anew."""
    with Mock('--dialect', 'none') as api:
        url = f'http://127.0.0.1:{api.port}'
        urls = asker.write([f'{url}/{i}' for i in range(5000)])
        process = asker.begin(urls, '--jsonl', asker.out)
        wait_for(lambda: asker.batches()[0]['items']['ok'] > 20, process)
        for _ in range(10):
            for word in ('last', url):
                told = asker.ask_json('why', word)
                assert 'which runs' in told['source'], told
                if told['verdict'] == 'waits':
                    assert 'climbing' in told['sentence'] and told['until_in_s'] < 0.5, told
            time.sleep(0.05)
        stop(process)


def test_a_question_leaves_a_damaged_ledger_alone(asker, api):
    """It is set aside by who wants to send: those who only ask read."""
    assert asker.run(f'{api}/{{1..3}}', '--jsonl', asker.out, '-q', *SLOW).returncode == 0
    ledger, = asker.folder.rglob('ledger')
    ledger.write_bytes(ledger.read_bytes()[:12] + b'x' * (ledger.stat().st_size - 12))
    os.utime(ledger, (1, 1))
    before = {p: p.stat().st_mtime_ns for p in ledger.parent.iterdir()}
    for words in (['why', api], ['why', 'last'], ['limits'], ['learned'], ['status'],
                  ['top', '--once'], ['fetch', f'{api}/{{1..9}}', '--plan']):
        assert asker.ask(*words).returncode == 0, words
    assert {p: p.stat().st_mtime_ns for p in ledger.parent.iterdir()} == before
    assert asker.run(f'{api}/{{1..3}}', '--jsonl', 'other.jsonl', '-q', *SLOW).returncode == 0
    assert ledger.with_name('ledger.damaged').exists()


def test_a_hold_that_another_run_was_told(asker):
    """A fetch that began now would obey it: so the plan begins after it, and why names it."""
    with Mock('--limit', 'rate=5/s burst=5 penalty=60s', '--dialect', 'retry-after') as api:
        url = f'http://127.0.0.1:{api.port}'
        ours = [asker.write([f'{url}/{i}' for i in range(100)]), '--jsonl', asker.out]
        process = asker.begin(*ours, '--limit', 'rate=2/s burst=1')
        stop(process)
        assert asker.ask_json('why', 'list')['cause'] != 'hold'
        other = hold_elsewhere(asker, url)
        for word in (url, url.removeprefix('http://'), 'list', 'last'):
            told = asker.ask_json('why', word)
            assert told['verdict'] == 'waits' and told['cause'] == 'hold', (word, told)
            assert 30 < told['until_in_s'] <= 62, told
            assert 'ledger' in told['source'], told
        assert asker.ask_json('limits')['limits'][0]['state'] == 'holding'
        for more in ([], ['--rate', '2/s']):
            plan = json.loads(asker.run(*ours, '--plan', '--json', *more).stdout)
            check_answer(plan, 'plan')
            assert plan['waits']['cause'] == 'hold' and 30 < plan['waits']['until_in_s'] <= 62
        assert plan['duration_s'] > plan['waits']['until_in_s'] + 40
        text = asker.run(*ours, '--plan').stdout
        assert re.search(r'^waits +until [\d:]{8}, .* from now: a refusal holds 127', text, re.M)
        # Without a ledger it is the store that knows.
        other.env['FLYBALL_LEDGER'] = str(asker.folder / 'none')
        for record in (asker.folder / 'elsewhere').rglob('*.run'):
            record.unlink()
        told = other.ask_json('why', url)
        assert told['verdict'] == 'waits' and told['cause'] == 'hold', told
        assert not (asker.folder / 'none').exists(), 'a question has made a ledger'
        words = [asker.write([f'{url}/x']), '--plan', '--json', '--jsonl', 'x.jsonl',
                 '--limit', 'adapt=off']
        assert json.loads(other.run(*words).stdout)['waits']['cause'] == 'hold'
        assert not (asker.folder / 'none').exists()


def test_what_is_asked_for_is_shown_without_its_query(asker):
    for word in ('api.example.com/x?token=canary', 'http://api.example.com/x?token=canary'):
        done = asker.ask('why', word)
        assert done.returncode == 3 and 'api.example.com/x' in done.stdout
        assert 'canary' not in done.stdout + done.stderr


def test_why_it_is_deferred_or_failed(asker):
    with Mock('--limit', 'fixed=2/1d', '--dialect', 'retry-after') as api:
        urls = asker.write([{'url': f'http://127.0.0.1:{api.port}/{i}', 'id': f'n-{i}'}
                            for i in range(4)])
        done = asker.run(urls, '--jsonl', asker.out, '--limit', 'adapt=off', '--max-wait', '1s')
    assert done.returncode == 4, done.stderr
    deferred = [r['id'] for r in asker.results() if r['outcome'] == 'deferred']
    told = asker.ask_json('why', deferred[0])
    assert told['verdict'] == 'deferred' and told['until_in_s'] > 60
    rows = asker.ask_json('deferred')['deferred']
    assert {d['id'] for d in rows} == set(deferred)
    for said in [told['sentence'], *(d['reason'] for d in rows)]:
        assert said and not re.search(r'\bin \d|\bago\b', said), 'a word that is false later'
    assert f'{len(deferred)} put off' in asker.ask('why', 'last').stdout
    urls = asker.write(['http://127.0.0.1:9/'], name='other')
    asker.run(urls, '--jsonl', 'o.jsonl', '--retries', '0')
    told = asker.ask_json('why', '1')
    assert told['verdict'] == 'failed' and 'attempt' in told['sentence']


def test_retries_are_bounded_and_told(asker, origin):
    for retries, asked in ((0, 1), (1, 2)):
        url = f'{origin.url}/status/500/{retries}'
        done = asker.run(url, '--jsonl', f'{retries}.jsonl', '--retries', retries)
        assert done.returncode == 3, done.stderr
        assert len([p for p in origin.paths() if p.endswith(f'/500/{retries}')]) == asked
        told = asker.ask_json('why', 'last')['sentence']
        assert ('1 request was made again after a failure' in told) == (retries == 1), told


@pytest.mark.parametrize('answer', ['500', 'the connection was refused'])
def test_of_a_provider_that_is_down_it_is_said_what_it_does(asker, origin, answer):
    """Not only that a breaker is open: what came of the last requests."""
    where = f'{origin.url}/status/{answer}' if answer == '500' else 'http://127.0.0.1:9'
    urls = asker.write([f'{where}/{i}' for i in range(40)])
    process = asker.begin(urls, '--jsonl', asker.out, '--limit', 'adapt=off')
    wait_for(lambda: asker.batches()[0]['keys'][0].get('cause') in ('breaker', 'pause'), process)
    key = asker.batches()[0]['keys'][0]
    assert key['failures']['in_a_row'] >= 5
    assert str(key['failures'].get('status', key['failures'].get('text'))) == answer
    for said in (asker.ask('status'), asker.ask('top', '--once')):
        assert re.search(f'(breaker|pause): {answer}', said.stdout), said.stdout
    rule = asker.ask_json('why', f'{where}/1')['rule']
    assert re.fullmatch(f'the last [0-9]+ .*{answer}', rule), rule
    talk = stop(process)[1]
    assert re.search(f'holding .*the last [0-9]+ .*{answer}', talk), talk


def test_a_window_of_any_width_is_kept_to(asker, running):
    for columns in (40, 80, 160):
        here, there = pty.openpty()
        subprocess.run(['stty', 'cols', str(columns)], stdin=there, check=True)
        process = subprocess.Popen([FLYBALL, 'top', '--once'], stdin=there, stdout=there,
                                   env={**asker.env, 'NO_COLOR': '1', 'LC_ALL': 'C.UTF-8'})
        process.wait(timeout=LONG_S)
        seen = os.read(here, 65536).decode()
        assert max(map(len, seen.splitlines())) <= columns, (columns, seen)
        os.close(here)
        os.close(there)
    assert running.poll() is None
