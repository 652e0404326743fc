# SPDX-License-Identifier: MIT
"""What a batch writes about itself: rows of metrics, a report, a record for other processes."""
import base64
import csv
import hashlib
import html.parser
import json
import re
import time
import xml.etree.ElementTree as ET
from pathlib import Path


CANARY = 'canary5ecret'
PACE = ['--limit', 'rate=40/s burst=1']


def rows_of(path):
    with path.open(newline='') as file:
        return list(csv.DictReader(file))


def test_a_row_a_second(batch, api):
    urls = batch.write([f'{api}/{i}' for i in range(120)])
    done = batch.run(urls, '--jsonl', batch.out, '--metrics-csv', 'm.csv', *PACE)
    assert done.returncode == 0, done.stderr
    rows = rows_of(batch.folder / 'm.csv')
    # 3 s at least, and a row is at least a second long but for the last one.
    assert len(rows) >= 2
    spans = [float(b['elapsed_s']) - float(a['elapsed_s']) for a, b in zip(rows, rows[1:])]
    assert all(span >= 0.99 for span in spans[:-1]), spans
    assert sum(int(r['sent']) for r in rows) == 120
    assert sum(int(r['answers']) for r in rows) == 120
    assert sum(int(r['throttled']) for r in rows) == 0
    assert rows[-1]['done'] == '120' and rows[-1]['queued'] == '0'
    assert {r['limit'] for r in rows} == {'40.000'}
    assert sum(float(r['wait_bucket_s']) for r in rows) > 0.5
    assert all(0 <= float(r['tokens']) <= 1 for r in rows)
    busy = [r for r in rows if int(r['answers']) > 0]
    assert all(0 < float(r['latency_p50_ms']) <= float(r['latency_p95_ms'])
               <= float(r['latency_p99_ms']) for r in busy)
    assert all(r['key'] == api.removeprefix('http://') for r in rows)


def test_the_manual_names_every_column(batch, api):
    batch.run(f'{api}/1', '--metrics-csv', 'm.csv')
    names = (batch.folder / 'm.csv').read_text().splitlines()[0].split(',')
    page = (Path(__file__).parents[2] / 'docs/man/flyball-fetch.1').read_text()
    told = set(re.findall(r'^\.It Li (\w+)', page, re.M))
    assert not [n for n in names if n not in told]


def events_of(lines, key):
    """item -> the events that it had, in their order"""
    found = {}
    for line in lines:
        if 'item' in line:
            found.setdefault(line['item'], []).append(line[key])
    return found


def test_a_log_of_all_that_happens(batch, api):
    urls = batch.write([f'{api}/{i}?key={CANARY}' for i in range(20)])
    for form, rate in (('json', '40/s'), ('logfmt', '39/s')):
        done = batch.run(urls, '--jsonl', batch.out, '--fresh', '--log', form, '--log-form', form,
                         '--limit', f'rate={rate} burst=1')
        assert done.returncode == 0, done.stderr
    text = (batch.folder / 'json').read_text()
    assert CANARY not in text
    lines = [json.loads(line) for line in text.splitlines()]
    events = events_of(lines, 'event')
    assert len(events) == 20
    assert all(e == ['request', 'answer', 'outcome'] for e in events.values()), events
    over = [line for line in lines if line['event'] == 'outcome']
    assert {line['outcome'] for line in over} == {'ok'}
    assert all(line['provider'] and line['attempt'] == 1 for line in over)
    assert all(line['duration_ms'] > 0 for line in over)
    assert {line['cause'] for line in over if line['waited_ms'] > 100} == {'bucket'}
    words = [dict(w.split('=', 1) for w in line.split(' '))
             for line in (batch.folder / 'logfmt').read_text().splitlines()]
    assert {i: len(e) for i, e in events_of(words, 'event').items()} == {i: 3 for i in events}


def test_a_log_that_cannot_be_written(batch, api):
    done = batch.run(f'{api}/1', '--log', 'nowhere/log')
    assert done.returncode == 1 and 'cannot write nowhere/log' in done.stderr


class Page(html.parser.HTMLParser):
    """What a page holds, and what it would load."""

    def __init__(self, text):
        super().__init__()
        self.policy, self.loads, self.inside, self.open = '', [], {}, ''
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.open = attrs.get('id') or tag
        self.loads += [v for k, v in attrs.items() if k in ('src', 'href', 'style', 'onload')
                       and not v.startswith(('#', 'data:'))]
        if attrs.get('http-equiv') == 'Content-Security-Policy':
            self.policy = attrs['content']

    def handle_data(self, data):
        self.inside[self.open] = self.inside.get(self.open, '') + data

    def handle_endtag(self, tag):
        self.open = ''


def test_the_page_needs_nothing_else(batch, api):
    urls = batch.write([f'{api}/{i}' for i in range(60)])
    done = batch.run(urls, '--jsonl', batch.out, '--report', 'r.html', *PACE)
    assert done.returncode == 0, done.stderr
    page = Page((batch.folder / 'r.html').read_text())
    assert page.policy.startswith("default-src 'none';") and 'unsafe' not in page.policy
    for part, rule in (('script', 'script-src'), ('style', 'style-src')):
        digest = base64.b64encode(hashlib.sha256(page.inside[part].encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in page.policy
    assert page.loads == []
    frozen = json.loads(page.inside['boot'])
    key, = frozen['status']['keys']
    assert key['requests'] == 60 and frozen['latency']['count'] == 60
    series, = frozen['history']['series']
    assert sum(series['sent']) == 60
    assert 'journal' not in page.inside['boot'] or not frozen['status']['batches'][0]['journal']


def test_the_picture_is_svg(batch, api):
    done = batch.run(f'{api}/{{1..40}}', '--report', 'r.svg', '--jsonl', 'o.jsonl', *PACE)
    assert done.returncode == 0, done.stderr
    root = ET.parse(batch.folder / 'r.svg').getroot()
    text = ' '.join(root.itertext())
    assert root.tag.endswith('svg') and '40 of 40 items' in text and 'Waits by cause' in text
    assert 'var(' not in text  # black in viewers that are no browsers


def test_files_that_cannot_be_written_are_told_first(batch, api):
    for option, name in (('--metrics-csv', 'no/m.csv'), ('--report', 'no/r.html')):
        done = batch.run(f'{api}/1', option, name)
        assert done.returncode == 1
        assert name in done.stderr and done.stdout == ''
    done = batch.run(f'{api}/1', '--report', 'r.pdf')
    assert done.returncode == 2 and '.html or .svg' in done.stderr


def test_a_full_disk_is_told_once_and_stops_nothing(batch, api):
    done = batch.run(f'{api}/{{1..60}}', '--jsonl', batch.out, '--metrics-csv', '/dev/full', *PACE)
    assert done.returncode == 0
    assert done.stderr.count('cannot write /dev/full') == 1
    assert len(batch.results()) == 60


def test_no_secret_is_written(batch, api):
    host = api.removeprefix('http://')
    urls = batch.write([f'http://user:{CANARY}@{host}/{i}?token={CANARY}' for i in range(5)])
    done = batch.run(urls, '--jsonl', batch.out, '--metrics-csv', 'm.csv', '--report', 'r.html',
                     '-H', f'Authorization: Bearer {CANARY}', f'--header=X-Mine: {CANARY}',
                     f'-HCookie: {CANARY}')
    assert done.returncode == 0, done.stderr
    batch.run(f'{api}/1?key={CANARY}', '--report', 'r.svg', f'-H X-Other: {CANARY}')
    written = [p for p in batch.folder.rglob('*') if p.is_file() and p not in (urls, batch.out)]
    assert [p for p in written if p.suffix == '.run'], 'there is no record'
    for path in written:
        assert CANARY.encode() not in path.read_bytes(), path


def test_a_record_is_there_while_it_runs_and_after_it_was_killed(batch, api):
    urls = batch.write([f'{api}/{i}' for i in range(1000)])
    process = batch.start(urls, '--jsonl', batch.out, *PACE)
    try:
        deadline = time.monotonic() + 60
        while not list(batch.folder.glob('state/flyball/*.run')):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
    finally:
        process.kill()
        process.communicate()
    record, = batch.folder.glob('state/flyball/*.run')
    journal, = batch.journals()
    assert record.stem == journal.stem
    assert record.stat().st_mode & 0o077 == 0
