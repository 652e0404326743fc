# SPDX-License-Identifier: MIT
"""Runs that are too short to learn much, of every model: they end, and say what was used."""
import json
import subprocess

from batch import FLYBALL

# The headers of hdr_wrong tell of an opening while one is waited for, with its second seed.
SEEDS = 6


def test_a_short_run_of_every_model_ends():
    done = subprocess.run(
        [FLYBALL, 'simulate', '--family', 'all', '--controllers', 'probe', '--workers', 'both',
         '--hours', '0.3', '--seeds', str(SEEDS), '--json'], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    cells = json.loads(done.stdout)['cells']
    assert {cell['scenario'] for cell in cells} >= {'hdr_wrong', 'box_window'}
    assert all(cell['results'][0]['goodput_min'] > 0 for cell in cells)
