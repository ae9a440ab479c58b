/* A bot for Referee: prefers cells with many neighbours. Change `choose` to make it yours. */
#include "referee_kit.h"

/* How good an action is. */
static size_t worth(const Game *game, const Json *action)
{
    Cell end, beside[NEIGHBOURS_MAX];
    if (json_is(json_get(action, "type"), "exit"))
        return NEIGHBOURS_MAX + 1;
    return end_of(action, &end) ? neighbours(game, end, beside) : 0;
}

/* Returns one of game->actions when it is your turn, or NULL to resign. See referee_kit.h for what
 * a game has; `referee games GAME` shows its actions. */
static const Json *choose(const Game *game)
{
    /* >>> Your idea goes here. */
    size_t offset = random_below(game->actions->count); /* among equals, any of them */
    const Json *best = NULL;
    for (size_t i = 0; i < game->actions->count; i++) {
        const Json *action = json_at(game->actions, (i + offset) % game->actions->count);
        if (!best || worth(game, action) > worth(game, best))
            best = action;
    }
    return best;
}

int main(void)
{
    return run(choose, "bot");
}
