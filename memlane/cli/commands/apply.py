"""`memlane apply`."""

from memlane.cli.about_one import about_one

apply = about_one(
    "TASK_ID",
    lambda client, task_id, workspace: client.apply(task_id, workspace=workspace),
    text="""Have exactly that done what a task with --dry-run showed.

    TASK_ID is what the command with --dry-run printed.
    """,
)
