# SPDX-License-Identifier: BSD-3-Clause
# The library with another list of lanes: that of a process to itself, and one through sockets. The
# lane "socket" of tests/run finds it before the library of the build.
check_LIBRARIES += tests/lane/libsocket.a
tests_lane_libsocket_a_SOURCES = tests/lane/socket.c
tests_lane_libsocket_a_CFLAGS = $(LIBRARY_CFLAGS) $(DEBUG_CFLAGS)
check_DATA += tests/lane/libmpi_abi.so.1
tests/lane/libmpi_abi.so.1: tests/lane/libsocket.a libmpi_abi.a $(srcdir)/src/weft.map
	$(link_shared) -Wl,--version-script=$(srcdir)/src/weft.map -Wl,-Bsymbolic-functions \
	    $(filter-out src/lanes/%,$(libmpi_abi_a_OBJECTS)) $(libentry_a_OBJECTS) \
	    $(call all_of,$<) $(PMIX_LIBS) $(HWLOC_LIBS) $(LIBS)
