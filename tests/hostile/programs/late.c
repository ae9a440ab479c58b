/* Ponders while it is to be stopped: its children free much memory as they end, and announce their
 * end, which is later than the referee's signal, by the signal that continues it. late.c
 *
 * It is measured from its answer to the next request. */

#include "lib_agent.h"
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { CHILDREN = 6, BYTES = 30 << 20, PAGE = 4096 };

static void nothing(int number)
{
    (void)number;
}

static long cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Starts children that end a little after each other, when all are ready. */
static void start_children(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        exit(8);
    for (int i = 0; i < CHILDREN; i++) {
        if (syscall(SYS_clone, SIGCONT, 0, 0, 0, 0) != 0)
            continue;
        char *memory =
            mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            _exit(8);
        madvise(memory, BYTES, MADV_NOHUGEPAGE);
        for (int at = 0; at < BYTES; at += PAGE)
            memory[at] = 1;
        if (write(ends[1], "", 1) != 1)
            _exit(8);
        usleep(900 + 400 * i);
        _exit(0);
    }
    for (int i = 0; i < CHILDREN; i++)
        if (read(ends[0], &byte, 1) != 1)
            exit(8);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    setvbuf(stdin, NULL, _IONBF, 0);
    signal(SIGCONT, nothing);
    while (read_message()) {
        if (is("hello")) {
            puts("{\"type\":\"ready\",\"want\":[\"actions\"]}");
            fflush(stdout);
        } else if (is("turn")) {
            while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
                ;
            start_children();
            answer();
            long begun = cpu_ms();
            while (poll(&input, 1, 0) == 0)
                for (volatile int i = 0; i < 10000; i++)
                    ;
            fprintf(stderr, "report pondered_ms: %ld\n", cpu_ms() - begun);
        } else if (is("over")) {
            break;
        }
    }
    return 0;
}
