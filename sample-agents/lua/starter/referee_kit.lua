-- The protocol, and the neighbours of cells in every game. It doesn't know the rules: the referee
-- lists the legal actions.
--
-- A game is a table with
--   name, setup, seat, seats, clock     of the referee's `hello`: the game's name, such as "hex", its
--                                       settings, your seat and everyone's
--   turn, left_ms, position, actions    of its `turn`: its number, your milliseconds left (json.null
--                                       without a limit), the board and every legal action
--   history                             the messages `played` and `retired` so far
--   cells                               every cell of the board, in order
--   game:neighbours(cell)               the cells beside it, in order
--
-- A cell is as in the protocol: {row, column}, in Chexers {q, r}, in Chinese Checkers a number.
local json = require "json"
local kit = { json = json }

local Game = {}
Game.__index = Game

-- The text of a cell, as a key of tables: {0, 1} is another table than {0, 1}.
function kit.key(cell)
  return type(cell) == "table" and cell[1] .. "," .. cell[2] or tostring(cell)
end

-- Returns the cell where an action ends; nil if it has none, such as "pass".
function kit.end_of(action)
  return action.path and action.path[#action.path] or action.at or action.to
end

function Game:neighbours(cell)
  return self.beside[kit.key(cell)]
end

-- Whether a board has a place on its grid.
local function has_place(shape, n, a, b)
  local sum = a + b
  if shape == "triangle" then return 0 <= b and b <= a and a < n end
  if shape == "hexagon" then return math.max(math.abs(a), math.abs(b), math.abs(sum)) <= n end
  if shape == "star" then
    return math.max(a, b, -sum) <= n or math.max(-a, -b, sum) <= n
  end
  return 0 <= a and 0 <= b and a < n and b < n
end

-- The steps to a cell's neighbours. A hexagonal board lacks one diagonal: the triangle's is the
-- other one.
local function steps(shape)
  local missing = ({ square = 2, triangle = -1 })[shape] or 1
  local found = {}
  for a = -1, 1 do
    for b = -1, 1 do
      if a * b ~= missing and (a ~= 0 or b ~= 0) then found[#found + 1] = { a, b } end
    end
  end
  return found
end

-- Returns the cells of a board, and their neighbours.
local function board(shape, n)
  local cells, places, names, beside = {}, {}, {}, {}
  for a = -2 * n, 2 * n do
    for b = -2 * n, 2 * n do
      if has_place(shape, n, a, b) then
        local place = json.array { a, b }
        -- The star's cells are numbered row by row.
        cells[#cells + 1] = shape == "star" and #cells + 1 or place
        places[#places + 1] = place
        names[kit.key(place)] = cells[#cells]
      end
    end
  end
  for index, cell in ipairs(cells) do
    local found = {}
    for _, step in ipairs(steps(shape)) do
      local place = { places[index][1] + step[1], places[index][2] + step[2] }
      found[#found + 1] = names[kit.key(place)]
    end
    beside[kit.key(cell)] = found
  end
  return cells, beside
end

local function begin(hello)
  local setup = hello.setup
  local shapes = { chexers = "hexagon", freckers = "square", ["chinese-checkers"] = "star" }
  local shape = setup.shape or shapes[hello.game] or "diamond"
  local game = { name = hello.game, setup = setup, seat = hello.seat, seats = hello.seats }
  game.clock, game.history = hello.clock, {}
  game.cells, game.beside = board(shape, setup.size or hello.game == "chexers" and 3 or 8)
  return setmetatable(game, Game)
end

-- One message, one line, flushed: the referee doesn't see a line that is still in a buffer.
local function say(message)
  io.stdout:write(json.write(message), "\n")
  io.stdout:flush()
end

local function answer(game, choose, message)
  game.turn, game.left_ms = message.turn, message.left_ms
  game.position, game.actions = message.position, message.actions
  local action = choose(game)
  say { type = action and "action" or "resign", turn = message.turn, action = action }
end

-- Plays a match. `choose` gets the game and returns one of its actions, or nil to resign.
function kit.run(choose, name)
  -- All other output goes to stderr.
  io.output(io.stderr)
  print = function(...)
    local words = table.pack(...)
    for index = 1, words.n do words[index] = tostring(words[index]) end
    io.stderr:write(table.concat(words, "\t"), "\n")
  end
  local game
  for line in io.stdin:lines() do
    local message = line:find("%S") and json.read(line) or {}
    if message.type == "hello" then
      math.randomseed(message.seed)
      game = begin(message)
      say { type = "ready", name = name, want = json.array { "position", "actions" } }
    elseif message.type == "turn" then
      answer(game, choose, message)
    elseif message.type == "played" or message.type == "retired" then
      game.history[#game.history + 1] = message
    elseif message.type == "over" then
      break
    end
  end
end

return kit
