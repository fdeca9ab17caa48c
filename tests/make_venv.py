"""Make a virtual environment with a Python that has no ensurepip, by its own pip."""

import subprocess
import sys
import venv

folder = sys.argv[1]
venv.create(folder, with_pip=False, clear=True)
bootstrap = [sys.executable, "-m", "pip", "--python", f"{folder}/bin/python", "install", "-q", "pip"]
if subprocess.run(bootstrap, check=False).returncode != 0:
    sys.exit("make: this Python has neither ensurepip nor pip (Debian: python3-venv)")
