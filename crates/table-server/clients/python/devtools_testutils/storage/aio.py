"""Stands in for the asynchronous half of the helpers for accounts of storage."""

from . import StorageRecordedTestCase


class AsyncStorageRecordedTestCase(StorageRecordedTestCase):
    pass
