/* Makes looks at its memory slow, so that its end comes late: mappings PROCESSES MAPPINGS MEGABYTES. Each
 * process has this many mappings, and shares this much memory with all others, so that their sum
 * exceeds the limit although they have little. The last turn is not answered. */

#include "lib_agent.h"
#include <sys/mman.h>
#include <sys/wait.h>

enum { MB = 1 << 20, PAGE = 4096 };

static int processes, mappings;
static long megabytes;

/* Neighbours with other rights are not merged. */
static void map(void)
{
    for (int i = 0; i < mappings; i++) {
        int rights = i % 2 == 0 ? PROT_READ : PROT_READ | PROT_WRITE;
        if (mmap(NULL, PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
            break;
    }
}

static void turn(int number)
{
    if (number > 0)
        pause();
    char *memory = malloc(megabytes * MB);
    memset(memory, 1, megabytes * MB);
    map();
    for (int i = 1; i < processes; i++)
        if (fork() == 0)
            for (;;)
                pause();
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 9;
    processes = atoi(argv[1]);
    mappings = atoi(argv[2]);
    megabytes = atol(argv[3]);
    return play(turn);
}
