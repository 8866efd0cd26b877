# SPDX-License-Identifier: BSD-3-Clause
# What fits an installation into a cluster.

# ---- Module files for "module use $(pkgdatadir)/modulefiles": Lmod takes the one that ends in .lua,
# Environment Modules the other.
moduledir = $(pkgdatadir)/modulefiles/weft
nodist_module_DATA = packaging/modules/$(PACKAGE_VERSION).lua packaging/modules/$(PACKAGE_VERSION)
EXTRA_DIST += packaging/modules/weft.lua.in packaging/modules/weft.tcl.in
CLEANFILES += $(nodist_module_DATA)

write_module = $(AM_V_GEN)$(MKDIR_P) packaging/modules && sed -e 's|@prefix[@]|$(prefix)|' \
    -e 's|@bindir[@]|$(bindir)|' -e 's|@libdir[@]|$(libdir)|' -e 's|@version[@]|$(PACKAGE_VERSION)|' \
    $< >$@.tmp && mv -f $@.tmp $@

packaging/modules/$(PACKAGE_VERSION).lua: $(srcdir)/packaging/modules/weft.lua.in Makefile
	$(write_module)

packaging/modules/$(PACKAGE_VERSION): $(srcdir)/packaging/modules/weft.tcl.in Makefile
	$(write_module)

# Of front ends: weft-openmpi and weft-mpich.
front_module_names = $(PACKAGE_VERSION).lua $(PACKAGE_VERSION)
openmpi_moduledir = $(pkgdatadir)/modulefiles/weft-openmpi
mpich_moduledir = $(pkgdatadir)/modulefiles/weft-mpich
nodist_openmpi_module_DATA = $(front_module_names:%=packaging/modules/openmpi/%)
nodist_mpich_module_DATA = $(front_module_names:%=packaging/modules/mpich/%)
EXTRA_DIST += packaging/modules/front.lua.in packaging/modules/front.tcl.in
CLEANFILES += $(nodist_openmpi_module_DATA) $(nodist_mpich_module_DATA)
$(nodist_openmpi_module_DATA): names = -e 's|@title[@]|Open MPI|' -e 's|@library[@]|libmpi.so.40|' \
    -e 's|@other[@]|mpich|'
$(nodist_mpich_module_DATA): names = -e 's|@title[@]|MPICH|' -e 's|@library[@]|libmpi.so.12|' \
    -e 's|@other[@]|openmpi|'
write_front_module = $(AM_V_GEN)$(MKDIR_P) $(@D) && sed $(names) -e 's|@bindir[@]|$(bindir)|' \
    -e 's|@libdir[@]|$(libdir)|' -e 's|@version[@]|$(PACKAGE_VERSION)|' \
    -e "s|@interface[@]|`basename $(@D)`|" $< >$@.tmp && mv -f $@.tmp $@
packaging/modules/openmpi/$(PACKAGE_VERSION).lua packaging/modules/mpich/$(PACKAGE_VERSION).lua: \
    $(srcdir)/packaging/modules/front.lua.in Makefile
	$(write_front_module)
packaging/modules/openmpi/$(PACKAGE_VERSION) packaging/modules/mpich/$(PACKAGE_VERSION): \
    $(srcdir)/packaging/modules/front.tcl.in Makefile
	$(write_front_module)

# ---- A repository for Spack
EXTRA_DIST += packaging/spack/spack_repo/weft/repo.yaml \
    packaging/spack/spack_repo/weft/packages/weft/package.py
dist_check_SCRIPTS += tests/packaging/spack
TESTS += tests/packaging/spack

# ---- Debian packages, built by ci/package deb
EXTRA_DIST += \
    packaging/debian/changelog \
    packaging/debian/control \
    packaging/debian/copyright \
    packaging/debian/libmpi-abi-weft.alternatives.in \
    packaging/debian/libmpi-abi-weft.install \
    packaging/debian/libmpi-abi-weft.lintian-overrides \
    packaging/debian/libmpifort-abi-weft.alternatives.in \
    packaging/debian/libmpifort-abi-weft.install \
    packaging/debian/libweft-dev.alternatives.in \
    packaging/debian/libweft-dev.install \
    packaging/debian/libweft-dev.links \
    packaging/debian/rules \
    packaging/debian/source/format \
    packaging/debian/source/lintian-overrides \
    packaging/debian/tests/compile-and-run \
    packaging/debian/tests/control \
    packaging/debian/weft-bin.alternatives.in \
    packaging/debian/weft-bin.install \
    packaging/debian/weft-bin.links \
    packaging/debian/weft-doc.install

# ---- An RPM, built by ci/package rpm, and EasyBuild
EXTRA_DIST += packaging/rpm/weft.spec packaging/easybuild/Weft-0.9.0-GCC-13.2.0.eb
