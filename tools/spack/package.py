# SPDX-License-Identifier: Apache-2.0
"""Spack's recipe for weft: belongs into a repository of packages as packages/weft/package.py."""

from spack.package import *

try:  # Spack 1.0 has its build systems among the packages
    from spack_repo.builtin.build_systems.meson import MesonPackage
except ImportError:
    pass


class Weft(MesonPackage):
    """A C++20 runtime for programs of many ranks that link it instead of MPI: processes and
    fibers, messages and collectives over libfabric."""

    homepage = "https://weft.example"
    git = "https://weft.example/weft.git"

    license("Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    # As Meson's packages have them, but optimized, and with both libraries.
    variant(
        "buildtype",
        default="release",
        values=("plain", "debug", "debugoptimized", "release", "minsize"),
        description="Meson build type",
    )
    variant(
        "default_library",
        default="shared,static",
        values=("shared", "static"),
        multi=True,
        description="Build shared libs, static libs or both",
    )
    variant("tools", default=True, description="The command weft")
    variant("pmix", default=False, description="Meet under launchers that speak PMIx")
    variant("slurm", default=False, when="+tools", description="The plugin for Slurm's srun")
    variant("stacks", default=True, when="+tools", description="Stacks of ranks in `weft ps`")
    variant("valgrind", default=False, description="Tell valgrind of the stacks of fibers")

    depends_on("cxx", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("libfabric@1.17:")
    depends_on("hwloc@2.9:")
    depends_on("boost@1.74: +context")
    depends_on("highway@1.0:")
    depends_on("nettle")
    depends_on("valgrind", when="+valgrind", type="build")
    depends_on("pmix@4:", when="+pmix")

    with when("+tools"):
        depends_on("cli11@2.1:", type="build")
        depends_on("nlohmann-json@3.11:", type="build")
        depends_on("elfutils", when="+stacks")
        depends_on("slurm", when="+slurm")

    depends_on("catch2@2.13:", type="test")
    depends_on("cli11@2.1:", type="test")
    depends_on("nlohmann-json@3.11:", type="test")

    conflicts("platform=darwin", msg="weft runs on Linux")
    conflicts("platform=windows", msg="weft runs on Linux")
    conflicts("%gcc@:11", msg="weft needs C++20 as GCC 12 has it")

    def meson_args(self):
        def feature(name, on):
            return f"-D{name}={'enabled' if on else 'disabled'}"

        return [
            feature("tools", self.spec.satisfies("+tools")),
            feature("pmix", self.spec.satisfies("+pmix")),
            feature("slurm", self.spec.satisfies("+slurm")),
            feature("tests", self.run_tests),
            feature("examples", self.run_tests),
        ]

    def check(self):
        # Others start jobs by several launchers, for an hour.
        tests = ("kernels", "runtime", "fabric")
        with working_dir(self.build_directory):
            meson("test", *(f"--suite={each}" for each in tests))
