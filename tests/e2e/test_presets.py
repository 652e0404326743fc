# SPDX-License-Identifier: MIT
"""presetc: what stops the build, and that a new provider is one new file."""
import json
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get('FLYBALL_BUILD', str(ROOT / 'build')))
PRESETS = sorted((ROOT / 'presets').glob('*.yaml'))

PAGE = (ROOT / 'CONTRIBUTING.md').read_text()
VECTORS = [json.loads(line)
           for line in (ROOT / 'tests/vectors/responses.jsonl').read_text().splitlines()]

NEW = '''\
title: Example
documentation: https://example.com/limits
hosts: [api.zz.example]
limit: window=60/1m
'''


def presetc(*files):
    return subprocess.run([BUILD / 'presetc', *files], text=True, capture_output=True, check=False)


def test_a_new_provider_is_one_new_file(tmp_path):
    (tmp_path / 'zz.yaml').write_text(NEW)
    done = presetc(tmp_path / 'zz.yaml', *PRESETS)
    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout.rstrip().endswith(f'fb_preset_count = {len(PRESETS) + 1};')
    assert '"api.zz.example"' in done.stdout
    table = tmp_path / 'table.c'
    table.write_text(done.stdout)
    compiled = subprocess.run(['gcc', '-Wall', '-Wextra', '-Werror', '-c', '-o', os.devnull,
                               '-I', ROOT / 'src', table], text=True, capture_output=True,
                              check=False)
    assert compiled.returncode == 0, compiled.stderr


def test_the_example_of_the_page_is_right(tmp_path):
    example = re.search(r'```yaml\n(title: .*?)```', PAGE, re.DOTALL)[1]
    (tmp_path / 'example.yaml').write_text(example)
    done = presetc(tmp_path / 'example.yaml', *PRESETS)
    assert (done.returncode, done.stderr) == (0, '')


def test_a_preset_tells_what_the_response_does_not_and_nothing_else():
    changed = []
    for name in sorted(path.stem for path in PRESETS):
        lines = ''.join(json.dumps(v) + '\n' for v in VECTORS if v['provider'] == name)
        alone, helped = (subprocess.run([BUILD / 'flyball', 'signals', '--jsonl', *more],
                                        input=lines, text=True, capture_output=True,
                                        check=True).stdout for more in ([], ['--preset', name]))
        changed += [json.loads(b) for a, b in zip(alone.splitlines(), helped.splitlines())
                    if a != b]
    assert [(v['id'], v['scopes'][0]['reset_in_s']) for v in changed] == [('prisjakt-429-ms', 600)]


def test_the_mistakes_of_all_files_are_told(tmp_path):
    first, second = tmp_path / 'a.yaml', tmp_path / 'b.yaml'
    first.write_text(NEW.replace('title', 'tilte'))
    second.write_text(NEW + 'reset: soon\nretry: never\n')
    done = presetc(first, second, tmp_path / 'c.yaml', tmp_path / 'd.txt')
    assert (done.returncode, done.stdout) == (2, '')
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"{first}:1:1: unknown key 'tilte', expected one of ")
    assert lines[0].endswith("(did you mean 'title'?)")
    assert lines[1] == f"{first}:1:1: 'title' is missing"
    assert lines[2].startswith(f"{second}:5:8: 'soon' is no unit")
    assert lines[3].startswith(f"{second}:6:8: 'never' is no unit")
    assert lines[4] == f'{tmp_path}/c.yaml: No such file or directory'
    assert lines[5] == f'{tmp_path}/d.txt: expected a file named <provider>.yaml'
    assert len(lines) == 6


def test_a_host_belongs_to_one_provider(tmp_path):
    (tmp_path / 'aa.yaml').write_text(NEW)
    (tmp_path / 'zz.yaml').write_text(NEW)
    done = presetc(tmp_path / 'zz.yaml', tmp_path / 'aa.yaml')
    assert (done.returncode, done.stdout) == (2, '')
    assert done.stderr == (f"{tmp_path}/zz.yaml:3:9: 'api.zz.example' is also in "
                           f'{tmp_path}/aa.yaml\n')


def test_texts_are_quoted(tmp_path):
    (tmp_path / 'q.yaml').write_text(NEW.replace('Example', r'"a\"b\\c??=ü\n"'))
    done = presetc(tmp_path / 'q.yaml')
    assert done.returncode == 0, done.stderr
    assert r'"a\042b\134c\077\077=\303\274\012"' in done.stdout


def test_without_files_it_says_how_it_is_used():
    done = presetc()
    assert done.returncode == 2 and done.stderr.startswith('usage: presetc ')
