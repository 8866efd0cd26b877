# SPDX-License-Identifier: BSD-3-Clause
# The library: libmpi_abi.a has all objects, for the shared library, for weft_info and for tests,
# which call functions that the shared library hides. It is installed with --enable-static.
# Joining stores of neighbouring fields in a vector register takes more instructions than it saves.
if STATIC
abiexec_LIBRARIES += libmpi_abi.a
else
noinst_LIBRARIES += libmpi_abi.a
endif
LIBRARY_CFLAGS = $(WEFT_CFLAGS) $(FABRIC_CFLAGS) $(PMIX_CFLAGS) $(HWLOC_CFLAGS) -fPIC \
    -fvisibility=hidden -fno-tree-slp-vectorize
libmpi_abi_a_CFLAGS = $(LIBRARY_CFLAGS) $(DEBUG_CFLAGS)
libmpi_abi_a_LIBADD = $(libentry_a_OBJECTS)
libmpi_abi_a_SOURCES = include/mpi.h
if ASSERT
libmpi_abi_a_SOURCES += src/core/base/assert.c
endif
# What a program links that uses hidden names.
LIBRARY = libmpi_abi.a $(PMIX_LIBS) $(HWLOC_LIBS)

# Memory of GPUs
libmpi_abi_a_SOURCES += \
    src/gpu/cuda.c src/gpu/driver.c src/gpu/driver.h src/gpu/hip.c \
    src/gpu/gpu.c src/gpu/gpu.h src/gpu/kinds.c src/gpu/kinds.h

# The entry points
libmpi_abi_a_SOURCES += \
    src/core/mpi/abi.c \
    src/core/mpi/api.h \
    src/core/mpi/arg.c src/core/mpi/arg.h \
    src/core/mpi/attr.c \
    src/core/mpi/bsend.c \
    src/core/mpi/cancel.c \
    src/core/mpi/coll_call.c src/core/mpi/coll_call.h \
    src/core/mpi/coll_check.c \
    src/core/mpi/comm.c \
    src/core/mpi/construct.c src/core/mpi/construct.h \
    src/core/mpi/datatype.c \
    src/core/mpi/datatype_contents.c \
    src/core/mpi/dist_graph.c \
    src/core/mpi/entry.h \
    src/core/mpi/env.c \
    src/core/mpi/errhandler.c \
    src/core/mpi/file.c \
    src/core/mpi/frontend.c src/core/mpi/frontend.h \
    src/core/mpi/group.c \
    src/core/mpi/info.c \
    src/core/mpi/memory.c \
    src/core/mpi/op.c \
    src/core/mpi/p2p_call.c src/core/mpi/p2p_call.h \
    src/core/mpi/pack.c \
    src/core/mpi/partitioned.c \
    src/core/mpi/persistent.c \
    src/core/mpi/probe.c \
    src/core/mpi/request.c \
    src/core/mpi/request_call.c src/core/mpi/request_call.h \
    src/core/mpi/rma_call.c src/core/mpi/rma_call.h \
    src/core/mpi/sendrecv.c \
    src/core/mpi/session.c \
    src/core/mpi/spawn.c \
    src/core/mpi/tool.c \
    src/core/mpi/tool_arg.h \
    src/core/mpi/topology.c \
    src/core/mpi/win.c

# Entry points that abi/generate.py writes, all in one run. They are not committed; a release has
# them in the source tree, where make finds them by VPATH.
ENTRY_DIR = src/core/mpi/generated
ENTRY_STAMP = $(ENTRY_DIR)/stamp
ENTRY_FILES = $(ENTRY_DIR)/abi.c $(ENTRY_DIR)/attribute.c $(ENTRY_DIR)/bsend.c \
    $(ENTRY_DIR)/collective.c $(ENTRY_DIR)/comm.c $(ENTRY_DIR)/datatype.c \
    $(ENTRY_DIR)/environment.c $(ENTRY_DIR)/error.c $(ENTRY_DIR)/external.c $(ENTRY_DIR)/file.c \
    $(ENTRY_DIR)/info.c $(ENTRY_DIR)/p2p.c $(ENTRY_DIR)/partitioned.c $(ENTRY_DIR)/rma.c \
    $(ENTRY_DIR)/recovery.c $(ENTRY_DIR)/start.c $(ENTRY_DIR)/tool.c $(ENTRY_DIR)/topology.c
ENTRY_WRITERS = abi/generate.py abi/chapters.py abi/collective.py abi/construct.py abi/entry.py \
    abi/entry_files.py abi/header.py abi/status.py abi/tables.py
ENTRY_TABLES = abi/functions.tsv abi/entry_points.txt
EXTRA_LIBRARIES += libentry.a
libentry_a_CFLAGS = $(LIBRARY_CFLAGS)
libentry_a_SOURCES = $(ENTRY_FILES)
EXTRA_DIST += $(ENTRY_STAMP)
$(ENTRY_STAMP): $(ENTRY_WRITERS) $(ENTRY_TABLES)
	$(AM_V_GEN)$(PYTHON3) -B $(srcdir)/abi/generate.py $(ENTRY_DIR) && touch $@
$(ENTRY_FILES): $(ENTRY_STAMP) ;
$(libmpi_abi_a_OBJECTS) $(libentry_a_OBJECTS): | $(ENTRY_STAMP)

# In a release a generated file is as old as its stamp: an older one would be made again.
dist-hook:
	cd $(distdir) && touch -r $(ENTRY_STAMP) $(ENTRY_FILES) && touch -r $(FORTRAN_STAMP) $(FORTRAN_FILES) && \
	    touch -r $(OPENMPI_STAMP) $(OPENMPI_FILES) && touch -r $(MPICH_STAMP) $(MPICH_FILES) && \
	    touch -r $(TOOLS_STAMP) $(TOOLS_FILES)

# MPI's semantics
libmpi_abi_a_SOURCES += \
    src/core/base/abstract_name.h \
    src/core/base/assert.h \
    src/core/base/attribute.c src/core/base/attribute.h \
    src/core/base/callback.c src/core/base/callback.h \
    src/core/base/clock.h \
    src/core/base/copy.h \
    src/core/base/copy_tuning.h \
    src/core/base/error.c src/core/base/error.h \
    src/core/base/error_code.c src/core/base/error_code.h \
    src/core/base/event.c src/core/base/event.h \
    src/core/base/handle.c src/core/base/handle.h \
    src/core/base/handle_list.c src/core/base/handle_list.h \
    src/core/base/hash.h \
    src/core/base/info.c src/core/base/info.h \
    src/core/base/info_env.c \
    src/core/base/lock.c src/core/base/lock.h \
    src/core/base/machine.c src/core/base/machine.h \
    src/core/base/membarrier.c src/core/base/membarrier.h \
    src/core/base/memory.c src/core/base/memory.h \
    src/core/base/phases.c src/core/base/phases.h \
    src/core/base/program_path.h \
    src/core/base/shared_memory.c src/core/base/shared_memory.h \
    src/core/base/segment.c src/core/base/segment.h \
    src/core/base/settings.c src/core/base/settings.h \
    src/core/base/siphash.c src/core/base/siphash.h \
    src/core/base/thread.c src/core/base/thread.h \
    src/core/coll/allgather.c \
    src/core/coll/allreduce.c \
    src/core/coll/alltoall.c \
    src/core/coll/area.c src/core/coll/area.h \
    src/core/coll/barrier.c \
    src/core/coll/bcast.c \
    src/core/coll/build.c \
    src/core/coll/call.c \
    src/core/coll/choose.c src/core/coll/choose.h \
    src/core/coll/coll.h \
    src/core/coll/engine.c src/core/coll/engine.h \
    src/core/coll/fault.c \
    src/core/coll/gather.c \
    src/core/coll/inter.c \
    src/core/coll/library.c \
    src/core/coll/neighbor.c \
    src/core/coll/nodes.c src/core/coll/nodes.h \
    src/core/coll/op.c src/core/coll/op.h \
    src/core/coll/operands.c src/core/coll/operands.h \
    src/core/coll/reduce.c \
    src/core/coll/reduce_scatter.c \
    src/core/coll/reduction.c src/core/coll/reduction.h \
    src/core/coll/refusal.c src/core/coll/refusal.h \
    src/core/coll/scan.c \
    src/core/coll/scatter.c \
    src/core/coll/schedule.c src/core/coll/schedule.h \
    src/core/coll/shared.c src/core/coll/shared.h \
    src/core/coll/shared_area.c \
    src/core/coll/shared_chunks.c \
    src/core/coll/shared_internal.h \
    src/core/coll/shared_short.c \
    src/core/coll/shared_wait.c \
    src/core/coll/stage.c src/core/coll/stage.h \
    src/core/coll/tag.c \
    src/core/coll/tree.h \
    src/core/comm/comm.c src/core/comm/comm.h \
    src/core/comm/comm_info.c \
    src/core/comm/comm_make.c src/core/comm/comm_make.h \
    src/core/comm/connect.c src/core/comm/connect.h \
    src/core/comm/context.c src/core/comm/context.h \
    src/core/comm/agree.c src/core/comm/agree.h src/core/comm/agree_internal.h \
    src/core/comm/agree_calls.c \
    src/core/comm/agreement.c src/core/comm/agreement.h src/core/comm/board.h \
    src/core/comm/recovery.c src/core/comm/recovery.h \
    src/core/comm/context_alloc.c src/core/comm/context_alloc.h \
    src/core/comm/revoke.c src/core/comm/revoke.h \
    src/core/comm/dims.c \
    src/core/comm/group.c src/core/comm/group.h \
    src/core/comm/hardware.c src/core/comm/hardware.h \
    src/core/comm/intercomm.c src/core/comm/intercomm.h \
    src/core/comm/nodes.c src/core/comm/nodes.h \
    src/core/comm/pairing.c src/core/comm/pairing.h \
    src/core/comm/raise.c src/core/comm/raise.h \
    src/core/comm/reorder.c src/core/comm/reorder.h \
    src/core/comm/names.c src/core/comm/names.h \
    src/core/comm/session.c src/core/comm/session.h \
    src/core/comm/spawn.c src/core/comm/spawn.h \
    src/core/comm/sides.c src/core/comm/sides.h \
    src/core/comm/split_type.c \
    src/core/comm/spread.h \
    src/core/comm/topology.c src/core/comm/topology.h \
    src/core/datatype/arena.c src/core/datatype/arena.h \
    src/core/datatype/array.c \
    src/core/datatype/basic_type.h \
    src/core/datatype/bounds.c \
    src/core/datatype/build.c src/core/datatype/build.h \
    src/core/datatype/copy.c src/core/datatype/copy.h \
    src/core/datatype/device.c src/core/datatype/device.h \
    src/core/datatype/datatype.c src/core/datatype/datatype.h \
    src/core/datatype/elements.c src/core/datatype/elements.h \
    src/core/datatype/envelope.c src/core/datatype/envelope.h \
    src/core/datatype/external32.c \
    src/core/datatype/iov.c src/core/datatype/iov.h \
    src/core/datatype/layout.c src/core/datatype/layout.h \
    src/core/datatype/lifetime.c \
    src/core/datatype/position.c src/core/datatype/position.h \
    src/core/datatype/predefined.c \
    src/core/datatype/predefined_types.c src/core/datatype/predefined_types.h \
    src/core/datatype/signature.c src/core/datatype/signature.h \
    src/core/datatype/strided_copy.c src/core/datatype/strided_copy.h \
    src/core/message/backlog.c \
    src/core/message/channel.c src/core/message/channel.h \
    src/core/message/count.c src/core/message/count.h \
    src/core/message/foreign.c src/core/message/foreign.h \
    src/core/message/lane.c src/core/message/lane.h \
    src/core/message/lane_fast.h \
    src/core/message/match.c src/core/message/match.h \
    src/core/message/peer.c src/core/message/peer.h \
    src/core/message/process.h \
    src/core/message/request.c src/core/message/request.h \
    src/core/message/status.h \
    src/core/message/sw_match.c src/core/message/sw_match.h \
    src/core/message/vci.c src/core/message/vci.h \
    src/core/process/hang.c src/core/process/hang.h \
    src/core/process/lanes.c src/core/process/lanes.h \
    src/core/process/left.c src/core/process/left.h \
    src/core/process/weft.c src/core/process/weft.h \
    src/core/progress/failure.c src/core/progress/failure.h \
    src/core/progress/progress.c src/core/progress/progress.h \
    src/core/progress/progress_thread.c src/core/progress/progress_thread.h \
    src/core/pt2pt/bsend.c src/core/pt2pt/bsend.h \
    src/core/pt2pt/bsend_buffer.c src/core/pt2pt/bsend_buffer.h \
    src/core/pt2pt/cancel.c src/core/pt2pt/cancel.h \
    src/core/pt2pt/generalized.c src/core/pt2pt/generalized.h \
    src/core/pt2pt/p2p.c src/core/pt2pt/p2p.h \
    src/core/pt2pt/partitioned.c src/core/pt2pt/partitioned.h \
    src/core/pt2pt/partitioned_internal.h \
    src/core/pt2pt/partitioned_recv.c \
    src/core/pt2pt/partitioned_send.c \
    src/core/pt2pt/probe.c src/core/pt2pt/probe.h \
    src/core/file/access.c \
    src/core/file/blocks.c \
    src/core/file/convert.c \
    src/core/file/exchange.c \
    src/core/file/exclude.c \
    src/core/file/file.h \
    src/core/file/hints.c \
    src/core/file/nonblocking.c \
    src/core/file/agree.c src/core/file/agree.h \
    src/core/file/open.c \
    src/core/file/shared.c \
    src/core/file/system.c src/core/file/system.h \
    src/core/file/systems.c src/core/file/systems.h \
    src/core/file/view.c \
    src/core/file/domains.c src/core/file/two_phase.c src/core/file/two_phase_internal.h \
    src/core/rma/apply.c \
    src/core/rma/epoch.c \
    src/core/rma/handler.c \
    src/core/rma/lock.c \
    src/core/rma/make.c src/core/rma/make.h \
    src/core/rma/hints.c src/core/rma/segment.c src/core/rma/attach.c \
    src/core/rma/message.c src/core/rma/message.h \
    src/core/rma/operation.c \
    src/core/rma/send.c \
    src/core/rma/win.h \
    src/core/tool/category.c src/core/tool/category.h \
    src/core/tool/cvar.c src/core/tool/cvar.h \
    src/core/tool/derived.c src/core/tool/derived.h \
    src/core/tool/event.c src/core/tool/event.h \
    src/core/tool/pvar.c src/core/tool/pvar.h \
    src/core/tool/pvar_table.c \
    src/core/tool/tool.c src/core/tool/tool.h

# The bootstrap: the only code that includes pmix*.h
libmpi_abi_a_SOURCES += \
    src/pmix/boot.c src/pmix/boot.h \
    src/pmix/failure.c \
    src/pmix/job_file.c src/pmix/job_file.h \
    src/pmix/job_info.c \
    src/pmix/launcher.c \
    src/pmix/pmi.c \
    src/pmix/pmix_internal.h \
    src/pmix/names.c \
    src/pmix/psets.c \
    src/pmix/spawn.c \
    src/pmix/rank_lock.c \
    src/pmix/reply.c

# The net lane: the only code that includes rdma/*
libmpi_abi_a_SOURCES += \
    src/ofi/bounce_pool.c \
    src/ofi/cancel.c \
    src/ofi/compare.c \
    src/ofi/completion.c \
    src/ofi/control.c \
    src/ofi/credits.c src/ofi/credits.h \
    src/ofi/describe.c \
    src/ofi/endpoint.c \
    src/ofi/in_flight.c \
    src/ofi/keepalive.c \
    src/ofi/lane.c \
    src/ofi/net.c src/ofi/net.h \
    src/ofi/ofi_internal.h \
    src/ofi/peek_claim.c \
    src/ofi/pool.c \
    src/ofi/read_limit.c src/ofi/read_limit.h \
    src/ofi/recv.c \
    src/ofi/rendezvous.h \
    src/ofi/rails.c \
    src/ofi/replay.c src/ofi/replay.h \
    src/ofi/rma.c src/ofi/rma.h \
    src/ofi/rndv_pipeline.c \
    src/ofi/rndv_read.c \
    src/ofi/rndv_send.c \
    src/ofi/select/adapter.c src/ofi/select/adapter.h \
    src/ofi/select/interface.c src/ofi/select/interface.h \
    src/ofi/select/load.c src/ofi/select/load.h \
    src/ofi/select/network.c src/ofi/select/network.h \
    src/ofi/select/network_compare.c src/ofi/select/network_compare.h \
    src/ofi/select/nic.c src/ofi/select/nic.h \
    src/ofi/select/objects.c src/ofi/select/objects.h \
    src/ofi/select/provider.h \
    src/ofi/select/provider_score.c src/ofi/select/provider_score.h \
    src/ofi/select/provider_table.c \
    src/ofi/select/rxm_env.c \
    src/ofi/select/select.c \
    src/ofi/select/sysfs.h \
    src/ofi/send.c \
    src/ofi/sequence.c src/ofi/sequence.h \
    src/ofi/shared_network.c \
    src/ofi/signals.c \
    src/ofi/state.h \
    src/ofi/tag_word.h \
    src/ofi/tunnel.c src/ofi/tunnel.h \
    src/ofi/tunnel_pump.c src/ofi/tunnel_pump.h \
    src/ofi/unanswered.c \
    src/ofi/wire.h

# The list of lanes, and the lane of a process to itself
libmpi_abi_a_SOURCES += \
    src/lanes/lanes.c src/lanes/lanes.h \
    src/self/self.c src/self/self.h

# The lane to processes of other jobs
libmpi_abi_a_SOURCES += \
    src/tcp/address.c \
    src/tcp/dial.c \
    src/tcp/handshake.c src/tcp/handshake.h \
    src/tcp/link.c \
    src/tcp/listen.c \
    src/tcp/memory.c \
    src/tcp/message.c \
    src/tcp/monitor.c \
    src/tcp/socket.c \
    src/tcp/tcp.h src/tcp/tcp_internal.h

# The shared-memory lane
libmpi_abi_a_SOURCES += \
    src/shm/cancel.c \
    src/shm/doorbell.c \
    src/shm/fetch.c \
    src/shm/lane.c \
    src/shm/link.c \
    src/shm/progress.c \
    src/shm/ring.h \
    src/shm/segment.c \
    src/shm/send.c \
    src/shm/share.c src/shm/share.h \
    src/shm/shm.h \
    src/shm/shm_internal.h

# ---- libmpi_abi.so.1
# -Bsymbolic-functions binds calls inside the library to its own definitions when it is linked, so
# that the forms with int counts jump straight to their _c twins. -fno-semantic-interposition could
# not do that: it helps only within one compilation unit, and the forms are a unit of their own.
abiexec_DATA += lib/libmpi_abi.so.1
noinst_DATA += lib/libmpi_abi.so
lib/libmpi_abi.so.1: libmpi_abi.a $(srcdir)/src/weft.map Makefile
	$(link_shared) -Wl,--version-script=$(srcdir)/src/weft.map -Wl,-Bsymbolic-functions \
	    $(call all_of,libmpi_abi.a) $(PMIX_LIBS) $(HWLOC_LIBS) $(LIBS)

# One MPI library was once released as libmpi_abi.so.0; what was linked with it runs too.
LIBRARY_LINKS = libmpi_abi.so libmpi_abi.so.0
install-exec-hook:
	cd $(DESTDIR)$(libdir) && for link in $(LIBRARY_LINKS); do \
	    rm -f $$link && $(LN_S) $${link%%.*}.so.1 $$link; done
uninstall-hook:
	rm -f $(LIBRARY_LINKS:%=$(DESTDIR)$(libdir)/%)
	rm -f $(OPENMPI_LINKS:%=$(DESTDIR)$(openmpidir)/%) $(MPICH_LINKS:%=$(DESTDIR)$(mpichdir)/%)
