#!/usr/bin/env python3
"""Fails when comments or prose use a phrase more often than tools/words.txt allows.

Looks at the comments of C++, Python (with docstrings), shell, CMake and Lua, and at the text of
Markdown. Strings, code, text between backticks, links and code blocks of a language do not count,
nor do recorded answers and other data. A phrase is found in any case and across the end of a line.

Usage: check_words.py [--counts] [ROOT]; exits 1 and names each place of a phrase that is used too
often, with what to write instead, or prints how many files are fine. --counts prints how often each
phrase is used, and its limit.
"""
import io
import pathlib
import re
import subprocess
import sys
import tokenize

DATA = ("test/conformance/golden/", "test/fuzz/corpus/")
# Of C++, what is not a comment is matched so that nothing inside of it is taken for one.
CPP = re.compile(r'//[^\n]*|/\*.*?\*/'
                 r'|R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"'
                 r"|\b\d[\w.']*|'(?:\\.|[^'\\\n])+'", re.S)
# Of Markdown: blocks of a language (one without may be a drawing), and links.
MARKDOWN = re.compile(r"^```\w+\n.*?^```$|^```$|\]\([^)\s]*\)", re.S | re.M)
QUOTED = re.compile(r"`(?:[^`\n]|\n(?!\n))+`")


def blank(text):
    """Returns a text of the same length and lines, in which no word is left."""
    return re.sub(r"\S", "\0", text)


def keep(text, spans):
    """Returns the text with only these spans of it, and everything else blank."""
    parts, end = [], 0
    for begin, stop in spans:
        parts += [blank(text[end:begin]), text[begin:stop]]
        end = stop
    return "".join([*parts, blank(text[end:])])


def cpp_comments(text):
    return [match.span() for match in CPP.finditer(text) if match[0][:2] in ("//", "/*")]


def python_comments(text):
    """Returns the spans of comments, and of strings that are statements: docstrings."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    spans, before = [], tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        docstring = token.type == tokenize.STRING and before in (
            tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        if token.type == tokenize.COMMENT or docstring:
            spans.append((starts[token.start[0] - 1] + token.start[1],
                          starts[token.end[0] - 1] + token.end[1]))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    return spans


def line_comments(mark):
    """Returns a function for languages whose comments run from a mark to the end of the line."""
    pattern = re.compile(rf"(?:^|(?<=\s)){mark}.*$", re.M)

    def spans(text):
        for match in pattern.finditer(text):
            before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
            if before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
                yield match.span()

    return spans


COMMENTS = {".h": cpp_comments, ".cc": cpp_comments, ".py": python_comments,
            ".sh": line_comments("#"), ".cmake": line_comments("#"), ".lua": line_comments("--")}
NAMES = {"CMakeLists.txt": ".cmake", "dev": ".sh", "run": ".sh"}  # Without a suffix that says it.


def prose_of(path, text):
    """Returns the text of a file with everything blank that is not prose; None for data."""
    path = pathlib.PurePath(path)
    suffix = NAMES.get(path.name, path.suffix)
    if suffix == ".md":
        prose = MARKDOWN.sub(lambda match: blank(match[0]), text)
    elif suffix in COMMENTS:
        # A phrase goes on after the mark that begins the next line.
        prose = re.sub(r"^([ \t]*)(//+|#+|--|\*(?!/))",
                       lambda match: match[1] + " " * len(match[2]),
                       keep(text, COMMENTS[suffix](text)), flags=re.M)
    else:
        return None
    return QUOTED.sub(lambda match: blank(match[0]), prose)


class Phrase:
    """A line of words.txt: phrases that mean the same, how many are allowed, and what is better."""

    def __init__(self, line):
        self.name, limit, self.instead = re.split(r"\s{2,}", line.strip(), maxsplit=2)
        self.limit = int(limit)
        self.places = []
        space = r"(?:[ \t]+|[ \t]*\n[ \t]*)"
        forms = [space.join(map(re.escape, form.split()))
                 for form in self.name.lower().split(" / ")]
        shorthand = self.name.endswith(":")
        self.pattern = re.compile(f"(?:{'|'.join(forms)})" + (r"(?!:)" if shorthand else r"(?!\w)"))
        # `Empty: none` is shorthand; `The list is empty: no client has written` is a sentence.
        self.after_word = re.compile(r"[\w=]\s*\Z" if shorthand else r"\w\Z")

    def look(self, path, prose):
        """Notes where the phrase is in a text, which is in lower case."""
        for match in self.pattern.finditer(prose):
            if not self.after_word.search(prose[max(0, match.start() - 200):match.start()]):
                self.places.append(f"{path}:{prose.count(chr(10), 0, match.start()) + 1}")


def read_phrases(path):
    phrases = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            try:
                phrases.append(Phrase(line))
            except ValueError:
                sys.exit(f"{path}:{number}: expected 'phrase  limit  what to write instead', with "
                         "two spaces or more between them")
    return phrases


def files_of(root):
    """Returns the paths of all files that git has or would take."""
    run = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others",
                          "--exclude-standard"], check=True, capture_output=True, text=True)
    return sorted({name for name in run.stdout.split("\0") if name and not name.startswith(DATA)
                   and (root / name).is_file()})


def look_at_all(root, phrases):
    """Notes all places of the phrases; returns how many files have prose."""
    files = 0
    for path in files_of(root):
        try:
            prose = prose_of(path, (root / path).read_text())
        except UnicodeDecodeError:
            continue
        if prose is not None:
            files += 1
            prose = prose.lower()
            for phrase in phrases:
                phrase.look(path, prose)
    return files


def main():
    rest = [word for word in sys.argv[1:] if word != "--counts"]
    root = pathlib.Path(rest[0] if rest else pathlib.Path(__file__).parents[1])
    phrases = read_phrases(root / "tools" / "words.txt")
    files = look_at_all(root, phrases)
    if "--counts" in sys.argv:
        print(f"{'phrase':<40} {'count':>5} {'limit':>5}")
        for phrase in phrases:
            print(f"{phrase.name:<40} {len(phrase.places):>5} {phrase.limit:>5}")
        return
    often = [phrase for phrase in phrases if len(phrase.places) > phrase.limit]
    for phrase in often:
        print(f'"{phrase.name}" is used {len(phrase.places)} times, {phrase.limit} at most. Write '
              f"instead: {phrase.instead}", *phrase.places, sep="\n  ", file=sys.stderr)
    if often:
        sys.exit(1)
    print(f"words: {files} files, no phrase above its limit in tools/words.txt")


if __name__ == "__main__":
    main()
