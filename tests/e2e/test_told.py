# SPDX-License-Identifier: MIT
"""Short limits that headers tell, on virtual time: none refused, and nearly all of them used."""
import json
import subprocess

import pytest
from batch import FLYBALL

SEEDS = 8

# What of the limit has to be used at the least, and what may be refused in all runs. Of a window of
# 20 a second, the smallest that is drawn, 19 is 95 %; hdr_sway is told beside an oracle that knows
# how uneven its line is and keeps away from the limit.
TOLD = [('hdr_near', 0.94, 0), ('hdr_second', 0.95, 0), ('hdr_store', 0.94, 0),
        ('hdr_sway', 0.98, 4)]


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
