# ruff: noqa: SIM109, SIM110 (Numba takes longer to compile comparisons with tuples, and knows no all())
"""Callgrind's lines: costs by function and line, and by caller and callee, are summed up while they are read.

Files as callgrind writes them are understood; anything unusual is left to who calls.
"""

from __future__ import annotations

import numpy as np

from ...intern import intern_bytes
from ...jit import inline, kernel
from ..protobuf.track_events import find_pair
from .lines import find_byte

#: Slots of the scanner's state (int64). Texts are numbered from 1; 0 is none.
(
    AT, FILE, OBJECT, CALLED_FILE, CALLED_OBJECT, FUNCTION, CALLEE, IS_CALL, FIRST_PLACE, SECOND_PLACE, TOTAL,
    TEXTS, NAMED, FUNCTIONS, OWN, EDGES, PLACES, THREAD, LIMIT, IS_SINGLE, SINGLES, CALLEES, STATE_SIZE,
) = range(23)  # fmt: skip
#: Return values: all is read, there is no room, a header that the caller takes, and something unusual.
DONE, FULL, HEADER, UNUSUAL = 0, 1, 2, 3
#: Columns of a row that gives a number its name: what it names, the text of the number, where the name is.
NAMED_COLUMNS = 4
#: What a name is of.
OF_FUNCTION, OF_FILE, OF_OBJECT = 0, 1, 2

_LF, _TAB, _BLANK, _OPEN, _CLOSE, _STAR, _PLUS, _MINUS, _EQUALS = 10, 9, 32, 40, 41, 42, 43, 45, 61
_EIGHT_LF = np.uint64(0x0A0A0A0A0A0A0A0A)
_MOST_DIGITS = 18
_CALLS, _JUMP, _CONDITIONAL = (np.frombuffer(word, np.uint8) for word in (b"calls", b"jump", b"jcnd"))


@inline
def _past_blanks(data, at, stop):  # type: ignore[no-untyped-def]
    while at < stop and (data[at] == _BLANK or data[at] == _TAB):
        at += 1
    return at


@inline
def _digits(data, at, stop):  # type: ignore[no-untyped-def]
    """Return a whole number, decimal or with 0x, and what follows it: -1 if it is none."""
    value, i = np.int64(0), at
    if i + 2 < stop and data[i] == 48 and (data[i + 1] == 120 or data[i + 1] == 88):
        i += 2
        begun = i
        while i < stop and i - begun < 15:
            byte = data[i]
            if 48 <= byte <= 57:
                value = value * 16 + np.int64(byte - 48)
            elif 97 <= byte <= 102:
                value = value * 16 + np.int64(byte - 87)
            else:
                break
            i += 1
    else:
        begun = i
        while i < stop and 48 <= data[i] <= 57 and i - begun < _MOST_DIGITS:
            value = value * 10 + np.int64(data[i] - 48)
            i += 1
        if i - begun > 1 and data[begun] == 48:
            return value, np.int64(-1)
    if i == begun or (i < stop and data[i] != _BLANK and data[i] != _TAB):
        return value, np.int64(-1)
    return value, np.int64(i)


@inline
def _is_word(data, at, stop, a, b, c):  # type: ignore[no-untyped-def]
    """Return whether a word is that of two letters, or three if the last is not 0."""
    if data[at] != a or data[at + 1] != b:
        return False
    return stop - at == 2 if c == 0 else stop - at == 3 and data[at + 2] == c


@inline
def _is_at(data, at, stop, text):  # type: ignore[no-untyped-def]
    if stop - at != len(text):
        return False
    for i in range(len(text)):
        if data[at + i] != text[i]:
            return False
    return True


@kernel
def scan_callgrind(  # type: ignore[no-untyped-def]
    data, state, table, hashes, starts, lengths, named,
    function_slots, function_names, function_places,
    own_slots, own_functions, own_lines, costs,
    edge_slots, edge_callers, edge_callees, weights,
    single_functions, single_costs, single_first, single_callees,
):  # fmt: skip
    """Read lines until a header, something unusual, or the end.

    Parameters
    ----------
    data : uint8 (bytes,)
        Without carriage returns.
    state : int64 (STATE_SIZE,)
    table, hashes, starts, lengths
        The texts, as :func:`...intern.intern_bytes` takes them: of a name with a number the number in its
        brackets.
    named : int64 (names, NAMED_COLUMNS)
        Filled.
    function_slots, own_slots, edge_slots : int32 (slots,)
        Tables of pairs, as :func:`..protobuf.track_events.find_pair` takes them.
    function_names, function_places : uint64 (functions,)
        Name and file of each function, and its object.
    own_functions, own_lines : uint64 (own,)
        Thread and function of each sum of costs, and the line.
    costs : int64 (own, events)
        Filled.
    edge_callers, edge_callees : uint64 (edges,)
        Thread and caller of each, and the callee.
    weights : int64 (edges,)
        Filled.
    single_functions, single_costs, single_first : int64 (calls,)
        If the state says so (IS_SINGLE), filled with each function that is named, what it costs itself by
        the first event (-1: not said), and where its callees begin.
    single_callees : int64 (callees,)
        Filled then.
    """
    end = np.int64(len(data))
    events = costs.shape[1]
    at = state[AT]
    result = DONE
    while at < end:
        if (
            state[TEXTS] + 1 >= len(starts)
            or state[NAMED] >= len(named)
            or state[FUNCTIONS] >= len(function_names)
            or state[OWN] >= len(own_functions)
            or state[EDGES] >= len(edge_callers)
            or state[SINGLES] >= len(single_functions)
            or state[CALLEES] >= len(single_callees)
        ):
            result = FULL
            break
        stop = find_byte(data, at, end, _EIGHT_LF)
        if stop == at:
            at += 1
            continue
        byte = data[at]
        if 48 <= byte <= 57 or byte == _PLUS or byte == _MINUS or byte == _STAR:
            # Where it is.
            i = at
            first, second = state[FIRST_PLACE], state[SECOND_PLACE]
            is_good = True
            for place in range(state[PLACES]):
                before = first if place == 0 else second
                if i < stop and data[i] == _STAR:
                    i += 1
                    is_good = is_good and (i >= stop or data[i] == _BLANK or data[i] == _TAB)
                elif i < stop:
                    sign = np.int64(0)
                    if data[i] == _PLUS:
                        sign, i = np.int64(1), i + 1
                    elif data[i] == _MINUS:
                        sign, i = np.int64(-1), i + 1
                    value, after = _digits(data, i, stop)
                    is_good = is_good and after >= 0
                    i = after if after >= 0 else stop
                    before = value if sign == 0 else before + sign * value
                if place == 0:
                    first = before
                else:
                    second = before
                i = _past_blanks(data, i, stop)
            if not is_good or abs(first) >= state[LIMIT] or abs(second) >= state[LIMIT]:
                result = UNUSUAL
                break
            # What it costs.
            begun = i
            count, most, cost = np.int64(0), np.int64(0), np.int64(0)
            while i < stop:
                # Memory may be freed.
                is_less = data[i] == _MINUS
                i += np.int64(is_less)
                value, after = _digits(data, i, stop)
                # A cost in another base is none.
                if after < 0 or (data[i] == 48 and after - i > 1):
                    is_good = False
                    break
                if count == 0:
                    cost = -value if is_less else value
                most = max(most, value)
                count += 1
                i = _past_blanks(data, after, stop)
            is_call = state[IS_CALL] != 0
            if not is_good or most > state[LIMIT] - (np.int64(0) if is_call else state[TOTAL]):
                result = UNUSUAL
                break
            state[FIRST_PLACE], state[SECOND_PLACE] = first, second
            state[IS_CALL] = 0
            at = stop + 1
            if state[FUNCTION] < 0 or count == 0:
                continue
            thread = np.uint64(state[THREAD]) << np.uint64(32)
            who = thread | np.uint64(state[FUNCTION])
            if is_call:
                row = find_pair(who, np.uint64(state[CALLEE]), edge_slots, edge_callers, edge_callees)
                if row < 0:
                    edge_slots[np.int64(-1) - row] = state[EDGES]
                    row = state[EDGES]
                    edge_callers[row], edge_callees[row], weights[row] = who, np.uint64(state[CALLEE]), 0
                    state[EDGES] += 1
                weights[row] += cost
                if state[IS_SINGLE] != 0 and state[SINGLES] > 0:
                    single_callees[state[CALLEES]] = state[CALLEE]
                    state[CALLEES] += 1
                continue
            state[TOTAL] += most
            line = np.uint64(first if state[PLACES] == 1 else second)
            row = find_pair(who, line, own_slots, own_functions, own_lines)
            if row < 0:
                own_slots[np.int64(-1) - row] = state[OWN]
                row = state[OWN]
                own_functions[row], own_lines[row] = who, line
                for column in range(events):
                    costs[row, column] = 0
                state[OWN] += 1
            if state[IS_SINGLE] != 0 and state[SINGLES] > 0 and single_costs[state[SINGLES] - 1] < 0:
                single_costs[state[SINGLES] - 1] = cost
            i = begun
            column = 0
            while i < stop:
                is_less = data[i] == _MINUS
                value, after = _digits(data, i + np.int64(is_less), stop)
                if column < events:
                    costs[row, column] += -value if is_less else value
                column += 1
                i = _past_blanks(data, after, stop)
            continue
        # A word and a sign.
        sign_at = at
        while sign_at < stop and (97 <= data[sign_at] <= 122):
            sign_at += 1
        if sign_at >= stop or data[sign_at] != _EQUALS or sign_at - at < 2:
            result = HEADER
            break
        word_end = sign_at
        low = sign_at + 1
        while low < stop and data[low] == _BLANK:
            low += 1
        high = stop
        while high > low and data[high - 1] == _BLANK:
            high -= 1
        what, called = -1, False
        if _is_word(data, at, word_end, 102, 110, 0):  # fn
            what = OF_FUNCTION
        elif _is_word(data, at, word_end, 99, 102, 110):  # cfn
            what, called = OF_FUNCTION, True
        elif _is_word(data, at, word_end, 102, 108, 0):  # fl
            what = OF_FILE
        elif _is_word(data, at, word_end, 99, 102, 105) or _is_word(data, at, word_end, 99, 102, 108):
            what, called = OF_FILE, True
        elif _is_word(data, at, word_end, 111, 98, 0):  # ob
            what = OF_OBJECT
        elif _is_word(data, at, word_end, 99, 111, 98):  # cob
            what, called = OF_OBJECT, True
        # Parts of a file, and where jumps lead, say nothing but names: fi, fe, jfi, jfl, jfn.
        is_jump = _is_word(data, at, word_end, 106, 102, 110)
        is_within = _is_word(data, at, word_end, 102, 105, 0) or _is_word(data, at, word_end, 102, 101, 0)
        is_within = is_within or _is_word(data, at, word_end, 106, 102, 105) or is_jump
        is_within = is_within or _is_word(data, at, word_end, 106, 102, 108)
        if what < 0 and not is_within:
            if _is_at(data, at, word_end, _CALLS):
                state[IS_CALL] = state[CALLEE] >= 0
            elif not _is_at(data, at, word_end, _JUMP) and not _is_at(data, at, word_end, _CONDITIONAL):
                result = UNUSUAL
                break
            at = stop + 1
            continue
        # A name, a number, or a number that gets a name.
        if low < high and data[low] == _OPEN:
            close = low + 1
            while close < high and 48 <= data[close] <= 57:
                close += 1
            if close >= high or close == low + 1 or data[close] != _CLOSE:
                result = UNUSUAL
                break
            if close + 1 < high:
                if data[close + 1] != _BLANK:
                    result = UNUSUAL
                    break
                row = state[NAMED]
                named[row, 0] = (OF_FUNCTION if is_jump else OF_FILE) if what < 0 else what
                named[row, 2], named[row, 3] = close + 2, high
                state[NAMED] += 1
                high = close + 1
                text = intern_bytes(data, low, high, table, hashes, starts, lengths, state[TEXTS])
                named[row, 1] = text + 1
            else:
                text = intern_bytes(data, low, high, table, hashes, starts, lengths, state[TEXTS])
        else:
            text = intern_bytes(data, low, high, table, hashes, starts, lengths, state[TEXTS])
        state[TEXTS] += text == state[TEXTS]
        text += 1
        at = stop + 1
        if is_within:
            continue
        if what == OF_FILE:
            if not called:
                state[FILE] = text
            state[CALLED_FILE] = text
        elif what == OF_OBJECT:
            if not called:
                state[OBJECT] = text
            state[CALLED_OBJECT] = text
        else:
            of_file = state[CALLED_FILE] if called else state[FILE]
            of_object = state[CALLED_OBJECT] if called else state[OBJECT]
            pair = np.uint64(text) << np.uint64(32) | np.uint64(of_file)
            found = find_pair(pair, np.uint64(of_object), function_slots, function_names, function_places)
            if found < 0:
                function_slots[np.int64(-1) - found] = state[FUNCTIONS]
                found = state[FUNCTIONS]
                function_names[found], function_places[found] = pair, np.uint64(of_object)
                state[FUNCTIONS] += 1
            if called:
                state[CALLEE] = found
            else:
                state[FUNCTION] = found
                if state[IS_SINGLE] != 0:
                    row = state[SINGLES]
                    single_functions[row], single_costs[row], single_first[row] = found, -1, state[CALLEES]
                    state[SINGLES] += 1
            state[CALLED_FILE], state[CALLED_OBJECT] = state[FILE], state[OBJECT]
    state[AT] = at
    return result


@kernel
def lay_single(  # type: ignore[no-untyped-def]
    function, cost, first, callees, factor, caller, offset, lasts, done
):
    """Lay out calls that were written one by one as they ended: callees stand before their caller.

    Parameters
    ----------
    function, cost : int64 (n,)
        Of each call; what it costs itself, below 0: nothing.
    first : int64 (n + 1,)
        Call ``i`` has the callees ``first[i]`` to ``first[i + 1]``.
    callees : int64 (m,)
        The function of each.
    factor : int
        Nanoseconds that a cost of 1 is laid out as.
    caller, offset, lasts : int64 (n,)
        Filled: the call that made it (-1: none), when it begins and how long it lasts.
    done : int64 (n,)
        Working space.

    Returns
    -------
    bool
        Whether they fit together: whom a call has called has ended just before it.
    """
    waiting = np.int64(0)
    for i in range(len(function)):
        many = first[i + 1] - first[i]
        if many > waiting:
            return False
        low = waiting - many
        at = np.int64(0)
        for k in range(many):
            call = done[low + k]
            if function[call] != callees[first[i] + k]:
                return False
            caller[call], offset[call] = i, at
            at += lasts[call]
        lasts[i] = at + max(cost[i], 0) * factor
        caller[i] = -1
        done[low] = i
        waiting = low + 1
    at = np.int64(0)
    for k in range(waiting):
        offset[done[k]] = at
        at += lasts[done[k]]
    for i in range(len(function) - 1, -1, -1):
        if caller[i] >= 0:
            offset[i] += offset[caller[i]]
    return True
