# SPDX-License-Identifier: BSD-3-Clause
# The textbook examples of the standard: programs like those of tests/mpi, each named after what its
# example shows. tests/mpi/list_test keeps this file, tests/mpi.list and the folder in step.
STANDARD_TESTS = \
    tests/standard/attach_detach \
    tests/standard/cancel_receive \
    tests/standard/exchange_ordered \
    tests/standard/exchange_receive_first \
    tests/standard/exchange_send_first \
    tests/standard/hello \
    tests/standard/intertwined_matching \
    tests/standard/isend_irecv \
    tests/standard/mprobe_threads \
    tests/standard/nonovertaking \
    tests/standard/null_at_borders \
    tests/standard/partitioned \
    tests/standard/pack_gather \
    tests/standard/pack_mixed \
    tests/standard/persistent_ring \
    tests/standard/probe_two_senders \
    tests/standard/ready_send \
    tests/standard/request_free_sends \
    tests/standard/server_clients \
    tests/standard/shift \
    tests/standard/type_matching
check_PROGRAMS += $(STANDARD_TESTS)
dist_noinst_DATA += tests/standard/deadlock.h

tests_standard_attach_detach_LDADD = $(MPI_TEST_LIBS)
tests_standard_cancel_receive_LDADD = $(MPI_TEST_LIBS)
tests_standard_exchange_ordered_LDADD = $(MPI_TEST_LIBS)
tests_standard_exchange_receive_first_LDADD = $(MPI_TEST_LIBS)
tests_standard_exchange_send_first_LDADD = $(MPI_TEST_LIBS)
tests_standard_hello_LDADD = $(MPI_TEST_LIBS)
tests_standard_intertwined_matching_LDADD = $(MPI_TEST_LIBS)
tests_standard_isend_irecv_LDADD = $(MPI_TEST_LIBS)
tests_standard_mprobe_threads_LDADD = $(MPI_TEST_LIBS)
tests_standard_nonovertaking_LDADD = $(MPI_TEST_LIBS)
tests_standard_null_at_borders_LDADD = $(MPI_TEST_LIBS)
tests_standard_partitioned_LDADD = $(MPI_TEST_LIBS)
tests_standard_pack_gather_LDADD = $(MPI_TEST_LIBS)
tests_standard_pack_mixed_LDADD = $(MPI_TEST_LIBS)
tests_standard_persistent_ring_LDADD = $(MPI_TEST_LIBS)
tests_standard_probe_two_senders_LDADD = $(MPI_TEST_LIBS)
tests_standard_ready_send_LDADD = $(MPI_TEST_LIBS)
tests_standard_request_free_sends_LDADD = $(MPI_TEST_LIBS)
tests_standard_server_clients_LDADD = $(MPI_TEST_LIBS)
tests_standard_shift_LDADD = $(MPI_TEST_LIBS)
tests_standard_type_matching_LDADD = $(MPI_TEST_LIBS)
