/* The protocol, and the neighbours of cells in every game. It doesn't know the rules: the referee
 * lists the legal actions. The including file needs nothing else. */
#ifndef REFEREE_KIT_H
#define REFEREE_KIT_H

#define _POSIX_C_SOURCE 200809L /* getline, dup */
#include "json.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define NEIGHBOURS_MAX 8
#define NO_SECOND (-1000)

/* A cell: row and column, or in Chexers q and r. In Chinese Checkers it is the number `a`, and `b` is
 * NO_SECOND. */
typedef struct { int a, b; } Cell;

typedef struct Game {
    const char *name;      /* such as "hex" */
    const Json *setup;     /* as in the referee's `hello` */
    const Json *seats;     /* everyone's seat, name and colour */
    int seat;              /* yours, from 0 */
    const Json *turn;      /* the referee's `turn` as it came */
    const Json *position;  /* the board */
    const Json *actions;   /* every legal action */
    double left_ms;        /* milliseconds left, for this turn and all to come; -1 without a limit */
    int size;              /* of the board; its shape is one of these: */
    enum { DIAMOND, TRIANGLE, SQUARE, HEXAGON, STAR } shape;
} Game;

static inline uint64_t *random_state(void)
{
    static uint64_t state; /* the match's seed at first */
    return &state;
}

/* A number below `bound`, the same when the match is played again with the same seed. */
static inline size_t random_below(size_t bound)
{
    uint64_t *state = random_state();
    /* A linear congruential generator; its upper bits are the better ones. */
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*state >> 33) % bound;
}

/* Reads a cell of a message. */
static inline Cell cell_of(const Json *json)
{
    if (json->kind == JSON_NUMBER)
        return (Cell){(int)json->number, NO_SECOND};
    return (Cell){(int)json_at(json, 0)->number, (int)json_at(json, 1)->number};
}

/* Stores the cell where an action ends; returns false if it has none, such as "pass". */
static inline bool end_of(const Json *action, Cell *cell)
{
    const Json *path = json_get(action, "path"), *at = json_get(action, "at");
    const Json *end = path ? json_at(path, path->count - 1) : at ? at : json_get(action, "to");
    if (end)
        *cell = cell_of(end);
    return end != NULL;
}

static inline int largest(int a, int b, int c)
{
    return a > b ? (a > c ? a : c) : (b > c ? b : c);
}

/* Whether the board has a place on its grid. */
static inline bool has_place(const Game *game, Cell at)
{
    int n = game->size, a = at.a, b = at.b, sum = at.a + at.b;
    switch (game->shape) {
    case TRIANGLE: return 0 <= b && b <= a && a < n;
    case HEXAGON: return largest(abs(a), abs(b), abs(sum)) <= n;
    case STAR: return largest(a, b, -sum) <= n || largest(-a, -b, sum) <= n;
    default: return 0 <= a && 0 <= b && a < n && b < n;
    }
}

/* The star's cells are numbered row by row: finds the place of a number, or the number of a place. */
static inline Cell on_star(const Game *game, Cell wanted)
{
    int reach = 2 * game->size, number = 0;
    for (int a = -reach; a <= reach; a++)
        for (int b = -reach; b <= reach; b++) {
            Cell place = {a, b};
            number += has_place(game, place);
            if (wanted.b == NO_SECOND && number == wanted.a)
                return place;
            if (a == wanted.a && b == wanted.b)
                return (Cell){number, NO_SECOND};
        }
    return wanted;
}

/* Stores the cells beside this one, in order, and returns how many they are. */
static inline size_t neighbours(const Game *game, Cell cell, Cell beside[NEIGHBOURS_MAX])
{
    size_t count = 0;
    Cell place = cell.b == NO_SECOND ? on_star(game, cell) : cell;
    /* A hexagonal board lacks one diagonal: the triangle's is the other one. */
    int missing = game->shape == SQUARE ? 2 : game->shape == TRIANGLE ? -1 : 1;
    for (int a = -1; a <= 1; a++)
        for (int b = -1; b <= 1; b++) {
            Cell next = {place.a + a, place.b + b};
            if ((a == 0 && b == 0) || a * b == missing || !has_place(game, next))
                continue;
            beside[count++] = cell.b == NO_SECOND ? on_star(game, next) : next;
        }
    return count;
}

static inline Game begin(const Json *hello)
{
    const Json *setup = json_get(hello, "setup"), *size = json_get(setup, "size");
    Game game = {.name = json_get(hello, "game")->text, .setup = setup, .shape = DIAMOND,
                 .seats = json_get(hello, "seats"), .seat = (int)json_get(hello, "seat")->number,
                 .size = size ? (int)size->number : 3};
    if (strcmp(game.name, "chexers") == 0)
        game.shape = HEXAGON;
    if (strcmp(game.name, "chinese-checkers") == 0)
        game.shape = STAR;
    if (strcmp(game.name, "freckers") == 0)
        game.shape = SQUARE, game.size = 8;
    if (json_is(json_get(setup, "shape"), "triangle"))
        game.shape = TRIANGLE;
    *random_state() = (uint64_t)json_get(hello, "seed")->number;
    return game;
}

/* Plays a match, and returns the exit code. `choose` returns one of the game's actions. */
static inline int run(const Json *(*choose)(const Game *game), const char *name)
{
    /* All other output goes to stderr, and nothing else can read what the referee sends. */
    FILE *in = fdopen(dup(0), "r"), *out = fdopen(dup(1), "w");
    dup2(2, 1);
    dup2(open("/dev/null", O_RDONLY), 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    char *line = NULL, *hello_line = NULL;
    size_t room = 0;
    Json *hello = NULL;
    Game game = {0};
    bool is_over = false;
    while (!is_over && getline(&line, &room, in) > 0) {
        if (line[strspn(line, " \r\n")] == '\0')
            continue;
        Json *message = json_read(line);
        const Json *type = json_get(message, "type"), *turn = json_get(message, "turn");
        if (!message) {
            fprintf(stderr, "the bot failed: its last message is no JSON: %s", line);
            return 1;
        }
        if (json_is(type, "hello") && !hello) {
            game = begin(message);
            fprintf(out, "{\"type\":\"ready\",\"name\":\"%s\","
                         "\"want\":[\"position\",\"actions\"]}\n", name);
            /* It is kept, and so is the line that it points into. */
            hello = message;
            hello_line = line;
            line = NULL;
            message = NULL;
        } else if (json_is(type, "turn")) {
            const Json *left = json_get(message, "left_ms");
            game.turn = message;
            game.position = json_get(message, "position");
            game.actions = json_get(message, "actions");
            game.left_ms = left && left->kind == JSON_NUMBER ? left->number : -1;
            const Json *action = choose(&game);
            fprintf(out, "{\"type\":\"%s\",\"turn\":%.*s", action ? "action" : "resign",
                    turn->raw_length, turn->raw);
            if (action)
                fprintf(out, ",\"action\":%.*s", action->raw_length, action->raw);
            fputs("}\n", out);
        }
        /* "played" and "retired" say what has changed since; the next position has it too. */
        fflush(out); /* The referee doesn't see a line that is still in a buffer. */
        is_over = json_is(type, "over");
        json_free(message);
    }
    json_free(hello);
    free(hello_line);
    free(line);
    return 0;
}

#endif
