---@meta
-- The functions of fixtures, for editors (LuaCATS): globals of scripts that `ScriptFixtures` or
-- `obs-lua --test` runs. Documentation/Fixtures.md shows them in use. No program loads this file.

---Fails if the value is false or nil. The script continues.
---@generic T
---@param value T
---@param what? any  the text of the failure
---@return T value
function expect(value, what) end

---Compares the values deeply, and fails with the keys that differ. Swift models and collections can
---be compared with tables.
---@param actual any
---@param expected any
---@param what? any
---@return boolean are_equal
function expect_equal(actual, expected, what) end

---Fails if `body()` raises no error, or an error that neither contains nor matches `pattern`.
---@param body fun()
---@param pattern? string
---@param what? any
---@return any error  the raised error
function expect_error(body, pattern, what) end

---Adds an entry to the log, for `expect_log`.
---@param ... any  written as text, separated by spaces
function log(...) end

---Fails if the entries since the last call differ from `expected`.
---@param expected string[]
---@param what? any
---@return boolean is_equal
function expect_log(expected, what) end

---Runs a part of the script. An error in `body` is a failure, and the script continues.
---@param sentence string  the beginning of reports of failures in `body`
---@param body fun()
function case(sentence, body) end

---Ends the turn, and lets virtual time pass: due timers and tasks run. Callbacks cannot call it.
---@param seconds number
function advance(seconds) end
