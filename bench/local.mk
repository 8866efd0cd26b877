# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks and their raw libfabric twins. `make bench` builds them, and so does `make check`; they
# are run from the build tree, and two are installed.
BENCHES =
BENCHES_FORTRAN =
check_PROGRAMS += $(BENCHES)
check_SCRIPTS += $(BENCHES_FORTRAN)
.PHONY: bench
bench: $(BENCHES) $(BENCHES_FORTRAN) bench/weft_latency bench/weft_bw

bench_common = bench/options.c bench/options.h bench/table.c bench/table.h bench/turns.c \
    bench/turns.h
bench_mpi = $(bench_common) bench/mpi_bench.c bench/mpi_bench.h
bench_windows = $(bench_mpi) bench/window.c bench/window.h
bench_raw = $(bench_common) bench/figures.h bench/raw_ofi.c bench/raw_ofi.h bench/raw_pair.c bench/raw_pair.h

# ---- MPI
# Installed, for the first test of two nodes
bin_PROGRAMS += bench/weft_latency bench/weft_bw
bench_weft_latency_LDADD = lib/libmpi_abi.so $(INSTALLED_RPATH)
bench_weft_bw_LDADD = lib/libmpi_abi.so $(INSTALLED_RPATH)
BENCHES += bench/weft_bibw bench/weft_mbw_mr bench/instr_calls
bench_weft_latency_SOURCES = bench/latency.c $(bench_mpi)
bench_weft_bw_SOURCES = bench/bw.c $(bench_windows)
bench_weft_bibw_SOURCES = bench/bibw.c $(bench_windows)
bench_weft_mbw_mr_SOURCES = bench/mbw_mr.c $(bench_windows)
BENCHES += bench/weft_mt_rate
bench_weft_mt_rate_SOURCES = bench/mt_rate.c $(bench_windows)
BENCHES += bench/weft_gpu
bench_weft_gpu_SOURCES = bench/gpu.c
bench_weft_gpu_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)
BENCHES += bench/weft_overlap
bench_weft_overlap_SOURCES = bench/overlap_kinds.c bench/figures.h
BENCHES += bench/weft_startup
bench_weft_startup_SOURCES = bench/start_end.c bench/figures.h
BENCHES += bench/weft_spawn
bench_weft_spawn_SOURCES = bench/spawn_times.c bench/figures.h
BENCHES += bench/weft_memory
bench_weft_memory_SOURCES = bench/memory.c
BENCHES += bench/weft_strided_bw
bench_weft_strided_bw_SOURCES = bench/strided_bw.c bench/figures.h bench/strided_hand.c bench/strided_hand.h
BENCHES += bench/commit_calls
bench_commit_calls_SOURCES = bench/commit_calls.c
BENCHES += bench/weft_pack
bench_weft_pack_SOURCES = bench/pack.c bench/figures.h
bench_instr_calls_SOURCES = bench/instr_calls.c

# ---- Fortran: the same measurements of calls from mpi_f08
EXTRA_DIST += bench/instr_calls_f08.f90 bench/latency_f08.f90
if FORTRAN
BENCHES_FORTRAN += bench/instr_calls_f08 bench/weft_latency_f08
CLEANFILES += bench/instr_calls_f08 bench/weft_latency_f08
latency_objects = $(filter-out bench/latency.o,$(bench_weft_latency_OBJECTS))
# Two makes may build one at the same time: each has a folder of its own.
fortran_bench = $(AM_V_GEN)own=`mktemp -d bench/fortran.XXXXXX` && trap 'rm -rf $$own' 0 && \
    tools/wrapper/mpicc-build $(AM_CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -DWEFT_BENCH_FORTRAN \
	-c $(srcdir)/$(1) -o $$own/main.o && \
    tools/wrapper/mpifort-build $(WEFT_FCFLAGS) $(FCFLAGS) -J $$own $(srcdir)/$(2) $$own/main.o \
	$(3) -o $$own/program && mv $$own/program $@
fortran_tools = tools/wrapper/mpicc-build tools/wrapper/mpifort-build lib/libmpifort_abi.so
bench/weft_latency_f08: $(srcdir)/bench/latency.c $(srcdir)/bench/latency_f08.f90 \
    $(latency_objects) $(fortran_tools)
	$(call fortran_bench,bench/latency.c,bench/latency_f08.f90,$(latency_objects) $(LIBS))
bench/instr_calls_f08: $(srcdir)/bench/instr_calls.c $(srcdir)/bench/instr_calls_f08.f90 \
    $(fortran_tools)
	$(call fortran_bench,bench/instr_calls.c,bench/instr_calls_f08.f90,)
endif

# ---- Collectives: one source, and the name says which
BENCHES += bench/weft_barrier bench/weft_bcast bench/weft_reduce bench/weft_allreduce \
    bench/weft_allgather bench/weft_alltoall bench/weft_gather bench/weft_scatter \
    bench/weft_reduce_scatter
bench_weft_barrier_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_bcast_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_reduce_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_allreduce_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_allgather_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_alltoall_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_gather_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_scatter_SOURCES = bench/coll.c $(bench_mpi)
bench_weft_reduce_scatter_SOURCES = bench/coll.c $(bench_mpi)

# ---- Windows: one source, and the name says which
BENCHES += bench/weft_put bench/weft_get bench/weft_accumulate bench/weft_fetch_and_op bench/weft_flush \
    bench/weft_puts bench/weft_gets bench/weft_accumulates bench/weft_copy
bench_weft_put_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_get_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_accumulate_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_fetch_and_op_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_flush_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_puts_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_gets_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_accumulates_SOURCES = bench/one_sided.c $(bench_mpi)
bench_weft_copy_SOURCES = bench/one_sided.c $(bench_mpi)

# ---- The provider alone: the only code outside src/ofi that includes rdma/*
BENCHES += bench/raw_latency bench/raw_bw bench/raw_read_bw
bench_raw_latency_SOURCES = bench/raw_latency.c $(bench_raw)
bench_raw_latency_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
bench_raw_latency_LDADD = $(FABRIC_LIBS)
bench_raw_bw_SOURCES = bench/raw_bw.c $(bench_raw)
bench_raw_bw_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
bench_raw_bw_LDADD = $(FABRIC_LIBS)
bench_raw_read_bw_SOURCES = bench/raw_read_bw.c $(bench_raw)
bench_raw_read_bw_CFLAGS = $(AM_CFLAGS) $(FABRIC_CFLAGS)
bench_raw_read_bw_LDADD = $(FABRIC_LIBS)
BENCHES += bench/raw_put bench/raw_get bench/raw_puts bench/raw_gets
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

# ---- Files: one source, and the name says which
BENCHES += bench/weft_file_write bench/weft_file_read bench/weft_file_write_all \
    bench/weft_file_read_all bench/weft_file_iwrite_all bench/weft_file_each_write \
    bench/weft_file_each_read bench/weft_file_write_at bench/weft_file_read_at \
    bench/weft_file_write_at_all bench/weft_file_iwrite_at bench/weft_file_write_shared \
    bench/weft_file_write_ordered bench/weft_file_each_write_at bench/weft_file_open \
    bench/weft_file_view
bench_weft_file_write_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_read_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_write_all_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_read_all_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_iwrite_all_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_each_write_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_each_read_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_write_at_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_read_at_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_write_at_all_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_iwrite_at_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_write_shared_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_write_ordered_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_each_write_at_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_open_SOURCES = bench/file_access.c $(bench_mpi)
bench_weft_file_view_SOURCES = bench/file_access.c $(bench_mpi)

# ---- The machine alone
BENCHES += bench/raw_shm bench/limits
bench_raw_shm_SOURCES = bench/raw_shm.c bench/figures.h $(bench_common) bench/raw_pair.c bench/raw_pair.h
bench_raw_shm_LDADD =
bench_limits_SOURCES = bench/limits.c bench/figures.h bench/raw_pair.c bench/raw_pair.h
bench_limits_LDADD =

# ---- The library alone, as a rank of a job that is not there
BENCHES += bench/tables bench/coll_cost
bench_tables_SOURCES = bench/tables.c
bench_tables_LDADD = $(LIBRARY)
bench_coll_cost_SOURCES = bench/coll_cost.c
bench_coll_cost_LDADD = $(LIBRARY)

# ---- A network in user space, and calls on it: ci/delaylab
BENCHES += bench/weft_coll_rounds bench/weft_both_ways bench/delay_switch
EXTRA_DIST += bench/idle_nap.c
bench_weft_coll_rounds_SOURCES = bench/coll_rounds.c bench/delay_switch.h bench/figures.h
bench_weft_both_ways_SOURCES = bench/both_ways.c bench/figures.h
bench_delay_switch_SOURCES = bench/delay_switch.c bench/delay_switch.h
bench_delay_switch_LDADD =

# ---- Jobs measured in turns
BENCHES += bench/side_by_side
bench_side_by_side_SOURCES = bench/side_by_side.c bench/figures.h bench/jobs.c bench/jobs.h bench/turns.h
bench_side_by_side_LDADD =

dist_noinst_SCRIPTS += bench/overhead bench/plot bench/instructions bench/page bench/peers bench/rma bench/files \
    bench/threads bench/startup bench/spawn bench/applications bench/overlap bench/profile_cost \
    bench/report bench/peers_coll bench/coll_tune bench/linear_commit
dist_noinst_DATA += bench/where.sh bench/options.sh bench/peer_mpis.sh bench/problems.sh bench/svg_plot.py bench/app_time.c
