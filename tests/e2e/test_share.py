# SPDX-License-Identifier: MIT
"""Several `flyball fetch` of one user: one budget, and limits that are remembered by credential."""
import sqlite3
import time

import pytest
from batch import FAST, LONG_S
from mock_api import Mock

EACH = 60
RATE = 10.0


def two_at_once(batch, mock, *words):
    """Both to the end; arrivals as the API saw them, in seconds."""
    runs = []
    for name in ('one', 'two'):
        urls = batch.write([f'http://127.0.0.1:{mock.port}/{name}/{i}' for i in range(EACH)], name)
        runs.append(batch.start(urls, '--jsonl', batch.folder / f'{name}.out', '-q', '--limit',
                                f'rate={RATE:g}/s burst=1', *words))
    for run in runs:
        _, stderr = run.communicate(timeout=300)
        assert (run.returncode, stderr) == (0, '')
    return [float(row[1]) / 1e9 for row in mock.log()[0]]


def test_two_at_once_spend_one_budget(batch):
    """Each alone would keep to the rate; both together would pass what the API allows."""
    with Mock('--limit', 'window=80/5s', '--dialect', 'none') as mock:
        times = two_at_once(batch, mock)
        assert mock.stats()['rejected'] == 0
    assert len(times) == 2 * EACH
    # The first leaves at once; from one to the next there is a tenth of a second, whose ever it is.
    assert max(times) - min(times) > (2 * EACH - 1) / RATE - 1.0
    assert (batch.folder / 'ledger').exists()


def test_a_limit_of_another_run_is_said_and_does_not_stay(batch):
    """All that use a key keep one limit, whoever said it last. It goes with whom it came with."""
    with Mock('--dialect', 'none') as mock:
        url = f'http://127.0.0.1:{mock.port}'
        long = batch.start(f'{url}/a/{{1..400}}', '--jsonl', batch.folder / 'a', '--limit',
                           'rate=20/s burst=1')
        mock.wait_for(lambda stats: stats['arrivals'] > 20)
        short = batch.run(f'{url}/b/{{1..15}}', '--jsonl', batch.folder / 'b', '--limit',
                          'rate=2/s burst=1')
        assert short.returncode == 0, short.stderr
        told = long.communicate(timeout=LONG_S)[1]
        times = [float(row[1]) / 1e9 for row in mock.log()[0]]
    assert long.returncode == 0, told
    told = ' '.join(told.split())
    assert 'another process has stated another limit, rate=2/s burst=1; it holds' in told, told
    assert 'had stated, rate=2/s burst=1, holds no longer' in told, told
    assert len(times) == 415 and 100 / (times[-1] - times[-101]) > 15  # as it was told itself


def test_there_need_not_be_one(batch, origin):
    done = batch.run(f'{origin.url}/ok/1', '-q', '--ledger', 'none', *FAST)
    assert (done.returncode, done.stderr) == (0, '')
    assert not (batch.folder / 'ledger').exists()


def test_the_budget_is_still_spent_for_the_next_run(batch, origin):
    words = ['-q', '--limit', 'rate=1/s burst=3']
    start = time.monotonic()
    for i in range(2):
        urls = batch.write([f'{origin.url}/ok/{i}/{j}' for j in range(3)], f'list{i}')
        assert batch.run(urls, '--jsonl', batch.folder / f'{i}.out', *words).returncode == 0
    # Three were there at first; the other run waits for its own.
    assert time.monotonic() - start > 2.0


def test_the_ledger_can_be_named(batch, origin):
    done = batch.run(f'{origin.url}/ok/1', '-q', '--ledger', batch.folder / 'mine', *FAST)
    assert (done.returncode, done.stderr) == (0, '')
    assert (batch.folder / 'mine').stat().st_mode & 0o077 == 0
    assert not (batch.folder / 'ledger').exists()


@pytest.mark.parametrize('spoil', ['folder', 'text'])
def test_a_ledger_that_cannot_be_used_is_done_without(batch, origin, spoil):
    path = batch.folder / 'ledger'
    if spoil == 'folder':
        path.mkdir()
    else:
        path.write_text('not a ledger\n')
    done = batch.run(f'{origin.url}/ok/1', '-q', *FAST)
    assert done.returncode == 0 and '"outcome":"ok"' in done.stdout
    assert str(path) in done.stderr and "the limits are this process's own" in done.stderr
    assert path.is_dir() if spoil == 'folder' else path.read_text() == 'not a ledger\n'


# ------------------------------------------------------------------------------------ credentials

SECRETS = ['Bearer canary-one-8f3a', 'Bearer canary-two-77c1']


def credentials(batch):
    with sqlite3.connect(batch.folder / 'state/flyball/state.db') as db:
        return sorted(row[0] for row in db.execute('SELECT credential FROM learned'))


def ask_with_each(batch, origin):
    for secret in [*SECRETS, None]:
        words = ['-H', f'Authorization: {secret}'] if secret else []
        assert batch.run(f'{origin.url}/ok/1', '-q', '--fresh', *words).returncode == 0


def test_limits_are_remembered_by_credential(batch, origin):
    ask_with_each(batch, origin)
    first = credentials(batch)
    assert len(set(first)) == 3 and first[0] == ''
    assert all(len(c) == 16 and int(c, 16) >= 0 for c in first[1:])
    ask_with_each(batch, origin)
    assert credentials(batch) == first
    # After a restart of the machine the ledger is new; the names of the keys are not.
    (batch.folder / 'ledger').unlink()
    ask_with_each(batch, origin)
    assert credentials(batch) == first
    # And without the store the ledger knows them.
    (batch.folder / 'state').rename(batch.folder / 'old')
    ask_with_each(batch, origin)
    assert credentials(batch) == first


def test_a_credential_is_written_nowhere(batch, origin):
    ask_with_each(batch, origin)
    files = [p for p in batch.folder.rglob('*') if p.is_file()]
    assert len(files) >= 2
    for path in files:
        content = path.read_bytes()
        assert not any(secret.split()[1].encode() in content for secret in SECRETS), path
