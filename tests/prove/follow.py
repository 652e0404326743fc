# SPDX-License-Identifier: MIT
"""A consumer of /items and /events, as anybody would write one from the manual."""
import asyncio
import json
import random


class Lost(Exception):
    """The connection is gone."""


async def read_head(reader):
    head = await reader.readuntil(b'\r\n\r\n')
    lines = head.decode().split('\r\n')
    fields = dict(line.lower().split(': ', 1) for line in lines[1:] if ': ' in line)
    return int(lines[0].split()[1]), fields


class Client:
    """Requests one after another on a connection that stays."""

    def __init__(self, port):
        self.port = port
        self.writer = None

    async def get(self, path):
        """(status, what the JSON says)"""
        for attempt in range(5):
            if not self.writer:
                self.reader, self.writer = await asyncio.open_connection('127.0.0.1', self.port)
            try:
                self.writer.write(f'GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.encode())
                status, fields = await read_head(self.reader)
                body = await self.reader.readexactly(int(fields['content-length']))
                if status == 503:  # too many connections at once
                    raise OSError
                return status, json.loads(body)
            except (OSError, asyncio.IncompleteReadError):
                self.close()  # it may have been closed since the last one
                if attempt == 4:
                    raise
                await asyncio.sleep(attempt * 0.5)

    def close(self):
        if self.writer:
            self.writer.close()
        self.writer = None


class Consumer:
    """Has what the daemon has, by snapshots and changes; leaves and comes back at random."""

    def __init__(self, port, seed, stay_s=(3.0, 20.0)):
        self.port = port
        self.client = Client(port)
        self.rng = random.Random(seed)
        self.stay_s = stay_s
        self.have = {}  # id: [seq, fields]
        self.last = None  # the id of the latest event
        self.events = self.changes = self.comings = self.gaps = self.holes = self.wholes = 0
        self.freshness = []  # when one of these came
        self.at_end = asyncio.Event()

    async def take_all(self):
        _, told = await self.client.get('/items?most=20000')
        self.client.close()  # a daemon takes 128 connections of one address
        self.have = {i['id']: [i['seq'], i['fields']] for i in told['items']}
        self.last = told['event']

    async def take_delta(self, item):
        seq, fields = self.have.setdefault(item, [0, {}])
        status, told = await self.client.get(f'/items/{item}/delta?since={seq}')
        self.client.close()
        if status == 404:
            self.have.pop(item, None)
            return
        if told['need'] == 'whole':
            fields.clear()
        self.apply(item, told['to'], told['changes'])

    def apply(self, item, seq, changes):
        have = self.have.setdefault(item, [0, {}])
        have[0] = seq
        for name, value in changes.items():
            if value is None:
                have[1].pop(name, None)
            else:
                have[1][name] = value

    async def on_change(self, e):
        have = self.have.get(e['id'], [0])[0]
        if e['seq'] <= have:
            return  # the snapshot was newer
        self.changes += 1
        if e.get('whole'):
            self.wholes += 1
            await self.take_delta(e['id'])
        elif e['seq'] != have + 1:
            self.holes += 1
            await self.take_delta(e['id'])
        else:
            self.apply(e['id'], e['seq'], e['changes'])

    async def on_event(self, kind, data):
        self.events += 1
        if kind == 'gap':
            self.gaps += 1
            await self.take_all()
        elif kind == 'changed':
            await self.on_change(data)
        elif kind == 'added':
            self.have.setdefault(data['id'], [0, {}])
        elif kind == 'removed':
            self.have.pop(data['id'], None)
        elif kind == 'freshness':
            self.freshness.append(asyncio.get_running_loop().time())

    async def read_events(self, reader):
        """Chunk by chunk, event by event."""
        text = b''
        while True:
            size = int((await reader.readuntil(b'\r\n')).strip(), 16)
            if size == 0:
                raise Lost
            text += (await reader.readexactly(size + 2))[:-2]
            *whole, text = text.split(b'\n\n')
            for event in whole:
                fields = dict(line.split(': ', 1) for line in event.decode().split('\n')
                              if ': ' in line)
                if 'event' in fields:
                    await self.on_event(fields['event'], json.loads(fields['data']))
                if 'id' in fields:
                    self.last = fields['id']

    async def stay(self):
        """One stay: some seconds, or until the end."""
        reader, writer = await asyncio.open_connection('127.0.0.1', self.port)
        try:
            writer.write(f'GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n'
                         f'Last-Event-ID: {self.last}\r\n\r\n'.encode())
            status, _ = await read_head(reader)
            if status == 503:
                raise Lost
            assert status == 200, status
            self.comings += 1
            stay_s = None if self.at_end.is_set() else self.rng.uniform(*self.stay_s)
            await asyncio.wait_for(self.read_events(reader), stay_s)
        finally:
            writer.close()

    async def run(self):
        await asyncio.sleep(self.rng.uniform(0.0, 5.0))
        await self.take_all()
        while True:
            try:
                await self.stay()
            except (asyncio.TimeoutError, OSError, asyncio.IncompleteReadError, Lost):
                await asyncio.sleep(self.rng.uniform(0.0, 1.0))
