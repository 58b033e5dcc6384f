"""Makes topwork-VERSION.aar and the Maven repository of the Java and Kotlin artifacts.

Usage: package.py --version V --jars DIR --headers DIR --out DIR [--libs DIR --ndk DIR]
  --jars     has <artifact>/<artifact>-V.jar and -V-sources.jar, as Maven built them
  --headers  the folder that holds topwork/topwork.h
  --libs     has <abi>/libtopwork.so and <abi>/libtopwork_jni.so; without it the AAR has no libraries
  --ndk      that built them
The same input gives the same bytes. The prefab part lets native code of an application link to
libtopwork.so: a C interface, with no C++ runtime in common ("stl": "none").
"""
import argparse
import hashlib
import json
import os
import re
import shutil
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
GROUP = "org.topwork"
MIN_SDK = 24
ABIS = ("arm64-v8a", "armeabi-v7a", "x86_64")
# The manifest's uses-native-library came with SDK 31.
AAR_METADATA = "aarFormatVersion=1.0\naarMetadataVersion=1.0\nminCompileSdk=31\nminAndroidGradlePluginVersion=4.1.0\n"
COROUTINES = ("org.jetbrains.kotlinx", "kotlinx-coroutines-core", "1.8.1")
TFLITE_API = ("org.tensorflow", "tensorflow-lite-api", "2.14.0")
# Artifact: (packaging, description, what it needs beside org.topwork:topwork).
ARTIFACTS = {
    "topwork": ("aar", "Runs .tflite models and re-trains their last layer on the device", []),
    "topwork-ktx": ("jar", "Kotlin extensions of Topwork", [COROUTINES]),
    "topwork-tflite": ("jar", "org.tensorflow.lite's Interpreter on Topwork", [TFLITE_API]),
}


def read(*parts):
    with open(os.path.join(*parts), "rb") as file:
        return file.read()


def as_json(value):
    return json.dumps(value, indent=2).encode() + b"\n"


def ndk_major(ndk):
    """The first number of Pkg.Revision in the NDK's source.properties."""
    return int(re.search(rb"Pkg\.Revision *= *(\d+)", read(ndk, "source.properties"))[1])


def prefab(version, headers, libs, ndk):
    """The files of the prefab part: {path: bytes}."""
    module = "prefab/modules/topwork"
    files = {
        "prefab/prefab.json": as_json({"schema_version": 2, "name": "topwork", "version": version, "dependencies": []}),
        f"{module}/module.json": as_json({"export_libraries": [], "android": {}}),
    }
    for name in sorted(os.listdir(os.path.join(headers, "topwork"))):
        files[f"{module}/include/topwork/{name}"] = read(headers, "topwork", name)
    for abi in abis(libs):
        files[f"{module}/libs/android.{abi}/libtopwork.so"] = read(libs, abi, "libtopwork.so")
        files[f"{module}/libs/android.{abi}/abi.json"] = as_json(
            {"abi": abi, "api": MIN_SDK, "ndk": ndk_major(ndk), "stl": "none", "static": False})
    return files


def abis(libs):
    return [abi for abi in ABIS if os.path.isdir(os.path.join(libs, abi))]


def aar(version, classes, headers, libs=None, ndk=None):
    """The files of the AAR: {path: bytes}."""
    files = {
        "AndroidManifest.xml": read(HERE, "AndroidManifest.xml"),
        "classes.jar": classes,
        "R.txt": b"",
        "proguard.txt": read(HERE, "proguard.txt"),
        "META-INF/com/android/build/gradle/aar-metadata.properties": AAR_METADATA.encode(),
    }
    if libs:
        for abi in abis(libs):
            for name in ("libtopwork.so", "libtopwork_jni.so"):
                files[f"jni/{abi}/{name}"] = read(libs, abi, name)
        files.update(prefab(version, headers, libs, ndk))
    return files


def write_zip(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED)


def dependency(group, artifact, version, kind):
    lines = [f"<groupId>{group}</groupId>", f"<artifactId>{artifact}</artifactId>", f"<version>{version}</version>",
             f"<type>{kind}</type>", "<scope>compile</scope>"]
    return "    <dependency>\n" + "".join(f"      {line}\n" for line in lines) + "    </dependency>\n"


def pom(artifact, version):
    packaging, description, needs = ARTIFACTS[artifact]
    needed = "" if artifact == "topwork" else dependency(GROUP, "topwork", version, "aar")
    for group, name, number in needs:
        needed += dependency(group, name, number, "aar" if name == TFLITE_API[1] else "jar")
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>{GROUP}</groupId>
  <artifactId>{artifact}</artifactId>
  <version>{version}</version>
  <packaging>{packaging}</packaging>
  <name>{artifact}</name>
  <description>{description}</description>
  <licenses>
    <license>
      <name>Apache-2.0</name>
    </license>
  </licenses>
  <dependencies>
{needed}  </dependencies>
</project>
"""


def publish(repository, artifact, version, files):
    """Writes {suffix: bytes} as files of the artifact, each with its checksum."""
    folder = os.path.join(repository, *GROUP.split("."), artifact, version)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for suffix, data in files.items():
        path = os.path.join(folder, f"{artifact}-{version}{suffix}")
        with open(path, "wb") as file:
            file.write(data)
        for kind in ("sha1", "sha256"):
            with open(f"{path}.{kind}", "w", encoding="ascii") as file:
                file.write(hashlib.new(kind, data).hexdigest())


def main():
    parser = argparse.ArgumentParser()
    for name in ("--version", "--jars", "--headers", "--out"):
        parser.add_argument(name, required=True)
    parser.add_argument("--libs")
    parser.add_argument("--ndk")
    options = parser.parse_args()
    version = options.version
    os.makedirs(options.out, exist_ok=True)
    package = os.path.join(options.out, f"topwork-{version}.aar")
    for artifact, (packaging, _, _) in ARTIFACTS.items():
        built = os.path.join(options.jars, artifact, f"{artifact}-{version}")
        if not os.path.exists(f"{built}.jar"):
            raise SystemExit(f"{built}.jar is missing: Maven has not built it")
        files = {".pom": pom(artifact, version).encode(), "-sources.jar": read(f"{built}-sources.jar")}
        files[f".{packaging}"] = read(f"{built}.jar")
        if packaging == "aar":
            write_zip(package, aar(version, files[".aar"], options.headers, options.libs, options.ndk))
            files[".aar"] = read(package)
        publish(os.path.join(options.out, "repository"), artifact, version, files)
    print(f"{package}: " + (", ".join(abis(options.libs)) if options.libs else "without native libraries"))


if __name__ == "__main__":
    main()
