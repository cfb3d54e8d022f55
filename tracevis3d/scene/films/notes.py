"""The sound of a film: what begins is a note, its colour the pitch (after Pablo: Reed and others 1993).

The pitches are those of the legend, from the left, upwards along a pentatonic scale, in which no two sound
badly together. The more begins at a moment, the louder its note is, on a logarithmic scale.
"""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Boxes, Drawing, Tubes, Wedges
from ...errors import UsageError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Share of a film in which time runs; then the complete picture stands still.
RUNNING = 0.8
#: Samples a second, and slots in which notes of one pitch are one.
RATE, SLOTS = 44_100, 24
#: The lowest pitch, in hertz, the steps of the scale, in semitones, and how many pitches there are.
_LOWEST, _SCALE, _PITCHES = 196.0, (0, 2, 4, 7, 9), 15
#: Length of a note, and how fast it fades, in seconds.
_LONG, _FADE = 0.45, 0.09
#: Strength of the tones above the first of a note.
_OVERTONES = (1.0, 0.35, 0.12)
#: The loudest sample.
_PEAK = 0.8


def pitch_of(step: int) -> float:
    """Return the frequency of a pitch, in hertz; 0 is the lowest."""
    octave, degree = divmod(min(step, _PITCHES - 1), len(_SCALE))
    return float(_LOWEST * 2 ** (octave + _SCALE[degree] / 12))


def notes_of(drawing: Drawing) -> tuple[Floats, Ints, Floats]:
    """Return what begins in a drawing, as notes.

    Parameters
    ----------
    drawing : Drawing

    Returns
    -------
    begin : float64 (n,)
        When each begins, as a share of the drawing's time.
    pitch : int64 (n,)
        0 is the lowest: the first colour of the legends; what has none of theirs is above them.
    count : float64 (n,)
        How many things it represents.

    Raises
    ------
    UsageError
        If nothing in the drawing has a time.
    """
    entries = [entry.color for legend in drawing.legends for entry in legend.entries]
    order = {color: i for i, color in reversed(list(enumerate(dict.fromkeys(entries))))}
    step = np.full(len(drawing.palette) + 1, len(order), np.int64)
    for color, place in order.items():
        step[color] = place
    begin, pitch, count = [np.empty(0)], [np.empty(0, np.int64)], [np.empty(0)]
    for element in drawing.elements:
        if isinstance(element, (Boxes, Wedges, Tubes)) and len(element.time):
            first = element.time[:, 0] if element.time.ndim == 2 else element.time
            many = getattr(element, "count", np.empty(0))
            begin.append(first.astype(np.float64))
            pitch.append(step[element.color])
            count.append(many.astype(np.float64) if len(many) else np.ones(len(first)))
    found = np.concatenate(begin)
    if not len(found):
        raise UsageError("--sound: nothing in this picture has a time, so nothing can be heard")
    return found, np.concatenate(pitch), np.concatenate(count)


def samples_of(drawing: Drawing, seconds: float, running: float) -> NDArray[np.int16]:
    """Return the sound of a film of a drawing.

    Parameters
    ----------
    drawing : Drawing
    seconds : float
        Length of the film.
    running : float
        Length of the part in which its time runs.

    Returns
    -------
    int16 (samples,)
        At :data:`RATE`.

    Raises
    ------
    UsageError
        If nothing in the drawing has a time.
    """
    begin, pitch, count = notes_of(drawing)
    slots = max(round(running * SLOTS), 1)
    inside = (begin >= 0) & (begin <= 1)
    slot = np.minimum((begin[inside] * slots).astype(np.int64), slots - 1)
    step = np.minimum(pitch[inside], _PITCHES - 1)
    heard = np.bincount(step * slots + slot, count[inside], _PITCHES * slots).reshape(_PITCHES, slots)
    loud = np.log1p(heard) / max(float(np.log1p(heard).max(initial=0.0)), 1e-12)
    total = round(seconds * RATE)
    out = np.zeros(total + round(_LONG * RATE))
    at = (np.arange(slots) * running / slots * RATE).astype(np.int64)
    for which in np.flatnonzero(loud.any(axis=1)).tolist():
        tone = _tone(pitch_of(which))
        played = np.flatnonzero(loud[which])
        for i in played.tolist():
            end = min(at[i] + len(tone), len(out))
            out[at[i] : end] += loud[which, i] * tone[: end - at[i]]
    out = out[:total]
    most = float(np.abs(out).max(initial=0.0))
    scale = _PEAK * 32767 / most if most > 0 else 0.0
    return np.asarray(np.rint(out * scale), np.int16)


def _tone(frequency: float) -> Floats:
    """Return one note: a string that is plucked."""
    time = np.arange(round(_LONG * RATE)) / RATE
    tone = sum(
        strength * np.sin(2 * np.pi * frequency * k * time) for k, strength in enumerate(_OVERTONES, 1)
    )
    rise = np.minimum(time / 0.004, 1.0)
    fall = np.minimum((_LONG - time) / 0.02, 1.0)
    return np.asarray(tone * np.exp(-time / _FADE) * rise * fall)


def write_wave(samples: NDArray[np.int16], path: Path) -> None:
    """Write a sound as a .wav file.

    Parameters
    ----------
    samples : int16 (n,)
        At :data:`RATE`.
    path : Path
    """
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.astype("<i2").tobytes())
