"""`memlane get`."""

from memlane.cli.about_one import about_one

get = about_one(
    "TASK_ID",
    lambda client, task_id, workspace: client.get(task_id, workspace=workspace),
    text="""Show a task of a running service.

    TASK_ID is what the command that asked for it printed.
    """,
)
