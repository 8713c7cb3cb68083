---@meta obs.io
-- Input, processes, file changes and signals, based on the module luv: `require "obs.io"`.
-- Functions that wait work inside a task.

---@class obs.io
local io = {}

---Reads the standard input, or `file` if it is the first argument, like `io.read` and `file:read`,
---without blocking the loop. It reads ahead, so use it for all further reads of the file.
---@param file? file*
---@param ... "l"|"L"|"a"|"n"|integer  "l" by default
---@return any ...
function io.read(file, ...) end

---Iterates over the lines of a file, by default the standard input, until its end.
---@param file? file*|integer|string  a file, the number of a descriptor, or a path
---@param ... "l"|"L"|"a"|"n"|integer
---@return fun(): any ...
function io.lines(file, ...) end

---A program with its arguments.
---@class (exact) obs.io.Command
---@field [integer] string|number
---@field input? string    written to its standard input; empty by default
---@field timeout? number  in seconds; then the process is killed
---@field cwd? string      the working directory

---Runs a process to its end. Cancelling the task, and the end of the program, kill the process.
---@param command obs.io.Command
---@return integer|false|nil status  128 + n after signal n; false on timeout; nil: no such program
---@return string output  its output; an error message if there is no such program
---@return string errors
function io.run(command) end

---@class (exact) obs.io.GetOptions
---@field timeout? number  seconds

---Fetches a URL with the program curl, and follows redirections.
---@param url string
---@param options? obs.io.GetOptions
---@return string? body
---@return integer|string status  an error message if there is no answer
function io.get(url, options) end

---An external source of events.
---@class obs.io.Handle
local Handle = {}
function Handle:stop() end
---Keeps the loop running while the handle is active, as by default.
---@return obs.io.Handle self
function Handle:ref() end
---Lets the loop end although the handle is active.
---@return obs.io.Handle self
function Handle:unref() end

---Calls the function in a separate turn when a file, or a file in a folder, has been changed,
---created, replaced or removed; at most once in 20 milliseconds for each file. It follows the path
---when a folder or a link on the way is replaced. A folder that is replaced is passed itself.
---@param path string  a file or a folder, which need not exist
---@param callback fun(path: string)
---@return obs.io.Handle
function io.watch(path, callback) end

---Calls the function when a signal has arrived.
---@param name string  "HUP", "USR1" …
---@param callback fun(name: string)
---@return obs.io.Handle
function io.on_signal(name, callback) end

return io
