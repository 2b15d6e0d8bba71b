"""The error for what a user should bring or say otherwise."""


class TableError(ValueError):
    """A table, a model file or a wish that cannot be used; the message says what to do.

    Examples
    --------
    >>> from leavezero.tabular import TableError
    >>> issubclass(TableError, ValueError)
    True
    """
