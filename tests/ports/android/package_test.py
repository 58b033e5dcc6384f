"""The Android package: what lies in it, what it says of itself, and that it names all that native code looks up.

Usage: package_test.py CACHE
  CACHE  Maven's repository; with Android's framework in it and aapt2 installed, aapt2 reads the manifest
"""
import glob
import hashlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
import zipfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
PORT = os.path.join(ROOT, "ports", "android")
HEADERS = os.path.join(ROOT, "runtime", "include")
ANDROID = "{http://schemas.android.com/apk/res/android}"
cache = ""


def load_package():
    spec = importlib.util.spec_from_file_location("package", os.path.join(PORT, "aar", "package.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


package = load_package()


def text(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def make(folder, name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


class Aar(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for abi in package.ABIS:
            make(self.folder, f"libs/{abi}/libtopwork.so", abi.encode())
            make(self.folder, f"libs/{abi}/libtopwork_jni.so", b"jni " + abi.encode())
        make(self.folder, "ndk/source.properties", b"Pkg.Desc = Android NDK\nPkg.Revision = 27.2.12479018\n")
        for artifact in package.ARTIFACTS:
            for suffix in (".jar", "-sources.jar"):
                make(self.folder, f"jars/{artifact}/{artifact}-1.2.3{suffix}", (artifact + suffix).encode())

    def run_package(self, *arguments):
        subprocess.run([sys.executable, "-B", os.path.join(PORT, "aar", "package.py"), "--version", "1.2.3",
                        "--jars", f"{self.folder}/jars", "--headers", HEADERS, "--out", f"{self.folder}/out",
                        *arguments], check=True, stdout=subprocess.DEVNULL)
        with open(f"{self.folder}/out/topwork-1.2.3.aar", "rb") as file:
            return file.read()

    def with_libraries(self):
        return self.run_package("--libs", f"{self.folder}/libs", "--ndk", f"{self.folder}/ndk")

    def test_without_libraries_it_has_no_prefab(self):
        names = zipfile.ZipFile(io.BytesIO(self.run_package())).namelist()
        self.assertEqual(sorted(names), [
            "AndroidManifest.xml", "META-INF/com/android/build/gradle/aar-metadata.properties", "R.txt",
            "classes.jar", "proguard.txt"])

    def test_libraries_lie_for_java_and_for_native_code(self):
        archive = zipfile.ZipFile(io.BytesIO(self.with_libraries()))
        for abi in ("arm64-v8a", "armeabi-v7a", "x86_64"):
            self.assertEqual(archive.read(f"jni/{abi}/libtopwork.so"), abi.encode())
            self.assertEqual(archive.read(f"jni/{abi}/libtopwork_jni.so"), b"jni " + abi.encode())
            module = f"prefab/modules/topwork/libs/android.{abi}"
            self.assertEqual(archive.read(f"{module}/libtopwork.so"), abi.encode())
            self.assertEqual(json.loads(archive.read(f"{module}/abi.json")),
                             {"abi": abi, "api": 24, "ndk": 27, "stl": "none", "static": False})
        self.assertEqual(json.loads(archive.read("prefab/prefab.json")),
                         {"schema_version": 2, "name": "topwork", "version": "1.2.3", "dependencies": []})
        self.assertEqual(json.loads(archive.read("prefab/modules/topwork/module.json")),
                         {"export_libraries": [], "android": {}})
        for name in os.listdir(os.path.join(HEADERS, "topwork")):
            self.assertEqual(archive.read(f"prefab/modules/topwork/include/topwork/{name}").decode(),
                             text(HEADERS, "topwork", name))
        self.assertEqual(archive.read("classes.jar"), b"topwork.jar")

    def test_the_same_input_gives_the_same_bytes(self):
        self.assertEqual(self.with_libraries(), self.with_libraries())

    def test_the_repository_is_one_that_maven_reads(self):
        self.with_libraries()
        for artifact, kind in (("topwork", "aar"), ("topwork-ktx", "jar"), ("topwork-tflite", "jar")):
            folder = f"{self.folder}/out/repository/org/topwork/{artifact}/1.2.3"
            pom = xml.parse(f"{folder}/{artifact}-1.2.3.pom").getroot()
            self.assertEqual([pom.findtext(tag) for tag in ("groupId", "artifactId", "version", "packaging")],
                             ["org.topwork", artifact, "1.2.3", kind])
            needs = {d.findtext("artifactId"): d.findtext("type") for d in pom.iter("dependency")}
            self.assertEqual(needs.get("topwork"), None if artifact == "topwork" else "aar")
            for suffix in (f".{kind}", ".pom", "-sources.jar"):
                with open(f"{folder}/{artifact}-1.2.3{suffix}", "rb") as file:
                    data = file.read()
                self.assertEqual(text(f"{folder}/{artifact}-1.2.3{suffix}.sha1"), hashlib.sha1(data).hexdigest())

    def test_a_missing_jar_is_named(self):
        os.remove(f"{self.folder}/jars/topwork-ktx/topwork-ktx-1.2.3.jar")
        done = subprocess.run([sys.executable, "-B", os.path.join(PORT, "aar", "package.py"), "--version", "1.2.3",
                               "--jars", f"{self.folder}/jars", "--headers", HEADERS, "--out", self.folder],
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"topwork-ktx-1.2.3.jar is missing", done.stderr)


class Manifest(unittest.TestCase):
    PATH = os.path.join(PORT, "aar", "AndroidManifest.xml")

    def test_opencl_is_asked_for_and_not_required(self):
        manifest = xml.parse(self.PATH).getroot()
        self.assertEqual(manifest.find("uses-sdk").get(ANDROID + "minSdkVersion"), str(package.MIN_SDK))
        libraries = {e.get(ANDROID + "name"): e.get(ANDROID + "required")
                     for e in manifest.iter("uses-native-library")}
        self.assertEqual(libraries, {name: "false" for name in (
            "libOpenCL.so", "libOpenCL-pixel.so", "libOpenCL-car.so")})

    def test_aapt2_reads_it(self):
        frameworks = glob.glob(os.path.join(cache, "org", "robolectric", "android-all", "*", "*.jar"))
        if not shutil.which("aapt2") or not frameworks:
            self.skipTest("aapt2 is not installed" if frameworks else "Android's framework is not in " + cache)
        with tempfile.TemporaryDirectory() as folder:
            # Debian's aapt2 is older than uses-native-library, which is a warning then.
            subprocess.run(["aapt2", "link", "--warn-manifest-validation", "-o", f"{folder}/x.apk", "--manifest",
                            self.PATH, "-I", frameworks[0]], check=True, stderr=subprocess.DEVNULL)
            tree = subprocess.run(["aapt2", "dump", "xmltree", "--file", "AndroidManifest.xml", f"{folder}/x.apk"],
                                  check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        self.assertEqual(tree.count("android:required(0x0101028e)=false"), 3)
        self.assertIn("android:minSdkVersion(0x0101020c)=24", tree)


class Sources(unittest.TestCase):
    """What the compilers do not check."""

    def native(self):
        return "\n".join(text(path) for path in glob.glob(os.path.join(PORT, "jni", "*.cc")))

    def test_proguard_keeps_what_native_code_names(self):
        native, rules = self.native(), text(PORT, "aar", "proguard.txt")
        for name in set(re.findall(r'Find(?:Class|Fields)\(env, "org/topwork/(\w+)"', native)):
            self.assertRegex(rules, rf"-keep class org\.topwork\.{name} {{")
        for name in set(re.findall(r'FindFields\(env, "org/topwork/(\w+)"', native)):
            self.assertRegex(rules, rf"class org\.topwork\.{name} {{ <fields>;")
        for name in set(re.findall(r'GetMethodID\([^,]+,\s*"(\w+)"', native)):
            self.assertRegex(rules, rf"\b{name}\(\.\.\.\);")

    def test_every_native_method_is_registered(self):
        native = self.native()
        declared = set()
        for path in glob.glob(os.path.join(PORT, "api", "src", "main", "java", "org", "topwork", "*.java")):
            declared |= set(re.findall(r"static native [\w\[\].]+ (\w+)\(", text(path)))
        registered = set(re.findall(r'\{"(native\w+)",', native))
        self.assertEqual(declared, registered)

    def test_every_public_class_and_method_is_documented(self):
        found = 0
        for path in glob.glob(os.path.join(PORT, "*", "src", "main", "**", "*.*"), recursive=True):
            lines = text(path).split("\n")
            for i, line in enumerate(lines):
                if re.match(r" *public (?!override)", line):
                    above = [a.strip() for a in lines[:i] if a.strip() and not a.strip().startswith("@FunctionalI")]
                    is_documented = above[-1].endswith("*/") or above[-1] == "@Override"
                    self.assertTrue(is_documented, f"{path}:{i + 1}: {line.strip()} has no comment")
                    found += 1
        self.assertGreater(found, 100)

    def test_lines_are_short(self):
        for path in glob.glob(os.path.join(PORT, "**", "*.java"), recursive=True):
            self.assertLessEqual(max(map(len, text(path).split("\n"))), 100, path)


if __name__ == "__main__":
    cache = sys.argv.pop(1)
    unittest.main()
