"""What the tests of the documentation see of a page: its blocks, headings, links and commands."""

import os
import re
from dataclasses import dataclass

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@dataclass
class Block:
    language: str  # "" if none is said
    text: str
    line: int  # of its first line
    file: str  # that the line above it names: "`FILE`:"


def read(page):
    with open(os.path.join(SOURCE, page)) as file:
        return file.read()


def all_pages():
    """Every Markdown file of the sources."""
    for folder, inner, files in os.walk(SOURCE):
        inner[:] = sorted(name for name in inner if not name.startswith((".", "build", "results"))
                          and name != "node_modules")
        for name in sorted(files):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), SOURCE)


def blocks(text):
    found, above, lines = [], "", text.splitlines()
    at = 0
    while at < len(lines):
        fence = re.match(r"( *)```([^`]*)$", lines[at])
        if not fence:
            above = lines[at].strip() or above
            at += 1
            continue
        end = at + 1
        while lines[end].strip() != "```":
            end += 1
        indent = len(fence[1])
        inside = "".join(line[indent:] + "\n" for line in lines[at + 1:end])
        named = re.search(r"`([^` ]+\.[a-z0-9]+)`(?: \(.*\))?:$", above)
        found.append(Block(fence[2].strip(), inside, at + 2, named[1] if named else ""))
        above, at = "", end + 1
    return found


def prose(text):
    """Without the blocks; their lines are left empty."""
    return re.sub(r"^( *)```[^`]*?^\1```$", lambda block: "\n" * block[0].count("\n"), text,
                  flags=re.M | re.S)


def anchors(text):
    """Of headings, as GitHub and MyST make them."""
    seen, found = {}, set()
    for heading in re.findall(r"^#+ +(.*?) *#*$", prose(text), re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")
        count = seen[anchor] = seen.get(anchor, -1) + 1
        found.add(anchor if count == 0 else "%s-%d" % (anchor, count))
    return found


def links(text):
    """Targets, of pictures too, each with its line."""
    plain = re.sub(r"`[^`\n]*`", lambda code: "x" * len(code[0]), prose(text))
    for link in re.finditer(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", plain):
        yield link[1], plain.count("\n", 0, link.start()) + 1


def commands(code):
    """What psn is asked for in shell code, as lists of words."""
    code = re.sub(r"\\\n\s*", " ", code)
    for line in code.splitlines():
        line = re.sub(r"(^|\s)#.*", "", line)
        for command in re.findall(r"(?:^|[\s(&|;])(?:build/bin/)?psn ((?:'[^']*'|\"[^\"]*\"|[^|&;)])*)", line):
            words = re.findall(r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+", command)
            if words and re.fullmatch(r"[a-z]+", words[0]):
                yield words
