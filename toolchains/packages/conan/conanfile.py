"""Conan 2: conan create toolchains/packages/conan

The headers that Topwork is compiled with (Eigen, FlatBuffers and flatc, OpenCL's C headers) come from the system:
Conan checks for Debian's packages, and installs them where tools.system.package_manager:mode=install.
"""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
SOURCES = ("CMakeLists.txt", "LICENSE", "runtime/*", "kernels/*", "models/schema/*", "models/format/*", "ports/port.h",
           "ports/linux/*", "toolchains/*")


class Topwork(ConanFile):
    name = "topwork"
    license = "Apache-2.0"
    description = "Runs .tflite models and re-trains their last layer on the device"
    topics = ("tflite", "inference", "training", "embedded")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "opencl": [True, False], "train": [True, False]}
    default_options = {"shared": False, "opencl": True, "train": True}

    def set_version(self):
        header = load(self, os.path.join(ROOT, "runtime", "include", "topwork", "topwork.h"))
        self.version = ".".join(re.search(rf"TW_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, ROOT, self.export_sources_folder)

    def system_requirements(self):
        Apt(self).check(["libeigen3-dev", "libflatbuffers-dev", "flatbuffers-compiler", "opencl-c-headers"])

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.cache_variables.update({
            "TOPWORK_TESTS": False, "TOPWORK_TOOLS": False, "TOPWORK_INSTALL": False, "TOPWORK_WERROR": False,
            "TOPWORK_OPENCL": bool(self.options.opencl), "TOPWORK_TRAIN": bool(self.options.train)})
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="topwork" if self.options.shared else "topwork_static")

    def package(self):
        # Both libraries belong to the installation, but one of them was built: files are copied, not installed.
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "topwork/*", os.path.join(self.source_folder, "runtime", "include"),
             os.path.join(self.package_folder, "include"))
        pattern = "libtopwork.so*" if self.options.shared else "libtopwork.a"
        copy(self, pattern, self.build_folder, os.path.join(self.package_folder, "lib"), keep_path=False)

    def package_info(self):
        self.cpp_info.set_property("cmake_target_name", "topwork::topwork")
        self.cpp_info.libs = ["topwork"]
        if not self.options.shared:
            self.cpp_info.system_libs = ["stdc++", "m", "pthread", "dl"]
