#!/usr/bin/env lua5.4
-- Plays any game: picks one of the legal actions that the referee lists.
local json = require "json"

-- Your rule goes here. `hello` says which game this is and which seat is yours; turn.position is
-- the board, and turn.actions has everything that is legal now: return one of them.
local function choose(hello, turn)
  return turn.actions[math.random(#turn.actions)]
end

-- One message, one line, flushed. Nothing else may go to stdout: debug with io.stderr:write.
local function say(message)
  io.write(json.write(message), "\n")
  io.flush()
end

local hello
for line in io.lines() do
  if line:find("%S") then
    local message = json.read(line)
    if message.type == "hello" then
      hello = message
      math.randomseed(hello.seed)
      local want = json.array { "position", "actions" }
      say { type = "ready", name = "random (Lua)", want = want }
    elseif message.type == "turn" then
      say { type = "action", turn = message.turn, action = choose(hello, message) }
    elseif message.type == "over" then
      break
    end
    -- "played" and "retired" report what the others did, for a rule that keeps a board.
  end
end
