# SPDX-License-Identifier: MIT
"""What a batch writes about itself: rows of metrics, a report, a record for other processes."""
import base64
import csv
import hashlib
import html.parser
import re
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from batch import Batch  # noqa: E402
from mock_api import Mock  # noqa: E402

CANARY = 'canary5ecret'
PACE = ['--limit', 'rate=40/s burst=1']


@pytest.fixture(name='api', scope='module')
def fixture_api():
    with Mock() as api:
        yield f'http://127.0.0.1:{api.port}'


@pytest.fixture(name='batch')
def fixture_batch(tmp_path):
    return Batch(tmp_path)


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


class Page(html.parser.HTMLParser):
    """What a page holds, and what it would load."""

    def __init__(self, text):
        super().__init__()
        self.policy, self.style, self.tags, self.loads = '', '', [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        self.loads += [v for k, v in attrs.items() if k in ('src', 'href', 'style', 'onload')]
        if attrs.get('http-equiv') == 'Content-Security-Policy':
            self.policy = attrs['content']

    def handle_data(self, data):
        if self.tags and self.tags[-1] == 'style' and not self.style:
            self.style = data


def test_the_page_needs_nothing_else(batch, api):
    urls = batch.write([f'{api}/{i}' for i in range(60)])
    done = batch.run(urls, '--jsonl', batch.out, '--report', 'r.html', *PACE)
    assert done.returncode == 0, done.stderr
    page = Page((batch.folder / 'r.html').read_text())
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in page.policy
    assert page.policy.startswith("default-src 'none';") and 'unsafe' not in page.policy
    assert page.loads == []
    assert 'script' not in page.tags
    assert page.tags.count('svg') == 6  # three pictures, each for wide and for narrow windows
    assert page.tags.count('table') >= 3


def test_the_picture_is_svg(batch, api):
    done = batch.run(f'{api}/{{1..40}}', '--report', 'r.svg', '--jsonl', 'o.jsonl', *PACE)
    assert done.returncode == 0, done.stderr
    root = ET.parse(batch.folder / 'r.svg').getroot()
    text = ' '.join(root.itertext())
    assert root.tag.endswith('svg') and '40 of 40 items' in text and 'Waits by cause' in text


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
