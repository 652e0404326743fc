# SPDX-License-Identifier: MIT
"""flyball serve as a context: a process of its own in a folder of its own, on free ports."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

from schemas import check, check_answer

ROOT = Path(__file__).resolve().parents[2]
FLYBALL = Path(os.environ.get('FLYBALL_BUILD', ROOT / 'build')) / 'flyball'
PATIENCE_S = 120  # for what must happen, however busy the machine is


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('localhost', timeout=PATIENCE_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(PATIENCE_S)
        self.sock.connect(str(self.path))


def wait_for(fact, patience_s=PATIENCE_S):
    """What `fact` gives once it is true of something."""
    end = time.monotonic() + patience_s
    while True:
        found = fact()
        if found:
            return found
        assert time.monotonic() < end, 'it never happened'
        time.sleep(0.02)


class Daemon:
    """Ends with the block, and must end well unless `code` says otherwise."""

    def __init__(self, folder, config='', words=(), env=None, prefix=()):
        self.folder = Path(folder)
        self.file = self.folder / 'flyball.yaml'
        self.file.write_text(config)
        (self.folder / 'run').mkdir(exist_ok=True)
        self.socket = self.folder / 'run/flyball/control.sock'
        self.log = self.folder / 'log'
        self.env = {**os.environ, 'XDG_STATE_HOME': str(self.folder / 'state'),
                    'XDG_RUNTIME_DIR': str(self.folder / 'run'), 'HOME': str(self.folder),
                    **(env or {})}
        self.env.pop('FLYBALL_LEDGER', None)
        self.words = [*prefix, str(FLYBALL), 'serve', '--config', str(self.file),
                      '--set', 'listeners.public.listen=127.0.0.1:0',
                      '--set', 'listeners.internal.listen=127.0.0.1:0', *words]
        self.code = 0

    def __enter__(self):
        with self.log.open('a') as log:
            self.process = subprocess.Popen(self.words, cwd=self.folder, env=self.env, text=True,
                                            stdout=subprocess.PIPE, stderr=log)
        self.port = {}
        for _ in range(3):
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(self.log.read_text())
            name, where = line.split()
            self.port[name] = where.rsplit(':', 1)[-1]
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        if kind is None:
            assert self.process.returncode == self.code, self.log.read_text()

    def connection(self, door='control'):
        if door == 'control':
            return UnixConnection(self.socket)
        return http.client.HTTPConnection('127.0.0.1', int(self.port[door]), timeout=PATIENCE_S)

    def configure(self, config):
        """Another configuration, at once: nobody reads half of it."""
        fresh = self.file.with_suffix('.new')
        fresh.write_text(config)
        fresh.rename(self.file)

    def ask(self, path, door='control', method='GET', body=None, **fields):
        """(status, header fields in lower case, body)"""
        client = self.connection(door)
        client.request(method, path, body=body,
                       headers={k.replace('_', '-'): v for k, v in fields.items()})
        answer = client.getresponse()
        data = answer.read()
        client.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, data

    def json(self, path, door='control', **more):
        status, _, body = self.ask(path, door, **more)
        assert status < 300, (status, body)
        return json.loads(body)

    def status(self, door='control'):
        return self.json('/status', door)

    def act(self, what):
        done = self.ask(f'/admin/{what}', method='POST')
        if done[0] < 300:
            check_answer(json.loads(done[2]), 'admin')
        return done

    def submit(self, **batch):
        batch.setdefault('output', str(self.folder / 'out.jsonl'))
        told = self.json('/admin/batch', method='POST', body=json.dumps(batch))
        return check_answer(told, 'submit')['batch']

    def batch(self, name):
        return next(b for b in self.status()['batches'] if b['name'] == name)

    def wait_ended(self, name):
        return wait_for(lambda: not (b := self.batch(name))['running'] and b)

    def command(self, *words, **more):
        return subprocess.run([FLYBALL, *words], cwd=self.folder, env=self.env, text=True,
                              capture_output=True, check=False, timeout=PATIENCE_S, **more)

    def events(self, door='public', last=None):
        return Events(self, door, last)

    def fds(self):
        return len(os.listdir(f'/proc/{self.process.pid}/fd'))


class Events:
    """A client of /events: dictionaries with id, event and data."""

    def __init__(self, daemon, door, last):
        self.client = daemon.connection(door)
        self.client.request('GET', '/events', headers={'Last-Event-ID': last} if last else {})
        self.answer = self.client.getresponse()
        assert self.answer.status == 200, self.answer.read()
        self.item = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()

    def next(self, *kinds):
        """The next event of one of these kinds; any but ticks where none is named."""
        while True:
            line = self.answer.readline().decode()
            assert line, 'the stream has ended'
            line = line.rstrip('\n')
            if line:
                name, _, value = line.partition(': ')
                self.item[name] = value
                continue
            item, self.item = self.item, {}
            kind = item.get('event')
            if kind and (kind in kinds if kinds else kind != 'tick'):
                item['data'] = json.loads(item['data'])
                return check(item, 'event')


def inside(subject='it', item='1'):
    """Whatever those who run it can read: routes of src/daemon/routes.c, as text and as JSON."""
    table = (ROOT / 'src/daemon/routes.c').read_text().split('INSIDE[] = {')[1].split('};')[0]
    paths = re.findall(r'"GET", "([^"]+)"', table)
    assert '/view/config' in paths and len(paths) > 10
    more = {'/view/why': f'&subject={subject}', '/view/item': f'&id={item}'}
    return [f'{path}?verbose=1&json={json}{more.get(path, "")}' for path in paths
            for json in (0, 1)]


def write_list(path, port, count, first=1, query=''):
    path.write_text(''.join(f'http://127.0.0.1:{port}/i/{i}{query}\n'
                            for i in range(first, first + count)))
    return str(path)
