# SPDX-License-Identifier: MIT
"""docs/requirements.md names files that are there, and every requirement once."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = re.findall(r'^\| ([A-Z]\d) \|(.*)\|$', (ROOT / 'docs/requirements.md').read_text(),
                  re.MULTILINE)


def test_each_requirement_has_one_row():
    numbers = [number for number, _ in ROWS]
    assert len(numbers) == len(set(numbers)) and len(numbers) > 70


def test_the_files_named_are_there():
    for number, row in ROWS:
        for path in re.findall(r'`((?:src|tests|docs|bench|tools)/[^`]*)`', row):
            assert list(ROOT.glob(path.rstrip('/'))), f'{number}: no {path}'


def test_what_is_there_is_shown_by_something():
    for number, row in ROWS:
        _, where, shown = (cell.strip() for cell in row.split('|')[:3])
        assert where == 'not yet' or shown != '-', f'{number}: nothing shows it'
