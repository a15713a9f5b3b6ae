"""Links lead somewhere, commands and options that are spoken of exist, and blocks say what they are."""

import contextlib
import functools
import os
import re
import subprocess
import tempfile
import unittest

import pages
import run_page

LANGUAGES = {"", "sh", "python", "text", "cpp", "c", "fortran", "cmake", "toml", "json", "csv", "bash", "py", "stan"}


@functools.cache
def help_of(*command):
    done = subprocess.run([run_page.PROGRAM, *command, "--help"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def commands_below(*command):
    inner = re.search(r"^Subcommands:\n(.*?)^(?=\S|\Z)", help_of(*command), re.M | re.S)
    return re.findall(r"^  ([a-z]+) ", inner[1], re.M) if inner else []


def all_commands(*command):
    yield command
    for word in commands_below(*command):
        yield from all_commands(*command, word)


def faults_of(words):
    command = []
    for word in words:
        if word not in commands_below(*command):
            break
        command.append(word)
    rest = words[len(command):]
    if not command or (commands_below(*command) and rest and not rest[0].startswith("-")):
        yield "no command '%s'" % " ".join(words[:len(command) + 1])
        return
    for word in words:
        option = re.match(r"--[a-z][a-z_-]*", word)
        # An option with hyphens is shown with underscores.
        if option and not re.search(r"[ ,]%s(?![\w-])" % re.sub("[-_]", "[-_]", option[0]), help_of(*command)):
            yield "psn %s has no %s" % (" ".join(command), option[0])


class Pages(unittest.TestCase):
    maxDiff = None

    def check(self, faults):
        self.assertEqual(list(faults), [])

    def test_links(self):
        def faults():
            for page in pages.all_pages():
                for target, line in pages.links(pages.read(page)):
                    if re.match(r"[a-z]+:", target):
                        continue
                    path, _, anchor = target.partition("#")
                    where = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                    place = "%s:%d: %s" % (page, line, target)
                    if not os.path.exists(os.path.join(pages.SOURCE, where)):
                        yield place
                    elif anchor and anchor not in pages.anchors(pages.read(where)):
                        yield place + ": no such heading"
        self.check(faults())

    def test_commands(self):
        """In blocks and in the text."""
        def faults():
            for page in pages.all_pages():
                # One tells of what was, in the others `psn draws` and so on are fields of files.
                if page == "CHANGELOG.md" or page.startswith("docs/formats/"):
                    continue
                text = pages.read(page)
                code = [block.text for block in pages.blocks(text)
                        if block.language in ("", "sh", "bash")]
                code += re.findall(r"`(psn [^`]+)`", pages.prose(text))
                for one in code:
                    for words in pages.commands(one):
                        for fault in faults_of(words):
                            yield "%s: %s: psn %s" % (page, fault, " ".join(words))
        self.check(faults())

    def test_wrong_commands(self):
        """Would be found."""
        for code in ("psn infre gaussian", "psn infer gaussian --engin ic", "x | build/bin/psn data generate g --ot a",
                     "psn data make s", "mpirun -n 4 psn infer a \\\n  --sample 5"):
            self.assertEqual([len(list(faults_of(words))) for words in pages.commands(code)], [1], code)
        for code in ("psn infer g --observe 'x=a --b' # psn ifer", "psn data merge a b --out c >psn.txt"):
            self.assertEqual([list(faults_of(words)) for words in pages.commands(code)], [[]], code)

    def test_options(self):
        """In the text, of whatever command; some are of others."""
        others = {"--map-by", "--bind-to", "--no-build-isolation", "--config-settings", "--benchmark_filter",
                  "--prefix", "--install"}
        known = {name.replace("_", "-") for command in all_commands()
                 for name in re.findall(r"--[a-z][a-z_-]*", help_of(*command))}
        self.check("%s: %s" % (page, option) for page in pages.all_pages() if page != "CHANGELOG.md"
                   for option in re.findall(r"`(--[a-z][a-z_-]*)", pages.prose(pages.read(page)))
                   if option.replace("_", "-") not in known and option not in others)

    def test_languages(self):
        self.check("%s:%d: ```%s" % (page, block.line, block.language)
                   for page in pages.all_pages() for block in pages.blocks(pages.read(page))
                   if block.language not in LANGUAGES and not block.language.startswith("{"))

    def test_what_is_compared(self):
        """The comparison of what a page shows itself."""
        shown = "mean 1.50  2 of 10\n...\nend\n"
        run_page.compare(shown, "mean  1.42 2 of 9\nsomething\nend\n")
        for other in ("mean 1.1 2 of 10\nend\n", "means 1.5 2 of 10\nend\n", "mean 1.5 2 of 10\n",
                      "mean 1.5 2 of 10\nend\nmore\n", "first\nmean 1.5 2 of 10\nend\n"):
            with self.assertRaises(run_page.Fault):
                run_page.compare(shown, other)
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # where it leaves its variables
            with self.assertRaises(run_page.Fault):
                run_page.Page.shell("false; true")


if __name__ == "__main__":
    unittest.main()
