# SPDX-License-Identifier: MIT
"""A small HTTP origin for the tests: it answers as the path says, and remembers what arrived.

    /ok/...            200, a JSON body
    /status/CODE/...   that status
    /binary            bytes that are not UTF-8
    /slow/MS/...       200 after so many milliseconds
    /hold/SECONDS      429 with Retry-After
    /once/SECONDS/...  the same, but only to the first request of that path
    /to?URL            a redirect
    /etag/...          an ETag, and 304 to whoever has it
    /left/SECONDS      nothing is left of pool "core" for so long, and of "search" 7 of 30
    /told/...          what origin.told has for that path
    /pages/N/K         page K of N, with a Link to the next; /cursor/N/K: with a JSON cursor
"""
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *args):
        pass

    def answer(self, status, body=b'', headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        size = int(self.headers.get('Content-Length') or 0)
        body = self.rfile.read(size)
        origin = self.server.origin
        with origin.lock:
            origin.arrivals.append({'at': time.monotonic(), 'method': self.command,
                                    'path': self.path, 'body': body,
                                    'id': self.headers.get('X-Request-Id'),
                                    'headers': dict(self.headers.items()),
                                    'headers_all': self.headers})
        words = self.path.split('?')[0].strip('/').split('/')
        getattr(self, 'do_' + words[0].replace('.', '_'), self.do_ok)(words)

    do_GET = do_POST = do_PUT = do_HEAD = serve

    def do_ok(self, words):
        self.answer(200, json.dumps({'path': self.path}).encode(),
                    [('Content-Type', 'application/json')])

    def do_left(self, words):
        reset = int(time.time()) + int(words[1])
        pools = {'core': {'limit': 100, 'remaining': 0, 'reset': reset},
                 'search': {'limit': 30, 'remaining': 7, 'reset': reset}}
        self.answer(200, json.dumps({'resources': pools}).encode())

    def do_status(self, words):
        self.answer(int(words[1]), b'as asked')

    def do_binary(self, words):
        self.answer(200, b'\xff\x00\xfe')

    def do_slow(self, words):
        time.sleep(int(words[1]) / 1000)
        self.do_ok(words)

    def do_hold(self, words):
        self.answer(429, b'', [('Retry-After', words[1])])

    def do_once(self, words):
        if self.server.origin.paths().count(self.path) == 1:
            self.do_hold(words)
        else:
            self.do_ok(words)

    def do_to(self, words):
        self.answer(302, b'', [('Location', self.path.split('?', 1)[1])])

    def do_etag(self, words):
        if self.headers.get('If-None-Match') == '"one"':
            self.answer(304, b'', [('ETag', '"one"')])
        else:
            self.answer(200, b'the body', [('ETag', '"one"')])

    def tagged(self, body, headers=()):
        """With an ETag; a 304 has that and nothing else."""
        tag = ('ETag', f'"{body.hex()}"')
        if self.headers.get('If-None-Match') == tag[1]:
            self.answer(304, b'', [tag])
        else:
            self.answer(200, body, [tag, *headers])

    def do_pages(self, words):
        count, page = int(words[1]), int(words[2])
        query = self.path.partition('?')[2]
        time.sleep(float(dict(p.split('=') for p in query.split('&') if p).get('wait', 0)))
        link = [('Link', f'</pages/{count}/{page + 1}?{query}>; rel="next"')]
        link = link if page < count else []
        self.tagged(f'page {page}'.encode(), link)

    def do_cursor(self, words):
        query = self.path.partition('?')[2]
        at = int(dict(p.split('=') for p in query.split('&') if p).get('after', 0))
        after = at + 1 if at + 1 < int(words[1]) else None
        self.tagged(json.dumps({'meta': {'next': after}, 'at': at}).encode())

    def do_told(self, words):
        self.answer(200, self.server.origin.told.get(self.path, '').encode())

    def do_robots_txt(self, words):
        robots = self.server.origin.robots
        self.answer(200 if robots is not None else 404, (robots or '').encode())


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients are killed in the middle of an answer: that is the point."""


class Origin:
    def __init__(self):
        self.lock = threading.Lock()
        self.arrivals = []
        self.robots = None
        self.told = {}
        self.server = Server(('127.0.0.1', 0), Handler)
        self.server.origin = self
        self.thread = threading.Thread(target=self.server.serve_forever,
                                       kwargs={'poll_interval': 0.05}, daemon=True)
        self.thread.start()
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}'

    def paths(self):
        with self.lock:
            return [a['path'] for a in self.arrivals]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
