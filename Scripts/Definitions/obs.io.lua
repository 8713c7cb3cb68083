---@meta obs.io
-- Input, processes, files that change and signals, on the module luv: `require "obs.io"`. Functions
-- that wait work inside a task.

---@class obs.io
local io = {}

---Reads the standard input, or `file` where that is given first, as `io.read` and `file:read` do,
---without keeping the loop waiting. It reads ahead: use it for all that is read from then on.
---@param file? file*
---@param ... "l"|"L"|"a"|"n"|integer  "l" where there is none
---@return any ...
function io.read(file, ...) end

---Iterates over the lines of a file, the standard input where there is none, until its end.
---@param file? file*|integer|string  a file, the number of a descriptor, or a path
---@param ... "l"|"L"|"a"|"n"|integer
---@return fun(): any ...
function io.lines(file, ...) end

---A program with its arguments.
---@class (exact) obs.io.Command
---@field [integer] string|number
---@field input? string    written to its standard input, which is empty without it
---@field timeout? number  seconds, after which it is killed
---@field cwd? string      the folder in which it runs

---Runs a process to its end. A task that is cancelled kills it, and so does the end of the program.
---@param command obs.io.Command
---@return integer|false|nil status  128 + n after signal n; false on timeout; nil: no such program
---@return string output  what it wrote; the message where there is no such program
---@return string errors
function io.run(command) end

---@class (exact) obs.io.GetOptions
---@field timeout? number  seconds

---Gets what is at a URL, by the program curl; follows redirections.
---@param url string
---@param options? obs.io.GetOptions
---@return string? body
---@return integer|string status  the message where there is no answer
function io.get(url, options) end

---Something outside that is listened to.
---@class obs.io.Handle
local Handle = {}
function Handle:stop() end
---The loop goes on while it is active, as it does without `unref`.
---@return obs.io.Handle self
function Handle:ref() end
---The loop may end while it is active.
---@return obs.io.Handle self
function Handle:unref() end

---Calls the function in a turn of its own when a file, or one in a folder, was changed, made,
---replaced or removed; for each file at most once in 20 milliseconds.
---@param path string  a file, that need not exist, or a folder
---@param callback fun(path: string)
---@return obs.io.Handle
function io.watch(path, callback) end

---Calls the function when a signal has come.
---@param name string  "HUP", "USR1" …
---@param callback fun(name: string)
---@return obs.io.Handle
function io.on_signal(name, callback) end

return io
