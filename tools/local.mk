# SPDX-License-Identifier: BSD-3-Clause
# Programs that are installed.

# ---- Wrapper compilers: one script under three names
