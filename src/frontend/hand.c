// SPDX-License-Identifier: BSD-3-Clause
/*
 * Functions whose conversion does not follow from the tables.
 */
#include "frontend/frontend.h"

/* ---- Buffered sends: programs size their buffers with the MPI_BSEND_OVERHEAD of that MPI, which
 * is less than Weft's. The core makes buffers itself, and the program gets its own back. */

/* False: the core reports what is wrong. */
static bool is_buffer(const void *buffer, MPI_Count size)
{
    return buffer == FRONT_BUFFER_AUTOMATIC || (size >= 0 && (buffer || size == 0));
}

/* After an attach to a communicator, a session, or (both are null handles) the process. */
static int attached(int code, MPI_Comm comm, MPI_Session session, void *buffer, MPI_Count size)
{
    if (code == MPI_SUCCESS)
        weft_abi_set_detached(comm, session, buffer, buffer == FRONT_BUFFER_AUTOMATIC ? 0 : size);
    return front_code(code);
}

FRONT_EXPORT(Buffer_attach_c);
int front_Buffer_attach_c(void *buffer, MPI_Count size)
{
    int code = is_buffer(buffer, size) ? weft_abi_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0)
                                       : weft_abi_Buffer_attach_c(NULL, size);
    return attached(code, MPI_COMM_NULL, MPI_SESSION_NULL, buffer, size);
}

FRONT_EXPORT(Buffer_attach);
int front_Buffer_attach(void *buffer, int size)
{
    return front_Buffer_attach_c(buffer, size);
}

FRONT_EXPORT(Comm_attach_buffer_c);
int front_Comm_attach_buffer_c(front_Comm comm, void *buffer, MPI_Count size)
{
    MPI_Comm ours = front_Comm_in(comm);
    int code = is_buffer(buffer, size) ? weft_abi_Comm_attach_buffer(ours, MPI_BUFFER_AUTOMATIC, 0)
                                       : weft_abi_Comm_attach_buffer_c(ours, NULL, size);
    return attached(code, ours, MPI_SESSION_NULL, buffer, size);
}

FRONT_EXPORT(Comm_attach_buffer);
int front_Comm_attach_buffer(front_Comm comm, void *buffer, int size)
{
    return front_Comm_attach_buffer_c(comm, buffer, size);
}

FRONT_EXPORT(Session_attach_buffer_c);
int front_Session_attach_buffer_c(front_Session session, void *buffer, MPI_Count size)
{
    MPI_Session ours = front_Session_in(session);
    int code = is_buffer(buffer, size)
                   ? weft_abi_Session_attach_buffer(ours, MPI_BUFFER_AUTOMATIC, 0)
                   : weft_abi_Session_attach_buffer_c(ours, NULL, size);
    return attached(code, MPI_COMM_NULL, ours, buffer, size);
}

FRONT_EXPORT(Session_attach_buffer);
int front_Session_attach_buffer(front_Session session, void *buffer, int size)
{
    return front_Session_attach_buffer_c(session, buffer, size);
}

/* ---- Spawning: arguments are significant at the root, and only there the number of error codes is
 * known. At other ranks the codes keep the numbers of the standard's ABI. */

/* The core leaves the codes alone if an argument is wrong. */
static void clear_codes(int *codes, int n)
{
    for (int i = 0; codes && i < n; i++)
        codes[i] = MPI_SUCCESS;
}

static void convert_codes(int *codes, int n)
{
    for (int i = 0; codes && i < n; i++)
        codes[i] = front_code(codes[i]);
}

FRONT_EXPORT(Comm_spawn);
int front_Comm_spawn(const char *command, char *argv[], int maxprocs, front_Info info, int root,
                     front_Comm comm, front_Comm *intercomm, int array_of_errcodes[])
{
    MPI_Comm made;
    bool at_root = front_is_root(comm, root);
    clear_codes(array_of_errcodes, at_root ? maxprocs : 0);
    int code =
        weft_abi_Comm_spawn(command, argv, maxprocs, at_root ? front_Info_in(info) : MPI_INFO_NULL,
                            root, front_Comm_in(comm), intercomm ? &made : NULL, array_of_errcodes);
    if (code == MPI_SUCCESS)
        *intercomm = front_Comm_out(made);
    if (at_root)
        convert_codes(array_of_errcodes, maxprocs);
    return front_code(code);
}

FRONT_EXPORT(Comm_spawn_multiple);
int front_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                              const int array_of_maxprocs[], const front_Info array_of_info[],
                              int root, front_Comm comm, front_Comm *intercomm,
                              int array_of_errcodes[])
{
    MPI_Comm made;
    MPI_Info few[FRONT_FEW], *infos = NULL;
    bool at_root = front_is_root(comm, root) && array_of_info && array_of_maxprocs && count > 0;
    int codes = 0;
    for (int i = 0; at_root && i < count; i++)
        codes += array_of_maxprocs[i];
    clear_codes(array_of_errcodes, codes);
    if (at_root)
        infos = front_Infos_in(count, array_of_info, few);
    int code = weft_abi_Comm_spawn_multiple(count, array_of_commands, array_of_argv,
                                            array_of_maxprocs, infos, root, front_Comm_in(comm),
                                            intercomm ? &made : NULL, array_of_errcodes);
    if (code == MPI_SUCCESS)
        *intercomm = front_Comm_out(made);
    convert_codes(array_of_errcodes, codes);
    if (at_root)
        front_release(infos, few);
    return front_code(code);
}

/* ---- MPI_Wait without a status takes the shortest path. */

static __attribute__((noinline)) int wait_with_status(front_Request *request, front_Status *status)
{
    MPI_Status got;
    got.MPI_SOURCE = FRONT_INVALID;
    int code = request ? front_wait(request, &got) : front_code(weft_abi_Wait(NULL, &got));
    if (front_status_given(status) && got.MPI_SOURCE != FRONT_INVALID)
        front_status_out(&got, status);
    return code;
}

FRONT_EXPORT(Wait);
int front_Wait(front_Request *request, front_Status *status)
{
    if (front_status_given(status) || weft_unlikely(!request))
        return wait_with_status(request, status);
    return front_wait(request, MPI_STATUS_IGNORE);
}

/* ---- Datatypes. The markers of MPI-1, MPI_LB and MPI_UB, become MPI_Type_create_resized. */

/* The type without the markers at `types`, with the bounds that they give. */
static int create_bounded(int count, const int *blocklengths, const MPI_Aint *displacements,
                          MPI_Datatype *types, const bool *is_lb, const bool *is_ub,
                          MPI_Datatype *made)
{
    MPI_Aint given_lb = 0, given_ub = 0, lb, extent;
    MPI_Datatype plain;
    bool has_lb = false, has_ub = false;
    int n = 0;
    int *lengths = front_allocate(count, sizeof *lengths);
    MPI_Aint *at = front_allocate(count, sizeof *at);
    for (int i = 0; i < count; i++) {
        if (is_lb[i]) {
            given_lb = !has_lb || displacements[i] < given_lb ? displacements[i] : given_lb;
            has_lb = true;
        } else if (is_ub[i]) {
            given_ub = !has_ub || displacements[i] > given_ub ? displacements[i] : given_ub;
            has_ub = true;
        } else {
            lengths[n] = blocklengths[i];
            at[n] = displacements[i];
            types[n++] = types[i];
        }
    }
    weft_assert(n <= count);
    int code = weft_abi_Type_create_struct(n, lengths, at, types, &plain);
    free(lengths);
    free(at);
    if (code != MPI_SUCCESS)
        return code;
    code = weft_abi_Type_get_extent(plain, &lb, &extent);
    if (code == MPI_SUCCESS) {
        MPI_Aint ub = has_ub ? given_ub : lb + extent;
        lb = has_lb ? given_lb : lb;
        code = weft_abi_Type_create_resized(plain, lb, ub - lb, made);
    }
    weft_abi_Type_free(&plain);
    return code;
}

FRONT_EXPORT(Type_create_struct);
FRONT_ALIAS(Type_create_struct, "MPI_Type_struct");
FRONT_ALIAS(Type_create_struct, "PMPI_Type_struct");
int front_Type_create_struct(int count, const int array_of_blocklengths[],
                             const MPI_Aint array_of_displacements[],
                             const front_Datatype array_of_types[], front_Datatype *newtype)
{
    MPI_Datatype made = MPI_DATATYPE_NULL, few[FRONT_FEW];
    MPI_Datatype *types = front_Datatypes_in(count, array_of_types, few);
    int markers = 0, code;
    bool *is_lb = front_allocate(count > 0 ? 2 * count : 1, sizeof *is_lb), *is_ub = is_lb + count;
    for (int i = 0; types && i < count; i++) {
        is_lb[i] = (uintptr_t)types[i] == FRONT_LB;
        is_ub[i] = (uintptr_t)types[i] == FRONT_UB;
        markers += is_lb[i] || is_ub[i];
    }
    if (markers && newtype && array_of_blocklengths && array_of_displacements)
        code = create_bounded(count, array_of_blocklengths, array_of_displacements, types, is_lb,
                              is_ub, &made);
    else
        code = weft_abi_Type_create_struct(count, array_of_blocklengths, array_of_displacements,
                                           types, newtype ? &made : NULL);
    free(is_lb);
    front_release(types, few);
    if (code == MPI_SUCCESS)
        *newtype = front_Datatype_out(made);
    return front_code(code);
}

/* Functions of MPI-1, which MPI_Type_get_extent replaced */

FRONT_DEFINE(Type_extent, int, (front_Datatype type, MPI_Aint *extent))
{
    MPI_Aint lb;
    return front_Type_get_extent(type, &lb, extent);
}

FRONT_DEFINE(Type_lb, int, (front_Datatype type, MPI_Aint *lb))
{
    MPI_Aint extent;
    return front_Type_get_extent(type, lb, &extent);
}

FRONT_DEFINE(Type_ub, int, (front_Datatype type, MPI_Aint *ub))
{
    MPI_Aint lb, extent;
    int code = front_Type_get_extent(type, &lb, &extent);
    if (code == MPI_SUCCESS)
        *ub = lb + extent;
    return code;
}

/* The caller's values of the contents of a datatype. If counts are in an array of their own, the
 * integers begin with other numbers. */
static int contents_out(MPI_Datatype type, int *integers, const MPI_Datatype *types,
                        front_Datatype *theirs)
{
    MPI_Count n_integers, n_addresses, n_counts, n_types;
    int combiner, code = weft_abi_Type_get_envelope_c(type, &n_integers, &n_addresses, &n_counts,
                                                      &n_types, &combiner);
    for (MPI_Count i = 0; code == MPI_SUCCESS && i < n_types; i++)
        theirs[i] = front_Datatype_out(types[i]);
    if (code != MPI_SUCCESS ||
        (combiner != MPI_COMBINER_SUBARRAY && combiner != MPI_COMBINER_DARRAY))
        return code;
    weft_assert(n_integers > 0);
    integers[n_integers - 1] = front_order_out(integers[n_integers - 1]);
    if (combiner == MPI_COMBINER_DARRAY) { /* size, rank, n, then arrays of n */
        int n = integers[2], *distribs = &integers[n_counts > 0 ? 3 : 3 + n];
        front_ints_out(n, distribs, front_distrib_out);
        front_ints_out(n, distribs + n, front_darg_out);
    }
    return code;
}

FRONT_EXPORT(Type_get_contents);
int front_Type_get_contents(front_Datatype datatype, int max_integers, int max_addresses,
                            int max_datatypes, int array_of_integers[],
                            MPI_Aint array_of_addresses[], front_Datatype array_of_datatypes[])
{
    MPI_Datatype few[FRONT_FEW], type = front_Datatype_in(datatype);
    MPI_Datatype *types = array_of_datatypes ? front_space(max_datatypes, few, sizeof *few) : NULL;
    int code = weft_abi_Type_get_contents(type, max_integers, max_addresses, max_datatypes,
                                          array_of_integers, array_of_addresses, types);
    if (code == MPI_SUCCESS)
        code = contents_out(type, array_of_integers, types, array_of_datatypes);
    front_release(types, few);
    return front_code(code);
}

FRONT_EXPORT(Type_get_contents_c);
int front_Type_get_contents_c(front_Datatype datatype, MPI_Count max_integers,
                              MPI_Count max_addresses, MPI_Count max_large_counts,
                              MPI_Count max_datatypes, int array_of_integers[],
                              MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                              front_Datatype array_of_datatypes[])
{
    MPI_Datatype few[FRONT_FEW], type = front_Datatype_in(datatype);
    MPI_Datatype *types =
        array_of_datatypes ? front_space((int)max_datatypes, few, sizeof *few) : NULL;
    int code = weft_abi_Type_get_contents_c(type, max_integers, max_addresses, max_large_counts,
                                            max_datatypes, array_of_integers, array_of_addresses,
                                            array_of_large_counts, types);
    if (code == MPI_SUCCESS)
        code = contents_out(type, array_of_integers, types, array_of_datatypes);
    front_release(types, few);
    return front_code(code);
}

/* ---- Members of statuses */

#define MEMBER(name, NAME)                                                                         \
    FRONT_EXPORT(Status_get_##name);                                                               \
    int front_Status_get_##name(const front_Status *status, int *value)                            \
    {                                                                                              \
        if (!front_status_given(status) || !value)                                                 \
            return front_error_out(MPI_ERR_ARG);                                                   \
        *value = status->MPI_##NAME;                                                               \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    FRONT_EXPORT(Status_set_##name);                                                               \
    int front_Status_set_##name(front_Status *status, int value)                                   \
    {                                                                                              \
        if (!front_status_given(status))                                                           \
            return front_error_out(MPI_ERR_ARG);                                                   \
        status->MPI_##NAME = value;                                                                \
        return MPI_SUCCESS;                                                                        \
    }
MEMBER(source, SOURCE)
MEMBER(tag, TAG)
MEMBER(error, ERROR)

/* ---- Statuses of Fortran, which have the same bytes */

extern int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;

FRONT_DEFINE(Status_c2f, int, (const front_Status *status, int *fortran))
{
    if (!front_status_given(status) || !fortran)
        return front_error_out(MPI_ERR_ARG);
    memcpy(fortran, status, sizeof *status);
    return MPI_SUCCESS;
}

FRONT_DEFINE(Status_f2c, int, (const int *fortran, front_Status *status))
{
    if (!front_status_given(status) || !fortran || fortran == MPI_F_STATUS_IGNORE ||
        fortran == MPI_F_STATUSES_IGNORE)
        return front_error_out(MPI_ERR_ARG);
    memcpy(status, fortran, sizeof *status);
    return MPI_SUCCESS;
}

/* ---- Communicators: only the leader passes a valid peer communicator or group. */

FRONT_EXPORT(Intercomm_create);
int front_Intercomm_create(front_Comm local_comm, int local_leader, front_Comm peer_comm,
                           int remote_leader, int tag, front_Comm *newintercomm)
{
    MPI_Comm made = MPI_COMM_NULL, local = front_Comm_in(local_comm);
    int rank, code = weft_abi_Comm_rank(local, &rank);
    if (code == MPI_SUCCESS)
        code = weft_abi_Intercomm_create(
            local, local_leader, rank == local_leader ? front_Comm_in(peer_comm) : MPI_COMM_NULL,
            front_rank_in(remote_leader), front_tag_in(tag), newintercomm ? &made : NULL);
    if (code == MPI_SUCCESS)
        *newintercomm = front_Comm_out(made);
    return front_code(code);
}

FRONT_EXPORT(Intercomm_create_from_groups);
int front_Intercomm_create_from_groups(front_Group local_group, int local_leader,
                                       front_Group remote_group, int remote_leader,
                                       const char *stringtag, front_Info info,
                                       front_Errhandler errhandler, front_Comm *newintercomm)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group local = front_Group_in(local_group);
    bool is_leader = weft_abi_is_leader(local, local_leader);
    int code = weft_abi_Intercomm_create_from_groups(
        local, local_leader, is_leader ? front_Group_in(remote_group) : MPI_GROUP_NULL,
        front_rank_in(remote_leader), stringtag, front_Info_in(info),
        front_Errhandler_in(errhandler), newintercomm ? &made : NULL);
    if (code == MPI_SUCCESS)
        *newintercomm = front_Comm_out(made);
    return front_code(code);
}

/* ---- Variables of MPI_T: a handle is bound to an object of the variable's kind. */

/* The address of a handle of the standard for that of a handle of a kind (MPI_T_BIND_MPI_COMM and
 * the like); what no kind names, the core does not read. */
static void *object_in(int bind, const void *theirs, void **ours)
{
    if (!theirs)
        return NULL;
#define BIND(KIND, Kind)                                                                           \
    case MPI_T_BIND_MPI_##KIND:                                                                    \
        *ours = front_##Kind##_in(*(const front_##Kind *)theirs);                                  \
        return ours;
    switch (bind) {
        BIND(COMM, Comm)
        BIND(DATATYPE, Datatype)
        BIND(ERRHANDLER, Errhandler)
        BIND(FILE, File)
        BIND(GROUP, Group)
        BIND(OP, Op)
        BIND(REQUEST, Request)
        BIND(WIN, Win)
        BIND(MESSAGE, Message)
        BIND(INFO, Info)
        BIND(SESSION, Session)
    default:
        return NULL;
    }
#undef BIND
}

FRONT_EXPORT(T_cvar_handle_alloc);
int front_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
                              int *count)
{
    void *object = NULL;
    int bind = MPI_T_BIND_NO_OBJECT;
    weft_abi_T_cvar_get_info(cvar_index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL);
    return front_code(weft_abi_T_cvar_handle_alloc(cvar_index, object_in(bind, obj_handle, &object),
                                                   handle, count));
}

FRONT_EXPORT(T_pvar_handle_alloc);
int front_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle,
                              MPI_T_pvar_handle *handle, int *count)
{
    void *object = NULL;
    int bind = MPI_T_BIND_NO_OBJECT;
    weft_abi_T_pvar_get_info(pvar_index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind,
                             NULL, NULL, NULL);
    return front_code(weft_abi_T_pvar_handle_alloc(
        session, pvar_index, object_in(bind, obj_handle, &object), handle, count));
}

/* ---- The environment */

FRONT_EXPORT(Get_version);
int front_Get_version(int *version, int *subversion)
{
    int code = weft_abi_Get_version(version, subversion);
    if (code == MPI_SUCCESS) {
        *version = front_version[0];
        *subversion = front_version[1];
    }
    return front_code(code);
}

FRONT_EXPORT(Get_library_version);
int front_Get_library_version(char *version, int *resultlen)
{
    char ours[MPI_MAX_LIBRARY_VERSION_STRING];
    int code = weft_abi_Get_library_version(version ? ours : NULL, resultlen);
    if (code == MPI_SUCCESS)
        front_copy_text(version, FRONT_MAX_LIBRARY_VERSION_STRING, front_library_version,
                        resultlen);
    return front_code(code);
}

FRONT_EXPORT(Pcontrol);
int front_Pcontrol(const int level, ...)
{
    return front_code(weft_abi_Pcontrol(level));
}
