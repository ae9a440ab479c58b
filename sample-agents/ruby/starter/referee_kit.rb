# frozen_string_literal: true

require "json"

# The protocol, and the neighbours of cells in every game. It doesn't know the rules: the referee lists
# the legal actions.
#
# A cell is as in the protocol: [row, column], in Chexers [q, r], in Chinese Checkers a number.
module RefereeKit
  # Plays a match. The block gets the game and returns one of its actions, or nil to resign.
  def self.run(name, &choose)
    # All other output goes to stderr, and nothing else can read what the referee sends.
    input = $stdin.dup.set_encoding("UTF-8")
    output = $stdout.dup.set_encoding("UTF-8")
    output.sync = true # The referee doesn't see a line that is still in a buffer.
    $stdout.reopen($stderr)
    $stdout.sync = true
    $stdin.reopen(File::NULL)
    converse(input, choose, name) { |message| output.write(JSON.generate(message), "\n") }
  end

  # Returns the cell where an action ends; nil if it has none, such as "pass".
  def self.end_of(action)
    action["path"]&.last || action["at"] || action["to"]
  end

  def self.converse(input, choose, name)
    game = nil
    input.each_line do |line|
      message = line.strip.empty? ? {} : JSON.parse(line)
      case message["type"]
      when "hello"
        game = Game.new(message)
        yield({ type: "ready", name: name, want: %w[position actions] })
      when "turn"
        game.ask(message)
        action = choose.call(game)
        answer = action ? { type: "action", action: action } : { type: "resign" }
        yield answer.merge(turn: message["turn"])
      when "played", "retired"
        game.history << message
      when "over"
        break
      end
    end
  end
  private_class_method :converse

  # A game in progress:
  #
  # name, setup, seat, seats, clock     of the referee's `hello`: the game's name, such as "hex", its
  #                                     settings, your seat and everyone's
  # turn, left_ms, position, actions    of its `turn`: its number, your milliseconds left (nil without
  #                                     a limit), the board and every legal action
  # history                             the messages `played` and `retired` so far
  # cells, neighbours(cell)             every cell of the board; the cells beside one, in order
  # random                              random numbers that repeat with the seed of the match
  class Game
    SHAPES = { "chexers" => :hexagon, "freckers" => :square, "chinese-checkers" => :star }.freeze
    attr_reader :name, :setup, :seat, :seats, :clock, :turn, :left_ms, :position, :actions,
                :history, :cells, :random

    def initialize(hello)
      @name, @setup, @seat, @seats, @clock =
        hello.values_at("game", "setup", "seat", "seats", "clock")
      @random = Random.new(hello["seed"])
      @history = []
      shape = @setup["shape"]&.to_sym || SHAPES.fetch(@name, :diamond)
      lay_out(shape, @setup["size"] || (shape == :hexagon ? 3 : 8))
    end

    # Stores the fields of a `turn`.
    def ask(message)
      @turn, @left_ms, @position, @actions =
        message.values_at("turn", "left_ms", "position", "actions")
    end

    def neighbours(cell)
      @neighbours.fetch(cell)
    end

    private

    def lay_out(shape, size)
      span = (-2 * size..2 * size).to_a
      places = span.product(span).select { |a, b| place?(shape, size, a, b) }
      # The star's cells are numbered row by row.
      @cells = shape == :star ? (1..places.size).to_a : places
      names = places.zip(@cells).to_h
      @neighbours = places.to_h do |a, b|
        [names[[a, b]], steps(shape).filter_map { |down, right| names[[a + down, b + right]] }]
      end
    end

    # Whether a board has a place on its grid.
    def place?(shape, size, row, column)
      sum = row + column
      case shape
      when :triangle then column.between?(0, row) && row < size
      when :hexagon then [row, column, sum].all? { |far| far.abs <= size }
      when :star
        [row, column, -sum].max <= size || [-row, -column, sum].max <= size
      else row.between?(0, size - 1) && column.between?(0, size - 1)
      end
    end

    # The steps to a cell's neighbours. A hexagonal board lacks one diagonal: the triangle's is the
    # other one.
    def steps(shape)
      missing = { square: 2, triangle: -1 }.fetch(shape, 1)
      [-1, 0, 1].product([-1, 0, 1]).reject { |a, b| a * b == missing || [a, b] == [0, 0] }
    end
  end
end
