"""Arguments of the tools: what a model may send, and the schemas that it is shown."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.errors import ToolRefused

MAX_LINES = 2000  # of a document that are shown when no other number is asked for
MAX_CHARACTERS = 60_000  # the same, for its characters
MAX_MATCHES = 500
MAX_SOURCES = 20
MAX_SELECTED = 20  # entries that one request can make forgotten


class Arguments(BaseModel):
    """Base of tool arguments: lenient about numbers sent as text, unknown names ignored.

    Validators are built when they are needed: a child that only answers whether it is there needs none.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


A = TypeVar("A", bound=Arguments)


class ReadFile(Arguments):
    """Arguments of ``read_file``."""

    file_path: Annotated[str, Field(description="Absolute path of the file.")]
    offset: Annotated[int, Field(ge=0, description="First line to show, counted from 0.")] = 0
    limit: Annotated[
        int,
        Field(
            ge=1,
            description=f"How many lines to show; more than {MAX_LINES} also shows a document whole that "
            f"has over {MAX_CHARACTERS} characters.",
        ),
    ] = MAX_LINES


class WriteFile(Arguments):
    """Arguments of ``write_file``."""

    file_path: Annotated[str, Field(description="Absolute path of the markdown document.")]
    content: Annotated[str, Field(description="The whole new content, frontmatter included.")]


class Edit(Arguments):
    """Arguments of ``edit``."""

    file_path: Annotated[str, Field(description="Absolute path of the markdown document.")]
    old_string: Annotated[str, Field(description="Text to replace, exactly as it stands in the document.")]
    new_string: Annotated[str, Field(description="Text to put in its place.")]
    replace_all: Annotated[bool, Field(description="Replace every occurrence instead of exactly one.")] = (
        False
    )


class GrepSearch(Arguments):
    """Arguments of ``grep_search``."""

    pattern: Annotated[
        str, Field(min_length=1, max_length=1000, description="RE2 expression; case is ignored.")
    ]
    path: Annotated[str, Field(description="Absolute path of a folder or document; all memory if empty.")] = (
        ""
    )
    glob: Annotated[str, Field(max_length=200, description="File name pattern such as *.md.")] = ""
    limit: Annotated[int, Field(ge=1, description=f"Most matching lines to show, at most {MAX_MATCHES}.")] = (
        100
    )


class ListDirectory(Arguments):
    """Arguments of ``list_directory``."""

    path: Annotated[str, Field(description="Absolute path of the folder.")]
    ignore: Annotated[tuple[str, ...], Field(max_length=20, description="Name patterns to leave out.")] = ()


class MergeMemories(Arguments):
    """Arguments of ``merge_memories``."""

    target_path: Annotated[
        str, Field(description="Absolute path of the document that takes everything in; it may be new.")
    ]
    source_paths: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            max_length=MAX_SOURCES,
            description="Absolute paths of the documents that are removed because the target says all of it.",
        ),
    ]
    content: Annotated[str, Field(description="The target's whole new content, frontmatter included.")]


class SelectEntries(Arguments):
    """Arguments of ``select_entries``."""

    ids: Annotated[
        tuple[str, ...], Field(max_length=MAX_SELECTED, description="Ids as listed; empty if none fits.")
    ]


def parse_arguments(shape: type[A], text: str) -> A:
    """Read the JSON text of a tool call; no text counts as an empty object.

    Raises:
        ToolRefused: it does not parse or does not fit; the message names what, and quotes nothing.
    """
    try:
        return shape.model_validate_json(text.strip() or "{}")
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False, include_context=False)[:3]
        problems = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in found
        )
        raise ToolRefused(f"The arguments do not fit. {problems}") from None


def schema_of(shape: type[Arguments]) -> dict[str, Any]:
    """JSON schema of a tool's arguments as sent to a model, without titles and our own docstring."""
    schema = shape.model_json_schema()
    properties = {
        name: {key: value for key, value in one.items() if key != "title"}
        for name, one in schema["properties"].items()
    }
    return {"type": "object", "properties": properties, "required": schema.get("required", [])}
