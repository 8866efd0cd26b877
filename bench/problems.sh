# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Problems for the programs of examples/, for the scripts of bench/ that measure them. Never run.

# plate_matrix N: for cg, the five-point formula on a plate of N x N points.
plate_matrix()
{
    awk -v n="$1" 'BEGIN {
        print "%%MatrixMarket matrix coordinate integer symmetric"
        print n * n, n * n, n * n + 2 * n * (n - 1)
        for (i = 1; i <= n * n; i++) {
            print i, i, 4
            if (i % n) print i + 1, i, -1
            if (i <= n * n - n) print i + n, i, -1
        }
    }'
}
