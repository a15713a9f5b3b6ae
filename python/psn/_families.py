"""The families, as the compiled part lists them."""

from psn import _core

__all__ = list(_core.families)
globals().update({name: getattr(_core, name) for name in __all__})
