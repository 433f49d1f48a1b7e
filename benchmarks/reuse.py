"""Let this environment import what another one has installed: ``python benchmarks/reuse.py OTHER_PYTHON``.

Writes one ``.pth`` line that names the other environment's package folder. It comes last on the path, so what is
installed here wins. Both must be the same version of Python.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

ASK = "import sys, sysconfig; print(sys.version_info[:2]); print(sysconfig.get_path('purelib'))"


def main(other: str) -> int:
    """Write the line, or say why not."""
    version, folder = subprocess.run([other, "-c", ASK], check=True, capture_output=True, text=True).stdout.splitlines()
    if version != str(sys.version_info[:2]):
        sys.stderr.write(f"{other} is Python {version}, this is {sys.version_info[:2]}: packages cannot be shared.\n")
        return 1
    (Path(sysconfig.get_path("purelib")) / "zz_reused.pth").write_text(folder + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
