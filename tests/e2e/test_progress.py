# SPDX-License-Identifier: MIT
"""`flyball fetch` tells how far it is: on terminals of any width, in files, to programs."""
import json
import re
import signal
import subprocess
import time
from datetime import datetime, timedelta, timezone

import pytest

import terminal
from batch import FLYBALL, LONG_S
from mock_api import Mock
from schemas import check_answer
from terminal import drawn

PACE = ['--limit', 'rate=40/s burst=1']


def on_terminal(batch, columns, *words, **env):
    return terminal.on_terminal(batch.command(*words), columns, batch.folder, batch.env, **env)


@pytest.mark.parametrize('columns', [40, 80, 160])
def test_live_line(batch, api, columns):
    code, seen = on_terminal(batch, columns, f'{api}/{{1..80}}', '--jsonl', batch.out, *PACE)
    assert code == 0
    lines = drawn(seen)
    assert len(lines) >= 3
    assert all(len(line) < columns for line in lines[:-1])
    live = next(line for line in lines if 'ETA ' in line)
    assert re.search(r'\d+/80\b', live) and re.search(r'[\d.]+/s', live)
    if columns > 40:
        assert '429s 0' in live and 'bound by 40.0/s' in live
    if columns > 80:
        assert re.search(r'\[=*> *\]', live) and ' %' in live and '127.0.0.1:' in live
    summary = ' '.join(seen.rpartition('\r\x1b[K')[2].split())
    assert summary.startswith('80 done in ') and ' 80 ok, ' in summary


def test_colour_and_progress_are_two_switches(batch, api):
    words = [f'{api}/{{1..20}}', '--fresh', '--jsonl', batch.out, *PACE]
    for env in ({'NO_COLOR': '1'}, {}):
        seen = on_terminal(batch, 80, *words, *([] if env else ['--color=never']), **env)[1]
        assert '\r\x1b[K' in seen and not re.search(r'\x1b\[[\d;]*m', seen)
    seen = on_terminal(batch, 80, *words, TERM='dumb')[1].replace('\r\n', '\n')
    assert '\x1b' not in seen and '\r' not in seen and '20 done in ' in seen
    seen = on_terminal(batch, 80, *words, '--progress=plain')[1].replace('\r\n', '\n')
    assert '\x1b' not in seen and '\r' not in seen


def test_nothing_is_redrawn_in_a_file(batch, api):
    for more in ([], ['--progress=bar']):
        done = batch.run(f'{api}/{{1..20}}', '--fresh', *PACE, *more)
        assert done.returncode == 0 and len(done.stdout.splitlines()) == 20
        assert '\r' not in done.stderr and '\x1b' not in done.stderr
        assert done.stderr.startswith('20 done in ')


def test_the_summary_says_no_more_than_there_is_to_say(batch, api):
    """One is no pace; and where nothing was left only what was before is worth a word."""
    words = [f'{api}/1', f'{api}/2?status=404', '--jsonl', batch.out, *PACE]
    one = batch.run(words[0], *words[2:]).stderr
    assert re.fullmatch(r'1 done in [\d.]+ m?s: 1 ok, 0 failed, 0 deferred, 0 skipped; 1 request, '
                        r'0 throttled\n', one), one
    assert batch.run(*words, '--fresh').returncode == 3
    again = batch.run(*words)
    assert again.returncode == 3
    assert again.stderr.splitlines()[-1] == \
        '0 done in this run; 2 of 2 done before, where 1 failed', again.stderr


def test_quiet_is_silent(batch, api):
    done = batch.run(f'{api}/{{1..9}}', '--fresh', '-q', '--progress=json', *PACE)
    assert (done.returncode, done.stderr) == (0, '')
    done = batch.run(f'{api}/{{1..9}}', '--fresh', '--progress=none', *PACE)
    assert done.returncode == 0 and len(done.stderr.splitlines()) == 1


def test_json(batch, api):
    urls = batch.write([f'{api}/a', 'no url', f'{api}/b?status=404',
                        *[f'{api}/{i}' for i in range(80)]])
    done = batch.run(urls, '--keep-going', '--progress=json', *PACE)
    assert done.returncode == 3
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    kinds = [line['type'] for line in lines]
    assert kinds.count('summary') == 1 and kinds[-1] == 'summary' and 'progress' in kinds
    assert lines[-1]['done'] == 82 and lines[-1]['ok'] == 81 and lines[-1]['failed'] == 1
    assert sum('item' in line['text'] for line in lines if line['type'] == 'message') == 1
    live = lines[kinds.index('progress')]
    assert live['total'] >= 82 and live['bound']['by'] == '40.0/s' and live['eta'].endswith('Z')


def test_a_signal_asks(batch, api):
    process = batch.start(f'{api}/{{1..2000}}', '--jsonl', batch.out, *PACE)
    end = time.monotonic() + LONG_S
    while not batch.out.exists() or not batch.out.read_text():
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(signal.SIGUSR1)
    line = process.stderr.readline()
    assert re.match(r'\d{4}-\d\d-\d\dT[\d:]+Z fetch done=\d+ total=2000 rate=[\d.]+ '
                    r'bound=40.0/s eta=\S+Z in_flight=\d+ throttled=0 failed=0 deferred=0$', line)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=LONG_S)[1]
    assert process.returncode == 130 and 'resume: flyball fetch' in told


def test_a_hold_is_explained(batch):
    with Mock('--limit', 'rate=5/s burst=3 penalty=8s', '--dialect', 'retry-after') as api:
        done = batch.run(f'http://127.0.0.1:{api.port}/{{1..4}}', '--limit',
                         'adapt=off concurrency=40')
    assert done.returncode == 0
    held = [line for line in done.stderr.splitlines() if line.startswith('holding ')]
    assert 1 <= len(held) <= 2
    for line in held:
        assert re.match(r'holding 127.0.0.1:\d+ for \d+ s: server said Retry-After \d+ '
                        r'\(429 on item [\d.]+\)\. Nothing lost; \d+ done\. Ctrl-C stops safely\.$',
                        line)


def test_what_headers_tell_is_no_search(batch):
    """60 in 10 s is what the first answer says: nothing is learned from then on."""
    with Mock('--limit', 'fixed=60/10s', '--dialect', 'ietf') as api:
        seen = on_terminal(batch, 100, f'http://127.0.0.1:{api.port}/{{1..12}}', '--jsonl',
                           batch.out)[1]
    told = [line for line in drawn(seen) if ' left' in line and '12/12' not in line]
    assert told and not [line for line in told if '?' in line or 'learning' in line], told
    assert 'of 6.00' in told[0] or 'bound by' in told[0], told[0]


def test_while_it_waits_the_end_does_not_move_away(batch):
    """No limit is known: what is counted while nothing may leave says nothing about the rest."""
    with Mock('--limit', 'rate=50/s burst=3 penalty=6s', '--dialect', 'retry-after') as api:
        done = batch.run(f'http://127.0.0.1:{api.port}/{{1..6}}', '--jsonl', batch.out,
                         '--limit', 'adapt=off concurrency=40', '--progress=json')
    ended = datetime.now(timezone.utc)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    held = [line for line in lines if line['type'] == 'progress' and line['done'] == 3]
    assert len(held) >= 3, lines
    assert all('eta' in line and line['bound']['by'] == 'hold' for line in held), held
    ends = [datetime.fromisoformat(line['eta'].replace('Z', '+00:00')) for line in held]
    assert max(ends) - min(ends) <= timedelta(seconds=1), ends  # they are in whole seconds
    assert abs(ends[0] - ended) < timedelta(seconds=4), (ends, ended)


def test_who_waits_says_nothing_about_the_others(batch):
    """One host holds; the end is that of the other, of which more and more has ended."""
    with Mock('--limit', 'rate=50/s burst=1 penalty=9s', '--dialect', 'retry-after') as shut, \
            Mock('--latency', '400ms', '--dialect', 'none') as free:
        urls = batch.write([*[f'http://127.0.0.1:{shut.port}/{i}' for i in range(2)],
                            *[f'http://127.0.0.1:{free.port}/{i}' for i in range(300)]])
        done = batch.run(urls, '--jsonl', batch.out, '--limit', 'adapt=off concurrency=5',
                         '--progress=json')
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    began = next(line for line in lines if line['type'] == 'progress' and line['done'] >= 60)
    left_s = lines[-1]['seconds'] - 60 / lines[-1]['done'] * lines[-1]['seconds']
    assert began['bound'] == {'by': 'answers', 'provider': f'127.0.0.1:{free.port}',
                              'pool': 'default'}, began
    assert 0.7 * left_s < began['eta_s'] < 1.4 * left_s, (began, lines[-1])


def test_a_refusal_of_the_run_before_is_not_denied(batch):
    """Stopped while it held: what it goes on with knows of no limit yet, but one was met."""
    with Mock('--limit', 'rate=5/s burst=5 penalty=8s', '--dialect', 'retry-after') as api:
        words = [f'http://127.0.0.1:{api.port}/{{1..60}}', '--jsonl', batch.out]
        process = batch.start(*words)
        assert process.stderr.readline().startswith('holding ')
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LONG_S)
        before = batch.out.read_text().count('\n')
        process = batch.start(*words)
        end = time.monotonic() + LONG_S
        while batch.out.read_text().count('\n') < before + 2:
            assert time.monotonic() < end
            time.sleep(0.05)
        said = [subprocess.run([FLYBALL, *what], env=batch.env, text=True, capture_output=True,
                               check=False).stdout for what in (['why', 'last'], ['limits'])]
        process.kill()
        process.communicate()
    assert 'no limit known yet, climbing' in ' '.join(said[0].split()), said[0]
    assert 'not known yet; nothing has refused in this run' in said[1], said[1]


def test_mistakes(batch):
    for option in ('--progress=quick', '--color=red'):
        done = batch.run('http://127.0.0.1:1/', option)
        assert done.returncode == 2 and option.split('=', maxsplit=1)[0] in done.stderr


def rows(text):
    return dict(line.split(maxsplit=1) for line in text.replace('bound by', 'bound').splitlines())


def test_a_plan_sends_nothing(batch):
    with Mock() as api:
        urls = batch.write([f'http://127.0.0.1:{api.port}/{i}' for i in range(5000)])
        done = batch.run(urls, '--jsonl', batch.out, '--plan', '--rate', '2/s')
        assert (done.returncode, done.stderr) == (0, '')
        told = rows(done.stdout)
        assert told['requests'] == '5,000' and told['duration'] == '41m 40s'
        assert told['bound'].startswith('2.00/s (127.0.0.1:') and \
            re.fullmatch(r'\d\d:\d\d:\d\d', told['finish'])
        told = rows(batch.run(urls, '--plan', '--limit', 'window=1000/1h margin=0%').stdout)
        assert told['bound'].startswith('1000/h') and told['duration'] == '4h'
        told = rows(batch.run(urls, '--plan').stdout)
        assert 'learned' in told['bound'] and told['duration'].startswith('not known')
        done = batch.run(urls, '--plan', '--rate', '2/s', '--progress=json')
        assert json.loads(done.stdout)['requests'] == 5000
        done = batch.run(urls, '--plan', '--rate', '2/s', '--json')
        told = check_answer(json.loads(done.stdout), 'plan')
        assert told['requests'] == 5000 and told['bound']['by'] == '2.00/s'
        assert 2400 < told['duration_s'] < 2600 and told['finish'] > told['now']
        told = check_answer(json.loads(batch.run(urls, '--plan', '--json').stdout), 'plan')
        assert told['learning'] and 'duration_s' not in told and 'finish' not in told
        done = batch.run(urls, '--json')
        assert done.returncode == 2 and 'only with --plan' in done.stderr
        done = batch.run(urls, '--plan', '--retry-failed')
        assert done.returncode == 2 and '--plan' in done.stderr
        assert api.stats()['arrivals'] == 0
    assert not batch.out.exists() and not batch.journals()


def test_a_plan_says_how_sure_a_learned_limit_is(batch):
    """What one refusal told may be far off, and the time that comes from it as well."""
    with Mock('--limit', 'rate=20/s burst=10 penalty=2s', '--dialect', 'retry-after') as api:
        url = f'http://127.0.0.1:{api.port}'
        assert batch.run(f'{url}/a/{{1..60}}', '--jsonl', batch.out, '-q').returncode == 0
        told = batch.run(f'{url}/b/{{1..200}}', '--plan').stdout
        plan = batch.run(f'{url}/b/{{1..200}}', '--plan', '--json').stdout
    sure = re.search(r'^~[\d.]+/s \(\S+\), learned, confidence (\d+) %$', rows(told)['bound'])
    assert sure and check_answer(json.loads(plan), 'plan')['confidence'] == \
        pytest.approx(int(sure[1]) / 100, abs=0.006), told


def test_a_plan_knows_what_is_done(batch, api):
    urls = batch.write([f'{api}/{i}' for i in range(60)])
    assert batch.run(urls, '--jsonl', batch.out, '-q', *PACE).returncode == 0
    with open(urls, 'a', encoding='utf-8') as f:
        f.write(''.join(f'{api}/more/{i}\n' for i in range(40)))
    before = batch.out.read_bytes()
    told = rows(batch.run(urls, '--jsonl', batch.out, '--plan', '--rate', '2/s').stdout)
    assert told['requests'] == '40 (60 are done)' and told['duration'] == '20 s'
    assert batch.out.read_bytes() == before
    assert batch.run(urls, '--jsonl', batch.out, '-q', *PACE).returncode == 0
    assert len(batch.results()) == 100
    told = rows(batch.run(urls, '--jsonl', batch.out, '--plan').stdout)
    assert told == {'requests': '0 (100 are done)'}


def test_a_plan_knows_the_quota_that_an_earlier_batch_was_told(batch):
    with Mock('--limit', 'fixed=5000/1h', '--dialect', 'ietf') as api:
        url = f'http://127.0.0.1:{api.port}'
        assert batch.run(f'{url}/a/{{1..30}}', '--jsonl', batch.out, '-q').returncode == 0
        fits = json.loads(batch.run(f'{url}/b/{{1..4970}}', '--plan', '--progress=json').stdout)
        opened = json.loads(batch.run(f'{url}/b/{{1..5000}}', '--plan', '--progress=json').stdout)
        plan = json.loads(batch.run(f'{url}/b/{{1..25000}}', '--plan', '--progress=json').stdout)
        known = subprocess.run([FLYBALL, 'limits', '--json'], env=batch.env, check=True,
                               stdout=subprocess.PIPE).stdout
        kept = batch.run(f'{url}/b/{{1..25000}}', '--plan', '--limit', 'pacing=even')
        assert api.stats()['arrivals'] == 30
    # What fits into what is left is not spread over it.
    assert 'eta_s' not in fits['now'] and not fits['now']['learning']
    # What is left until the reset, four windows, and thirty of the sixth.
    assert plan['now']['remaining'] == 4970
    reset_s = json.loads(known)['limits'][0]['quota']['reset_in_s']
    assert plan['now']['eta_s'] == pytest.approx(reset_s + 4.006 * 3600, rel=0.05)
    assert opened['now']['eta_s'] <= 1.2 * 3600 and 'duration  not known' not in kept.stdout
