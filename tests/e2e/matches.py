# SPDX-License-Identifier: MIT
"""A backend and three sites that tell of matches, and a configuration that watches them."""
import json
from contextlib import ExitStack

from mock_api import Mock

SITES = ('backend', 'score', 'arena', 'ticker')
# Of the three sites; the backend has none.
CAPS = {'score': 8, 'arena': 6, 'ticker': 4}
LIMITS = {'score': 'rate=50/s burst=50', 'arena': 'window=50/1s', 'ticker': 'window=50/1s'}

CONFIG = '''
watch:
  interval: {interval}
  idle: {interval}
{more}
  items:
    url: http://127.0.0.1:{backend}/matches
    list: /matches
    state: /state
    ids: {{ticker: /ids/ticker}}
    every: {every}
  sources:
    score:
      url: http://127.0.0.1:{score}/api/match/{{id}}
      limit: {limit_score}
      concurrency: {cap_score}
      weight: 10
      id: /id
      fields:
        minute: {{path: /minute, type: integer}}
        home: {{path: /score/home, type: integer}}
        away: {{path: /score/away, type: integer}}
        venue: /venue
    arena:
      kind: html
      url: http://127.0.0.1:{arena}/live/{{id}}.html
      limit: {limit_arena}
      concurrency: {cap_arena}
      weight: 5
      fields:
        minute: {{path: "//p[@class='minute']", type: integer}}
        home: {{path: "//p[@class='score']/b[@class='home']", type: integer}}
        away: {{path: "//p[@class='score']/b[@class='away']", type: integer}}
        venue: "//p[@class='ground']"
    ticker:
      url: http://127.0.0.1:{ticker}/v2/events/{{id}}
      limit: {limit_ticker}
      concurrency: {cap_ticker}
      weight: 2
      id: /event/nr
      fields:
        minute: {{path: /event/t, type: integer}}
        home: {{path: /event/h, type: integer}}
        away: {{path: /event/a, type: integer}}
        venue: /event/ground
'''


class Sites:
    """The four of them, each a process with a log; ends with the block."""

    def __init__(self, folder, matches, limits=None, more=None, each=None):
        self.folder = folder
        self.matches = {**dict.fromkeys(SITES, matches), **(each or {})}
        self.limits = {**LIMITS, **(limits or {})}
        self.more = more or {}  # words of one site
        self.mock = {}

    def start(self, name, port=0):
        words = ['--site', name, '--matches', self.matches[name], '--dialect', 'none',
                 '--listen', f'127.0.0.1:{port}', '--log', str(self.folder / f'{name}.log'),
                 *self.more.get(name, ())]
        if name in self.limits:
            words += ['--limit', self.limits[name]]
        self.mock[name] = Mock(*words).__enter__()

    def stop(self, name):
        """It is gone; its port is remembered."""
        self.mock[name].__exit__()

    def again(self, name):
        self.start(name, self.mock[name].port)

    def __enter__(self):
        with ExitStack() as stack:
            for name in SITES:
                self.start(name)
                stack.callback(self.end, name)
            self.stack = stack.pop_all()
        return self

    def end(self, name):
        if self.mock[name].process.poll() is None:
            self.mock[name].__exit__()

    def __exit__(self, *_):
        self.stack.close()

    def config(self, interval='200ms', every='1s', more='', **limits):
        """`more` are lines of the section watch, indented by two."""
        stated = {**self.limits, **limits}
        return CONFIG.format(interval=interval, every=every, more=more,
                             **{n: m.port for n, m in self.mock.items()},
                             **{f'limit_{n}': text for n, text in stated.items()},
                             **{f'cap_{n}': cap for n, cap in CAPS.items()})

    def arrivals(self, name):
        """(nanoseconds, target, verdict) of what its log has."""
        rows = (line.split('\t') for line in (self.folder / f'{name}.log').read_text().splitlines())
        return [(int(r[1]), r[7], r[9]) for r in rows if r[0] == 'A']

    def listed(self):
        """What the backend tells now."""
        return json.loads(self.mock['backend'].get('/matches')[2])['matches']
