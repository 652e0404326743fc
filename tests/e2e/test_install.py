# SPDX-License-Identifier: MIT
"""What `make install` leaves is enough for another program; `make uninstall` removes it."""
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ.get('FLYBALL_BUILD', str(ROOT / 'build'))

PROGRAM = r'''
#include <flyball/flyball.h>
#include <stdio.h>

int main(void)
{
    struct fly_error err;
    uint64_t ticket;
    struct fly_limiter *l = fly_limiter_new("rate=10/s burst=1", 0, 1, &err);

    if (!l || fly_limiter_take(l, 0, 1, &ticket) > 0)
        return 1;
    printf("%lld\n", (long long)fly_limiter_take(l, 0, 1, &ticket));
    fly_limiter_free(l);
    return 0;
}
'''


def run(*argv, **more):
    done = subprocess.run(argv, text=True, capture_output=True, check=False, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def make(target, prefix):
    alone = {k: v for k, v in os.environ.items() if not k.startswith('MAKE')}
    run('make', f'BUILD={os.path.relpath(BUILD, ROOT)}', f'PREFIX={prefix}', target, cwd=ROOT,
        env=alone)


@pytest.fixture(scope='module')
def prefix(tmp_path_factory):
    where = tmp_path_factory.mktemp('install') / 'usr'
    make('install', where)
    return where


@pytest.mark.parametrize('compiler,suffix,linking', [
    (['gcc', '-std=c99'], 'c', 'shared'),
    (['clang', '-std=c17'], 'c', 'static'),
    (['clang', '-x', 'c++', '-std=c++20'], 'cc', 'shared'),
])
def test_a_program_builds_with_pkg_config(prefix, tmp_path, compiler, suffix, linking):
    env = dict(os.environ, PKG_CONFIG_PATH=str(prefix / 'lib/pkgconfig'),
               LD_LIBRARY_PATH=str(prefix / 'lib'))
    source = tmp_path / f'program.{suffix}'
    source.write_text(PROGRAM)
    flags = run('pkg-config', '--cflags', '--libs', 'flyball', env=env).split()
    if linking == 'static':
        flags = [str(prefix / 'lib/libflyball.a') if f == '-lflyball' else f for f in flags]
    run(*compiler, '-Wall', '-Wextra', '-pedantic', '-Werror', '-o', str(tmp_path / 'program'),
        str(source), *flags)
    # One permit in a tenth of a second; the bucket may be late by a few nanoseconds, never early.
    at_ns = int(run(str(tmp_path / 'program'), env=env))
    assert 100_000_000 <= at_ns < 100_000_100


def test_command_and_library_are_hardened(prefix):
    for name in ('bin/flyball', 'lib/libflyball.so'):
        assert 'BIND_NOW' in run('readelf', '-d', str(prefix / name))
        assert 'GNU_RELRO' in run('readelf', '-lW', str(prefix / name))
    assert 'DYN' in run('readelf', '-hW', str(prefix / 'bin/flyball'))


def test_soname_and_links(prefix):
    lib = prefix / 'lib'
    assert os.readlink(lib / 'libflyball.so') == 'libflyball.so.0'
    assert os.readlink(lib / 'libflyball.so.0').startswith('libflyball.so.0.')
    assert '[libflyball.so.0]' in run('readelf', '-d', str(lib / 'libflyball.so'))


def test_each_function_has_its_page(prefix):
    symbols = run('nm', '-D', '--defined-only', str(prefix / 'lib/libflyball.so')).split('\n')
    functions = [s.split()[2].split('@')[0] for s in symbols if len(s.split()) == 3]
    functions = [f for f in functions if f.startswith('fly_')]
    assert len(functions) > 30
    for name in functions:
        assert (prefix / f'share/man/man3/{name}.3').exists(), name
    assert (prefix / 'share/man/man1/flyball.1').exists()
    assert (prefix / 'share/flyball/schema/status.json').exists()


def test_what_operators_need_is_there(prefix):
    share = prefix / 'share/flyball'
    assert {p.name for p in (ROOT / 'share').iterdir()} <= {p.name for p in share.iterdir()}
    schemas = {p.name for p in (ROOT / 'docs/schema').iterdir()} | {'config.json'}
    assert {p.name for p in (share / 'schema').iterdir()} == schemas
    unit = (prefix / 'lib/systemd/system/flyball.service').read_text()
    assert f'ExecStart={prefix}/bin/flyball serve ' in unit


def test_uninstall_leaves_nothing(prefix):
    make('uninstall', prefix)
    assert not [p for p in prefix.rglob('*') if not p.is_dir()]
