"""R8, Android's shrinker, leaves an application working by the rules of the library's package alone.

Usage: shrink_test.py CACHE JARS NATIVE OUT
  CACHE   Maven's repository, with Android's framework; R8 is fetched into it
  JARS    the folder of the library's jars, one folder an artifact
  NATIVE  the folder of libtopwork.so and libtopwork_jni.so of this machine
  OUT     a folder for what is built
The application (shrink/App.java) runs on this machine's JVM as it is and shrunk, and prints the same. Shrunk without
the rules it must fail, or the test would find nothing. R8 also makes of it what a phone runs (classes.dex).
"""
import glob
import os
import shutil
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
RULES = os.path.join(ROOT, "ports", "android", "aar", "proguard.txt")
MODEL = os.path.join(ROOT, "models", "zoo", "digits_cnn_f32.tflite")
R8 = "8.5.35"
SKIPPED = 77


def skip(why):
    print(f"SKIP android_shrink: {why}")
    sys.exit(SKIPPED)


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode != 0:
        sys.exit(done.stdout.decode()[-4000:] + "\nfailed: " + " ".join(command))
    return done.stdout.decode()


def fetch_r8(cache):
    jar = os.path.join(cache, "com", "android", "tools", "r8", R8, f"r8-{R8}.jar")
    if not os.path.exists(jar):
        if not shutil.which("mvn"):
            skip("Maven is not installed (toolchains/install-deps.sh test)")
        done = subprocess.run(["mvn", "-B", "-ntp", "-q", f"-Dmaven.repo.local={cache}", "-Dtransitive=false",
                               "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get",
                               f"-Dartifact=com.android.tools:r8:{R8}"], check=False)
        if done.returncode != 0:
            skip(f"Maven cannot fetch com.android.tools:r8:{R8}")
    return jar


class Shrinker:
    def __init__(self, r8, framework, jars, out):
        java_home = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("javac"))))
        self.r8, self.jars, self.out = r8, jars, out
        self.library = ["--lib", framework, "--lib", java_home]  # the framework's jar has no java.lang
        self.main_rule = f"{out}/main.pro"
        with open(self.main_rule, "w", encoding="utf-8") as file:
            file.write("-keep class app.App { public static void main(java.lang.String[]); }\n")

    def shrink(self, name, form, rules):
        path = f"{self.out}/{name}"
        arguments = [argument for file in [self.main_rule, *rules] for argument in ("--pg-conf", file)]
        run("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", self.r8, "com.android.tools.r8.R8", "--release", *form, *self.library,
            *arguments, "--output", path, *self.jars)
        return path


def call(native, out, *classes):
    """Runs the application. Returns its exit code and what it printed."""
    os.makedirs(f"{out}/no_drivers", exist_ok=True)
    done = subprocess.run(
        ["java", "-Xcheck:jni", f"-Djava.library.path={native}", "-cp", os.pathsep.join(classes), "app.App", MODEL, out],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        env={**os.environ, "OCL_ICD_VENDORS": f"{out}/no_drivers"})
    return done.returncode, done.stdout.decode()


def classes_of(path):
    return {name for name in zipfile.ZipFile(path).namelist() if name.endswith(".class")}


def main():
    cache, jars, native, out = sys.argv[1:]
    frameworks = glob.glob(os.path.join(cache, "org", "robolectric", "android-all", "*", "*.jar"))
    library = [path for name in ("topwork", "topwork-tflite")
               for path in glob.glob(os.path.join(jars, name, f"{name}-[0-9]*.[0-9].jar"))]
    for wanted, found in (("javac", shutil.which("javac")), ("Android's framework", frameworks),
                          ("a jar of the library", len(library) == 2)):
        if not found:
            skip(f"{wanted} is missing")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(f"{out}/classes")
    tflite = glob.glob(os.path.join(cache, "org", "tensorflow", "tensorflow-lite-api", "*", "*.jar"))
    run("javac", "-Xlint:all,-options,-path,-classfile,-try", "-Werror", "--release", "8", "-cp",
        os.pathsep.join([*library, *tflite, frameworks[0]]), "-d", f"{out}/classes", os.path.join(HERE, "shrink", "App.java"))
    app = f"{out}/app.jar"
    run("jar", "cf", app, "-C", f"{out}/classes", ".")
    shrinker = Shrinker(fetch_r8(cache), frameworks[0], [app, *library, *tflite], out)

    code, expected = call(native, out, app, *library, *tflite)
    assert code == 0 and expected.count("epoch") == 3 and "mine.tflite" not in expected, expected
    shrunk = shrinker.shrink("shrunk.jar", ["--classfile"], [RULES])
    code, found = call(native, out, shrunk)
    assert code == 0 and found == expected, f"shrunk, with the library's rules:\n{found}\nas it was:\n{expected}"
    whole = set().union(*(classes_of(path) for path in library))
    left = whole & classes_of(shrunk)
    assert len(left) < len(whole) / 2, f"R8 shrank nothing: {sorted(left)}"

    code, found = call(native, out, shrinker.shrink("bare.jar", ["--classfile"], []))
    assert code != 0, f"shrunk without the library's rules, the application still works:\n{found}"

    dex = shrinker.shrink("dex.zip", ["--min-api", "24"], [RULES])
    assert "classes.dex" in zipfile.ZipFile(dex).namelist()
    print(f"R8 {R8}: {len(whole)} classes of the library, {len(left)} keep their names; the application prints the same")


main()
