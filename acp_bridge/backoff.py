"""How long to wait before a child that keeps dying is started again."""


class Backoff:
    """Pause that doubles with each death and is forgotten at the first success. Keeps no clock."""

    def __init__(self, *, first_s: float, max_s: float) -> None:
        """Make one without any death so far; the first pause is ``first_s``, none is over ``max_s``."""
        self._first_s = first_s
        self._max_s = max_s
        self._deaths = 0
        self._died_ms = 0

    def died(self, now_ms: int) -> None:
        """Count a death at ``now_ms``."""
        self._deaths += 1
        self._died_ms = now_ms

    def succeeded(self) -> None:
        """Forget all deaths."""
        self._deaths = 0

    def remaining_s(self, now_ms: int) -> float:
        """Seconds from ``now_ms`` until the next start is due; 0 when it is."""
        if not self._deaths:
            return 0.0
        doublings = min(self._deaths - 1, 32)  # enough for any cap, and no overflow
        pause_s = min(self._max_s, self._first_s * float(2**doublings))
        return max(0.0, pause_s - (now_ms - self._died_ms) / 1000)
