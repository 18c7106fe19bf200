"""Holds README.md, CONTRIBUTING.md and docs/ to their form: links and anchors lead somewhere, no line over 160 characters outside tables, and on
the pages that a reader enters by no table over 12 rows; the README is two screens with short paragraphs; tests that docs/paper-map.md and
tests/inputs.md name exist, and so do files that comments of C++ sources name.

    documents.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
LONGEST_LINE, MOST_ROWS, LONGEST_PARAGRAPH, README_LINES = 160, 12, 4, 110
ENTRY_PAGES = ["README.md", "docs/README.md", "docs/results/README.md"]
documents = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
found = []


def blocks(lines):
    """(kind, first line, lines) of tables, code and paragraphs."""
    block, kind, fenced = [], None, False
    for number, line in enumerate([*lines, ""], 1):
        fence = line.lstrip().startswith("```")
        is_a = "code" if fenced or fence else "table" if line.lstrip().startswith("|") else "text" if line.strip() else None
        if is_a != kind:
            if kind:
                yield kind, number - len(block), block
            block, kind = [], is_a
        block.append(line)
        fenced ^= fence


def anchors(text):
    """As GitHub makes them of headings."""
    seen = {}
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = seen[anchor] = seen.get(anchor, -1) + 1
        yield anchor + (f"-{count}" if count else "")


def check_links(document, text):
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.S)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        if not target.exists():
            found.append(f"{document}: {link}: there is no such file")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
            found.append(f"{document}: {link}: there is no such heading")


def check_form(document, lines):
    entry = str(document.relative_to(root)) in ENTRY_PAGES
    for kind, first, block in blocks(lines):
        if kind == "table" and entry and len(block) - 2 > MOST_ROWS:
            found.append(f"{document}:{first}: a table of {len(block) - 2} rows, at most {MOST_ROWS} on an entry page")
        for i, line in enumerate(block):
            if kind != "table" and len(line) > LONGEST_LINE:
                found.append(f"{document}:{first + i}: {len(line)} characters, at most {LONGEST_LINE} (scripts/wrap_documents)")


def check_readme(lines):
    if len(lines) > README_LINES:
        found.append(f"README.md: {len(lines)} lines, at most {README_LINES}: two screens")
    for kind, first, block in blocks(lines):
        if kind == "text" and len(block) > LONGEST_PARAGRAPH and not re.match(r"[-#*\[]", block[0]):
            found.append(f"README.md:{first}: a paragraph of {len(block)} lines, at most {LONGEST_PARAGRAPH}")


def check_tests_named(document):
    """Every Suite.Test that it names is one."""
    sources = "".join(path.read_text() for path in (root / "tests").rglob("*_test.cc"))
    there = {f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", sources, re.M)}
    for test in re.findall(r"`(\w+\.[A-Z]\w+)`", document.read_text()):
        if test not in there:
            found.append(f"{document}: {test}: there is no such test")


def check_rows_name_tests(document):
    """tests/inputs.md: every case has a test."""
    rows = [line for line in document.read_text().splitlines() if re.match(r"\| (?!input )", line)]
    found.extend(f"{document}: no test is named: {row}" for row in rows or ["(no row)"] if not re.search(r"`\w+\.[A-Z]\w+`", row))


def check_references(sources):
    """Headers, sources and pages that comments name, by the end of their path, are there."""
    named = re.compile(r"(?<![\w:/.-])([\w/-]+\.(?:h|cc|md))\b")
    outside = {"jpeglib.h", "x.cc"}  # libjpeg's; of a message of LibTorch
    files = [*sources, *documents, root / "CHANGELOG.md", root / "tests/inputs.md"]
    there = {"/".join(path.relative_to(root).parts[-parts:]) for path in files for parts in range(1, 9)}
    for path in sources:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            comment = re.search(r"(?:^|\s)//(?!.*https?:)(.*)", line)
            for name in named.findall(comment[1] if comment else ""):
                if name not in there | outside and "NAME" not in name:
                    found.append(f"{path}:{number}: {name}: there is no such file")


check_references([path for folder in ["apps", "benchmarks", "examples", "include", "python", "src", "tests"]
                  for path in (root / folder).rglob("*") if path.suffix in (".h", ".cc")])
check_tests_named(root / "docs/paper-map.md")
check_tests_named(root / "tests/inputs.md")
check_rows_name_tests(root / "tests/inputs.md")
for document in documents:
    text = document.read_text()
    check_links(document, text)
    check_form(document, text.splitlines())
check_readme((root / "README.md").read_text().splitlines())
for line in found:
    print(line)
if found:
    sys.exit(f"documents: {len(found)} faults in {len(documents)} documents")
print(f"documents: {len(documents)} documents, no fault")
