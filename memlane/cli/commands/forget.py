"""`memlane forget`."""

from typing import Annotated

import typer

from memlane.cli import options

_Query = Annotated[str, typer.Argument(metavar="QUERY", hidden=True)]

_Purge = Annotated[
    bool, typer.Option("--purge", help="For good: take their documents' texts from the history, too.")
]


def forget(  # noqa: PLR0913 - one parameter for each option
    query: _Query,
    *,
    scope: options.Scope = None,
    purge: _Purge = False,
    dry_run: options.DryRun = False,
    wait: options.Wait = False,
    timeout: options.Timeout = None,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Ask a running service to forget what QUERY means.

    QUERY goes in quotes; - reads it from standard input.
    """
    wait_s = options.wait_limit_s(wait=wait, timeout=timeout)
    from memlane.cli.asking import run, text_of
    from memlane.cli.connection import place_of

    place = place_of(url=url, token_file=token_file, workspace=workspace)
    raise typer.Exit(
        run(
            lambda client: client.forget(
                text_of(query), scope=scope, purge=purge, dry_run=dry_run, workspace=place.workspace
            ),
            place,
            as_json=json,
            wait_s=wait_s,
        )
    )
