"""Which version of memlane this is."""

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """The installed version; ``0`` when run from a source tree that was never installed."""
    try:
        return version("memlane")
    except PackageNotFoundError:
        return "0"
