/* Uses CPU time in each turn and then answers: burn HOW COUNT MILLISECONDS. HOW is `threads`,
 * `waited` (children that it waits for) or `ignored` (children whose end the system doesn't
 * report). */

#include "lib_agent.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static const char *how;
static int count;
static long milliseconds;

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

static void in_children(void)
{
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child < 0)
            exit(8);
        if (child == 0) {
            burn(NULL);
            _exit(0);
        }
        /* One after the other; with SIGCHLD ignored this waits for the last and then fails. */
        waitpid(child, NULL, 0);
    }
}

static void turn(int number)
{
    (void)number;
    if (strcmp(how, "threads") == 0)
        in_threads();
    else
        in_children();
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 9;
    how = argv[1];
    count = atoi(argv[2]);
    milliseconds = atol(argv[3]);
    if (strcmp(how, "ignored") == 0)
        signal(SIGCHLD, SIG_IGN);
    return play(turn);
}
