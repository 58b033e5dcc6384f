"""Builds and runs a C program against the library the way users do.

Usage: consumer.py KIND --build DIR --cmake CMAKE --version V --cc CC --cxx CXX --generator G
KIND: find_package, add_subdirectory, fetch_content, pkg_config, meson, meson_source, conan, vcpkg
With --long, meson_source, fetch_content and conan compile all of the library; otherwise they end before.
Where an installed library is used, installs DIR into a temporary prefix first and moves it, because an
installed package must not depend on where it was installed. Exit 77: a tool is missing (it says which).
"""
import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
# Of builds from source: other builds test how fast it is and its instruction sets; this takes a third of their time.
QUICK = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
         "-DTOPWORK_ONLY_ISAS=baseline", "-DTOPWORK_CCACHE=ON"]


def need(tool, package, hints=()):
    """The program's path; ends the test as skipped where it is missing."""
    found = next((hint for hint in hints if os.path.exists(hint)), None) or shutil.which(tool)
    if found is None:
        print(f"SKIP {parsed.kind}: {tool} is not installed ({package})")
        sys.exit(77)
    return found


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


def from_source(arguments, folder):
    with_cmake(arguments, folder, *QUICK)


add_subdirectory = from_source


def fetch_content(arguments, folder):
    """As add_subdirectory, which FetchContent calls; by default only up to the list of what would be compiled."""
    if arguments.long:
        return from_source(arguments, folder)
    binary = os.path.join(folder, "build")
    run(arguments.cmake, "-S", os.path.join(HERE, "fetch_content"), "-B", binary, "-G", "Ninja",
        f"-DCMAKE_C_COMPILER={arguments.cc}", f"-DCMAKE_CXX_COMPILER={arguments.cxx}")
    planned = run("ninja", "-C", binary, "-t", "commands", "shared", "static")
    for product in ("soname,libtopwork.so.0", "libtopwork.a", "-o shared", "-o static"):
        if product not in planned:
            sys.exit(f"{product} is not in what would be built:\n{planned[-2000:]}")


def pkg_config(arguments, folder):
    need("pkg-config", "Debian: apt install pkg-config")
    prefix = install(arguments, folder)
    pc = pkg_config_folder(prefix)
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


def pkg_config_folder(prefix):
    return next(path for path, _, names in os.walk(prefix) if "topwork.pc" in names)


def add_subproject(folder):
    """What Meson makes of topwork.wrap: the sources with the files of packagefiles over them."""
    topwork = os.path.join(folder, "topwork")
    shutil.copytree(os.path.join(ROOT, "toolchains/packages/meson/packagefiles/topwork"), topwork)
    shutil.copy(os.path.join(ROOT, "toolchains/packages/meson/topwork.wrap"), folder)
    for name in ("CMakeLists.txt", "kernels", "models", "ports", "runtime", "toolchains"):
        os.symlink(os.path.join(ROOT, name), os.path.join(topwork, name))


def with_meson(arguments, folder, *options, environment):
    """A copy of the project is built: Meson wants subprojects inside it."""
    meson = need("meson", "Debian: apt install meson")
    source = os.path.join(folder, "source")
    shutil.copytree(os.path.join(HERE, "meson"), source)
    for name in ("main.c", "main.cc"):
        shutil.copy(os.path.join(HERE, name), source)
    if options:
        add_subproject(os.path.join(source, "subprojects"))
    binary = os.path.join(folder, "build")
    run(meson, "setup", binary, source, *options, env=dict(environment, CC=arguments.cc, CXX=arguments.cxx))
    if options and not arguments.long:
        return run("ninja", "-C", binary, "-n", "c", "cxx")
    run("ninja", "-C", binary, "c", "cxx")
    for name in ("c", "cxx"):
        check(os.path.join(binary, name), arguments.version, env=environment)


def meson(arguments, folder):
    need("pkg-config", "Debian: apt install pkg-config")
    pc = pkg_config_folder(install(arguments, folder))
    with_meson(arguments, folder, environment=dict(os.environ, PKG_CONFIG_PATH=pc, LD_LIBRARY_PATH=os.path.dirname(pc)))


def meson_source(arguments, folder):
    with open(os.path.join(ROOT, "toolchains/packages/meson/packagefiles/topwork/meson.build"), encoding="utf-8") as file:
        if f"version: '{arguments.version}'" not in file.read():
            sys.exit(f"the subproject's meson.build is not of version {arguments.version}")
    # The wrap, not a library that is installed here.
    environment = dict(os.environ, PKG_CONFIG_LIBDIR=folder)
    with_meson(arguments, folder, "--force-fallback-for=topwork", "-Dtopwork:cmake_args=" + ",".join(
        ["-GNinja", "-DTOPWORK_TRAIN=OFF", *QUICK]), environment=environment)


def conan(arguments, folder):
    """The recipe makes a package without a network, and its test package is built and run."""
    tool = need("conan", "toolchains/install-deps.sh python", [os.path.join(ROOT, "build/.venv/bin/conan")])
    environment = dict(os.environ, CONAN_HOME=os.path.join(folder, "conan"), CCACHE_BASEDIR=folder, CC=arguments.cc,
                       CXX=arguments.cxx)
    run(tool, "profile", "detect", env=environment)
    run(tool, "remote", "disable", "*", env=environment)
    if not arguments.long:
        text = run(tool, "export", os.path.join(ROOT, "toolchains/packages/conan"), env=environment)
        if f"topwork/{arguments.version}" not in text:
            sys.exit(f"the recipe is not of version {arguments.version}:\n{text}")
        return
    text = run(tool, "create", os.path.join(ROOT, "toolchains/packages/conan"), "-o", "topwork/*:train=False",
               "-s", "compiler.cppstd=17", "-c", "tools.cmake.cmake_layout:test_folder=$TMP", "-c", 'tools.build:cxxflags=["-O0"]', "-c",
               'tools.cmake.cmaketoolchain:extra_variables={"TOPWORK_ONLY_ISAS": "baseline"}', env=environment)
    if f"\n{arguments.version}\n" not in text:
        sys.exit(f"the test package does not print {arguments.version}:\n{text[-2000:]}")


def vcpkg(arguments, folder):
    port = os.path.join(ROOT, "toolchains/packages/vcpkg/topwork")
    with open(os.path.join(port, "vcpkg.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    if manifest["name"] != "topwork" or manifest["version"] != arguments.version:
        sys.exit(f"vcpkg.json is of {manifest['name']} {manifest['version']}, not topwork {arguments.version}")
    run(arguments.cmake, f"-DPORT={port}", f"-DBUILD={os.path.abspath(arguments.build)}", f"-DWORK={folder}", "-P",
        os.path.join(HERE, "vcpkg_port.cmake"))
    if not os.path.exists(os.path.join(folder, "packages/LICENSE")):
        sys.exit("the port does not run to its end")


parser = argparse.ArgumentParser()
parser.add_argument("kind", choices=[
    "find_package", "add_subdirectory", "fetch_content", "pkg_config", "meson", "meson_source", "conan", "vcpkg"])
for name in ("build", "cmake", "version", "cc", "cxx", "generator"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--long", action="store_true", help="compile where the default only configures")
parsed = parser.parse_args()
with tempfile.TemporaryDirectory(prefix="topwork_consumer_") as temporary:
    globals()[parsed.kind](parsed, temporary)
print(f"{parsed.kind}: version {parsed.version}")
