"""Entry of every memlane process: ``memlane COMMAND`` or ``python -m memlane COMMAND``."""

import sys
from collections.abc import Sequence

from memlane.import_path import clean_import_path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    The three service processes are started past the command line library, which costs more than an agent
    child's whole start.

    Args:
        arguments: without the program's name; the process's own unless given.

    Returns:
        The exit code, see ``memlane.cli.exits``.

    Raises:
        SystemExit: with the exit code, from commands that end that way.
    """
    clean_import_path()
    from core.errors import MemlaneError

    try:
        return _dispatch(list(sys.argv[1:] if arguments is None else arguments))
    except MemlaneError as error:
        from memlane.cli.exits import complaint_of, exit_of

        sys.stderr.write(complaint_of(error))
        return exit_of(error)
    except KeyboardInterrupt:
        from memlane.cli.exits import Exit

        return Exit.INTERRUPTED


def _dispatch(arguments: list[str]) -> int:
    from memlane.collection import collection_paused

    match arguments:
        case ["agent"]:
            with collection_paused():
                from memlane.cli import agent
            return agent.run()
        case ["worker"]:
            with collection_paused():
                from memlane.cli import worker
            return worker.run()
        case ["web", "--listen-fd", descriptor] if descriptor.isdecimal():
            with collection_paused():
                from memlane.cli import web
            return web.run(listen_fd=int(descriptor))
        case _:
            from memlane.cli.app import run_app

            return run_app(arguments)


if __name__ == "__main__":
    sys.exit(main())
