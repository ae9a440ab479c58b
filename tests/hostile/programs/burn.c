/* Uses CPU time in each turn and then answers: burn HOW COUNT MILLISECONDS. HOW is `threads`,
 * `waited` (children that it waits for), `ignored` (children whose end the system doesn't
 * report) or `unread` (such children, with a copy of this program that it may execute and not
 * read, so that the kernel's counter doesn't follow them). Of `ignored` children it reports what they and
 * itself have used, but for their ends. */

#include "lib_agent.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static const char *how;
static int count;
static long milliseconds;
/* The arguments of its copy. */
static char *burning[] = {"burn", NULL, NULL};

/* What its children have used, in microseconds. */
static long *by_children;

static long used_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void *burn(void *unused)
{
    struct timespec now;
    do {
        for (volatile int i = 0; i < 100000; i++)
            ;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < milliseconds);
    return unused;
}

static void in_threads(void)
{
    pthread_t threads[64];
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, burn, NULL) != 0)
            exit(8);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* Copies this program; returns the copy, which has no name any more. */
static int copied(void)
{
    static char piece[1 << 16];
    char name[64];
    snprintf(name, sizeof name, "%s/copy-%d", getenv("HOME"), (int)getpid());
    int from = open("/proc/self/exe", O_RDONLY), into = open(name, O_CREAT | O_EXCL | O_WRONLY, 0111);
    /* The sandbox refuses such a mode; others may not. */
    if (into < 0)
        into = open(name, O_CREAT | O_EXCL | O_WRONLY, 0755);
    for (ssize_t count; (count = read(from, piece, sizeof piece)) > 0;)
        if (write(into, piece, count) != count)
            exit(8);
    close(from);
    close(into);
    int copy = open(name, O_PATH);
    unlink(name);
    return copy;
}

static void in_children(void)
{
    int copy = strcmp(how, "unread") == 0 ? copied() : -1;
    char file[32];
    snprintf(file, sizeof file, "/proc/self/fd/%d", copy);
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child < 0)
            exit(8);
        if (child == 0) {
            if (copy >= 0)
                execv(file, burning);
            burn(NULL);
            __atomic_fetch_add(by_children, used_us(), __ATOMIC_SEQ_CST);
            _exit(0);
        }
        /* One after the other; with SIGCHLD ignored this waits for the last and then fails. */
        waitpid(child, NULL, 0);
    }
    close(copy);
}

static void turn(int number)
{
    (void)number;
    if (strcmp(how, "threads") == 0)
        in_threads();
    else
        in_children();
    if (strcmp(how, "ignored") == 0)
        fprintf(stderr, "report used_ms: %ld\n", (*by_children + used_us()) / 1000);
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        milliseconds = atol(argv[1]);
        burn(NULL);
        return 0;
    }
    if (argc < 4)
        return 9;
    how = argv[1];
    count = atoi(argv[2]);
    milliseconds = atol(argv[3]);
    burning[1] = argv[3];
    by_children =
        mmap(NULL, sizeof *by_children, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (by_children == MAP_FAILED)
        exit(8);
    if (strcmp(how, "ignored") == 0 || strcmp(how, "unread") == 0)
        signal(SIGCHLD, SIG_IGN);
    return play(turn);
}
