# SPDX-License-Identifier: BSD-3-Clause
"""Weft in Spack, as a provider of "mpi":

    spack repo add packaging/spack/spack_repo/weft
    spack install --no-checksum weft       where weft-0.9.0.tar.xz is (make dist)
    spack install hypre ^weft

The recipe is inside of the release, so that it has no checksum of it.
"""

import os

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class Weft(AutotoolsPackage):
    """MPI on libfabric, in the standard ABI of MPI 5.0."""

    url = f"file://{os.getcwd()}/weft-0.9.0.tar.xz"

    license("BSD-3-Clause")

    version("0.9.0")

    variant("fortran", default=True, description="Modules and wrappers for Fortran")

    provides("mpi@:5.0")
    provides("mpi-abi@1.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("libfabric@1.17:")
    depends_on("pmix@4.2:")
    depends_on("hwloc@2.0:")

    # The wrappers, by all of their names, call the compiler behind Spack's own wrapper once Weft is
    # installed.
    filter_compiler_wrappers("mpi*", "weftcc", "weftc++", "weftfort", relative_root="bin")
    filter_compiler_wrappers("weft-fortran.pc", relative_root="lib/pkgconfig")

    def configure_args(self):
        return self.enable_or_disable("fortran")

    def setup_run_environment(self, env):
        for variable, wrapper in (("MPICC", "mpicc"), ("MPICXX", "mpicxx"),
                                  ("MPIF77", "mpif77"), ("MPIF90", "mpif90")):
            env.set(variable, join_path(self.prefix.bin, wrapper))

    def setup_dependent_build_environment(self, env, dependent_spec):
        self.setup_run_environment(env)
        module = dependent_spec.package.module
        for variable, compiler in (("WEFT_CC", "spack_cc"), ("WEFT_CXX", "spack_cxx"),
                                   ("WEFT_FC", "spack_fc")):
            if hasattr(module, compiler):
                env.set(variable, getattr(module, compiler))

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = join_path(self.prefix.bin, "mpicc")
        self.spec.mpicxx = join_path(self.prefix.bin, "mpicxx")
        if self.spec.satisfies("+fortran"):
            self.spec.mpifc = join_path(self.prefix.bin, "mpif90")
            self.spec.mpif77 = join_path(self.prefix.bin, "mpif77")
