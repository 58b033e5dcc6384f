"""The sample's resources and its activity compile, as Gradle would do it: aapt2 makes R, javac compiles against
Android's framework and the library's classes.

Usage: sample_test.py CACHE CLASSES OUT
  CACHE    Maven's repository, with Android's framework
  CLASSES  the folder of the library's classes
  OUT      a folder for what is built
"""
import glob
import os
import shutil
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
MAIN = os.path.join(ROOT, "ports", "android", "sample", "app", "src", "main")
SKIPPED = 77


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout.decode() + "\nfailed: " + " ".join(command))


def main():
    cache, classes, out = sys.argv[1:]
    frameworks = glob.glob(os.path.join(cache, "org", "robolectric", "android-all", "*", "*.jar"))
    for wanted, found in (("aapt2", shutil.which("aapt2")), ("javac", shutil.which("javac")),
                          ("Android's framework", frameworks), ("the library's classes", os.path.isdir(classes))):
        if not found:
            print(f"SKIP android_sample: {wanted} is missing")
            sys.exit(SKIPPED)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    manifest = os.path.join(out, "AndroidManifest.xml")
    with open(os.path.join(MAIN, "AndroidManifest.xml"), encoding="utf-8") as file:
        text = file.read()
    with open(manifest, "w", encoding="utf-8") as file:  # Gradle writes the package, too
        file.write(text.replace("<manifest ", '<manifest package="org.topwork.sample" '))
    run("aapt2", "compile", "--dir", os.path.join(MAIN, "res"), "-o", f"{out}/res.zip")
    run("aapt2", "link", "-o", f"{out}/sample.apk", "--manifest", manifest, "-I", frameworks[0], "--java", f"{out}/gen",
        "--min-sdk-version", "24", "--target-sdk-version", "24", "--auto-add-overlay", f"{out}/res.zip")
    sources = glob.glob(os.path.join(MAIN, "java", "**", "*.java"), recursive=True)
    generated = glob.glob(f"{out}/gen/**/R.java", recursive=True)
    assert any(path.endswith("MainActivity.java") for path in sources) and len(generated) == 1
    run("javac", "-Xlint:all,-options,-deprecation,-path,-classfile,-try", "-Werror", "--release", "8",
        "-cp", classes + os.pathsep + frameworks[0], "-d", f"{out}/classes", *sources, *generated)
    assert os.path.exists(f"{out}/classes/org/topwork/sample/MainActivity.class")
    print("the sample's resources and classes compile")


main()
