# SPDX-License-Identifier: MIT
"""What is shipped for those who run flyball serve: a unit, rules and a dashboard of others."""
import json
import re
import subprocess
from pathlib import Path

from matches import Sites
from served import Daemon

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / 'share/alerts.yaml'
GRAFANA = ROOT / 'share/grafana.json'
UNIT = ROOT / 'examples/flyball.service'
NAME = re.compile(r'\b(?:flyball|http_client|process)_[a-z0-9_]+')


def run(*words):
    done = subprocess.run([str(w) for w in words], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_rules_are_rules():
    told = run('promtool', 'check', 'rules', RULES)
    assert re.search(r'SUCCESS: [1-9]\d* rules found', told)


def test_the_unit_gives_little_away():
    """At most 2.0 of 10, as systemd reckons; and nothing in it that systemd does not know."""
    run('systemd-analyze', 'security', '--offline=true', '--threshold=20', UNIT)
    # Which boot it is has to be readable: a ledger is of one.
    assert 'ProcSubset' not in UNIT.read_text()


def names_of(metrics):
    """Of families, with what a histogram and a counter are made of."""
    names = set()
    for name, kind in re.findall(r'^# TYPE (\S+) (\S+)$', metrics, re.M):
        parts = ('_bucket', '_sum', '_count') if kind == 'histogram' else ('',)
        names |= {name + part for part in parts}
    return names


def test_every_metric_that_is_named_is_there(tmp_path):
    with Sites(tmp_path, 'live=2') as sites, Daemon(tmp_path, sites.config()) as d:
        there = names_of(d.ask('/metrics')[2].decode())
    queries = []

    def gather(o):
        if isinstance(o, dict):
            queries.extend(v for k, v in o.items() if k in ('expr', 'query') and isinstance(v, str))
        for x in o.values() if isinstance(o, dict) else o if isinstance(o, list) else []:
            gather(x)

    gather(json.loads(GRAFANA.read_text()))
    rules = re.sub(r'^ *#.*$', '', RULES.read_text(), flags=re.M)
    for path, text in ((GRAFANA, '\n'.join(queries)), (RULES, rules)):
        named = set(NAME.findall(text))
        assert len(named) > 5, path
        assert named <= there, (path, named - there)
