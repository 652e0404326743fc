# SPDX-License-Identifier: MIT
"""A folder with a list and an output, and the real command on them."""
import json
import os
import signal
import sqlite3
import subprocess
from pathlib import Path

from schemas import check

ROOT = Path(__file__).resolve().parents[2]
FLYBALL = Path(os.environ.get('FLYBALL_BUILD', ROOT / 'build')) / 'flyball'
FAST = ['--limit', 'adapt=off concurrency=40']
LONG_S = 120  # for what takes a moment on a machine that is not busy


class Batch:
    def __init__(self, folder):
        self.folder = folder
        self.out = folder / 'out.jsonl'
        self.env = {**os.environ, 'XDG_STATE_HOME': str(folder / 'state'),
                    'HOME': str(folder), 'FLYBALL_LEDGER': str(folder / 'ledger')}

    def write(self, lines, name='list'):
        path = self.folder / name
        path.write_text(''.join(line if isinstance(line, str) and line.endswith('\n') else
                                (line if isinstance(line, str) else json.dumps(line)) + '\n'
                                for line in lines))
        return path

    def command(self, *words):
        return [str(FLYBALL), 'fetch', *map(str, words)]

    def run(self, *words, stdin=subprocess.DEVNULL, **more):
        if isinstance(stdin, str):
            more['input'] = stdin
        else:
            more['stdin'] = stdin
        return subprocess.run(self.command(*words), cwd=self.folder, env=self.env, text=True,
                              capture_output=True, check=False, timeout=LONG_S, **more)

    def start(self, *words):
        return subprocess.Popen(self.command(*words), cwd=self.folder, env=self.env, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def results(self, path=None):
        lines = (path or self.out).read_text().splitlines()
        return [check(json.loads(line), 'journal') for line in lines]

    def by_id(self, path=None):
        results = self.results(path)
        ids = {r['id']: r for r in results}
        assert len(ids) == len(results), 'an id is there twice'
        return ids

    def journals(self):
        return sorted((self.folder / 'state/flyball').glob('*.journal'))

    def assert_journals_sound(self):
        for path in self.journals():
            with sqlite3.connect(path) as db:
                assert db.execute('PRAGMA integrity_check').fetchall() == [('ok',)]


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()
