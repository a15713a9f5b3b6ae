"""Runs a page of the documentation, as a newcomer would type it: run_page.py PAGE [--show].

The blocks of the page run in the order in which they stand, in a folder of the page's own, with psn on
the PATH and with the sources and the build where a clone has them.

    sh        by bash, to which the first command that fails is the end; exported variables stay
    python    one after the other in one session; as in a notebook, a last expression is shown
    text      what the block before prints, if that ran: the same words, and numbers that differ by
              no more than a fifth, or .01; a line `...` stands for any lines
    others    are files: below a line that ends in "`NAME`:" they are NAME. What the sources have under
              that name must contain them; anything else is written, for the commands that follow
    py, stan  for other packages, and
    bash      for other machines: not run
    (none)    not run either: takes root, other machines, or a name of the reader's own. test_pages.py looks
              whether its commands are there, with their options

Budgets of time are shortened, and ports are of this test alone; nothing else differs from the page.
--show prints what each block prints.
"""

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings

import pages

PROGRAM = os.environ["PSN_PROGRAM"]
NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w])")


class Fault(Exception):
    pass


def words(line):
    return re.sub(r"\s+", " ", NUMBER.sub("#", line)).strip()


def same(shown, printed):
    """Whether a line is what the page shows."""
    if words(shown) != words(printed):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed))
    return all(abs(float(a) - float(b)) <= max(0.01, 0.2 * max(abs(float(a)), abs(float(b))))
               for a, b in pairs)


def compare(shown, printed):
    """Parts between lines `...` must come in this order, the first at once."""
    lines, at = [line for line in printed.splitlines() if line.strip()], 0
    parts, anywhere = re.split(r"^\s*\.\.\.\n", shown, flags=re.M), False
    for part in parts:
        wanted = [line for line in part.splitlines() if line.strip()]
        places = range(at, len(lines) - len(wanted) + 1) if anywhere else [at]
        for place in places:
            if all(map(same, wanted, lines[place:place + len(wanted)])) and \
                    place + len(wanted) <= len(lines):
                at = place + len(wanted)
                break
        else:
            raise Fault("the page shows\n%s\nbut what was printed is\n%s" % (part, printed))
        anywhere = True
    if parts[-1].strip() and at < len(lines):
        raise Fault("the page does not show\n%s" % "\n".join(lines[at:]))


class Session:
    """Python, as a notebook has it."""

    def __init__(self):
        self.names = {"__name__": "page"}

    def run(self, text, place):
        tree, out = ast.parse(text), io.StringIO()
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(tree, place, "exec"), self.names)
            if last:
                value = eval(compile(ast.Expression(last.value), place, "eval"), self.names)
                if value is not None:
                    print(repr(value))
        return out.getvalue()


class Page:
    def __init__(self, name):
        self.name, self.session, self.printed = name, Session(), []
        port = str(20_000 + os.getpid() % 10_000)
        text = pages.read(name).replace("5555", port)
        text = re.sub(r'budget="\w+"', 'budget="3s"', text)
        text = re.sub(r"--budget \w+", "--budget 3s", text)
        self.blocks = pages.blocks(text)

    def run(self):
        before = None  # what the block before printed, if it ran
        for block in self.blocks:
            place = "%s:%d" % (self.name, block.line)
            try:
                before = self.run_block(block, place, before)
            except Fault as fault:
                sys.exit("%s: %s" % (place, fault))

    def run_block(self, block, place, before):
        if block.language == "text":
            if before is not None:
                compare(block.text, before)
            return before
        printed = None
        if block.file:
            self.file(block)
        elif block.language == "sh":
            printed = self.shell(block.text)
        elif block.language == "python":
            printed = self.session.run(block.text, place)
        elif block.language not in ("", "py", "stan", "bash"):
            raise Fault("nothing runs a block of '%s' without a file name above it" % block.language)
        self.printed.append(printed or "")
        if self.shows and printed:
            print("---- %s\n%s" % (place, printed), flush=True)
        return printed

    @staticmethod
    def file(block):
        original = os.path.join(pages.SOURCE, block.file)
        if not os.path.exists(original):
            with open(block.file, "w") as file:
                file.write(block.text)
        elif block.text not in open(original).read():
            raise Fault("%s has something else" % block.file)

    @staticmethod
    def shell(text):
        whole = ". ./.exported 2>/dev/null || true\ntrap 'export -p >.exported' EXIT\n" + text
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", whole], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise Fault("exit code %d\n%s%s%s" % (done.returncode, text, done.stdout, done.stderr))
        return done.stdout


def means(page, pattern):
    return [float(mean) for mean in re.findall(pattern, "".join(page.printed))]


def gaussian_posteriors(page):
    found = means(page, r"mu +([0-9.]+)")
    assert len(found) == 5 and all(abs(mean - 7.25) < 0.25 for mean in found), found


def rate_of_the_shop(page):
    assert abs(page.session.names["post"].mean("rate") - 14 / 9) < 0.05


def one_mean_everywhere(page):
    """Mean and sd by every road of an export: those of psn summary; resampling adds at most 4.9
    standard errors of 4000 draws, a false alarm in a million."""
    known = page.shell("psn summary post --json")
    mu = ast.literal_eval(known.replace("null", "None").replace("true", "True").replace(
        "false", "False"))["results"][0]["variables"]["mu"]
    roads = re.findall(r"^(weighted|resampled|npz|csv) (\S+) (\S+)$", "".join(page.printed), re.M)
    assert len(roads) == 4, page.printed
    for road, mean, sd in roads:
        margin = 4.9 / 4000**0.5 if road == "resampled" else 1e-9
        assert abs(float(mean) - mu["mean"]) < margin and abs(float(sd) - mu["sd"]) < margin, road


# What pages promise beyond what they show.
PROMISES = {"README.md": rate_of_the_shop, "docs/howto/use-python.md": rate_of_the_shop,
            "docs/howto/attach-a-simulator.md": gaussian_posteriors,
            "docs/howto/export-a-posterior.md": one_mean_everywhere}


def main(name, *options):
    page = Page(name)
    page.shows = "--show" in options
    build = os.path.dirname(os.path.dirname(PROGRAM))
    first = [os.path.dirname(PROGRAM), os.path.dirname(sys.executable)]  # its python3 for simulators, too
    os.environ["PATH"] = ":".join([*first, os.environ["PATH"]])
    sys.path.insert(0, "")  # modules that the page writes
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for part in ("examples", "psn", "python", "experiments"):
            os.symlink(os.path.join(pages.SOURCE, part), part)
        os.symlink(build, "build")
        page.run()
        if name in PROMISES:
            PROMISES[name](page)


if __name__ == "__main__":
    main(*sys.argv[1:])
