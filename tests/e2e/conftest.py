# SPDX-License-Identifier: MIT
"""What many of the tests begin with."""

import pytest

from batch import Batch
from mock_api import Mock
from origin import Origin


@pytest.fixture(name='origin')
def fixture_origin():
    origin = Origin()
    yield origin
    origin.close()


@pytest.fixture(name='api', scope='module')
def fixture_api():
    """The URL of a mock without a limit."""
    with Mock() as api:
        yield f'http://127.0.0.1:{api.port}'


@pytest.fixture(name='batch')
def fixture_batch(tmp_path):
    return Batch(tmp_path)


# They compile, or measure what is left of a processor: one after the other, and the first to begin.
HEAVY = ('test_contributing.py', 'test_dist.py', 'test_examples.py', 'test_install.py',
         'test_languages.py', 'test_demo.py::test_at_full_size')


def lane_of(item):
    """Tests of one lane share a process; None: it may run anywhere."""
    if any(item.nodeid.split('tests/e2e/')[-1].startswith(name) for name in HEAVY):
        return 'heavy'
    # What is dear to make is made once. A mock without a limit is not.
    made = item._fixtureinfo.name2fixturedefs.items()  # pylint: disable=protected-access
    dear = any(of[-1].scope == 'module' and name != 'api' for name, of in made)
    return item.path.stem if dear else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """More of them run at a time than there are processors, because most of them wait."""
    for item in items:
        lane = lane_of(item)
        if lane:
            item.add_marker(pytest.mark.xdist_group(lane))
    items.sort(key=lambda item: lane_of(item) != 'heavy')
