"""Readable names of C++ functions: ``_ZN2ns5Class6methodEi`` is ``ns::Class::method``.

Arguments and template arguments are left out, as uftrace does by default. What this does not understand stays
mangled. Source: the Itanium C++ ABI, section 5.1 (Mangling).
"""

from __future__ import annotations

_MAX_LENGTH = 4096
_BUILTIN = frozenset("vwbcahstijlmxynofdegz")
_STANDARD = {
    "t": "std",
    "a": "std::allocator",
    "b": "std::basic_string",
    "s": "std::string",
    "i": "std::istream",
    "o": "std::ostream",
    "d": "std::iostream",
}
_OPERATORS = {
    **{"nw": " new", "na": " new[]", "dl": " delete", "da": " delete[]", "aw": " co_await"},
    **{"ps": "+", "ng": "-", "ad": "&", "de": "*", "co": "~", "pl": "+", "mi": "-", "ml": "*", "dv": "/"},
    **{"rm": "%", "an": "&", "or": "|", "eo": "^", "aS": "=", "pL": "+=", "mI": "-=", "mL": "*=", "dV": "/="},
    **{"rM": "%=", "aN": "&=", "oR": "|=", "eO": "^=", "ls": "<<", "rs": ">>", "lS": "<<=", "rS": ">>="},
    **{"eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=", "ss": "<=>", "nt": "!"},
    **{"aa": "&&", "oo": "||", "pp": "++", "mm": "--", "cm": ",", "pm": "->*", "pt": "->", "cl": "()"},
    **{"ix": "[]", "qu": "?"},
}


def demangle(name: str) -> str:
    """Return the qualified name that ``name`` is the mangled form of; ``name`` itself if it is none."""
    if not name.startswith("_Z") or len(name) > _MAX_LENGTH:
        return name
    try:
        return _Parser(name).name() or name
    except (IndexError, ValueError, RecursionError):
        return name


class _Parser:
    """Walks along a mangled name; raises IndexError or ValueError where it does not follow."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 2

    def _next(self) -> str:
        return self._text[self._at]

    def _take(self, *expected: str) -> bool:
        for word in expected:
            if self._text.startswith(word, self._at):
                self._at += len(word)
                return True
        return False

    def _need(self, word: str) -> None:
        if not self._take(word):
            raise ValueError(word)

    def name(self) -> str:
        """Parse a name with its scopes."""
        if self._take("N"):
            return self._nested()
        if self._take("Z"):
            outer = self.name()
            while not self._take("E"):
                self._type()
            if self._take("s"):
                return outer
            return f"{outer}::{self.name()}"
        scope = ""
        if self._take("St"):
            scope = "std::"
        found = scope + self._part("")
        if self._next_is("I"):
            self._arguments()
        return found

    def _next_is(self, letter: str) -> bool:
        return self._text.startswith(letter, self._at)

    def _nested(self) -> str:
        while self._take("r", "V", "K"):
            pass
        self._take("R", "O")
        parts: list[str] = []
        while not self._take("E"):
            if self._next_is("I"):
                self._arguments()
            elif self._take("S"):
                parts.append(self._substitution())
            elif self._next() == "T":
                self._type()
            else:
                parts.append(self._part(parts[-1] if parts else ""))
        return "::".join(part for part in parts if part)

    def _substitution(self) -> str:
        letter = self._next()
        if letter in _STANDARD:
            self._at += 1
            return _STANDARD[letter]
        while self._next().isdigit() or self._next().isupper():
            self._at += 1
        self._need("_")
        return ""

    def _number(self) -> int:
        begin = self._at
        while self._next_digit():
            self._at += 1
        return int(self._text[begin : self._at])

    def _next_digit(self) -> bool:
        return self._at < len(self._text) and "0" <= self._text[self._at] <= "9"

    def _source(self) -> str:
        length = self._number()
        found = self._text[self._at : self._at + length]
        if len(found) < length or not length:
            raise ValueError(length)
        self._at += length
        return "(anonymous namespace)" if found.startswith("_GLOBAL__N") else found

    def _part(self, scope: str) -> str:
        """Parse an unqualified name; ``scope`` is what a constructor is called by."""
        self._take("L")
        if self._next_digit():
            found = self._source()
        elif self._take("C1", "C2", "C3", "C4", "C5"):
            found = scope.rpartition("::")[2]
        elif self._take("CI1", "CI2"):
            self._type()
            found = scope.rpartition("::")[2]
        elif self._take("D0", "D1", "D2", "D4", "D5"):
            found = "~" + scope.rpartition("::")[2]
        elif self._take("Ul"):
            while not self._take("E"):
                self._type()
            found = "{lambda}"
            self._discriminator()
        elif self._take("Ut"):
            found = "{unnamed}"
            self._discriminator()
        elif self._take("cv"):
            self._type()
            found = "operator(cast)"
        elif self._take("li"):
            found = f'operator""{self._source()}'
        else:
            found = "operator" + _OPERATORS.get(self._text[self._at : self._at + 2], "")
            self._at += 2
            if found == "operator":
                raise ValueError(found)
        while self._take("B"):
            self._source()
        return found

    def _discriminator(self) -> None:
        while self._next_digit():
            self._at += 1
        self._need("_")

    def _arguments(self) -> None:
        """Pass over template arguments."""
        self._need("I")
        while not self._take("E"):
            self._argument()

    def _argument(self) -> None:
        if self._take("J"):
            while not self._take("E"):
                self._argument()
        elif self._take("L"):
            if self._take("_Z"):
                self.name()
                while not self._take("E"):
                    self._type()
                return
            self._type()
            self._at = self._text.index("E", self._at) + 1
        else:
            self._type()

    def _type(self) -> None:
        """Pass over a type."""
        while self._take("P", "R", "O", "K", "V", "r", "C", "G", "Dp", "Do"):
            pass
        letter = self._next()
        if letter in _BUILTIN:
            self._at += 1
        elif letter == "D" and self._text[self._at + 1] in "nisuacdefh":
            self._at += 2
        elif self._take("F"):
            self._take("Y")
            while not self._take("E", "RE", "OE"):
                self._type()
        elif self._take("A"):
            self._discriminator()
            self._type()
        elif self._take("M"):
            self._type()
            self._type()
        elif self._take("T"):
            self._discriminator()
            if self._next_is("I"):
                self._arguments()
        elif letter == "S" and not self._next_is("St"):
            self._at += 1
            self._substitution()
            if self._next_is("I"):
                self._arguments()
        elif letter in "NZS" or letter.isdigit():
            self.name()
        else:
            raise ValueError(letter)
