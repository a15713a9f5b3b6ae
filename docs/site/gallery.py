"""The gallery as pages of the site: gallery.py FOLDER. Cells of Markdown and lines that begin a cell are text,
the rest is code; the figure that a script ends in is kept in docs/pictures/gallery, where
`tests/python/gallery.py NAME docs/pictures/gallery` leaves it."""

import os
import re
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GALLERY = os.path.join(SOURCE, "examples", "gallery")


def page(name):
    with open(os.path.join(GALLERY, name + ".py")) as script:
        cells = re.split(r"^# %%", script.read(), flags=re.M)[1:]
    parts = ["# " + name.replace("_", " ").capitalize()]
    for cell in cells:
        heading, _, code = cell.partition("\n")
        if heading.strip() == "[markdown]":
            parts.append(re.sub(r"^# ?", "", code, flags=re.M).strip())
            continue
        # Of several lines that begin a cell, the first stands behind its mark.
        lines = code.splitlines()
        while heading.strip() and lines and lines[0].startswith("# "):
            heading += lines.pop(0)[1:]
        parts += [heading.strip()] * bool(heading.strip())
        parts += ["```python\n%s\n```" % "\n".join(lines).strip()] * bool("".join(lines).strip())
    parts.append("![what it ends in](../pictures/gallery/%s.svg)" % name)
    return "\n\n".join(parts) + "\n"


def main(folder):
    os.makedirs(folder)
    with open(os.path.join(GALLERY, "README.md")) as readme:
        text = readme.read()
    names = re.findall(r"\]\((\w+)\.py\)", text)
    if sorted(names) != sorted(file[:-3] for file in os.listdir(GALLERY) if file.endswith(".py")):
        sys.exit("docs/site/gallery.py: examples/gallery/README.md has others than there are")
    for name in names:
        with open(os.path.join(folder, name + ".md"), "w") as file:
            file.write(page(name))
    text = re.sub(r"\[(\w+)\.py\]\(\w+\.py\)", r"[\1](\1.md)", text)
    with open(os.path.join(folder, "index.md"), "w") as file:
        file.write(text + "\n```{toctree}\n:hidden:\n%s\n```\n" % "\n".join(names))


if __name__ == "__main__":
    main(*sys.argv[1:])
