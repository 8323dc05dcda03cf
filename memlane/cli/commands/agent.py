"""`memlane agent`."""

import typer


def agent() -> None:
    """Run the agent child: ACP on standard input and output.

    It serves the folder that it is started in. Workers start it themselves. The model is chosen by
    OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL; without them built-in rules serve.
    """
    from memlane.cli.agent import run

    raise typer.Exit(run())
