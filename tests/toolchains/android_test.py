"""android.cmake gives an NDK what Topwork chose. No NDK is needed: a folder with a toolchain file of its own stands in,
which notes what it is given and leaves the work to this machine's compiler. Nothing is linked for Android here.

Usage: android_test.py CMAKE
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ABIS = ("arm64-v8a", "armeabi-v7a", "x86_64")
WANTED = {"ANDROID_PLATFORM": "android-24", "ANDROID_STL": "c++_static", "ANDROID_SUPPORT_FLEXIBLE_PAGE_SIZES": "ON",
          "ANDROID_ARM_MODE": "arm"}
STAND_IN = """foreach(name IN ITEMS ANDROID_ABI {names})
  message(STATUS "given ${{name}}=${{${{name}}}}")
endforeach()
set(ANDROID TRUE)
"""


def run(*command, **environment):
    clean = {key: value for key, value in os.environ.items() if key != "ANDROID_NDK"}
    return subprocess.run(list(map(str, command)), cwd=ROOT, env={**clean, **environment}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def check_presets():
    presets = {p["name"]: p for p in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
    assert presets["android"]["toolchainFile"].endswith("toolchains/android.cmake"), presets["android"]
    for abi in ABIS:
        preset = presets[f"android-{abi}"]
        assert preset["inherits"] == "android" and preset["cacheVariables"]["ANDROID_ABI"] == abi, preset


def check_given(cmake, ndk, folder):
    """The toolchain file by itself, as a script: for each ABI, then with what the user chose."""
    toolchain = f'include("{ROOT}/toolchains/android.cmake")\n'
    script = folder / "given.cmake"
    for abi, platform in [*((abi, None) for abi in ABIS), ("arm64-v8a", "android-30")]:
        script.write_text(toolchain)
        options = [f"-DANDROID_ABI={abi}"] + ([f"-DANDROID_PLATFORM={platform}"] if platform else [])
        done = run(cmake, *options, "-P", script, ANDROID_NDK=str(ndk))
        given = dict(re.findall(r"given (\w+)=(.*)", done.stdout))
        wanted = {**WANTED, "ANDROID_ABI": abi, **({"ANDROID_PLATFORM": platform} if platform else {})}
        assert given == wanted, f"{given} instead of {wanted}\n{done.stdout}"
    done = run(cmake, "-P", script)
    assert done.returncode != 0 and "ANDROID_NDK='' has no" in done.stdout, done.stdout


def check_library(cmake, ndk, folder):
    """How the preset links libraries: the C++ library's names stay inside, no folder of this machine is searched."""
    build = folder / "build"
    done = run(cmake, "--preset", "android-arm64-v8a", "-B", build, f"-DANDROID_NDK={ndk}", "-DTOPWORK_TESTS=OFF",
               "-DTOPWORK_TOOLS=OFF")
    assert done.returncode == 0, done.stdout[-3000:]
    for name in ("libtopwork", "libtopwork_jni"):
        found = re.search(rf"^build {name}\.so.*?^$", (build / "build.ninja").read_text(), re.MULTILINE | re.DOTALL)
        if found is None and name == "libtopwork_jni":
            print("SKIP libtopwork_jni.so: no JDK is installed")
            continue
        library = found.group()
        for flag in ("-Wl,--exclude-libs,ALL", "-Wl,--version-script=", "-Wl,-z,relro,-z,now,-z,noexecstack"):
            assert flag in library, f"{name}.so is linked without {flag}\n{library}"
        assert "rpath" not in library, f"{name}.so searches folders\n{library}"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ndk = folder / "ndk"
        file = ndk / "build/cmake/android.toolchain.cmake"
        file.parent.mkdir(parents=True)
        file.write_text(STAND_IN.format(names=" ".join(WANTED)))
        check_presets()
        check_given(sys.argv[1], ndk, folder)
        check_library(sys.argv[1], ndk, folder)
    print("an NDK would be given the right variables")


if __name__ == "__main__":
    main()
