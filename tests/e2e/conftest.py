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
