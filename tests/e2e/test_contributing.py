# SPDX-License-Identifier: MIT
"""The worked example of CONTRIBUTING.md is built and used, so that the page cannot rot."""
import ctypes
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get('FLYBALL_BUILD', ROOT / 'build'))
MS = 1_000_000


class Error(ctypes.Structure):
    _fields_ = [('text', ctypes.c_char * 256)]


class Why(ctypes.Structure):
    _fields_ = [('size', ctypes.c_uint64), ('until_ns', ctypes.c_int64),
                ('cause', ctypes.c_char * 24), ('text', ctypes.c_char * 256)]


def example():
    """The new file and the row, as the page has them."""
    page = (ROOT / 'CONTRIBUTING.md').read_text()
    blocks = re.findall(r'```c\n(.*?)```', page, re.DOTALL)
    source = next(b for b in blocks if 'gap.c - ' in b)
    row = next(b for b in blocks if b.lstrip().startswith('X(gap'))
    return source, row


def dialect():
    """The row of the other worked example."""
    page = (ROOT / 'CONTRIBUTING.md').read_text()
    return next(b for b in re.findall(r'```c\n(.*?)```', page, re.DOTALL) if 'x-credits' in b)


def command():
    """The new command and its row."""
    blocks = re.findall(r'```c\n(.*?)```', (ROOT / 'CONTRIBUTING.md').read_text(), re.DOTALL)
    return (next(b for b in blocks if 'greet.c - ' in b),
            next(b for b in blocks if b.lstrip().startswith('X(greet')))


def add_row(path, after, row):
    """The row below another one of a table."""
    text, count = re.subn(rf'(?m)^    {after}.*\\\n', lambda m: m.group() + row, path.read_text())
    assert count == 1, f'{path.name} has no row {after}'
    path.write_text(text)


@pytest.fixture(scope='module')
def tree(tmp_path_factory):
    """A copy of the tree with the example in it, built."""
    copy = tmp_path_factory.mktemp('contributing') / 'flyball'
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns('build', '.git', '__pycache__'))
    # What the example does not touch needs not be compiled again: make knows what it does.
    for made in ('flags', 'presetc', 'gen', 'web/uplot', 'web/app.js', 'web/app.css',
                 'obj/src', 'obj/gen'):
        of, to = BUILD / made, copy / 'build' / made
        to.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if of.is_dir() else shutil.copy2)(of, to)
    source, row = example()
    (copy / 'src/core/gap.c').write_text(source)
    add_row(copy / 'src/core/constraint.h', r'X\(window, \d+\)', row)
    add_row(copy / 'src/signal/headers.c', r'X\("retry-after",', dialect())
    (copy / 'src/cli/greet.c').write_text(command()[0])
    add_row(copy / 'src/cli/command.h', r'X\(simulate\)', command()[1])
    # Not the options of the make that runs this test, which name its own build folder.
    alone = {k: v for k, v in os.environ.items() if not k.startswith('MAKE')}
    made = subprocess.run(['make', '-j2', 'WERROR=-Werror', 'all'], cwd=copy, env=alone, text=True,
                          capture_output=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    return copy


@pytest.fixture(scope='module')
def library(tree):
    lib = ctypes.CDLL(str(tree / 'build/libflyball.so'))
    lib.fly_limiter_new.restype = ctypes.c_void_p
    lib.fly_limiter_new.argtypes = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_uint64,
                                    ctypes.POINTER(Error)]
    lib.fly_limiter_take.restype = ctypes.c_int64
    lib.fly_limiter_take.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint32,
                                     ctypes.POINTER(ctypes.c_uint64)]
    lib.fly_limiter_why.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint32,
                                    ctypes.POINTER(Why)]
    lib.fly_limiter_free.argtypes = [ctypes.c_void_p]
    return lib


def take(library, limiter, now_ns):
    ticket = ctypes.c_uint64()
    return library.fly_limiter_take(limiter, now_ns, 1, ctypes.byref(ticket))


def test_example_is_tidy(tree):
    tidy = subprocess.run(['/usr/bin/python3', 'tools/tidy'], cwd=tree, text=True,
                          capture_output=True, check=False)
    findings = [line for line in tidy.stdout.splitlines()
                if line.startswith(('src/core/gap.c:', 'src/core/constraint.h:',
                                    'src/signal/headers.c:', 'src/cli/'))]
    assert not findings and 'rules' in tidy.stdout, findings or tidy.stderr


def test_gap_keeps_its_distance(library):
    limiter = library.fly_limiter_new(b'adapt=off gap=50ms', 0, 1, None)
    assert limiter
    assert take(library, limiter, 0) <= 0
    assert take(library, limiter, 0) == 50 * MS
    assert take(library, limiter, 20 * MS) == 50 * MS
    why = Why(size=ctypes.sizeof(Why))
    assert library.fly_limiter_why(limiter, 20 * MS, 1, ctypes.byref(why)) == 0
    assert (why.cause, why.until_ns) == (b'gap', 50 * MS)
    assert take(library, limiter, 50 * MS) <= 50 * MS
    assert take(library, limiter, 51 * MS) == 100 * MS
    library.fly_limiter_free(limiter)


def test_the_latest_of_all_constraints_decides(library):
    limiter = library.fly_limiter_new(b'rate=10/s burst=1 gap=50ms', 0, 1, None)
    assert take(library, limiter, 0) <= 0
    assert 99 * MS < take(library, limiter, 0) < 101 * MS
    library.fly_limiter_free(limiter)


@pytest.mark.parametrize('text', [b'gap=', b'gap=0s', b'gap=fast', b'gap=50'])
def test_mistakes_are_explained(library, text):
    err = Error()
    assert not library.fly_limiter_new(text, 0, 1, ctypes.byref(err))
    assert err.text.startswith(text) and b'expected a time such as 50ms' in err.text


def test_a_dialect_is_one_row(tree):
    response = 'HTTP/1.1 200 OK\nX-Credits: 37\n\n'

    def scopes(flyball):
        done = subprocess.run([flyball, 'signals', '--json'], input=response, text=True,
                              capture_output=True, check=False)
        return [(s['name'], s['remaining']) for s in json.loads(done.stdout)['scopes']]

    assert scopes(tree / 'build/flyball') == [('credits', 37)]
    assert scopes(BUILD / 'flyball') == []


def test_a_command_is_one_file_and_one_row(tree):
    def greet(*words):
        done = subprocess.run([tree / 'build/flyball', *words], text=True, capture_output=True,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    assert greet('greet', '-n2', 'world') == (0, 'hello, world\nhello, world\n', '')
    assert greet('greet', '--tone=cool') == (0, 'you\n', '')
    assert greet('greet', '--tone=cold')[::2] == (
        2, "flyball greet: --tone: 'cold' is not warm or cool, did you mean 'cool'?\n")
    assert "did you mean '--times'?" in greet('greet', '--time', '3')[2]
    assert '  -n, --times N' in greet('help', 'greet')[1] and 'greet' in greet()[1]
    assert "'greet --tone') _flyball_words 'warm cool'" in greet('completion', 'bash')[1]
