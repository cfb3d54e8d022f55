"""What a film's camera is at a pose: of any projection between perspective and parallel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from ...drawing.primitives import Camera
from ...drawing.projection import straight
from ...layout.sight.pose import Pose
from ..camera import View, axes

#: Half the picture's width at distance 1 below which a perspective is parallel: no pixel moves by one.
_PARALLEL = 1e-3
_BACKWARD = np.array([[1.0], [1.0], [-1.0]])


@dataclass(frozen=True, eq=False)
class Eye:
    """A camera.

    Attributes
    ----------
    axes : float64 (3, 3)
        Its right, up and forward, in rows.
    focus : float64 (3,)
        The point in the middle of its picture.
    width : float
        How much of the scene its picture shows there, in scene units.
    tangent : float
        Half the picture's width at distance 1; 0: there is no perspective.
    centre : float64 (2,)
        Where its axis meets the picture, in pixels from the lower left corner.
    """

    axes: NDArray[np.float64]
    focus: NDArray[np.float64]
    width: float
    tangent: float
    centre: NDArray[np.float64]

    @classmethod
    def at(cls, pose: Pose, view: View, camera: Camera) -> Eye:
        """Return the camera of a pose.

        Parameters
        ----------
        pose : Pose
        view : View
            From where the whole drawing is seen.
        camera : Camera
            The drawing's.

        Returns
        -------
        Eye
        """
        own = np.array([view.right, view.up, view.forward])
        if pose.front:
            own = _turned(own, np.array(axes(straight(camera))), pose.front)
        turn = np.array(Matrix.Rotation(np.radians(pose.turn), 3, Vector(camera.up)))
        tangent = view.tangent * (1.0 - pose.front) if view.perspective else 0.0
        return cls(own @ turn.T, np.array(pose.focus), pose.width, tangent, np.array(view.centre, np.float64))

    def towards(self, goal: Eye, share: float) -> Eye:
        """Return the camera at a share of the way to another.

        Parameters
        ----------
        goal : Eye
        share : float
            0 to 1.

        Returns
        -------
        Eye
        """

        def between(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
            return a + share * (b - a)

        return Eye(
            _turned(self.axes, goal.axes, share),
            between(self.focus, goal.focus),
            self.width * (goal.width / self.width) ** share,
            self.tangent + share * (goal.tangent - self.tangent),
            between(self.centre, goal.centre),
        )

    @property
    def perspective(self) -> bool:
        """Whether what is nearer is larger."""
        return self.tangent >= _PARALLEL

    @property
    def distance(self) -> float:
        """From the eye to what it looks at, of a perspective."""
        return self.width / 2 / self.tangent


def _turned(start: NDArray[np.float64], goal: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return axes at a share of the shortest turn from some to others."""
    # Right, up and backward are a rotation; forward would make it a reflection.
    one, other = (Matrix((rows * _BACKWARD).tolist()).to_quaternion() for rows in (start, goal))
    turn: Quaternion = one.slerp(other, share)
    return np.asarray(np.array(turn.to_matrix(), np.float64) * _BACKWARD)
