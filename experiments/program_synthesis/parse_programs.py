"""Lets Python itself read the programs that the checkers call valid.

usage: parse_programs.py FILE.jsonl...      (written by psn experiment program-synthesis)
"""
import ast
import json
import sys

parsed = 0
for path in sys.argv[1:]:
    with open(path) as lines:
        for number, line in enumerate(lines, 1):
            record = json.loads(line)
            if record["fault"] != "none" and not record["valid_text"]:
                continue
            try:
                ast.parse(record["program"])
            except SyntaxError as error:
                sys.exit(f"{path}, line {number}: called valid, but {error}\n{record['program']}")
            parsed += 1
print(parsed)
