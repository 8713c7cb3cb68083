---@meta
-- What fixtures check with, for editors (LuaCATS): globals of scripts that `ScriptFixtures` or
-- `obs-lua --test` runs.
-- Documentation/Fixtures.md shows them in use. Never loaded by a program.

---Fails if the value is false or nil; the script goes on.
---@generic T
---@param value T
---@param what? any  what the failure says
---@return T value
function expect(value, what) end

---Fails if the values differ, deeply, and names the keys that do. Swift models and collections may
---be compared with tables.
---@param actual any
---@param expected any
---@param what? any
---@return boolean are_equal
function expect_equal(actual, expected, what) end

---Fails if `body()` raises no error, or one without the text `pattern` or a match of it.
---@param body fun()
---@param pattern? string
---@param what? any
---@return any error  what was raised
function expect_error(body, pattern, what) end

---Notes what happens, for `expect_log`.
---@param ... any  as text, with spaces in between
function log(...) end

---Fails if what was noted since the last time is something else.
---@param expected string[]
---@param what? any
---@return boolean is_equal
function expect_log(expected, what) end

---Runs a part of the script: an error in it is a failure, and the script goes on.
---@param sentence string  failures in it begin with this
---@param body fun()
function case(sentence, body) end

---Ends the turn, and lets virtual time pass: timers and tasks that are due go on. Not in callbacks.
---@param seconds number
function advance(seconds) end
