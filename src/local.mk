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
libweft_la_SOURCES += src/core/api/api.h
libweft_la_SOURCES += src/core/api/abi.c
libweft_la_SOURCES += src/core/api/address.c
libweft_la_SOURCES += src/core/api/attr.c
libweft_la_SOURCES += src/core/api/bsend.c
libweft_la_SOURCES += src/core/api/coll_allgather.c
libweft_la_SOURCES += src/core/api/coll_alltoall.c
libweft_la_SOURCES += src/core/api/coll_bcast.c
libweft_la_SOURCES += src/core/api/coll_call.c src/core/api/coll_call.h
libweft_la_SOURCES += src/core/api/coll_check.c src/core/api/coll_check.h
libweft_la_SOURCES += src/core/api/coll_check_inter.c
libweft_la_SOURCES += src/core/api/coll_check_neighbor.c
libweft_la_SOURCES += src/core/api/coll_gather.c
libweft_la_SOURCES += src/core/api/coll_neighbor.c
libweft_la_SOURCES += src/core/api/coll_reduce.c
libweft_la_SOURCES += src/core/api/comm.c
libweft_la_SOURCES += src/core/api/comm_make.c
libweft_la_SOURCES += src/core/api/enter.c src/core/api/enter.h
libweft_la_SOURCES += src/core/api/datatype.c
libweft_la_SOURCES += src/core/api/datatype_make.c
libweft_la_SOURCES += src/core/api/datatype_contents.c
libweft_la_SOURCES += src/core/api/env.c
libweft_la_SOURCES += src/core/api/error_code.c
libweft_la_SOURCES += src/core/api/errhandler.c
libweft_la_SOURCES += src/core/api/group.c
libweft_la_SOURCES += src/core/api/info.c
libweft_la_SOURCES += src/core/api/intercomm.c
libweft_la_SOURCES += src/core/api/memory.c
libweft_la_SOURCES += src/core/api/handle.c
libweft_la_SOURCES += src/core/api/op.c
libweft_la_SOURCES += src/core/api/grequest.c
libweft_la_SOURCES += src/core/api/p2p.c src/core/api/p2p_fast.h src/core/api/p2p_ends.c
libweft_la_SOURCES += src/core/api/p2p_long.c src/core/api/p2p_long.h src/core/api/p2p_threads.c
libweft_la_SOURCES += src/core/api/pack.c
libweft_la_SOURCES += src/core/api/partitioned.c
libweft_la_SOURCES += src/core/api/persistent.c
libweft_la_SOURCES += src/core/api/request.c
libweft_la_SOURCES += src/core/api/probe.c
libweft_la_SOURCES += src/core/api/session.c
libweft_la_SOURCES += src/core/api/sendrecv.c
libweft_la_SOURCES += src/core/api/status.c
libweft_la_SOURCES += src/core/api/dist_graph.c
libweft_la_SOURCES += src/core/api/tool_cvar.c
libweft_la_SOURCES += src/core/api/tool_event.c
libweft_la_SOURCES += src/core/api/tool_init.c
libweft_la_SOURCES += src/core/api/tool_pvar.c
libweft_la_SOURCES += src/core/api/topology.c
libweft_la_SOURCES += src/core/api/call.c src/core/api/call.h
libweft_la_SOURCES += src/core/api/generated_forms.c
libweft_la_SOURCES += src/core/api/generated_unsupported.c

# MPI's semantics
libweft_la_SOURCES += src/core/weft.c src/core/weft.h src/core/progress.c
libweft_la_SOURCES += src/core/coll/coll.c src/core/coll/coll.h
libweft_la_SOURCES += src/core/coll/elements.c src/core/coll/elements.h
libweft_la_SOURCES += src/core/coll/schedule.c src/core/coll/schedule.h
libweft_la_SOURCES += src/core/coll/engine.c
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
libweft_la_SOURCES += src/core/agree.c src/core/agree.h
libweft_la_SOURCES += src/core/attribute.c src/core/attribute.h
libweft_la_SOURCES += src/core/bsend.c src/core/bsend.h
libweft_la_SOURCES += src/core/bsend_buffer.c src/core/bsend_buffer.h
libweft_la_SOURCES += src/core/comm.c src/core/comm.h
libweft_la_SOURCES += src/core/comm_info.c
libweft_la_SOURCES += src/core/comm_make.c src/core/comm_make.h
libweft_la_SOURCES += src/core/context.c src/core/context.h
libweft_la_SOURCES += src/core/datatype.c src/core/datatype.h
libweft_la_SOURCES += src/core/datatype/arena.c src/core/datatype/arena.h
libweft_la_SOURCES += src/core/datatype/array.c
libweft_la_SOURCES += src/core/datatype/bounds.c
libweft_la_SOURCES += src/core/datatype/build.c src/core/datatype/build.h
libweft_la_SOURCES += src/core/datatype/copy.c src/core/datatype/copy.h
libweft_la_SOURCES += src/core/datatype/external32.c
libweft_la_SOURCES += src/core/datatype/iov.c src/core/datatype/iov.h
libweft_la_SOURCES += src/core/datatype/lifetime.c
libweft_la_SOURCES += src/core/datatype/predefined.c
libweft_la_SOURCES += src/core/datatype/recipe.c src/core/datatype/recipe.h
libweft_la_SOURCES += src/core/datatype/rows.c src/core/datatype/rows.h
libweft_la_SOURCES += src/core/datatype/shape.c src/core/datatype/shape.h
libweft_la_SOURCES += src/core/datatype/signature.c src/core/datatype/signature.h
libweft_la_SOURCES += src/core/dims.c
libweft_la_SOURCES += src/core/elem.h
libweft_la_SOURCES += src/core/error.c src/core/error.h
libweft_la_SOURCES += src/core/error_code.c src/core/error_code.h
libweft_la_SOURCES += src/core/failure.c
libweft_la_SOURCES += src/core/generalized.c src/core/generalized.h
libweft_la_SOURCES += src/core/group.c src/core/group.h
libweft_la_SOURCES += src/core/nodes.c src/core/nodes.h
libweft_la_SOURCES += src/core/handle.c src/core/handle.h
libweft_la_SOURCES += src/core/hang.c src/core/hang.h
libweft_la_SOURCES += src/core/hardware.c src/core/hardware.h
libweft_la_SOURCES += src/core/info_env.c
libweft_la_SOURCES += src/core/info.c src/core/info.h
libweft_la_SOURCES += src/core/cell.c src/core/cell.h
libweft_la_SOURCES += src/core/intercomm.c src/core/intercomm.h
libweft_la_SOURCES += src/core/lock.c src/core/lock.h
libweft_la_SOURCES += src/core/match.c src/core/match.h
libweft_la_SOURCES += src/core/op.c src/core/op.h
libweft_la_SOURCES += src/core/p2p.c src/core/p2p.h
libweft_la_SOURCES += src/core/partitioned.c src/core/partitioned.h
libweft_la_SOURCES += src/core/partitioned_announce.c
libweft_la_SOURCES += src/core/partitioned_recv.c
libweft_la_SOURCES += src/core/partitioned_send.c
libweft_la_SOURCES += src/core/partitioned_state.h
libweft_la_SOURCES += src/core/peer.h
libweft_la_SOURCES += src/core/predefined_types.c src/core/predefined_types.h
libweft_la_SOURCES += src/core/reorder.c src/core/reorder.h
libweft_la_SOURCES += src/core/request.c src/core/request.h
libweft_la_SOURCES += src/core/settings.c src/core/settings.h
libweft_la_SOURCES += src/core/session.c src/core/session.h
libweft_la_SOURCES += src/core/soft.c src/core/soft.h
libweft_la_SOURCES += src/core/split_type.c
libweft_la_SOURCES += src/core/tool/category.c src/core/tool/category.h
libweft_la_SOURCES += src/core/tool/count.c src/core/tool/count.h
libweft_la_SOURCES += src/core/tool/cvar.c src/core/tool/cvar.h
libweft_la_SOURCES += src/core/tool/event.c src/core/tool/event.h
libweft_la_SOURCES += src/core/tool/pvar.c src/core/tool/pvar.h
libweft_la_SOURCES += src/core/tool/pvar_table.c
libweft_la_SOURCES += src/core/tool/tool.c src/core/tool/tool.h
libweft_la_SOURCES += src/core/topology.c src/core/topology.h
libweft_la_SOURCES += src/core/probe.c src/core/probe.h
libweft_la_SOURCES += src/core/cancel.c src/core/cancel.h
libweft_la_SOURCES += src/core/progress_thread.c src/core/progress_thread.h

# The bootstrap: the only code that includes pmix*.h
libweft_la_SOURCES += src/pmix/boot.h
libweft_la_SOURCES += src/pmix/internal.h
libweft_la_SOURCES += src/pmix/alone.c
libweft_la_SOURCES += src/pmix/boot.c
libweft_la_SOURCES += src/pmix/facts.c
libweft_la_SOURCES += src/pmix/failure.c
libweft_la_SOURCES += src/pmix/launcher.c
libweft_la_SOURCES += src/pmix/psets.c
libweft_la_SOURCES += src/pmix/reply.c

# The net lane: the only code that includes rdma/*
libweft_la_SOURCES += src/ofi/net.h src/ofi/ofi.h
libweft_la_SOURCES += src/ofi/endpoint.c
libweft_la_SOURCES += src/ofi/completion.c
libweft_la_SOURCES += src/ofi/send.c
libweft_la_SOURCES += src/ofi/recv.c
libweft_la_SOURCES += src/ofi/rendezvous.c
libweft_la_SOURCES += src/ofi/stage.c
libweft_la_SOURCES += src/ofi/staged.c
libweft_la_SOURCES += src/ofi/pushed.c
libweft_la_SOURCES += src/ofi/control.c
libweft_la_SOURCES += src/ofi/credits.c
libweft_la_SOURCES += src/ofi/own_message.c
libweft_la_SOURCES += src/ofi/pool.c
libweft_la_SOURCES += src/ofi/sequence.c src/ofi/sequence.h
libweft_la_SOURCES += src/ofi/claim.c
libweft_la_SOURCES += src/ofi/describe.c
libweft_la_SOURCES += src/ofi/failed.c
libweft_la_SOURCES += src/ofi/signals.c src/ofi/signals.h
libweft_la_SOURCES += src/ofi/load.c src/ofi/load.h
libweft_la_SOURCES += src/ofi/cancel.c
libweft_la_SOURCES += src/ofi/layer.c
libweft_la_SOURCES += src/ofi/provider.h
libweft_la_SOURCES += src/ofi/interface.c src/ofi/interface.h
libweft_la_SOURCES += src/ofi/provider_table.c
libweft_la_SOURCES += src/ofi/judge.c src/ofi/judge.h
libweft_la_SOURCES += src/ofi/select.c
libweft_la_SOURCES += src/ofi/objects.c src/ofi/objects.h
libweft_la_SOURCES += src/ofi/adapter.c src/ofi/adapter.h

# The shared-memory lane
libweft_la_SOURCES += src/shm/shm.h src/shm/inside.h
libweft_la_SOURCES += src/shm/copy.h
libweft_la_SOURCES += src/shm/ring.h
libweft_la_SOURCES += src/shm/pace.h
libweft_la_SOURCES += src/shm/segment.c
libweft_la_SOURCES += src/shm/link.c
libweft_la_SOURCES += src/shm/send.c
libweft_la_SOURCES += src/shm/progress.c
libweft_la_SOURCES += src/shm/fetch.c
libweft_la_SOURCES += src/shm/share.h
libweft_la_SOURCES += src/shm/share.c
libweft_la_SOURCES += src/shm/stage.c
libweft_la_SOURCES += src/shm/cancel.c
libweft_la_SOURCES += src/shm/cell.c
libweft_la_SOURCES += src/shm/sleep.c

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
