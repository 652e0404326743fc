# SPDX-License-Identifier: MIT
"""Every kind of misbehaviour of an origin once, as `make prove-evil` does it several times."""
import subprocess
import sys

from batch import FLYBALL, LONG_S, ROOT


def test_misdeeds():
    # A busy machine may take its time; that deadlines are kept to a second is proved elsewhere.
    words = ['--rounds', '1', '--read', '6', '--total', '9', '--slack', '60']
    done = subprocess.run([sys.executable, ROOT / 'tests/prove/misdeeds.py', '--flyball', FLYBALL,
                           *words], text=True, capture_output=True, check=False, timeout=LONG_S)
    assert done.returncode == 0, done.stdout + done.stderr
