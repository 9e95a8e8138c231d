"""Builds the package with the standard library alone (PEP 517): a wheel is a zip file with metadata."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent
PROJECT = (ROOT / "pyproject.toml").read_text()
WHEEL = "Wheel-Version: 1.0\nGenerator: runwire\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def _field(name: str) -> str:
    # Python 3.10 has no parser of TOML.
    found = re.search(rf'^{name} = "(.*)"$', PROJECT, re.MULTILINE)
    if found is None:
        raise ValueError(f"pyproject.toml has no `{name}`.")
    return found[1]


NAME = f"{_field('name')}-{_field('version')}"


def _metadata() -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {_field('name')}",
        f"Version: {_field('version')}",
        f"Summary: {_field('description')}",
        f"Requires-Python: {_field('requires-python')}",
        "License: Apache-2.0",
        "Classifier: Programming Language :: Python :: 3",
        "Classifier: Typing :: Typed",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (ROOT / "README.md").read_text("utf-8")


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    files = {f"runwire/{path.name}": path.read_bytes() for path in _sources()}
    files[f"{NAME}.dist-info/METADATA"] = _metadata().encode()
    files[f"{NAME}.dist-info/WHEEL"] = WHEEL.encode()
    record = f"{NAME}.dist-info/RECORD"
    lines = [f"{name},sha256={_hash(data)},{len(data)}" for name, data in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    file_name = f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / file_name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
    return file_name


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    file_name = f"{NAME}.tar.gz"
    with tarfile.open(Path(sdist_directory) / file_name, "w:gz") as archive:
        for path in [*_sources(), *(ROOT / name for name in ("pyproject.toml", "build_backend.py", "README.md"))]:
            archive.add(path, f"{NAME}/{path.relative_to(ROOT)}")
        info = tarfile.TarInfo(f"{NAME}/PKG-INFO")
        metadata = _metadata().encode()
        info.size = len(metadata)
        archive.addfile(info, io.BytesIO(metadata))
    return file_name


def _sources() -> list[Path]:
    return sorted(path for path in (ROOT / "src/runwire").iterdir() if path.suffix in (".py", ".typed"))
