"""psn for Python. psn.ppx makes a Python program a simulator for psn and other engines."""
