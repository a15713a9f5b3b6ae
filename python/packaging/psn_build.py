"""Builds the wheel of psn by CMake: what pip asks of a build backend (PEP 517).

    pip install --no-build-isolation .
    pip wheel --no-build-isolation --config-settings build-dir=build .

The second uses a build that is there already. Libraries of Debian's are not part of the wheel.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

METADATA = """Metadata-Version: 2.1
Name: psn
Version: {version}
Summary: Surrogates and posteriors of probabilistic programs
License: BSD-3-Clause
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: ppx
Requires-Dist: pyzmq ; extra == 'ppx'
Requires-Dist: flatbuffers ; extra == 'ppx'
"""


def version():
    return re.search(r"project\(psn VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def tag():
    python = "cp%d%d" % sys.version_info[:2]
    return "%s-%s-%s" % (python, python, re.sub("[-.]", "_", sysconfig.get_platform()))


def build(folder):
    if not (folder / "CMakeCache.txt").exists():
        cache = shutil.which("ccache")
        subprocess.run(
            ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             "-DCMAKE_UNITY_BUILD=ON", "-DPSN_TESTS=OFF", "-DPSN_BENCH=OFF",
             "-DPSN_PYTHON=" + sys.executable,
             *(["-DCMAKE_CXX_COMPILER_LAUNCHER=" + cache] if cache else [])], check=True)
    environment = {**os.environ, "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
    subprocess.run(["cmake", "--build", folder, "--target", "psn_python"], check=True,
                   env=environment)


def add_folder(wheel, folder, records):
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        content = path.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        records.append("%s,sha256=%s,%d" % (name, digest, len(content)))
        wheel.write(path, name)


def write_about(folder):
    about = folder / ("psn-%s.dist-info" % version())
    about.mkdir()
    (about / "METADATA").write_text(METADATA.format(version=version()))
    (about / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: psn\nRoot-Is-Purelib: false\nTag: %s\n" % tag())
    shutil.copy(ROOT / "LICENSE", about)
    return about.name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return write_about(pathlib.Path(metadata_directory))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    given = (config_settings or {}).get("build-dir")
    folder = pathlib.Path(given).resolve() if given else ROOT / "build" / ("wheel-" + tag())
    build(folder)
    name = "psn-%s-%s.whl" % (version(), tag())
    with tempfile.TemporaryDirectory() as staging:
        staging = pathlib.Path(staging)
        subprocess.run(["cmake", "--install", folder, "--component", "python", "--strip",
                        "--prefix", staging], check=True, stdout=subprocess.DEVNULL)
        about = write_about(staging)
        with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w",
                             zipfile.ZIP_DEFLATED) as wheel:
            records = []
            add_folder(wheel, staging, records)
            wheel.writestr(about + "/RECORD", "\n".join([*records, about + "/RECORD,,", ""]))
    return name
