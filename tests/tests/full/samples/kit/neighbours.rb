# frozen_string_literal: true

# A bot that prints the neighbours of the cells that it gets as a position; see agents/kits.rs.
require_relative "referee_kit"

RefereeKit.run("neighbours") do |game|
  raise "other cells" if game.cells != game.position

  game.position.each { |cell| puts JSON.generate(game.neighbours(cell)) }
  nil
end
