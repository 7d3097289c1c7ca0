"""Gives tests of storage their account, by the names that the decorator is made with."""

import inspect

from . import ACCOUNT, KEY, accepted


class EnvironmentVariableOptions:
    def __init__(self, **_):
        pass


class EnvironmentVariableLoader:
    def __init__(self, _prefix, options=None, **wanted):
        self.wanted = wanted

    def values(self):
        from .storage import Secret

        return {name: Secret(KEY) if name.endswith("key") else ACCOUNT for name in self.wanted}

    def __call__(self, function):
        values = self.values()
        parameters = inspect.signature(function).parameters.values()
        asked = [p for p in parameters if p.kind is not inspect.Parameter.VAR_KEYWORD and p.name not in values]
        if inspect.iscoroutinefunction(function):

            async def test(instance, **given):
                instance._sends = getattr(function, "sends", False)
                await function(instance, **accepted(function, values), **given)

        else:

            def test(instance, **given):
                instance._sends = getattr(function, "sends", False)
                function(instance, **accepted(function, values), **given)

        # Pytest finds tests, their marks and what they ask for by these.
        test.__name__, test.__doc__ = function.__name__, function.__doc__
        test.pytestmark = getattr(function, "pytestmark", [])
        test.__signature__ = inspect.Signature(asked)
        return test
