/* Doesn't answer, and floods stdout when it is asked where its code is: it has the note of a program in Go, which is
 * asked by SIGQUIT. go_flood.c */

#include "lib_agent.h"
#include <signal.h>

static const char note[] __attribute__((section(".note.go"), used)) = "\4\0\0\0Go\0";
static char line[60000];

static void flood(int number)
{
    (void)number;
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    while (write(1, line, sizeof line) > 0)
        ;
}

static void mute(int turn)
{
    (void)turn;
    for (;;)
        pause();
}

int main(void)
{
    signal(SIGQUIT, flood);
    return play(mute);
}
