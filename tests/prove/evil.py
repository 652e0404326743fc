#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""evil - an HTTP/1.1 origin that misbehaves as the path says, and counts what arrives.

    tests/prove/evil.py

Its first line of output is four ports: the origin itself; one that accepts and never reads; one
that never accepts; one that resets whoever connects. /count answers with how often each
X-Request-Id came. PAGES says what each path does; it shares no code with the client it is for.
"""
import asyncio
import gzip
import json
import socket
import struct
import time
import zlib
from email.utils import formatdate

HEAD = b'HTTP/1.1 200 OK\r\n'
FINE = HEAD + b'Content-Length: 3\r\n\r\nok\n'
FOREVER_S = 600


def reset(writer):
    """Not an orderly end: RST."""
    sock = writer.get_extra_info('socket')
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    writer.transport.abort()


def bomb(megabytes):
    """Zeros, a thousand to one."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b''.join(packer.compress(bytes(1 << 20)) for _ in range(megabytes)) + packer.flush()


def coded(coding, body):
    return HEAD + b'Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n' % (coding, len(body)) + body


def status(code, *fields):
    lines = [f'HTTP/1.1 {code} As Asked', *fields, 'Content-Length: 0', '', '']
    return '\r\n'.join(lines).encode()


def limits(**fields):
    lines = ''.join(f'X-RateLimit-{name}: {value}\r\n' for name, value in fields.items())
    return HEAD + lines.encode() + b'Content-Length: 3\r\n\r\nok\n'


# ---- what a page does; each returns whether the connection may be used again


def say(data, keep=False):
    """These bytes, and the end of the connection unless it is kept."""
    async def page(writer):
        writer.write(data() if callable(data) else data)
        await writer.drain()
        return keep
    return page


def pieces(first, piece, pause_s, count=1 << 30):
    """A beginning, and then the same again and again."""
    async def page(writer):
        writer.write(first)
        for _ in range(count):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)
        return False
    return page


def slowly(data, pause_s):
    async def page(writer):
        for byte in data:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(pause_s)
        return False
    return page


def then_reset(data):
    async def page(writer):
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(0.05)
        reset(writer)
        return False
    return page


def then_quiet(data, seconds, half=False):
    async def page(writer):
        writer.write(data)
        await writer.drain()
        if half:
            writer.write_eof()
        await asyncio.sleep(seconds)
        return False
    return page


BOMB = bomb(100)
CHUNKED = HEAD + b'Transfer-Encoding: chunked\r\n\r\n'
PAGES = {
    # time
    'hang': then_quiet(b'', FOREVER_S),
    'half-head': then_quiet(HEAD + b'X-Part: ', FOREVER_S),
    'half-body': then_quiet(HEAD + b'Content-Length: 10\r\n\r\nhalf', FOREVER_S),
    'drip': pieces(HEAD + b'Content-Length: 1000\r\n\r\n', b'x', 0.2),
    'slow-head': slowly(FINE, 1),
    'endless-line': pieces(HEAD + b'X-Line: ', b'l' * 10000, 0.01),
    'endless-head': pieces(HEAD, (b'X-More: ' + b'm' * 1000 + b'\r\n') * 10, 0.01),
    'endless-body': pieces(CHUNKED, b'20000\r\n' + bytes(1 << 17) + b'\r\n', 0.01),
    # connections
    'reset': then_reset(b''),
    'reset-head': then_reset(HEAD + b'Content-'),
    'reset-body': then_reset(HEAD + b'Content-Length: 1000\r\n\r\n' + b'x' * 500),
    'close': say(b''),
    'half-close': then_quiet(HEAD + b'Content-Le', 20, half=True),
    'early': say(status(413, 'Connection: close')),
    # framing
    'short': say(HEAD + b'Content-Length: 100\r\n\r\nshort'),
    'excess': say(HEAD + b'Content-Length: 5\r\n\r\nhello, and more than was told'),
    'no-last-chunk': say(CHUNKED + b'5\r\nhello\r\n'),
    'chunk-size': say(CHUNKED + b'XY\r\nhello\r\n0\r\n\r\n'),
    'chunk-negative': say(CHUNKED + b'-5\r\nhello\r\n0\r\n\r\n'),
    'chunk-huge': say(CHUNKED + b'F' * 17 + b'\r\nhello\r\n0\r\n\r\n'),
    'two-lengths': say(HEAD + b'Content-Length: 5\r\nContent-Length: 50\r\n\r\nhello'),
    'length-list': say(HEAD + b'Content-Length: 5, 50\r\n\r\nhello'),
    'length-sign': say(HEAD + b'Content-Length: -5\r\n\r\nhello'),
    'length-plus': say(HEAD + b'Content-Length: +5\r\n\r\nhello'),
    'length-and-chunks': say(HEAD + b'Content-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n'
                             b'5\r\nhello\r\n0\r\n\r\n'),
    'two-codings': say(HEAD + b'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n'
                       b'5\r\nhello\r\n0\r\n\r\n'),
    'bare-lf': say(b'HTTP/1.1 200 OK\nContent-Length: 5\n\nhello'),
    'bare-cr': say(HEAD + b'X-Part: a\rSet-Cookie: evil=1\r\nContent-Length: 5\r\n\r\nhello'),
    'nul': say(HEAD + b'X-Nul: a\0b\r\nContent-Length: 5\r\n\r\nhello'),
    'folded': say(HEAD + b'X-Fold: a\r\n Set-Cookie: evil=1\r\nContent-Length: 5\r\n\r\nhello'),
    'name-blank': say(HEAD + b'Content-Length : 5\r\n\r\nhello'),
    'no-length': say(HEAD + b'Connection: close\r\n\r\nuntil the end'),
    'no-head': say(b'hello, this is no HTTP\n'),
    'status-long': say(b'HTTP/1.1 99999 Odd\r\nContent-Length: 0\r\n\r\n'),
    'junk': say(bytes(range(256)) * 16),
    'second-answer': say(HEAD + b'Content-Length: 5\r\n\r\nhello' + HEAD +
                         b'Content-Length: 6\r\n\r\nSTOLEN', keep=True),
    # size
    'large-field': say(HEAD + b'X-Large: ' + b'l' * 70000 + b'\r\nContent-Length: 0\r\n\r\n'),
    'many-fields': say(HEAD + b'X-One: 1\r\n' * 1000 + b'Content-Length: 0\r\n\r\n'),
    'bomb': say(coded(b'gzip', BOMB)),
    'bomb-twice': say(coded(b'gzip, gzip', gzip.compress(BOMB))),
    'not-gzip': say(coded(b'gzip', b'\x1f\x8b\x08\x00no gzip at all')),
    'large-body': pieces(HEAD + b'Content-Length: 20000000\r\n\r\n', bytes(100000), 0.01, 200),
    # answers
    'interim': say(b'HTTP/1.1 103 Early Hints\r\nX-Interim: 1\r\n\r\n' * 3 + FINE, keep=True),
    'server-error': say(status(500), keep=True),
    'loop': say(status(302, 'Location: /loop'), keep=True),
    'to-file': say(status(302, 'Location: file:///etc/passwd'), keep=True),
    'to-gopher': say(status(302, 'Location: gopher://127.0.0.1/x'), keep=True),
    'script': say(HEAD + b'X-Name: <script>alert(1)</script>\r\nContent-Length: 25\r\n\r\n'
                  b'<script>alert(1)</script>', keep=True),
    # waits and limits that cannot be meant
    'wait-negative': say(status(429, 'Retry-After: -1'), keep=True),
    'wait-huge': say(status(429, 'Retry-After: 1e9'), keep=True),
    'wait-words': say(status(429, 'Retry-After: abc'), keep=True),
    'wait-past': say(lambda: status(429, 'Retry-After: ' + formatdate(time.time() - 3600,
                                                                      usegmt=True)), keep=True),
    'limit-negative': say(limits(Limit=-5, Remaining=-1, Reset=-1), keep=True),
    'limit-huge': say(limits(Limit=10**30, Remaining=10**30, Reset=10**30), keep=True),
    'limit-words': say(limits(Limit='NaN', Remaining='', Reset='soon'), keep=True),
    'limit-past': say(limits(Limit=100, Remaining=0, Reset=1000000000), keep=True),
    'limit-far': say(limits(Limit=100, Remaining=0, Reset=32503680000), keep=True),
    'limit-zero': say(limits(Limit=0, Remaining=0, Reset=0), keep=True),
    'limit-twice': say(HEAD + b'X-RateLimit-Limit: 100\r\nX-RateLimit-Limit: 5\r\n'
                       b'RateLimit-Remaining: 90\r\nX-RateLimit-Remaining: 0\r\n'
                       b'Content-Length: 3\r\n\r\nok\n', keep=True),
    'ok': say(FINE, keep=True),
}


class Evil:
    def __init__(self):
        self.count = {}

    async def request(self, reader):
        """The path of the next one, its body read; None at the end."""
        line = await reader.readline()
        if not line:
            return None
        fields = {}
        while (field := await reader.readline()).strip():
            name, _, value = field.decode('latin-1').partition(':')
            fields[name.lower()] = value.strip()
        await reader.readexactly(int(fields.get('content-length', 0)))
        name = fields.get('x-request-id', '-')
        self.count[name] = self.count.get(name, 0) + 1
        return line.split()[1].decode().strip('/')

    def answer(self, path):
        if path == 'count':
            body = json.dumps(self.count).encode()
            return say(HEAD + b'Content-Length: %d\r\n\r\n' % len(body) + body, keep=True)
        return PAGES.get(path, say(status(404), keep=True))

    async def connection(self, reader, writer):
        try:
            while (path := await self.request(reader)) is not None:
                if not await self.answer(path)(writer):
                    break
        except (OSError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            writer.close()


async def never_read(_reader, writer):
    writer.transport.pause_reading()
    await asyncio.sleep(FOREVER_S)


async def at_once(_reader, writer):
    reset(writer)


def never_accept():
    """A backlog that is full: connecting hangs."""
    sock = socket.socket()
    sock.bind(('127.0.0.1', 0))
    sock.listen(0)
    fill = [socket.socket() for _ in range(2)]
    for one in fill:
        one.setblocking(False)
        one.connect_ex(sock.getsockname())
    return [sock, *fill]


async def main():
    evil = Evil()
    ports = []
    for serve in (evil.connection, never_read, at_once):
        server = await asyncio.start_server(serve, '127.0.0.1', 0, backlog=1024)
        ports.append(server.sockets[0].getsockname()[1])
    kept = never_accept()
    ports.insert(2, kept[0].getsockname()[1])
    print(*ports, flush=True)
    await asyncio.Event().wait()


if __name__ == '__main__':
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
