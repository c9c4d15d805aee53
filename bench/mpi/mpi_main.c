/* lockbench-mpi: the same program, with its workers in all ranks of an MPI job.
 *
 * Each rank is two processes. The one that the launcher has started does nothing but wait for the
 * other, the rank itself. A launcher ends the whole job when one of its processes is killed, and
 * the ranks that are left could not say what they had measured, nor drop what they have made. Here
 * a rank that is killed is missed by rank 0, which then ends the run itself.
 */
#include "cli.h"
#include "memory.h"
#include "mpi_link.h"
#include "peers.h"
#include "run.h"
#include "title.h"

#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the two processes share. */
struct shared {
    _Atomic uint64_t beats;   /* how often the rank has looked for messages */
    _Atomic uint32_t n_ranks; /* 0: MPI has not begun */
    _Atomic uint32_t rank;
    char uri[4096]; /* rank 0: of the server that it has a space on; "": none */
};

/* --- the rank --- */

static bool is_help(int argc, char **argv)
{
    return argc < 2 || strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "--help") == 0;
}

/* --workers-per-rank N is --workers N times the ranks. NULL: it is no number, and that was said. */
static char **multiply(int argc, char **argv, uint32_t n_ranks)
{
    static const char name[] = "--workers-per-rank";
    char **copy = lb_calloc((size_t)argc + 2, sizeof *copy);
    int n = 0;
    for (int i = 0; i < argc; i++) {
        const char *value = NULL;
        if (strcmp(argv[i], name) == 0 && i + 1 < argc)
            value = argv[++i];
        else if (strncmp(argv[i], name, sizeof name - 1) == 0 && argv[i][sizeof name - 1] == '=')
            value = argv[i] + sizeof name;
        if (value == NULL) {
            copy[n++] = argv[i];
            continue;
        }
        char *end = NULL;
        unsigned long each = strtoul(value, &end, 10);
        if (*value < '0' || *value > '9' || *end != '\0' || each < 1 || each > 1000000) {
            fprintf(stderr,
                    "lockbench: option --workers-per-rank: '%s' is not a number from 1 on\n",
                    value);
            free(copy);
            return NULL;
        }
        copy[n++] = lb_format("--workers=%lu", each * n_ranks);
    }
    return copy;
}

static int lead(struct lb_link *link, struct shared *shared, int argc, char **argv)
{
    struct lb_error err;
    static const char *const apart[] = {"explore", "experiment"};
    char **copy = multiply(argc, argv, link->n_ranks);
    if (copy == NULL)
        return LB_EXIT_USAGE;
    int rc = lb_run_lead(link, shared->uri, sizeof shared->uri, &err);
    for (size_t i = 0; i < sizeof apart / sizeof apart[0] && rc == 0; i++)
        if (argc > 1 && link->n_ranks > 1 && strcmp(argv[1], apart[i]) == 0)
            rc = lb_fail(&err, LB_E_USAGE, "%s is not offered with several ranks: use lockbench %s",
                         apart[i], apart[i]);
    for (argc = 0; copy[argc] != NULL;)
        argc++;
    int status = (int)(rc != 0 ? lb_cli_complain(&err) : lb_cli_main(argc, copy));
    free(copy);
    return status;
}

static int be_rank(struct shared *shared, int argc, char **argv)
{
    int level, status = 0;
    struct lb_error err;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return LB_EXIT_ENVIRONMENT;
    struct lb_link *link = lb_mpi_link_new(&shared->beats);
    atomic_store(&shared->rank, link->rank);
    atomic_store(&shared->n_ranks, link->n_ranks);
    bool is_whole = true;
    if (link->rank == 0) {
        status = lead(link, shared, argc, argv);
        is_whole = !lb_run_part();
    } else if (lb_follow(link, &err) != 0) {
        is_whole = false;
        status = (int)lb_exit_of(err.code);
    }
    fflush(NULL);
    lb_mpi_link_free(link);
    /* MPI's own end waits for all ranks. */
    if (is_whole)
        MPI_Finalize();
    return status;
}

/* --- who waits for it --- */

static pid_t child;

static void pass_on(int signal_no)
{
    if (child <= 0)
        return;
    kill(child, signal_no);
    kill(child, SIGCONT); /* one that stands still does not end */
}

/* Its child's end wakes the waiting process from its sleep. */
static void wake(int signal_no)
{
    (void)signal_no;
}

static void wait_for_end(void)
{
    for (;;)
        pause();
}

/* A rank does not answer: it stands still, and its sessions may hold locks that rank 0 waits for.
 */
static bool is_stuck(const struct shared *shared, uint64_t *beats, uint64_t *since_ns)
{
    const uint64_t more_ns = UINT64_C(5000000000);
    uint64_t now_ns = lb_now_ns(), seen = atomic_load(&shared->beats);
    if (seen != *beats || atomic_load(&shared->rank) == 0 || atomic_load(&shared->n_ranks) < 2) {
        *beats = seen;
        *since_ns = now_ns;
    }
    return now_ns > *since_ns + lb_peers_patience_ns() + more_ns;
}

/* Drops what a rank 0 that was killed has left: a new space of ours does so first of all. */
static void sweep(const struct shared *shared)
{
    struct lb_target target;
    struct lb_space *space = NULL;
    struct lb_error err;
    if (shared->uri[0] == '\0' || lb_target_parse(shared->uri, &target, &err) != 0)
        return;
    if (target.db->space_open(&target, "sweep", &space, &err) != 0 ||
        target.db->space_close(space, false, &err) != 0)
        fprintf(stderr, "lockbench: rank 0's tables are left for the next run: %s\n", err.message);
    lb_target_release(&target);
}

static int watch(const struct shared *shared)
{
    int status;
    uint64_t beats = 0, since_ns = lb_now_ns();
    pid_t pid;
    while ((pid = waitpid(child, &status, WNOHANG)) <= 0) {
        if (pid < 0 && errno != EINTR)
            return LB_EXIT_ENVIRONMENT;
        if (is_stuck(shared, &beats, &since_ns))
            kill(child, SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    }
    child = 0;
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    uint32_t rank = atomic_load(&shared->rank), n_ranks = atomic_load(&shared->n_ranks);
    if (WTERMSIG(status) == SIGTERM) /* the launcher ends the job */
        return LB_EXIT_INCONCLUSIVE;
    if (n_ranks == 0)
        fprintf(stderr, "lockbench: a rank was ended by signal %d before the job had begun\n",
                WTERMSIG(status));
    else
        fprintf(stderr, "lockbench: rank %u was ended by signal %d\n", rank, WTERMSIG(status));
    /* Rank 0 notices its absence and ends the run; if rank 0 itself ends, no rank is left to do
     * so. */
    if (n_ranks > 1 && rank > 0)
        wait_for_end();
    sweep(shared);
    return LB_EXIT_INCONCLUSIVE;
}

int main(int argc, char **argv)
{
    if (is_help(argc, argv))
        return (int)lb_cli_main(argc, argv);
    /* ps shows the arguments at their original address, in both processes. */
    char **copies = lb_title_take(argc, argv);
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        fputs("lockbench: out of memory\n", stderr);
        return LB_EXIT_ENVIRONMENT;
    }
    /* OpenMPI gives a rank a terminal of its own, wherever mpirun's output goes. */
    setenv("NO_COLOR", "1", 1);
    pid_t parent = getpid();
    signal(SIGCHLD, wake);
    child = fork();
    if (child < 0) {
        fprintf(stderr, "lockbench: cannot start the rank's process: %s\n", strerror(errno));
        return LB_EXIT_ENVIRONMENT;
    }
    if (child == 0) {
        signal(SIGCHLD, SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(LB_EXIT_ENVIRONMENT);
        exit(be_rank(shared, argc, copies));
    }
    static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        signal(passed[i], pass_on);
    return watch(shared);
}
