"""`memlane remember`."""

from typing import Annotated

import typer

from memlane.cli import options

_Text = Annotated[str, typer.Argument(metavar="TEXT", hidden=True)]  # the help tells it better in a sentence
_Clean = Annotated[bool, typer.Option("--clean", help="Don't let the agent see what is known already.")]


def remember(  # noqa: PLR0913 - one parameter for each option
    text: _Text,
    *,
    scope: options.Scope = None,
    clean: _Clean = False,
    dry_run: options.DryRun = False,
    wait: options.Wait = False,
    timeout: options.Timeout = None,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Ask a running service to remember something.

    TEXT goes in quotes; - reads it from standard input.
    """
    wait_s = options.wait_limit_s(wait=wait, timeout=timeout)
    from memlane.cli.asking import run, text_of
    from memlane.cli.connection import place_of
    from memlane.client import Client
    from memlane.models import Task

    place = place_of(url=url, token_file=token_file, workspace=workspace)

    def ask(client: Client) -> Task:
        return client.remember(
            text_of(text),
            context_mode="clean" if clean else None,
            scope=scope,
            dry_run=dry_run,
            workspace=place.workspace,
        )

    raise typer.Exit(run(ask, place, as_json=json, wait_s=wait_s))
