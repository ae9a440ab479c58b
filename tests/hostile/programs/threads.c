/* Starts COUNT threads in its first turn, then plays on: threads COUNT. */

#include "lib_agent.h"
#include <pthread.h>

static int wanted;

static void *wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void turn(int number)
{
    if (number > 0)
        return;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    int started = 0;
    for (int tries = 0; started < wanted && tries < 2 * wanted; tries++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, wait_for_ever, NULL) == 0)
            started++;
        else
            usleep(1000);
    }
    fprintf(stderr, "report threads: %d\n", started);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 9;
    wanted = atoi(argv[1]);
    return play(turn);
}
