# SPDX-License-Identifier: MIT
"""The process that reads pages: what it cannot have, and what it cannot do."""
import json
import subprocess

from batch import FLYBALL, LONG_S

MIB = 1 << 20


def read(page, *words, memory=64 * MIB, seconds=60, **more):
    """What the reader says of a page: its exit code, what it printed, what it complained of."""
    done = subprocess.run([FLYBALL, '--child', str(memory), str(seconds), *words], input=page,
                          capture_output=True, check=False, timeout=LONG_S, **more)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_page_is_read():
    code, out, _ = read(b'<h1 id=x>Ajax</h1>', 'html', 'item', '//h1/@id', '//h1', '//h2')
    assert (code, json.loads(out)) == (0, ['x', 'Ajax', None])


def test_a_page_in_another_charset_is_read():
    page = '<meta charset=windows-1251><h1>Зенит</h1>'.encode('cp1251')
    assert json.loads(read(page, 'html', 'item', '', '//h1')[1]) == [None, 'Зенит']
    page = '<h1>Зенит</h1>'.encode('koi8-r')
    told = {'FLYBALL_TYPE': 'text/html; charset=koi8-r'}
    assert json.loads(read(page, 'html', 'item', '', '//h1', env=told)[1]) == [None, 'Зенит']


def test_a_page_that_needs_more_memory_than_there_is_ends():
    page = b'<p>x</p>' * 1_000_000
    assert read(page, 'html', 'item', '', 'count(//p)', memory=1024 * MIB)[0] == 0
    code, out, _ = read(page, 'html', 'item', '', 'count(//p)', memory=32 * MIB)
    assert code != 0 and out == ''


def test_the_reader_asks_the_kernel_for_nothing_it_should_not(tmp_path):
    log = tmp_path / 'calls'
    subprocess.run(['strace', '-f', '-o', log, FLYBALL, '--child', str(64 * MIB), '60', 'html',
                    'item', '', '//h1'], input=b'<h1>a</h1>', capture_output=True, check=True,
                   timeout=LONG_S)
    calls = log.read_text()
    after = calls.partition('SECCOMP_MODE_FILTER')[2]
    assert after, 'there is no filter'
    assert not [name for name in ('socket(', 'connect(', 'execve(', 'clone', 'fork')
                if name in after]


def test_a_program_is_bounded_as_well():
    code, _, _ = read(b'', 'exec', 'python3', '-c', 'x = bytearray(1 << 30)', memory=256 * MIB)
    assert code != 0
    code, _, _ = read(b'', 'exec', 'python3', '-c', 'while True: pass', memory=1024 * MIB,
                      seconds=1)
    assert code < 0
    assert read(b'{"a":1}', 'exec', 'cat')[1] == '{"a":1}'
