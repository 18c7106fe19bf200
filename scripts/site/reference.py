"""The reference pages of the site, made from the code: each function gives {path of a page: (title, Markdown)}."""
import ast
import json
import re
import subprocess


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


# -- the command line, from the pages that the program has itself

def help_of(program, words):
    return subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout


def entries(section):
    """(what is typed, what it is) of a section of a help page: the text stands behind it, or on the lines below."""
    found = []
    for line in section.splitlines():
        if line[:38].strip() == "" and found:
            found[-1][1] += " " + line.strip()
        elif line.startswith("  "):
            name, text = (line[2:38], line[38:]) if line[36:38].strip() == "" else (line[2:], "")
            if not text and not name.startswith("-"):
                name, _, text = name.partition("  ")
            found.append([name.strip(), text])
    return [(name, text.strip()) for name, text in found]


def sections(page):
    parts = re.split(r"^(Positionals|Options|Subcommands[^:\n]*|Example):\n", page, flags=re.M)
    return parts[0], dict(zip(parts[1::2], parts[2::2]))


def commands_of(text):
    return re.findall(r"^  ([a-z][a-z-]*)  ", text, re.M)


def command_page(program, words):
    about, parts = sections(help_of(program, words))
    first, _, usage = about.partition("\n")
    text = f"{first}\n\n```text\n{usage.strip()}\n```\n"
    for section in parts:
        if section == "Example":
            continue
        body = parts[section].split("\n\n")[0]
        rows = [(f"`{name}`", cell(what)) for name, what in entries(body)]
        if rows:
            text += f"\n**{section}**\n\n" + table([{"Positionals": "argument", "Options": "option"}.get(section, "command"), "what it is"], rows)
    if "Example" in parts:
        text += "\n**Example**\n\n```text\n" + "\n".join(line[2:] for line in parts["Example"].rstrip().splitlines()) + "\n```\n"
    return text, [command for section in parts if section.startswith("Subcommands") for command in commands_of(parts[section])]


def command_pages(program):
    """A page for each command, with those below it."""
    pages = {}
    text, commands = command_page(program, [])
    pages["docs/reference/commands/protocom.md"] = ("protocom", f"# protocom\n\n{text}")
    for command in commands:
        text, below = command_page(program, [command])
        for one in below:
            text += f"\n## protocom {command} {one}\n\n" + command_page(program, [command, one])[0]
        pages[f"docs/reference/commands/{command}.md"] = (f"protocom {command}", f"# protocom {command}\n\n{text}")
    return pages


# -- methods

def method_pages(program):
    specs = json.loads(subprocess.run([program, "methods", "--json"], check=True, capture_output=True, text=True).stdout)
    text = "# All methods\n\nAs `protocom methods NAME` says. The model of the default method has [a page](../methods/plda.md).\n"
    for one in sorted(specs, key=lambda spec: spec["name"]):
        needs = ", ".join(one["needs"]) or "labelled features alone"
        assumes = "; assumes that all classes are equally frequent among the queries" if one["assumes_balanced_queries"] else ""
        text += f"\n## {one['name']}\n\n{one['about'][:1].upper()}{one['about'][1:]}.\n\n{one['citation']}\n\n"
        text += f"*{one['mode']}{assumes}; needs {needs}*\n\n" + (f"{one['notes']}\n\n" if one.get("notes") else "")
        rows = [(f"`{p['name']}`", f"`{p['default']}`", cell(takes(p)), cell(p["text"])) for p in one["parameters"]]
        if rows:
            text += table(["parameter", "default", "takes", "what it is"], rows)
    return {"docs/reference/methods.md": ("All methods", text)}


def takes(parameter):
    if "choices" in parameter:
        return ", ".join(parameter["choices"])
    low, high = parameter.get("low"), parameter.get("high")
    if low is None and high is None:
        return "a number"
    return f"at least {low:g}" if high is None else f"at most {high:g}" if low is None else f"{low:g} to {high:g}"


# -- C++ and C

def header_pages(folder):
    """A page per header: the /// comment before a declaration is its text."""
    pages = {}
    for header in sorted(folder.glob("*.h")):
        if header.name == "export.h":
            continue
        code = header.read_text()
        text = f"# {header.name}\n\n```cpp\n#include <protocom/{header.name}>\n```\n"
        body = code.partition("namespace protocom::v0 {\n")[2].rpartition("}  // namespace")[0] or code.partition("#include")[2]
        for doc, declaration in declarations(body):
            if doc or declaration:
                text += f"\n{doc}\n\n```cpp\n{declaration}\n```\n"
        pages[f"docs/reference/cpp/{header.stem}.md"] = (header.name, text)
    return pages


def declarations(body):
    """(text, declaration) of what is declared, in order: blocks that an empty line ends where no brace is open."""
    block, depth = [], 0
    for line in [*body.splitlines(), ""]:
        if not line.strip() and depth == 0:
            if block:
                yield split_doc(block)
            block = []
            continue
        block.append(line)
        depth += line.count("{") - line.count("}")


def split_doc(block):
    count = next((i for i, line in enumerate(block) if not line.startswith("///")), len(block))
    doc = "\n".join(line[4:] for line in block[:count])
    return doc, "\n".join(block[count:])


# -- Python

def python_pages(folder):
    """Every name of the package with its signature and docstring, in the order of __all__'s modules."""
    package = ast.parse((folder / "__init__.py").read_text())
    exported = [ast.literal_eval(node.value) for node in package.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"][0]
    text = "# Python\n\nThe package `protocom`. [The guide](../python.md) shows it at work.\n"
    found = {}
    for file in sorted(folder.glob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
                if file.stem in exported and not node.name.startswith("_"):  # a module that is part of the interface
                    found[f"{file.stem}.{node.name}"] = node
                elif node.name in exported:
                    found[node.name] = node
    for name in sorted(found, key=str.lower):
        node = found[name]
        if isinstance(node, ast.FunctionDef):
            text += f"\n## {name}\n\n{signature(node)}\n{docstring(node)}"
            continue
        made_by = [one for one in node.body if getattr(one, "name", "") == "__init__" and not {"core", "found"} & {a.arg for a in one.args.args}]
        text += f"\n## {name}\n\n" + "".join(signature(one, name) for one in made_by) + docstring(node)
        for one in (defined(one, folder) for one in node.body):
            if isinstance(one, ast.FunctionDef) and not one.name.startswith("_") and ast.get_docstring(one):
                text += f"\n### {name}.{one.name}\n\n" + ("" if decorated(one, "property") else signature(one)) + docstring(one)
    return {"docs/reference/python.md": ("Python", text)}


def defined(node, folder):
    """What a line of a class body defines: of `name = _module.name` the function of that module."""
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute)):
        return node
    there = ast.parse((folder / f"{node.value.value.id}.py").read_text()).body
    return next(one for one in there if getattr(one, "name", "") == node.value.attr)


def decorated(node, word):
    return any(getattr(one, "id", "") == word for one in node.decorator_list)


def signature(node, name=None):
    arguments = ast.unparse(node.args)
    arguments = re.sub(r"^(self|cls)(, |$)", "", arguments)
    return f"```text\n{name or node.name}({arguments})\n```\n\n"


def docstring(node):
    """NumPy's sections as lists."""
    lines, made, listing = ast.get_docstring(node).splitlines(), [], False
    for i, line in enumerate(lines):
        below = lines[i + 1] if i + 1 < len(lines) else ""
        if re.fullmatch(r"-{4,}", line):
            continue
        if re.fullmatch(r"-{4,}", below):
            made += ["", f"**{line}**", ""]
            listing = line in ("Parameters", "Attributes")
        elif listing and line and not line.startswith(" "):
            name, colon, rest = line.partition(" : ")
            stop = "." if below.startswith(" ") and below.lstrip()[0].isupper() and not rest.endswith((".", ",", ";", ":")) else ""
            made.append(f"- `{name}`{': ' if colon else ''}{rest}{stop}")
        else:
            made.append(line)
    return "\n".join(made).replace("``", "`").replace("::\n", ":\n") + "\n"


# -- HTTP

def http_pages(document):
    api = json.loads(document.read_text())
    text = f"# HTTP\n\n{api['info'].get('description', '')}\n\n[The guide](../server.md) has requests with curl.\n"
    for path, routes in api["paths"].items():
        for method, route in routes.items():
            if method == "parameters":
                continue
            text += f"\n## {method.upper()} {path}\n\n**{route['summary']}.** {route.get('description', '')}\n\n"
            rows = [(f"`{code}`", cell(resolved(api, answer).get("description", ""))) for code, answer in route["responses"].items()]
            text += table(["status", "what it means"], rows)
    return {"docs/reference/http.md": ("HTTP", text)}


def resolved(api, node):
    while "$ref" in node:
        target = api
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node
