"""The keys that tests press: how the browser calls them, their number, and the text that they type."""

MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}

KEYS = {
    "Enter": ("Enter", 13, "\r"),
    "Tab": ("Tab", 9, ""),
    "Escape": ("Escape", 27, ""),
    "Backspace": ("Backspace", 8, ""),
    "Delete": ("Delete", 46, ""),
    "Home": ("Home", 36, ""),
    "End": ("End", 35, ""),
    "PageUp": ("PageUp", 33, ""),
    "PageDown": ("PageDown", 34, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    " ": ("Space", 32, " "),
    "/": ("Slash", 191, "/"),
    "?": ("Slash", 191, "?"),
    "+": ("Equal", 187, "+"),
    "=": ("Equal", 187, "="),
    "-": ("Minus", 189, "-"),
    "_": ("Minus", 189, "_"),
    ".": ("Period", 190, "."),
    ",": ("Comma", 188, ","),
    ":": ("Semicolon", 186, ":"),
    "[": ("BracketLeft", 219, "["),
    "]": ("BracketRight", 221, "]"),
    **{str(digit): (f"Digit{digit}", 48 + digit, str(digit)) for digit in range(10)},
}
