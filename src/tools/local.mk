# SPDX-License-Identifier: BSD-3-Clause
# Tools that see a program's calls: libraries above libmpi_abi that weftrun preloads
# (src/tools/interpose/call.h).
dist_noinst_SCRIPTS += abi/interpose.py
TOOLS_DIR = src/tools/interpose/generated
TOOLS_STAMP = $(TOOLS_DIR)/stamp
TOOLS_FILES = $(TOOLS_DIR)/calls.h $(TOOLS_DIR)/calls.c $(TOOLS_DIR)/wrappers.c
EXTRA_DIST += $(TOOLS_STAMP) $(TOOLS_FILES)
$(TOOLS_STAMP): abi/interpose.py abi/tables.py abi/functions.tsv
	$(AM_V_GEN)$(PYTHON3) -B $(srcdir)/abi/interpose.py $(TOOLS_DIR) && touch $@
$(TOOLS_FILES): $(TOOLS_STAMP) ;

# What every tool has. Wrappers and the names of the next definitions are compiled twice: for programs
# of the standard ABI, and for front ends.
TOOLS_CPPFLAGS = $(AM_CPPFLAGS) -I$(TOOLS_DIR) -I$(srcdir)/$(TOOLS_DIR)
TOOLS_CFLAGS = $(WEFT_CFLAGS) $(DEBUG_CFLAGS) -fPIC -fvisibility=hidden -fno-lto
INTERPOSE_SOURCES = src/core/base/assert_weak.c src/tools/interpose/call.c src/tools/interpose/call.h \
    src/tools/interpose/json.c src/tools/interpose/json.h src/tools/interpose/site.c \
    src/tools/interpose/site.h src/tools/interpose/wrapper.h \
    src/tools/interpose/xml.c src/tools/interpose/xml.h
noinst_LIBRARIES += libinterpose.a libinterpose_front.a
libinterpose_a_CPPFLAGS = $(TOOLS_CPPFLAGS)
libinterpose_a_CFLAGS = $(TOOLS_CFLAGS)
libinterpose_a_SOURCES = $(INTERPOSE_SOURCES)
nodist_libinterpose_a_SOURCES = $(TOOLS_DIR)/calls.c $(TOOLS_DIR)/wrappers.c
libinterpose_front_a_CPPFLAGS = $(TOOLS_CPPFLAGS) -DWEFT_TOOL_FRONT
libinterpose_front_a_CFLAGS = $(TOOLS_CFLAGS)
libinterpose_front_a_SOURCES = $(INTERPOSE_SOURCES) src/tools/interpose/integers.c
nodist_libinterpose_front_a_SOURCES = $(TOOLS_DIR)/calls.c $(TOOLS_DIR)/wrappers.c
$(libinterpose_a_OBJECTS) $(libinterpose_front_a_OBJECTS): | $(TOOLS_STAMP)

# ---- The checker
noinst_LIBRARIES += libcheck.a
libcheck_a_CPPFLAGS = $(TOOLS_CPPFLAGS)
libcheck_a_CFLAGS = $(TOOLS_CFLAGS)
libcheck_a_SOURCES = src/tools/check/check.c src/tools/check/check.h \
    src/tools/check/accesses.c src/tools/check/area.c src/tools/check/area.h \
    src/tools/check/blocks.c src/tools/check/blocks.h \
    src/tools/check/buffering.c src/tools/check/buffering.h \
    src/tools/check/buffers.c src/tools/check/buffers.h \
    src/tools/check/changes.c src/tools/check/changes.h \
    src/tools/check/channel.c src/tools/check/channel.h \
    src/tools/check/collectives.c \
    src/tools/check/comms.c src/tools/check/comms.h \
    src/tools/check/deadlocks.c src/tools/check/deadlocks.h \
    src/tools/check/dispatch.c src/tools/check/epochs.c \
    src/tools/check/extent.c src/tools/check/extent.h \
    src/tools/check/files.c src/tools/check/files.h \
    src/tools/check/finding.c src/tools/check/finding.h \
    src/tools/check/gathering.c src/tools/check/gathering.h \
    src/tools/check/graph.c src/tools/check/graph.h \
    src/tools/check/known.c src/tools/check/known.h \
    src/tools/check/matching.c src/tools/check/matching.h \
    src/tools/check/members.c src/tools/check/members.h \
    src/tools/check/messages.c src/tools/check/messages.h src/tools/check/messages_internal.h \
    src/tools/check/message_arguments.c src/tools/check/message_requests.c \
    src/tools/check/message_waits.c \
    src/tools/check/objects.c src/tools/check/objects.h \
    src/tools/check/races.c src/tools/check/races.h \
    src/tools/check/ranges.c src/tools/check/ranges.h \
    src/tools/check/order.c src/tools/check/order.h \
    src/tools/check/order_file.c src/tools/check/order_file.h \
    src/tools/check/order_persistent.c src/tools/check/order_persistent.h \
    src/tools/check/repeats.c src/tools/check/repeats.h \
    src/tools/check/rules.c src/tools/check/sarif.c \
    src/tools/check/shuffle.c src/tools/check/shuffle.h \
    src/tools/check/signature.c src/tools/check/signature.h \
    src/tools/check/waits.c src/tools/check/waits.h \
    src/tools/check/watch.c src/tools/check/watch.h \
    src/tools/check/window_waits.c src/tools/check/windows.c src/tools/check/windows.h \
    src/tools/check/windows_internal.h
$(libcheck_a_OBJECTS): | $(TOOLS_STAMP)

# ---- The profile
noinst_LIBRARIES += libprofile.a
libprofile_a_CPPFLAGS = $(TOOLS_CPPFLAGS)
libprofile_a_CFLAGS = $(TOOLS_CFLAGS)
libprofile_a_SOURCES = src/tools/profile/profile.c src/tools/profile/profile.h \
    src/tools/profile/advice.c src/tools/profile/binding.c src/tools/profile/bytes.c \
    src/tools/profile/comms.c \
    src/tools/profile/clocks.c src/tools/profile/counters.c \
    src/tools/profile/gather.c src/tools/profile/job.h src/tools/profile/json.c \
    src/tools/profile/late.c src/tools/profile/lines.c \
    src/tools/profile/messages.c src/tools/profile/messages.h \
    src/tools/profile/operations.c src/tools/profile/operations.h \
    src/tools/profile/page.c src/tools/profile/page_system.c src/tools/profile/sections.h \
    src/tools/profile/page_time.c src/tools/profile/page_traffic.c src/tools/profile/page_waits.c \
    src/tools/profile/picture.c src/tools/profile/picture.h src/tools/profile/posts.c \
    src/tools/profile/plan.c src/tools/profile/plan.h \
    src/tools/profile/routes.c src/tools/profile/routes.h \
    src/tools/profile/shared.c src/tools/profile/shared.h \
    src/tools/profile/table.c src/tools/profile/text.c \
    src/tools/profile/timeline.c src/tools/profile/timeline.h \
    src/tools/profile/trace.c src/tools/profile/trace.h
$(libprofile_a_OBJECTS): | $(TOOLS_STAMP)

# ---- Their libraries
toolsdir = $(libdir)/weft/tools
tools_DATA = lib/weft/tools/libweft_check.so lib/weft/tools/libweft_check_front.so \
    lib/weft/tools/libweft_profile.so lib/weft/tools/libweft_profile_front.so
link_tool = $(link_shared) -Wl,-rpath,'$$ORIGIN/../..' $(call all_of,$(filter %.a,$^)) \
    lib/libmpi_abi.so $(LIBDW_LIBS)
lib/weft/tools/libweft_check.so: libcheck.a libinterpose.a lib/libmpi_abi.so Makefile
	$(link_tool) -lm
lib/weft/tools/libweft_check_front.so: libcheck.a libinterpose_front.a lib/libmpi_abi.so Makefile
	$(link_tool) -lm
lib/weft/tools/libweft_profile.so: libprofile.a libinterpose.a lib/libmpi_abi.so Makefile
	$(link_tool) -lm
lib/weft/tools/libweft_profile_front.so: libprofile.a libinterpose_front.a lib/libmpi_abi.so Makefile
	$(link_tool) -lm
