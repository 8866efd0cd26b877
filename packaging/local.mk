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
