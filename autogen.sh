#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes ./configure from configure.ac; only needed in a checkout, not in a release.
set -eu
cd "$(dirname "$0")"
mkdir -p m4
autoreconf --force --install
