# SPDX-License-Identifier: BSD-3-Clause
# The library. A line that is commented out names a source that is not in the tree yet.

# Every source and header of the library, once; compiled into a convenience library that unit tests
# link as well, because they call functions that libmpi_abi.so hides. Joining stores of neighbouring
# fields in a vector register takes more instructions than it saves.
noinst_LTLIBRARIES += libweft.la
libweft_la_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS) $(PMIX_CFLAGS) $(HWLOC_CFLAGS) \
    -fvisibility=hidden -fno-tree-slp-vectorize
libweft_la_LIBADD = $(PMIX_LIBS) $(HWLOC_LIBS)
libweft_la_SOURCES = include/mpi.h

# The entry points
libweft_la_SOURCES += src/core/mpi/api.h
libweft_la_SOURCES += src/core/mpi/abi.c
libweft_la_SOURCES += src/core/mpi/arg.c src/core/mpi/arg.h
libweft_la_SOURCES += src/core/mpi/attr.c
libweft_la_SOURCES += src/core/mpi/bsend.c
libweft_la_SOURCES += src/core/mpi/coll_call.c src/core/mpi/coll_call.h
libweft_la_SOURCES += src/core/mpi/coll_check.c src/core/mpi/coll_check.h
libweft_la_SOURCES += src/core/mpi/coll_check_inter.c
libweft_la_SOURCES += src/core/mpi/comm.c
libweft_la_SOURCES += src/core/mpi/construct.c src/core/mpi/construct.h
libweft_la_SOURCES += src/core/mpi/datatype.c
libweft_la_SOURCES += src/core/mpi/datatype_contents.c
libweft_la_SOURCES += src/core/mpi/env.c
libweft_la_SOURCES += src/core/mpi/errhandler.c
libweft_la_SOURCES += src/core/mpi/group.c
libweft_la_SOURCES += src/core/mpi/info.c
libweft_la_SOURCES += src/core/mpi/memory.c
libweft_la_SOURCES += src/core/mpi/op.c
libweft_la_SOURCES += src/core/mpi/p2p_fast.h
libweft_la_SOURCES += src/core/mpi/p2p_general.c src/core/mpi/p2p_general.h
libweft_la_SOURCES += src/core/mpi/pack.c
libweft_la_SOURCES += src/core/mpi/partitioned.c
libweft_la_SOURCES += src/core/mpi/persistent.c
libweft_la_SOURCES += src/core/mpi/request.c
libweft_la_SOURCES += src/core/mpi/request_call.c src/core/mpi/request_call.h
libweft_la_SOURCES += src/core/mpi/probe.c
libweft_la_SOURCES += src/core/mpi/session.c
libweft_la_SOURCES += src/core/mpi/sendrecv.c
libweft_la_SOURCES += src/core/mpi/dist_graph.c
libweft_la_SOURCES += src/core/mpi/tool.c src/core/mpi/tool_arg.h
libweft_la_SOURCES += src/core/mpi/topology.c
libweft_la_SOURCES += src/core/mpi/call.c src/core/mpi/call.h
libweft_la_SOURCES += src/core/mpi/cancel.c
libweft_la_SOURCES += src/core/mpi/rma_call.c src/core/mpi/rma_call.h
libweft_la_SOURCES += src/core/mpi/win.c

# Entry points that abi/generate.py writes, all in one run. They are not committed; a release has
# them in the source tree, where make finds them by VPATH.
ENTRY_DIR = src/core/mpi/generated
ENTRY_STAMP = $(ENTRY_DIR)/stamp
ENTRY_FILES = $(ENTRY_DIR)/abi.c $(ENTRY_DIR)/attribute.c $(ENTRY_DIR)/bsend.c \
    $(ENTRY_DIR)/collective.c $(ENTRY_DIR)/comm.c $(ENTRY_DIR)/datatype.c \
    $(ENTRY_DIR)/environment.c $(ENTRY_DIR)/error.c $(ENTRY_DIR)/external.c $(ENTRY_DIR)/file.c \
    $(ENTRY_DIR)/info.c $(ENTRY_DIR)/p2p.c $(ENTRY_DIR)/partitioned.c $(ENTRY_DIR)/rma.c \
    $(ENTRY_DIR)/start.c $(ENTRY_DIR)/tool.c $(ENTRY_DIR)/topology.c $(ENTRY_DIR)/entry.h
ENTRY_WRITERS = abi/generate.py abi/chapters.py abi/collective.py abi/construct.py abi/entry.py \
    abi/entry_files.py abi/header.py abi/status.py abi/tables.py
ENTRY_TABLES = abi/functions.tsv abi/entry.tsv
libweft_la_SOURCES += $(ENTRY_FILES)
EXTRA_DIST += $(ENTRY_STAMP)
$(ENTRY_STAMP): $(ENTRY_WRITERS) $(ENTRY_TABLES)
	$(AM_V_GEN)$(PYTHON3) -B $(srcdir)/abi/generate.py $(ENTRY_DIR) && touch $@
$(ENTRY_FILES): $(ENTRY_STAMP) ;
$(libweft_la_OBJECTS): | $(ENTRY_STAMP)

# In a release a generated file is as old as its stamp: an older one would be made again.
dist-hook:
	cd $(distdir) && touch -r $(ENTRY_STAMP) $(ENTRY_FILES) && touch -r $(FORTRAN_STAMP) $(FORTRAN_FILES)

# MPI's semantics
libweft_la_SOURCES += src/core/process/weft.c src/core/process/weft.h src/core/process/progress.c
libweft_la_SOURCES += src/core/coll/coll.c src/core/coll/coll.h
libweft_la_SOURCES += src/core/coll/elements.c src/core/coll/elements.h
libweft_la_SOURCES += src/core/coll/schedule.c src/core/coll/schedule.h
libweft_la_SOURCES += src/core/coll/engine.c
libweft_la_SOURCES += src/core/coll/refusal.c src/core/coll/refusal.h
libweft_la_SOURCES += src/core/coll/build.c
libweft_la_SOURCES += src/core/coll/choose.c src/core/coll/choose.h
libweft_la_SOURCES += src/core/coll/tree.h
libweft_la_SOURCES += src/core/coll/reduction.c src/core/coll/reduction.h
libweft_la_SOURCES += src/core/coll/allgather.c
libweft_la_SOURCES += src/core/coll/allreduce.c
libweft_la_SOURCES += src/core/coll/alltoall.c
libweft_la_SOURCES += src/core/coll/barrier.c
libweft_la_SOURCES += src/core/coll/bcast.c
libweft_la_SOURCES += src/core/coll/gather.c
libweft_la_SOURCES += src/core/coll/inter.c
libweft_la_SOURCES += src/core/coll/neighbor.c
libweft_la_SOURCES += src/core/coll/nodes.c src/core/coll/nodes.h
libweft_la_SOURCES += src/core/coll/reduce.c
libweft_la_SOURCES += src/core/coll/reduce_scatter.c
libweft_la_SOURCES += src/core/coll/scan.c
libweft_la_SOURCES += src/core/coll/scatter.c
libweft_la_SOURCES += src/core/coll/operands.c src/core/coll/operands.h
libweft_la_SOURCES += src/core/coll/shared.c src/core/coll/shared.h src/core/coll/shared_area.c \
    src/core/coll/shared_internal.h src/core/coll/shared_pieces.c \
    src/core/coll/shared_short.c src/core/coll/shared_wait.c
libweft_la_SOURCES += src/core/rma/apply.c
libweft_la_SOURCES += src/core/rma/epoch.c
libweft_la_SOURCES += src/core/rma/handler.c
libweft_la_SOURCES += src/core/rma/lock.c
libweft_la_SOURCES += src/core/rma/make.c
libweft_la_SOURCES += src/core/rma/message.c src/core/rma/message.h
libweft_la_SOURCES += src/core/rma/operation.c
libweft_la_SOURCES += src/core/rma/send.c src/core/rma/win.h
libweft_la_SOURCES += src/core/comm/context_alloc.c src/core/comm/context_alloc.h
libweft_la_SOURCES += src/core/object/attribute.c src/core/object/attribute.h
libweft_la_SOURCES += src/core/pt2pt/backlog.c
libweft_la_SOURCES += src/core/pt2pt/bsend.c src/core/pt2pt/bsend.h
libweft_la_SOURCES += src/core/pt2pt/bsend_buffer.c src/core/pt2pt/bsend_buffer.h
libweft_la_SOURCES += src/core/comm/comm.c src/core/comm/comm.h
libweft_la_SOURCES += src/core/comm/comm_info.c
libweft_la_SOURCES += src/core/comm/comm_make.c src/core/comm/comm_make.h
libweft_la_SOURCES += src/core/comm/context.c src/core/comm/context.h
libweft_la_SOURCES += src/core/datatype/datatype.c src/core/datatype/datatype.h
libweft_la_SOURCES += src/core/datatype/arena.c src/core/datatype/arena.h
libweft_la_SOURCES += src/core/datatype/array.c
libweft_la_SOURCES += src/core/datatype/bounds.c
libweft_la_SOURCES += src/core/datatype/build.c src/core/datatype/build.h
libweft_la_SOURCES += src/core/datatype/copy.c src/core/datatype/copy.h
libweft_la_SOURCES += src/core/datatype/external32.c
libweft_la_SOURCES += src/core/datatype/lifetime.c
libweft_la_SOURCES += src/core/datatype/predefined.c
libweft_la_SOURCES += src/core/datatype/envelope.c src/core/datatype/envelope.h
libweft_la_SOURCES += src/core/datatype/strided_copy.c src/core/datatype/strided_copy.h
libweft_la_SOURCES += src/core/datatype/iov.c src/core/datatype/iov.h
libweft_la_SOURCES += src/core/datatype/layout.c src/core/datatype/layout.h
libweft_la_SOURCES += src/core/datatype/signature.c src/core/datatype/signature.h
libweft_la_SOURCES += src/core/comm/dims.c
libweft_la_SOURCES += src/core/datatype/basic_type.h
libweft_la_SOURCES += src/core/object/error.c src/core/object/error.h
libweft_la_SOURCES += src/core/object/error_code.c src/core/object/error_code.h
libweft_la_SOURCES += src/core/process/failure.c
libweft_la_SOURCES += src/core/pt2pt/generalized.c src/core/pt2pt/generalized.h
libweft_la_SOURCES += src/core/comm/raise.c src/core/comm/raise.h
libweft_la_SOURCES += src/core/comm/group.c src/core/comm/group.h
libweft_la_SOURCES += src/core/process/nodes.c src/core/process/nodes.h
libweft_la_SOURCES += src/core/object/handle.c src/core/object/handle.h
libweft_la_SOURCES += src/core/process/hang.c src/core/process/hang.h
libweft_la_SOURCES += src/core/process/hardware.c src/core/process/hardware.h
libweft_la_SOURCES += src/core/object/info_env.c
libweft_la_SOURCES += src/core/object/memory.c src/core/object/memory.h
libweft_la_SOURCES += src/core/object/info.c src/core/object/info.h
libweft_la_SOURCES += src/core/pt2pt/peer.c src/core/pt2pt/vci.c src/core/pt2pt/vci.h
libweft_la_SOURCES += src/core/comm/intercomm.c src/core/comm/intercomm.h
libweft_la_SOURCES += src/core/process/lock.c src/core/process/lock.h
libweft_la_SOURCES += src/core/pt2pt/lane.c src/core/pt2pt/lane.h
libweft_la_SOURCES += src/core/pt2pt/match.c src/core/pt2pt/match.h
libweft_la_SOURCES += src/core/coll/op.c src/core/coll/op.h
libweft_la_SOURCES += src/core/pt2pt/p2p.c src/core/pt2pt/p2p.h
libweft_la_SOURCES += src/core/pt2pt/partitioned.c src/core/pt2pt/partitioned.h
libweft_la_SOURCES += src/core/pt2pt/partitioned_recv.c
libweft_la_SOURCES += src/core/pt2pt/partitioned_send.c
libweft_la_SOURCES += src/core/pt2pt/partitioned_internal.h
libweft_la_SOURCES += src/core/pt2pt/peer.h
libweft_la_SOURCES += src/core/datatype/predefined_types.c src/core/datatype/predefined_types.h
libweft_la_SOURCES += src/core/comm/reorder.c src/core/comm/reorder.h
libweft_la_SOURCES += src/core/pt2pt/request.c src/core/pt2pt/request.h
libweft_la_SOURCES += src/core/object/settings.c src/core/object/settings.h
libweft_la_SOURCES += src/core/comm/session.c src/core/comm/session.h
libweft_la_SOURCES += src/core/pt2pt/sw_match.c src/core/pt2pt/sw_match.h
libweft_la_SOURCES += src/core/comm/split_type.c
libweft_la_SOURCES += src/core/tool/category.c src/core/tool/category.h
libweft_la_SOURCES += src/core/pt2pt/count.c src/core/pt2pt/count.h
libweft_la_SOURCES += src/core/tool/cvar.c src/core/tool/cvar.h
libweft_la_SOURCES += src/core/tool/event.c src/core/tool/event.h
libweft_la_SOURCES += src/core/tool/pvar.c src/core/tool/pvar.h
libweft_la_SOURCES += src/core/tool/pvar_table.c
libweft_la_SOURCES += src/core/tool/tool.c src/core/tool/tool.h
libweft_la_SOURCES += src/core/comm/topology.c src/core/comm/topology.h
libweft_la_SOURCES += src/core/pt2pt/probe.c src/core/pt2pt/probe.h
libweft_la_SOURCES += src/core/pt2pt/cancel.c src/core/pt2pt/cancel.h
libweft_la_SOURCES += src/core/process/progress_thread.c src/core/process/progress_thread.h

# The bootstrap: the only code that includes pmix*.h
libweft_la_SOURCES += src/pmix/boot.h
libweft_la_SOURCES += src/pmix/pmix_internal.h
libweft_la_SOURCES += src/pmix/boot.c
libweft_la_SOURCES += src/pmix/job_info.c
libweft_la_SOURCES += src/pmix/failure.c
libweft_la_SOURCES += src/pmix/launcher.c
libweft_la_SOURCES += src/pmix/psets.c
libweft_la_SOURCES += src/pmix/reply.c

# The net lane: the only code that includes rdma/*
libweft_la_SOURCES += src/ofi/net.h src/ofi/ofi_internal.h
libweft_la_SOURCES += src/ofi/endpoint.c
libweft_la_SOURCES += src/ofi/completion.c
libweft_la_SOURCES += src/ofi/send.c
libweft_la_SOURCES += src/ofi/recv.c
libweft_la_SOURCES += src/ofi/rndv_read.c
libweft_la_SOURCES += src/ofi/bounce_pool.c
libweft_la_SOURCES += src/ofi/rndv_send.c
libweft_la_SOURCES += src/ofi/control.c
libweft_la_SOURCES += src/ofi/rma.c src/ofi/rma.h
libweft_la_SOURCES += src/ofi/credits.c
libweft_la_SOURCES += src/ofi/pool.c
libweft_la_SOURCES += src/ofi/sequence.c src/ofi/sequence.h
libweft_la_SOURCES += src/ofi/peek_claim.c
libweft_la_SOURCES += src/ofi/describe.c
libweft_la_SOURCES += src/ofi/keepalive.c
libweft_la_SOURCES += src/ofi/signals.c src/ofi/signals.h
libweft_la_SOURCES += src/ofi/select/load.c src/ofi/select/load.h
libweft_la_SOURCES += src/ofi/cancel.c
libweft_la_SOURCES += src/ofi/select/rxm_env.c
libweft_la_SOURCES += src/ofi/select/provider.h
libweft_la_SOURCES += src/ofi/select/interface.c src/ofi/select/interface.h
libweft_la_SOURCES += src/ofi/select/provider_table.c
libweft_la_SOURCES += src/ofi/select/provider_score.c src/ofi/select/provider_score.h
libweft_la_SOURCES += src/ofi/select/select.c
libweft_la_SOURCES += src/ofi/objects.c src/ofi/objects.h
libweft_la_SOURCES += src/ofi/select/adapter.c src/ofi/select/adapter.h

# The shared-memory lane
libweft_la_SOURCES += src/shm/shm.h src/shm/shm_internal.h
libweft_la_SOURCES += src/shm/copy.h
libweft_la_SOURCES += src/shm/ring.h
libweft_la_SOURCES += src/shm/copy_tuning.h
libweft_la_SOURCES += src/shm/segment.c
libweft_la_SOURCES += src/shm/link.c
libweft_la_SOURCES += src/shm/send.c
libweft_la_SOURCES += src/shm/progress.c
libweft_la_SOURCES += src/shm/fetch.c
libweft_la_SOURCES += src/shm/share.h
libweft_la_SOURCES += src/shm/share.c
libweft_la_SOURCES += src/shm/way.h
libweft_la_SOURCES += src/shm/area.c src/shm/area.h
libweft_la_SOURCES += src/shm/window.c src/shm/window.h
libweft_la_SOURCES += src/shm/cancel.c
libweft_la_SOURCES += src/shm/doorbell.c

# libmpi_abi.so.1 and libmpi_abi.a. The version is CURRENT:REVISION:AGE, and CURRENT - AGE stays 1:
# that is the name the standard ABI's libraries share.
lib_LTLIBRARIES += libmpi_abi.la
libmpi_abi_la_SOURCES =
libmpi_abi_la_LIBADD = libweft.la
libmpi_abi_la_DEPENDENCIES = libweft.la $(srcdir)/src/weft.map Makefile
# -Bsymbolic-functions binds calls inside the library to its own definitions when it is linked, so
# that the forms with int counts jump straight to their _c twins. -fno-semantic-interposition could
# not do that: it helps only within one compilation unit, and the forms are a unit of their own.
libmpi_abi_la_LDFLAGS = $(AM_LDFLAGS) -version-info 1:0:0 -no-undefined \
    -Wl,--version-script=$(srcdir)/src/weft.map -Wl,-Bsymbolic-functions $(FABRIC_RPATH)
# A missing function is an error of the link. (clang's sanitizers leave their functions to the
# program, so not with them.)
if !SANITIZE
libmpi_abi_la_LDFLAGS += -Wl,-z,defs
endif

# One MPI library was once released as libmpi_abi.so.0; what was linked with it runs too.
if SHARED
install-exec-hook:
	cd $(DESTDIR)$(libdir) && rm -f libmpi_abi.so.0 && $(LN_S) libmpi_abi.so.1 libmpi_abi.so.0
uninstall-hook:
	rm -f $(DESTDIR)$(libdir)/libmpi_abi.so.0
endif
