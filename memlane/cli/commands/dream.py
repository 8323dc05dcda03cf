"""`memlane dream`."""

import typer

from memlane.cli import options


def dream(  # noqa: PLR0913 - one parameter for each option
    *,
    scope: options.Scope = None,
    dry_run: options.DryRun = False,
    wait: options.Wait = False,
    timeout: options.Timeout = None,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Ask a running service to merge and mend its memory.

    Without --scope it is the project's memory.
    """
    wait_s = options.wait_limit_s(wait=wait, timeout=timeout)
    from memlane.cli.asking import run
    from memlane.cli.connection import place_of

    place = place_of(url=url, token_file=token_file, workspace=workspace)
    raise typer.Exit(
        run(
            lambda client: client.dream(scope=scope, dry_run=dry_run, workspace=place.workspace),
            place,
            as_json=json,
            wait_s=wait_s,
        )
    )
