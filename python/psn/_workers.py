"""Python models in processes of their own: copies of this one, which serve them over PPX."""

import contextlib
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time

from psn import _core


def _serve(name, function, endpoint, parent):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop

    def watched(label, *_):
        if os.getppid() != parent:
            os._exit(0)

    job = _core.ServiceJob()
    job.model, job.endpoint = name, endpoint
    _core.serve(job, _core.Host({name: function}, watched),
                lambda line: print("psn: " + line, file=sys.stderr))


@contextlib.contextmanager
def serving(name, function, workers):
    """The model as it is called while so many processes serve it."""
    folder = tempfile.mkdtemp(prefix="psn-workers-")
    fork = multiprocessing.get_context("fork")
    paths = ["%s/%d" % (folder, i) for i in range(workers)]
    processes = [fork.Process(target=_serve, args=(name, function, "ipc://" + path, os.getpid()),
                              daemon=True) for path in paths]
    try:
        for process in processes:
            process.start()
        # An engine that comes too early tries again, but not at once.
        while not all(map(os.path.exists, paths)) and all(p.is_alive() for p in processes):
            time.sleep(0.001)
        yield "ppx+ipc://" + ",".join(paths)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.join()
        shutil.rmtree(folder, ignore_errors=True)
