"""The declarations moved to :mod:`tracevis3d.parameters`, where filters find them too."""

from ..parameters import Parameter, Value, declared, parameter, read

__all__ = ["Parameter", "Value", "declared", "parameter", "read"]
