"""Stands in for what the tests of `azure-storage-queue` import for accounts of storage.

Every test is live but those of the client by itself, which compare addresses with those of the cloud and send nothing: their
classes are called `..Client`, and a test of theirs that is recorded is live, too.
"""

import logging
import os
from io import StringIO
from random import Random
from urllib.parse import urlsplit

import pytest

from .. import ACCOUNT, AzureRecordedTestCase


class Secret:
    """A value of the environment that is not shown."""

    def __init__(self, secret):
        self.secret = secret


class StorageRecordedTestCase(AzureRecordedTestCase):
    def _is_of_clients(self):
        return "Client" in type(self).__name__ and not getattr(self, "_sends", False)

    def setup_method(self, _test):
        if hasattr(self, "setUp"):
            self.setUp()

    def account_url(self, account, storage_type):
        if self._is_of_clients():
            return f"https://{getattr(account, 'name', account)}.{storage_type}.core.windows.net"
        endpoint = os.environ["QUEUES_ENDPOINT"]
        if "Stats" in type(self).__name__:
            # They ask the secondary, which the client finds by the name of a host alone.
            address = urlsplit(endpoint)
            return f"{address.scheme}://{ACCOUNT}.{storage_type}.core.localhost:{address.port}"
        return endpoint

    def connection_string(self, account, key):
        return f"DefaultEndpointsProtocol=https;AccountName={account};AccountKey={key};EndpointSuffix=core.windows.net"

    def get_credential(self, *_, **__):
        if self._is_of_clients():
            return NoDirectory()
        pytest.skip("needs a directory that issues tokens")

    def get_datetime_variable(self, _variables, _name, default):
        return default

    def get_random_bytes(self, size):
        # Not of the system: tests put something else in the place of that.
        return Random(size).randbytes(size)


class NoDirectory:
    """A credential whose directory issues no tokens: clients are made with it, and never ask it."""

    def get_token(self, *scopes, **options):
        raise RuntimeError("there is no directory that issues tokens")


class LogCaptured:
    """Gathers what the client's library logs."""

    def __init__(self, _test=None):
        self.stream = StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.logger = logging.getLogger("azure.storage")

    def __enter__(self):
        self.level = self.logger.level
        self.logger.setLevel(logging.DEBUG)
        self.logger.addHandler(self.handler)
        return self.stream

    def __exit__(self, *_):
        self.logger.removeHandler(self.handler)
        self.logger.setLevel(self.level)


