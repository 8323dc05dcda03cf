"""`memlane review`."""

from typing import Annotated

import typer

from memlane.cli import options

_File = Annotated[str | None, typer.Argument(metavar="[FILE]", hidden=True)]
_HASH_HELP = "the document as HASH names it: what was shown with it."
_Approve = Annotated[str | None, typer.Option(metavar="HASH", help=f"Approve {_HASH_HELP}")]
_Reject = Annotated[str | None, typer.Option(metavar="HASH", help=f"Reject and remove {_HASH_HELP}")]


def review(  # noqa: PLR0913 - one parameter for each option
    file: _File = None,
    *,
    approve: _Approve = None,
    reject: _Reject = None,
    wait: options.Wait = False,
    timeout: options.Timeout = None,
    json: options.Json = False,
    workspace: options.Workspace = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
) -> None:
    """Show what waits for a review, or decide on it.

    FILE is a scope and a path, such as user/user/tea.md: its text is shown, or it is approved or rejected.
    Without it all documents are listed that wait.
    """
    wait_s = options.wait_limit_s(wait=wait, timeout=timeout)
    options.refuse_empty(approve=approve, reject=reject)
    if (approve and reject) or ((approve or reject) and file is None):
        raise typer.BadParameter("one of them, with a FILE", param_hint="--approve, --reject")
    from memlane.cli.connection import place_of
    from memlane.cli.reviews import Verdict, decide, show_document, show_waiting

    place = place_of(url=url, token_file=token_file, workspace=workspace)
    if file is None:
        raise typer.Exit(show_waiting(place, as_json=json))
    if approve is None and reject is None:
        raise typer.Exit(show_document(file, place, as_json=json))
    verdict = Verdict("approve", approve) if approve else Verdict("reject", reject or "")
    raise typer.Exit(decide(file, verdict, place, as_json=json, wait_s=wait_s))
