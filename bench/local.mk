# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks and their raw libfabric twins. They are run from the build tree, not installed;
# -no-install spares them libtool's wrapper scripts, which would be in the way of the launcher and
# of callgrind.

bench_common = bench/options.c bench/options.h bench/table.c bench/table.h bench/turns.c \
    bench/turns.h
bench_mpi = $(bench_common) bench/mpi_bench.c bench/mpi_bench.h
bench_windows = $(bench_mpi) bench/window.c bench/window.h
bench_raw = $(bench_common) bench/raw_ofi.c bench/raw_ofi.h bench/raw_pair.c bench/raw_pair.h

# ---- MPI
noinst_PROGRAMS += bench/weft_latency bench/weft_bw bench/weft_bibw bench/weft_mbw_mr \
    bench/instr_calls
bench_weft_latency_SOURCES = bench/latency.c $(bench_mpi)
bench_weft_latency_LDADD = libmpi_abi.la
bench_weft_latency_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_bw_SOURCES = bench/bw.c $(bench_windows)
bench_weft_bw_LDADD = libmpi_abi.la
bench_weft_bw_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_bibw_SOURCES = bench/bibw.c $(bench_windows)
bench_weft_bibw_LDADD = libmpi_abi.la
bench_weft_bibw_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_mbw_mr_SOURCES = bench/mbw_mr.c $(bench_windows)
bench_weft_mbw_mr_LDADD = libmpi_abi.la
bench_weft_mbw_mr_LDFLAGS = $(AM_LDFLAGS) -no-install
noinst_PROGRAMS += bench/weft_mt_rate
bench_weft_mt_rate_SOURCES = bench/mt_rate.c $(bench_windows)
bench_weft_mt_rate_LDADD = libmpi_abi.la
bench_weft_mt_rate_LDFLAGS = $(AM_LDFLAGS) -no-install
noinst_PROGRAMS += bench/weft_memory
bench_weft_memory_SOURCES = bench/memory.c
bench_weft_memory_LDADD = libmpi_abi.la
bench_weft_memory_LDFLAGS = $(AM_LDFLAGS) -no-install
noinst_PROGRAMS += bench/weft_strided_bw
bench_weft_strided_bw_SOURCES = bench/strided_bw.c bench/strided_hand.c bench/strided_hand.h
bench_weft_strided_bw_LDADD = libmpi_abi.la
bench_weft_strided_bw_LDFLAGS = $(AM_LDFLAGS) -no-install
noinst_PROGRAMS += bench/commit_calls
bench_commit_calls_SOURCES = bench/commit_calls.c
bench_commit_calls_LDADD = libmpi_abi.la
bench_commit_calls_LDFLAGS = $(AM_LDFLAGS) -no-install
noinst_PROGRAMS += bench/weft_pack
bench_weft_pack_SOURCES = bench/pack.c
bench_weft_pack_LDADD = libmpi_abi.la
bench_weft_pack_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_instr_calls_SOURCES = bench/instr_calls.c
bench_instr_calls_LDADD = libmpi_abi.la
bench_instr_calls_LDFLAGS = $(AM_LDFLAGS) -no-install

# ---- Fortran: the same measurements of calls from mpi_f08
EXTRA_DIST += bench/instr_calls_f08.f90 bench/latency_f08.f90
if FORTRAN
noinst_SCRIPTS += bench/instr_calls_f08 bench/weft_latency_f08
CLEANFILES += bench/instr_calls_f08 bench/instr_calls_f08.o bench/instr_calls_f08.mod \
    bench/weft_latency_f08 bench/latency_f08.mod
latency_objects = $(filter-out bench/latency.o,$(bench_weft_latency_OBJECTS))
bench/weft_latency_f08: $(srcdir)/bench/latency.c $(srcdir)/bench/latency_f08.f90 \
    $(latency_objects) tools/wrapper/mpicc-build tools/wrapper/mpifort-build libmpifort_abi.la
	$(AM_V_GEN)tools/wrapper/mpicc-build $(AM_CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -DWEFT_BENCH_FORTRAN \
	    -c $(srcdir)/bench/latency.c -o $@.o && \
	tools/wrapper/mpifort-build $(WEFT_FCFLAGS) $(FCFLAGS) -J bench \
	    $(srcdir)/bench/latency_f08.f90 $@.o $(latency_objects) $(LIBS) -o $@
bench/instr_calls_f08: $(srcdir)/bench/instr_calls.c $(srcdir)/bench/instr_calls_f08.f90 \
    tools/wrapper/mpicc-build tools/wrapper/mpifort-build libmpifort_abi.la
	$(AM_V_GEN)tools/wrapper/mpicc-build $(AM_CFLAGS) $(CFLAGS) -DWEFT_BENCH_FORTRAN \
	    -c $(srcdir)/bench/instr_calls.c -o $@.o && \
	tools/wrapper/mpifort-build $(WEFT_FCFLAGS) $(FCFLAGS) -J bench \
	    $(srcdir)/bench/instr_calls_f08.f90 $@.o -o $@
endif

# ---- Collectives: one source, and the name says which
noinst_PROGRAMS += bench/weft_barrier bench/weft_bcast bench/weft_reduce bench/weft_allreduce \
    bench/weft_allgather bench/weft_alltoall bench/weft_gather bench/weft_scatter \
    bench/weft_reduce_scatter
bench_weft_barrier_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_barrier_LDADD = libmpi_abi.la
bench_weft_barrier_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_bcast_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_bcast_LDADD = libmpi_abi.la
bench_weft_bcast_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_reduce_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_reduce_LDADD = libmpi_abi.la
bench_weft_reduce_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_allreduce_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_allreduce_LDADD = libmpi_abi.la
bench_weft_allreduce_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_allgather_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_allgather_LDADD = libmpi_abi.la
bench_weft_allgather_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_alltoall_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_alltoall_LDADD = libmpi_abi.la
bench_weft_alltoall_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_gather_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_gather_LDADD = libmpi_abi.la
bench_weft_gather_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_scatter_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_scatter_LDADD = libmpi_abi.la
bench_weft_scatter_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_reduce_scatter_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_reduce_scatter_LDADD = libmpi_abi.la
bench_weft_reduce_scatter_LDFLAGS = $(AM_LDFLAGS) -no-install

# ---- Windows: one source, and the name says which
noinst_PROGRAMS += bench/weft_put bench/weft_get bench/weft_accumulate bench/weft_fetch_and_op bench/weft_flush \
    bench/weft_puts bench/weft_gets bench/weft_accumulates bench/weft_copy
bench_weft_put_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_put_LDADD = libmpi_abi.la
bench_weft_put_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_get_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_get_LDADD = libmpi_abi.la
bench_weft_get_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_accumulate_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_accumulate_LDADD = libmpi_abi.la
bench_weft_accumulate_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_fetch_and_op_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_fetch_and_op_LDADD = libmpi_abi.la
bench_weft_fetch_and_op_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_flush_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_flush_LDADD = libmpi_abi.la
bench_weft_flush_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_puts_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_puts_LDADD = libmpi_abi.la
bench_weft_puts_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_gets_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_gets_LDADD = libmpi_abi.la
bench_weft_gets_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_accumulates_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_accumulates_LDADD = libmpi_abi.la
bench_weft_accumulates_LDFLAGS = $(AM_LDFLAGS) -no-install
bench_weft_copy_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_copy_LDADD = libmpi_abi.la
bench_weft_copy_LDFLAGS = $(AM_LDFLAGS) -no-install

# ---- The provider alone: the only code outside src/ofi that includes rdma/*
noinst_PROGRAMS += bench/raw_latency bench/raw_bw bench/raw_read_bw
bench_raw_latency_SOURCES = bench/raw_latency.c $(bench_raw)
bench_raw_latency_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
bench_raw_latency_LDADD = $(FABRIC_LIBS)
bench_raw_bw_SOURCES = bench/raw_bw.c $(bench_raw)
bench_raw_bw_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
bench_raw_bw_LDADD = $(FABRIC_LIBS)
bench_raw_read_bw_SOURCES = bench/raw_read_bw.c $(bench_raw)
bench_raw_read_bw_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
bench_raw_read_bw_LDADD = $(FABRIC_LIBS)
noinst_PROGRAMS += bench/raw_put bench/raw_get bench/raw_puts bench/raw_gets
bench_raw_put_SOURCES = bench/raw_rma.c $(bench_raw)
bench_raw_put_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
bench_raw_put_LDADD = $(FABRIC_LIBS)
bench_raw_get_SOURCES = bench/raw_rma.c $(bench_raw)
bench_raw_get_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
bench_raw_get_LDADD = $(FABRIC_LIBS)
bench_raw_puts_SOURCES = bench/raw_rma.c $(bench_raw)
bench_raw_puts_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
bench_raw_puts_LDADD = $(FABRIC_LIBS)
bench_raw_gets_SOURCES = bench/raw_rma.c $(bench_raw)
bench_raw_gets_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
bench_raw_gets_LDADD = $(FABRIC_LIBS)

# ---- The machine alone
noinst_PROGRAMS += bench/raw_shm bench/limits
bench_raw_shm_SOURCES = bench/raw_shm.c $(bench_common) bench/raw_pair.c bench/raw_pair.h
bench_limits_SOURCES = bench/limits.c bench/raw_pair.c bench/raw_pair.h

# ---- The library alone, as a rank of a job that is not there
noinst_PROGRAMS += bench/tables bench/coll_cost
bench_tables_SOURCES = bench/tables.c
bench_tables_LDADD = libweft.la
bench_coll_cost_SOURCES = bench/coll_cost.c
bench_coll_cost_LDADD = libweft.la

# ---- Jobs measured in turns
noinst_PROGRAMS += bench/side_by_side
bench_side_by_side_SOURCES = bench/side_by_side.c bench/jobs.c bench/jobs.h bench/turns.h

dist_noinst_SCRIPTS += bench/overhead bench/plot bench/instructions bench/peers bench/rma \
    bench/threads bench/report bench/peers_coll bench/coll_tune bench/linear_commit
dist_noinst_DATA += bench/where.sh bench/peer_mpis.sh bench/svg_plot.py
