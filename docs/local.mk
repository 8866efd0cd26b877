# SPDX-License-Identifier: BSD-3-Clause
# Man pages and documents that are installed.
