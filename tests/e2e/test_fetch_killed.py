# SPDX-License-Identifier: MIT
"""Nothing is lost and nothing done twice: kill -9 at random moments, and full disks.

FLYBALL_KILLS says how often (`make torture-fetch`: 200).
"""
import collections
import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from batch import LONG_S, Batch, kill

KILLS = int(os.environ.get('FLYBALL_KILLS', '10'))
ITEMS = 5000 if KILLS > 10 else 1500


def mixed_list(batch, origin, count):
    """Every tenth request is one that may not be sent twice."""
    return batch.write([
        {'url': f'{origin.url}/slow/1/{i}', 'id': f'post-{i}', 'method': 'POST', 'body': str(i)}
        if i % 10 == 0 else {'url': f'{origin.url}/slow/1/{i}', 'id': f'get-{i}'}
        for i in range(1, count + 1)])


def assert_nothing_twice(batch, origin):
    """What is in the output is there once, and agrees with what arrived."""
    ids = batch.by_id()
    arrived = collections.Counter(a['id'] for a in origin.arrivals)
    for name, count in arrived.items():
        if name.startswith('post-'):
            assert count == 1, f'{name} was sent {count} times'
    for name, result in ids.items():
        if result['outcome'] == 'ok':
            assert arrived[name] >= 1
    return ids, arrived


def wait_for(origin, count, process):
    deadline = time.monotonic() + LONG_S
    while len(origin.arrivals) < count and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_kill_9_at_any_moment(tmp_path, origin):
    seed = int(os.environ.get('FLYBALL_SEED', time.time()))
    print(f'FLYBALL_SEED={seed}')
    chance = random.Random(seed)
    batch = Batch(tmp_path)
    tasks = mixed_list(batch, origin, ITEMS)
    words = [tasks, '--jsonl', batch.out, '-q', '--request-id', '--limit',
             'adapt=off concurrency=8']
    killed = 0
    for _ in range(KILLS):
        before = len(origin.arrivals)
        process = batch.start(*words)
        wait_for(origin, before + 1, process)
        time.sleep(chance.uniform(0, 0.15 if KILLS <= 10 else 0.1))
        killed += process.poll() is None
        kill(process)
        batch.assert_journals_sound()
    done = batch.run(*words)
    assert done.returncode in (0, 3), done.stderr
    ids, arrived = assert_nothing_twice(batch, origin)
    assert len(ids) == ITEMS
    assert all(r['outcome'] in ('ok', 'unknown') for r in ids.values())
    unknown = [name for name, r in ids.items() if r['outcome'] == 'unknown']
    assert all(name.startswith('post-') for name in unknown)
    assert len(unknown) <= 8 * killed
    again = sum(count - 1 for count in arrived.values())
    print(f'{killed} kills, {len(unknown)} unknown, {again} requests sent again')
    # In the last commit interval before a kill, at most what was under way or just answered.
    assert killed > 0 and again <= killed * 400


def test_a_post_in_flight_ends_as_unknown(tmp_path, origin):
    batch = Batch(tmp_path)
    tasks = batch.write([{'url': f'{origin.url}/slow/60000', 'method': 'POST', 'id': 'once'},
                         {'url': f'{origin.url}/ok/2', 'id': 'two'}])
    words = [tasks, '--jsonl', batch.out, '-q', '--request-id']
    process = batch.start(*words)
    while 'once' not in [a['id'] for a in list(origin.arrivals)]:
        time.sleep(0.01)
    kill(process)
    done = batch.run(*words)
    assert done.returncode == 3 and 'once' in done.stderr
    ids = batch.by_id()
    assert ids['once']['outcome'] == 'unknown' and ids['two']['outcome'] == 'ok'
    assert [a['id'] for a in origin.arrivals].count('once') == 1
    assert batch.run(*words).returncode == 3
    assert [a['id'] for a in origin.arrivals].count('once') == 1


def test_what_has_not_left_is_not_unknown(tmp_path, origin):
    """Five leave at once, five a second: what waits for that is as if it had not begun."""
    batch = Batch(tmp_path)
    tasks = batch.write([{'url': f'{origin.url}/ok/{i}', 'method': 'POST', 'id': f'p{i}'}
                         for i in range(40)])
    words = [tasks, '--jsonl', batch.out, '-q', '--request-id']
    process = batch.start(*words, '--limit', 'rate=5/s burst=5')
    wait_for(origin, 8, process)
    kill(process)
    batch.run(*words, '--limit', 'adapt=off concurrency=9')
    arrived = [a['id'] for a in origin.arrivals]
    never = {id for id, r in batch.by_id().items() if id not in arrived}
    assert len(arrived) == len(set(arrived)), 'one was sent twice'
    assert all(batch.by_id()[id]['outcome'] == 'unknown' for id in never)
    assert len(never) <= 3, f'written down as sent long before its time: {never}'


class SmallDisk:
    """A folder in which so many bytes have room: a file system of its own, where one may be
    mounted; and with small_disk.c in the program everywhere."""

    def __init__(self, path, mounts, batch):
        self.path, self.mounts, self.batch = path, mounts, batch
        path.mkdir()

    def set_size(self, size):
        if self.mounts:
            how = ['-o', f'remount,size={size}'] if self.path.is_mount() else [
                '-t', 'tmpfs', '-o', f'size={size}', 'tmpfs']
            subprocess.run(['mount', *how, self.path], check=True)
        else:
            self.batch.env.update(SMALL_DISK=str(self.path), SMALL_DISK_BYTES=str(size))

    def close(self):
        if self.path.is_mount():
            subprocess.run(['umount', self.path], check=True)


def may_mount(folder):
    folder.mkdir()
    done = subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', folder], capture_output=True,
                          check=False)
    if done.returncode == 0:
        subprocess.run(['umount', folder], check=True)
    return done.returncode == 0


@pytest.fixture(name='shim', scope='module')
def fixture_shim(tmp_path_factory):
    path = tmp_path_factory.mktemp('shim') / 'small_disk.so'
    source = Path(__file__).with_name('small_disk.c')
    subprocess.run(['cc', '-shared', '-fPIC', '-O1', '-o', path, source, '-ldl'], check=True)
    return path


@pytest.fixture(name='small_disk', params=['mounted', 'preloaded'])
def fixture_small_disk(request, tmp_path, shim):
    batch = Batch(tmp_path)
    mounts = request.param == 'mounted' and may_mount(tmp_path / 'try')
    if not mounts:
        batch.env['LD_PRELOAD'] = str(shim)
    disk = SmallDisk(tmp_path / 'small', mounts, batch)
    disk.set_size(1 << 20)
    yield disk
    disk.close()


def long_list(batch, origin, count):
    """Results of these need more than there is room for."""
    path = 'a-long-path' * 40
    return batch.write([
        {'url': f'{origin.url}/ok/{path}/{i}', 'id': f'{"post" if i % 10 == 0 else "get"}-{i}',
         'method': 'POST' if i % 10 == 0 else 'GET'} for i in range(1, count + 1)])


@pytest.mark.parametrize('where, taken', [('output', 600), ('both', 500), ('journal', 850)])
def test_a_full_disk_and_then_space_again(tmp_path, origin, small_disk, where, taken):
    batch = small_disk.batch
    tasks = long_list(batch, origin, 1000)
    out = small_disk.path / 'out.jsonl' if where != 'journal' else batch.out
    journal = small_disk.path / 'j.journal' if where != 'output' else tmp_path / 'j.journal'
    ballast = small_disk.path / 'ballast'
    ballast.write_bytes(b'x' * taken * 1024)
    words = [tasks, '--jsonl', out, '--journal', journal, '--request-id', '-q', '--limit',
             'adapt=off concurrency=8']
    done = batch.run(*words)
    if done.returncode == 1:
        full = [line for line in done.stderr.splitlines() if 'No space left' in line]
        assert len(full) == 1 and str(small_disk.path) in full[0], done.stderr
        assert not origin.arrivals or 'resume: flyball fetch' in done.stderr
    else:  # a journal may have all the space that it needs
        assert done.returncode == 0 and where == 'journal', done.stderr
    ballast.unlink()
    size_then = out.stat().st_size if out.exists() else 0
    small_disk.set_size(8 << 20)
    done = batch.run(*words)
    assert done.returncode in (0, 3), done.stderr
    assert out.stat().st_size >= size_then and len(batch.by_id(out)) == 1000
    arrived = collections.Counter(a['id'] for a in origin.arrivals)
    assert all(count == 1 for name, count in arrived.items() if name.startswith('post-'))
