"""Builds and runs a C program against the library the way users do.

Usage: consumer.py find_package|add_subdirectory|pkg_config --build DIR --cmake CMAKE --version V
                   --cc CC --cxx CXX --generator G
Installs DIR into a temporary prefix first (not for add_subdirectory) and moves it, because an
installed package must not depend on where it was installed. Exit 77: pkg-config is missing.
"""
import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def run(*command, **options):
    print("+", " ".join(command), flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode}:\n{done.stdout.decode()}")
    return done.stdout.decode()


def install(arguments, folder):
    first, prefix = os.path.join(folder, "first"), os.path.join(folder, "moved here")
    run(arguments.cmake, "--install", arguments.build, "--prefix", first)
    os.rename(first, prefix)
    return prefix


def check(program, version, **options):
    printed = run(program, **options).strip()
    if printed != version:
        sys.exit(f"{program} prints {printed!r}, not {version!r}")


def with_cmake(arguments, folder, *definitions):
    binary = os.path.join(folder, "build")
    run(arguments.cmake, "-S", os.path.join(HERE, arguments.kind), "-B", binary, "-G", arguments.generator,
        f"-DCMAKE_C_COMPILER={arguments.cc}", f"-DCMAKE_CXX_COMPILER={arguments.cxx}", *definitions)
    run(arguments.cmake, "--build", binary, "--parallel", "2")
    for name in ("shared", "static"):
        check(os.path.join(binary, name), arguments.version)


def find_package(arguments, folder):
    with_cmake(arguments, folder, "-DCMAKE_BUILD_TYPE=Release",
               f"-DCMAKE_PREFIX_PATH={install(arguments, folder)}")


def add_subdirectory(arguments, folder):
    # Other builds test how fast it is and its instruction sets: this one takes a third of their time.
    with_cmake(arguments, folder, "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0",
               "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DTOPWORK_ONLY_ISAS=baseline")


def pkg_config(arguments, folder):
    if shutil.which("pkg-config") is None:
        print("SKIP pkg_config: pkg-config is not installed (Debian: apt install pkg-config)")
        sys.exit(77)
    prefix = install(arguments, folder)
    pc = next(path for path, _, names in os.walk(prefix) if "topwork.pc" in names)
    environment = dict(os.environ, PKG_CONFIG_PATH=pc)
    found = run("pkg-config", "--modversion", "topwork", env=environment).strip()
    if found != arguments.version:
        sys.exit(f"topwork.pc says version {found!r}, not {arguments.version!r}")
    source = os.path.join(HERE, "main.c")
    flags = {static: shlex.split(run("pkg-config", "--cflags", "--libs", *static, "topwork", env=environment))
             for static in ((), ("--static",))}
    run(arguments.cc, source, "-o", folder + "/shared", *flags[()])
    library = os.path.dirname(pc)
    check(folder + "/shared", arguments.version, env=dict(os.environ, LD_LIBRARY_PATH=library))
    os.rename(os.path.join(library, "libtopwork.so"), os.path.join(library, "libtopwork.so.off"))
    run(arguments.cc, source, "-o", folder + "/static", *flags[("--static",)])
    check(folder + "/static", arguments.version)


parser = argparse.ArgumentParser()
parser.add_argument("kind", choices=["find_package", "add_subdirectory", "pkg_config"])
for name in ("build", "cmake", "version", "cc", "cxx", "generator"):
    parser.add_argument("--" + name, required=True)
parsed = parser.parse_args()
with tempfile.TemporaryDirectory(prefix="topwork_consumer_") as temporary:
    globals()[parsed.kind](parsed, temporary)
print(f"{parsed.kind}: version {parsed.version}, shared and static")
