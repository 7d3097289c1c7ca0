"""Runs the tests of `azure-data-tables` against one server, and notes how each ended in `TABLES_RESULTS`.

A line is `passed`, `failed` or `skipped`, a tab and `file.py::Class::test`.
"""

import ipaddress
import os
import pathlib
import socket
import sys
import time
import urllib.parse

import pytest

LONGEST_SLEEP = 0.2


def stay_on_this_machine():
    """Refuses names of the cloud, which some tests have in their text, instead of asking the network for them.

    The account's own host there is the server, at whatever port, if it is asked by HTTPS: clients ask the cloud by nothing else.
    """
    resolve = socket.getaddrinfo
    endpoint = urllib.parse.urlsplit(os.environ.get("TABLES_ENDPOINT", ""))
    account = endpoint.path.strip("/")
    hosts = {f"{account}.table.core.windows.net"} if endpoint.scheme == "https" else set()

    def local(host, port=None, *args, **kwargs):
        name = host.decode() if isinstance(host, bytes) else host
        if name in hosts:
            return resolve(endpoint.hostname, endpoint.port, *args, **kwargs)
        if name is not None and name.endswith(".localhost"):
            # By its standard such a name is of this machine, though not every system knows.
            return resolve("localhost", port, *args, **kwargs)
        if name not in (None, "localhost"):
            try:
                inside = ipaddress.ip_address(name).is_loopback
            except ValueError:
                inside = False
            if not inside:
                raise socket.gaierror(socket.EAI_NONAME, f"{name} is not on this machine")
        return resolve(host, port, *args, **kwargs)

    socket.getaddrinfo = local


def _sleep_shorter():
    """Cuts the waits for a cloud's settings to spread, of up to 45 seconds each."""
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(min(seconds, LONGEST_SLEEP))


def pytest_configure(config):
    stay_on_this_machine()
    _sleep_shorter()
    sys.path.insert(0, os.getcwd())
    from _shared.asynctestcase import AsyncTableTestCase
    from _shared.testcase import TableTestCase

    cloud_url = TableTestCase.account_url

    def account_url(self, account, endpoint_type):
        # Unit tests compare the address with the one of the cloud and send nothing.
        if "UnitTest" in type(self).__name__:
            return cloud_url(self, account, endpoint_type)
        return os.environ["TABLES_ENDPOINT"]

    def get_token_credential(self):
        # Unit tests hand it on and never ask it.
        if "UnitTest" in type(self).__name__:
            return NoDirectory()
        pytest.skip("needs a directory that issues tokens")

    TableTestCase.account_url = account_url
    TableTestCase.get_token_credential = get_token_credential
    AsyncTableTestCase.get_token_credential = get_token_credential
    config.pluginmanager.register(Results(pathlib.Path(os.environ["TABLES_RESULTS"])))


class NoDirectory:
    """A credential whose directory issues no tokens."""

    def get_token(self, *scopes, **options):
        raise RuntimeError("there is no directory that issues tokens")


class Results:
    def __init__(self, path):
        self.path = path
        self.outcomes = {}

    def pytest_runtest_logreport(self, report):
        # A test has up to three reports: the call's counts, unless what is around it fails or skips.
        if report.when == "call" or report.outcome != "passed":
            test = report.nodeid.removeprefix("tests/")
            if self.outcomes.get(test) != "failed":
                self.outcomes[test] = report.outcome

    def pytest_sessionfinish(self):
        lines = [f"{outcome}\t{test}\n" for test, outcome in sorted(self.outcomes.items())]
        self.path.write_text("".join(lines), encoding="utf-8")
