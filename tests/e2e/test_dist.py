# SPDX-License-Identifier: MIT
"""What `make dist` makes builds on a machine without npm, with plots and without."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ.get('FLYBALL_BUILD', str(ROOT / 'build'))
ALONE = {k: v for k, v in os.environ.items() if not k.startswith('MAKE')}


def run(*argv, **more):
    done = subprocess.run(argv, text=True, capture_output=True, check=False, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(name='tree', scope='module')
def fixture_tree(tmp_path_factory):
    where = tmp_path_factory.mktemp('dist')
    said = run('make', f'BUILD={os.path.relpath(BUILD, ROOT)}', 'dist', cwd=ROOT, env=ALONE)
    run('tar', '-xzf', str(ROOT / said.split()[-1]), '-C', str(where))
    tree, = where.iterdir()
    return tree


@pytest.fixture(name='env', scope='module')
def fixture_env(tmp_path_factory):
    """An npm that cannot reach anything."""
    folder = tmp_path_factory.mktemp('bin')
    (folder / 'npm').write_text('#!/bin/sh\nexit 1\n')
    (folder / 'npm').chmod(0o755)
    return dict(ALONE, PATH=f'{folder}:{os.environ["PATH"]}')


def build(tree, env):
    run('make', '-j2', 'CFLAGS=-O0', 'build/flyball', cwd=tree, env=env)
    return tree / 'build/flyball'


def report(flyball, tmp_path):
    """The page that it carries, of a batch of nothing that answers."""
    page = tmp_path / 'r.html'
    env = dict(ALONE, XDG_STATE_HOME=str(tmp_path), XDG_RUNTIME_DIR=str(tmp_path))
    subprocess.run([flyball, 'fetch', 'http://127.0.0.1:1/x', '--retries', '0', '--report', page],
                   env=env, cwd=tmp_path, capture_output=True, check=False, timeout=300)
    return page.read_text()


def test_sources_can_be_read(tree):
    assert not (tree / 'build').exists() and not (tree / '.git').exists()
    assert len((tree / 'web/uplot/uPlot.iife.js').read_text().splitlines()) > 1000
    assert 'MIT' in (tree / 'web/uplot/LICENSE').read_text()
    assert (tree / 'web/js/main.js').exists()


def test_it_builds_without_npm_and_has_plots(tree, env, tmp_path):
    flyball = build(tree, env)
    assert re.match(r'flyball \d', run(flyball, '--version'))
    assert 'uPlot' in report(flyball, tmp_path).split('id="boot"')[0]
    # And without what it carries: the page is still there, with all but the plots.
    shutil.rmtree(tree / 'web/uplot')
    shutil.rmtree(tree / 'build/web')
    for made in ('gen/web.c', 'obj/gen/web.o', 'flyball'):
        (tree / 'build' / made).unlink()
    (tmp_path / 'bare').mkdir()
    page = report(build(tree, env), tmp_path / 'bare')
    assert 'var uPlot=' not in page and 'var uPlot =' not in page
    assert '<table class="keys cards is-plain">' in page and 'id="boot"' in page
