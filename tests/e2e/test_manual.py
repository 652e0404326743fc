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


def test_exit_codes_of_commands_are_those_of_the_page(tmp_path):
    """Whoever only answers ends with 3 as well: no daemon, or nothing is known."""
    said = {c: flyball(c, '--help').split('Exit: ')[-1].split('Examples:')[0] for c in COMMANDS}
    codes = {c: set(re.findall(r'\b([0-9]+) [a-z]', said[c])) for c in COMMANDS}
    assert {c for c in COMMANDS if codes[c] & {'4', '5'}} == {'fetch'}
    told = re.search(r'^\.It 3\n(.*?)^\.It 4', page('flyball.1'), re.M | re.S)[1]
    assert 'no daemon answers' in told and 'nothing is known' in told, told
    assert 'Only commands that send requests end with 4 or 5' in page('flyball.1')
    env = {**os.environ, 'XDG_STATE_HOME': str(tmp_path), 'XDG_RUNTIME_DIR': str(tmp_path)}
    for command in ('why', 'status'):
        assert '3' in codes[command], codes
        done = subprocess.run([FLYBALL, command, 'nosuch'], env=env, capture_output=True,
                              check=False)
        assert done.returncode == 3, done


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
