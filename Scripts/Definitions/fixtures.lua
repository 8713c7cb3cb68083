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

---Runs a part of the script, like `case`. In a `describe`, it waits for the end of the block.
---Without `body` it is reported as skipped.
---@param sentence string
---@param body? fun()
function it(sentence, body) end

---The same as `it`.
---@param sentence string
---@param body? fun()
function test(sentence, body) end

---The same as `it`.
---@param sentence string
---@param body? fun()
function spec(sentence, body) end

---Calls `body`, which declares cases, hooks and inner blocks; then runs them.
---@param sentence string  the beginning of the sentences of the cases
---@param body fun()
function describe(sentence, body) end

---The same as `describe`.
---@param sentence string
---@param body fun()
function context(sentence, body) end

---The same as `describe`.
---@param sentence string
---@param body fun()
function insulate(sentence, body) end

---The same as `describe`.
---@param sentence string
---@param body fun()
function expose(sentence, body) end

---Runs `hook` before each case of the block and of its inner blocks.
---@param hook fun()
function before_each(hook) end

---Runs `hook` after each case of the block and of its inner blocks, also after an error.
---@param hook fun()
function after_each(hook) end

---Runs `hook` once, before the cases of the block.
---@param hook fun()
function setup(hook) end

---The same as `setup`.
---@param hook fun()
function lazy_setup(hook) end

---The same as `setup`.
---@param hook fun()
function strict_setup(hook) end

---Runs `hook` once, after the cases of the block.
---@param hook fun()
function teardown(hook) end

---The same as `teardown`.
---@param hook fun()
function lazy_teardown(hook) end

---The same as `teardown`.
---@param hook fun()
function strict_teardown(hook) end

---Calls `body` at the end of the case, also after an error.
---@param body fun()
function finally(body) end

---Adds a case that is reported as skipped. In a case, without `body`, ends that case as skipped.
---@param sentence? string  the sentence, or in a case the reason
---@param body? fun()  not called
function pending(sentence, body) end

---The same as `pending`.
---@param sentence? string
---@param body? fun()
function skip(sentence, body) end

---A function that keeps its calls.
---@class fixtures.Spy
---@field calls table[]  the lists of arguments; a list has the fields `n`, its length, and `vals`
---@field returnvals table[]  the lists of results
local Spy = {}

---Forgets the calls.
---@return fixtures.Spy
function Spy:clear() end

---Restores the function in the table.
---@return fixtures.Spy
function Spy:revert() end

---Replaces a function in a table by a spy that calls it, until the end of the case or block.
---@param object table
---@param name any
---@return fixtures.Spy
function spy(object, name) end

---Replaces a function in a table by a spy that returns the results, until the end of the case or
---block.
---@param object? table
---@param name? any
---@param ... any  the results
---@return fixtures.Spy
function stub(object, name, ...) end

---Replaces all functions in a table by spies.
---@generic T: table
---@param object T
---@param is_stubbed? boolean  whether the spies are stubs
---@return T object
function mock(object, is_stubbed) end

---Ends the turn, and lets virtual time pass: due timers and tasks run. Callbacks cannot call it.
---@param seconds number
function advance(seconds) end
