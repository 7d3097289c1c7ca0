"""Stands in for the asynchronous half of the tests' helpers."""

import functools

from . import accepted


def recorded_by_proxy_async(function):
    @functools.wraps(function)
    async def test(*args, **kwargs):
        await function(*args, **accepted(function, kwargs))

    test.sends = True
    return test
