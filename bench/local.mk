# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks and their raw libfabric twins.
