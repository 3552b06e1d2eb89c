#!/usr/bin/env python3
"""Fails if a file includes something that its layer may not include.

The rules are in src/layers.txt. Usage: check_layers.py [ROOT]; exits 1 and names each offending
line, or prints the number of checked files.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = {".h", ".cc"}


def read_rules(path):
    """Returns ({folder: allowed folders or None for everything}, {outside prefix: places})."""
    layers, outside = {}, {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        if ":" not in line:
            sys.exit(f"{path}:{number}: expected 'name: ...'")
        name, allowed = (part.strip() for part in line.split(":", 1))
        if name.startswith("<"):
            outside[name.strip("<>")] = allowed.split()
        else:
            layers[name] = None if allowed == "*" else allowed.split()
    return layers, outside


def layer_of(path, layers):
    """Returns the longest listed folder that contains a path such as 'store/rocks/engine.h'."""
    folder = path.rpartition("/")[0]
    while folder and folder not in layers:
        folder = folder.rpartition("/")[0]
    return folder


def in_place(path, places):
    return any(path.startswith(p) if p.endswith("/") else path == p for p in places)


def problems_of(root, file, layers, outside):
    path = file.relative_to(root).as_posix()
    own = layer_of(path.removeprefix("src/"), layers)
    if not own:
        yield f"{path}: its folder is not in src/layers.txt"
        return
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        kind, target = match.groups()
        where = f"{path}:{number}"
        if kind == "<":
            for prefix, places in outside.items():
                hit = target.startswith(prefix) if prefix.endswith("/") else target == prefix
                if hit and not in_place(path, places):
                    yield f"{where}: <{target}> belongs to {', '.join(places)} only"
            continue
        layer = layer_of(target, layers)
        if not layer:
            if (root / "src" / target).exists():
                yield f"{where}: \"{target}\" is in no listed layer"
            elif not (path.startswith("cmd/") and (root / "cmd" / target).exists()):
                yield f"{where}: \"{target}\" is not a path from src/ (or, in cmd/, from cmd/)"
        elif layer != own and layers[own] is not None and layer not in layers[own]:
            yield f"{where}: {own} may not include {layer} (\"{target}\")"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    layers, outside = read_rules(root / "src" / "layers.txt")
    files = [f for top in ("src", "cmd") for f in sorted((root / top).rglob("*"))
             if f.suffix in SOURCES]
    problems = [p for f in files for p in problems_of(root, f, layers, outside)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"layers: {len(files)} files, each includes only what it may")


if __name__ == "__main__":
    main()
