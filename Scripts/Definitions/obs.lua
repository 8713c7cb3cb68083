---@meta obs
-- The script API of obs-lua for editors (LuaCATS): completion, types and help while you write.
-- Add this folder to the language server's workspace library. Never loaded by a program: a script
-- gets the module with `local obs = require "obs"`. The rules (P4, T1 …) are in
-- Documentation/Semantics.md.

local obs = {}

----------------------------------------------------------------------------------------------------
-- Observing
----------------------------------------------------------------------------------------------------

---A key path: text ("address.zip"), or a path made by `obs.path` for keys that text cannot spell.
---@alias obs.PathLike string|obs.Path

---@class obs.Options
---@field observer? table       held weakly; the second argument; when it dies the watcher ends
---@field immediate? boolean    call inside the write, with (observed, observer, change)
---@field initial? boolean      also deliver once in the turn of registration
---@field once? boolean         stop after the first delivery
---@field equals? fun(old, new): boolean  replaces the comparison of T5 for this watcher
---@field name? string          shown by describe, why and error reports
---@field on_end? fun(path: string)  called when the observed object died (not when stopped)

---What an immediate watcher is told. Coalesced watchers are not told: they read the latest state.
---@class obs.Change
---@field path string
---@field key any
---@field old any
---@field new any

---@class obs.Watcher
---@field name string
---@field active boolean
local Watcher = {}
---Stopped means stopped: no call is ever made after this returns.
function Watcher:stop() end

---Changes while paused are remembered as one.
function Watcher:pause() end

---Delivers what changed while paused, in this turn's flush.
function Watcher:resume() end

---Adds a path with the same root; same watcher, so still one call per turn.
---@param path obs.PathLike
---@return obs.Watcher self
function Watcher:observe(path) end

---Calls the callback now, if observed and observer are alive.
function Watcher:run() end

---Calls it in this turn's flush as if something had changed.
function Watcher:schedule() end

---`obs.break_on_change` for all its paths.
function Watcher:break_on_change() end

---Prints the watcher and the place of the write before each call of it; in a terminal, opens a
---prompt there.
function Watcher:break_on_call() end

---Registers a callback for one key path, or for a list of key paths (one watcher, one call per turn
---for all of them).
---Any table can be observed, in place: it stays the same table. So can collections and objects of
---the host program.
---@param observed table|userdata
---@param paths obs.PathLike|obs.PathLike[]
---@param callback fun(observed: any, observer: any, change?: obs.Change)
---@param options? obs.Options
---@return obs.Watcher
function obs.observe(observed, paths, callback, options) end

---@class obs.StopFilter
---@field path? obs.PathLike|obs.PathLike[]
---@field observer? table
---@field callback? function

---Ends watchers rooted at `observed`. With no filter: all. Harmless when nothing matches, and when
---called twice.
---@param observed table|userdata
---@param filter? obs.PathLike|obs.PathLike[]|obs.StopFilter
---@return integer stopped  # (watcher, path) pairs
function obs.stop(observed, filter) end

---An exact path: every argument is one component, whatever its type or spelling.
---@return obs.Path
function obs.path(...) end

---Reads through a key path. nil when unreachable. Collection operators are evaluated, or read where
---they are observed: obs.get(order, "items.@sum.price"). A union is a new plain list. A path that
---stands for many values is an error.
function obs.get(observed, path) end

---Writes the last component; an error naming the first nil component when the rest is unreachable.
function obs.set(observed, path, value) end

---Says that `key` was written behind our back (by a C library, or inside a mutable value): a change
---in any case; with `previous`, like one assignment from that to the current value.
function obs.trigger(observed, key, previous) end

---Runs `body`; immediate watchers triggered inside run once each, after it. If it raises, what was
---written stays, the watchers run, and the error goes on.
function obs.batch(body, ...) end

---Delivers now what is pending. Inside a watcher it is an error.
---@return integer calls
function obs.flush() end

---Keeps the named keys of `destination` equal to those of `source`: copied now, then once per turn.
---Both may be of any kind.
---@return obs.Watcher
function obs.bind(destination, source, keys) end

---Scopes: everything registered inside `body` ends together.
---@return obs.Scope scope  -- scope:stop(), scope:add(watcher|timer|function)
function obs.scope(body) end

----------------------------------------------------------------------------------------------------
-- Collections (C1 …): tables that know that they are collections, and what watches them
----------------------------------------------------------------------------------------------------

---@class obs.Array: any[]      # [i], ipairs, table.* and assignment work too
---@field count integer
local Array = {}
---Puts values at the end; nil is none.
function Array:append(...) end

---At 1 to count + 1.
function Array:insert(position, value) end

---Returns the removed value; default: the last.
function Array:remove(position) end

---First one equal; returns whether there was one.
function Array:remove_value(value) end
function Array:replace(position, value) end

---Takes the element out at `from`, then puts it in at `to`.
function Array:move(from, to) end
function Array:swap(a, b) end

---An error in `less`, or one that contradicts itself, loses no element.
function Array:sort(less) end
function Array:reverse() end
function Array:clear() end

---Becomes equal to `list` by the smallest edit.
function Array:set(list) end
function Array:index_of(value) end

---@class obs.Set
---@field count integer
local Set = {}
---True if it was not there.
function Set:add(value) end
function Set:remove(value) end
function Set:contains(value) end

---These three change the set; `other` is a set, an array or a plain list.
function Set:union(other) end
function Set:intersect(other) end
function Set:subtract(other) end
function Set:clear() end

---"&..." for use in a key path; the value need not be in the set.
function Set:key_of(value) end
function Set:object_for(key) end

---Iterator; pairs(set) works too.
function Set:values() end

---A new array of the elements of `list` (a list, an array or a set).
---@return obs.Array
function obs.array(list) end

---A dictionary: d[k], pairs, and `count` in key paths; no methods, so that any key is a key
---@return table
function obs.dictionary(entries) end

---Removes all elements, members or keys, of any collection or plain table.
function obs.clear(collection) end

---Makes it equal to `other`, touching only what differs: elements and keys that are the same stay
---where they are, and their watchers are not called. Lazy keys of either are left out.
function obs.assign(collection, other) end

---@return obs.Set
function obs.set_of(list) end

---`target[name]` is a read-only property with a copy of the collection target[source]: of the same
---kind, taken when it is read, at most once per change of the collection. Watchers of `name` are
---called when the collection changed or was replaced. The copy is read-only, too.
---@param target table
---@param name string
---@param source string
function obs.copy_of(target, name, source) end

---One step from the last state told to the present one; they are applied in order. `at` is a
---position, the key of a dictionary or map, or the member of a set.
---@class obs.Edit
---@field kind "insert"|"remove"|"replace"|"move"
---@field at any
---@field from? integer  where a move takes its element out, before it puts it in at `at`
---@field old? any       of remove and replace
---@field new? any       of insert, replace and move

---Tells what happened to a collection since the last delivery, as the smallest list of edits,
---oldest first. The collection is of any kind, also a plain table, or of the host program.
---With `initial` the first call inserts all that is there; with `immediate` each call tells one
---operation.
---@param collection table|userdata
---@param callback fun(collection: any, edits: obs.Edit[], observer: any)
---@param options? obs.Options
---@return obs.Watcher
function obs.observe_edits(collection, callback, options) end

---Watches named keys only, all of them with old and new value. One call for each key that changed
---since the last delivery, in the order of `keys`. With `initial` each key that has a value is
---told, with nil as its old one. The keys of a set are its members.
---@param collection table|userdata
---@param keys any[]
---@param callback fun(key: any, old: any, new: any, collection: any, observer: any)
---@param options? obs.Options
---@return obs.Watcher
function obs.observe_keys(collection, keys, callback, options) end

----------------------------------------------------------------------------------------------------
-- Lazy, computed and hybrid properties, of one table (Z1 …) or of every instance of a model
----------------------------------------------------------------------------------------------------

---@class obs.LazyOptions
---@field get? fun(self, name: string): any  the value; cached until invalidated
---@field deps? obs.Dependency[]             what invalidates it
---@field cached? boolean                    false: only announces its dependencies' changes
---@field track? boolean                     find the dependencies by what `get` reads, each time
---@field loader? fun(self, name: string)    stores the value itself, through self[name] = value
---@field create? fun(argument): any         create on first read, once; assigning nil arms it again
---@field configure? fun(self, value, argument)  runs once, right after create has stored the value
---@field with? any                          the argument of create and configure
---@field readonly? boolean                  otherwise assigning overrides until invalidated

---A key path from the table itself, or one from another object.
---@alias obs.Dependency obs.PathLike|{[1]: table|userdata, [2]: obs.PathLike}

---Declares properties that are computed when they are read, and kept until they are invalid. A name
---that begins with `__` cannot be lazy. A getter that raises leaves the property invalid; it cannot
---yield.
---
---    obs.lazy(t, "thumbnail", function(self) … end)           cached until obs.invalidate
---    obs.lazy(t, { "width", "height" }, { loader = load_size })  one loader for many properties
---    obs.lazy(t, "area")                    caches what t.area gives through its metatable
---@param target table
---@param names string|string[]
---@param get_or_options? fun(self, name: string): any|obs.LazyOptions
function obs.lazy(target, names, get_or_options) end

---The same for one that is computed from others, and invalid as soon as one of those changes.
---
---    obs.computed(t, "fullName", { "first", "last" }, function(self) … end)
---    obs.computed(t, "fullName", function(self) … end)        dependencies found by tracking
---@param target table
---@param name string
---@param deps obs.Dependency[]
---@param get fun(self, name: string): any
---@overload fun(target: table, name: string, get: fun(self, name: string): any)
function obs.computed(target, name, deps, get) end

---The next read computes anew; watchers are called if that gives another value. An unknown name is
---an error with the nearest one.
---@param target table|userdata
---@param names? string|string[]   all lazy properties when absent
function obs.invalidate(target, names) end

---@return boolean
function obs.is_valid(target, name) end

---@return string[]
function obs.valid_names(target) end

---@return string[]
function obs.invalid_names(target) end

---Takes the declaration back; the name becomes a plain key without a value.
---@param target table
---@param names? string|string[]   all lazy properties when absent
function obs.forget(target, names) end

---Computes every invalid one, then raises the first error.
function obs.force(target) end

---The stored value, computing and tracking nothing.
function obs.peek(target, name) end

---An addition of this project: `target[name]` is an entry of a store. It is loaded from
---`store[name]` when it is read for the first time, and kept until obs.invalidate, or until the
---store changes, where that is a table, a collection or an object of the host program. Assigning
---writes to the store, and what that made of the value is what counts.
---
---    local settings = {}
---    obs.backed(settings, { "zoom", "theme" }, preferences)
---    settings.zoom = 2                                        preferences.zoom is 2
---@param target table
---@param names string|string[]
---@param store table|userdata
function obs.backed(target, names, store) end

----------------------------------------------------------------------------------------------------
-- Models: tables whose names are declared (Z9, P9)
----------------------------------------------------------------------------------------------------

---A model: a constructor for tables with defaults, methods, lazy and computed properties, and
---inheritance.
---
---    local User = obs.model("User", {
---      name = "", email = obs.none, tags = {},
---      full = obs.computed({ "name" }, function(self) … end),
---      greet = function(self) … end,
---    })
---    local user = User { name = "Ada" }
---    local Admin = obs.model("Admin", User, { level = 1 })
---
---An instance is a plain table whose metatable is the model. A name that is not declared is an
---error with the nearest one: in what the constructor is given, where a path is registered, and in
---the dependencies of a computed property. A name that the instance has all the same may be
---observed; a method may not.
---
---Functions of the body are methods; more can be added to the model later, also to parents. Names
---that begin with `__` are metamethods, which children take over when they are made. Defaults that
---are plain tables are copied deeply for each instance, and so are arrays, dictionaries and sets of
---this module; what has another metatable is shared. A child may replace any declaration by any
---other.
---
---In its body the target is left out: obs.lazy(get_or_options), obs.computed(deps, get),
---obs.computed(get). They are declared on an instance when they are read or observed; until then an
---instance is nothing to the engine. Without any, access is that of plain Lua.
---@param name string
---@param parent_or_body table
---@param body? table
---@return table model
function obs.model(name, parent_or_body, body) end

---In a model's body: this name exists and is nil to begin with.
---@type table
obs.none = nil

----------------------------------------------------------------------------------------------------
-- Watching the watchers
----------------------------------------------------------------------------------------------------

---List of strings: "name", "*", "#3", "4", "count", "@sum.price".
function obs.observed_keys(observed) end
function obs.observer_count(observed, key) end

---Fun(observed, key, is_observed), only on 0 -> 1 and 1 -> 0. One for each object; nil takes
---it away.
function obs.on_observed(observed, callback) end

---Who observes what, with name and file:line of the registration; which properties are lazy,
---whether they are valid, where they are declared, what they depend on and what depends on them.
---Nothing is computed for the lazy ones.
---@return string text
function obs.describe(observed) end

---A graph of all that is connected with an object: objects with their observed keys and lazy
---properties, watchers, what those watch, what computed properties depend on, and which objects are
---stored where. A list of objects that nobody observes stands for those. No getter runs, nothing is
---kept alive, and the same program gives the same text. What was replaced in this turn is where it
---was until the turn ends.
---
---"dot" is for Graphviz (`… | dot -Tsvg`). "json" is an object with the lists `objects` (id, type,
---place, keys: id, name, lazy, tracked, site), `watchers` (id, name, site, notes) and `edges` (kind
---"watches", "depends" or "holds", from, to, path; `whole` is false where a path ends before its
---end).
---@param root table|userdata
---@param format? "dot"|"json"|"mermaid"  "dot" when absent
---@return string text
function obs.graph(root, format) end

---The writes behind its last call: a list of them, and a text that tells them. `through` are the
---computed properties that lie between a write and what is watched, the nearest to the write first.
---@return { site: string, key?: string, turn?: integer, through?: string[] }[] writes
---@return string text
function obs.why(watcher) end

---Why it did not run: equal value, also of what was recomputed, unreachable at 'user', paused,
---stopped at file:line, pending. `reason` is "equal", "unreachable", "paused", "stopped",
---"pending", "failed" (a computed property), "called" or "unwritten".
---@return { reason: string, detail: string }
---@return string text
function obs.whynot(watcher) end

---Fun(event) for every write of an observed key, call, registration and end, and for what becomes
---of lazy properties; nil switches it off. An event has kind ("write", "call", "observe", "end",
---"invalidate", "compute"), site and turn; writes, invalidations (whose site is that of the write)
---and computations (that of the getter) have key, the others have name, a registration has path.
---`equal` is true where the value is the one before, `failed` where a getter has raised an error.
function obs.log(sink) end

---Prints path, old, new and a traceback at each write on the path; in a terminal, opens a prompt
---there (`cont` and the end of the input go on, SIGINT ends the script).
function obs.break_on_change(observed, path) end

---Keeps what why and whynot need.
function obs.record(on) end

---{ retrigger_turns = 1000, immediate_depth = 100 }; returns the ones in force.
function obs.limits(settings) end

---Turns, calls, watchers, observed objects, pending, errors, seconds in flush.
function obs.stats() end

---A deep plain copy of the stored properties, cycles kept, for C libraries that read tables raw;
---`{ computed = true }` computes and includes the lazy ones.
---@param options? { computed?: boolean }
function obs.raw(observed, options) end

----------------------------------------------------------------------------------------------------
-- Deep changes
----------------------------------------------------------------------------------------------------

---One change below an object, as plain data: it goes through any JSON library and comes back.
---@class obs.DeepChange
---@field path any[]  keys from the object; the last one is what changed; that of a set for a member
---@field kind "set"|"insert"|"remove"|"move"
---@field old any  what was there; nil where nothing was
---@field new any  what is there now, plain data; nil where the key is gone
---@field from? integer  of a move
---@field ref? any[]|{ after: any[] }  in place of `new`: an object that has another way already
---@field old_ref? any[]|{ after: any[] }  in place of `old`: an object that is still there
---@field model? string  of an instance, as data
---@field type? "array"|"dictionary"|"set"  of a collection, as data
---@field site? string  where it was written last, with `{ site = true }`

---@class obs.ChangeOptions: obs.Options
---@field path? obs.PathLike  restricts the changes: "items.**"
---@field site? boolean  adds the place of the last write

---Calls the callback at the end of each turn in which something below the object changed, with the
---net changes since the last call, in an order in which they can be applied.
---@param callback fun(observed: any, changes: obs.DeepChange[], observer: any)
---@param options? obs.ChangeOptions  no `initial`, `equals`, `immediate`
---@return obs.Watcher
function obs.changes(observed, callback, options) end

---Makes the changes, as the writes of one turn. One that does not fit, as its `old` is not there,
---is an error that names it, and nothing is applied.
---@param changes obs.DeepChange[]
---@param options? { force?: boolean }  skips what does not fit
---@return integer skipped  how many did not fit
function obs.apply(target, changes, options) end

---The changes that take back what these do.
---@param changes obs.DeepChange[]
---@return obs.DeepChange[]
function obs.invert(changes) end

---The changes that make a tree like `a` equal to `b`, by content and sharing.
---@return obs.DeepChange[]
function obs.diff(a, b) end

---Makes `target` equal to plain data with the fewest writes; objects that are there stay. Elements
---of lists are matched by position, or by the property that `key` names.
---@param options? { key?: string }
function obs.merge(target, data, options) end

---Undo and redo: each turn that changed something is a step.
---@class obs.History
---@field can_undo boolean  observable, as is can_redo
---@field can_redo boolean
local History = {}
---Takes the last step back, or all up to a mark; false where nothing was left.
---@param mark? string
---@return boolean
function History:undo(mark) end
---@return boolean
function History:redo() end
---Names the last step, for `undo`.
function History:mark(name) end
---What follows is one step, until `commit`; a name marks it then.
function History:begin(name) end
function History:commit() end
function History:clear() end
function History:stop() end

---`limit` is how many steps are kept; turns within `group` seconds are one.
---@param options? { limit?: integer, group?: number }
---@return obs.History
function obs.history(target, options) end

---Calls `f`. If it raises, is stopped, or calls `obs.abort`, every write below the roots that was
---made meanwhile is taken back, and watchers are not told of it.
---@param roots (table|userdata)[]
---@return boolean ok
---@return any ...  what `f` returned, or the error
function obs.transaction(roots, f) end

---Ends the innermost transaction: raises an error that cannot save it when caught.
function obs.abort(reason) end

----------------------------------------------------------------------------------------------------
-- The loop
----------------------------------------------------------------------------------------------------

---A timer: :stop(), :ref(), :unref().
function obs.after(seconds, callback) end
function obs.every(seconds, callback) end
function obs.next_turn(callback) end

---Seconds, monotonic, of the loop's clock (virtual under --virtual-time).
function obs.now() end

---Starts a coroutine that may use the waiting functions. An error in it is reported like a
---watcher's.
---`task:await(timeout?)`, inside another task, gives what the body returned or raises its error;
---false on timeout.
---@return obs.Task  # task:await(timeout?), task:cancel(), task.done
function obs.task(body, ...) end

---Inside a task; elsewhere an error.
function obs.sleep(seconds) end

---Inside a task: waits for the next delivery; false on timeout.
function obs.next_change(observed, path, timeout) end

---Fun(error, where): replaces the report on stderr, and the script goes on (T14). `where` has kind
---("watcher", "immediate", "getter", "timer", "task", "hook", "exit" or "loop"), name, site, turn,
---traceback, and cause: the place of the write, where one is known. Interruptions (I2) are no
---errors.
function obs.on_error(callback) end

---Calls the callback when the program ends: by itself, by an error, `os.exit`, a signal or the time
---limit, which leaves it a tenth of its time (I2, I7). A second signal skips it.
function obs.on_exit(callback) end

return obs
