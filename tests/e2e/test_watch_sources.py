# SPDX-License-Identifier: MIT
"""What a watcher asks its sources, and what it makes of their answers."""
import json
import re
import signal
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from served import Daemon, wait_for

QUICK = '''
  interval: 200ms
  idle: 200ms
  aims: {live: 100ms, imminent: 300ms, completed: 1s}
  cache: {missing: 300ms}
'''


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:  # the daemon has just been killed
            pass

    def do_GET(self):
        site = self.server
        with site.lock:
            site.asked.append((self.path, dict(self.headers)))
        status, body, headers = site.answer(self.path, self.headers)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Site(ThreadingHTTPServer):
    """Answers by path: bytes, an object as JSON, a number as a status, or a function."""
    daemon_threads = True

    def __init__(self, pages):
        super().__init__(('127.0.0.1', 0), Handler)
        self.pages, self.asked, self.lock = pages, [], threading.Lock()
        self.at = f'http://127.0.0.1:{self.server_port}'
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, path, headers):
        page = self.pages.get(path, 404)
        if callable(page):
            page = page(headers)
        if isinstance(page, tuple):
            return page
        if isinstance(page, int):
            return page, b'', {}
        return 200, page if isinstance(page, bytes) else json.dumps(page).encode(), {}

    def paths(self):
        with self.lock:
            return [path for path, _ in self.asked]


@contextmanager
def site(pages):
    s = Site(pages)
    try:
        yield s
    finally:
        s.shutdown()
        s.server_close()


def config(s, sources, items='', more=QUICK):
    return f'''
limit: rate=1000/s burst=1000
watch:{more}
  items: {{url: "{s.at}/list", every: 300ms{items}}}
  sources:
{sources}
'''


def source(s, name, keys='', path='/{id}', fields='a: /a'):
    return (f'    {name}: {{url: "{s.at}/{name}{path}", fields: {{{fields}}}, limit: rate=1000/s'
            f'{keys}}}\n')


def fields_of(d, item):
    status, _, body = d.ask(f'/items/{item}')
    return json.loads(body)['fields'] if status == 200 else {}


def known(d, item):
    """What is told of an item once something is known."""
    def has_version():
        status, _, body = d.ask(f'/items/{item}')
        told = json.loads(body)
        return told if status == 200 and told['seq'] else None
    return wait_for(has_version)


def warnings(d):
    return [w['text'] for w in d.status()['watch']['warnings']]


# ---------------------------------------------------------------------------------- what is asked

def test_what_has_not_changed_is_not_sent_again(tmp_path):
    def page(headers):
        if headers.get('If-None-Match') == '"v1"':
            return 304, b'', {'ETag': '"v1"'}
        return 200, b'{"a": 7}', {'ETag': '"v1"'}

    with site({'/list': [{'id': '1'}], '/x/1': page}) as s, \
            Daemon(tmp_path, config(s, source(s, 'x'))) as d:
        wait_for(lambda: s.paths().count('/x/1') >= 5)
        told = known(d, '1')
        assert told['fields'] == {'a': '7'} and told['seq'] == 1
        with s.lock:
            tags = [h.get('If-None-Match') for p, h in s.asked if p == '/x/1']
        assert tags[0] is None and set(tags[1:]) == {'"v1"'}
        assert next(x for x in d.status()['watch']['sources'])['same'] >= 3
        # Another configuration may want other fields of the same answer.
        d.configure(config(s, source(s, 'x', fields='b: /a')))
        wait_for(lambda: fields_of(d, '1') == {'b': '7'})


def test_what_has_not_changed_may_be_free(tmp_path):
    def page(headers):
        if headers.get('If-None-Match') == '"v1"':
            return 304, b'', {'ETag': '"v1"'}
        return 200, b'{"a": 7}', {'ETag': '"v1"'}

    def ask(s, name, provider):
        return (f'    {name}: {{url: "{s.at}/{name}/{{id}}", fields: {{a: /a}}, '
                f'provider: {provider}}}\n')

    providers = ('providers:\n  gives: {unmodified_free: true, hosts: [a.example]}\n'
                 '  counts: {hosts: [b.example]}\n')
    with site({'/list': [{'id': '1'}], '/x/1': page, '/y/1': page}) as s, Daemon(
            tmp_path, providers + config(s, ask(s, 'x', 'gives') + ask(s, 'y', 'counts'))) as d:
        def of(name):
            return next(x for x in d.status()['watch']['sources'] if x['source'] == name)

        wait_for(lambda: of('x')['same'] >= 3 and of('y')['same'] >= 1)
        assert of('x')['free'] >= 3 and of('y')['free'] == 0


def test_a_permit_comes_back_where_nothing_has_changed(tmp_path):
    def page(headers):
        if headers.get('If-None-Match') == '"v1"':
            return 304, b'', {'ETag': '"v1"'}
        return 200, b'{"a": 7}', {'ETag': '"v1"'}

    def ask(s, name, more=''):
        return (f'    {name}: {{url: "{s.at}/{name}/{{id}}", fields: {{a: /a}}, '
                f'limit: "window=5/1h margin=0%"{more}}}\n')

    with site({'/list': [{'id': '1'}], '/x/1': page, '/y/1': page}) as s, Daemon(
            tmp_path, config(s, ask(s, 'x', ', unmodified_free: true') + ask(s, 'y'))) as d:
        wait_for(lambda: s.paths().count('/x/1') >= 20)  # though five an hour are all it has
        assert s.paths().count('/y/1') <= 5
        rows = {x['source']: x for x in d.status()['watch']['sources']}
        assert rows['x']['free'] >= 15 and rows['y']['free'] == 0


def test_a_provider_that_gives_for_free_counts_all_the_same(tmp_path):
    """Its quota is free; the limit that is stated of it may be one of another kind."""
    def page(headers):
        if headers.get('If-None-Match') == '"v1"':
            return 304, b'', {'ETag': '"v1"'}
        return 200, b'{"a": 7}', {'ETag': '"v1"'}

    def ask(s, name, more):
        return f'    {name}: {{url: "{s.at}/{name}/{{id}}", fields: {{a: /a}}, {more}}}\n'

    stated = 'window=5/1h margin=0%'
    providers = (f'providers:\n  gives: {{unmodified_free: true, hosts: [a.example], '
                 f'limit: {stated}}}\n  counts: {{hosts: [b.example], limit: {stated}}}\n')
    sources = ('provider: gives', 'provider: counts, unmodified_free: true',
               'limit: "rate=50/s"')
    with site({'/list': [{'id': '1'}], '/x/1': page, '/y/1': page, '/z/1': page}) as s, Daemon(
            tmp_path, providers + config(s, ''.join(map(ask, [s] * 3, 'xyz', sources)))) as d:
        wait_for(lambda: all(s.paths().count(f'/{name}/1') >= 5 for name in 'xy'))
        wait_for(lambda: s.paths().count('/z/1') >= 20)
        rows = {x['source']: x for x in d.status()['watch']['sources']}
        assert [s.paths().count(f'/{name}/1') for name in 'xy'] == [5, 5]
        assert rows['x']['free'] == rows['y']['free'] == 4


def test_what_hardly_changes_is_asked_for_once(tmp_path):
    pages = {'/list': [{'id': '1'}], '/x/1': {'a': 1}, '/venue/1': {'where': 'Ajax Park'}}
    with site(pages) as s:
        fixed = f', static: {{url: "{s.at}/venue/{{id}}", fields: {{venue: /where}}}}'
        with Daemon(tmp_path, config(s, source(s, 'x', fixed))) as d:
            wait_for(lambda: fields_of(d, '1') == {'a': '1', 'venue': 'Ajax Park'})
            count = s.paths().count('/x/1')
            wait_for(lambda: s.paths().count('/x/1') >= count + 5)
            assert s.paths().count('/venue/1') == 1
            assert fields_of(d, '1') == {'a': '1', 'venue': 'Ajax Park'}


def test_a_secret_goes_to_the_hosts_of_its_provider_only(tmp_path):
    pages = {'/list': [{'id': '1'}], '/x/1': {'a': 1}, '/venue/1': {'where': 'Ajax Park'}}
    (tmp_path / 'token').write_text('s3cret')
    with site(pages) as s:
        elsewhere = s.at.replace('127.0.0.1', 'localhost')
        text = config(s, f'''
    x:
      url: "{s.at}/x/{{id}}"
      fields: {{a: /a}}
      static: {{url: "{elsewhere}/venue/{{id}}", fields: {{venue: /where}}}}
''') + f'''
providers:
  alpha:
    hosts: [127.0.0.1]
    credentials: {{default: {{file: "{tmp_path}/token"}}}}
'''
        with Daemon(tmp_path, text) as d:
            wait_for(lambda: fields_of(d, '1') == {'a': '1', 'venue': 'Ajax Park'})
        with s.lock:
            had = {path: 's3cret' in str(headers) for path, headers in s.asked}
        assert had['/x/1'] and not had['/venue/1']


def test_an_answer_that_was_not_taken_cannot_be_referred_to(tmp_path):
    state = {'is_odd': False}

    def page(headers):
        tag = '"v2"' if state['is_odd'] else '"v1"'
        if headers.get('If-None-Match') == tag:
            return 304, b'', {'ETag': tag}
        body = b'{"a": 8, "me": "2"}' if state['is_odd'] else b'{"a": 7, "me": "1"}'
        return 200, body, {'ETag': tag}

    with site({'/list': [{'id': '1'}], '/x/1': page}) as s, \
            Daemon(tmp_path, config(s, source(s, 'x', ', id: /me'))) as d:
        assert known(d, '1')['fields'] == {'a': '7'}
        state['is_odd'] = True
        wait_for(lambda: warnings(d))
        count = s.paths().count('/x/1')
        wait_for(lambda: s.paths().count('/x/1') >= count + 3)
        with s.lock:
            tags = [h.get('If-None-Match') for p, h in s.asked if p == '/x/1'][count + 1:]
        assert tags and set(tags) == {None}


def test_an_id_cannot_be_more_than_an_id(tmp_path):
    evil = ['../admin', 'a?b=c', 'http://evil/', 'x y', '..', '']
    with site({'/list': [{'id': e} for e in evil] + [{'id': 'ok'}], '/x/ok': {'a': 1}}) as s, \
            Daemon(tmp_path, config(s, source(s, 'x'))) as d:
        wait_for(lambda: fields_of(d, 'ok'))
        wait_for(lambda: '/x/http%3A%2F%2Fevil%2F' in s.paths())
        assert {p for p in s.paths() if p != '/list'} <= {
            '/x/ok', '/x/..%2Fadmin', '/x/a%3Fb%3Dc', '/x/http%3A%2F%2Fevil%2F', '/x/x%20y'}


# ------------------------------------------------------------------------------------------- ids

def test_sources_call_items_as_they_like(tmp_path):
    (tmp_path / 'ids').write_text('# ours theirs\n1, f-one\n2 f-two\nnonsense\n')
    pages = {'/list': [{'id': '1', 'x': 'l-one'}, {'id': '2', 'x': 'l-two'}, {'id': '3'}],
             **{f'/{n}': {'a': 1} for n in ('same/1', 'listed/l-one', 'file/f-one', 'rule/r-1')}}
    with site(pages) as s:
        sources = (source(s, 'same') + source(s, 'listed')
                   + source(s, 'file', f', ids_file: {tmp_path}/ids')
                   + source(s, 'rule', ', id_rule: "r-{item}"'))
        with Daemon(tmp_path, config(s, sources, ', ids: {listed: /x}')) as d:
            wait_for(lambda: {'/same/1', '/listed/l-one', '/file/f-one', '/rule/r-1', '/rule/r-3',
                              '/listed/l-two', '/file/f-two'} <= set(s.paths()))
            said = wait_for(lambda: len(w := warnings(d)) >= 2 and w)
            assert any('listed' in w and '3' in w for w in said)
            assert any('file' in w and '3' in w for w in said)
            assert not [p for p in s.paths() if p in ('/listed/3', '/file/3')]
            wait_for(lambda: 'have no two ids' in d.log.read_text())


def test_ids_that_lead_nowhere_are_warnings(tmp_path):
    (tmp_path / 'ids').write_text('1 f-one\n1 f-other\n9 f-nine\n')
    pages = {'/list': [{'id': '1'}, {'name': 'without'}, {'id': '..'}], '/file/f-one': {'a': 1}}
    with site(pages) as s, \
            Daemon(tmp_path, config(s, source(s, 'file', f', ids_file: {tmp_path}/ids'))) as d:
        known(d, '1')
        told = wait_for(lambda: (w := d.status()['watch']) and w['warned']['refused'] >= 2 and w)
        assert (told['warned']['unknown'], told['warned']['ambiguous']) == (1, 1)  # told once
        texts = {w['kind']: w for w in told['warnings']}
        assert texts['unknown']['source_id'] == 'f-nine' and texts['unknown']['source'] == 'file'
        assert (texts['ambiguous']['id'], texts['ambiguous']['source_id']) == ('1', 'f-other')
        text = d.ask('/metrics', 'internal')[2].decode()
        for kind, least in (('refused', 2), ('unknown', 1), ('ambiguous', 1)):
            found = re.search(rf'flyball_watch_warnings_total{{kind="{kind}"}} (\d+)', text)
            assert int(found[1]) >= least, kind
        assert '/file/f-other' not in s.paths()


def test_an_answer_about_another_item_is_not_believed(tmp_path):
    pages = {'/list': [{'id': '1'}], '/x/1': {'id': '2', 'a': 'wrong'}, '/y/1': {'a': 'right'}}
    with site(pages) as s, \
            Daemon(tmp_path, config(s, source(s, 'x', ', id: /id, weight: 100')
                                    + source(s, 'y'))) as d:
        wait_for(lambda: fields_of(d, '1') == {'a': 'right'})
        assert wait_for(lambda: [w for w in warnings(d) if w.startswith('x')])
        assert fields_of(d, '1') == {'a': 'right'}


def test_what_a_source_does_not_have_is_no_failure(tmp_path):
    with site({'/list': [{'id': '1'}], '/x/1': {'a': 1}}) as s, \
            Daemon(tmp_path, config(s, source(s, 'x') + source(s, 'none'))) as d:
        wait_for(lambda: s.paths().count('/none/1') >= 2)
        row = next(x for x in d.status()['watch']['sources'] if x['source'] == 'none')
        assert row['failed'] == 0 and row['absent'] >= 1


# --------------------------------------------------------------------------------------- hostile

def test_hostile_answers_disturb_nobody(tmp_path):
    bodies = [b'', b'nonsense', b'{"a":', b'[' * 100_000, b'{"a":"\xff"}', b'{"b":1}', b'\0' * 1000,
              b'{"a":' + b'1' * 2_000_000 + b'}', 500, 302]
    ids = [str(i) for i in range(len(bodies))]
    pages = {'/list': [{'id': i} for i in ids], **{f'/good/{i}': {'a': i} for i in ids},
             **{f'/x/{i}': body for i, body in zip(ids, bodies)}}
    with site(pages) as s, \
            Daemon(tmp_path, config(s, source(s, 'x', ', concurrency: 20')
                                    + source(s, 'good'))) as d:
        wait_for(lambda: {f'/x/{i}' for i in ids} <= set(s.paths()))
        wait_for(lambda: all(fields_of(d, i) == {'a': i} for i in ids))
        for words in ('not JSON', 'more than 64 deep', 'none of its fields', 'is too large'):
            wait_for(lambda w=words: w in d.log.read_text())
        assert d.process.poll() is None


def test_programs_and_pages(tmp_path):
    pages = {'/list': [{'id': '1'}], '/html/1': b'<h1>Ajax</h1><b id=s>3</b>',
             '/prog/1': b'score 3'}
    with site(pages) as s:
        sources = (f'    html: {{kind: html, url: "{s.at}/html/{{id}}", limit: rate=1000/s, '
                   'fields: {name: //h1, score: {path: "//b[@id=\'s\']", type: integer}}}\n'
                   f'    prog: {{kind: exec, url: "{s.at}/prog/{{id}}", limit: rate=1000/s, '
                   'command: [sh, -c, \'read x n; printf "{\\"score\\":%s,\\"item\\":\\"%s\\"}" '
                   '$n $FLYBALL_ITEM\']}\n'
                   '    alone: {kind: exec, command: [echo, \'{"alone": true}\']}\n'
                   '    hangs: {kind: exec, command: [sleep, "600"], timeout: 300ms}\n')
        with Daemon(tmp_path, config(s, sources)) as d:
            wait_for(lambda: fields_of(d, '1') == {'name': 'Ajax', 'score': '3', 'item': '1',
                                                   'alone': 'true'})
            wait_for(lambda: 'took too long' in d.log.read_text())
            text = d.ask('/metrics', 'internal')[2].decode()
            killed = dict(re.findall(r'flyball_source_children_killed_total{domain="(\w+)"} (\d+)',
                                     text))
            assert int(killed.pop('hangs')) > 0 and set(killed.values()) == {'0'}
            # A child under way is no reason to wait at the end, and none is left behind.
        left = subprocess.run(['pgrep', '-P', str(d.process.pid)], capture_output=True, text=True,
                              check=False).stdout
        assert left == ''


# ---------------------------------------------------------------------------------- changes, ends

def test_another_configuration_takes_effect_in_place(tmp_path):
    pages = {'/list': [{'id': '1'}], '/x/1': {'a': 1}, '/y/1': {'b': 2}}
    with site(pages) as s, Daemon(tmp_path, config(s, source(s, 'x'))) as d:
        wait_for(lambda: fields_of(d, '1') == {'a': '1'})
        before = d.json('/items/1')
        more = QUICK + '  concurrency: 3\n  health: {degraded: 7s, failing: 9s}\n'
        d.configure(config(s, source(s, 'x', ', enabled: false') + source(s, 'y', fields='b: /b'),
                           more=more))
        wait_for(lambda: fields_of(d, '1').get('b') == '2')
        told = d.status()['watch']
        assert told['config']['concurrency'] == 3
        assert told['config']['degraded_s'] == 7 and told['config']['failing_s'] == 9
        assert d.json('/items/1')['seq'] > before['seq']
        count = s.paths().count('/x/1')
        wait_for(lambda: s.paths().count('/y/1') > 10)
        assert s.paths().count('/x/1') <= count + 1  # what was under way
        # A mistake changes nothing.
        d.configure(config(s, source(s, 'y', ', weight: 0')))
        wait_for(lambda: 'weight' in d.log.read_text())
        assert d.status()['watch']['config']['concurrency'] == 3
        # Nothing is watched any more, and then it is again.
        d.configure('limit: rate=1000/s\n')
        wait_for(lambda: 'watch' not in d.status())
        d.configure(config(s, source(s, 'x')))
        wait_for(lambda: fields_of(d, '1').get('a') == '1')


def test_sources_are_switched_off_and_on(tmp_path):
    pages = {'/list': [{'id': '1'}], '/x/1': {'a': 1}, '/y/1': {'a': 1}}
    with site(pages) as s, Daemon(tmp_path, config(s, source(s, 'x') + source(s, 'y'))) as d:
        wait_for(lambda: {'/x/1', '/y/1'} <= set(s.paths()))
        done = d.command('source', 'disable', 'x')
        assert (done.returncode, done.stdout) == (0, 'x is off: it is not asked\n')
        count = s.paths().count('/x/1')
        ahead = s.paths().count('/y/1')
        wait_for(lambda: s.paths().count('/y/1') > ahead + 10)
        assert s.paths().count('/x/1') <= count + 1
        assert d.command('source', 'enable', 'x').stdout == 'x is on\n'
        wait_for(lambda: s.paths().count('/x/1') > count + 3)
        done = d.command('source', 'disable', 'z')
        assert done.returncode == 2 and "there is no source 'z'" in done.stderr
        assert d.command('source', 'disable').returncode == 2
        kinds = [e['kind'] for e in d.json('/view/audit?json=1')['events']]
        assert 'disabled' in kinds and 'enabled' in kinds


def test_after_kill_9_ages_and_versions_go_on(tmp_path):
    pages = {'/list': [{'id': '1'}], '/x/1': {'a': 1}}
    with site(pages) as s:
        settings = config(s, source(s, 'x'))
        with Daemon(tmp_path, settings) as d:
            before = known(d, '1')
            wait_for(lambda: s.paths().count('/x/1') > 5)
            # What is known is written at the end of each interval.
            wait_for(lambda: list(tmp_path.glob('state/flyball/watch.db*')))
            count = s.paths().count('/list')
            wait_for(lambda: s.paths().count('/list') > count + 5)
            d.process.send_signal(signal.SIGKILL)
            d.process.wait()
            d.code = -signal.SIGKILL
        pages['/list'] = pages['/x/1'] = 500  # nobody can tell anything now
        with Daemon(tmp_path, settings) as d:
            after = wait_for(lambda: d.json('/items')['items'])[0]
            assert after['id'] == '1' and after['fields'] == {'a': '1'}
            assert after['seq'] >= before['seq'] and after['age_s'] is not None
            assert 'restored 1 items' in d.log.read_text()
