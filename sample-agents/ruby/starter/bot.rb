#!/usr/bin/env ruby
# frozen_string_literal: true

# A bot for Referee: prefers cells with many neighbours. Change `choose` to make it yours.
require_relative "referee_kit"

# How good an action is.
def worth(game, action)
  return 9 if action["type"] == "exit"

  cell = RefereeKit.end_of(action)
  cell ? game.neighbours(cell).size : 0
end

# Returns one of game.actions when it is your turn, or nil to resign. See referee_kit.rb for what a
# game has; `referee games GAME` shows its actions.
def choose(game)
  # >>> Your idea goes here.
  most = game.actions.map { |action| worth(game, action) }.max
  game.actions.select { |action| worth(game, action) == most }.sample(random: game.random)
end

RefereeKit.run("bot") { |game| choose(game) }
