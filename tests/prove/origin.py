#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""origin - an HTTP/1.1 server that enforces a limit and writes down every arrival.

    tests/prove/origin.py --limit sliding:50/1 --dialect github --log FILE

It shares no code with the limiter it judges. Limits: sliding:N/SECONDS, fixed:N/SECONDS,
bucket:N/SECONDS:BURST, concurrency:N, none. Its first line of output is its port. Each line of
the log is a JSON object: "in" for an arrival with its verdict, "out" for the end of an answer.
"""
import argparse
import asyncio
import collections
import json
import math
import random
import time

PHRASES = {200: 'OK', 429: 'Too Many Requests'}


class Answer:
    """Whether a request is let in, what is left, and how long until it changes."""

    def __init__(self, ok, left=0, wait_s=0.0, reset_s=0.0):
        self.ok, self.left, self.wait_s, self.reset_s = ok, left, wait_s, reset_s


class Unlimited:
    limit, window_s = 0, 0

    def admit(self, _now_s, _in_flight):
        return Answer(True)


class Sliding:
    """At most `limit` in any (t - window, t]."""

    def __init__(self, limit, window_s):
        self.limit, self.window_s = limit, window_s
        self.stamps = collections.deque()

    def admit(self, now_s, _in_flight):
        while self.stamps and self.stamps[0] <= now_s - self.window_s:
            self.stamps.popleft()
        ok = len(self.stamps) < self.limit
        if ok:
            self.stamps.append(now_s)
        until_s = self.stamps[0] + self.window_s - now_s
        return Answer(ok, self.limit - len(self.stamps), 0.0 if ok else until_s, until_s)


class Fixed:
    """At most `limit` from one multiple of the window to the next."""

    def __init__(self, limit, window_s):
        self.limit, self.window_s = limit, window_s
        self.number, self.used = None, 0

    def admit(self, now_s, _in_flight):
        number = math.floor(now_s / self.window_s)
        if number != self.number:
            self.number, self.used = number, 0
        ok = self.used < self.limit
        self.used += ok
        until_s = (number + 1) * self.window_s - now_s
        return Answer(ok, self.limit - self.used, 0.0 if ok else until_s, until_s)


class Bucket:
    """`limit` per window, evenly; `burst` of them at once."""

    def __init__(self, limit, window_s, burst):
        self.limit, self.window_s, self.burst = limit, window_s, burst
        self.level, self.since_s = float(burst), None

    def admit(self, now_s, _in_flight):
        rate = self.limit / self.window_s
        if self.since_s is not None:
            self.level = min(self.burst, self.level + (now_s - self.since_s) * rate)
        self.since_s = now_s
        ok = self.level >= 1
        self.level -= ok
        wait_s = 0.0 if ok else (1 - self.level) / rate
        return Answer(ok, int(self.level), wait_s, (self.burst - self.level) / rate)


class Concurrency:
    """At most `limit` unanswered at a time."""

    def __init__(self, limit):
        self.limit, self.window_s = limit, 0

    def admit(self, _now_s, in_flight):
        return Answer(in_flight < self.limit, self.limit - in_flight, 1.0, 1.0)


def limit_of(text):
    kind, _, rest = text.partition(':')
    if kind == 'none':
        return Unlimited()
    if kind == 'concurrency':
        return Concurrency(int(rest))
    amount, _, burst = rest.partition(':')
    limit, window_s = amount.split('/')
    if kind == 'bucket':
        return Bucket(int(limit), float(window_s), int(burst))
    return {'sliding': Sliding, 'fixed': Fixed}[kind](int(limit), float(window_s))


# What each dialect tells: (limit, answer) -> lines.
def tell_github(limit, answer):
    yield f'x-ratelimit-limit: {limit.limit}'
    yield f'x-ratelimit-remaining: {answer.left}'
    yield f'x-ratelimit-reset: {math.ceil(time.time() + answer.reset_s)}'
    yield 'x-ratelimit-resource: core'


def tell_ietf(limit, answer):
    yield f'ratelimit-policy: "default";q={limit.limit};w={max(1, int(limit.window_s))}'
    yield f'ratelimit: "default";r={answer.left};t={math.ceil(answer.reset_s)}'


def tell_nothing(_limit, _answer):
    yield from ()


DIALECTS = {'github': tell_github, 'ietf': tell_ietf, 'retry-after': tell_nothing,
            'none': tell_nothing}


class Origin:
    """One limit for everybody, and the log."""

    def __init__(self, args):
        self.limit, self.dialect = limit_of(args.limit), args.dialect
        self.delay_s, self.in_flight, self.count = args.delay_ms / 1000, 0, 0
        self.log = open(args.log, 'w', buffering=1, encoding='utf-8')

    def write(self, **what):
        self.log.write(json.dumps(what) + '\n')

    def head(self, answer):
        if self.limit.window_s:
            yield from DIALECTS[self.dialect](self.limit, answer)
        if not answer.ok and self.dialect != 'none':
            yield f'retry-after: {max(1, math.ceil(answer.wait_s))}'

    async def serve(self, request, writer):
        now_ns = time.monotonic_ns()
        answer = self.limit.admit(now_ns / 1e9, self.in_flight)
        self.in_flight += answer.ok
        self.count += 1
        number = self.count
        self.write(kind='in', t=now_ns, n=number, id=request['x-request-id'],
                   method=request['method'], ok=answer.ok, in_flight=self.in_flight)
        try:
            if answer.ok and self.delay_s:
                await asyncio.sleep(self.delay_s * random.uniform(0.5, 1.5))
            body = b'{"n": %d}\n' % number
            status = 200 if answer.ok else 429
            lines = [f'HTTP/1.1 {status} {PHRASES[status]}', 'content-type: application/json',
                     f'content-length: {len(body)}', *self.head(answer), '', '']
            writer.write('\r\n'.join(lines).encode() + body)
            await writer.drain()
        finally:
            self.in_flight -= answer.ok
            self.write(kind='out', t=time.monotonic_ns(), n=number)

    async def connection(self, reader, writer):
        try:
            while request := await read_request(reader):
                await self.serve(request, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def read_request(reader):
    """The fields that matter, or None at the end of the connection."""
    try:
        head = (await reader.readuntil(b'\r\n\r\n')).decode('latin-1').split('\r\n')
    except asyncio.IncompleteReadError:
        return None
    fields = {'x-request-id': None}
    for line in filter(None, head[1:]):
        name, _, value = line.partition(':')
        fields[name.lower()] = value.strip()
    fields['method'] = head[0].split(' ')[0]
    await reader.readexactly(int(fields.get('content-length', 0)))
    return fields


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--limit', default='none')
    parser.add_argument('--dialect', default='none', choices=DIALECTS)
    parser.add_argument('--delay-ms', type=float, default=0)
    parser.add_argument('--port', type=int, default=0)
    parser.add_argument('--log', required=True)
    args = parser.parse_args()
    origin = Origin(args)
    server = await asyncio.start_server(origin.connection, '127.0.0.1', args.port, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == '__main__':
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
