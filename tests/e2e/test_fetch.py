# SPDX-License-Identifier: MIT
"""`flyball fetch`: lists in, results out, and an exit code that says how it went."""
import base64
import json
import re
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from batch import FAST, LONG_S
from mock_api import Mock


def test_a_list_of_urls(batch, origin):
    urls = batch.write([f'{origin.url}/ok/{i}' for i in range(1, 51)])
    done = batch.run(urls, '--jsonl', batch.out, '--quiet', *FAST)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')
    results = batch.by_id()
    assert set(results) == {str(i) for i in range(1, 51)}
    for i in range(1, 51):
        r = results[str(i)]
        assert (r['url'], r['status'], r['outcome']) == (f'{origin.url}/ok/{i}', 200, 'ok')
        assert r['attempts'] == 1 and r['waited_ms'] >= 0
        assert json.loads(r['body']) == {'path': f'/ok/{i}'}
        assert r['body_bytes'] == len(r['body'])
        assert r['headers']['content-type'] == 'application/json'
    assert sorted(origin.paths()) == sorted(f'/ok/{i}' for i in range(1, 51))


def test_results_on_standard_output(batch, origin):
    urls = batch.write([f'{origin.url}/ok/1', '', '# a remark', f'{origin.url}/ok/2'])
    done = batch.run('-i', urls, '-q', *FAST)
    assert done.returncode == 0
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert {r['id'] for r in results} == {'1', '4'}
    assert all('body' in r for r in results)
    assert batch.journals() == []


def test_standard_input_and_urls_as_words(batch, origin):
    done = batch.run('-', '-q', *FAST, stdin=f'{origin.url}/ok/a\n{origin.url}/ok/b')
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2
    done = batch.run(f'{origin.url}/ok/c', f'{origin.url}/ok/d', '-q', *FAST)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2


def test_ranges(batch, origin):
    done = batch.run(f'{origin.url}/ok/{{8..11}}/{{01..02}}', '--jsonl', batch.out, '-q', *FAST)
    assert done.returncode == 0
    assert sorted(origin.paths()) == sorted(f'/ok/{a}/{b}' for a in (8, 9, 10, 11)
                                            for b in ('01', '02'))
    assert set(batch.by_id()) == {f'1.{k}' for k in range(1, 9)}


def test_json_lines(batch, origin):
    lines = batch.write([
        {'url': f'{origin.url}/ok/1', 'id': 'first', 'headers': {'X-Own': 'yes'},
         'priority': 'high', 'operation': 'validate', 'cost': 2},
        {'url': f'{origin.url}/ok/2', 'method': 'PUT', 'body': 'text', 'id': 17},
        {'url': f'{origin.url}/ok/3', 'body': {'n': [1, 2]}},
    ])
    done = batch.run(lines, '--jsonl', batch.out, '-q', '--request-id', '-H', 'X-All: too',
                     '-H', 'X-Own: no', *FAST)
    assert done.returncode == 0, done.stderr
    assert set(batch.by_id()) == {'first', '17', '3'}
    seen = {a['path']: a for a in origin.arrivals}
    assert seen['/ok/1']['headers']['X-Own'] == 'yes'
    assert seen['/ok/1']['headers']['X-All'] == 'too'
    assert seen['/ok/1']['id'] == 'first'
    assert (seen['/ok/2']['method'], seen['/ok/2']['body']) == ('PUT', b'text')
    assert (seen['/ok/3']['method'], seen['/ok/3']['body']) == ('POST', b'{"n":[1,2]}')
    assert seen['/ok/3']['headers']['Content-Type'] == 'application/json'
    assert seen['/ok/3']['headers']['User-Agent'].startswith('flyball/')


def test_a_file_for_each_body(batch, origin):
    lines = batch.write([{'url': f'{origin.url}/ok/1', 'id': 'plain'},
                         {'url': f'{origin.url}/binary', 'id': '../../etc/x'}])
    done = batch.run(lines, '-o', 'bodies', '-q', *FAST)
    assert done.returncode == 0, done.stderr
    results = batch.by_id(batch.folder / 'bodies/flyball.jsonl')
    assert json.loads((batch.folder / 'bodies/plain').read_text()) == {'path': '/ok/1'}
    name = results['../../etc/x']['file']
    assert '/' not in name and (batch.folder / 'bodies' / name).read_bytes() == b'\xff\x00\xfe'
    assert all('body' not in r for r in results.values())


def test_bytes_that_are_not_text(batch, origin):
    done = batch.run(f'{origin.url}/binary', '-q', *FAST)
    result = json.loads(done.stdout)
    assert base64.b64decode(result['body_base64']) == b'\xff\x00\xfe' and 'body' not in result


def test_exit_code_of_failures(batch, origin):
    urls = batch.write([f'{origin.url}/ok/1', f'{origin.url}/status/404/x?key=SECRET'])
    done = batch.run(urls, '--jsonl', batch.out, '-q', *FAST)
    assert done.returncode == 3
    assert 'item 2' in done.stderr and '404' in done.stderr and 'SECRET' not in done.stderr
    results = batch.by_id()
    assert results['2']['outcome'] == 'failed' and results['2']['status'] == 404
    assert results['2']['error']['class'] == '4xx'


def test_what_a_list_says_does_nothing_to_a_terminal(batch, origin):
    name = 'a\x1b[2Jb\nflyball fetch: done'
    tasks = batch.write([{'url': f'{origin.url}/status/404', 'id': name}])
    done = batch.run(tasks, '--jsonl', batch.out, *FAST)
    assert done.returncode == 3
    assert 'item a?[2Jb?flyball fetch: done (' in done.stderr.splitlines()[0]
    assert '\x1b' not in done.stderr
    assert list(batch.by_id()) == [name]


def test_a_long_hold_defers_and_is_listed(batch, origin):
    urls = batch.write([f'{origin.url}/hold/7000?token=SECRET', f'{origin.url}/hold/7000'])
    done = batch.run(urls, '--jsonl', batch.out, '-q', '--max-wait', '10s', *FAST)
    assert done.returncode == 4, done.stderr
    assert {r['outcome'] for r in batch.results()} == {'deferred'}
    now = time.time()
    assert all(now + 6000 < r['not_before_s'] < now + 8000 for r in batch.results())
    listed = subprocess.run([batch.command()[0], 'deferred', '--json'], env=batch.env, text=True,
                            capture_output=True, check=True, timeout=LONG_S)
    told = json.loads(listed.stdout)
    assert told['schema'] == 'flyball.deferred/1'
    assert {d['id'] for d in told['deferred']} == {'1', '2'}
    assert 'SECRET' not in listed.stdout
    plain = subprocess.run([batch.command()[0], 'deferred'], env=batch.env, text=True,
                           capture_output=True, check=True, timeout=LONG_S)
    assert len(plain.stdout.splitlines()) == 1 + 2  # the names of the columns, and both


def test_a_journal_that_cannot_be_read_does_not_say_that_nothing_is_deferred(batch):
    batch.write(['neither a journal nor anything else'], 'junk')
    for name, says in (('none', 'none: No such file'), ('junk', 'junk: it is damaged')):
        listed = subprocess.run([batch.command()[0], 'deferred', '--journal', name],
                                cwd=batch.folder, env=batch.env, text=True,
                                capture_output=True, check=False, timeout=LONG_S)
        assert (listed.returncode, listed.stdout) == (1, ''), listed
        assert says in listed.stderr


def test_what_comes_after_a_long_hold_is_deferred_too(batch, origin):
    urls = batch.write([f'{origin.url}/hold/7000/{i}' for i in range(3000)] +
                       [{'url': f'{origin.url}/ok/post', 'method': 'POST', 'body': 'x'}])
    done = batch.run(urls, '--jsonl', batch.out, '-q', '--max-wait', '10s', '--limit',
                     'adapt=off concurrency=2')
    assert done.returncode == 4, done.stderr
    assert len(batch.by_id()) == 3001 and len(origin.paths()) < 10


def test_deferred_ones_are_run_again_at_their_time(batch, origin):
    urls = batch.write([f'{origin.url}/once/3/a'])
    words = [urls, '--jsonl', batch.out, '-q', *FAST]
    assert batch.run(*words, '--max-wait', '1s').returncode == 4
    assert batch.run(*words).returncode == 4  # without being asked to, it does not
    assert len(origin.paths()) == 1
    done = batch.run(*words, '--deferred')
    assert done.returncode == 0, done.stderr
    assert batch.by_id()['1']['outcome'] == 'ok'
    first, second = (a['at'] for a in origin.arrivals)
    assert second - first >= 3
    listed = subprocess.run([batch.command()[0], 'deferred'], env=batch.env, text=True,
                            capture_output=True, check=True, timeout=LONG_S)
    assert listed.stdout == 'nothing is deferred\n'


def test_what_is_still_deferred_stays_so(batch, origin):
    urls = batch.write([f'{origin.url}/once/6000/a', f'{origin.url}/once/6000/b'])
    words = [urls, '--jsonl', batch.out, '-q', '--max-wait', '1s', *FAST]
    assert batch.run(*words).returncode == 4
    seen = len(origin.paths())
    before = {k: r['not_before_s'] for k, r in batch.by_id().items()}
    assert batch.run(*words, '--deferred').returncode == 4
    assert len(origin.paths()) == seen
    assert {k: r['not_before_s'] for k, r in batch.by_id().items()} == before


def test_the_list_is_not_written_over(batch, origin):
    urls = batch.write([f'{origin.url}/ok/1'])
    text = urls.read_text()
    done = batch.run(urls, '--jsonl', urls)
    assert done.returncode == 2 and 'the list itself' in done.stderr
    assert urls.read_text() == text


def test_results_of_another_list_are_not_written_over(batch, origin, tmp_path):
    urls = batch.write([f'{origin.url}/ok/1', f'{origin.url}/ok/2'])
    assert batch.run(urls, '--jsonl', batch.out, *FAST).returncode == 0
    before = batch.out.read_bytes()
    other = tmp_path / 'other.txt'
    other.write_text(f'{origin.url}/ok/3\n')
    done = batch.run(other, '--jsonl', batch.out, *FAST)
    assert done.returncode == 1 and 'holds something else' in done.stderr
    assert '--fresh' in done.stderr and batch.out.read_bytes() == before
    assert batch.run(other, '--jsonl', batch.out, '--fresh', *FAST).returncode == 0
    assert [r['url'] for r in batch.by_id().values()] == [f'{origin.url}/ok/3']


def test_results_and_metrics_are_two_files(batch, origin):
    urls = batch.write([f'{origin.url}/ok/1'])
    done = batch.run(urls, '--jsonl', batch.out, '--metrics-csv', batch.out)
    assert done.returncode == 2 and 'name two files' in done.stderr
    assert not batch.out.exists()


def test_alternatives(batch, origin):
    lines = batch.write([{'url': f'{origin.url}/status/404', 'operation': 'resolve',
                          'alternatives': [f'{origin.url}/ok/other']}])
    done = batch.run(lines, '--jsonl', batch.out, '-q', '--recovery', 'resolve/4xx=failover',
                     *FAST)
    assert done.returncode == 0, done.stderr
    result = batch.results()[0]
    assert (result['outcome'], result['alternative']) == ('ok', 1)
    assert result['final_url'].endswith('/ok/other')


def test_alternatives_need_no_rule(batch, origin):
    """What would be given up goes to the next source; a POST that was answered does not."""
    others = {'alternatives': [f'{origin.url}/status/410', f'{origin.url}/ok/other']}
    lines = batch.write([{'url': f'{origin.url}/status/404', 'id': 'gone', **others},
                         {'url': f'{origin.url}/status/404', 'id': 'post', 'body': 'x', **others}])
    done = batch.run(lines, '--jsonl', batch.out, '-q', *FAST)
    assert done.returncode == 3
    results = batch.by_id()
    assert (results['gone']['outcome'], results['gone']['alternative']) == ('ok', 2)
    assert results['post']['outcome'] == 'failed'
    assert len([a for a in origin.arrivals if a['method'] == 'POST']) == 1


def test_headers_do_not_frame_a_request(batch, origin):
    """Five bytes that are told and not sent would be the first five of the next request."""
    lines = batch.write([
        {'url': f'{origin.url}/ok/1', 'id': 'long', 'headers': {'content-length': '5'}},
        {'url': f'{origin.url}/ok/2', 'id': 'te', 'headers': {'Transfer-Encoding': 'chunked'}},
        {'url': f'{origin.url}/ok/3', 'id': 'true', 'body': 'abcde',
         'headers': {'Content-Length': '5'}}])
    done = batch.run(lines, '--jsonl', batch.out, '-q', *FAST)
    assert done.returncode == 3
    results = batch.by_id()
    assert [results[i]['outcome'] for i in ('long', 'te', 'true')] == ['failed', 'failed', 'ok']
    assert results['te']['error']['class'] == 'bad-request'
    assert origin.paths() == ['/ok/3'] and origin.arrivals[0]['body'] == b'abcde'


def test_a_header_may_be_given_more_than_once(batch, origin):
    lines = batch.write([f'{origin.url}/ok/1',
                         {'url': f'{origin.url}/ok/2', 'headers': {'x-A': '3'}}])
    done = batch.run(lines, '--jsonl', batch.out, '-q', '-H', 'X-A: 1', '-H', 'X-A: 2', *FAST)
    assert done.returncode == 0
    assert {a['path']: a['headers_all'].get_all('X-A') for a in origin.arrivals} == {
        '/ok/1': ['1', '2'], '/ok/2': ['3']}


def test_redirects_are_followed(batch, origin):
    done = batch.run(f'{origin.url}/to?/ok/there', '-q', *FAST)
    result = json.loads(done.stdout)
    assert result['status'] == 200 and result['final_url'] == f'{origin.url}/ok/there'


def test_what_was_skipped_has_not_been_done(batch, origin):
    words = [f'{origin.url}/status/500', '--jsonl', batch.out, '-q', *FAST]
    for more in (['--recovery', '*/5xx=skip'], []):
        done = batch.run(*words, *more)
        assert done.returncode == 3
        assert batch.results()[0]['outcome'] == 'skipped'
        assert len(origin.paths()) == 1
        assert ('skipped: item 1' if more else '--retry-failed or --fresh') in done.stderr
    batch.run(*words, '--retry-failed', '--retries', '0')
    assert len(origin.paths()) == 2 and batch.results()[0]['outcome'] == 'failed'


def test_strict_ends_at_the_first_failure(batch, origin):
    urls = batch.write([f'{origin.url}/status/404/{i}' for i in range(500)])
    done = batch.run(urls, '--jsonl', batch.out, '-q', '--mode', 'strict', '--limit',
                     'adapt=off concurrency=1')
    assert done.returncode == 3
    assert len(batch.results()) < 500


@pytest.mark.parametrize('line, says', [
    ('example.com/no-scheme', 'neither https:// nor http://'),
    ('ftp://example.com/', 'neither https:// nor http://'),
    ('http:///path', 'without a host'),
    ('http://h/a b', 'blank or a control'),
    ('{"url": "http://h/", }', 'not JSON'),
    ('{"id": 1}', 'without "url"'),
    ('{"url": "http://h/", "methud": "GET"}', 'there is no "methud"'),
    ('{"url": "http://h/", "cost": -1}', '"cost" is not'),
    ('{"url": "http://h/", "url": "http://h/"}', 'not JSON'),
    ('{"url": "http://h/", "priority": "urgent"}', '"priority" is not high'),
])
def test_a_bad_line_is_told_with_its_number(batch, origin, line, says):
    urls = batch.write([f'{origin.url}/ok/1', line, f'{origin.url}/ok/3'])
    done = batch.run(urls, '--jsonl', batch.out, *FAST)
    assert done.returncode == 2
    assert f'{urls}:2: ' in done.stderr and says in done.stderr
    assert 'nothing was sent; --keep-going' in done.stderr and not origin.paths(), done.stderr
    assert ' done in ' not in done.stderr and not batch.out.exists() and not batch.journals()
    assert not list(batch.folder.rglob('*.run'))
    done = batch.run(urls, '--jsonl', batch.out, '--keep-going', *FAST)
    assert done.returncode == 3
    assert set(batch.by_id()) == {'1', '3'}


def test_a_bad_line_behind_others_that_were_sent(batch, origin):
    """What had begun before it is done, stays, and is gone on with once the line is mended."""
    good = [f'{origin.url}/slow/5/{i}' for i in range(3000)]
    urls = batch.write([*good, 'nonsense'])
    done = batch.run(urls, '--jsonl', batch.out, *FAST)
    assert done.returncode == 2 and f'{urls}:3001: ' in done.stderr
    assert 'nothing was begun behind that line' in done.stderr, done.stderr
    some = len(batch.by_id())
    assert 0 < some < 3000
    batch.write(good)
    done = batch.run(urls, '--jsonl', batch.out, *FAST)
    assert done.returncode == 0 and f'resuming: {some} done' in done.stderr, done.stderr
    assert len(batch.by_id()) == len(origin.paths()) == 3000


def test_a_list_without_a_request_is_told(batch):
    done = batch.run('--jsonl', batch.out)  # no list, and nothing on standard input
    assert done.returncode == 2 and 'no list was named' in done.stderr, done.stderr
    assert not batch.out.exists() and not list(batch.folder.rglob('fetch-*'))
    empty = batch.write([], name='empty')
    for words, name in (([empty], empty), (['-'], 'standard input'),
                        ([batch.write(['# nothing'], name='notes')], batch.folder / 'notes')):
        done = batch.run(*words, '--jsonl', batch.out)
        assert done.returncode == 0, done.stderr
        assert done.stderr == f'flyball fetch: nothing to fetch: there is no request in {name}\n'
        assert batch.out.read_bytes() == b'' and not list(batch.folder.rglob('fetch-*'))
        assert batch.run(*words, '--jsonl', batch.out, '-q').stderr == ''
    done = batch.run(batch.write(['nonsense'], name='bad'), '--keep-going')
    assert done.returncode == 3 and 'nothing to fetch' in done.stderr, done.stderr


def test_a_list_that_is_not_utf8(batch, origin):
    path = batch.folder / 'list'
    path.write_bytes(b'http://127.0.0.1/\xff\n' + f'{origin.url}/ok/2\n'.encode())
    done = batch.run(path, '--jsonl', batch.out, '--keep-going', *FAST)
    assert done.returncode == 3 and f'{path}:1: not UTF-8' in done.stderr
    assert set(batch.by_id()) == {'2'}


@pytest.mark.parametrize('words, code, says', [
    (['no-such-list'], 2, 'no-such-list'),
    (['api.example.com/items/1'], 2, 'directory; a URL begins with http:// or https://'),
    (['localhost/items/1'], 2, 'directory; a URL begins with http:// or https://'),
    (['ftp://api.example.com/1'], 2, 'directory; of URLs only http:// and https:// are fetched'),
    (['./no.such/list'], 2, "list: No such file or directory\n"),
    (['x', '--limit', '10/s'], 2, 'as in rate=10/s'),
    (['--ratee', '2', 'x'], 2, "did you mean '--rate'"),
    (['x', '--limit', 'rate=fast'], 2, 'rate=fast'),
    (['x', '--rate', '1/s', '--limit', 'rate=2/s'], 2, '--rate'),
    (['x', '-H', 'no colon'], 2, 'Name: value'),
    (['x', '--mode', 'loose'], 2, 'strict, graceful or offline'),
    (['x', '--retries', '-1'], 2, '--retries'),
    (['x', 'y'], 2, 'y'),
])
def test_mistakes_on_the_command_line(batch, words, code, says):
    done = batch.run(*words)
    assert done.returncode == code and says in done.stderr and done.stdout == ''


def test_an_output_that_cannot_be_written(batch, origin):
    for words in (['--jsonl', 'no/such/folder/out'], ['-o', 'no/such/folder/out'],
                  *([option, 'no/such/folder/out.svg', '--jsonl', batch.out]
                    for option in ('--metrics-csv', '--report', '--log'))):
        done = batch.run(f'{origin.url}/ok/1', *words, *FAST)
        assert done.returncode == 1 and 'no/such/folder/out' in done.stderr
        assert 'there is no folder no/such/folder\n' in done.stderr, done.stderr
    assert not origin.paths()
    done = batch.run(f'{origin.url}/ok/1', '--jsonl', '/dev/full', *FAST)
    assert done.returncode == 1 and done.stderr.count('/dev/full') == 2  # and in "resume:"


def test_a_reader_that_leaves(batch, origin):
    urls = batch.write([f'{origin.url}/ok/{i}' for i in range(2000)])
    process = batch.start(urls, *FAST)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(LONG_S) == 0
    assert process.stderr.read() == ''
    process.stderr.close()
    batch.assert_journals_sound()


def test_interrupt_and_resume(batch, origin):
    urls = batch.write([f'{origin.url}/slow/20/{i}' for i in range(2000)])
    words = [urls, '--jsonl', batch.out]
    process = batch.start(*words, '--fresh', '--limit', 'adapt=off concurrency=4')
    while len(origin.paths()) < 40:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=LONG_S)
    assert process.returncode == 130
    assert f'resume: flyball fetch {urls} --jsonl' in told and '--fresh' not in told
    some = len(batch.by_id())
    assert 0 < some < 2000
    done = batch.run(*words, *FAST)
    assert done.returncode == 0
    assert f'resuming: {some} done, {2000 - some} to go' in done.stderr
    assert f'; 2000 of 2000 done, {some} of them before\n' in done.stderr, done.stderr
    assert len(batch.by_id()) == 2000
    assert len(origin.paths()) == 2000


def test_too_few_descriptors_are_no_failure_of_the_host(batch, origin):
    """As few as it opens before the first request: then none is left for a socket."""
    said = []
    for most in range(12, 40):
        words = batch.command(*[f'{origin.url}/ok/{i}' for i in range(6)], '--jsonl', batch.out,
                              '--fresh', '--retries', '0', '--limit', 'adapt=off')
        done = subprocess.run(['prlimit', f'--nofile={most}', *words], cwd=batch.folder,
                              env=batch.env, text=True, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=LONG_S)
        if done.returncode == 0:
            break
        said.append(done.stderr)
    assert done.returncode == 0 and 'Too many open files' in said[0], said
    assert any('too few file descriptors' in told for told in said), said


def test_the_same_command_again_does_nothing(batch, origin):
    urls = batch.write([f'{origin.url}/ok/{i}' for i in range(20)])
    for _ in range(2):
        done = batch.run(urls, '--jsonl', batch.out, *FAST)
        assert done.returncode == 0
        assert len(origin.paths()) == 20 and len(batch.by_id()) == 20
    assert 'nothing is left to do' in done.stderr
    done = batch.run(urls, '--jsonl', batch.out, '--fresh', *FAST)
    assert len(origin.paths()) == 40 and len(batch.by_id()) == 20


def test_failed_ones_again(batch, origin):
    urls = batch.write([f'{origin.url}/ok/1', f'{origin.url}/status/404', f'{origin.url}/ok/3'])
    assert batch.run(urls, '--jsonl', batch.out, '-q', *FAST).returncode == 3
    done = batch.run(urls, '--jsonl', batch.out, '--retry-failed', *FAST)
    assert done.returncode == 3
    assert set(batch.by_id()) == {'1', '2', '3'}
    assert sorted(origin.paths()) == ['/ok/1', '/ok/3', '/status/404', '/status/404']


def test_a_changed_list_is_noticed(batch, origin):
    urls = batch.write([f'{origin.url}/ok/1', f'{origin.url}/ok/2'])
    assert batch.run(urls, '--jsonl', batch.out, '-q', *FAST).returncode == 0
    batch.write([f'{origin.url}/ok/1', f'{origin.url}/ok/X', f'{origin.url}/ok/3'])
    done = batch.run(urls, '--jsonl', batch.out, '-q', *FAST)
    assert done.returncode == 2 and f'{urls}:2: ' in done.stderr and '--fresh' in done.stderr
    batch.write([f'{origin.url}/ok/1', f'{origin.url}/ok/2', f'{origin.url}/ok/3'])
    assert batch.run(urls, '--jsonl', batch.out, '-q', *FAST).returncode == 0
    assert set(batch.by_id()) == {'1', '2', '3'}


def test_no_secret_is_kept(batch, origin):
    canary = 'CANARY9f3a'
    lines = batch.write([
        {'url': f'{origin.url}/ok/1?api_key={canary}', 'headers': {'Authorization': canary}},
        {'url': f'{origin.url}/hold/7000?token={canary}', 'headers': {'Cookie': canary}},
        {'url': origin.url.replace('//', f'//user:{canary}@') + '/status/404'},
        {'url': f'{origin.url}/ok/4', 'method': 'POST', 'body': canary},
    ])
    done = batch.run(lines, '--jsonl', '/dev/null', '-H', f'X-Api-Key: {canary}', '--max-wait',
                     '1s', *FAST)
    assert done.returncode == 3
    assert canary not in done.stderr
    for path in (batch.folder / 'state').rglob('*'):
        if path.is_file():
            assert canary.encode() not in path.read_bytes(), path


@pytest.mark.parametrize('words', [
    ['-H', 'Authorization: Bearer SECRET'], ['--header=Authorization: Bearer SECRET'],
    ['--header=x-api-key: SECRET'], ['-HX-Mine: SECRET'], ['-kHX-Mine:SECRET'],
    ['-H', 'X-Mine:SECRET'], ['-H=Other: SECRET'], ['-kxhttp://u:SECRET@127.0.0.1:9/'],
    ['--proxy-user', 'u:SECRET'], ['--proxy-user=u:SECRET'],
    ['--proxy=http://u:SECRET@127.0.0.1:9/'], ['-x', 'http://u:SECRET@127.0.0.1:9/'],
])
def test_the_command_that_goes_on_tells_no_secret(batch, words):
    done = batch.run('http://127.0.0.1:9/?token=SECRET', '--jsonl', '/dev/full', '-q',
                     '--retries', '0', *words)
    assert done.returncode == 1 and 'resume: ' in done.stderr and 'SECRET' not in done.stderr


def test_two_do_not_run_the_same_batch(batch, origin):
    urls = batch.write([f'{origin.url}/slow/300/{i}' for i in range(200)])
    words = [urls, '--jsonl', batch.out, '--limit', 'adapt=off concurrency=4']
    process = batch.start(*words)
    while not origin.paths():
        time.sleep(0.01)
    done = batch.run(*words)
    assert done.returncode == 1 and 'another process' in done.stderr
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LONG_S)
    assert process.returncode == 130


def test_pages_by_link(batch, origin):
    urls = batch.write([f'{origin.url}/pages/3/1', f'{origin.url}/ok/2'])
    done = batch.run(urls, '--jsonl', batch.out, '-q', '--paginate', *FAST)
    assert done.returncode == 0, done.stderr
    results = batch.by_id()
    assert {k: r['body'] for k, r in results.items() if k != '2'} == {
        '1': 'page 1', '1#2': 'page 2', '1#3': 'page 3'}
    assert [results[k].get('more') for k in ('1', '1#2', '1#3')] == [True, True, None]
    assert [results[k]['page'] for k in ('1', '1#2', '1#3')] == [1, 2, 3]
    assert batch.run(urls, '--jsonl', batch.out, '-q', '--paginate', *FAST).returncode == 0
    assert len(origin.paths()) == 4


def test_credentials_do_not_follow_to_a_page_elsewhere(batch, origin):
    other = origin.url.replace('127.0.0.1', 'localhost')
    pages = {'/told/1': '/told/2', '/told/2': f'{other}/told/3', '/told/3': f'{origin.url}/told/4'}
    origin.told = {path: json.dumps({'next': after}) for path, after in pages.items()}
    lines = batch.write([{'url': f'{origin.url}/told/1', 'headers': {'X-Api-Key': 'k', 'A': 'a'}}])
    done = batch.run(lines, '--jsonl', batch.out, '-q', '--cursor', '/next', *FAST,
                     '-H', 'Authorization: Bearer s', '-H', 'B: b')
    assert done.returncode == 0, done.stderr
    assert [a['path'] for a in origin.arrivals] == ['/told/1', '/told/2', '/told/3', '/told/4']
    all_of_them = {'X-Api-Key', 'A', 'Authorization', 'B'}
    assert [all_of_them & set(a['headers']) for a in origin.arrivals] == [
        all_of_them, all_of_them, {'A', 'B'}, all_of_them]


def test_pages_have_ids_and_no_alternatives_of_their_own(batch, origin):
    origin.told = {'/told': json.dumps({'next': '/status/404'})}
    lines = batch.write([{'url': f'{origin.url}/told', 'id': 'a',
                          'alternatives': [f'{origin.url}/told']}])
    done = batch.run(lines, '--jsonl', batch.out, '-q', '--cursor', '/next', '--request-id', *FAST)
    assert done.returncode == 3
    assert [(a['path'], a['id']) for a in origin.arrivals] == [
        ('/told', 'a'), ('/status/404', 'a#2')]


def test_pages_by_cursor_and_their_bound(batch, origin):
    words = [f'{origin.url}/cursor/5?key=K', '-q', '--cursor', '/meta/next=after', *FAST]
    done = batch.run(*words)
    assert done.returncode == 0, done.stderr
    assert [json.loads(json.loads(line)['body'])['at'] for line in done.stdout.splitlines()] == [
        0, 1, 2, 3, 4]
    assert origin.paths()[1] == '/cursor/5?key=K&after=1'
    words.remove('-q')
    done = batch.run(*words, '--pages', '2')
    assert len(done.stdout.splitlines()) == 2 and 'has more pages than 2' in done.stderr
    done = batch.run(*words, '--pages', '5')
    assert len(done.stdout.splitlines()) == 5 and 'more pages' not in done.stderr


@pytest.mark.parametrize('cursor, pointer, second', [
    ('/a+b==', '/next=after', '/told?after=%2Fa%2Bb%3D%3D'),
    ('?page=2', '/next', '/told?page=2'),
    ('/told/2', '/next', '/told/2')])
def test_a_cursor_is_a_value_or_a_url(batch, origin, cursor, pointer, second):
    origin.told = {'/told': json.dumps({'next': cursor})}
    done = batch.run(f'{origin.url}/told', '-q', '--cursor', pointer, *FAST)
    assert done.returncode == 0, done.stderr
    assert origin.paths() == ['/told', second]


def test_pages_go_on_after_an_interrupt(batch, origin):
    urls = batch.write([f'{origin.url}/pages/400/1?wait=0.02&token=CANARY9f3a'])
    words = [urls, '--jsonl', batch.out, '-q', '--paginate', *FAST]
    process = batch.start(*words)
    while len(origin.paths()) < 30:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LONG_S)
    assert process.returncode == 130
    some = len(batch.results())
    assert 0 < some < 400
    for path in (batch.folder / 'state').rglob('*'):
        assert not path.is_file() or b'CANARY9f3a' not in path.read_bytes()
    assert batch.run(*words).returncode == 0
    assert set(batch.by_id()) == {'1'} | {f'1#{k}' for k in range(2, 401)}
    assert len(origin.paths()) <= 401


def test_conditional_requests(batch, origin):
    urls = batch.write([f'{origin.url}/etag/1', f'{origin.url}/etag/2'])
    for run in range(2):
        done = batch.run(urls, '--jsonl', batch.out, '-q', '--conditional', '--fresh', *FAST)
        assert done.returncode == 0, done.stderr
        results = batch.by_id()
        assert all(r['body'] == 'the body' for r in results.values())
        assert all(r.get('cached', False) == (run == 1) for r in results.values())
        assert all(r['status'] == (304 if run else 200) for r in results.values())
    assert len(origin.paths()) == 4


@pytest.mark.parametrize('place, words', [('pages/3/1?key=CANARY9f3a', ['--paginate']),
                                          ('cursor/3', ['--cursor', '/meta/next=after'])])
def test_pages_that_have_not_changed_lead_on(batch, origin, place, words):
    """A 304 has no body, and often no Link: what follows is known from what was kept."""
    words = [f'{origin.url}/{place}', '--jsonl', batch.out, '-q', '--fresh', *words, *FAST]
    assert batch.run(f'{origin.url}/{place}', '-q', '--conditional', *FAST).returncode == 0
    bodies = []
    for more in (['--conditional'], ['--conditional'], ['--mode', 'offline']):
        done = batch.run(*words, *more)
        assert done.returncode == 0, done.stderr
        results = batch.by_id()
        assert sorted(results) == ['1', '1#2', '1#3']
        bodies.append([results[i]['body'] for i in sorted(results)])
    assert bodies[0] == bodies[1] == bodies[2]
    assert len(origin.paths()) == 7
    for path in (batch.folder / 'state').rglob('*'):
        assert not path.is_file() or b'CANARY9f3a' not in path.read_bytes()


def test_offline_answers_come_from_the_cache(batch, origin):
    urls = batch.write([f'{origin.url}/etag/1', f'{origin.url}/etag/never-seen'])
    assert batch.run(f'{origin.url}/etag/1', '-q', '--conditional', *FAST).returncode == 0
    done = batch.run(urls, '--jsonl', batch.out, '-q', '--mode', 'offline')
    assert done.returncode == 3
    results = batch.by_id()
    assert results['1']['body'] == 'the body' and results['1']['cached']
    assert results['2']['error']['class'] == 'offline'
    assert len(origin.paths()) == 1


def test_nobody_gets_what_was_kept_for_another(batch, origin):
    words = [f'{origin.url}/etag/1', '-q', '--mode', 'offline']
    assert batch.run(f'{origin.url}/etag/1', '-q', '--conditional', '-H', 'Authorization: a',
                     *FAST).returncode == 0
    assert batch.run(*words, '-H', 'Authorization: b').returncode == 3
    assert batch.run(*words, '-H', 'Authorization: a', '--fresh').returncode == 0


def test_robots(batch, origin):
    origin.robots = 'User-agent: *\nDisallow: /ok/no\n\nUser-agent: other\nDisallow: /\n'
    urls = batch.write([f'{origin.url}/ok/{i}' for i in ('yes', 'no', 'no/more', 'also')])
    done = batch.run(urls, '--jsonl', batch.out, '-q', '--robots', *FAST)
    assert done.returncode == 0, done.stderr
    assert [r['outcome'] for _, r in sorted(batch.by_id().items())] == [
        'ok', 'skipped', 'skipped', 'ok']
    assert sorted(origin.paths()) == ['/ok/also', '/ok/yes', '/robots.txt']
    done = batch.run(urls, '--jsonl', batch.out, '-q', '--robots', '--fresh', '-A', 'Other/1.0',
                     *FAST)
    assert {r['outcome'] for r in batch.results()} == {'skipped'}


def test_why_something_was_skipped_is_remembered(batch, origin):
    """What failed is not done, with robots.txt or without; what that does not allow never is."""
    origin.robots = 'User-agent: *\nDisallow: /ok/no\n'
    lists = {'failed': (f'{origin.url}/status/404', 3), 'barred': (f'{origin.url}/ok/no', 0)}
    for name, (url, code) in lists.items():
        words = [url, '--jsonl', batch.folder / name, '--recovery', '*/4xx=skip', *FAST]
        for more in (['--robots'], [], ['--robots']):
            done = batch.run(*words, *more)
            assert done.returncode == code, (name, more, done.stderr)
            is_over = 'nothing is left' in done.stderr
            assert ('--retry-failed' in done.stderr) == (code == 3 and is_over)
        assert [r['outcome'] for r in batch.results(batch.folder / name)] == ['skipped']


def test_robots_has_a_say_about_each_page(batch, origin):
    origin.robots = 'User-agent: *\nDisallow: /ok/no\n'
    origin.told = {'/told': json.dumps({'next': '/ok/no'})}
    batch.run(f'{origin.url}/told', '--jsonl', batch.out, '-q', '--robots', '--cursor', '/next',
              *FAST)
    assert origin.paths() == ['/robots.txt', '/told']
    assert {i: r['outcome'] for i, r in batch.by_id().items()} == {'1': 'ok', '1#2': 'skipped'}


def test_no_robots_file_allows_all(batch, origin):
    done = batch.run(f'{origin.url}/ok/1', '-q', '--robots', *FAST)
    assert done.returncode == 0 and json.loads(done.stdout)['outcome'] == 'ok'


def test_what_was_learned_is_remembered(batch, origin):
    urls = batch.write([f'{origin.url}/ok/{i}' for i in range(20)])
    assert batch.run(urls, '--jsonl', batch.out, '-q', '--rate', '1000/s').returncode == 0
    with sqlite3.connect(batch.folder / 'state/flyball/state.db') as db:
        rows = db.execute('SELECT provider, length(state), saved_s FROM learned').fetchall()
    assert len(rows) == 1 and rows[0][0] in origin.url
    assert rows[0][1] > 0 and abs(rows[0][2] - time.time()) < LONG_S


def test_a_damaged_memory_is_set_aside(batch, origin):
    state = batch.folder / 'state/flyball'
    state.mkdir(parents=True)
    (state / 'state.db').write_bytes(b'no database' * 1000)
    done = batch.run(f'{origin.url}/ok/1', '-q', *FAST)
    assert done.returncode == 0
    assert 'state.db' in done.stderr and 'beginning anew' in done.stderr
    assert (state / 'state.db.aside-1').exists()


# --------------------------------------------------------------------------------- large bodies

LARGE = 24 << 20


def high_water(pid):
    """Kilobytes; what wait4() says would count the memory of the process that started it."""
    text = Path(f'/proc/{pid}/status').read_text()
    found = re.search(r'VmHWM:\s+(\d+) kB', text)
    return int(found.group(1)) if found else 0


def test_large_bodies_go_straight_to_their_files(batch, tmp_path):
    """Eight at a time, of 24 MB each: in memory they would be 200 MB."""
    with Mock() as mock:
        urls = batch.write([f'http://127.0.0.1:{mock.port}/{i}?bytes={LARGE + i}'
                            for i in range(16)] + [f'http://127.0.0.1:{mock.port}/small'])
        run = batch.start(urls, '-o', tmp_path / 'bodies', '-q', '--concurrency', '8', *FAST)
        peak = 0
        while run.poll() is None:
            peak = max(peak, high_water(run.pid))
            time.sleep(0.01)
        assert run.stderr.read() == ''
    assert run.returncode == 0
    assert 0 < peak < 100 << 10
    results = {r['id']: r for r in batch.results(tmp_path / 'bodies/flyball.jsonl')}
    for i in range(16):
        assert results[str(i + 1)]['body_bytes'] == LARGE + i
        assert (tmp_path / 'bodies' / results[str(i + 1)]['file']).stat().st_size == LARGE + i
    assert (tmp_path / 'bodies/17').read_bytes().startswith(b'{')
    whole = (tmp_path / 'bodies/1').read_bytes()
    assert whole == (whole[:10] * (LARGE // 10 + 1))[:LARGE]
    assert not list((tmp_path / 'bodies').glob('.*'))


def test_a_large_body_takes_the_place_of_an_earlier_one(batch, tmp_path):
    bodies = tmp_path / 'bodies'
    bodies.mkdir()
    (bodies / '1').write_text('old')
    (bodies / '.1.part').write_text('left behind')
    with Mock() as mock:
        done = batch.run(f'http://127.0.0.1:{mock.port}/1?bytes=1000000', '-o', bodies, '-q', *FAST)
    assert (done.returncode, done.stderr) == (0, '')
    assert (bodies / '1').stat().st_size == 1000000
    assert not (bodies / '.1.part').exists()


def test_a_large_body_that_is_cut_leaves_nothing(batch, tmp_path):
    bodies = tmp_path / 'bodies'
    with Mock() as mock:
        done = batch.run(f'http://127.0.0.1:{mock.port}/1?bytes=2000000&cut=1000000', '-o', bodies,
                         '-q', '--retries', '0', *FAST)
    assert done.returncode == 3
    assert [p.name for p in bodies.iterdir()] == ['flyball.jsonl']
