"""How far the work is: a bar in a terminal or a notebook, a line now and then in a log."""

import html
import sys
import time

WIDTH = 24


class Bar:
    """Called with a label, the traces so far and in all (0: not known), and the rest in words; with
    None as the label when the work is over."""

    def __init__(self, write, pause, patience):
        self.write, self.pause = write, pause
        self.next = time.monotonic() + patience

    def __call__(self, label, traces, total, text):
        if label is None:
            self.write(None, 0, "")
        elif time.monotonic() >= self.next:
            self.next = time.monotonic() + self.pause
            self.write(label, traces / total if total else 0, text)


def _terminal():
    shown = False

    def write(label, share, text):
        nonlocal shown
        if label is None:
            if shown:
                sys.stderr.write("\r\033[K")
                sys.stderr.flush()
            return
        shown = True
        done = int(WIDTH * min(share, 1))
        sys.stderr.write("\r\033[K%s [%s%s] %s" % (label, "#" * done, "-" * (WIDTH - done), text))
        sys.stderr.flush()

    return Bar(write, 0.3, 0.5)


def _log():
    def write(label, share, text):
        if label is not None:
            print("%s: %s" % (label, text), file=sys.stderr)

    return Bar(write, 30, 30)


def _notebook():
    from IPython.display import HTML, display

    handle = None

    def write(label, share, text):
        nonlocal handle
        if label is None:
            if handle:
                handle.update(HTML(""))
            return
        bar = HTML("<progress value='%.3f' max='1'></progress> %s: %s"
                   % (share, html.escape(label), html.escape(text)))
        if handle:
            handle.update(bar)
        else:
            handle = display(bar, display_id=True)

    return Bar(write, 0.5, 0.5)


def shower(quiet):
    """Who is told of progress; None: nobody."""
    if quiet:
        return None
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and type(shell).__name__ == "ZMQInteractiveShell":
        return _notebook()
    return _terminal() if sys.stderr.isatty() else _log()
