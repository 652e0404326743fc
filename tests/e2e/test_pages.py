# SPDX-License-Identifier: MIT
"""What people read first names only what is there, and leaves out nothing that they need."""
import json
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get('FLYBALL_BUILD', ROOT / 'build')).resolve()
PAGES = sorted([*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md')])


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text()
    links = re.findall(r'\]\(([^)\s]+)\)', text) + re.findall(r'^\[[^]]+\]: (\S+)$', text, re.M)
    for link in links:
        path = link.partition('#')[0]
        assert not path or path.startswith('https://') or (page.parent / path).exists(), link


def test_every_target_of_make_is_listed():
    targets = re.findall(r'^([a-z0-9-]+):.*## ', (ROOT / 'Makefile').read_text(), re.M)
    table = (ROOT / 'CONTRIBUTING.md').read_text()
    listed = set(re.findall(r'`make ([a-z0-9-]+)[ `]', table))
    assert len(targets) > 20 and set(targets) <= listed, set(targets) - listed


def test_every_page_of_a_command_is_linked():
    text = (ROOT / 'README.md').read_text()
    for page in (ROOT / 'docs/man').glob('flyball*.[1-8]'):
        assert f'docs/man/{page.name})' in text, page.name


def test_the_first_screen_is_short():
    first = (ROOT / 'README.md').read_text().partition('\n## ')[0]
    assert len(first.splitlines()) <= 40


def test_the_first_screen_has_the_two_commands():
    first = (ROOT / 'README.md').read_text().partition('\n## ')[0]
    targets = (ROOT / 'Makefile').read_text()
    for command in ('run', 'test'):
        assert re.search(rf'^    make {command}  +# ', first, re.M), command
        assert re.search(rf'^{command}:', targets, re.M), command
    assert re.search(r'^make test$', (ROOT / '.ci/run').read_text(), re.M)


def test_every_folder_is_in_the_tour():
    tour = (ROOT / 'ARCHITECTURE.md').read_text()
    for folder in (p for p in (ROOT / 'src').iterdir() if p.is_dir()):
        assert f'`src/{folder.name}/`' in tour, folder.name


def test_the_tour_names_files_that_are_there():
    for name in re.findall(r'`((?:src|tests|docs|include|tools|examples)/[\w./-]+)`',
                           (ROOT / 'ARCHITECTURE.md').read_text()):
        assert (ROOT / name).exists(), name


def test_the_first_screen_shows_a_batch():
    first = (ROOT / 'README.md').read_text().partition('\n## ')[0]
    assert re.search(r'^```console\n\$ flyball fetch urls\.txt --jsonl out\.jsonl\n'
                     r'\d+ done in [\dms ]+ \([\d.]+/s\): \d+ ok, 0 failed, .*\n```$', first, re.M)


def five_minutes(port):
    """The lines of that block, as a script: another port, fewer requests, and Ctrl-C in time."""
    text = (ROOT / 'README.md').read_text().split('\n## Five minutes\n')[1]
    block = re.search(r'```console\n(.*?)```', text, re.S).group(1).replace('\\\n', '')
    lines = [line.removeprefix('$ ') for line in block.splitlines()]
    assert len(lines) == 8 and all(line in text.replace('\\\n', '') for line in lines)
    lines = [line.replace('8070', str(port)).replace('1 300', '1 90') for line in lines]
    assert '# stop it with Ctrl-C' in lines[2]
    lines[2] = 'timeout -s INT 8 ' + lines[2]
    lines.insert(1, 'sleep 1')
    return [line.partition('     #')[0] for line in lines]


def test_five_minutes(tmp_path):
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    env = {**os.environ, 'HOME': str(tmp_path), 'XDG_STATE_HOME': str(tmp_path / 'state'),
           'FLYBALL_LEDGER': str(tmp_path / 'ledger'), 'PATH': f'{BUILD}:{os.environ["PATH"]}'}
    script = '\n'.join(f'{line}\necho "exit: $?"' for line in five_minutes(port))
    done = subprocess.run(['bash', '-c', script], cwd=tmp_path, env=env, text=True, timeout=180,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    told = done.stdout
    codes = [int(code) for code in re.findall(r'^exit: (\d+)$', told, re.M)]
    assert codes in ([0] * 9, [0, 0, 0, 124, *[0] * 5]), told  # 124: timeout has ended it
    assert 'resume: flyball fetch urls.txt --jsonl out.jsonl\n' in told
    assert re.search(r'^  because  hold: .*\n  rule     Retry-After: 5, with status 429$', told,
                     re.M), told
    assert re.search(r'^resuming: \d+ done, \d+ to go$', told, re.M), told
    results = (tmp_path / 'out.jsonl').read_text().splitlines()
    items = sorted(json.loads(line)['item'] for line in results)
    assert items == [*range(1, 91)]
    assert f'\n127.0.0.1:{port}:\n  Limit:     ~' in told and '\nrequests  90\n' in told
    assert re.search(r'^duration  \d+ s$', told, re.M), told
