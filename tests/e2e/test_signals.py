# SPDX-License-Identifier: MIT
"""`flyball signals`: responses as curl prints them, and as lines of JSON."""
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLYBALL = Path(os.environ.get('FLYBALL_BUILD', ROOT / 'build')) / 'flyball'

REFUSAL = ('HTTP/1.1 429 Too Many Requests\r\n'
           'Date: Tue, 10 Mar 2026 12:00:00 GMT\r\n'
           'Retry-After: 30\r\n'
           'X-RateLimit-Limit: 5000\r\n'
           'X-RateLimit-Remaining: 0\r\n'
           'X-RateLimit-Reset: 1773144090\r\n'
           'X-RateLimit-Resource: core\r\n'
           '\r\n'
           '{"message":"API rate limit exceeded"}')


def signals(given, *options):
    given = given if isinstance(given, bytes) else given.encode()
    return subprocess.run([FLYBALL, 'signals', *options], input=given, capture_output=True,
                          check=False, timeout=60)


def test_a_refusal_is_explained():
    done = signals(REFUSAL)
    text = done.stdout.decode()
    assert done.returncode == 0 and not done.stderr
    assert 'Refused for rate (status 429, "rate limit"). Send nothing for 30 s.' in text
    assert 'core' in text and '5000' in text and '1 min 30 s' in text
    assert 'Pace: nothing for 30 s, then nothing until core resets.' in text


def test_json_tells_the_same():
    done = signals(REFUSAL, '--json')
    told = json.loads(done.stdout)
    assert done.returncode == 0 and told['schema'] == 'flyball.signals/1'
    assert told['throttled'] and told['retryable'] and not told['banned']
    assert told['retry_after_s'] == 30 and told['hold_s'] == 30
    assert told['scopes'] == [{'name': 'core', 'limit': 5000, 'window_s': None, 'remaining': 0,
                               'used': None, 'reset_in_s': 90}]


def test_the_last_of_several_heads_counts():
    chain = ('HTTP/1.1 100 Continue\n\n'
             'HTTP/1.1 302 Found\nLocation: /x\nX-RateLimit-Limit: 1\n\n'
             'HTTP/2 200\nx-ratelimit-limit: 60\nx-ratelimit-remaining: 30\n'
             'x-ratelimit-reset: 60\n\nbody')
    told = json.loads(signals(chain, '--json').stdout)
    assert told['status'] == 200 and told['scopes'][0]['limit'] == 60
    assert 'Pace: 0.500/s, bound by the pool.' in signals(chain).stdout.decode()


def test_paces_of_all_kinds():
    def pace(head, body=''):
        text = signals(f'HTTP/1.1 429 x\n{head}\n\n{body}').stdout.decode()
        return text[text.index('Pace: '):].strip()

    assert 'then 5.00/s, bound by the pool.' in pace('x-rate-limit-limit: 5\n'
                                                     'x-rate-limit-interval: 1s')
    assert 'then 2.00/s, bound by the pool.' in pace('x-amzn-ratelimit-limit: 2.0')
    assert 'then 0.0833/s, as the text states.' in pace('', 'Maximum 5 requests within 1 minute')
    assert 'as fast as probing finds' in pace('Server: x')
    assert 'at most 3 at once' in pace('X-Concurrency-Limit: 3')
    assert 'nothing for 9.0 s; by then bulk has been reset.' in pace(
        'sforce-limit-info: bulk=5/5\nx-ratelimit-bulk-reset: 9')
    assert 'nothing for 1 min; by then the pool has been reset.' in pace(
        'x-ratelimit-limit: 9\nx-ratelimit-remaining: 0\nx-ratelimit-reset: 60')


def test_nothing_found_is_told_by_the_exit_status():
    done = signals('HTTP/1.1 200 OK\nServer: x\n\n<html></html>')
    assert done.returncode == 3
    assert 'It says nothing about limits.' in done.stdout.decode()
    assert signals('HTTP/1.1 200 OK\n\n', '--json').returncode == 3


def test_what_is_no_response_is_a_mistake():
    for text in ('', 'hello', '{"status":200}', 'HTTP/1.1 abc\n\n', 'HTTP/1.1 99 x\n\n'):
        done = signals(text)
        assert done.returncode == 2 and b'expected a response as curl -i prints it' in done.stderr


def test_presets_settle_units():
    head = 'HTTP/1.1 429 x\nX-Rate-Limit-Limit: 9\nX-Rate-Limit-Reset: 600000\n\n'
    assert json.loads(signals(head, '--json').stdout)['scopes'][0]['reset_in_s'] is None
    told = json.loads(signals(head, '--json', '--preset', 'prisjakt').stdout)
    assert told['scopes'][0]['reset_in_s'] == 600
    done = signals(head, '--preset', 'nobody')
    assert done.returncode == 2 and b"no preset 'nobody'" in done.stderr


def test_lines_are_answered_in_order():
    lines = [
        {'id': 'a', 'status': 429, 'headers': [['Retry-After', '5']], 'body': None,
         'observed_at': None},
        {'id': 7, 'status': 200, 'headers': [['x-ratelimit-reset', '1773144090']],
         'observed_at': '2026-03-10T12:00:00Z'},
        {'id': 'latin', 'status': 429, 'encoding': 'latin-1', 'headers': [
            ['Retry-After', '\u00a030'], ['x-ratelimit-limit', '5'], [1, 2], ['alone']]},
        {'status': 'x'},
        {'id': 'wide', 'status': 403, 'body': 'Too many requests\u0000 \u00e9'},
    ]
    given = '\n'.join(json.dumps(line) for line in lines) + '\nnot json\n{"a":1,"a":2}\n'
    done = signals(given, '--jsonl')
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(told) == 7
    assert told[0]['id'] == 'a' and told[0]['retry_after_s'] == 5
    assert told[1]['id'] == 7 and told[1]['scopes'][0]['reset_in_s'] == 90
    assert told[2]['retry_after_s'] is None and told[2]['scopes'][0]['limit'] == 5
    assert 'status' in told[3]['error'] and told[3]['id'] is None
    assert told[4]['throttled'] and told[4]['id'] == 'wide'
    assert 'error' in told[5] and 'error' in told[6]


def test_all_vectors_through_the_command():
    """The command says what the library does: the unit test compares that with the vectors."""
    vectors = (ROOT / 'tests/vectors/invented.jsonl').read_bytes()
    done = signals(vectors, '--jsonl')
    want = [json.loads(line) for line in vectors.splitlines()]
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [t['id'] for t in told] == [w['id'] for w in want]
    for t, w in zip(told, want):
        for key in ('throttled', 'retryable', 'banned', 'concurrency_limit'):
            assert t[key] == w['expect'][key], (w['id'], key)
        assert {s['name'] for s in t['scopes']} == {s['name'] for s in w['expect']['scopes']}
