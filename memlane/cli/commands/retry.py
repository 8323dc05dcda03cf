"""`memlane retry`."""

from memlane.cli.about_one import about_one

retry = about_one(
    "TASK_ID",
    lambda client, task_id, workspace: client.retry(task_id, workspace=workspace),
    text="""Ask once more for what a task that has ended was for.

    TASK_ID is what the command that asked for it printed, or `memlane tasks` lists.
    """,
)
