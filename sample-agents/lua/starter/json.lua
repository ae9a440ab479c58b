-- JSON: json.read makes values from text, json.write makes text again.
--
-- Objects and arrays are tables, null is json.null. Arrays have a metatable, so that an empty one
-- isn't taken for an object: make your own with json.array{..}.
local json = { null = setmetatable({}, { __tostring = function() return "null" end }) }

local array = {}

function json.array(items)
  return setmetatable(items, array)
end

local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }
local value -- reads any value; the readers below call it

local function fail(at)
  error("no JSON at byte " .. at, 0)
end

-- Where the next character that is no space is, and that character.
local function peek(text, at)
  at = text:find("[^ \t\r\n]", at) or #text + 1
  return at, text:sub(at, at)
end

local function take(text, at, wanted)
  local found
  at, found = peek(text, at)
  if found ~= wanted then fail(at) end
  return at + 1
end

-- What UTF-16 needs two units for comes as two escapes.
local function unescape(text)
  text = text:gsub("\\u([dD][89abAB]%x%x)\\u([dD][c-fC-F]%x%x)", function(high, low)
    local code = (tonumber(high, 16) - 0xD800 << 10) + tonumber(low, 16) - 0xDC00
    return utf8.char(0x10000 + code)
  end)
  text = text:gsub("\\u(%x%x%x%x)", function(digits)
    local code = tonumber(digits, 16)
    return utf8.char((code < 0xD800 or code > 0xDFFF) and code or 0xFFFD)
  end)
  return text
end

local function quoted(text, at)
  local from = take(text, at, '"')
  local parts = {}
  while true do
    local stop = text:find('["\\]', from) or fail(from)
    parts[#parts + 1] = text:sub(from, stop - 1)
    if text:sub(stop, stop) == '"' then return table.concat(parts), stop + 1 end
    local letter = text:sub(stop + 1, stop + 1)
    if letter == "u" then
      -- Escapes that follow one another are undone together.
      local last = stop
      while text:find("^\\u%x%x%x%x", last) do last = last + 6 end
      if last == stop then fail(stop) end
      parts[#parts + 1] = unescape(text:sub(stop, last - 1))
      from = last
    else
      parts[#parts + 1] = escapes[letter] or letter
      from = stop + 2
    end
  end
end

local function object(text, at)
  local fields = {}
  local found
  at, found = peek(text, at + 1)
  while found ~= "}" do
    if next(fields) ~= nil then at = take(text, at, ",") end
    local name
    name, at = quoted(text, at)
    fields[name], at = value(text, take(text, at, ":"))
    at, found = peek(text, at)
  end
  return fields, at + 1
end

local function list(text, at)
  local items = json.array {}
  local found
  at, found = peek(text, at + 1)
  while found ~= "]" do
    if #items > 0 then at = take(text, at, ",") end
    items[#items + 1], at = value(text, at)
    at, found = peek(text, at)
  end
  return items, at + 1
end

local words = { ["true"] = true, ["false"] = false, null = json.null }

function value(text, at)
  local found
  at, found = peek(text, at)
  if found == "{" then return object(text, at) end
  if found == "[" then return list(text, at) end
  if found == '"' then return quoted(text, at) end
  local word = text:match("^%a+", at)
  if words[word] ~= nil then return words[word], at + #word end
  local digits = text:match("^[-+.eE0-9]+", at) or fail(at)
  return tonumber(digits) or fail(at), at + #digits
end

-- Reads a text that is one value.
function json.read(text)
  local result, at = value(text, 1)
  at = peek(text, at)
  if at <= #text then fail(at) end
  return result
end

local function quote(text)
  local escaped = text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end)
  return '"' .. escaped .. '"'
end

function json.write(it)
  if it == json.null then return "null" end
  if type(it) == "string" then return quote(it) end
  if math.type(it) == "float" then return ("%.17g"):format(it) end
  if type(it) ~= "table" then return tostring(it) end
  local parts = {}
  if getmetatable(it) == array then
    for index, item in ipairs(it) do parts[index] = json.write(item) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for name, field in pairs(it) do parts[#parts + 1] = quote(name) .. ":" .. json.write(field) end
  return "{" .. table.concat(parts, ",") .. "}"
end

return json
