"""python3 -m psn.attach SCRIPT: a script that knows nothing of psn, as a simulator for psn.

    psn infer 'exec:python3 -m psn.attach --at {endpoint} --settings sim.toml script.py' --observe signal=8

Its draws by numpy.random, random and scipy.stats are choices, called by their place in the script; what it prints is
observed by the patterns of a TOML file as that of `psn infer --attach` (docs/howto/attach-python.md). Without --at:
runs it a few times and prints what was found, to begin such a file.
"""

import argparse
import io
import os
import re
import runpy
import sys
import threading
import tomllib
import types

from psn import _answered, _patches

# What numbers a run leaves are measured by: names of parameters, in order.
_PARAMETERS = {"Normal": ("mean", "stddev"), "Poisson": ("rate",), "Exponential": ("rate",), "Gamma": ("concentration", "rate"),
               "LogNormal": ("loc", "scale"), "Uniform": ("low", "high"), "Bernoulli": ("probs",),
               "Binomial": ("total_count", "probs"), "Beta": ("concentration1", "concentration0"),
               "Weibull": ("scale", "concentration")}


class Output:
    """[observe.NAME] or [tag.NAME]."""

    def __init__(self, name, given, observed):
        self.name, self.observed = name, observed
        given = dict(given)
        if given.pop("from", "stdout") != "stdout":
            raise SystemExit("psn.attach: [%s]: only stdout is looked at" % name)
        self.pattern = re.compile(given.pop("pattern"))
        self.list, self.optional = given.pop("list", False), given.pop("optional", False)
        self.scale, self.offset = given.pop("scale", 1), given.pop("offset", 0)
        self.law = given.pop("law", None)
        self.given = given
        names = _PARAMETERS.get(self.law, ())
        if self.law and (not names or len(set(names) - set(given)) != 1 or set(given) - set(names)):
            raise SystemExit("psn.attach: [%s]: of the parameters of %s all but one are to be given" % (name, self.law))

    def numbers(self, printed):
        found = [m for m in map(self.pattern.search, printed.splitlines()) if m]
        numbers = [self.offset + self.scale * float(m[1] if m.re.groups else m[0]) for m in found]
        if not numbers and not (self.list or self.optional):
            raise ValueError("nothing that it printed is '%s'" % self.name)
        return numbers if self.list else numbers[-1:]

    def tell(self, ppx, printed):
        for i, number in enumerate(self.numbers(printed)):
            name = "%s_%d" % (self.name, i) if self.list else self.name
            if not self.observed:
                ppx.tag(number, name=name)
            elif self.law is None:
                ppx.observe_value(number, name=name)
            else:
                parameters = [self.given.get(p, number) for p in _PARAMETERS[self.law]]
                ppx.observe(getattr(ppx, self.law)(*parameters), name=name)


class Settings:
    def __init__(self, text):
        table = tomllib.loads(text)
        self.depth = table.get("program", {}).get("depth", 4)
        self.rules = {}
        for name, site in table.get("site", {}).items():
            for at in [site["at"]] if isinstance(site["at"], str) else site["at"]:
                self.rules[at] = {"name": name, "list": site.get("list", False), "control": site.get("control", True)}
        self.outputs = [Output(name, given, kind == "observe") for kind in ("observe", "tag")
                        for name, given in table.get(kind, {}).items()]


class _Stdout(io.TextIOBase):
    """Of each run under way its own: runs take turns within a thread, each with a thread state."""

    def __init__(self, real):
        self.real, self.local = real, threading.local()

    def write(self, text):
        return getattr(self.local, "printed", self.real).write(text)

    def flush(self):
        self.real.flush()


def run_script(path, arguments):
    """What it prints."""
    if not isinstance(sys.stdout, _Stdout):
        sys.stdout = _Stdout(sys.stdout)
    out = sys.stdout
    out.local.printed = io.StringIO()
    sys.argv = [path, *arguments]
    try:
        runpy.run_path(path, run_name="__main__")
        return out.local.printed.getvalue()
    except SystemExit as end:
        if end.code not in (None, 0):
            raise RuntimeError("exit code %s" % end.code) from None
        return out.local.printed.getvalue()
    finally:
        del out.local.printed


def program(settings, path, arguments):
    from psn import ppx

    def ask(distribution, name, address, index, control):
        if index is not None:
            name = "%s_%d" % (name, index)
        return ppx.sample(distribution, name=name, address=address, control=control)

    def once():
        _patches.install()
        with _answered.Run(ask, ppx, settings.rules, settings.depth):
            printed = run_script(path, arguments)
        for output in settings.outputs:
            output.tell(ppx, printed)

    return once


def learn(settings, path, arguments, runs, out):
    import psn

    printed = []

    def script():
        printed.append(run_script(path, arguments))

    sites = psn.attach(script, depth=settings.depth, name=os.path.basename(path)).sites(runs)
    made = len(printed)
    out.write("# %s: %d runs, %d sites\n\n[program]\ndepth = %d\n" % (
        os.path.basename(path), made, len(sites), settings.depth))
    for number, (address, family, count) in enumerate(sites, 1):
        out.write("\n# %s, %.3g a run\n[site.site%d]\nat = '%s'\n%s" % (
            family, count / made, number, address, "list = true\n" if count > made else ""))
    out.write("\n# What a run printed begins with:\n")
    out.writelines("#   %s\n" % line[:120] for line in printed[0].splitlines()[:10])


def main(words=None):
    parser = argparse.ArgumentParser(prog="python3 -m psn.attach", description=__doc__.splitlines()[0])
    parser.add_argument("--at", help="where to serve: {endpoint} of exec:")
    parser.add_argument("--settings", help="TOML file: names, and what is observed")
    parser.add_argument("--runs", type=int, default=5, help="without --at: how often it is run")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    chosen = parser.parse_args(words)
    text = ""
    if chosen.settings:
        with open(chosen.settings, encoding="utf-8") as file:
            text = file.read()
    settings = Settings(text)
    sys.path.insert(0, os.path.dirname(os.path.abspath(chosen.script)))
    _patches.install()
    if chosen.at is None:
        return learn(settings, chosen.script, chosen.arguments, chosen.runs, sys.stdout)
    from psn import ppx
    return ppx.serve(program(settings, chosen.script, chosen.arguments), os.path.basename(chosen.script), chosen.at)


class _Callable(types.ModuleType):
    """So that psn.attach is the function also after `import psn.attach`."""

    def __call__(self, *args, **kwargs):
        from psn.attaching import attach
        return attach(*args, **kwargs)


if __name__ == "__main__":
    main()
else:
    sys.modules[__name__].__class__ = _Callable
