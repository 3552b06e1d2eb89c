#!/usr/bin/env python3
"""Fails if a file does not compile alone, because it uses something that it does not include.

If files are compiled together, or with a precompiled header, one file can use the includes of
another. This check runs clang on the syntax only, with the flags of a build that has a command
for each file (the preset release), and without its precompiled headers. The build need not be
built: its generated files are made first. A source includes its own header first, so only headers
without a source are checked by themselves.

Usage: check_alone.py BUILD_DIR [--all | FILE...]; --all checks every file that the build compiles,
and every header in the same folders. Named files that are not part of the build are ignored.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

WITH_VALUE = {"-o", "-MT", "-MF", "-include"}  # Flags to drop, with their values.
DROPPED = {"-c", "-Winvalid-pch", "-fpch-preprocess"}
DROPPED_KINDS = ("--param", "-O", "-M")


def syntax_flags(command, source):
    """Returns the flags of a compile command that clang needs to check the syntax."""
    words = shlex.split(command)
    compiler = next(i for i, word in enumerate(words)
                    if pathlib.Path(word).name.startswith(("g++", "clang++", "c++")))
    flags, rest = [], iter(words[compiler + 1:])
    for word in rest:
        if word in WITH_VALUE:
            next(rest)
        elif word != source and word not in DROPPED and not word.startswith(DROPPED_KINDS):
            flags.append(word)
    return flags


def read_commands(build):
    """Returns {source: (folder, flags)} of a build. A source of several targets appears once."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if "/Unity/unity_" in str(source):
            sys.exit(f"{build} compiles files together; give a build that does not, as release")
        if source not in commands and source.suffix == ".cc" and build not in source.parents:
            flags = syntax_flags(entry["command"], str(source))
            commands[source] = (entry["directory"], flags)
    return commands


def command_of(file, commands):
    """Returns the command for a source, or for a header that of a source near it, or None."""
    if file.suffix == ".cc":
        return commands.get(file)
    near = [source for source in commands if source.parent == file.parent]
    # Tests have the most include paths: googletest and the libraries that they test.
    near.sort(key=lambda source: (not source.stem.endswith("_test"), source))
    return commands[near[0]] if near else None


def checks_of(named, commands):
    """Returns the files to check, in order. Without `named`, returns all files."""
    wanted = {file for file in named or [] if file.suffix in (".cc", ".h") and file.exists()}
    if named is None:
        wanted = set(commands)
        for folder in {source.parent for source in commands}:
            wanted.update(folder.glob("*.h"))
    for header in [file for file in wanted if file.suffix == ".h"]:
        source = header.with_suffix(".cc")
        if source in commands:
            wanted.remove(header)
            wanted.add(source)
    return sorted(file for file in wanted if command_of(file, commands))


def errors_of(file, commands):
    """Returns the errors of clang for a file, or "" if clang accepts it."""
    folder, flags = command_of(file, commands)
    run = subprocess.run(["clang++-19", *flags, "-w", "-fsyntax-only", "-x", "c++", str(file)],
                         cwd=folder, capture_output=True, text=True)
    return run.stderr if run.returncode != 0 else ""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    names = sys.argv[2:]
    named = None if names == ["--all"] else [pathlib.Path(name).resolve() for name in names]
    if (build / "build.ninja").exists():
        run = subprocess.run(["ninja", "-C", build, "generated"], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{build} cannot make what it generates:\n{run.stdout}{run.stderr}")
    commands = read_commands(build)
    files = checks_of(named, commands)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        for file, errors in zip(files, pool.map(lambda file: errors_of(file, commands), files)):
            if errors:
                print(f"{file} does not compile alone:\n{errors}", file=sys.stderr)
                bad += 1
    if bad:
        sys.exit(1)
    print(f"alone: {len(files)} files, each compiles without the others")


if __name__ == "__main__":
    main()
