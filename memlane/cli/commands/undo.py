"""`memlane undo`."""

from memlane.cli.about_one import about_one

undo = about_one(
    "REVISION",
    lambda client, revision, workspace: client.undo(revision, workspace=workspace),
    text="""Have a revision of memory taken back.

    REVISION is r and a number, as `memlane history` shows it.
    """,
)
