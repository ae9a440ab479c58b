/* Ends in its first turn: ends HOW, which is `overflow` (of the stack) or `abort`. */

#include "lib_agent.h"

static const char *how;

/* Uses the result, so that the compiler doesn't make a loop of it. */
static int deeper(int depth)
{
    volatile char frame[4096];
    frame[depth % 4096] = (char)depth;
    return deeper(depth + 1) + frame[0];
}

static void turn(int number)
{
    (void)number;
    if (strcmp(how, "overflow") == 0)
        exit(deeper(0));
    else
        abort();
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 9;
    how = argv[1];
    return play(turn);
}
