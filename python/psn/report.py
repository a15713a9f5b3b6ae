"""Results as a page."""

import os

from psn import _core


def report(inputs, path):
    """One HTML page, to be opened from disk, of what was left in folders of --out and --log, and of
    networks. Returns the path."""
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    _core.write_report([os.fspath(one) for one in inputs], os.fspath(path))
    return path
