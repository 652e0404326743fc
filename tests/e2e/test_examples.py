# SPDX-License-Identifier: MIT
"""The examples and the program in README.md are compiled and run, so that they cannot rot."""
import os
import re
import subprocess
from pathlib import Path

import pytest

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
