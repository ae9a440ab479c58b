"""Builds the wheel with the program, the package `referee_kit` and its native module: the build backend of pyproject.toml.

maturin builds either a program or a module into a wheel. Here it builds the program, and finds the module among the
files of the package: docs/decisions/0030-one-wheel-from-two-builds.md says why.
"""
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Optional

import maturin
from maturin import get_requires_for_build_wheel, prepare_metadata_for_build_wheel

__all__ = ["build_wheel", "get_requires_for_build_wheel", "prepare_metadata_for_build_wheel"]

FOLDER = Path(__file__).resolve().parent
#: Where Python looks for it, whatever its version.
MODULE = FOLDER / "referee_kit" / "_native.abi3.so"


def build_wheel(wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None,
                metadata_directory: Optional[str] = None) -> str:
    """Builds both. MATURIN_PEP517_ARGS has more arguments, such as `--profile dev`."""
    # The tag of the C library that the program needs: without it, maturin names none.
    arguments = ["--compatibility", "pypi"] + os.environ.get("MATURIN_PEP517_ARGS", "").split()
    os.environ["MATURIN_PEP517_ARGS"] = " ".join(arguments)
    profile = arguments[arguments.index("--profile") + 1] if "--profile" in arguments else "release"
    try:
        shutil.copyfile(build_module(profile), MODULE)
        name: str = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
        return name
    finally:
        if MODULE.exists():
            MODULE.unlink()


def build_module(profile: str) -> str:
    """Builds the module, and returns the path of the library."""
    command = ["cargo", "build", "--locked", "--profile", profile, "--manifest-path", str(FOLDER / "Cargo.toml"),
               "--message-format", "json-render-diagnostics"]
    built = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    files: List[str] = []
    for line in built.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == "referee_native":
            files += message["filenames"]
    [library] = [file for file in files if file.endswith((".so", ".dylib"))]
    return library
