---@meta obs
-- The script API of obs-lua for editors (LuaCATS): completion, types and help while you write.
-- Add this folder to the workspace library of the language server. No program loads this file: a
-- script gets the module with `local obs = require "obs"`. Documentation/Semantics.md has the rules
-- (P4, T1 …). A function without `@return` returns nothing.

---@class obs
local obs = {}

---An object that can be observed: any table, a collection, or an object of the host program.
---@alias obs.Observed table|userdata

----------------------------------------------------------------------------------------------------
-- Observing
----------------------------------------------------------------------------------------------------

---A key path: text ("address.zip"), or a path made by `obs.path` for keys that text cannot spell.
---@alias obs.PathLike string|obs.Path

---A key path made by `obs.path`. `tostring` returns its spelling.
---@class obs.Path: userdata

---@class (exact) obs.Options
---@field observer? obs.Observed  the second argument; held weakly: when it dies, the watcher ends
---@field immediate? boolean    calls inside the write, with (observed, observer, change)
---@field initial? boolean      also delivers once in the turn of registration
---@field once? boolean         stops after the first delivery
---@field equals? fun(old: any, new: any): boolean  replaces the comparison of T5 for this watcher
---@field name? string          shown by describe, why and error reports
---@field on_end? fun(path: string)  called after the observed object has died, not after `stop`

---The third argument of an immediate watcher. Coalesced watchers do not get it: they read the
---latest state.
---@class (exact) obs.Change
---@field path string
---@field key any
---@field old any
---@field new any

---@class obs.Watcher: userdata
---@field name string
---@field active boolean  false once it has ended
local Watcher = {}
---Ends the watcher and drops its pending call. After this returns, there is no further call.
---```lua
---local door = { open = false }
---local watcher = obs.observe(door, "open", function(door) print(door.open) end)
---door.open = true
---obs.flush()                               --> true
---watcher:stop()
---door.open = false                         -- no call
---```
function Watcher:stop() end

---Holds calls back until `resume`. All changes made until then cause one call.
---```lua
---local t = { n = 0 }
---local watcher = obs.observe(t, "n", function(t) print(t.n) end)
---watcher:pause()
---t.n = 1
---t.n = 2
---obs.flush()                               -- no call
---watcher:resume()                          --> 2
---```
function Watcher:pause() end

---Ends a pause. If something changed during the pause, calls the callback in this turn's flush.
---```lua
---local t = { n = 0 }
---local watcher = obs.observe(t, "n", function(t) print(t.n) end)
---watcher:pause()
---t.n = 1
---watcher:resume()
---obs.flush()                               --> 1
---```
function Watcher:resume() end

---Adds a path from the same root to this watcher, which is still called once per turn.
---```lua
---local size = { width = 1, height = 1 }
---local watcher = obs.observe(size, "width", function() print "resized" end)
---watcher:observe("height")
---size.width, size.height = 2, 2            --> resized
---```
---@param path obs.PathLike
---@return obs.Watcher self
function Watcher:observe(path) end

---Calls the callback now, if the observed object and the observer are alive.
---```lua
---local t = { n = 1 }
---local watcher = obs.observe(t, "n", function(t) print(t.n) end)
---watcher:run()                             --> 1
---```
function Watcher:run() end

---Calls the callback in this turn's flush, as if something had changed.
---```lua
---local t = { n = 1 }
---local watcher = obs.observe(t, "n", function(t) print(t.n) end)
---watcher:schedule()
---obs.flush()                               --> 1
---```
function Watcher:schedule() end

---Returns the state from which the next call continues: the state at the last call, including later
---changes by the origin `skip`. It is plain data that keeps sharing. Members of sets, and values
---under keys that are objects, are not copied. It is an error if the watcher has ended or does not
---come from `obs.changes`.
---```lua
---local t = { n = 1 }
---local watcher = obs.changes(t, function() end)
---t.n = 2
---print(watcher:snapshot().n)               --> 1
---obs.flush()
---print(watcher:snapshot().n)               --> 2
---```
---@return table
function Watcher:snapshot() end

---Does the same as `obs.break_on_change`, for all paths of the watcher.
---```lua
---local t = { n = 1 }
---local watcher = obs.observe(t, "n", function() end)
---watcher:break_on_change()                 -- The next write of `n` is printed with its traceback.
---```
function Watcher:break_on_change() end

---Prints the watcher and the place of the write before each call. In a terminal, also opens a
---prompt there.
---```lua
---local t = { n = 1 }
---local watcher = obs.observe(t, "n", function() end)
---watcher:break_on_call()                   -- Each call is printed with the place of the write.
---```
function Watcher:break_on_call() end

---Registers a callback for a key path, or for a list of key paths: one watcher, with one call per
---turn for all of them. Any table can be observed in place, and stays the same table. Collections
---and objects of the host program can be observed, too.
---```lua
---local order = { customer = { city = "London" } }
---obs.observe(order, "customer.city", function(order) print(order.customer.city) end)
---order.customer = { city = "York" }        --> York
---```
---@generic T: obs.Observed
---@param observed T
---@param paths obs.PathLike|obs.PathLike[]
---@param callback fun(observed: T, observer: any, change?: obs.Change)
---@param options? obs.Options
---@return obs.Watcher
function obs.observe(observed, paths, callback, options) end

---@class (exact) obs.StopFilter
---@field path? obs.PathLike|obs.PathLike[]
---@field observer? obs.Observed
---@field callback? function

---Removes the matching paths from the watchers of `observed`; without a filter, all paths. A
---watcher without paths ends. In a sandbox, only watchers of the sandbox are affected. Calling it
---twice, or without a match, is harmless.
---```lua
---local t = { a = 1, b = 1 }
---obs.observe(t, { "a", "b" }, function() print "called" end)
---print(obs.stop(t, "a"))                   --> 1
---print(obs.stop(t))                        --> 1
---```
---@param observed obs.Observed
---@param filter? obs.PathLike|obs.PathLike[]|obs.StopFilter
---@return integer stopped  # the number of (watcher, path) pairs
function obs.stop(observed, filter) end

---Returns a path in which each argument is one key, whatever its type or spelling.
---```lua
---local hosts = { ["example.org"] = "up" }
---obs.observe(hosts, obs.path("example.org"), function(hosts) print(hosts["example.org"]) end)
---hosts["example.org"] = "down"             --> down
---```
---@param ... any
---@return obs.Path
function obs.path(...) end

---Returns the value at the end of a key path, or nil if it is unreachable. Operators are computed,
---as in `obs.get(order, "items.@sum.price")`; an observed operator has its value already. A union
---is a new plain list. A path that leads to many values is an error where there are any.
---```lua
---local order = { customer = { city = "York" } }
---print(obs.get(order, "customer.city"))    --> York
---print(obs.get(order, "customer.name"))    --> nil
---```
---@param observed obs.Observed
---@param path obs.PathLike
---@return any value
function obs.get(observed, path) end

---Assigns to the key at the end of a path. If the path is unreachable, an error names its first nil
---component.
---```lua
---local order = { customer = { city = "York" } }
---obs.set(order, "customer.city", "Leeds")
---print(order.customer.city)                --> Leeds
---```
---@param observed obs.Observed
---@param path obs.PathLike
---@param value any
function obs.set(observed, path, value) end

---Reports a write of `key` that the engine could not see: by a C module that is left alone, or
---inside a mutable value. Without `previous` it always counts as a change. With `previous` it
---counts as one assignment, from `previous` to the current value.
---```lua
---local t = { point = { 0, 0 } }
---obs.observe(t, "point", function(t) print(t.point[1]) end)
---rawset(t.point, 1, 5)                     -- The table in `point` is still the same.
---obs.trigger(t, "point")                   --> 5
---```
---@param observed obs.Observed
---@param key any
---@param previous? any
function obs.trigger(observed, key, previous) end

---Calls `body`. Immediate watchers that it triggers are called after it, once each. If `body`
---raises, its writes stay, the watchers are called, and the error is raised again.
---```lua
---local t = { n = 0 }
---obs.observe(t, "n", function(t) print(t.n) end, { immediate = true })
---obs.batch(function()
---  t.n = 1
---  t.n = 2
---end)                                      --> 2
---```
---@param body fun(...: any): ...: any
---@param ... any  the arguments of `body`
---@return any ...  the results of `body`
function obs.batch(body, ...) end

---Calls all pending watchers now. This is an error inside a watcher, getter, hook or batch.
---```lua
---local t = { n = 0 }
---obs.observe(t, "n", function(t) print(t.n) end)
---t.n = 1
---print(obs.flush())                        --> 1 --> 1
---```
---@return integer calls
function obs.flush() end

---Keeps the named keys of `destination` equal to the same keys of `source`: copies them now, then
---once per turn. Both objects can be of any kind.
---```lua
---local document, window = { title = "Draft" }, {}
---obs.bind(window, document, "title")
---print(window.title)                       --> Draft
---document.title = "Final"
---obs.flush()
---print(window.title)                       --> Final
---```
---@param destination obs.Observed
---@param source obs.Observed
---@param keys any|any[]
---@return obs.Watcher
function obs.bind(destination, source, keys) end

---Loads a module again while the program runs. Then the watchers, timers, tasks and lazy
---properties of its former code end, and the functions in its table are replaced; tables keep their
---identity. If the new code does not compile or raises an error, nothing changes. Inside a getter
---or a transaction this is an error.
---```lua
---local file = io.open("rules.lua", "w")
---file:write "return { gravity = 1 }"; file:close()
---local rules = require "rules"
---print(rules.gravity)                      --> 1
---file = io.open("rules.lua", "w")
---file:write "return { gravity = 2 }"; file:close()
---print(obs.reload "rules", rules.gravity)  --> true	2
---os.remove "rules.lua"
---```
---@param name string  as for `require`
---@return boolean? done  true; nil if nothing has changed
---@return string? message  why
function obs.reload(name) end

---Returns the table of this name: the same as long as the program runs, even if modules are loaded
---again. Keys that it lacks are added from `initial`, also in the tables below it.
---```lua
---local world = obs.state("world", { score = 0 })
---world.score = 5
---world = obs.state("world", { score = 0, lives = 3 })
---print(world.score, world.lives)           --> 5	3
---```
---@generic T: table
---@param name string
---@param initial? T  becomes the table if the name is new
---@return T
function obs.state(name, initial) end

---Calls the function when the running module is loaded again, with the result of the old chunk:
---after the new chunk has run, and before the old registrations end. In code that is never loaded
---again, this has no effect.
---```lua
---local file = io.open("server.lua", "w")
---file:write "require 'obs'.on_reload(function() print 'closing' end)"; file:close()
---require "server"
---obs.reload "server"                       --> closing
---os.remove "server.lua"
---```
---@param callback fun(old: any)
function obs.on_reload(callback) end

---A group of registrations that end together.
---@class obs.Scope
local Scope = {}
---Ends all members, in the reverse order of registration.
---```lua
---local t = { n = 0 }
---local scope = obs.scope(function()
---  obs.observe(t, "n", function() print "never" end)
---end)
---scope:stop()
---t.n = 1                                   -- no call
---```
function Scope:stop() end

---Adds an object with a method `stop` or `cancel`, or a function. `Scope:stop` calls the method or
---the function.
---```lua
---local scope = obs.scope(function(scope)
---  scope:add(function() print "closed" end)
---end)
---scope:stop()                              --> closed
---```
---@generic T
---@param member T
---@return T member
function Scope:add(member) end

---Calls `body`, and returns a scope of everything registered inside it. `Scope:stop` ends it all.
---```lua
---local t = { a = 0, b = 0 }
---local scope = obs.scope(function()
---  obs.observe(t, "a", function() print "a" end)
---  obs.observe(t, "b", function() print "b" end)
---end)
---t.a = 1
---obs.flush()                               --> a
---scope:stop()                              -- Both watchers end.
---```
---@param body fun(scope: obs.Scope)
---@return obs.Scope scope
function obs.scope(body) end

----------------------------------------------------------------------------------------------------
-- Collections (C1 …) and their watchers
----------------------------------------------------------------------------------------------------

---@class obs.Array: any[]      # [i], ipairs, table.* and assignment work too
---@field count integer
local Array = {}
---Appends values; nil is an error.
---```lua
---local list = obs.array { 1 }
---list:append(2, 3)
---print(list.count)                         --> 3
---```
---@param ... any
function Array:append(...) end

---Inserts a value at a position from 1 to count + 1.
---```lua
---local list = obs.array { "a", "c" }
---list:insert(2, "b")
---print(table.concat(list, " "))            --> a b c
---```
---@param position integer
---@param value any
function Array:insert(position, value) end

---Removes the element at a position, by default the last one, and returns it.
---```lua
---local list = obs.array { "a", "b", "c" }
---print(list:remove(1), list:remove())      --> a	c
---```
---@param position? integer
---@return any removed
function Array:remove(position) end

---Removes the first element that equals `value`, if there is one.
---```lua
---local list = obs.array { "a", "b" }
---print(list:remove_value("a"))             --> true
---print(list:remove_value("a"))             --> false
---```
---@param value any
---@return boolean was_there
function Array:remove_value(value) end

---```lua
---local list = obs.array { "a", "b" }
---list:replace(2, "c")
---print(list[2])                            --> c
---```
---@param position integer
---@param value any
function Array:replace(position, value) end

---Takes the element at `from` out, then inserts it at `to`.
---```lua
---local list = obs.array { "a", "b", "c" }
---list:move(1, 3)
---print(table.concat(list, " "))            --> b c a
---```
---@param from integer
---@param to integer
function Array:move(from, to) end

---```lua
---local list = obs.array { "a", "b", "c" }
---list:swap(1, 3)
---print(table.concat(list, " "))            --> c b a
---```
---@param a integer
---@param b integer
function Array:swap(a, b) end

---Sorts the elements. No element is lost if `less` raises an error or contradicts itself.
---```lua
---local list = obs.array { 2, 3, 1 }
---list:sort(function(a, b) return a > b end)
---print(table.concat(list, " "))            --> 3 2 1
---```
---@param less? fun(a: any, b: any): boolean
function Array:sort(less) end

---```lua
---local list = obs.array { 1, 2, 3 }
---list:reverse()
---print(table.concat(list, " "))            --> 3 2 1
---```
function Array:reverse() end

---```lua
---local list = obs.array { 1, 2 }
---list:clear()
---print(list.count)                         --> 0
---```
function Array:clear() end

---Makes the array equal to `list` with as few edits as possible.
---```lua
---local list = obs.array { 1, 2, 3 }
---list:set { 1, 3 }                         -- One edit: the second element is removed.
---print(table.concat(list, " "))            --> 1 3
---```
---@param list any[]|obs.Array|obs.Set
function Array:set(list) end

---Returns the position of the first element that equals `value`; nil if it is absent.
---```lua
---local list = obs.array { "a", "b" }
---print(list:index_of("b"))                 --> 2
---```
---@param value any
---@return integer? position
function Array:index_of(value) end

---@class obs.Set
---@field count integer
local Set = {}
---Adds a member. Returns true if it was not there before.
---```lua
---local tags = obs.set_of { "new" }
---print(tags:add("hot"), tags:add("new"))   --> true	false
---```
---@param value any
---@return boolean was_added
function Set:add(value) end

---```lua
---local tags = obs.set_of { "new" }
---print(tags:remove("new"), tags.count)     --> true	0
---```
---@param value any
---@return boolean was_there
function Set:remove(value) end

---```lua
---local tags = obs.set_of { "new" }
---print(tags:contains("new"))               --> true
---```
---@param value any
---@return boolean
function Set:contains(value) end

---Adds the elements of `other`: a set, an array or a plain list.
---```lua
---local tags = obs.set_of { "a", "b" }
---tags:union { "b", "c" }
---print(tags.count)                         --> 3
---```
---@param other any[]|obs.Array|obs.Set
function Set:union(other) end

---Removes the members that are not in `other`.
---```lua
---local tags = obs.set_of { "a", "b" }
---tags:intersect { "b", "c" }
---print(tags.count, tags:contains("b"))     --> 1	true
---```
---@param other any[]|obs.Array|obs.Set
function Set:intersect(other) end

---Removes the members that are in `other`.
---```lua
---local tags = obs.set_of { "a", "b" }
---tags:subtract { "b", "c" }
---print(tags.count, tags:contains("a"))     --> 1	true
---```
---@param other any[]|obs.Array|obs.Set
function Set:subtract(other) end

---```lua
---local tags = obs.set_of { "a", "b" }
---tags:clear()
---print(tags.count)                         --> 0
---```
function Set:clear() end

---Returns the component of a value in key paths ("&…"). The value need not be in the set.
---```lua
---local ada = { name = "Ada" }
---local users = obs.set_of { ada }
---obs.observe(users, users:key_of(ada) .. ".name", function() print(ada.name) end)
---ada.name = "Grace"                        --> Grace
---```
---@param value any
---@return string key
function Set:key_of(value) end

---Returns the member with a key from `key_of`; nil if it is not in the set.
---```lua
---local users = obs.set_of { "Ada" }
---local key = users:key_of("Ada")
---print(users:object_for(key))              --> Ada
---```
---@param key string
---@return any member
function Set:object_for(key) end

---Returns an iterator over the members. `pairs(set)` works, too.
---```lua
---local tags = obs.set_of { "new" }
---for tag in tags:values() do print(tag) end  --> new
---```
---@return fun(): any
function Set:values() end

---Returns a new array with the elements of `list`: a plain list, an array or a set.
---```lua
---local list = obs.array { 3, 4 }
---obs.observe(list, "@sum", function(list) print(obs.get(list, "@sum")) end)
---list:append(5)                            --> 12
---```
---@param list? any[]|obs.Array|obs.Set
---@return obs.Array
function obs.array(list) end

---Returns a new dictionary, for `d[k]`, `pairs`, and `count` in key paths. It has no methods, so
---any name can be a key.
---```lua
---local stock = obs.dictionary { tea = 4 }
---obs.observe(stock, "count", function(stock) print(obs.get(stock, "count")) end)
---stock.milk = 2                            --> 2
---```
---@param entries? table
---@return table
function obs.dictionary(entries) end

---Removes all elements, members or keys of a collection or plain table, except lazy keys.
---```lua
---local t = { a = 1, b = 2 }
---obs.clear(t)
---print(next(t))                            --> nil
---```
---@param collection obs.Observed
function obs.clear(collection) end

---Makes `collection` equal to `other`, and writes only differences. Elements and keys that are the
---same stay in place, and their watchers are not called. Lazy keys of both are left out.
---```lua
---local t = { a = 1, b = 2 }
---obs.observe(t, "a", function() print "a" end)
---obs.observe(t, "b", function() print "b" end)
---obs.assign(t, { a = 1, b = 3 })           --> b
---```
---@param collection obs.Observed
---@param other obs.Observed
function obs.assign(collection, other) end

---Returns a new set with the elements of `list`: a plain list, an array or a set.
---```lua
---local tags = obs.set_of { "new", "hot", "new" }
---print(tags.count)                         --> 2
---```
---@param list? any[]|obs.Array|obs.Set
---@return obs.Set
function obs.set_of(list) end

---Declares `target[name]` as a read-only property: a read-only copy of the collection
---`target[source]`, of the same kind. The copy is made when it is read, at most once per change of
---the collection. Watchers of `name` are called when the collection is changed or replaced.
---```lua
---local cart = { items = obs.array { "tea" } }
---obs.copy_of(cart, "contents", "items")
---local before = cart.contents
---cart.items:append("milk")
---print(before.count, cart.contents.count)  --> 1	2
---```
---@param target table
---@param name string
---@param source string
function obs.copy_of(target, name, source) end

---One step from the last delivered state of a collection to the present one. Edits are applied in
---order. `at` is a position, a key of a dictionary or plain table, or a member of a set.
---@class (exact) obs.Edit
---@field kind "insert"|"remove"|"replace"|"move"
---@field at any
---@field from? integer  where a move takes its element out, before it is inserted at `at`
---@field old? any       of remove and replace
---@field new? any       of insert, replace and move

---Calls the callback with the edits of a collection since the last delivery: the smallest list of
---edits, oldest first. The collection can be of any kind, also a plain table or a collection of the
---host program. With `initial`, the first call inserts all present elements. With `immediate`, each
---call has the edits of one operation.
---```lua
---local list = obs.array { "a" }
---obs.observe_edits(list, function(_, edits)
---  for _, edit in ipairs(edits) do print(edit.kind, edit.at, edit.new) end
---end)
---list:append("b")                          --> insert	2	b
---```
---@generic T: obs.Observed
---@param collection T
---@param callback fun(collection: T, edits: obs.Edit[], observer: any)
---@param options? obs.Options
---@return obs.Watcher
function obs.observe_edits(collection, callback, options) end

---Observes named keys only, and passes the old and the new value: one call for each key that
---changed since the last delivery, in the order of `keys`. With `initial`, each key that has a
---value is delivered first, with nil as its old value. The keys of a set are its members. Pass a
---key that looks like a path as `obs.path(key)`.
---```lua
---local t = { n = 0 }
---obs.observe_keys(t, "n", function(key, old, new) print(key, old, new) end)
---t.n = 1
---t.n = 2                                   --> n	0	2
---```
---@generic T: obs.Observed
---@param collection T
---@param keys any|any[]
---@param callback fun(key: any, old: any, new: any, collection: T, observer: any)
---@param options? obs.Options
---@return obs.Watcher
function obs.observe_keys(collection, keys, callback, options) end

----------------------------------------------------------------------------------------------------
-- Lazy and computed properties (Z1 …), of one table or of every instance of a model
----------------------------------------------------------------------------------------------------

---@class (exact) obs.LazyOptions
---@field get? fun(self: any, name: any): any  computes the value, which is cached until invalidated
---@field deps? obs.Dependency[]             the key paths whose changes invalidate the value
---@field cached? boolean                    false: only reports changes of its dependencies
---@field track? boolean                     finds the dependencies anew in each run of `get`
---@field loader? fun(self: any, name: any)    stores the value itself, by self[name] = value
---@field create? fun(argument: any): any    runs on first read, and again after nil was assigned
---@field configure? fun(self: any, value: any, argument: any)  runs once after `create`
---@field with? any                          the argument of `create` and `configure`
---@field readonly? boolean                  makes assigning an error instead of an override (Z5)

---A key path from the table itself, or another object with a key path from it.
---@alias obs.Dependency obs.PathLike|{[1]: obs.Observed, [2]: obs.PathLike}

---@alias obs.Dependencies obs.PathLike|obs.Dependency[]

---Computes the value of a lazy property.
---@alias obs.Getter fun(self: any, name: any): any

---A declaration of a lazy property in the body of a model.
---@class obs.Lazy

---Declares properties that are computed when they are read, and keep their value until invalidated.
---A name that begins with `__` cannot be lazy. If a getter raises, the property stays invalid. A
---getter cannot yield.
---
---    obs.lazy(t, "thumbnail", function(self) … end)           cached until obs.invalidate
---    obs.lazy(t, { "width", "height" }, { loader = load_size })  one loader for many properties
---    obs.lazy(t, "area")                    caches what t.area gives through its metatable
---
---In the body of a model, leave the target out: `obs.lazy(get_or_options)`.
---```lua
---local page = { text = "a b c" }
---obs.lazy(page, "words", function(self)
---  local _, blanks = self.text:gsub(" ", "")
---  return blanks + 1
---end)
---print(page.words)                         --> 3
---```
---@param target table
---@param names any|any[]
---@param get_or_options? obs.Getter|obs.LazyOptions
---@overload fun(get_or_options: obs.Getter|obs.LazyOptions): obs.Lazy
function obs.lazy(target, names, get_or_options) end

---Declares a property that is computed from others, and is invalid as soon as one of them changes.
---
---    obs.computed(t, "fullName", { "first", "last" }, function(self) … end)
---    obs.computed(t, "fullName", function(self) … end)        dependencies found by tracking
---
---In the body of a model, leave the target out: `obs.computed(deps, get)`, `obs.computed(get)`.
---```lua
---local person = { first = "Ada", last = "Byron" }
---obs.computed(person, "full", { "first", "last" }, function(self)
---  return self.first .. " " .. self.last
---end)
---obs.observe(person, "full", function(person) print(person.full) end)
---person.last = "Lovelace"                  --> Ada Lovelace
---```
---@param target table
---@param name any
---@param deps obs.Dependencies
---@param get obs.Getter
---@overload fun(target: table, name: any, get: obs.Getter)
---@overload fun(deps: obs.Dependencies, get: obs.Getter): obs.Lazy
---@overload fun(get: obs.Getter): obs.Lazy
function obs.computed(target, name, deps, get) end

---Makes lazy properties invalid: the next read computes them again. Watchers are called if the
---value differs. An unknown name is an error that suggests the nearest one.
---```lua
---local reads = 0
---local t = {}
---obs.lazy(t, "reads", function() reads = reads + 1; return reads end)
---print(t.reads, t.reads)                   --> 1	1
---obs.invalidate(t, "reads")
---print(t.reads)                            --> 2
---```
---@param target obs.Observed
---@param names? any|any[]   all lazy properties if absent
function obs.invalidate(target, names) end

---Returns whether a lazy property has a valid value.
---```lua
---local t = {}
---obs.lazy(t, "answer", function() return 42 end)
---print(obs.is_valid(t, "answer"))          --> false
---print(t.answer)                           --> 42
---print(obs.is_valid(t, "answer"))          --> true
---```
---@param target obs.Observed
---@param name any
---@return boolean
function obs.is_valid(target, name) end

---```lua
---local t = {}
---obs.lazy(t, { "a", "b" }, function(_, name) return name end)
---print(t.a)                                --> a
---print(table.unpack(obs.valid_names(t)))   --> a
---```
---@param target obs.Observed
---@return any[] names
function obs.valid_names(target) end

---```lua
---local t = {}
---obs.lazy(t, { "a", "b" }, function(_, name) return name end)
---print(t.a)                                --> a
---print(table.unpack(obs.invalid_names(t))) --> b
---```
---@param target obs.Observed
---@return any[] names
function obs.invalid_names(target) end

---Removes the declaration of lazy properties: their names become plain keys without a value.
---```lua
---local t = {}
---obs.lazy(t, "answer", function() return 42 end)
---obs.forget(t, "answer")
---print(t.answer)                           --> nil
---```
---@param target table
---@param names? any|any[]   all lazy properties if absent
function obs.forget(target, names) end

---Computes every invalid property, then raises the first error, if any.
---```lua
---local t = {}
---obs.lazy(t, "answer", function() return 42 end)
---obs.force(t)
---print(obs.peek(t, "answer"))              --> 42
---```
---@param target obs.Observed
function obs.force(target) end

---Returns the stored value. Computes nothing, and is not tracked as a dependency.
---```lua
---local t = {}
---obs.lazy(t, "answer", function() return 42 end)
---print(obs.peek(t, "answer"))              --> nil
---print(t.answer)                           --> 42
---print(obs.peek(t, "answer"))              --> 42
---```
---@param target obs.Observed
---@param name any
---@return any value
function obs.peek(target, name) end

---Declares `target[name]` as an entry of a store. It is loaded from `store[name]` on first read,
---and kept until `obs.invalidate`, or until the entry changes in a store that can be observed: a
---table, a collection or an object of the host program. Assigning writes to the store, and the next
---read loads the value that the store has then.
---
---    local settings = {}
---    obs.backed(settings, { "zoom", "theme" }, preferences)
---    settings.zoom = 2                                        preferences.zoom is 2
---```lua
---local preferences = { zoom = 1 }
---local settings = {}
---obs.backed(settings, { "zoom", "theme" }, preferences)
---settings.zoom = 2
---print(preferences.zoom)                   --> 2
---```
---@param target table
---@param names any|any[]
---@param store obs.Observed
function obs.backed(target, names, store) end

----------------------------------------------------------------------------------------------------
-- Models: tables whose names are declared (Z9, P9)
----------------------------------------------------------------------------------------------------

---The constructor of a model's instances: `User { name = "Ada" }`. It holds their methods, and more
---can be added: `function User:greet() … end`.
---@class obs.Model
---@field [string] any
---@overload fun(fields?: table): table

---Returns a model: a constructor of tables with defaults, methods, lazy and computed properties,
---and inheritance.
---
---    local User = obs.model("User", {
---      name = "", email = obs.none, tags = {},
---      full = obs.computed({ "name" }, function(self) … end),
---      greet = function(self) … end,
---    })
---    local user = User { name = "Ada" }
---    local Admin = obs.model("Admin", User, { level = 1 })
---
---An instance is a plain table whose metatable is the model. An undeclared name is an error that
---suggests the nearest one: in the fields for the constructor, in a path at registration, and in
---the dependencies of a computed property. An undeclared key that the instance has can be observed;
---a method cannot.
---
---Functions in the body are methods; more can be added to the model later, also to parents. Names
---that begin with `__` are metamethods, which a child copies when it is made. Defaults that are
---plain tables, or arrays, dictionaries and sets of this module, are copied deeply for each
---instance; instances share a default with another metatable. A child can replace any declaration
---with any other.
---
---In the body, leave the target out: `obs.lazy(get_or_options)`, `obs.computed(deps, get)`,
---`obs.computed(get)`. An instance gets these properties when they are first read or observed;
---until then the engine does not know it. Instances of a model without such properties are accessed
---as plain tables.
---```lua
---local User = obs.model("User", {
---  name = "", tags = {},
---  greet = function(self) return "hello " .. self.name end,
---})
---local user = User { name = "Ada" }
---print(user:greet())                       --> hello Ada
---```
---@param name string
---@param parent_or_body obs.Model|table
---@param body? table
---@return obs.Model model
function obs.model(name, parent_or_body, body) end

---@class obs.None

---In a model's body: declares a name that is nil at first.
---@type obs.None
obs.none = nil

----------------------------------------------------------------------------------------------------
-- Watching the watchers
----------------------------------------------------------------------------------------------------

---Returns the observed keys as text: "name", "*", "#3", "4", "count", "@sum.price".
---```lua
---local t = { a = 1, b = 2 }
---obs.observe(t, "a", function() end)
---print(table.unpack(obs.observed_keys(t))) --> a
---```
---@param observed obs.Observed
---@return string[]
function obs.observed_keys(observed) end

---Returns the number of watchers that observe a key.
---```lua
---local t = { a = 1 }
---obs.observe(t, "a", function() end)
---print(obs.observer_count(t, "a"))         --> 1
---```
---@param observed obs.Observed
---@param key any
---@return integer
function obs.observer_count(observed, key) end

---Calls the callback when the first watcher of a key arrives, and when the last one leaves. Each
---object has one such callback for each sandbox; nil removes it.
---```lua
---local sensor = { value = 0 }
---obs.on_observed(sensor, function(_, key, is_observed) print(key, is_observed) end)
---local watcher = obs.observe(sensor, "value", function() end)  --> value	true
---watcher:stop()                            --> value	false
---```
---@param observed obs.Observed
---@param callback? fun(observed: any, key: string, is_observed: boolean)
function obs.on_observed(observed, callback) end

---Describes an object: its watchers, with name and file:line of the registration, and its lazy
---properties, with validity, place of the declaration, dependencies and dependents. It computes
---none. In a sandbox, watchers of others appear as "another script". If an object has neither, but
---computed properties of other objects depend on it, the text is one sentence that names them.
---```lua
---local t = { n = 1 }
---obs.observe(t, "n", function() end, { name = "counter" })
---print(obs.describe(t):match "counter on 'n'")  --> counter on 'n'
---```
---@param observed obs.Observed
---@return string text
function obs.describe(observed) end

---Returns a graph of everything connected with an object: objects with their observed keys and lazy
---properties, watchers with the keys they watch, dependencies of computed properties, and objects
---stored in others. If `root` is an unobserved list of objects, the graph starts from its elements.
---No getter runs, nothing is kept alive, and the same program gives the same text. An object that
---was replaced in this turn keeps its place until the turn ends.
---
---"dot" is for Graphviz (`… | dot -Tsvg`). "json" is an object with the lists `objects` (id, type,
---place, keys: id, name, lazy, tracked, site), `watchers` (id, name, site, notes) and `edges` (kind
---"watches", "depends" or "holds", from, to, path; `whole` is false if the path leads no further).
---```lua
---local t = { n = 1 }
---obs.observe(t, "n", function() end)
---print(obs.graph(t):match "^digraph")      --> digraph
---```
---@param root obs.Observed|obs.Observed[]
---@param format? "dot"|"json"|"mermaid"  "dot" if absent
---@return string text
function obs.graph(root, format) end

---One write. `old` and `new` have numbers, booleans and nil as they are, the first 60 characters of
---a string, and the name of any other value ("table: 0x…"), so they keep no object alive.
---@class (exact) obs.Cause
---@field site? string
---@field object? string  the written object, named as by `describe`
---@field key? string
---@field old? any
---@field new? any
---@field turn? integer
---@field flush? integer  the flush of that turn, counted from 1; nil outside of flushes
---@field left? boolean  true if the object had left the path before the watcher was called
---@field through? string[]  the computed properties in between, nearest to the write first

---Returns the writes behind a watcher's last call, and a text that describes them with the turn and
---the flush of the call. A script can flush several times in a turn.
---```lua
---obs.record(true)
---local t = { n = 1 }
---local watcher = obs.observe(t, "n", function() end)
---t.n = 2
---obs.flush()
---local write = obs.why(watcher)[1]
---print(write.key, write.old, write.new)    --> n	1	2
---```
---@param watcher obs.Watcher
---@return obs.Cause[] writes
---@return string text
function obs.why(watcher) end

---@class (exact) obs.Silence
---@field reason "equal"|"unreachable"|"paused"|"stopped"|"pending"|"failed"|"called"|"unwritten"
---@field detail string

---Returns the reason why a watcher was not called, such as an equal value, written or computed
---again, a path that is unreachable at 'user', or stopped at file:line. "failed" means that the
---observed property could not be computed.
---```lua
---obs.record(true)
---local t = { n = 1 }
---local watcher = obs.observe(t, "n", function() end)
---t.n = 1
---obs.flush()
---print(obs.whynot(watcher).reason)         --> equal
---```
---@param watcher obs.Watcher
---@return obs.Silence
---@return string text
function obs.whynot(watcher) end

---Writes, invalidations and computations have a `key`, other events the `name` of a watcher.
---`tostring` turns an event into a sentence.
---@class (exact) obs.Event
---@field kind "write"|"call"|"observe"|"end"|"invalidate"|"compute"
---@field object? string  the written or observed object, named as by `describe`
---@field old? any        for writes and computations; nil if there was no value or it is unknown
---@field new? any
---@field site? string    of the write for an invalidation, of the getter for a computation
---@field turn integer
---@field flush? integer  the flush of the turn, counted from 1; nil outside of flushes
---@field key? string
---@field name? string
---@field path? string    for a registration
---@field equal? boolean  true if the value is the same as before
---@field failed? boolean  true if the getter raised an error

---Calls `sink` for each write of an observed key, each call, registration and end of a watcher, and
---each invalidation and computation of a lazy property; nil switches it off. Events arrive when the
---`obs` call, flush or turn is over; until then they keep old values alive. In a sandbox, only the
---sandbox's writes, watchers and lazy properties cause events.
---```lua
---local t = { n = 1 }
---obs.observe(t, "n", function() end, { name = "counter" })
---obs.log(function(event) print(event.kind, event.key or event.name) end)
---t.n = 2
---obs.flush()                               --> write	n --> call	counter
---```
---@param sink? fun(event: obs.Event)
function obs.log(sink) end

---Prints path, old value, new value and a traceback at each write on the path. In a terminal, also
---opens a prompt there, with the variables of the writing function: `help` names them, `cont` and
---the end of the input continue, and SIGINT ends the script.
---```lua
---local t = { n = 1 }
---obs.observe(t, "n", function() end)
---obs.break_on_change(t, "n")               -- The next write of `n` is printed with its traceback.
---```
---@param observed obs.Observed
---@param path obs.PathLike
function obs.break_on_change(observed, path) end

---Options of `obs.start_recording`.
---@class (exact) obs.RecordingOptions
---@field last? integer          keep the newest turns: at least this many, at most twice as many
---@field values? boolean|"all"  false: no values; "all": whole texts, not only 60 characters (true)
---@field hide? string[]         keys whose values are not recorded

---A recording that is being written to a file.
---@class (exact) obs.Recording
local Recording = {}

---Ends the recording.
---```lua
---local recording = assert(obs.start_recording(os.tmpname()))
---recording:stop()
---print(recording:is_active())               --> false
---```
function Recording:stop() end

---Whether turns are still recorded: not after `stop`, and not after the file could not be written.
---```lua
---local recording = assert(obs.start_recording(os.tmpname()))
---print(recording:is_active())               --> true
---recording:stop()
---```
---@return boolean
function Recording:is_active() end

---Records every turn, write, call and computation to a file, for `obs-lua --report` and `--trace`.
---Recording changes nothing but the time that the program takes. Returns nil and a message if the
---file cannot be opened, or exists and is no recording.
---```lua
---local options = { last = 1000, hide = { "password" } }
---local recording = assert(obs.start_recording(os.tmpname(), options))
---recording:stop()
---```
---@param path string
---@param options? obs.RecordingOptions
---@return obs.Recording? recording
---@return string? message
function obs.start_recording(path, options) end

---Options of `obs.inspect`.
---@class (exact) obs.InspectorOptions
---@field port? integer               0 for any free port (0)
---@field roots? table<string, table> objects that the page lists by name
---@field write? boolean              whether the page may assign to keys and run code (false)

---An inspector of the running program.
---@class (exact) obs.Inspector
---@field url string  the address of its page, which gives access to the program
local Inspector = {}

---Ends the inspector: requests of its page are no longer answered.
---```lua
---local inspector = assert(obs.inspect())
---inspector:stop()
---```
function Inspector:stop() end

---Shows the running program in a browser of this machine: turns, writes and calls as they happen,
---and objects with their watchers. Only requests that write are turns. Requests are
---answered while the loop waits. Returns nil and a message if the port is in use.
---```lua
---local settings = { volume = 3 }
---local inspector = assert(obs.inspect { roots = { settings = settings } })
---print(inspector.url:match "^http://127.0.0.1:")  --> http://127.0.0.1:
---inspector:stop()
---```
---@param options? obs.InspectorOptions
---@return obs.Inspector? inspector
---@return string? message
function obs.inspect(options) end

---Switches the record for `why` and `whynot` on or off; in a sandbox, for the sandbox's watchers.
---```lua
---obs.record(true)                          -- From now on `why` and `whynot` know the writes.
---```
---@param on boolean
function obs.record(on) end

---Limits of the scripts of a host. A limit that the host has set can only be lowered.
---@class (exact) obs.Limits
---@field retrigger_turns? integer  turns in a row that only trigger the same watchers again (1000)
---@field immediate_depth? integer  calls of an immediate watcher caused by its own callback (100)
---@field watchers? integer
---@field timers? integer
---@field tasks? integer
---@field path_components? integer
---@field chunk_size? integer       bytes of a chunk
---@field call_depth? integer

---Sets limits, and returns the limits in force.
---```lua
---print(obs.limits().immediate_depth)       --> 100
---print(obs.limits({ immediate_depth = 50 }).immediate_depth)  --> 50
---```
---@param settings? obs.Limits
---@return obs.Limits
function obs.limits(settings) end

---Leaves C modules alone (false), or shows them observed tables as scripts see them (true). A key
---is the name under which a module is required. Call it before the `require`.
---
---    obs.native { luv = false }
---
---By default a C module sees an observed table as scripts do. Its raw writes are delivered at the
---next write, call of `obs`, flush, or read of a value that is computed from them (M1). A module
---that is left alone sees unobserved keys only, and its raw writes hide observed keys until the
---next operation meets them (M2): pass it `obs.raw(t)`.
---```lua
---obs.native { luv = false }                -- The module `luv` sees unobserved keys only.
---```
---@param modules table<string, boolean>
function obs.native(modules) end

---@class (exact) obs.Stats
---@field turns integer
---@field calls integer
---@field watchers integer
---@field observed integer  observed objects
---@field pending integer   watchers that wait for the flush
---@field errors integer
---@field seconds number    spent in flushes

---Returns figures about the work of the loop so far.
---```lua
---local t = { n = 1 }
---obs.observe(t, "n", function() end)
---print(obs.stats().watchers)               --> 1
---```
---@return obs.Stats
function obs.stats() end

---@class (exact) obs.RawOptions
---@field computed? boolean  computes lazy properties, and includes them

---Returns a deep plain copy of the stored properties, with cycles, for code that needs plain
---tables. `{ computed = true }` computes lazy properties, and includes them.
---```lua
---local t = { list = obs.array { 1, 2 } }
---obs.computed(t, "size", function(self) return self.list.count end)
---local copy = obs.raw(t, { computed = true })
---print(getmetatable(copy.list), copy.size) --> nil	2
---```
---@param observed table
---@param options? obs.RawOptions
---@return table
function obs.raw(observed, options) end

----------------------------------------------------------------------------------------------------
-- Deep changes
----------------------------------------------------------------------------------------------------

---One change below an object, as plain data that passes through any JSON library.
---
---`ref` and `old_ref` are paths. A plain path is the path that the object had before the first
---change; `{ after = path }` is its path after the last one. In lists from `obs.changes` and
---`obs.diff`, `old_ref` of an object that stays in the tree is always `{ after = path }`.
---@class (exact) obs.DeepChange
---@field path any[]  the keys from the object to the changed key; for a member, the path of the set
---@field kind "set"|"insert"|"remove"|"move"
---@field old any  the value before; nil if the key was absent
---@field new any  the value after, as plain data; nil if the key is absent
---@field from? integer  the position from which a move takes its element
---@field ref? any[]|obs.PathAfter  in place of `new`: an object that another path also leads to
---@field old_ref? any[]|obs.PathAfter  in place of `old`: an object that another path also leads to
---@field model? string  the model of an object in `old` or `new`
---@field type? "array"|"dictionary"|"set"  the type of a collection in `old` or `new`
---@field site? string  the place of the last write, with `{ site = true }`

---The path of an object after the last one of a list of changes.
---@class (exact) obs.PathAfter
---@field after any[]

---@class (exact) obs.ChangeOptions
---@field observer? obs.Observed  as for `observe`
---@field once? boolean
---@field name? string
---@field on_end? fun(path: string)
---@field path? obs.PathLike  restricts the changes: "items.**"
---@field site? boolean  adds the place of the last write
---@field skip? any  leaves out changes whose last write is by this origin

---@class (exact) obs.Delivery
---@field turn integer  the number of the turn: `obs.stats().turns` at its end
---@field origins any[]  the origins that have applied changes since the last call, except `skip`

---Calls the callback at the end of each turn that changed something below the object, with the net
---changes since the last call, in an order in which they can be applied.
---```lua
---local order = { items = { { price = 4 } } }
---obs.changes(order, function(_, changes)
---  for _, change in ipairs(changes) do
---    print(change.kind, table.concat(change.path, "."), change.old, change.new)
---  end
---end)
---order.items[1].price = 5                  --> set	items.1.price	4	5
---```
---@param observed obs.Observed
---@param callback fun(observed: any, changes: obs.DeepChange[], observer: any, d: obs.Delivery)
---@param options? obs.ChangeOptions
---@return obs.Watcher
function obs.changes(observed, callback, options) end

---@class (exact) obs.ApplyOptions
---@field force? boolean  skips changes that do not fit
---@field origin? any  who made the changes, for watchers with this `skip`; any value except NaN

---Applies the changes as the writes of one turn. A change does not fit if the current value is not
---its `old`: an error names this change, and nothing is applied.
---```lua
---local a, b = { n = 1 }, { n = 1 }
---obs.changes(a, function(_, changes) obs.apply(b, changes) end)
---a.n = 2
---obs.flush()
---print(b.n)                                --> 2
---```
---@param target obs.Observed
---@param changes obs.DeepChange[]
---@param options? obs.ApplyOptions
---@return integer skipped  the number of changes that did not fit
function obs.apply(target, changes, options) end

---Returns the changes that undo `changes`.
---```lua
---local a, b = { n = 1 }, { n = 2 }
---local undo = obs.invert(obs.diff(a, b))
---obs.apply(b, undo)
---print(b.n)                                --> 1
---```
---@param changes obs.DeepChange[]
---@return obs.DeepChange[]
function obs.invert(changes) end

---Returns the changes that make a tree like `a` equal to `b`, in content and sharing.
---```lua
---for _, change in ipairs(obs.diff({ n = 1 }, { n = 2 })) do
---  print(change.path[1], change.old, change.new)  --> n	1	2
---end
---```
---@param a obs.Observed
---@param b obs.Observed
---@return obs.DeepChange[]
function obs.diff(a, b) end

---@class (exact) obs.MergeOptions
---@field key? string  the property by which elements of lists are matched
---@field add_only? boolean  whether everything stays that the data lacks

---Makes `target` equal to plain data with the fewest writes, and keeps existing objects. Elements
---of lists are matched by position, or by the property that `key` names. With `add_only`, keys,
---members and elements that the data lacks stay.
---```lua
---local users = { { id = 1, name = "Ada" } }
---local ada = users[1]
---obs.merge(users, { { id = 2, name = "Grace" }, { id = 1, name = "Ada" } }, { key = "id" })
---print(users[2] == ada, users[1].name)     --> true	Grace
---
---obs.merge(ada, { name = "Ada Lovelace" }, { add_only = true })
---print(ada.id, ada.name)                   --> 1	Ada Lovelace
---```
---@param target obs.Observed
---@param data table
---@param options? obs.MergeOptions
function obs.merge(target, data, options) end

---Undo and redo. Each turn that changed something is a step, however often it flushes; in a
---sandbox, each turn in which the sandbox wrote something. If others have written to a key of a
---step since, their value stays, which is reported. Inside a transaction, only `stop` may be
---called.
---@class obs.History
---@field can_undo boolean  observable, as is can_redo
---@field can_redo boolean
local History = {}
---Undoes the last step, or all steps back to a mark. Returns false if no step is left.
---```lua
---local t = { n = 1 }
---local history = obs.history(t)
---t.n = 2
---obs.flush()
---print(history:undo(), t.n)                --> true	1
---```
---@param mark? string
---@return boolean
function History:undo(mark) end

---```lua
---local t = { n = 1 }
---local history = obs.history(t)
---t.n = 2
---obs.flush()
---history:undo()
---print(history:redo(), t.n)                --> true	2
---```
---@return boolean
function History:redo() end

---Names the last step, for `undo`.
---```lua
---local t = { n = 1 }
---local history = obs.history(t)
---for n = 2, 4 do
---  t.n = n
---  history:mark("state " .. n)
---end
---history:undo("state 2")
---print(t.n)                                --> 2
---```
---@param name string
function History:mark(name) end

---Makes all changes until `commit` one step, within a turn or over several turns. A name marks this
---step.
---```lua
---local t = { n = 1 }
---local history = obs.history(t)
---for n = 2, 4 do
---  history:begin()
---  t.n = n
---  history:commit()
---end
---history:undo()
---print(t.n)                                --> 3
---```
---@param name? string
function History:begin(name) end

---```lua
---local t = { n = 1 }
---local history = obs.history(t)
---history:begin("edit")
---t.n = 2
---obs.flush()
---history:commit()
---print(history.can_undo)                   --> true
---```
function History:commit() end

---```lua
---local t = { n = 1 }
---local history = obs.history(t)
---t.n = 2
---obs.flush()
---history:clear()
---print(history.can_undo)                   --> false
---```
function History:clear() end

---```lua
---local t = { n = 1 }
---local history = obs.history(t)
---history:stop()
---t.n = 2                                   -- not recorded
---```
function History:stop() end

---@class (exact) obs.HistoryOptions
---@field limit? integer  the number of steps to keep
---@field group? number   turns within this number of seconds are one step

---Records the changes of each turn below an object, for undo and redo.
---```lua
---local t = { n = 1 }
---local history = obs.history(t, { limit = 100 })
---t.n = 2
---history:undo()
---print(t.n, history.can_redo)              --> 1	true
---```
---@param target obs.Observed
---@param options? obs.HistoryOptions
---@return obs.History
function obs.history(target, options) end

---An own change that did not fit what other processes have made of the tree, and was dropped (A4).
---@class (exact) obs.RejectedChange
---@field path any[]  the keys from the root to the changed key
---@field kind "set"|"insert"|"remove"|"move"
---@field old? any  the value before
---@field new? any  the value that the change stores

---Options of `obs.mirror`.
---@class (exact) obs.MirrorOptions
---@field url? string        the address of the server ("redis://127.0.0.1:6379/0")
---@field write? boolean     whether this process may write (true)
---@field on_rejected? fun(change: obs.RejectedChange, now: any)  called for each dropped own change
---@field check? boolean     whether a batch is refused if batches of others have come first (false)
---@field key? string        the field by which elements of lists are matched when joining
---@field journal? string    the path of a file that keeps batches that are not acknowledged
---@field limit? integer     the most bytes of a received snapshot or batch (67108864)
---@field snapshot? integer  the number of batches after which there is a new snapshot (1000)
---@field keep? integer      the number of batches that stay behind the snapshot (10000)

---A tree that other processes share. All fields can be observed.
---@class obs.Mirror
---@field state "connecting"|"live"|"behind"|"offline"|"failed"|"stopped"
---@field pending integer   own batches that the server has not acknowledged
---@field version integer   batches, of all processes, that this process has received
---@field peers integer     other processes that were connected in the last ten seconds
---@field failure? string   the reason for the state "failed"
local Mirror = {}

---Inside a task: waits until the server has acknowledged everything that was written. Returns false
---on timeout, and nil and a message if the mirror has failed or was stopped.
---```lua
---local m = obs.mirror({ n = 1 }, "numbers", { url = "redis://127.0.0.1:1" })
---obs.task(function()
---  print(m:synced(0.01))                   --> false
---  m:stop()
---end)
---```
---@param timeout? number  seconds
---@return boolean? synced
---@return string? message
function Mirror:synced(timeout) end

---Adds a number to the one under a key of a table of the tree. Each process adds it to what it has
---by then, so the additions of all processes count (A4). If the same turn also assigns to the key,
---its value is sent instead.
---```lua
---local function note_visit(mirror, statistics)
---  mirror:add(statistics, "visits", 1)     -- If two processes do this, the number is 2 larger.
---end
---```
---@param object table
---@param key any
---@param n number
function Mirror:add(object, key, n) end

---Ends the mirror. The tree stays as it is. It does not wait: call `synced` first. A warning is
---printed if the server has not acknowledged all batches.
---```lua
---local m = obs.mirror({ n = 1 }, "numbers", { url = "redis://127.0.0.1:1" })
---m:stop()
---print(m.state)                            --> stopped
---```
function Mirror:stop() end

---Keeps a tree equal in all processes that mirror the same name, through Redis (6.2 or later) or
---Valkey (A1). The first process publishes its tree, later ones take it. Needs the library hiredis.
---The mirror connects by itself, and keeps the program running until `stop`.
---```lua
---local settings = { volume = 3 }
---local m = obs.mirror(settings, "settings", { url = "redis://127.0.0.1:1" })
---print(m.state)                            --> connecting
---m:stop()
---```
---@param root table
---@param name string  1 to 200 letters, digits, and any of _ . : / -
---@param options? obs.MirrorOptions
---@return obs.Mirror
function obs.mirror(root, name, options) end

---Makes a table a leaf for `**` in key paths, from the next flush on, and returns it. It is an
---error if another sandbox observes the table.
---```lua
---local t = { cache = obs.opaque {} }
---obs.observe(t, "**", function() print "changed" end)
---t.cache.key = 1                           -- no call
---```
---@generic T: table
---@param object T
---@return T
function obs.opaque(object) end

---Calls `f`. If `f` raises, is stopped, or calls `obs.abort`, all writes below the roots since the
---call are rolled back, and coalesced watchers are not called for them. In a sandbox, only the
---sandbox's writes are rolled back.
---```lua
---local account = { balance = 10 }
---local ok = obs.transaction({ account }, function()
---  account.balance = -5
---  if account.balance < 0 then obs.abort("not enough") end
---end)
---print(ok, account.balance)                --> false	10
---```
---@param roots obs.Observed[]
---@param f fun(): ...: any
---@return boolean ok
---@return any ...  the results of `f`, or the error
function obs.transaction(roots, f) end

---Ends the innermost transaction by raising an error. Catching the error does not save the
---transaction.
---```lua
---local t = { n = 1 }
---print(obs.transaction({ t }, function()
---  t.n = 2
---  obs.abort("no")
---end))                                     --> false	no
---```
---@param reason any
function obs.abort(reason) end

----------------------------------------------------------------------------------------------------
-- The loop
----------------------------------------------------------------------------------------------------

---@class obs.Timer: userdata
---@field active boolean  false after its last call, or after `stop`
local Timer = {}
---Ends the timer: there are no further calls.
---```lua
---local timer = obs.after(1, function() print "never" end)
---timer:stop()
---print(timer.active)                       --> false
---```
function Timer:stop() end

---Keeps the loop running while the timer is active, as by default.
---```lua
---local timer = obs.after(0.01, function() print "late" end):unref()
---timer:ref()                               --> late
---```
---@return obs.Timer self
function Timer:ref() end

---Lets the loop end although the timer is active.
---```lua
---obs.every(60, function() print "tick" end):unref()  -- The program ends at once.
---```
---@return obs.Timer self
function Timer:unref() end

---Calls the callback once, after a number of seconds.
---```lua
---obs.after(0.01, function() print "later" end)
---print "now"                               --> now --> later
---```
---@param seconds number
---@param callback fun()
---@return obs.Timer
function obs.after(seconds, callback) end

---Calls the callback repeatedly, each time after a number of seconds.
---```lua
---local count = 0
---local timer
---timer = obs.every(0.01, function()
---  count = count + 1
---  if count == 3 then timer:stop() end
---end)
---```
---@param seconds number  more than 0
---@param callback fun()
---@return obs.Timer
function obs.every(seconds, callback) end

---Calls the callback once, in the turn after this one.
---```lua
---local t = { n = 0 }
---obs.observe(t, "n", function(t) print("turn", t.n) end)
---t.n = 1                                   --> turn	1
---obs.next_turn(function() t.n = 2 end)     --> turn	2
---```
---@param callback fun()
---@return obs.Timer
function obs.next_turn(callback) end

---Returns the time of the loop's clock, which is monotonic, or virtual under `--virtual-time`.
---```lua
---local start = obs.now()
---obs.after(0.01, function() print(obs.now() - start >= 0.01) end)  --> true
---```
---@return number seconds
function obs.now() end

---A registered callback for a file or descriptor that becomes ready.
---@class obs.Handler: userdata
---@field active boolean  false after `stop`, or once the file was found closed
local Handler = {}
---Ends the handler: there are no further calls. The file stays open.
---```lua
---local file = assert(io.open("/dev/null"))
---local handler = obs.on_readable(file, function() end)
---handler:stop()
---print(handler.active)                     --> false
---```
function Handler:stop() end

---Keeps the loop running while the handler is active, as by default.
---```lua
---local file = assert(io.open("/dev/null"))
---local handler = obs.on_readable(file, function() end):unref()
---handler:ref():stop()
---```
---@return obs.Handler self
function Handler:ref() end

---Lets the loop end although the handler is active.
---```lua
---obs.on_readable(io.stdin, function() end):unref()  -- The program ends without input, too.
---```
---@return obs.Handler self
function Handler:unref() end

---Calls the callback in a separate turn when the file can be read or is at its end, and again until
---everything is read. Input in the file's buffer counts.
---```lua
---local file = assert(io.popen("echo hello"))
---local handler
---handler = obs.on_readable(file, function()
---  print(file:read())                      --> hello
---  handler:stop()
---end)
---```
---@param file file*|integer  a file or the number of a descriptor
---@param callback fun(file: file*|integer)
---@return obs.Handler
function obs.on_readable(file, callback) end

---Calls the callback in a separate turn whenever the file can be written to without waiting.
---```lua
---local file = assert(io.popen("cat >/dev/null", "w"))
---local handler
---handler = obs.on_writable(file, function()
---  file:write("hello\n")
---  handler:stop()
---end)
---```
---@param file file*|integer
---@param callback fun(file: file*|integer)
---@return obs.Handler
function obs.on_writable(file, callback) end

---@class obs.Task
---@field done boolean
local Task = {}
---Inside another task: waits for the end of this task, and returns the results of its body or
---raises its error. Returns false on timeout.
---```lua
---obs.task(function()
---  local child = obs.task(function() obs.sleep(0.01); return 42 end)
---  print(child:await())                    --> 42
---end)
---```
---@param timeout? number  seconds
---@return any ...
function Task:await(timeout) end

---Ends the task where it waits, and closes its `<close>` variables.
---```lua
---local task = obs.task(function() obs.sleep(60) end)
---task:cancel()
---print(task.done)                          --> true
---```
function Task:cancel() end

---The same as `cancel`.
---```lua
---local scope = obs.scope(function()
---  obs.task(function() obs.sleep(60) end)
---end)
---scope:stop()                              -- Stops the task, and the program ends.
---```
function Task:stop() end

---Starts a coroutine that may use the waiting functions. Its errors are reported like a watcher's.
---```lua
---obs.task(function(name)
---  obs.sleep(0.01)
---  print("hello " .. name)                 --> hello Ada
---end, "Ada")
---```
---@param body fun(...: any): ...: any
---@param ... any  the arguments of `body`
---@return obs.Task
function obs.task(body, ...) end

---Inside a task: waits for a number of seconds. Elsewhere this is an error.
---```lua
---obs.task(function()
---  for i = 1, 2 do
---    obs.sleep(0.01)
---    print(i)                              --> 1 --> 2
---  end
---end)
---```
---@param seconds number
function obs.sleep(seconds) end

---Inside a task: waits for the next delivery. Returns false on timeout; nil and "stopped" if other
---code has stopped the watchers of the object, as `obs.stop` does.
---```lua
---local t = { n = 0 }
---obs.task(function()
---  obs.next_change(t, "n")
---  print(t.n)                              --> 1
---  print(obs.next_change(t, "n", 0.01))    --> false
---end)
---t.n = 1
---```
---@param observed obs.Observed
---@param path obs.PathLike|obs.PathLike[]
---@param timeout? number  seconds
---@return boolean? in_time
---@return "stopped"? reason
function obs.next_change(observed, path, timeout) end

---Inside a task: calls `start` with a function `done`, and waits until `done` is called. So a task
---can wait for any function that takes a callback. Later calls of `done` do nothing; `start` itself
---must not wait.
---```lua
---obs.task(function()
---  local text = obs.await(function(done)
---    obs.after(0.01, function() done("ready") end)
---  end)
---  print(text)                             --> ready
---end)
---```
---@param start fun(done: fun(...: any))
---@param timeout? number  seconds
---@return any ...  the arguments of `done`; false on timeout
function obs.await(start, timeout) end

---@alias obs.LoopKind "timer"|"handler"|"luv"|"task"|"exit"|"loop"

---@alias obs.ErrorKind "watcher"|"immediate"|"getter"|"hook"|obs.LoopKind

---The place of an uncaught error.
---@class (exact) obs.ErrorPlace
---@field kind obs.ErrorKind
---@field name? string
---@field site? string
---@field turn integer
---@field traceback? string
---@field cause? string  the place of the write, if known

---Replaces the report on stderr, and lets the script go on after errors (T14); nil restores the
---report. Interruptions (I2) are not errors.
---```lua
---obs.on_error(function(message, where) print(where.kind, message) end)
---local t = { n = 0 }
---obs.observe(t, "n", function() error("no display", 0) end)
---t.n = 1                                   --> watcher	no display
---```
---@param callback? fun(error: any, where: obs.ErrorPlace)
function obs.on_error(callback) end

---Calls the callback when the program ends: by itself, by an error, `os.exit`, a signal or the time
---limit. After the time limit, the callback has a tenth of that time (I2, I7). A second signal
---skips it.
---```lua
---obs.on_exit(function() print "bye" end)
---print "hello"                             --> hello --> bye
---```
---@param callback fun()
function obs.on_exit(callback) end

return obs
