// SPDX-License-Identifier: BSD-3-Clause
/*
 * The hosts that the user or a batch system has chosen, as far as weftrun needs them: is there
 * another host than this one, and how many ranks does this one run?
 *
 * Batch systems state it in variables and files; Flux states it by a command.
 */
#include "hosts.h"
#include "lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Step numbers from here on are Slurm's own: batch scripts, and the shells of salloc. */
#define SLURM_STEP_SPECIAL 0xfffffff0UL

#define SLOTS_MAX 100000

static int read_number(const char *text)
{
    long n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 && n <= SLOTS_MAX ? (int)n : 0;
}

static bool has_name(const struct host *host, const char *name, size_t len)
{
    return strlen(host->name) == len && memcmp(host->name, name, len) == 0;
}

/* limit: the most ranks, or 0 */
static void add_host(struct host_list *list, const char *name, size_t len, int slots, int limit)
{
    int i = list->n - 1; /* a batch system's file has a line for each slot of a host */
    if (len == 0 || len >= HOST_NAME_SIZE)
        return;
    if (i < 0 || !has_name(&list->hosts[i], name, len))
        for (i = 0; i < list->n && !has_name(&list->hosts[i], name, len);)
            i++;
    if (i == list->n) {
        struct host *more = realloc(list->hosts, (size_t)(i + 1) * sizeof *more);
        if (!more) {
            list->error = ENOMEM;
            return;
        }
        list->hosts = more;
        list->n++;
        list->hosts[i] = (struct host){.slots = 0};
        memcpy(list->hosts[i].name, name, len);
    }
    struct host *host = &list->hosts[i];
    host->counted = host->counted || slots > 0 || host->slots > 0;
    if (host->slots < SLOTS_MAX)
        host->slots += slots > 0 ? slots : 1;
    if (host->limit < SLOTS_MAX)
        host->limit += limit;
}

int weft_hosts_slots(const struct host_list *list, int per_node)
{
    int all = 0;
    for (int i = 0; i < list->n && all < SLOTS_MAX; i++)
        all += weft_hosts_slots_of(&list->hosts[i], per_node);
    return all;
}

int weft_hosts_slots_of(const struct host *host, int per_node)
{
    bool fewer = per_node > 0 && (!host->counted || host->slots > per_node);
    int slots = fewer ? per_node : host->slots;
    return host->limit > 0 && slots > host->limit ? host->limit : slots;
}

bool weft_hosts_have_limits(const struct host_list *list)
{
    for (int i = 0; i < list->n; i++)
        if (list->hosts[i].limit > 0)
            return true;
    return false;
}

int weft_hosts_raise_slots(struct host_list *list, int ranks, int per_node)
{
    int all = weft_hosts_slots(list, per_node);
    for (bool any = true; any && all < ranks;) {
        any = false;
        for (int i = 0; i < list->n && all < ranks; i++) {
            struct host *host = &list->hosts[i];
            int slots = weft_hosts_slots_of(host, per_node);
            if (slots == host->limit || slots == per_node)
                continue;
            host->slots++;
            all++;
            any = true;
        }
    }
    return all;
}

/* Characters of names. Others have a meaning in the lists of launchers or in the shell of ssh, and
 * a name that begins with '-' would be an option of ssh. */
static bool is_name(const char *name, size_t len)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@";
    return len > 0 && len < HOST_NAME_SIZE && *name != '-' && strspn(name, letters) >= len;
}

/* The number between two addresses. False if there is another text. */
static bool read_slots(const char *text, const char *behind, int *slots)
{
    char *end;
    strtol(text, &end, 10);
    *slots = read_number(text);
    return *slots > 0 && end == behind;
}

/* Adds "NAME" or "NAME:N" of len characters. False if it has another form. */
static bool read_host(struct host_list *list, const char *text, size_t len, int slots, int limit)
{
    size_t name = strcspn(text, ":,");
    name = name < len ? name : len;
    if (name < len && !read_slots(text + name + 1, text + len, &slots))
        return false;
    if (!is_name(text, name) || (limit > 0 && limit < slots))
        return false;
    add_host(list, text, name, slots, limit);
    return true;
}

static int check_memory(const struct host_list *list)
{
    if (list->error)
        weft_lines_print("No memory for the list of hosts.");
    return list->error ? -1 : 0;
}

int weft_hosts_read_words(struct host_list *list, const char *text)
{
    *list = (struct host_list){0};
    for (size_t len; *text; text += len + (text[len] == ',')) {
        len = strcspn(text, ",");
        if (len == 0 || read_host(list, text, len, 0, 0))
            continue;
        weft_lines_print("The host \"%.*s\" is not of the form NAME or NAME:N, for N ranks; an "
                         "address of IPv6 needs a name.",
                         (int)len, text);
        return -1;
    }
    return check_memory(list);
}

/* Reads a line, and changes it: "NAME", "NAME:N" or "NAME slots=N", which max_slots=M may follow.
 */
static bool read_line(struct host_list *list, char *line)
{
    static const char *const keys[] = {"slots=", "max_slots=", "max-slots="};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    char *rest = NULL;
    int slots = 0, limit = 0;
    line[strcspn(line, "#")] = 0;
    const char *name = strtok_r(line, " \t\r\n", &rest);
    for (const char *word; name && (word = strtok_r(NULL, " \t\r\n", &rest));) {
        int key = 0;
        while (key < KEYS && strncmp(word, keys[key], strlen(keys[key])) != 0)
            key++;
        if (key == KEYS)
            return false;
        const char *number = word + strlen(keys[key]);
        if (!read_slots(number, number + strlen(number), key == 0 ? &slots : &limit))
            return false;
    }
    return !name || read_host(list, name, strlen(name), slots, limit);
}

int weft_hosts_read_file(struct host_list *list, const char *path)
{
    char *line = NULL;
    size_t capacity = 0;
    int status = 0;
    FILE *file = fopen(path, "re");
    *list = (struct host_list){0};
    if (!file) {
        weft_lines_print("The file of hosts %s cannot be read: %s.", path, strerror(errno));
        return -1;
    }
    for (int number = 1; status == 0 && getline(&line, &capacity, file) > 0; number++) {
        if (read_line(list, line))
            continue;
        weft_lines_print("Line %d of the file of hosts %s is not of the form NAME, NAME:N or NAME "
                         "slots=N, which max_slots=M with M of N or more may follow.",
                         number, path);
        status = -1;
    }
    free(line);
    fclose(file);
    return status ? status : check_memory(list);
}

bool weft_hosts_is_here(const char *name)
{
    char host[HOST_NAME_SIZE] = "";
    if (strcmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0)
        return true;
    gethostname(host, sizeof host - 1);
    size_t len = strcspn(name, ".");
    return len == strcspn(host, ".") && memcmp(name, host, len) == 0;
}

const char *weft_hosts_elsewhere(const struct host_list *list)
{
    for (int i = 0; i < list->n; i++)
        if (!weft_hosts_is_here(list->hosts[i].name))
            return list->hosts[i].name;
    return NULL;
}

bool weft_hosts_are_same(const struct host_list *a, const struct host_list *b)
{
    for (int i = 0; i < a->n && i < b->n; i++) {
        const struct host *left = &a->hosts[i], *right = &b->hosts[i];
        if (strcmp(left->name, right->name) != 0 || left->slots != right->slots ||
            left->limit != right->limit || left->counted != right->counted)
            return false;
    }
    return a->n == b->n;
}

int weft_hosts_limit_here(const struct host_list *list)
{
    int limit = 0;
    for (int i = 0; i < list->n; i++)
        if (weft_hosts_is_here(list->hosts[i].name))
            limit += list->hosts[i].limit;
    return limit;
}

/* The hosts of a list in which a batch system names this one first, by whichever of its names. */
static void use_list(struct allocation *allocation, const struct host_list *list)
{
    allocation->list = *list;
    allocation->tasks = list->n > 0 ? list->hosts[0].slots : 0;
    if (list->n > 1)
        snprintf(allocation->nodes, sizeof allocation->nodes, "%.100s, %.100s...",
                 list->hosts[0].name, list->hosts[1].name);
}

static void read_slurm(struct allocation *a)
{
    const char *nodes = getenv("SLURM_JOB_NODELIST"), *tasks = getenv("SLURM_NTASKS");
    const char *count = getenv("SLURM_JOB_NUM_NODES");
    bool several = read_number(count ? count : getenv("SLURM_NNODES")) > 1;
    a->system = "Slurm";
    a->command = "srun --mpi=pmix";
    /* "4(x2),3": on the first node, which runs the batch script */
    a->tasks = read_number(!several && tasks ? tasks : getenv("SLURM_TASKS_PER_NODE"));
    a->all_tasks = read_number(tasks);
    /* The shell of salloc may run on a login node, where slurmd has set no name. */
    if (several || (nodes && !getenv("SLURMD_NODENAME") && !weft_hosts_is_here(nodes)))
        snprintf(a->nodes, sizeof a->nodes, "%s", nodes ? nodes : "SLURM_JOB_NUM_NODES");
}

static void read_pbs(struct allocation *a)
{
    struct host_list list;
    const char *path = getenv("PBS_NODEFILE");
    a->system = "PBS";
    a->command = "prterun --hostfile $PBS_NODEFILE";
    if (path && access(path, R_OK) == 0 && weft_hosts_read_file(&list, path) == 0) {
        use_list(a, &list);
        return;
    }
    /* Torque's; the file is readable on the first node only */
    if (read_number(getenv("PBS_NUM_NODES")) > 1)
        snprintf(a->nodes, sizeof a->nodes, "PBS_NUM_NODES");
    else
        a->tasks = read_number(getenv("PBS_NP"));
}

/* A file of Grid Engine: lines "hostA 4 QUEUE PROCESSORS" */
static void read_grid_engine(struct allocation *a)
{
    struct host_list list = {0};
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(getenv("PE_HOSTFILE"), "re");
    a->system = "Grid Engine";
    a->command = "mpiexec.hydra";
    while (file && getline(&line, &capacity, file) > 0) {
        size_t name = strcspn(line, " \t\n");
        add_host(&list, line, name, read_number(line + name), 0);
    }
    free(line);
    if (file)
        fclose(file);
    use_list(a, &list);
    if (list.n == 0)
        a->tasks = read_number(getenv("NSLOTS"));
    if (list.n == 0 && read_number(getenv("NHOSTS")) > 1)
        snprintf(a->nodes, sizeof a->nodes, "NHOSTS");
}

/* Systems with a file of hosts, a line for each slot */
static void read_node_file(struct allocation *a)
{
    static const struct {
        const char *name, *job, *file, *command;
    } systems[] = {
        {"OAR", "OAR_JOB_ID", "OAR_NODEFILE", "prterun --hostfile $OAR_NODEFILE"},
        {"Cobalt", "COBALT_JOBID", "COBALT_NODEFILE", "prterun --hostfile $COBALT_NODEFILE"},
        {"LoadLeveler", "LOADL_STEP_ID", "LOADL_HOSTFILE", "prterun --hostfile $LOADL_HOSTFILE"}};
    struct host_list list;
    size_t i = 0, n = sizeof systems / sizeof *systems;
    while (i < n && (!getenv(systems[i].job) || !getenv(systems[i].file)))
        i++;
    if (i == n)
        return;
    a->system = systems[i].name;
    a->command = systems[i].command;
    if (weft_hosts_read_file(&list, getenv(systems[i].file)) == 0)
        use_list(a, &list);
}

/* "hostA 4 hostB 4" */
static void read_lsf(struct allocation *a)
{
    struct host_list list = {0};
    const char *text = getenv("LSB_MCPU_HOSTS");
    a->system = "LSF";
    a->command = "prterun --hostfile $LSB_DJOB_HOSTFILE";
    while (text && *text) {
        size_t name = strcspn(text, " ");
        const char *slots = text + name + strspn(text + name, " ");
        add_host(&list, text, name, read_number(slots), 0);
        text = slots + strcspn(slots, " ");
        text += strspn(text, " ");
    }
    use_list(a, &list);
    if (list.n == 0)
        a->tasks = read_number(getenv("LSB_DJOB_NUMPROC"));
}

/* Flux sets no variable for its batch scripts but the address of its broker. */
static void read_flux(struct allocation *a)
{
    char size[32] = "";
    FILE *command = popen("flux getattr size 2>/dev/null", "re");
    a->system = "Flux";
    a->command = "flux run";
    if (!command)
        return;
    if (fgets(size, sizeof size, command) && read_number(size) > 1)
        snprintf(a->nodes, sizeof a->nodes, "%d brokers", read_number(size));
    pclose(command);
}

bool weft_hosts_is_rank(void)
{
    const char *step = getenv("SLURM_STEP_ID");
    return getenv("PMIX_RANK") || getenv("PMI_RANK") || getenv("FLUX_TASK_RANK") ||
           (step && strtoul(step, NULL, 10) < SLURM_STEP_SPECIAL);
}

void weft_hosts_allocation(struct allocation *allocation)
{
    *allocation = (struct allocation){0};
    if (weft_hosts_is_rank())
        return;
    if (getenv("FLUX_URI"))
        read_flux(allocation);
    else if (getenv("SLURM_JOB_ID"))
        read_slurm(allocation);
    else if (getenv("PBS_JOBID"))
        read_pbs(allocation);
    else if (getenv("LSB_JOBID"))
        read_lsf(allocation);
    else if (getenv("PE_HOSTFILE"))
        read_grid_engine(allocation);
    else
        read_node_file(allocation);
}
