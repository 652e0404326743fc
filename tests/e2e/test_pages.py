# SPDX-License-Identifier: MIT
"""What people read first names only what is there, and leaves out nothing that they need."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
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
    for page in (ROOT / 'docs/man').glob('flyball*.[17]'):
        assert f'docs/man/{page.name})' in text, page.name


def test_the_first_screen_is_short():
    first = (ROOT / 'README.md').read_text().partition('\n## ')[0]
    assert len(first.splitlines()) <= 40


def test_every_folder_is_in_the_tour():
    tour = (ROOT / 'ARCHITECTURE.md').read_text()
    for folder in (p for p in (ROOT / 'src').iterdir() if p.is_dir()):
        assert f'`src/{folder.name}/`' in tour, folder.name


def test_the_tour_names_files_that_are_there():
    for name in re.findall(r'`((?:src|tests|docs|include|tools|examples)/[\w./-]+)`',
                           (ROOT / 'ARCHITECTURE.md').read_text()):
        assert (ROOT / name).exists(), name
