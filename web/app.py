"""The Flask application, put together."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from flask import Flask, g, request
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from core.errors import InputError, MemlaneError
from core.logs import get_logger
from core.settings import Settings
from core.workspaces import Workspaces
from events.chat.board import ChannelBoard
from events.hub import EventHub
from events.session_stream import SessionStreams
from events.sessions import ClientSessions
from jobs.client import JobsClient
from jobs.oversight import Oversight
from memory.library import Library
from web.auditor import Auditor
from web.auth import Guard
from web.body import read_json_object
from web.client_id import Callers
from web.door import TARGET, Door
from web.gate import Gate
from web.keyring import Keyring
from web.principal import PRINCIPAL, Principal
from web.problems import INTERNAL, Problem, framework_problem, problem_of
from web.reception import Reception
from web.relay import HEARTBEAT_S, Relay
from web.route import HasRoutes, routes_of, serve_routes
from web.routes.archives import ArchiveRoutes
from web.routes.capabilities import CapabilityRoutes
from web.routes.channels import ChannelDoors, ChannelRoutes
from web.routes.documents import DocumentRoutes
from web.routes.events import EventRoutes
from web.routes.followups import FollowUpRoutes
from web.routes.health import HealthRoutes
from web.routes.interface import InterfaceRoutes
from web.routes.memory import MemoryRoutes
from web.routes.ops import OpsRoutes
from web.routes.reviews import ReviewRoutes
from web.routes.revisions import RevisionRoutes
from web.routes.sessions import SessionRoutes
from web.routes.tasks import TaskRoutes
from web.sockets import SERVER_OPTIONS
from web.throttle import Throttle
from web.visible_tasks import VisibleTasks
from web.watch import TaskWatch

RELAY = "memlane.relay"

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WebParts:
    """What the application answers from.

    Attributes:
        doors: of the channels to which messages are posted.
    """

    workspaces: Workspaces
    jobs: JobsClient
    hub: EventHub
    sessions: ClientSessions
    library: Library
    oversight: Oversight
    channels: ChannelBoard
    doors: ChannelDoors = field(default_factory=ChannelDoors)


def create_app(
    settings: Settings, parts: WebParts, *, keyring: Keyring, home: Path, heartbeat_s: float = HEARTBEAT_S
) -> Flask:
    """Make the WSGI application; nothing is read from the outside until a request comes.

    Args:
        settings: for the names that ``Host`` may hold, and how often tokens may ask.
        keyring: the bearer tokens, one of which every route but the open ones asks for.
        home: absolute path that answers show as ``~``.
        heartbeat_s: longest silence on an event stream, seconds; a client that left is noticed within it.

    Returns:
        The application; ``extensions[RELAY]`` is its relay, whose ``end_all`` a stopping server calls.
    """
    app = Flask("web", static_folder=None, template_folder=None)
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    app.config["SOCK_SERVER_OPTIONS"] = dict(SERVER_OPTIONS)
    relay = app.extensions[RELAY] = Relay(parts.hub, heartbeat_s=heartbeat_s)
    watch = TaskWatch(parts.hub, look_s=heartbeat_s)
    described = InterfaceRoutes(lambda: routes_of(app))
    serve_routes(app, (*_interface(settings, parts, relay, watch=watch, home=str(home)), described))
    _check_requests(app, settings, parts)
    app.register_error_handler(MemlaneError, _answer_ours)
    app.register_error_handler(HTTPException, _answer_framework)
    app.register_error_handler(Exception, _answer_unexpected)
    routes = routes_of(app).values()
    open_paths = [rule for route in routes if not route.asks_for_token for rule in route.rules]
    guard = Guard(keyring, bound_host=settings.host, hosts=settings.hosts, open_paths=open_paths)
    app.wsgi_app = Door(app.wsgi_app, guard)  # type: ignore[method-assign]  # Flask's own seam for middleware
    return app


def _check_requests(app: Flask, settings: Settings, parts: WebParts) -> None:
    """Have each request checked in the contract's order, and its answer put on record."""
    oversight, routes = parts.oversight, routes_of(app)
    throttle = Throttle(oversight.rates, limit=settings.rate_limit)
    gate = Gate(routes, parts.workspaces)
    checks = (throttle.take, gate.check_role, _read_request, gate.check_media, gate.check_workspace)
    for check in checks:
        app.before_request(check)
    for note in (_log_answer, Auditor(oversight.audit, routes).note, throttle.tell):
        app.after_request(note)


def _interface(
    settings: Settings, parts: WebParts, relay: Relay, *, watch: TaskWatch, home: str
) -> Iterable[HasRoutes]:
    jobs, library, workspaces = parts.jobs, parts.library, parts.workspaces
    sessions = parts.sessions
    callers = Callers(sessions)
    tasks, reception = VisibleTasks(jobs, callers), Reception(jobs, callers, home=home)
    return (
        MemoryRoutes(workspaces, reception),
        TaskRoutes(workspaces, tasks, watch=watch, home=home),
        FollowUpRoutes(jobs, library, workspaces, tasks=tasks, reception=reception),
        DocumentRoutes(library, workspaces),
        ReviewRoutes(library, workspaces, reception),
        RevisionRoutes(jobs, library, workspaces, reception=reception),
        ArchiveRoutes(library, workspaces, reception),
        CapabilityRoutes(jobs, workspaces),
        HealthRoutes(jobs, strict=settings.redis_check == "refuse"),
        EventRoutes(parts.hub, relay, workspaces),
        SessionRoutes(sessions, SessionStreams(parts.hub, sessions), workspaces, relay=relay),
        OpsRoutes(parts.oversight, parts.channels, workspaces),
        ChannelRoutes(parts.doors),
    )


def _read_request() -> None:
    if PRINCIPAL not in request.environ:
        return  # strangers' bodies are not read
    # before routing is acted on, as the contract has it: a broken body is refused on unknown paths, too
    g.body = read_json_object(request)
    if request.environ[TARGET].is_malformed:
        raise InputError("Malformed URL encoding")


def _log_answer(response: Response) -> Response:
    rule = request.url_rule.rule if request.url_rule else None
    # polls, streams and probes that go well would bury everything else
    is_routine = request.endpoint in ("health", "live", "ready") or (
        request.method in ("GET", "HEAD") and response.status_code < 400
    )
    level = _log.debug if is_routine else _log.info
    principal: Principal | None = request.environ.get(PRINCIPAL)
    caller = {} if principal is None else {"token_name": principal.id}
    level("request_answered", method=request.method, route=rule, status=response.status_code, **caller)
    return response


def _answer_ours(error: MemlaneError) -> Response:
    problem = problem_of(error)
    if problem.status >= 500:
        _log.warning("request_failed", code=problem.code, reason=str(error))
    return _answer(problem)


def _answer_framework(error: HTTPException) -> Response:
    return _answer(framework_problem(error))


def _answer_unexpected(_error: Exception) -> Response:
    _log.exception("request_failed", code=INTERNAL.code)
    return _answer(INTERNAL)


def _answer(problem: Problem) -> Response:
    g.code = problem.code
    return problem.respond(request.accept_mimetypes, instance=request.environ[TARGET].path)
