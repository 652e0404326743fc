# SPDX-License-Identifier: MIT
"""The manual tells all that the command can do, and nothing that it cannot."""
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLYBALL = Path(os.environ.get('FLYBALL_BUILD', ROOT / 'build')) / 'flyball'
COMMANDS = sorted(p.stem[len('flyball-'):] for p in (ROOT / 'docs/man').glob('flyball-*.1'))


def flyball(*words):
    done = subprocess.run([FLYBALL, *words], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def page(name):
    return (ROOT / 'docs/man' / name).read_text()


def test_each_command_has_a_page():
    listed = [c['name'] for c in json.loads(flyball('help', '--json'))['commands']]
    assert sorted(listed) == COMMANDS
    for command in listed:
        assert re.search(rf'\b{command}\b', flyball('help').split('Examples:')[0])
        assert re.search(rf'^\.It Cm {command}$', page('flyball.1'), re.MULTILINE)


def test_pages_say_what_the_tables_say():
    done = subprocess.run(['/usr/bin/python3', 'tools/manual', '--flyball', FLYBALL, '--check'],
                          cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize('command', COMMANDS)
def test_options_of_help_and_page_are_the_same(command):
    told = set(re.findall(r'^ +(?:-\w, )?(--[a-z0-9.-]+)', flyball(command, '--help'),
                          re.MULTILINE))
    written = set(re.findall(r'^\.It Fl (-[a-z0-9.-]+)', page(f'flyball-{command}.1'),
                             re.MULTILINE))
    assert told == {f'-{option}' for option in written}


@pytest.mark.parametrize('command', COMMANDS)
def test_examples_of_the_page_are_understood(command, tmp_path):
    for line in re.findall(r'^\.Dl (flyball .*)$', page(f'flyball-{command}.1'), re.MULTILINE):
        words = re.sub(r'--seeds \d+', '--seeds 1', line).split()[1:]
        done = subprocess.run([FLYBALL, *words], cwd=tmp_path, text=True, capture_output=True,
                              check=False)
        assert done.returncode == 0, done.stderr
