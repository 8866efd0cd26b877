// SPDX-License-Identifier: BSD-3-Clause
// A C++ program that calls the C++ bindings of MPICH, whose own library of them runs on Weft's front
// end: callbacks get objects of C++.
#include <cstdio>
#include <mpi.h>

static int bad, copied, deleted, raised;
#define CHECK(good) ((good) ? 0 : (std::printf("line %d: %s\n", __LINE__, #good), bad++))

static void add(const void *in, void *inout, int count, const MPI::Datatype &type)
{
    CHECK(type == MPI::INT && type.Get_size() == 4);
    for (int i = 0; i < count; i++)
        static_cast<int *>(inout)[i] += static_cast<const int *>(in)[i];
}

static int copy(const MPI::Comm &comm, int, void *extra, void *in, void *out, bool &flag)
{
    CHECK(comm.Get_size() == 2 && extra == &copied);
    copied++;
    *static_cast<void **>(out) = in;
    flag = true;
    return MPI::SUCCESS;
}

static int remove(MPI::Comm &comm, int, void *value, void *extra)
{
    CHECK(comm.Get_size() == 2 && value == &bad && extra == &copied);
    deleted++;
    return MPI::SUCCESS;
}

static int copy_type(const MPI::Datatype &, int, void *, void *, void *, bool &flag)
{
    flag = false;
    return MPI::SUCCESS;
}

static int remove_type(MPI::Datatype &type, int, void *, void *)
{
    CHECK(type.Get_size() == 8);
    deleted++;
    return MPI::SUCCESS;
}

static void on_comm(MPI::Comm &comm, int *code, ...)
{
    CHECK(comm.Get_size() == 2 && MPI::Get_error_class(*code) == MPI::ERR_RANK);
    raised++;
}

static void on_win(MPI::Win &win, int *code, ...)
{
    CHECK(win.Get_group().Get_size() == 2 && MPI::Get_error_class(*code) == MPI::ERR_RANK);
    raised += 10;
}

static void on_file(MPI::File &file, int *code, ...)
{
    CHECK(file.Get_amode() == MPI::MODE_RDONLY && *code != MPI::SUCCESS);
    raised += 100;
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
    int rank = comm.Get_rank(), other = 1 - rank, value = rank + 1, sum = 0;
    MPI::Op op;
    op.Init(add, true);
    comm.Allreduce(&value, &sum, 1, MPI::INT, op);
    CHECK(sum == 3);
    op.Free();

    MPI::Status status;
    comm.Sendrecv(&value, 1, MPI::INT, other, 5, &sum, 1, MPI::INT, MPI::ANY_SOURCE, MPI::ANY_TAG,
                  status);
    CHECK(sum == other + 1 && status.Get_source() == other && status.Get_count(MPI::INT) == 1);

    int key = MPI::Comm::Create_keyval(copy, remove, &copied);
    comm.Set_attr(key, &bad);
    MPI::Intracomm second = comm.Dup();
    void *got = nullptr;
    CHECK(second.Get_attr(key, &got) && got == &bad && copied == 1);
    second.Free();
    CHECK(deleted == 1);
    comm.Delete_attr(key);
    MPI::Comm::Free_keyval(key);
    key = MPI::Datatype::Create_keyval(copy_type, remove_type, nullptr);
    MPI::Datatype pair = MPI::INT.Create_contiguous(2);
    pair.Set_attr(key, &bad);
    pair.Free();
    CHECK(deleted == 3);

    comm.Set_errhandler(MPI::Comm::Create_errhandler(on_comm));
    comm.Send(&value, 1, MPI::INT, 7, 0);
    CHECK(raised == 1);
    int memory = 0;
    MPI::Win win = MPI::Win::Create(&memory, sizeof memory, 1, MPI::INFO_NULL, comm);
    win.Set_errhandler(MPI::Win::Create_errhandler(on_win));
    win.Lock(MPI::LOCK_SHARED, 9, 0);
    CHECK(raised == 11);
    win.Free();
    MPI::File file = MPI::File::Open(comm, argv[0], MPI::MODE_RDONLY, MPI::INFO_NULL);
    file.Set_errhandler(MPI::File::Create_errhandler(on_file));
    file.Write(&value, 1, MPI::INT);
    CHECK(raised == 111);
    file.Close();

    comm.Free();
    MPI::Finalize();
    return bad != 0;
}
