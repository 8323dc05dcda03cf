"""`memlane retry`."""

from memlane.cli.about_one import about_one

retry = about_one(
    "TASK_ID",
    lambda client, task_id, workspace: client.retry(task_id, workspace=workspace),
    text="""Ask for the same once more that a task which has ended was asked for.

    TASK_ID is what the command that asked for it printed, or `memlane tasks` lists.
    """,
)
