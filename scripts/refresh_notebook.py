"""Execute ``examples/tour.ipynb`` and write its outputs into it.

    python scripts/refresh_notebook.py [OUT]

To change the notebook, edit its cells, then run this. With OUT, write the result there instead.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "examples" / "tour.ipynb"


def execute(path: Path) -> Any:
    """Run a notebook in its folder, with this interpreter; return it with its outputs."""

    class ThisInterpreter(KernelManager):
        """Needs no kernel to be installed."""

        @property
        def kernel_spec(self) -> KernelSpec:
            command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=command, language="python", display_name="Python 3")

    notebook = nbformat.read(path, as_version=4)
    manager = ThisInterpreter()
    client = NotebookClient(
        notebook, km=manager, timeout=600, resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
    }
    return notebook


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else NOTEBOOK
    nbformat.write(execute(NOTEBOOK), out)


if __name__ == "__main__":
    main()
