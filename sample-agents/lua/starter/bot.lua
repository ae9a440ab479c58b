#!/usr/bin/env lua5.4
-- A bot for Referee: prefers cells with many neighbours. Change `choose` to make it yours.
local kit = require "referee_kit"

-- How good an action is.
local function worth(game, action)
  if action.type == "exit" then return 9 end
  local cell = kit.end_of(action)
  return cell and #game:neighbours(cell) or 0
end

-- Returns one of game.actions when it is your turn, or nil to resign. See referee_kit.lua for what a
-- game has; `referee games GAME` shows its actions.
local function choose(game)
  -- >>> Your idea goes here.
  local best, most = {}, -1
  for _, action in ipairs(game.actions) do
    local worth = worth(game, action)
    if worth > most then best, most = {}, worth end
    if worth == most then best[#best + 1] = action end
  end
  return best[math.random(#best)]
end

kit.run(choose, "bot")
