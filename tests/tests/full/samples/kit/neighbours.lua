-- A bot that prints the neighbours of the cells that it gets as a position; see agents/kits.rs.
local kit = require "referee_kit"

kit.run(function(game)
  for index, cell in ipairs(game.position) do
    assert(kit.key(cell) == kit.key(game.cells[index]), "other cells")
    print(kit.json.write(kit.json.array(game:neighbours(cell))))
  end
end, "neighbours")
