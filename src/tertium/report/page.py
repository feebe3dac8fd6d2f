"""Pages of HTML that need nothing but themselves."""

from __future__ import annotations

from html import escape

from tertium.report.style import style as common_style


def page(title: str, body: str, *, style: str = "", pictures: bool = False) -> str:
    """Put a body into a page that loads nothing and runs nothing.

    ``pictures`` says whether images that are written out in the page itself may be shown.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'" + "; img-src data:" * pictures
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(title)}</title>
<style>{common_style()}{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
