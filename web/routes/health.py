"""Probes. They are open, so they say nothing but up or not."""

from collections.abc import Iterable

from werkzeug.wrappers import Response

from jobs.client import JobsClient
from web.answers.service import Health
from web.errors import NotReady
from web.problems import json_response
from web.route import Route


class HealthRoutes:
    """``/health``, ``/health/live``, ``/health/ready``."""

    def __init__(self, jobs: JobsClient, *, strict: bool) -> None:
        """Take what is asked.

        Args:
            strict: whether a Redis that would not keep what it accepts counts as not ready.
        """
        self._jobs = jobs
        self._strict = strict

    def routes(self) -> Iterable[Route]:
        """Declare the probes."""
        for name, path, view in (
            ("health", "/health", self.live),
            ("live", "/health/live", self.live),
            ("ready", "/health/ready", self.ready),
        ):
            yield Route(
                name=name,
                method="GET",
                path=path,
                view=view,
                role="open",
                is_global=True,
                answer=Health,
                refusals=(NotReady,) if view == self.ready else (),
            )

    def live(self) -> Response:
        """Say that the process answers."""
        return json_response(Health().to_wire())

    def ready(self) -> Response:
        """Say whether tasks would be accepted and kept. That a worker lives is no part of it."""
        readiness = self._jobs.ready()
        if not (readiness.is_fit if self._strict else readiness.storage):
            raise NotReady("Not ready")
        return json_response(Health().to_wire())
