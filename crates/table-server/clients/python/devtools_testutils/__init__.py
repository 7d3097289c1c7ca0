"""Stands in for what the tests of `azure-data-tables` and `azure-storage-queue` import from the repository that they come from.

Every test is live: it talks to the server that `TABLES_ENDPOINT` names. Nothing is recorded, so what only cleans or matches
recordings does nothing. An account other than the emulator's is given by `TABLES_ACCOUNT` and `TABLES_KEY`.
"""

import functools
import hashlib
import inspect
import os

import pytest

ACCOUNT = os.environ.get("TABLES_ACCOUNT", "devstoreaccount1")
# The key that is printed in the documentation of every emulator: it guards nothing.
KEY = os.environ.get(
    "TABLES_KEY", "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
# Tables of an earlier run may still be there, on a server that keeps them.
RUN = os.environ.get("TABLES_RUN", "0")


def is_live():
    return True


def get_credential(**_):
    pytest.skip("needs a directory that issues tokens")


def _nothing(*_, **__):
    pass


add_general_regex_sanitizer = _nothing
add_body_key_sanitizer = _nothing
add_oauth_response_sanitizer = _nothing
remove_batch_sanitizers = _nothing
set_custom_default_matcher = _nothing
set_bodiless_matcher = _nothing
add_header_regex_sanitizer = _nothing
add_uri_string_sanitizer = _nothing
add_uri_regex_sanitizer = _nothing
add_remove_header_sanitizer = _nothing


@pytest.fixture(scope="session")
def test_proxy():
    """Is asked for by a fixture of the tests; there is no proxy."""
    yield None


def accepted(function, given):
    """Returns those of the keyword arguments that a function takes, with empty `variables` if it wants some."""
    parameters = inspect.signature(function).parameters
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    taken = {name: value for name, value in given.items() if takes_all or name in parameters}
    if "variables" in parameters:
        taken.setdefault("variables", {})
    return taken


def recorded_by_proxy(function):
    @functools.wraps(function)
    def test(*args, **kwargs):
        # What a test returns would go into its recording; pytest wants nothing.
        function(*args, **accepted(function, kwargs))

    test.sends = True
    return test


class PowerShellPreparer:
    """Gives a test the account's name and key, by the names that the decorator is made with."""

    def __init__(self, _prefix, **wanted):
        self.values = {name: KEY if name.endswith("key") else ACCOUNT for name in wanted}

    def __call__(self, function):
        values = self.values
        if inspect.iscoroutinefunction(function):

            async def test(instance):
                await function(instance, **values)

        else:

            def test(instance):
                function(instance, **values)

        # The tests' own decorators look at this before they drop arguments.
        setattr(test, "__is_preparer", True)
        return test


class AzureRecordedTestCase:
    is_live = True

    def get_resource_name(self, prefix):
        """Returns a name that is the same through one test and differs between tests and runs."""
        test = os.environ["PYTEST_CURRENT_TEST"].rsplit(" ", 1)[0]
        return prefix + hashlib.sha256(f"{RUN} {test}".encode()).hexdigest()[:10]

    def generate_sas(self, function, *args, fake_value=None, **kwargs):
        return function(*args, **kwargs)

    def sleep(self, _seconds):
        """Returns at once: what a local server has acknowledged is in force."""


class ResponseCallback:
    """Turns the status of answers before the SDK's policies see it, as a failing server would."""

    def __init__(self, status=None, new_status=None):
        self.status = status
        self.new_status = new_status
        self.count = 0
        self.pending = True

    def override_first_status(self, response):
        if self.pending and response.http_response.status_code == self.status:
            self.pending = False
            response.http_response.status_code = self.new_status

    def override_status(self, response):
        self.count += 1
        if response.http_response.status_code == self.status:
            response.http_response.status_code = self.new_status


class FakeTokenCredential:
    """A credential that no test comes to: those that have one skip where there is no directory."""


# At the end, since they need the account.
from .environment import EnvironmentVariableLoader, EnvironmentVariableOptions  # noqa: E402, F401
