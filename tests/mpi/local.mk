# SPDX-License-Identifier: BSD-3-Clause
# The programs of tests/mpi: each is its own source file, found by its name. tests/mpi/list_test
# keeps this file, tests/mpi.list and the folder in step.
MPI_TEST_LIBS = libmpi_abi.la
MPI_TESTS = \
    tests/mpi/all_pairs \
    tests/mpi/allreduce \
    tests/mpi/any_source_self_and_net \
    tests/mpi/attributes \
    tests/mpi/barrier \
    tests/mpi/bcast \
    tests/mpi/bidirectional_big \
    tests/mpi/big_4g \
    tests/mpi/bsend \
    tests/mpi/bsend_automatic \
    tests/mpi/bsend_comm \
    tests/mpi/bsend_limits \
    tests/mpi/coll_disagree \
    tests/mpi/coll_inter \
    tests/mpi/coll_interleaved \
    tests/mpi/coll_large \
    tests/mpi/coll_model \
    tests/mpi/coll_neighbor \
    tests/mpi/coll_nonblocking \
    tests/mpi/coll_random \
    tests/mpi/collectives_beside_messages \
    tests/mpi/comm_make \
    tests/mpi/comm_many \
    tests/mpi/comm_threads \
    tests/mpi/compat_header \
    tests/mpi/environment \
    tests/mpi/error_arguments \
    tests/mpi/error_codes \
    tests/mpi/error_collectives \
    tests/mpi/error_handlers \
    tests/mpi/error_pointers \
    tests/mpi/error_partitioned \
    tests/mpi/error_strings \
    tests/mpi/error_truncation \
    tests/mpi/finalize_unfinished \
    tests/mpi/gather \
    tests/mpi/get_count \
    tests/mpi/get_status_many \
    tests/mpi/grequest \
    tests/mpi/groups \
    tests/mpi/guard_bytes \
    tests/mpi/held_waits \
    tests/mpi/hello_unique \
    tests/mpi/inactive_requests \
    tests/mpi/info \
    tests/mpi/init_finalize \
    tests/mpi/init_thread \
    tests/mpi/intercomm \
    tests/mpi/isendrecv \
    tests/mpi/late_rank \
    tests/mpi/main_thread \
    tests/mpi/many_irecvs \
    tests/mpi/many_isends \
    tests/mpi/null_requests \
    tests/mpi/order_mixed \
    tests/mpi/out_of_order_by_tag \
    tests/mpi/pair_types \
    tests/mpi/partitioned \
    tests/mpi/partitioned_early \
    tests/mpi/partitioned_random \
    tests/mpi/partitioned_threads \
    tests/mpi/persistent \
    tests/mpi/pingpong_sizes \
    tests/mpi/proc_null \
    tests/mpi/forked \
    tests/mpi/psets \
    tests/mpi/random_p2p \
    tests/mpi/reduce \
    tests/mpi/reduce_local \
    tests/mpi/request_free \
    tests/mpi/request_get_status \
    tests/mpi/ring_alltoall \
    tests/mpi/rules \
    tests/mpi/self_sends \
    tests/mpi/sendrecv \
    tests/mpi/sendrecv_replace \
    tests/mpi/sessions \
    tests/mpi/split_type \
    tests/mpi/ssend_after_match \
    tests/mpi/status_accessors \
    tests/mpi/status_elements \
    tests/mpi/tags \
    tests/mpi/threads_pingpong \
    tests/mpi/threads_cells \
    tests/mpi/threads_stress \
    tests/mpi/look_in_vain \
    tests/mpi/tool_count_all \
    tests/mpi/tool_cvars \
    tests/mpi/tool_events \
    tests/mpi/tool_pvars \
    tests/mpi/tool_ranks \
    tests/mpi/tool_rules \
    tests/mpi/tool_threads \
    tests/mpi/topology \
    tests/mpi/truncation \
    tests/mpi/external32 \
    tests/mpi/types_contents \
    tests/mpi/types_corners \
    tests/mpi/types_errors \
    tests/mpi/types_far \
    tests/mpi/types_large \
    tests/mpi/types_random \
    tests/mpi/types_strided \
    tests/mpi/strangers \
    tests/mpi/strided_shared \
    tests/mpi/types_beyond_2g \
    tests/mpi/copy_refused \
    tests/mpi/rendezvous_ways \
    tests/mpi/fins_together \
    tests/mpi/first_contact \
    tests/mpi/unexpected_flood \
    tests/mpi/unexpected_flood_20000 \
    tests/mpi/unexpected_sizes \
    tests/mpi/locked_memory \
    tests/mpi/unpaid_posted \
    tests/mpi/wait_any_some \
    tests/mpi/waitany_order \
    tests/mpi/waitall_errors \
    tests/mpi/cancel \
    tests/mpi/cancel_backlogged \
    tests/mpi/cancel_race \
    tests/mpi/cancel_race_100000 \
    tests/mpi/few_questions \
    tests/mpi/flood_memory \
    tests/mpi/progress_thread \
    tests/mpi/million_receives \
    tests/mpi/million_sends \
    tests/mpi/mprobe \
    tests/mpi/probe \
    tests/mpi/probe_random \
    tests/mpi/wildcard_model \
    tests/mpi/zero_count
check_PROGRAMS += $(MPI_TESTS)
dist_noinst_DATA += tests/mpi.list tests/mpi/cancel_race.h tests/mpi/check.h tests/mpi/flood.h tests/mpi/million.h tests/mpi/reduce.h tests/mpi/tool.h
dist_check_SCRIPTS += tests/mpi/list_test
TESTS += tests/mpi/list_test

tests_mpi_all_pairs_LDADD = $(MPI_TEST_LIBS)
tests_mpi_allreduce_LDADD = $(MPI_TEST_LIBS)
tests_mpi_any_source_self_and_net_LDADD = $(MPI_TEST_LIBS)
tests_mpi_attributes_LDADD = $(MPI_TEST_LIBS)
tests_mpi_barrier_LDADD = $(MPI_TEST_LIBS)
tests_mpi_bcast_LDADD = $(MPI_TEST_LIBS)
tests_mpi_bidirectional_big_LDADD = $(MPI_TEST_LIBS)
tests_mpi_big_4g_LDADD = $(MPI_TEST_LIBS)
tests_mpi_bsend_LDADD = $(MPI_TEST_LIBS)
tests_mpi_bsend_automatic_LDADD = $(MPI_TEST_LIBS)
tests_mpi_bsend_comm_LDADD = $(MPI_TEST_LIBS)
tests_mpi_bsend_limits_LDADD = $(MPI_TEST_LIBS)
tests_mpi_coll_nonblocking_LDADD = $(MPI_TEST_LIBS)
tests_mpi_coll_inter_LDADD = $(MPI_TEST_LIBS)
tests_mpi_coll_interleaved_LDADD = $(MPI_TEST_LIBS)
tests_mpi_coll_large_LDADD = $(MPI_TEST_LIBS)
tests_mpi_coll_neighbor_LDADD = $(MPI_TEST_LIBS)
tests_mpi_coll_model_LDADD = $(MPI_TEST_LIBS)
tests_mpi_coll_disagree_LDADD = $(MPI_TEST_LIBS)
tests_mpi_coll_random_LDADD = $(MPI_TEST_LIBS)
tests_mpi_collectives_beside_messages_LDADD = $(MPI_TEST_LIBS)
tests_mpi_comm_make_LDADD = $(MPI_TEST_LIBS)
tests_mpi_comm_many_LDADD = $(MPI_TEST_LIBS)
tests_mpi_comm_threads_LDADD = $(MPI_TEST_LIBS)
tests_mpi_compat_header_LDADD = $(MPI_TEST_LIBS)
tests_mpi_environment_LDADD = $(MPI_TEST_LIBS)
tests_mpi_error_arguments_LDADD = $(MPI_TEST_LIBS)
tests_mpi_error_codes_LDADD = $(MPI_TEST_LIBS)
tests_mpi_error_collectives_LDADD = $(MPI_TEST_LIBS)
tests_mpi_error_handlers_LDADD = $(MPI_TEST_LIBS)
tests_mpi_error_pointers_LDADD = $(MPI_TEST_LIBS)
tests_mpi_error_partitioned_LDADD = $(MPI_TEST_LIBS)
tests_mpi_error_strings_LDADD = $(MPI_TEST_LIBS)
tests_mpi_error_truncation_LDADD = $(MPI_TEST_LIBS)
tests_mpi_finalize_unfinished_LDADD = $(MPI_TEST_LIBS)
tests_mpi_gather_LDADD = $(MPI_TEST_LIBS)
tests_mpi_get_count_LDADD = $(MPI_TEST_LIBS)
tests_mpi_get_status_many_LDADD = $(MPI_TEST_LIBS)
tests_mpi_grequest_LDADD = $(MPI_TEST_LIBS)
tests_mpi_groups_LDADD = $(MPI_TEST_LIBS)
tests_mpi_guard_bytes_LDADD = $(MPI_TEST_LIBS)
tests_mpi_held_waits_LDADD = $(MPI_TEST_LIBS)
tests_mpi_hello_unique_LDADD = $(MPI_TEST_LIBS)
tests_mpi_inactive_requests_LDADD = $(MPI_TEST_LIBS)
tests_mpi_info_LDADD = $(MPI_TEST_LIBS)
tests_mpi_init_finalize_LDADD = $(MPI_TEST_LIBS)
tests_mpi_init_thread_LDADD = $(MPI_TEST_LIBS)
tests_mpi_intercomm_LDADD = $(MPI_TEST_LIBS)
tests_mpi_isendrecv_LDADD = $(MPI_TEST_LIBS)
tests_mpi_late_rank_LDADD = $(MPI_TEST_LIBS)
tests_mpi_main_thread_LDADD = $(MPI_TEST_LIBS)
tests_mpi_many_irecvs_LDADD = $(MPI_TEST_LIBS)
tests_mpi_many_isends_LDADD = $(MPI_TEST_LIBS)
tests_mpi_null_requests_LDADD = $(MPI_TEST_LIBS)
tests_mpi_order_mixed_LDADD = $(MPI_TEST_LIBS)
tests_mpi_out_of_order_by_tag_LDADD = $(MPI_TEST_LIBS)
tests_mpi_pair_types_LDADD = $(MPI_TEST_LIBS)
tests_mpi_partitioned_LDADD = $(MPI_TEST_LIBS)
tests_mpi_partitioned_early_LDADD = $(MPI_TEST_LIBS)
tests_mpi_partitioned_random_LDADD = $(MPI_TEST_LIBS)
tests_mpi_partitioned_threads_LDADD = $(MPI_TEST_LIBS)
tests_mpi_persistent_LDADD = $(MPI_TEST_LIBS)
tests_mpi_pingpong_sizes_LDADD = $(MPI_TEST_LIBS)
tests_mpi_proc_null_LDADD = $(MPI_TEST_LIBS)
tests_mpi_forked_LDADD = $(MPI_TEST_LIBS)
tests_mpi_psets_LDADD = $(MPI_TEST_LIBS)
tests_mpi_random_p2p_LDADD = $(MPI_TEST_LIBS)
tests_mpi_reduce_LDADD = $(MPI_TEST_LIBS)
tests_mpi_reduce_local_LDADD = $(MPI_TEST_LIBS)
tests_mpi_request_free_LDADD = $(MPI_TEST_LIBS)
tests_mpi_request_get_status_LDADD = $(MPI_TEST_LIBS)
tests_mpi_ring_alltoall_LDADD = $(MPI_TEST_LIBS)
tests_mpi_rules_LDADD = $(MPI_TEST_LIBS)
tests_mpi_self_sends_LDADD = $(MPI_TEST_LIBS)
tests_mpi_sendrecv_LDADD = $(MPI_TEST_LIBS)
tests_mpi_sendrecv_replace_LDADD = $(MPI_TEST_LIBS)
tests_mpi_sessions_LDADD = $(MPI_TEST_LIBS)
tests_mpi_split_type_LDADD = $(MPI_TEST_LIBS)
tests_mpi_ssend_after_match_LDADD = $(MPI_TEST_LIBS)
tests_mpi_status_accessors_LDADD = $(MPI_TEST_LIBS)
tests_mpi_status_elements_LDADD = $(MPI_TEST_LIBS)
tests_mpi_tags_LDADD = $(MPI_TEST_LIBS)
tests_mpi_threads_pingpong_LDADD = $(MPI_TEST_LIBS)
tests_mpi_threads_cells_LDADD = $(MPI_TEST_LIBS)
tests_mpi_threads_stress_LDADD = $(MPI_TEST_LIBS)
tests_mpi_look_in_vain_LDADD = $(MPI_TEST_LIBS)
tests_mpi_tool_count_all_LDADD = $(MPI_TEST_LIBS)
tests_mpi_tool_cvars_LDADD = $(MPI_TEST_LIBS)
tests_mpi_tool_events_LDADD = $(MPI_TEST_LIBS)
tests_mpi_tool_pvars_LDADD = $(MPI_TEST_LIBS)
tests_mpi_tool_ranks_LDADD = $(MPI_TEST_LIBS)
tests_mpi_tool_rules_LDADD = $(MPI_TEST_LIBS)
tests_mpi_tool_threads_LDADD = $(MPI_TEST_LIBS)
tests_mpi_topology_LDADD = $(MPI_TEST_LIBS)
tests_mpi_truncation_LDADD = $(MPI_TEST_LIBS)
tests_mpi_types_far_LDADD = $(MPI_TEST_LIBS)
tests_mpi_types_strided_LDADD = $(MPI_TEST_LIBS)
tests_mpi_strangers_LDADD = $(MPI_TEST_LIBS)
tests_mpi_strided_shared_LDADD = $(MPI_TEST_LIBS)
tests_mpi_types_beyond_2g_LDADD = $(MPI_TEST_LIBS)
tests_mpi_copy_refused_LDADD = $(MPI_TEST_LIBS)
tests_mpi_rendezvous_ways_LDADD = $(MPI_TEST_LIBS)
tests_mpi_fins_together_LDADD = $(MPI_TEST_LIBS)
tests_mpi_first_contact_LDADD = $(MPI_TEST_LIBS)
tests_mpi_external32_LDADD = $(MPI_TEST_LIBS)
tests_mpi_types_contents_LDADD = $(MPI_TEST_LIBS)
tests_mpi_types_corners_LDADD = $(MPI_TEST_LIBS)
tests_mpi_types_errors_LDADD = $(MPI_TEST_LIBS)
tests_mpi_types_large_LDADD = $(MPI_TEST_LIBS)
tests_mpi_types_random_LDADD = $(MPI_TEST_LIBS)
tests_mpi_unexpected_flood_LDADD = $(MPI_TEST_LIBS)
tests_mpi_unexpected_flood_20000_LDADD = $(MPI_TEST_LIBS)
tests_mpi_unexpected_sizes_LDADD = $(MPI_TEST_LIBS)
tests_mpi_locked_memory_LDADD = $(MPI_TEST_LIBS)
tests_mpi_unpaid_posted_LDADD = $(MPI_TEST_LIBS)
tests_mpi_wait_any_some_LDADD = $(MPI_TEST_LIBS)
tests_mpi_waitany_order_LDADD = $(MPI_TEST_LIBS)
tests_mpi_waitall_errors_LDADD = $(MPI_TEST_LIBS)
tests_mpi_cancel_LDADD = $(MPI_TEST_LIBS)
tests_mpi_cancel_backlogged_LDADD = $(MPI_TEST_LIBS)
tests_mpi_cancel_race_LDADD = $(MPI_TEST_LIBS)
tests_mpi_cancel_race_100000_LDADD = $(MPI_TEST_LIBS)
tests_mpi_few_questions_LDADD = $(MPI_TEST_LIBS)
tests_mpi_flood_memory_LDADD = $(MPI_TEST_LIBS)
tests_mpi_progress_thread_LDADD = $(MPI_TEST_LIBS)
tests_mpi_million_receives_LDADD = $(MPI_TEST_LIBS)
tests_mpi_million_sends_LDADD = $(MPI_TEST_LIBS)
tests_mpi_mprobe_LDADD = $(MPI_TEST_LIBS)
tests_mpi_probe_LDADD = $(MPI_TEST_LIBS)
tests_mpi_probe_random_LDADD = $(MPI_TEST_LIBS)
tests_mpi_wildcard_model_LDADD = $(MPI_TEST_LIBS)
tests_mpi_zero_count_LDADD = $(MPI_TEST_LIBS)

# Mistakes, looked at from outside by tests/errors/run
check_PROGRAMS += tests/errors/victim
tests_errors_victim_LDADD = $(MPI_TEST_LIBS)
dist_noinst_SCRIPTS += tests/errors/run

# On an RDMA adapter, by ci/rdmavm
dist_noinst_SCRIPTS += tests/verbs/run
