// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
/*
 * MPI_Status_set_elements in its three forms is what MPI_Get_elements finds, and MPI_Get_count
 * where they make whole elements, also of pair types and beyond 2^31; MPI_Status_set_cancelled is
 * what MPI_Test_cancelled finds; the rest of the status stays.
 */
#include "check.h"

static void set(int form, MPI_Status *st, MPI_Datatype type, MPI_Count n)
{
    if (form == 0) {
        MPI_Status_set_elements(st, type, (int)n);
    } else {
        (form == 1 ? MPI_Status_set_elements_c : MPI_Status_set_elements_x)(st, type, n);
    }
}

int main(int argc, char **argv)
{
    static const MPI_Count numbers[] = {0,    1,          2,          3,          1000,
                                        1001, 2147483647, 2147483648, 30000000001};
    MPI_Datatype types[] = {MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_2INT};
    check_begin(&argc, &argv, 1);
    MPI_Status st;
    int flag = -1;
    memset(&st, 0, sizeof st);
    st.MPI_SOURCE = 3;
    st.MPI_TAG = 4;
    st.MPI_ERROR = MPI_ERR_IO;
    for (int t = 0; t < 6; t++) {
        for (int i = 0; i < 9; i++) {
            MPI_Count n = numbers[i], elements = -9, count = -9;
            int each = t < 3 ? 1 : 2, small = -9;
            for (int form = n > 2147483647 ? 1 : 0; form < 3; form++) {
                check_step("type %d, %lld elements, form %d", t, (long long)n, form);
                set(form, &st, MPI_BYTE, 7);
                set(form, &st, types[t], n);
                MPI_Get_elements_c(&st, types[t], &elements);
                CHECK(elements == n, "MPI_Get_elements_c: %lld", (long long)elements);
                MPI_Get_elements_x(&st, types[t], &elements);
                CHECK(elements == n, "MPI_Get_elements_x: %lld", (long long)elements);
                MPI_Get_elements(&st, types[t], &small);
                CHECK(small == (n > 2147483647 ? MPI_UNDEFINED : (int)n), "MPI_Get_elements: %d",
                      small);
                MPI_Get_count_c(&st, types[t], &count);
                CHECK(count == (n % each ? MPI_UNDEFINED : n / each),
                      "MPI_Get_count_c: %lld of %lld", (long long)count, (long long)n);
            }
        }
    }
    for (int cancelled = 1; cancelled >= 0; cancelled--) {
        MPI_Status_set_cancelled(&st, cancelled);
        MPI_Test_cancelled(&st, &flag);
        CHECK(flag == cancelled, "set cancelled %d, found %d", cancelled, flag);
    }
    CHECK(st.MPI_SOURCE == 3 && st.MPI_TAG == 4 && st.MPI_ERROR == MPI_ERR_IO,
          "setting elements changed the rest of the status");
    MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK(flag == 0, "a receive was cancelled by nobody");
    check_errors_return();
    CHECK_CLASS(MPI_Status_set_elements(&st, MPI_INT, -1), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Status_set_elements_c(&st, MPI_DOUBLE, INT64_MAX), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Status_set_elements_x(&st, MPI_DATATYPE_NULL, 1), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Status_set_elements_c(&st, (MPI_Datatype)MPI_COMM_WORLD, 1), MPI_ERR_TYPE);
    return check_done();
}
