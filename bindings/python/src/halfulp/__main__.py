"""python -m halfulp runs the program."""

import os
import sys
import sysconfig
from pathlib import Path


def main() -> None:
    """Replaces this process by the program halfulp of this installation."""
    name = "halfulp.exe" if os.name == "nt" else "halfulp"
    folders = [Path(sysconfig.get_path("scripts")), Path(sys.prefix) / "bin", Path(__file__).parent / "bin"]
    for folder in folders:
        program = folder / name
        if program.is_file():
            os.execv(program, [str(program), *sys.argv[1:]])
    sys.exit(f"the program {name} is not installed beside this package")


if __name__ == "__main__":
    main()
