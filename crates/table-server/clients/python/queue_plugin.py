"""Runs the tests of `azure-storage-queue` against one server, and notes how each ended in `QUEUES_RESULTS`."""

import os
import pathlib
import sys

import pytest

from live_plugin import Results, stay_on_this_machine


def pytest_configure(config):
    stay_on_this_machine()
    sys.path.insert(0, os.getcwd())
    for mark in ("live_test_only", "playback_test_only"):
        config.addinivalue_line("markers", mark)
    config.pluginmanager.register(Results(pathlib.Path(os.environ["QUEUES_RESULTS"])))


def pytest_collection_modifyitems(items):
    for item in items:
        # What is recorded of a service whose copy lags behind can't be had of one that has none.
        if item.name.startswith("test_queue_service_stats_when_unavailable"):
            item.add_marker(pytest.mark.skip(reason="it plays a record"))
