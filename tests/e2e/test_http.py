# SPDX-License-Identifier: MIT
"""The HTTP server as sockets see it: malformed requests, pipelines, slow and many clients."""
import socket
import time

import pytest
from mock_api import Mock

GET = b'GET /%s HTTP/1.1\r\nHost: a\r\n'
POST = b'POST /first HTTP/1.1\r\nHost: a\r\n'
CHUNKED = POST + b'Transfer-Encoding: chunked\r\n\r\n'
SMUGGLED = b'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'

# What attacks on framing are made of, and what to answer.
MALFORMED = {
    'both lengths': (POST + b'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
                     400),
    'two lengths': (POST + b'Content-Length: 5\r\nContent-Length: 50\r\n\r\nhello', 400),
    'two equal lengths': (POST + b'Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello', 400),
    'list of lengths': (POST + b'Content-Length: 5, 50\r\n\r\nhello', 400),
    'plus': (POST + b'Content-Length: +5\r\n\r\nhello', 400),
    'minus': (POST + b'Content-Length: -5\r\n\r\nhello', 400),
    'hexadecimal length': (POST + b'Content-Length: 0x5\r\n\r\nhello', 400),
    'length out of range': (POST + b'Content-Length: 99999999999999999999\r\n\r\n', 400),
    'length above the limit': (POST + b'Content-Length: 99999999999999\r\n\r\n', 413),
    'chunked not last': (POST + b'Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n', 400),
    'chunked twice': (POST + b'Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n', 400),
    'xchunked': (POST + b'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n', 400),
    'gzip and chunked': (POST + b'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 501),
    'coding in HTTP/1.0': (b'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400),
    'blank before the colon': (POST + b'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n', 400),
    'bare LF': (b'GET /first HTTP/1.1\nHost: a\n\n', 400),
    'one bare LF': (GET % b'first' + b'X: y\n\r\n', 400),
    'folded line': (GET % b'first' + b'X: y\r\n Host: b\r\n\r\n', 400),
    'NUL': (GET % b'first' + b'X: a\0b\r\n\r\n', 400),
    'bare CR': (GET % b'first' + b'X: a\rHost: b\r\n\r\n', 400),
    'two hosts': (GET % b'first' + b'Host: b\r\n\r\n', 400),
    'no host': (b'GET /first HTTP/1.1\r\n\r\n', 400),
    'bad host': (b'GET /first HTTP/1.1\r\nHost: a/b\r\n\r\n', 400),
    'empty name': (GET % b'first' + b': y\r\n\r\n', 400),
    'control in a name': (GET % b'first' + b'X\x01: y\r\n\r\n', 400),
    'no colon': (GET % b'first' + b'X\r\n\r\n', 400),
    'LF in chunks': (CHUNKED + b'5\nhello\n0\n\n', 400),
    'LF behind a chunk': (CHUNKED + b'5\r\nhello\n0\r\n\r\n', 400),
    'chunk too short': (CHUNKED + b'6\r\nhello\r\n0\r\n\r\n', 400),
    'chunk too long': (CHUNKED + b'4\r\nhello\r\n0\r\n\r\n', 400),
    'sign in a chunk size': (CHUNKED + b'+5\r\nhello\r\n0\r\n\r\n', 400),
    'length as a trailer': (CHUNKED + b'0\r\nContent-Length: 5\r\n\r\n', 400),
    'blanks in the first line': (b'GET  /first HTTP/1.1\r\nHost: a\r\n\r\n', 400),
    'HTTP/0.9': (b'GET /first\r\n', 400),
    'HTTP/2': (b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505),
    'fragment': (b'GET /first#x HTTP/1.1\r\nHost: a\r\n\r\n', 400),
    'not ASCII': (b'GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n', 400),
    'TLS': (b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400),
    'expectation': (GET % b'first' + b'Expect: miracles\r\n\r\n', 417),
    'long first line': (b'GET /' + b'a' * 20000 + b' HTTP/1.1\r\nHost: a\r\n\r\n', 414),
    'long field': (GET % b'first' + b'X: ' + b'a' * 100000 + b'\r\n\r\n', 431),
    'long head': (GET % b'first' + (b'X: ' + b'a' * 10000 + b'\r\n') * 8 + b'\r\n', 431),
    'many fields': (GET % b'first' + b'X: y\r\n' * 100 + b'\r\n', 431),
}


@pytest.fixture(scope='module')
def mock():
    with Mock() as running:
        yield running


@pytest.mark.parametrize('name', MALFORMED)
def test_malformed_requests_are_refused(mock, name):
    """Refused with a sentence, the connection closed, and nothing behind it served."""
    request, status = MALFORMED[name]
    before = mock.stats()
    heard = mock.raw(request + SMUGGLED)
    after = mock.stats()
    assert heard.startswith(b'HTTP/1.1 %d ' % status)
    assert heard.count(b'\r\nDate: ') == 1
    head, _, body = heard.partition(b'\r\n\r\n')
    assert b'\r\nConnection: close' in head and body.endswith(b'\n') and len(body) > 5
    assert after['malformed'] == before['malformed'] + 1
    assert b'smuggled' not in mock.get('/__log')[2]


def test_requests_served_are_requests_seen():
    """A good request before each bad one is served, and only that."""
    with Mock() as mock:
        for number, (request, _) in enumerate(MALFORMED.values()):
            heard = mock.raw(GET % b'good/%d' % number + b'\r\n' + request + SMUGGLED)
            assert heard.startswith(b'HTTP/1.1 200 ')
        arrivals, _ = mock.log()
    good = [f'/good/{number}' for number in range(len(MALFORMED))]
    # Where the head is fine and the body is not, the head has been judged before that is known.
    assert [row[7] for row in arrivals if row[7] != '/first'] == good


def test_pipelines_are_answered_in_order(mock):
    requests = b''.join(GET % b'%d?delay=%dms' % (n, 1 + n % 3) + b'\r\n' for n in range(50))
    heard = mock.raw(requests + GET % b'last' + b'Connection: close\r\n\r\n')
    places = [heard.index(b'"/%d?delay' % n) for n in range(50)]
    assert places == sorted(places) and heard.count(b'HTTP/1.1 200 OK') == 51


def test_any_cut_gives_the_same_answer(mock):
    request = (b'POST /cut HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
               b'5\r\nhello\r\n0\r\n\r\n' + GET % b'last' + b'Connection: close\r\n\r\n')
    for size in (1, 7, len(request)):
        heard = mock.raw(*[request[i:i + size] for i in range(0, len(request), size)])
        assert b'{"path":"/cut"' in heard and b'{"path":"/last"' in heard


def test_one_connection_serves_many(mock):
    client = mock.client()
    before = mock.stats()['connections']
    for number in range(20):
        client.request('POST', f'/{number}', body=b'x' * number * 1000)
        assert client.getresponse().read()
    assert mock.stats()['connections'] == before + 2  # this one, and the one that asks


def test_absolute_targets(mock):
    heard = mock.raw(b'GET http://b:1/abs?status=404 HTTP/1.1\r\nHost: a\r\n'
                     b'Connection: close\r\n\r\n')
    assert heard.startswith(b'HTTP/1.1 404 ')


def ends(s):
    """Whether the server ends this connection: with a 408, unless the client kept on too long."""
    try:
        return s.recv(100)[:13] in (b'HTTP/1.1 408 ', b'')
    except ConnectionError:
        return True


def test_slow_clients_are_ended_and_harm_nobody():
    """Clients that send a byte now and then are ended by the deadline; others are served."""
    with Mock() as mock:
        begun = time.monotonic()
        slow = [mock.connect() for _ in range(200)]
        for byte in b'GET':
            for s in slow:
                s.sendall(bytes([byte]))
            assert mock.get('/good')[0] == 200
            time.sleep(0.5)
        assert all(ends(s) for s in slow)
        assert time.monotonic() - begun >= 9
        for s in slow:
            s.close()
        assert mock.get('/good')[0] == 200


def test_a_client_that_does_not_read_holds_no_memory():
    with Mock() as mock:
        with mock.connect() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(GET % b'x?bytes=1000000000' + b'\r\n')
            mock.wait_for(lambda stats: stats['inflight'] == 1)
            time.sleep(0.2)
            with open(f'/proc/{mock.process.pid}/status', encoding='ascii') as f:
                resident_kb = int(next(line for line in f if line.startswith('VmRSS')).split()[1])
        assert resident_kb < 32 * 1024
        mock.wait_for(lambda stats: stats['aborted'] == 1)
