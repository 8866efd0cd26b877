# SPDX-License-Identifier: BSD-3-Clause
# Small complete programs.
