"""Small tables for notebooks."""
from ._later import html


def table(rows, head=(), caption=""):
    """HTML of rows of texts, which are escaped."""
    lines = [_line(head, "th")] if head else []
    lines += [_line(row, "td") for row in rows]
    named = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{named}{''.join(lines)}</table>"


def facts(named, caption=""):
    """HTML of names and values."""
    return table(named.items(), caption=caption)


def _line(cells, tag):
    return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
