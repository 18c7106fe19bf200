"""Notebooks as pages: their texts, code and printed output."""
import json


def pages(folder):
    """Path of each page -> (title, Markdown), where the notebooks lie, so that their links lead where they led."""
    return {f"examples/notebooks/{file.stem}.md": page_of(json.loads(file.read_text())) for file in sorted(folder.glob("*.ipynb"))}


def page_of(notebook):
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"```python\n{text}\n```")
        shown = "".join(printed(one) for one in cell["outputs"]).rstrip("\n")
        if shown:
            parts.append(f"```text\n{shown}\n```")
    title = parts[0].splitlines()[0].removeprefix("# ")
    return title, "\n\n".join(parts) + "\n"


def printed(output):
    text = output.get("text") or output.get("data", {}).get("text/plain", "")
    return "".join(text).rstrip("\n") + "\n"
