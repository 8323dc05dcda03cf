"""The Dockerfile and what it builds, as documents."""

import re
import tomllib

from tests.support.deployment import (
    OURS,
    ROOT,
    command_exists,
    instructions,
    is_host_folder,
    mounts_of,
    packages,
)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


def copied_from_here() -> set[str]:
    copies = [words for name, words in instructions() if name == "COPY"]
    return {source for words in copies if not words[0].startswith("--from") for source in words[:-1]}


def run_lines() -> str:
    return "\n".join(" ".join(words) for name, words in instructions() if name == "RUN")


def test_everything_that_is_copied_exists_and_is_sent_to_the_builder():
    ignored_but = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }

    assert copied_from_here() == ignored_but
    assert all((ROOT / name).exists() for name in copied_from_here())


def test_the_image_has_every_package_of_the_wheel():
    names = {package.name for package in packages()}

    assert set(PACKAGES) == names - {"bench", "tools"}  # of use in a checkout only
    assert copied_from_here() == set(PACKAGES) | {
        "pyproject.toml",
        "constraints.txt",
        PROJECT["project"]["readme"],
    }


def test_the_lua_scripts_lie_inside_packages_and_are_not_left_out():
    scripts = list(ROOT.glob("*/lua/*.lua"))
    left_out = (ROOT / ".gitignore").read_text() + (ROOT / ".dockerignore").read_text()

    assert {path.parts[len(ROOT.parts)] for path in scripts} <= set(PACKAGES)
    assert "lua" not in left_out


def test_dependencies_are_the_pinned_ones():
    assert "--constraint constraints.txt ." in run_lines()


def test_base_images_have_a_version_that_the_project_allows_and_no_registry_host():
    bases = {words[0] for name, words in instructions() if name == "FROM"}

    assert len(bases) == 1
    match = re.fullmatch(r"python:(\d+)\.(\d+)-slim", bases.pop())
    assert match is not None
    assert PROJECT["project"]["requires-python"] == f">={match[1]}.{match[2]}"
    assert all("/" not in service.get("image", "") for service in OURS.values())


def test_it_runs_as_a_user_who_owns_the_folders_that_volumes_are_mounted_on():
    uid, gid = dict(instructions())["USER"][0].split(":")
    mounts = [mount for service in OURS.values() for mount in mounts_of(service).items()]
    folders = {folder for folder, volume in mounts if not is_host_folder(volume)}

    assert int(uid) > 0
    assert f"--uid {uid}" in run_lines()
    assert f"--gid {gid}" in run_lines()
    made = {
        word
        for line in run_lines().split("&&")
        if "install --directory" in line and "--owner=memlane" in line
        for word in line.split()
    }
    assert folders <= made


def test_its_entry_point_is_our_command_line():
    assert dict(instructions())["ENTRYPOINT"] == ["memlane"]
    assert "memlane" in PROJECT["project"]["scripts"]
    assert command_exists("web")
