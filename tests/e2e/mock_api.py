# SPDX-License-Identifier: MIT
"""flyball mock as a context, and a client that sends bytes as they are."""
import http.client
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLYBALL = Path(os.environ.get('FLYBALL_BUILD', ROOT / 'build')) / 'flyball'
PATIENCE_S = 60  # for what must happen, however busy the machine is


class Mock:
    """A running `flyball mock --json`; ends with the block, and must end well."""

    def __init__(self, *words):
        self.words = words

    def __enter__(self):
        self.process = subprocess.Popen([FLYBALL, 'mock', '--json', *self.words], text=True,
                                        stdout=subprocess.PIPE)
        self.hello = json.loads(self.process.stdout.readline())
        self.port = self.hello['port']
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        rest = self.process.communicate(timeout=PATIENCE_S)[0]
        self.summary = json.loads(rest)
        assert self.process.returncode == 0

    def connect(self):
        return socket.create_connection(('127.0.0.1', self.port), timeout=PATIENCE_S)

    def client(self):
        return http.client.HTTPConnection('127.0.0.1', self.port, timeout=PATIENCE_S)

    def get(self, path, **fields):
        """(status, header fields in lower case, body) on a connection of its own."""
        client = self.client()
        client.request('GET', path, headers=fields)
        answer = client.getresponse()
        body = answer.read()
        client.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, body

    def stats(self):
        return json.loads(self.get('/__stats')[2])

    def log(self):
        """Arrivals and ends as lists of fields."""
        lines = self.get('/__log')[2].decode().splitlines()
        rows = [line.split('\t') for line in lines]
        return [r for r in rows if r[0] == 'A'], [r for r in rows if r[0] == 'E']

    def wait_for(self, fact):
        """Until the counts are as wanted."""
        end = time.monotonic() + PATIENCE_S
        while not fact(self.stats()):
            assert time.monotonic() < end

    def raw(self, *pieces):
        """Send the pieces; all that comes back until the server closes."""
        with self.connect() as s:
            for piece in pieces:
                s.sendall(piece)
            heard = b''
            while data := s.recv(65536):
                heard += data
            return heard
