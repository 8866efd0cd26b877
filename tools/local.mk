# SPDX-License-Identifier: BSD-3-Clause
# Programs that are installed.

# ---- Wrapper compilers: one script under the names of three languages, and some for the build tree
C_WRAPPERS = tools/wrapper/mpicc tools/wrapper/mpicc_abi tools/wrapper/weftcc
CXX_WRAPPERS = tools/wrapper/mpicxx tools/wrapper/mpic++ tools/wrapper/mpicxx_abi \
    tools/wrapper/weftc++
FORTRAN_WRAPPERS = tools/wrapper/mpifort tools/wrapper/mpif90 tools/wrapper/mpif77 \
    tools/wrapper/mpifort_abi tools/wrapper/weftfort
bin_SCRIPTS += $(C_WRAPPERS) $(CXX_WRAPPERS)
noinst_SCRIPTS += tools/wrapper/mpicc-build tools/wrapper/mpicxx-build
if FORTRAN
bin_SCRIPTS += $(FORTRAN_WRAPPERS)
noinst_SCRIPTS += tools/wrapper/mpifort-build
CLEANFILES += $(FORTRAN_WRAPPERS) tools/wrapper/mpifort-build
endif
EXTRA_DIST += tools/wrapper/mpicc.in
CLEANFILES += $(C_WRAPPERS) $(CXX_WRAPPERS) tools/wrapper/mpicc-build tools/wrapper/mpicxx-build

# $(call write_wrapper,language,compiler,its variable,include directory,library directory,
# libraries,where the modules are if elsewhere).
# configure may have added the language version it wants for the library to CC; programs choose
# their own.
write_wrapper = $(AM_V_GEN)$(MKDIR_P) tools/wrapper && \
    compiler=`printf '%s\n' '$(2)' | sed 's/ -std=gnu[0-9]*//'` && \
    sed -e 's|@language[@]|$(1)|' -e "s|@compiler[@]|$$compiler|" -e 's|@variable[@]|$(3)|' \
        -e 's|@includedir[@]|$(4)|' -e 's|@libdir[@]|$(5)|' \
        -e 's|@libraries[@]|$(6)|' -e 's| @moddir[@]|$(if $(7), "-I$(7)")|' \
        -e 's|@PACKAGE_VERSION[@]|$(PACKAGE_VERSION)|' \
        $(srcdir)/tools/wrapper/mpicc.in >$@.tmp && chmod +x $@.tmp && mv -f $@.tmp $@

$(C_WRAPPERS): $(srcdir)/tools/wrapper/mpicc.in Makefile
	$(call write_wrapper,C,$(CC),WEFT_CC,$(includedir),$(libdir),-lmpi_abi)

$(CXX_WRAPPERS): $(srcdir)/tools/wrapper/mpicc.in Makefile
	$(call write_wrapper,C++,$(CXX),WEFT_CXX,$(includedir),$(libdir),-lmpi_abi)

tools/wrapper/mpicc-build: $(srcdir)/tools/wrapper/mpicc.in Makefile
	$(call write_wrapper,C,$(CC),WEFT_CC,$(abs_top_srcdir)/include,$(abs_top_builddir)/lib,-lmpi_abi)

tools/wrapper/mpicxx-build: $(srcdir)/tools/wrapper/mpicc.in Makefile
	$(call write_wrapper,C++,$(CXX),WEFT_CXX,$(abs_top_srcdir)/include,$(abs_top_builddir)/lib,-lmpi_abi)

$(FORTRAN_WRAPPERS): $(srcdir)/tools/wrapper/mpicc.in Makefile
	$(call write_wrapper,Fortran,$(FC),WEFT_FC,$(includedir),$(libdir),-lmpifort_abi -lmpi_abi)

tools/wrapper/mpifort-build: $(srcdir)/tools/wrapper/mpicc.in Makefile
	$(call write_wrapper,Fortran,$(FC),WEFT_FC,$(abs_top_srcdir)/include,$(abs_top_builddir)/lib,-lmpifort_abi -lmpi_abi,$(abs_top_builddir)/src/fortran/generated)

# ---- What the report of a problem needs
dist_bin_SCRIPTS = tools/weft-report

# ---- Programs of other MPIs under other launchers
dist_bin_SCRIPTS += tools/weft-run-as

# ---- weft_info; the self-test of providers is part of it and not of the library
bin_PROGRAMS += tools/weft_info/weft_info
tools_weft_info_weft_info_SOURCES = tools/weft_info/main.c tools/weft_info/views.h
tools_weft_info_weft_info_SOURCES += tools/weft_info/versions.c
tools_weft_info_weft_info_SOURCES += tools/weft_info/providers.c
tools_weft_info_weft_info_SOURCES += tools/weft_info/settings.c
tools_weft_info_weft_info_SOURCES += tools/weft_info/collectives.c
tools_weft_info_weft_info_SOURCES += tools/weft_info/tools.c
tools_weft_info_weft_info_SOURCES += tools/weft_info/check.c
tools_weft_info_weft_info_SOURCES += tools/weft_info/program.c
tools_weft_info_weft_info_SOURCES += tools/weftrun/loader.c tools/weftrun/mpi_library.c
tools_weft_info_weft_info_SOURCES += tools/weft_info/probes/run.c tools/weft_info/probes/run.h
tools_weft_info_weft_info_SOURCES += tools/weft_info/probes/bench.c tools/weft_info/probes/bench.h
tools_weft_info_weft_info_SOURCES += tools/weft_info/probes/facts.c tools/weft_info/probes/facts.h
tools_weft_info_weft_info_SOURCES += tools/weft_info/probes/message.c tools/weft_info/probes/match.c
tools_weft_info_weft_info_SOURCES += tools/weft_info/probes/memory.c tools/weft_info/probes/probes.h
tools_weft_info_weft_info_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS) $(PMIX_CFLAGS) \
    -DWEFT_LIBDIR='"$(libdir)"'
tools_weft_info_weft_info_LDADD = $(LIBRARY)

# ---- weftrun; everything but its main is a file for an idea. In the top build
# directory, because in tools there is a directory of that name.
bin_PROGRAMS += weftrun
weftrun_SOURCES = tools/weftrun/main.c tools/weftrun/state.h
weftrun_SOURCES += tools/weftrun/options.c tools/weftrun/options.h
weftrun_SOURCES += tools/weftrun/option_table.c tools/weftrun/option_table.h
weftrun_SOURCES += tools/weftrun/config_file.c tools/weftrun/config_file.h
weftrun_SOURCES += tools/weftrun/hosts.c tools/weftrun/hosts.h
weftrun_SOURCES += tools/weftrun/starter.c tools/weftrun/starter.h
weftrun_SOURCES += tools/weftrun/starter_line.c tools/weftrun/starter_line.h
weftrun_SOURCES += tools/weftrun/rank_count.c tools/weftrun/rank_count.h
weftrun_SOURCES += tools/weftrun/rank_parent.c tools/weftrun/rank_parent.h
weftrun_SOURCES += tools/weftrun/limits.c tools/weftrun/limits.h
weftrun_SOURCES += tools/weftrun/placement.c tools/weftrun/placement.h
weftrun_SOURCES += tools/weftrun/rank_file.c tools/weftrun/rank_file.h
weftrun_SOURCES += tools/weftrun/bind.c tools/weftrun/bind.h
weftrun_SOURCES += tools/weftrun/other_launchers.c tools/weftrun/other_launchers.h
weftrun_SOURCES += tools/weftrun/output_files.c tools/weftrun/output_files.h
weftrun_SOURCES += tools/weftrun/debuggers.c tools/weftrun/debuggers.h
weftrun_SOURCES += tools/weftrun/guard.c tools/weftrun/guard.h
weftrun_SOURCES += tools/weftrun/phases.c tools/weftrun/phases.h
weftrun_SOURCES += tools/weftrun/accept.c tools/weftrun/peer_user.c tools/weftrun/peer_user.h
weftrun_SOURCES += tools/weftrun/server.c tools/weftrun/server.h tools/weftrun/server_internal.h
weftrun_SOURCES += tools/weftrun/job_data.c tools/weftrun/spawn_call.c tools/weftrun/names.c
weftrun_SOURCES += tools/weftrun/spawn.c tools/weftrun/spawn.h tools/weftrun/job.c tools/weftrun/job.h
weftrun_SOURCES += tools/weftrun/launch.c tools/weftrun/launch.h
weftrun_SOURCES += tools/weftrun/input.c tools/weftrun/input.h
weftrun_SOURCES += tools/weftrun/lines.c tools/weftrun/lines.h
weftrun_SOURCES += tools/weftrun/policy.c tools/weftrun/policy.h
weftrun_SOURCES += tools/weftrun/front_end.c tools/weftrun/front_end.h
weftrun_SOURCES += tools/weftrun/installed.c tools/weftrun/installed.h
weftrun_SOURCES += tools/weftrun/loader.c tools/weftrun/loader.h
weftrun_SOURCES += tools/weftrun/mpi_library.c tools/weftrun/mpi_library.h
weftrun_SOURCES += tools/weftrun/other_mpi.c tools/weftrun/other_mpi.h
weftrun_SOURCES += tools/weftrun/suspects.c tools/weftrun/suspects.h
weftrun_SOURCES += tools/weftrun/tools.c tools/weftrun/tools.h
weftrun_SOURCES += tools/weftrun/loop.c tools/weftrun/loop.h
weftrun_CFLAGS = $(AM_CFLAGS) $(PMIX_CFLAGS) $(HWLOC_CFLAGS) -DWEFT_LIBDIR='"$(libdir)"'
# Debuggers read these variables, also in a stripped weftrun.
weftrun_LDFLAGS = $(AM_LDFLAGS) -Wl,--export-dynamic-symbol=MPIR_*
weftrun_LDADD = $(PMIX_LIBS) $(HWLOC_LIBS) -lm

# The names by which Meson looks for an MPI before it calls mpicc
MESON_LINKS = ompi-c ompi-cxx $(if $(filter weft-fortran.pc,$(pkgconfig_DATA)),ompi-fort)
install-data-local:
	@$(MKDIR_P) '$(DESTDIR)$(pkgconfigdir)'
	@cd '$(DESTDIR)$(pkgconfigdir)' && for name in $(MESON_LINKS); do rm -f $$name.pc && \
	    case $$name in *fort) $(LN_S) weft-fortran.pc $$name.pc ;; *) $(LN_S) weft.pc $$name.pc ;; esac; \
	done

# The names that build systems and test scripts look for
LAUNCHER_NAMES = mpiexec mpirun
install-exec-local:
	@$(MKDIR_P) '$(DESTDIR)$(bindir)'
	@for name in $(LAUNCHER_NAMES); do \
	    (cd '$(DESTDIR)$(bindir)' && rm -f $$name && \
	    $(LN_S) "`echo weftrun | sed '$(transform)'`" $$name); \
	done
uninstall-local:
	@for name in $(LAUNCHER_NAMES); do rm -f '$(DESTDIR)$(bindir)'/$$name; done
	@for name in $(MESON_LINKS); do rm -f '$(DESTDIR)$(pkgconfigdir)'/$$name.pc; done

# ---- Reads the memory of ranks for weft-report. Below lib as it is installed, which is where
# weft-report looks for it.
tools_PROGRAMS = lib/weft/tools/weft_ranks
lib_weft_tools_weft_ranks_SOURCES = tools/weft_ranks/main.c tools/weft_ranks/ranks.h
lib_weft_tools_weft_ranks_SOURCES += tools/weft_ranks/rank_memory.c tools/weft_ranks/rank_memory.h
lib_weft_tools_weft_ranks_SOURCES += tools/weft_ranks/trace.c tools/weft_ranks/attach.c
lib_weft_tools_weft_ranks_SOURCES += src/tools/profile/timeline.c src/core/base/assert_weak.c
lib_weft_tools_weft_ranks_SOURCES += src/tools/interpose/json.c src/tools/interpose/json.h
nodist_lib_weft_tools_weft_ranks_SOURCES = $(TOOLS_DIR)/calls.c
lib_weft_tools_weft_ranks_CPPFLAGS = $(TOOLS_CPPFLAGS)
lib_weft_tools_weft_ranks_CFLAGS = $(AM_CFLAGS) $(WEFT_CFLAGS)
lib_weft_tools_weft_ranks_LDADD =
$(lib_weft_tools_weft_ranks_OBJECTS): | $(TOOLS_STAMP)

# ---- Archives of OTF2, for weft-report
if HAVE_OTF2
tools_PROGRAMS += lib/weft/tools/weft_otf2
lib_weft_tools_weft_otf2_SOURCES = tools/weft_otf2/main.c
lib_weft_tools_weft_otf2_SOURCES += tools/weft_otf2/comms.c tools/weft_otf2/comms.h
lib_weft_tools_weft_otf2_SOURCES += tools/weft_otf2/messages.c tools/weft_otf2/messages.h
lib_weft_tools_weft_otf2_SOURCES += tools/weft_otf2/timeline_file.c tools/weft_otf2/timeline_file.h
nodist_lib_weft_tools_weft_otf2_SOURCES = $(TOOLS_DIR)/calls.c
lib_weft_tools_weft_otf2_CPPFLAGS = $(TOOLS_CPPFLAGS)
lib_weft_tools_weft_otf2_CFLAGS = $(AM_CFLAGS) $(WEFT_CFLAGS) $(OTF2_CFLAGS)
lib_weft_tools_weft_otf2_LDADD = $(OTF2_LIBS) -lm
$(lib_weft_tools_weft_otf2_OBJECTS): | $(TOOLS_STAMP)
endif
