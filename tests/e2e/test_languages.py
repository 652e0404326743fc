# SPDX-License-Identifier: MIT
"""The library from other languages: the same calls give the same answers, to the last digit.

C, Python and Node are always tried; Go and Rust where their compilers are, and else it says so.
"""
import asyncio
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get('FLYBALL_BUILD', ROOT / 'build')).resolve()
EXAMPLES = ROOT / 'examples'
LIBRARY = BUILD / 'libflyball.so'
LINK = [f'-L{BUILD}', '-lflyball', f'-Wl,-rpath,{BUILD}']
ENV = dict(os.environ, FLYBALL_LIBRARY=str(LIBRARY), PYTHONDONTWRITEBYTECODE='1')

os.environ['FLYBALL_LIBRARY'] = str(LIBRARY)
sys.path.insert(0, str(EXAMPLES / 'python'))
import flyball  # noqa: E402  pylint: disable=wrong-import-position


def run(*argv, expect=0, **more):
    done = subprocess.run([str(a) for a in argv], text=True, capture_output=True, check=False,
                          **{'env': ENV, **more})
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout if expect == 0 else done.stderr


def build_c(where):
    run('gcc', '-O2', f'-I{ROOT / "include"}', '-o', where / 'embed', EXAMPLES / 'embed.c', *LINK)
    return [where / 'embed']


def build_python(_):
    return ['/usr/bin/python3', EXAMPLES / 'python/embed.py']


def build_node(where):
    for name in ('package.json', 'package-lock.json', '.npmrc', 'flyball.js', 'embed.js'):
        shutil.copy(EXAMPLES / 'node' / name, where)
    run('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', cwd=where)
    return ['node', where / 'embed.js']


def build_go(where):
    run('go', 'build', '-o', where / 'embed', '.', cwd=EXAMPLES / 'go',
        env=dict(ENV, CGO_CFLAGS=f'-I{ROOT / "include"}', CGO_LDFLAGS=' '.join(LINK),
                 GOCACHE=str(where / 'cache'), GOFLAGS='-buildvcs=false'))
    return [where / 'embed']


def build_rust(where):
    run('rustc', '-O', '-L', f'native={BUILD}', '-C', f'link-args=-Wl,-rpath,{BUILD}', '-o',
        where / 'embed', EXAMPLES / 'rust/embed.rs')
    return [where / 'embed']


# Go and Rust where their compilers are there; the others always are.
BUILDERS = {'c': build_c, 'python': build_python, 'node': build_node, 'go': build_go,
            'rust': build_rust}
COMPILERS = {'go': 'go', 'rust': 'rustc'}
LANGUAGES = [name for name in BUILDERS if shutil.which(COMPILERS.get(name, 'sh'))]


@pytest.fixture(scope='module', params=LANGUAGES)
def embed(request, tmp_path_factory):
    return BUILDERS[request.param](tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope='module')
def in_c(tmp_path_factory):
    return build_c(tmp_path_factory.mktemp('reference'))


@pytest.mark.parametrize('spec', ['', 'rate=10/s burst=5', 'adapt=aimd rate=30/s ceiling=60/s'])
def test_each_language_gives_the_same_answers(embed, in_c, spec):
    assert run(*embed, spec).rstrip('\n') == run(*in_c, spec).rstrip('\n')


def test_each_language_tells_a_mistake(embed):
    assert run(*embed, 'rate=ten/s', expect=2).startswith('embed: rate=ten/s: not understood')


# -------------------------------------------------------------------- one ledger, two languages

# Each number that is read is so many tries; the answer is how many of them were granted.
TRIES_PYTHON = '''import sys, flyball
limiter = flyball.Limiter('rate=1/1h burst=9', ledger=sys.argv[1],
                          key=('api.example.com', 'core', 'token'))
for line in sys.stdin:
    print(sum(limiter.try_take()[0] is not None for _ in range(int(line))), flush=True)
'''
TRIES_NODE = '''import { createInterface } from 'node:readline';
import { Limiter } from './flyball.js';
const limiter = new Limiter('rate=1/1h burst=9', {
  ledger: process.argv[2], key: ['api.example.com', 'core', 'token'],
});
for await (const line of createInterface({ input: process.stdin })) {
  console.log(Array.from({ length: Number(line) }, () => limiter.tryTake().grant)
    .filter(Boolean).length);
}
limiter.close();
'''


def try_all(processes, tries):
    for process in processes:
        process.stdin.write(f'{tries}\n')
        process.stdin.flush()
    return [int(process.stdout.readline()) for process in processes]


def test_python_and_node_spend_one_budget(tmp_path):
    build_node(tmp_path)
    (tmp_path / 'tries.mjs').write_text(TRIES_NODE)
    argv = [*[['/usr/bin/python3', '-c', TRIES_PYTHON]] * 2, ['node', tmp_path / 'tries.mjs']]
    processes = [subprocess.Popen([*map(str, one), str(tmp_path / 'ledger')], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  env=dict(ENV, PYTHONPATH=str(EXAMPLES / 'python')))
                 for one in argv]
    try:
        assert try_all(processes, 1) == [1, 1, 1]  # each of them has it, then all go for the rest
        assert sum(try_all(processes, 20)) == 6
    finally:
        for process in processes:
            process.stdin.close()
            assert process.wait(60) == 0
            process.stdout.close()


def test_a_ledger_tells_its_mistakes(tmp_path):
    ledger = flyball.Ledger(tmp_path / 'ledger')
    with pytest.raises(ValueError, match='rate=ten/s: not understood'):
        flyball.Limiter('rate=ten/s', ledger=ledger, key=('p',))
    (tmp_path / 'other').write_text('no ledger')
    with pytest.raises(ValueError, match='other: is not a ledger'):
        flyball.Limiter(ledger=tmp_path / 'other', key=('p',))
    with pytest.raises(OSError, match='missing/ledger'):
        flyball.Limiter(ledger=tmp_path / 'missing/ledger', key=('p',))
    one, same, other = (flyball.Limiter('rate=1/1h burst=1', ledger=ledger, key=(name,))
                        for name in 'aab')
    assert one.try_take()[0] and not same.try_take()[0] and other.try_take()[0]


# ------------------------------------------------------------------------- the Python module

def test_the_module_runs_this_library():
    assert flyball.version() == run('/usr/bin/python3', '-c', 'import flyball\n'
                                    'print(flyball.version())', cwd=EXAMPLES / 'python').strip()


def test_asyncio_takes_in_order():
    limiter = flyball.Limiter('rate=200/s burst=1')
    started = []

    async def one(number):
        async with limiter.take() as grant:
            started.append((number, time.monotonic()))
            grant.status = 200

    async def all_of_them():
        await asyncio.gather(*(one(i) for i in range(10)))

    asyncio.run(all_of_them())
    assert [number for number, _ in started] == list(range(10))
    assert started[-1][1] - started[0][1] >= 9 / 200 - 0.001


def test_asyncio_waits_for_a_report_where_only_that_helps():
    limiter = flyball.Limiter('adapt=off concurrency=1')

    async def main():
        first = await limiter.take()
        second = asyncio.ensure_future(limiter.take().__aenter__())
        await asyncio.sleep(0.02)
        assert not second.done()
        first.status = 200
        first.report()
        grant = await asyncio.wait_for(second, 60)
        grant.cancel()

    asyncio.run(main())


def test_asyncio_in_one_loop_after_another():
    limiter = flyball.Limiter('rate=500/s burst=1')

    async def one():
        async with limiter.take() as grant:
            grant.status = 200

    async def several():
        await asyncio.gather(*(one() for _ in range(4)))

    async def stopped():  # with one that waits, and others behind it
        waiting = [asyncio.ensure_future(one()) for _ in range(4)]
        await asyncio.sleep(0)
        return waiting

    for each in (several, several, stopped, several):
        asyncio.run(each())
    (grant, _), tries = limiter.try_take(), 0
    while not grant and tries < 1000:
        time.sleep(0.001)
        (grant, _), tries = limiter.try_take(), tries + 1
    grant.report()  # the loop that would be woken is closed


def test_asyncio_one_that_waits_can_be_cancelled():
    limiter = flyball.Limiter('adapt=off concurrency=1')

    async def main():
        first = await limiter.take()
        head, behind = (asyncio.ensure_future(limiter.take().__aenter__()) for _ in range(2))
        await asyncio.sleep(0.02)
        head.cancel()
        with pytest.raises(asyncio.CancelledError):
            await head
        assert not behind.done()
        first.report()
        grant = await asyncio.wait_for(behind, 60)  # what the other waited for is not lost
        late = asyncio.ensure_future(limiter.take().__aenter__())
        await asyncio.sleep(0.02)
        late.cancel()
        grant.report()
        await asyncio.sleep(0)
        assert late.cancelled() and limiter.try_take()[0]

    asyncio.run(main())


def test_threads_wait():
    limiter = flyball.Limiter('rate=200/s burst=1')
    begun = time.monotonic()

    def work():
        with limiter.wait() as grant:
            grant.status = 200

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert time.monotonic() - begun >= 4 / 200 - 0.001


def test_a_wait_that_cannot_end_in_time_says_so_at_once():
    limiter = flyball.Limiter('rate=1/1h burst=1')
    limiter.wait().report()
    with pytest.raises(TimeoutError, match='the rate allows no more yet'):
        limiter.wait(timeout=1)


def test_a_refusal_holds_the_key():
    limiter = flyball.Limiter('rate=100/s')
    with limiter.wait() as grant:
        grant.status, grant.retry_after = 429, '120'
    until_ns, cause, _ = limiter.why()
    assert cause == 'hold' and until_ns - flyball.now() > 100 * flyball.SECOND


def test_what_was_learned_is_carried_over():
    limiter = flyball.Limiter('adapt=aimd rate=1/s')
    with limiter.wait() as grant:
        grant.status, grant.retry_after = 429, 0.001
    state = limiter.save()
    other = flyball.Limiter('adapt=aimd rate=1/s')
    other.load(state, seconds_ago=5)
    assert abs(other.rate - 0.8) < 1e-6
    with pytest.raises(ValueError, match='saved state'):
        other.load(state[:-1])
