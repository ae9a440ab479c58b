/* Plays any game: picks one of the legal actions that the referee lists. */
#define _POSIX_C_SOURCE 200809L /* getline, strnlen */
#include "json.h"
#include <stdint.h>
#include <stdio.h>

static uint64_t state; /* of the random numbers; the match's seed at first */

/* A number below `bound`: a linear congruential generator; its upper bits are the better ones. */
static size_t random_below(size_t bound)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % bound;
}

/* Your rule goes here. `hello` says which game this is and which seat is yours; the turn's
 * "position" is the board, and its "actions" are all that is legal now: return one of them. */
static const Json *choose(const Json *hello, const Json *turn)
{
    (void)hello;
    const Json *actions = json_get(turn, "actions");
    return json_at(actions, random_below(actions->count));
}

/* One message is one line, and is flushed: what is still in a buffer is not sent. Nothing else may go
 * to stdout: debug with fprintf(stderr, ..). */
static void answer(const Json *hello, const Json *turn)
{
    const Json *number = json_get(turn, "turn");
    const Json *action = choose(hello, turn);
    printf("{\"type\":\"action\",\"turn\":%.*s,\"action\":%.*s}\n",
           number->raw_length, number->raw, action->raw_length, action->raw);
    fflush(stdout);
}

int main(void)
{
    char *line = NULL, *hello_line = NULL;
    size_t room = 0;
    Json *hello = NULL;
    bool over = false;
    while (!over && getline(&line, &room, stdin) > 0) {
        Json *message = json_read(line);
        const Json *type = json_get(message, "type");
        if (json_is(type, "hello") && !hello) {
            state = (uint64_t)json_get(message, "seed")->number;
            printf("{\"type\":\"ready\",\"name\":\"random (C)\","
                   "\"want\":[\"position\",\"actions\"]}\n");
            fflush(stdout);
            /* It is kept, and so is the line that it points into. */
            hello = message;
            hello_line = line;
            line = NULL;
            continue;
        }
        if (json_is(type, "turn"))
            answer(hello, message);
        over = json_is(type, "over");
        /* "played" and "retired" report what the others did, for a rule that keeps a board. */
        json_free(message);
    }
    json_free(hello);
    free(hello_line);
    free(line);
    return 0;
}
