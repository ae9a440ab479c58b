#!/usr/bin/env ruby
# frozen_string_literal: true

# Plays any game: picks one of the legal actions that the referee lists.
require "json"

$stdin.set_encoding("UTF-8")
$stdout.set_encoding("UTF-8")
$stdout.sync = true # flushes after every line; nothing else may go there: debug with warn

class Bot
  def initialize(hello)
    @hello = hello
    @random = Random.new(hello["seed"])
  end

  # Your rule goes here. @hello says which game this is and which seat is yours; turn["position"] is
  # the board, and turn["actions"] has everything that is legal now: return one of them.
  def choose(turn)
    turn["actions"].sample(random: @random)
  end
end

def say(message)
  $stdout.write(JSON.generate(message), "\n")
end

bot = nil
$stdin.each_line do |line|
  next if line.strip.empty?

  message = JSON.parse(line)
  case message["type"]
  when "hello"
    bot = Bot.new(message)
    say({ type: "ready", name: "random (Ruby)", want: %w[position actions] })
  when "turn"
    say({ type: "action", turn: message["turn"], action: bot.choose(message) })
  when "over"
    break
  end
  # "played" and "retired" report what the others did, for a rule that keeps a board.
end
