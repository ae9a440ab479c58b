/* A bot that prints the neighbours of the cells that it gets as a position; see agents/kits.rs. */
#include "referee_kit.h"

static void print_cell(Cell cell)
{
    if (cell.b == NO_SECOND)
        fprintf(stderr, "%d", cell.a);
    else
        fprintf(stderr, "[%d,%d]", cell.a, cell.b);
}

static const Json *choose(const Game *game)
{
    for (size_t i = 0; i < game->position->count; i++) {
        Cell beside[NEIGHBOURS_MAX];
        size_t count = neighbours(game, cell_of(json_at(game->position, i)), beside);
        for (size_t n = 0; n < count; n++) {
            fputs(n == 0 ? "[" : ",", stderr);
            print_cell(beside[n]);
        }
        fputs(count == 0 ? "[]\n" : "]\n", stderr);
    }
    return NULL;
}

int main(void)
{
    return run(choose, "neighbours");
}
