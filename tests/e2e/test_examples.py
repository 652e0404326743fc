# SPDX-License-Identifier: MIT
"""The examples and the program in README.md are compiled and run, so that they cannot rot."""
import json
import os
import re
import signal
import socket
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from mock_api import Mock
from served import wait_for

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get('FLYBALL_BUILD', ROOT / 'build')).resolve()
STRICT = ['-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Werror', f'-I{ROOT / "include"}']
SHARED = [f'-L{BUILD}', '-lflyball', f'-Wl,-rpath,{BUILD}']
STATIC = [str(BUILD / 'libflyball.a')]

# What the README leaves to the reader: a clock, waiting and an API.
README_NEEDS = r'''
static int64_t clock_ns = 1000000000;

static int64_t now(void)
{
    return clock_ns;
}

static void wait_until(int64_t at_ns)
{
    clock_ns = at_ns;
}

static int send_request(void)
{
    clock_ns += 20000000;
    return 200;
}
'''


def run(*argv, expect=0):
    done = subprocess.run(argv, text=True, capture_output=True, check=False)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope='module', params=[('gcc', '-std=c99', SHARED), ('gcc', '-std=c17', STATIC),
                                        ('clang', '-std=c17', STATIC)],
                ids=['gcc-shared', 'gcc-static', 'clang-static'])
def embed(request, tmp_path_factory):
    compiler, standard, library = request.param
    program = tmp_path_factory.mktemp('embed') / 'embed'
    run(compiler, standard, *STRICT, '-o', str(program), str(ROOT / 'examples/embed.c'), *library)
    return program


def counts(output):
    accepted, refused, seconds = re.match(r'(\d+) accepted, (\d+) refused in (\d+) s\n',
                                          output).groups()
    return int(accepted), int(refused), int(seconds)


def test_embed_finds_the_limit(embed):
    output, _ = run(embed)
    accepted, refused, seconds = counts(output)
    # 20/s is true: most of it in ten minutes, a search included, and few refusals.
    assert seconds == 600 and 0.9 * 12000 <= accepted <= 12030 and refused <= 30
    # The pace may be in the middle of a look upward; what is believed is not.
    limit = float(re.search(r'the limit of ([\d.]+)/s', output)[1])
    assert 19 <= limit <= 20.5
    pace = float(re.search(r'pace now ([\d.]+)/s', output)[1])
    assert 18 <= pace <= 1.25 * limit
    assert re.search(r'^(go|[a-z-]+): \w.*\.$', output, re.MULTILINE)


def test_embed_keeps_a_known_limit(embed):
    output, _ = run(embed, 'rate=10/s burst=5')
    accepted, refused, _ = counts(output)
    assert refused == 0 and 5990 <= accepted <= 6006
    assert 'pace now 10.00/s' in output and 'as stated' in output


def test_embed_explains_a_mistake(embed):
    _, complaint = run(embed, 'rate=ten/s', expect=2)
    assert complaint.startswith('embed: rate=ten/s: not understood, expected')


@pytest.mark.parametrize('library', [SHARED, STATIC], ids=['shared', 'static'])
def test_the_program_of_the_readme_works(tmp_path, library):
    block = re.search(r'```c\n(#include <flyball.*?)```', (ROOT / 'README.md').read_text(),
                      re.DOTALL)[1]
    include, body = block.split('\n', 1)
    source = tmp_path / 'readme.c'
    source.write_text(f'{include}\n#include <stdio.h>\n{README_NEEDS}\nint main(void)\n{{\n'
                      f'{body}    printf("%d\\n", (int)o.status);\n    fly_limiter_free(l);\n'
                      f'    return 0;\n}}\n')
    run('gcc', '-std=c17', *STRICT, '-o', str(tmp_path / 'readme'), str(source), *library)
    assert run(str(tmp_path / 'readme'))[0] == '200\n'


def test_the_files_the_readme_links_to_are_there():
    text = (ROOT / 'README.md').read_text()
    for link in re.findall(r'\]\(([^)#:]+)\)', text) + re.findall(r'^\[\w+\]: ([^:\n]+)$', text,
                                                                  re.MULTILINE):
        assert (ROOT / link).exists(), link


def script(tmp_path, name, *words):
    """A job as a person would run it, with a state of its own."""
    env = {**os.environ, 'FLYBALL': str(BUILD / 'flyball'), 'HOME': str(tmp_path),
           'XDG_STATE_HOME': str(tmp_path / 'state'), 'FLYBALL_LEDGER': str(tmp_path / 'ledger'),
           'FLYBALL_LIBRARY': str(BUILD / 'libflyball.so'), 'PYTHONPATH': ''}
    argv = ['/usr/bin/python3', ROOT / 'examples' / name] if name.endswith('.py') else [
        ROOT / 'examples' / name]
    done = subprocess.run([*argv, *words], cwd=tmp_path, env=env, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_crawl_of_two_hundred_pages(tmp_path):
    with Mock('--limit', 'rate=40/s burst=20', '--dialect', 'retry-after') as api:
        url = f'http://127.0.0.1:{api.port}'
        assert script(tmp_path, 'crawl.sh', 'pages', url) == '200 pages in pages\n'
        stats = api.stats()
        assert stats['accepted'] == 200 and stats['arrivals'] < 220
        # What is there is not fetched again.
        assert script(tmp_path, 'crawl.sh', 'pages', url) == '200 pages in pages\n'
        assert api.stats()['arrivals'] == stats['arrivals']
    bodies = [json.loads(p.read_text())['path'] for p in (tmp_path / 'pages').iterdir()
              if p.name != 'flyball.jsonl']
    assert len(set(bodies)) == 200 or set(bodies) == {'/list'}


def test_dois_with_a_second_resolver(tmp_path):
    with Mock('--fail', '10%', '--seed', '3') as first, Mock() as second:
        told = script(tmp_path, 'dois.sh', 'out.jsonl', f'http://127.0.0.1:{first.port}',
                      f'http://127.0.0.1:{second.port}')
        failed, helped = first.stats()['failed'], second.stats()['accepted']
    assert told == f'60 of 60 resolved, {helped} of them by the second resolver\n'
    assert 0 < helped <= failed
    results = [json.loads(line) for line in (tmp_path / 'out.jsonl').read_text().splitlines()]
    assert {r['id'] for r in results} == {f'10.5555/{n}' for n in range(1, 61)}
    assert sum(f':{second.port}/' in r.get('final_url', r['url']) for r in results) in (0, helped)


def test_scripts_bring_their_own_api(tmp_path):
    assert ' of 60 resolved,' in script(tmp_path, 'dois.sh')


def test_pull_requests_five_at_a_time(tmp_path):
    with Mock('--limit', 'fixed=3000/1m', '--dialect', 'github', '--latency', '10ms') as api:
        told = script(tmp_path, 'python/pulls.py', f'http://127.0.0.1:{api.port}/repos/o/r', '20')
        arrivals = api.log()[0]
    assert told.startswith('20 pull requests in 80 calls, 0 refused\n')
    assert len(arrivals) == 80 and max(int(a[-1]) for a in arrivals) <= 5
    assert {a[7].removeprefix('/repos/o/r/pulls/20') for a in arrivals if '/20' in a[7]} == {
        '', '/files', '/commits', '/reviews'}


def free_ports(count):
    """The first of so many ports in a row that are free now."""
    for first in range(20000 + os.getpid() % 10000, 60000, count):
        with ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.create_server(('127.0.0.1', port)))
            except OSError:
                continue
            return first
    raise AssertionError('no ports are free')


def is_free(port):
    with socket.socket() as s:
        return s.connect_ex(('127.0.0.1', port)) != 0


def readme_commands(page, item):
    """What the table of examples/matches/README.md says to ask, with an id in it."""
    text = (ROOT / 'examples/matches/README.md').read_text()
    rows = re.findall(r'^\| .*$', text, re.MULTILINE)
    words = [c for row in rows for c in re.findall(r'`([^`]+)`', row)]
    commands = [c for c in words if c.startswith(('flyball ', 'curl '))]
    assert len(commands) >= 7
    return [c.replace('ID', item).replace('127.0.0.1:8080', page)
            .replace('flyball ', f'{BUILD}/flyball ').replace('curl -N', 'curl -sN -m 2')
            for c in commands]


def test_the_example_of_matches_as_its_page_says(tmp_path):
    port = free_ports(5)
    page = f'127.0.0.1:{port + 4}'
    (tmp_path / 'run').mkdir()
    env = {**os.environ, 'FLYBALL': str(BUILD / 'flyball'), 'HOME': str(tmp_path),
           'PORT': str(port), 'XDG_STATE_HOME': str(tmp_path / 'state'),
           'XDG_RUNTIME_DIR': str(tmp_path / 'run'), 'TMPDIR': str(tmp_path)}
    env.pop('FLYBALL_LEDGER', None)

    def ask(*words):
        done = subprocess.run([BUILD / 'flyball', *words, '--json'], env=env, text=True,
                              capture_output=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def fresh():
        told = ask('items', '--state', 'live')
        items = told['items'] if told else []
        return len(items) == 20 and all(i['seq'] and not i['stale'] for i in items) and items

    with subprocess.Popen(
            [ROOT / 'examples/matches/run.sh', '--set', f'listeners.public.listen={page}', '--set',
             'listeners.internal.listen=off'], env=env, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            item = wait_for(fresh)[0]['id']
            for command in readme_commands(page, item):
                done = subprocess.run(['sh', '-c', command], env=env, text=True,
                                      capture_output=True, check=False)
                # curl -N is ended by its own deadline; an item may have gone by now.
                assert done.returncode in ((0, 28) if '-m 2' in command else (0, 3)), command
                assert done.stdout or 'source' in command, (command, done.stderr)
            status = ask('watch', 'status')
            assert status['grade'] == 'healthy' and status['warned']['unmapped'] > 0
        finally:
            os.kill(process.pid, signal.SIGTERM)
            said = process.communicate(timeout=60)[0]
    assert '"level":"info"' not in said, said  # no lines of a log fill the window
    assert all(is_free(p) for p in range(port, port + 5))
