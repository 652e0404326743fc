# SPDX-License-Identifier: MIT
"""Limits that headers tell: none refused, short ones nearly used up, what fits is not spread."""
import json
import subprocess
import time

import pytest
from batch import FLYBALL
from mock_api import Mock

SEEDS = 8

# What of the limit has to be used at the least, and what may be refused in all runs. Of a window of
# 20 a second, the smallest that is drawn, 19 is 95 %; hdr_sway is told beside an oracle that knows
# how uneven its line is and keeps away from the limit.
TOLD = [('hdr_near', 0.94, 0), ('hdr_second', 0.95, 0), ('hdr_store', 0.94, 0),
        ('hdr_sway', 0.98, 4), ('hdr_slide', 0.97, 0)]


@pytest.mark.parametrize('scenario, used, refused', TOLD)
def test_what_is_told_is_used(scenario, used, refused):
    done = subprocess.run(
        [FLYBALL, 'simulate', '--scenario', scenario, '--controllers', 'probe', '--workers', '40',
         '--hours', '0.2', '--seeds', str(SEEDS), '--json'],
        text=True, capture_output=True, check=True)
    (cell,) = json.loads(done.stdout)['cells']
    result = cell['results'][0]
    assert result['goodput_min'] >= used
    assert result['refused_per_run'] * SEEDS <= refused


def fetched(batch, api, count, *words):
    began = time.monotonic()
    done = batch.run(f'http://127.0.0.1:{api.port}/{{1..{count}}}', '--jsonl', batch.out, *words)
    assert done.returncode == 0, done.stderr
    assert len(batch.results()) == count and api.stats()['rejected'] == 0
    return time.monotonic() - began


def test_what_fits_into_what_is_left_is_not_spread(batch):
    """Evenly over the hour 200 would take two minutes and more."""
    with Mock('--limit', 'window=5000/1h', '--dialect', 'github') as api:
        assert fetched(batch, api, 200) < 20


def test_what_does_not_fit_is_spread(batch):
    with Mock('--limit', 'window=250/20s', '--dialect', 'github') as api:
        assert fetched(batch, api, 300) > 15


def test_who_asks_for_an_even_pace_gets_it(batch):
    """Ten may run ahead; then 5000 an hour less a tenth, one each 0.8 s."""
    with Mock('--limit', 'window=5000/1h', '--dialect', 'github') as api:
        assert fetched(batch, api, 20, '--limit', 'adapt=off pacing=even concurrency=1') > 6


def test_on_demand_until_it_is_used_up(batch):
    """Nobody knows how long the list is that is still being written."""
    with Mock('--limit', 'window=5000/1h', '--dialect', 'github') as api:
        urls = ''.join(f'http://127.0.0.1:{api.port}/{i}\n' for i in range(100))
        feeder = subprocess.Popen(['sh', '-c', 'cat; sleep 3'], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        began = time.monotonic()
        feeder.stdin.write(urls)
        feeder.stdin.close()
        done = batch.run('-', '--jsonl', batch.out, '--limit', 'pacing=demand',
                         stdin=feeder.stdout)
        feeder.wait()
        assert done.returncode == 0 and time.monotonic() - began < 20, done.stderr
        assert len(batch.results()) == 100 and api.stats()['rejected'] == 0
