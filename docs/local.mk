# SPDX-License-Identifier: BSD-3-Clause
# Man pages and documents that are installed.

dist_man_MANS += docs/mpicc.1 docs/mpicc_abi.1 docs/weftcc.1 docs/weftrun.1
dist_man_MANS += docs/weft_info.1
dist_doc_DATA += docs/STATUS.md
