# SPDX-License-Identifier: MIT
"""flyball mock from outside: limits in every dialect, faults, pages, the log, a clean end."""
import http.client
import json
import re
import signal
import subprocess
import threading
import time
from datetime import datetime

import pytest
from mock_api import FLYBALL, PATIENCE_S, Mock

DIALECTS = {
    'github': r'x-ratelimit-limit x-ratelimit-remaining x-ratelimit-used x-ratelimit-reset '
              r'x-ratelimit-resource',
    'ietf': 'ratelimit ratelimit-policy',
    'ietf-old': 'ratelimit-limit ratelimit-remaining ratelimit-reset',
    'openai': 'x-ratelimit-limit-requests x-ratelimit-remaining-requests '
              'x-ratelimit-reset-requests',
    'anthropic': 'anthropic-ratelimit-requests-limit anthropic-ratelimit-requests-remaining '
                 'anthropic-ratelimit-requests-reset',
    'retry-after': '',
    'none': '',
}


# --------------------------------------------------------------------------- starting and ending

def test_it_says_where_it_listens_and_ends_well():
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen([FLYBALL, 'mock', '--limit', 'window=5/1s'], text=True,
                              stdout=subprocess.PIPE) as process:
            line = process.stdout.readline()
            assert re.match(r'listening on http://127\.0\.0\.1:\d+ '
                            r'\(limit: window=5/1s, dialect: github\)\n$', line)
            process.send_signal(number)
            rest = process.communicate(timeout=PATIENCE_S)[0]
        assert process.returncode == 0
        assert rest == '0 arrivals: 0 accepted, 0 refused, 0 failed, 0 left early\n'


def test_it_ends_by_itself():
    done = subprocess.run([FLYBALL, 'mock', '--for', '50ms', '--json', '--listen', '[::1]:0'],
                          text=True, capture_output=True, timeout=PATIENCE_S, check=True)
    hello, summary = map(json.loads, done.stdout.splitlines())
    assert hello['schema'] == 'flyball.mock/1' and hello['type'] == 'listening'
    assert hello['url'] == f'http://[::1]:{hello["port"]}'
    assert summary['type'] == 'summary' and summary['arrivals'] == 0


@pytest.mark.parametrize('words, says', [
    (['--limit', 'windo=5/1s'], r"windo=5/1s: unknown word, expected one of .*, fixed, penalty"),
    (['--limit', 'fixed=5'], r'fixed=5: not understood, expected a count and a length'),
    (['--dialect', 'gihub'], r"'gihub' is not github, .*, did you mean 'github'\?"),
    (['--dialect', 'x'], r"--dialect: 'x' is not github, .* or none$"),
    (['--listen', '8080'], r"--listen: '8080' is not an address and a port"),
    (['--listen', 'example.org:80'], r"--listen: 'example.org:80' is not an address"),
    (['--latency', '5x'], r"--latency: '5x' is not a time such as"),
    (['--jitter', 'x'], r"--jitter: 'x' is not"),
    (['--for', ''], r"--for: '' is not"),
    (['--fail', '5'], r"--fail: '5' is not a share"),
    (['--status', '200'], r"--status: '200' is not a whole number from 400 to 599"),
    (['--lisen', 'x'], r"did you mean '--listen'\?"),
    (['now'], r"did not expect 'now'"),
])
def test_mistakes_are_explained(words, says):
    done = subprocess.run([FLYBALL, 'mock', *words], text=True, capture_output=True,
                          timeout=PATIENCE_S, check=False)
    assert done.returncode == 2 and done.stdout == ''
    assert re.match(r'flyball mock: .*' + says, done.stderr) and done.stderr.count('\n') == 1


def test_what_cannot_be_opened_is_told():
    with Mock() as mock:
        for words, says in ((['--listen', f'127.0.0.1:{mock.port}'], 'address already in use'),
                            (['--log', '/nowhere/at/all'], 'No such file or directory')):
            done = subprocess.run([FLYBALL, 'mock', *words], text=True, capture_output=True,
                                  timeout=PATIENCE_S, check=False)
            assert done.returncode == 1 and done.stdout == ''
            assert says.lower() in done.stderr.lower()


def test_a_log_that_cannot_be_written_is_told_in_the_end():
    process = subprocess.Popen([FLYBALL, 'mock', '--json', '--log', '/dev/full'], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    port = json.loads(process.stdout.readline())['port']
    client = http.client.HTTPConnection('127.0.0.1', port, timeout=PATIENCE_S)
    client.request('GET', '/')
    assert client.getresponse().status == 200
    process.send_signal(signal.SIGTERM)
    assert 'cannot write /dev/full' in process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == 1


def test_answers_in_progress_are_finished():
    with Mock() as mock:
        client = mock.client()
        client.request('GET', '/x?delay=300ms')
        mock.wait_for(lambda s: s['arrivals'] == 1)
        mock.process.send_signal(signal.SIGTERM)
        assert client.getresponse().status == 200
    assert mock.summary['accepted'] == 1 and mock.summary['inflight'] == 0


# ----------------------------------------------------------------------------------------- limits

@pytest.mark.parametrize('dialect', DIALECTS)
def test_each_dialect_tells_the_truth(dialect):
    with Mock('--limit', 'window=2/1h', '--dialect', dialect) as mock:
        answers = [mock.get('/x') for _ in range(4)]
    assert [a[0] for a in answers] == [200, 200, 429, 429]
    for number, (status, fields, body) in enumerate(answers):
        told = {name for name in fields if 'ratelimit' in name}
        assert told == set(DIALECTS[dialect].split())
        assert ('retry-after' in fields) == (status == 429 and dialect != 'none')
        if status == 429 and dialect != 'none':
            assert 3000 < int(fields['retry-after']) <= 3600
        left = str(max(0, 1 - number))
        for name in told:
            if 'remaining' in name:
                assert fields[name] == left
        json.loads(body)
        check_reset(dialect, fields, left)


def check_reset(dialect, fields, left):
    if dialect == 'github':
        assert 3000 < int(fields['x-ratelimit-reset']) - time.time() < 3700
    elif dialect == 'ietf':
        assert fields['ratelimit-policy'] == '"default";q=2;w=3600'
        assert re.fullmatch(rf'"default";r={left};t=3[56]\d\d', fields['ratelimit'])
    elif dialect == 'ietf-old':
        assert 3000 < int(fields['ratelimit-reset']) <= 3600
    elif dialect == 'openai':
        assert re.fullmatch(r'(59|60)m[0-9.]+s', fields['x-ratelimit-reset-requests'])
    elif dialect == 'anthropic':
        reset = datetime.fromisoformat(
            fields['anthropic-ratelimit-requests-reset'].replace('Z', '+00:00'))
        assert 3000 < reset.timestamp() - time.time() < 3700


def replay(algorithm, limit, window_ns, burst, penalty_ns, events):
    """Judge arrivals again, by the plainest algorithm there is. Yields what each should be."""
    seen, counts, ban, inside = [], {}, 0, set()
    tokens, last = float(burst), None
    for kind, now, seq in events:
        if kind == 'E':
            inside.discard(seq)
            continue
        if now < ban:
            yield False
            continue
        if algorithm == 'window':
            ok = sum(t > now - window_ns for t in seen) < limit
        elif algorithm == 'fixed':
            ok = counts.get(now // window_ns, 0) < limit
        elif algorithm == 'rate':
            if last is not None:
                tokens = min(burst, tokens + (now - last) * limit / window_ns)
            last = now
            ok = tokens >= 1 - 1e-6
            tokens -= ok
        else:
            ok = len(inside) < limit
        if ok:
            seen.append(now)
            counts[now // window_ns] = counts.get(now // window_ns, 0) + 1
            inside.add(seq)
        elif penalty_ns:
            ban = now + penalty_ns
        yield ok


@pytest.mark.parametrize('words, algorithm, limit, window_ms, burst, penalty_ms', [
    ('window=20/1s', 'window', 20, 1000, 0, 0),
    ('window=3/100ms', 'window', 3, 100, 0, 0),
    ('fixed=10/500ms', 'fixed', 10, 500, 0, 0),
    ('rate=20/s burst=5', 'rate', 20, 1000, 5, 0),
    ('concurrency=2', 'concurrency', 2, 1, 0, 0),
    ('window=20/1s penalty=150ms', 'window', 20, 1000, 0, 150),
])
def test_decisions_are_those_of_the_plain_algorithm(words, algorithm, limit, window_ms, burst,
                                                    penalty_ms):
    """The log has the instants at which the mock judged: whatever the machine does to the client's
    timing, judging the same arrivals again must give the same verdicts."""
    query = '?delay=3ms' if algorithm == 'concurrency' else ''

    def visit(mock):
        client = mock.client()
        for number in range(100):
            client.request('GET', f'/{number}{query}')
            client.getresponse().read()
            if number % 10 == 0:
                time.sleep(0.12)

    with Mock('--limit', words) as mock:
        clients = [threading.Thread(target=visit, args=(mock,)) for _ in range(6)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        arrivals, ends = mock.log()
    assert len(arrivals) == 600 == len(ends)
    refused = {row[3] for row in arrivals if row[9] == 'R'}
    events = sorted([('A', int(row[1]), row[3]) for row in arrivals] +
                    [('E', int(row[1]), row[2]) for row in ends if row[2] not in refused],
                    key=lambda e: e[1])
    verdicts = [row[9] == 'A' for row in sorted(arrivals, key=lambda r: int(r[3]))]
    expected = list(replay(algorithm, limit, window_ms * 10**6, burst, penalty_ms * 10**6, events))
    assert verdicts == expected
    # The limits are so low that only 20 s for these requests would let all of them pass.
    assert set(verdicts) == {True, False}


def test_refusals_may_have_another_status():
    with Mock('--limit', 'window=1/1h', '--status', '403', '--dialect', 'none') as mock:
        assert [mock.get('/')[0] for _ in range(2)] == [200, 403]


def test_some_fail_by_chance_the_same_for_the_same_seed():
    def statuses():
        with Mock('--fail', '30%', '--seed', '7') as mock:
            return [mock.get('/')[0] for _ in range(60)]
    first = statuses()
    assert set(first) == {200, 503} and first == statuses()


# ------------------------------------------------------------------------------ what queries ask

def test_queries_change_the_answer():
    with Mock() as mock:
        assert mock.get('/x?status=418')[0] == 418
        status, fields, _ = mock.get('/x?status=503&retry_after=7')
        assert status == 503 and fields['retry-after'] == '7'
        assert mock.get('/a%20b?c="d')[2] == b'{"path":"/a%20b?c=\\"d","status":200}\n'
        assert len(mock.get('/x?bytes=3000000')[2]) == 3000000
        assert mock.get('/x?bytes=12')[2] == b'012345678901'
        assert mock.get('/x?bytes=0')[2] == b''
        assert mock.get('/x?bytes=25&drip=1ms')[2] == b'0123456789012345678901234'
        status, _, body = mock.get('/x?bytes=5&hang&status=9')
        assert status == 400 and json.loads(body)['error'].startswith('status: expected')
        before = time.monotonic()
        mock.get('/x?delay=200ms')
        assert time.monotonic() - before >= 0.2


def test_latency_and_jitter_come_before_the_answer():
    with Mock('--latency', '100ms', '--jitter', '50ms') as mock:
        before = time.monotonic()
        mock.get('/x')
        assert time.monotonic() - before >= 0.1


def test_faults_on_demand():
    with Mock() as mock:
        for path in ('/?close', '/?reset'):
            with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
                mock.get(path)
        with pytest.raises(http.client.IncompleteRead) as cut:
            mock.get('/?bytes=100&cut=30')
        assert len(cut.value.partial) == 30
        client = mock.client()
        client.request('GET', '/?hang')
        mock.wait_for(lambda s: s['inflight'] == 1)
        client.close()
        mock.wait_for(lambda s: s['inflight'] == 0)
        arrivals, ends = mock.log()
    assert [row[9] for row in arrivals] == ['F'] * 4
    assert [row[10] for row in arrivals] == ['0', '0', '200', '0']
    assert [row[3] for row in ends] == ['cut', 'cut', 'cut', 'aborted']


def test_conditional_requests():
    with Mock() as mock:
        status, fields, body = mock.get('/x')
        assert status == 200 and body
        for known in (fields['etag'], f'"other", {fields["etag"]}', '*'):
            status, again, body = mock.get('/x', **{'If-None-Match': known})
            assert (status, again['etag'], body) == (304, fields['etag'], b'')
        assert mock.get('/x', **{'If-None-Match': '"other"'})[0] == 200
        assert mock.get('/y')[1]['etag'] != fields['etag']
        arrivals, _ = mock.log()
    assert [row[10] for row in arrivals] == ['200', '304', '304', '304', '200', '200']


def test_pages_link_to_each_other():
    with Mock() as mock:
        path, items = '/pages?page=1&of=3', []
        while path:
            _, fields, body = mock.get(path)
            items += json.loads(body)['items']
            link = re.match('<([^>]*)>; rel="next"', fields.get('link', ''))
            path = link and link[1]
        assert items == list(range(1, 31))
        assert mock.get('/pages?page=4&of=3')[0] == 404


# -------------------------------------------------------------------------------------- what it saw

def test_the_log_in_a_file_has_a_line_for_each(tmp_path):
    path = tmp_path / 'seen.log'
    with Mock('--limit', 'window=1/1h', '--log', str(path)) as mock:
        mock.get('/one?a=b', **{'X-Request-Id': 'id 17'})
        client = mock.client()
        client.request('POST', '/two', body=b'hello')
        assert client.getresponse().status == 429
        assert mock.get('/__other')[0] == 404
        assert mock.stats()['arrivals'] == 2
        assert mock.raw(b'NONSENSE\r\n').startswith(b'HTTP/1.1 400 ')
        assert mock.stats()['malformed'] == 1
        told = mock.get('/__log')[2].decode()
    assert path.read_text() == told
    rows = [line.split('\t') for line in told.splitlines()]
    assert [row[0] for row in rows] == ['A', 'E', 'A', 'E']
    assert all(len(row) == (12 if row[0] == 'A' else 4) for row in rows)
    one, _, two, _ = rows
    assert one[3:] == ['1', '1', '*', 'GET', '/one?a=b', 'id 17', 'A', '200', '1']
    assert two[3:4] + two[5:] == ['2', '*', 'POST', '/two', '-', 'R', '429', '1']
    assert int(one[1]) < int(rows[1][1]) < int(two[1]) <= time.monotonic_ns()
    assert abs(int(one[2]) - time.time_ns()) < 600 * 10**9
    assert mock.summary['rejected'] == 1
