"""The reference of the Python package as Markdown, made from its signatures and docstrings:
python_reference.py > python.md, with the package on PYTHONPATH. Fails if a public name has no place."""

import ast
import inspect
import os
import re
import sys
import textwrap

import psn
from psn.columns import Columns

SECTIONS = {
    "Models": ["model", "Model", "attach", "models", "serve", "make_keys"],
    "Inside a model": ["sample", "observe", "observe_value", "tag", "factor", "until",
                       "scope"],
    "Distributions": ["Distribution", *psn._core.families],
    "Running and inferring": ["simulate", "infer", "predict", "graph"],
    "Learning": ["train_surrogate", "train_inference", "Network", "compare"],
    "Is it right?": ["validate", "calibrate", "criticise", "bayes_factors"],
    "Runs on disk": ["generate", "import_runs", "Store"],
    "Results": ["Samples", "Posterior", "Predictions", "Plot"],
    "Results in folders": ["summary", "diagnose", "report", "export", "watch"],
    "This psn": ["build_facts", "machine"],
    "Errors and warnings": ["Error", "InvalidArgument", "ModelError", "ProtocolError", "DataError",
                            "Abandoned", "PsnWarning"],
}


def stubs():
    """Signatures of the compiled part, by name: what Python cannot tell itself."""
    path = os.path.join(os.path.dirname(psn.__file__), "_core.pyi")
    tree, found = ast.parse(open(path).read()), {}
    for item in tree.body:
        if isinstance(item, ast.FunctionDef):
            found[item.name] = "(%s)" % ast.unparse(item.args)
        elif isinstance(item, ast.ClassDef):
            for method in item.body:
                if isinstance(method, ast.FunctionDef):
                    arguments = re.sub(r"^self(, )?", "", ast.unparse(method.args))
                    found["%s.%s" % (item.name, method.name)] = "(%s)" % arguments
    return found


STUBS = stubs()


def signature(name, thing):
    compiled = STUBS.get(name + ".__init__" if inspect.isclass(thing) else name)
    if compiled:
        return compiled
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):  # the first line of a docstring of pybind11's
        found = re.match(r"\w*(\(.*?\))?", thing.__doc__ or "")[1]
        return found.replace("psn._core.", "") if found else "(...)"
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", re.sub(r"\(self(, )?", "(", text))


def cell(text):
    return re.sub(r"([|<*_])", r"\\\1", text)


def description(docstring):
    """Paragraphs as they are; `name    what it is` in lines that are indented, as tables; other
    indented lines as code."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    result, at = [], 0
    while at < len(lines):
        if not lines[at].startswith(" "):
            indented = re.match(r"[\w, ]+?\s{2,}\S", lines[at])  # a table at the margin
            end = at
            while end < len(lines) and lines[end] and (indented or not lines[end].startswith(" ")):
                end += 1
            result.append(table(lines[at:end]) if indented else cell("\n".join(lines[at:end])))
            at = max(end, at + 1)
            continue
        end = at
        while end < len(lines) and (not lines[end] or lines[end].startswith(" ")):
            end += 1
        block = inspect.cleandoc("\n".join([""] + lines[at:end])).splitlines()
        is_table = block and re.match(r"\S.*?\s{2,}\S", block[0])
        result.append(table(block) if is_table else "```text\n%s\n```" % "\n".join(block))
        at = end
    return "\n\n".join(part for part in result if part.strip())


def table(lines):
    rows = []
    for line in lines:
        row = re.match(r"(\S.*?)\s{2,}(\S.*)", line)
        if row:
            rows.append([row[1], row[2]])
        elif line.strip() and rows:
            rows[-1][1] += " " + line.strip()
    return "| | |\n|---|---|\n" + "\n".join(
        "| `%s` | %s |" % (name, cell(what)) for name, what in rows)


def entry(name, thing, level):
    if isinstance(thing, property):
        return "%s `.%s`\n\n%s" % ("#" * level, name.split(".")[1], description(thing.__doc__))
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        bases = ", ".join("`%s`" % base.__name__ for base in thing.__bases__)
        return "%s `%s`\n\nOf %s. %s" % ("#" * level, name, bases, description(thing.__doc__))
    dotted = "." + name.split(".")[1] if "." in name else name
    shown = name if "." in name or thing is Columns else "psn." + name
    text = "%s `%s`\n\n```text\n%s\n```\n\n%s" % (
        "#" * level, dotted, "\n".join(textwrap.wrap(shown + signature(name, thing), 100, subsequent_indent="    ")),
        description(docstring_of(thing)))
    if inspect.isclass(thing):
        if issubclass(thing, Columns) and thing is not Columns:
            text += " All of [Columns](#columns), too."
        for method, inner in members(thing):
            text += "\n\n" + entry("%s.%s" % (name, method), inner, level + 1)
    return text


def docstring_of(thing):
    """Without the signature that pybind11 puts first."""
    return re.sub(r"^\w+\(.*\)( -> \S+)?\n+", "", thing.__doc__ or "")


def members(thing):
    """Its own, not those of what it is made from."""
    for name, inner in vars(thing).items():
        if name.startswith("_") or not (callable(inner) or isinstance(
                inner, (property, classmethod, staticmethod))):
            continue
        yield name, inner if isinstance(inner, property) else getattr(thing, name)


def page():
    public = {name for name, thing in vars(psn).items()
              if not name.startswith("_") and not inspect.ismodule(thing)}
    listed = [name for names in SECTIONS.values() for name in names]
    if public != set(listed):
        sys.exit("docs/site/python_reference.py: no section has, or psn has not: %s"
                 % ", ".join(sorted(public ^ set(listed))))
    parts = ["# The Python package", "Made from its docstrings; `help(psn.infer)` says the same. "
             "[How to use it](../howto/use-python.md).",
             "## Arguments that every service takes", description(psn.running.__doc__)]
    for title, names in SECTIONS.items():
        parts.append("## " + title)
        if title == "Distributions":
            parts += [entry(names[0], psn.Distribution, 3), "### Families", "```text\n%s\n```" % "\n".join(
                "psn.%s%s" % (name, signature(name, getattr(psn, name))) for name in names[1:])]
        else:
            if title == "Results":
                parts.append(entry("Columns", Columns, 3))
            parts += [entry(name, getattr(psn, name), 3) for name in names]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
