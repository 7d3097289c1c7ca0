"""A credential that no test comes to: those that have one skip where there is no directory."""


class AsyncFakeCredential:
    pass
