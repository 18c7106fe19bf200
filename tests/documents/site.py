"""Makes the site (scripts/site/build) and looks into it: every document is a page, the reference has every command, option, method, header and
name of the Python package, links lead to pages and headings that are there, and no page asks another host for anything.

    site.py PROGRAM ROOT WORK"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

program, root, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
if not shutil.which("mkdocs"):
    print("site: mkdocs is not there: LEFT OUT")
    sys.exit(0)
subprocess.run([root / "scripts/site/build", program, work], check=True)
pages = {str(file.relative_to(work / "html")): file.read_text() for file in (work / "html").rglob("*.html")}
found = []


def expect(page, words):
    text = html.unescape(re.sub(r"<[^>]+>", "", pages.get(page, "")))
    found.extend(f"{page} lacks '{word}'" for word in words if word not in text)


def help_of(*words):
    return subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout


def commands_of(text):
    return re.findall(r"^  ([a-z][a-z-]*)  ", text.partition("\nSubcommands")[2], re.M)


def options_of(text):
    return re.findall(r"^  (?:-[a-z],)?(--[a-z-]+)", text, re.M)


for notebook in (root / "examples/notebooks").glob("*.ipynb"):
    cells = json.loads(notebook.read_text())["cells"]
    lines = [line.strip() for one in cells if one["cell_type"] == "code" for line in one["source"]]
    lines += [line.strip() for one in cells for output in one.get("outputs", ()) for line in output.get("text", ())]
    expect(str(notebook.relative_to(root).with_suffix(".html")), filter(None, lines))
for document in [*(root / "docs").rglob("*.md"), root / "CHANGELOG.md", root / "CONTRIBUTING.md"]:
    page = str(document.relative_to(root).with_suffix(".html")).replace("README.html", "index.html")
    title = re.search(r"^# (.*)$", document.read_text(), re.M)[1].replace("`", "")
    expect(page, [title])
for command in commands_of(help_of()):
    text = help_of(command)
    below = commands_of(text)
    expect(f"docs/reference/commands/{command}.html",
           [*options_of(text), *(option for one in below for option in options_of(help_of(command, one))), *(f"protocom {command} {one}" for one in below)])
expect("docs/reference/commands/classify.html", ["Shares of the classes among the images, cat=0.5,dog=0.3"])
names = re.findall(r"^(\S+)", subprocess.run([program, "methods"], check=True, capture_output=True, text=True).stdout, re.M)
expect("docs/reference/methods.html", [name for name in names if re.fullmatch(r"[a-z][a-z-]*", name) and name not in ("method", "name")])
for header in (root / "include/protocom").glob("*.h"):
    if header.name != "export.h":
        expect(f"docs/reference/cpp/{header.stem}.html", re.findall(r"^(?:class PROTOCOM_API|struct) (\w+)", header.read_text(), re.M))
expect("docs/reference/cpp/method.html", ["All methods, with those that add_method() added", "class PROTOCOM_API Classifier"])
exported = re.findall(r'"(\w+)"', (root / "python/protocom/__init__.py").read_text().rpartition("__all__")[2])
expect("docs/reference/python.html", exported)
expect("docs/reference/http.html", ["GET /v1/classes", "POST /v1/classify"])

for page, text in pages.items():
    if page == "404.html":
        continue
    for link in re.findall(r'<a [^>]*href="([^"]+)"', text):
        path, _, anchor = html.unescape(link).partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        target = (pathlib.PurePosixPath("/") / page).parent.joinpath(path) if path else pathlib.PurePosixPath("/") / page
        place = str(pathlib.Path(target).resolve()).lstrip("/")
        if place.endswith(".html") and place not in pages:
            found.append(f"{page} leads to {link}, which is not there")
        elif anchor and place in pages and f'id="{anchor}"' not in pages[place] and anchor != "":
            found.append(f"{page} leads to {link}, where there is no such heading")

for line in sorted(set(found)):
    print(line)
if found:
    sys.exit(f"site: {len(set(found))} faults in {len(pages)} pages")
print(f"site: {len(pages)} pages, no fault")
