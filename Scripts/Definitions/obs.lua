---@meta obs
-- The script API of obs-lua for editors (LuaCATS): completion, types and help while you write.
-- Add this folder to the language server's workspace library. Never loaded by a program: a script
-- gets the module with `local obs = require "obs"`. The rules (P4, T1 …) are in
-- Documentation/Semantics.md. What has no `@return` returns nothing.

---@class obs
local obs = {}

---What is observed: any table, a collection, or an object of the host program.
---@alias obs.Observed table|userdata

----------------------------------------------------------------------------------------------------
-- Observing
----------------------------------------------------------------------------------------------------

---A key path: text ("address.zip"), or a path made by `obs.path` for keys that text cannot spell.
---@alias obs.PathLike string|obs.Path

---A key path that `obs.path` made. `tostring` spells it.
---@class obs.Path: userdata

---@class (exact) obs.Options
---@field observer? obs.Observed  held weakly; the second argument; when it dies the watcher ends
---@field immediate? boolean    call inside the write, with (observed, observer, change)
---@field initial? boolean      also deliver once in the turn of registration
---@field once? boolean         stop after the first delivery
---@field equals? fun(old: any, new: any): boolean  replaces the comparison of T5 for this watcher
---@field name? string          shown by describe, why and error reports
---@field on_end? fun(path: string)  called when the observed object died (not when stopped)

---What an immediate watcher is told. Coalesced watchers are not told: they read the latest state.
---@class (exact) obs.Change
---@field path string
---@field key any
---@field old any
---@field new any

---@class obs.Watcher: userdata
---@field name string
---@field active boolean  false once it has ended
local Watcher = {}
---Stopped means stopped: no call is ever made after this returns.
---```lua
---local door = { open = false }
---local watcher = obs.observe(door, "open", function(door) print(door.open) end)
---door.open = true
---obs.flush()                               --> true
---watcher:stop()
---door.open = false                         -- no call
---```
function Watcher:stop() end

---Changes while paused are remembered as one.
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

---Delivers what changed while paused, in this turn's flush.
---```lua
---local t = { n = 0 }
---local watcher = obs.observe(t, "n", function(t) print(t.n) end)
---watcher:pause()
---t.n = 1
---watcher:resume()
---obs.flush()                               --> 1
---```
function Watcher:resume() end

---Adds a path with the same root; same watcher, so still one call per turn.
---```lua
---local size = { width = 1, height = 1 }
---local watcher = obs.observe(size, "width", function() print "resized" end)
---watcher:observe("height")
---size.width, size.height = 2, 2            --> resized
---```
---@param path obs.PathLike
---@return obs.Watcher self
function Watcher:observe(path) end

---Calls the callback now, if observed and observer are alive.
---```lua
---local t = { n = 1 }
---local watcher = obs.observe(t, "n", function(t) print(t.n) end)
---watcher:run()                             --> 1
---```
function Watcher:run() end

---Calls it in this turn's flush as if something had changed.
---```lua
---local t = { n = 1 }
---local watcher = obs.observe(t, "n", function(t) print(t.n) end)
---watcher:schedule()
---obs.flush()                               --> 1
---```
function Watcher:schedule() end

---Returns the state that the next call continues, as plain data with its sharing: that of the last
---call, with what the origin of `skip` has applied since. Members of sets, and what is under keys
---that are objects, are not copied. An error for a watcher that has ended, or that is not of
---`obs.changes`.
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

---`obs.break_on_change` for all its paths.
---```lua
---local t = { n = 1 }
---local watcher = obs.observe(t, "n", function() end)
---watcher:break_on_change()                 -- The next write of `n` is printed with its traceback.
---```
function Watcher:break_on_change() end

---Prints the watcher and the place of the write before each call of it; in a terminal, opens a
---prompt there.
---```lua
---local t = { n = 1 }
---local watcher = obs.observe(t, "n", function() end)
---watcher:break_on_call()                   -- Each call is printed with the place of the write.
---```
function Watcher:break_on_call() end

---Registers a callback for one key path, or for a list of key paths (one watcher, one call per turn
---for all of them).
---Any table can be observed, in place: it stays the same table. So can collections and objects of
---the host program.
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

---Ends watchers rooted at `observed`; in a sandbox, only the sandbox's own ones. With no filter:
---all. Harmless when nothing matches, and when called twice.
---```lua
---local t = { a = 1, b = 1 }
---obs.observe(t, { "a", "b" }, function() print "called" end)
---print(obs.stop(t, "a"))                   --> 1
---print(obs.stop(t))                        --> 1
---```
---@param observed obs.Observed
---@param filter? obs.PathLike|obs.PathLike[]|obs.StopFilter
---@return integer stopped  # (watcher, path) pairs
function obs.stop(observed, filter) end

---An exact path: every argument is one component, whatever its type or spelling.
---```lua
---local hosts = { ["example.org"] = "up" }
---obs.observe(hosts, obs.path("example.org"), function(hosts) print(hosts["example.org"]) end)
---hosts["example.org"] = "down"             --> down
---```
---@param ... any
---@return obs.Path
function obs.path(...) end

---Reads through a key path. nil when unreachable. Collection operators are evaluated, or read where
---they are observed: obs.get(order, "items.@sum.price"). A union is a new plain list. A path that
---stands for many values is an error.
---```lua
---local order = { customer = { city = "York" } }
---print(obs.get(order, "customer.city"))    --> York
---print(obs.get(order, "customer.name"))    --> nil
---```
---@param observed obs.Observed
---@param path obs.PathLike
---@return any value
function obs.get(observed, path) end

---Writes the last component; an error naming the first nil component when the rest is unreachable.
---```lua
---local order = { customer = { city = "York" } }
---obs.set(order, "customer.city", "Leeds")
---print(order.customer.city)                --> Leeds
---```
---@param observed obs.Observed
---@param path obs.PathLike
---@param value any
function obs.set(observed, path, value) end

---Says that `key` was written behind our back (by a C module that is left alone, or inside a
---mutable value): a change in any case; with `previous`, like one assignment from that to the
---current value.
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

---Runs `body`; immediate watchers triggered inside run once each, after it. If it raises, what was
---written stays, the watchers run, and the error goes on.
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
---@return any ...  what `body` returns
function obs.batch(body, ...) end

---Delivers now what is pending. Inside a watcher it is an error.
---```lua
---local t = { n = 0 }
---obs.observe(t, "n", function(t) print(t.n) end)
---t.n = 1
---print(obs.flush())                        --> 1 --> 1
---```
---@return integer calls
function obs.flush() end

---Keeps the named keys of `destination` equal to those of `source`: copied now, then once per turn.
---Both may be of any kind.
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
---@param keys string|any[]
---@return obs.Watcher
function obs.bind(destination, source, keys) end

---What ends together.
---@class obs.Scope
local Scope = {}
---Ends all that was registered, the last first.
---```lua
---local t = { n = 0 }
---local scope = obs.scope(function()
---  obs.observe(t, "n", function() print "never" end)
---end)
---scope:stop()
---t.n = 1                                   -- no call
---```
function Scope:stop() end

---Takes something in that has `stop` or `cancel`, or a function, which is called at the end.
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

---Everything registered inside `body` ends together.
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
-- Collections (C1 …): tables that know that they are collections, and what watches them
----------------------------------------------------------------------------------------------------

---@class obs.Array: any[]      # [i], ipairs, table.* and assignment work too
---@field count integer
local Array = {}
---Puts values at the end; nil is none.
---```lua
---local list = obs.array { 1 }
---list:append(2, 3)
---print(list.count)                         --> 3
---```
---@param ... any
function Array:append(...) end

---At 1 to count + 1.
---```lua
---local list = obs.array { "a", "c" }
---list:insert(2, "b")
---print(table.concat(list, " "))            --> a b c
---```
---@param position integer
---@param value any
function Array:insert(position, value) end

---Returns the removed value; default: the last.
---```lua
---local list = obs.array { "a", "b", "c" }
---print(list:remove(1), list:remove())      --> a	c
---```
---@param position? integer
---@return any removed
function Array:remove(position) end

---First one equal; returns whether there was one.
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

---Takes the element out at `from`, then puts it in at `to`.
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

---An error in `less`, or one that contradicts itself, loses no element.
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

---Becomes equal to `list` by the smallest edit.
---```lua
---local list = obs.array { 1, 2, 3 }
---list:set { 1, 3 }                         -- One edit: the second element is removed.
---print(table.concat(list, " "))            --> 1 3
---```
---@param list any[]|obs.Array|obs.Set
function Array:set(list) end

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
---True if it was not there.
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

---These three change the set; `other` is a set, an array or a plain list.
---```lua
---local tags = obs.set_of { "a", "b" }
---tags:union { "b", "c" }
---print(tags.count)                         --> 3
---```
---@param other any[]|obs.Array|obs.Set
function Set:union(other) end

---```lua
---local tags = obs.set_of { "a", "b" }
---tags:intersect { "b", "c" }
---print(tags.count, tags:contains("b"))     --> 1	true
---```
---@param other any[]|obs.Array|obs.Set
function Set:intersect(other) end

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

---"&..." for use in a key path; the value need not be in the set.
---```lua
---local ada = { name = "Ada" }
---local users = obs.set_of { ada }
---obs.observe(users, users:key_of(ada) .. ".name", function() print(ada.name) end)
---ada.name = "Grace"                        --> Grace
---```
---@param value any
---@return string key
function Set:key_of(value) end

---The member of a key that `key_of` gave; nil if it is not in the set.
---```lua
---local users = obs.set_of { "Ada" }
---local key = users:key_of("Ada")
---print(users:object_for(key))              --> Ada
---```
---@param key string
---@return any member
function Set:object_for(key) end

---Iterator; pairs(set) works too.
---```lua
---local tags = obs.set_of { "new" }
---for tag in tags:values() do print(tag) end  --> new
---```
---@return fun(): any
function Set:values() end

---A new array of the elements of `list` (a list, an array or a set).
---```lua
---local list = obs.array { 3, 4 }
---obs.observe(list, "@sum", function(list) print(obs.get(list, "@sum")) end)
---list:append(5)                            --> 12
---```
---@param list? any[]|obs.Array|obs.Set
---@return obs.Array
function obs.array(list) end

---A dictionary: d[k], pairs, and `count` in key paths; no methods, so that any key is a key
---```lua
---local stock = obs.dictionary { tea = 4 }
---obs.observe(stock, "count", function(stock) print(obs.get(stock, "count")) end)
---stock.milk = 2                            --> 2
---```
---@param entries? table
---@return table
function obs.dictionary(entries) end

---Removes all elements, members or keys, of any collection or plain table.
---```lua
---local t = { a = 1, b = 2 }
---obs.clear(t)
---print(next(t))                            --> nil
---```
---@param collection obs.Observed
function obs.clear(collection) end

---Makes it equal to `other`, touching only what differs: elements and keys that are the same stay
---where they are, and their watchers are not called. Lazy keys of either are left out.
---```lua
---local t = { a = 1, b = 2 }
---obs.observe(t, "a", function() print "a" end)
---obs.observe(t, "b", function() print "b" end)
---obs.assign(t, { a = 1, b = 3 })           --> b
---```
---@param collection obs.Observed
---@param other obs.Observed
function obs.assign(collection, other) end

---A new set of the elements of `list` (a list, an array or a set).
---```lua
---local tags = obs.set_of { "new", "hot", "new" }
---print(tags.count)                         --> 2
---```
---@param list? any[]|obs.Array|obs.Set
---@return obs.Set
function obs.set_of(list) end

---`target[name]` is a read-only property with a copy of the collection target[source]: of the same
---kind, taken when it is read, at most once per change of the collection. Watchers of `name` are
---called when the collection changed or was replaced. The copy is read-only, too.
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

---One step from the last state told to the present one; they are applied in order. `at` is a
---position, the key of a dictionary or map, or the member of a set.
---@class (exact) obs.Edit
---@field kind "insert"|"remove"|"replace"|"move"
---@field at any
---@field from? integer  where a move takes its element out, before it puts it in at `at`
---@field old? any       of remove and replace
---@field new? any       of insert, replace and move

---Tells what happened to a collection since the last delivery, as the smallest list of edits,
---oldest first. The collection is of any kind, also a plain table, or of the host program.
---With `initial` the first call inserts all that is there; with `immediate` each call tells one
---operation.
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

---Watches named keys only, all of them with old and new value. One call for each key that changed
---since the last delivery, in the order of `keys`. With `initial` each key that has a value is
---told, with nil as its old one. The keys of a set are its members. A key that looks like a path is
---given as `obs.path(key)`.
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
-- Lazy, computed and hybrid properties, of one table (Z1 …) or of every instance of a model
----------------------------------------------------------------------------------------------------

---@class (exact) obs.LazyOptions
---@field get? fun(self: any, name: any): any  the value; cached until invalidated
---@field deps? obs.Dependencies             what invalidates it
---@field cached? boolean                    false: only announces its dependencies' changes
---@field track? boolean                     find the dependencies by what `get` reads, each time
---@field loader? fun(self: any, name: any)    stores the value itself, through self[name] = value
---@field create? fun(argument: any): any    create on first read, once; assigning nil arms it again
---@field configure? fun(self: any, value: any, argument: any)  runs once, after create
---@field with? any                          the argument of create and configure
---@field readonly? boolean                  otherwise assigning overrides until invalidated

---A key path from the table itself, or one from another object.
---@alias obs.Dependency obs.PathLike|{[1]: obs.Observed, [2]: obs.PathLike}

---@alias obs.Dependencies obs.PathLike|obs.Dependency[]

---Computes the value of a lazy property.
---@alias obs.Getter fun(self: any, name: any): any

---What declares a lazy property in the body of a model.
---@class obs.Lazy

---Declares properties that are computed when they are read, and kept until they are invalid. A name
---that begins with `__` cannot be lazy. A getter that raises leaves the property invalid; it cannot
---yield.
---
---    obs.lazy(t, "thumbnail", function(self) … end)           cached until obs.invalidate
---    obs.lazy(t, { "width", "height" }, { loader = load_size })  one loader for many properties
---    obs.lazy(t, "area")                    caches what t.area gives through its metatable
---
---In the body of a model the target is left out: obs.lazy(get_or_options).
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

---The same for one that is computed from others, and invalid as soon as one of those changes.
---
---    obs.computed(t, "fullName", { "first", "last" }, function(self) … end)
---    obs.computed(t, "fullName", function(self) … end)        dependencies found by tracking
---
---In the body of a model the target is left out: obs.computed(deps, get), obs.computed(get).
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

---The next read computes anew; watchers are called if that gives another value. An unknown name is
---an error with the nearest one.
---```lua
---local reads = 0
---local t = {}
---obs.lazy(t, "reads", function() reads = reads + 1; return reads end)
---print(t.reads, t.reads)                   --> 1	1
---obs.invalidate(t, "reads")
---print(t.reads)                            --> 2
---```
---@param target obs.Observed
---@param names? any|any[]   all lazy properties when absent
function obs.invalidate(target, names) end

---Whether a lazy property has a value that holds.
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

---Takes the declaration back; the name becomes a plain key without a value.
---```lua
---local t = {}
---obs.lazy(t, "answer", function() return 42 end)
---obs.forget(t, "answer")
---print(t.answer)                           --> nil
---```
---@param target table
---@param names? any|any[]   all lazy properties when absent
function obs.forget(target, names) end

---Computes every invalid one, then raises the first error.
---```lua
---local t = {}
---obs.lazy(t, "answer", function() return 42 end)
---obs.force(t)
---print(obs.peek(t, "answer"))              --> 42
---```
---@param target obs.Observed
function obs.force(target) end

---The stored value, computing and tracking nothing.
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

---An addition of this project: `target[name]` is an entry of a store. It is loaded from
---`store[name]` when it is read for the first time, and kept until obs.invalidate, or until the
---store changes, where that is a table, a collection or an object of the host program. Assigning
---writes to the store, and what that made of the value is what counts.
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

---The constructor of tables that a model describes: `User { name = "Ada" }`. It has the methods,
---and takes more: `function User:greet() … end`.
---@class obs.Model
---@field [string] any
---@overload fun(fields?: table): table

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

---In a model's body: this name exists and is nil to begin with.
---@type obs.None
obs.none = nil

----------------------------------------------------------------------------------------------------
-- Watching the watchers
----------------------------------------------------------------------------------------------------

---List of strings: "name", "*", "#3", "4", "count", "@sum.price".
---```lua
---local t = { a = 1, b = 2 }
---obs.observe(t, "a", function() end)
---print(table.unpack(obs.observed_keys(t))) --> a
---```
---@param observed obs.Observed
---@return string[]
function obs.observed_keys(observed) end

---How many watchers observe a key.
---```lua
---local t = { a = 1 }
---obs.observe(t, "a", function() end)
---print(obs.observer_count(t, "a"))         --> 1
---```
---@param observed obs.Observed
---@param key any
---@return integer
function obs.observer_count(observed, key) end

---Calls the function when the first watcher of a key comes, and when the last one goes. One for
---each object and sandbox; nil takes it away.
---```lua
---local sensor = { value = 0 }
---obs.on_observed(sensor, function(_, key, is_observed) print(key, is_observed) end)
---local watcher = obs.observe(sensor, "value", function() end)  --> value	true
---watcher:stop()                            --> value	false
---```
---@param observed obs.Observed
---@param callback? fun(observed: any, key: string, is_observed: boolean)
function obs.on_observed(observed, callback) end

---Who observes what, with name and file:line of the registration; which properties are lazy,
---whether they are valid, where they are declared, what they depend on and what depends on them.
---Nothing is computed for the lazy ones. In a sandbox, watchers of others are "another script".
---For an object without watchers on which computed properties of others depend, it is one sentence.
---```lua
---local t = { n = 1 }
---obs.observe(t, "n", function() end, { name = "counter" })
---print(obs.describe(t):match "counter on 'n'")  --> counter on 'n'
---```
---@param observed obs.Observed
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
---```lua
---local t = { n = 1 }
---obs.observe(t, "n", function() end)
---print(obs.graph(t):match "^digraph")      --> digraph
---```
---@param root obs.Observed|obs.Observed[]
---@param format? "dot"|"json"|"mermaid"  "dot" when absent
---@return string text
function obs.graph(root, format) end

---One write. Old and new value are those of numbers, booleans and nil, the first 60 characters of a
---string, and the name of anything else ("table: 0x…"): nothing is kept alive.
---@class (exact) obs.Cause
---@field site? string
---@field object? string  the object that was written, as `describe` names it
---@field key? string
---@field old? any
---@field new? any
---@field turn? integer
---@field flush? integer  the flush of that turn in which it was; nil outside of flushes
---@field left? boolean  true where the object was no longer on the path when the watcher was called
---@field through? string[]  the computed properties in between, the nearest to the write first

---The writes behind its last call: a list of them, and a text that tells them, and the turn and
---flush of the call. A script may flush several times in a turn.
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

---Why it did not run: equal value, also of what was recomputed, unreachable at 'user', paused,
---stopped at file:line, pending; "failed" is for a computed property.
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

---Writes, invalidations and computations have a key, the others the name of a watcher. `tostring`
---makes a sentence of an event.
---@class (exact) obs.Event
---@field kind "write"|"call"|"observe"|"end"|"invalidate"|"compute"
---@field object? string  as `describe` names it: what was written, has the property, is observed
---@field old? any        of writes and computations; nil where there was none, or it is not known
---@field new? any
---@field site? string    of an invalidation that of the write, of a computation that of the getter
---@field turn integer
---@field flush? integer  the flush of the turn, counted from 1; nil outside of flushes
---@field key? string
---@field name? string
---@field path? string    of a registration
---@field equal? boolean  true where the value is the one before
---@field failed? boolean  true where a getter has raised an error

---Calls `sink` for every write of an observed key, call, registration and end, and for what becomes
---of lazy properties; nil switches it off. Events come when the `obs` call, flush or turn is over;
---until then they keep the values of before. In a sandbox, only what its own code writes and what
---becomes of its own watchers and lazy properties.
---```lua
---local t = { n = 1 }
---obs.observe(t, "n", function() end, { name = "counter" })
---obs.log(function(event) print(event.kind, event.key or event.name) end)
---t.n = 2
---obs.flush()                               --> write	n --> call	counter
---```
---@param sink? fun(event: obs.Event)
function obs.log(sink) end

---Prints path, old, new and a traceback at each write on the path; in a terminal, opens a prompt
---there, which has the variables of the writing function (`help` names them; `cont` and the end of
---the input go on, SIGINT ends the script).
---```lua
---local t = { n = 1 }
---obs.observe(t, "n", function() end)
---obs.break_on_change(t, "n")               -- The next write of `n` is printed with its traceback.
---```
---@param observed obs.Observed
---@param path obs.PathLike
function obs.break_on_change(observed, path) end

---Keeps what why and whynot need; in a sandbox, for its own watchers.
---```lua
---obs.record(true)                          -- From now on `why` and `whynot` know the writes.
---```
---@param on boolean
function obs.record(on) end

---Limits of the scripts of a host. Those that the host has set can only be lowered.
---@class (exact) obs.Limits
---@field retrigger_turns? integer  of watchers that trigger themselves (1000)
---@field immediate_depth? integer  of immediate watchers that trigger each other (100)
---@field watchers? integer
---@field timers? integer
---@field tasks? integer
---@field path_components? integer
---@field chunk_size? integer       bytes of a chunk
---@field call_depth? integer

---Sets limits, and returns the ones in force.
---```lua
---print(obs.limits().immediate_depth)       --> 100
---print(obs.limits({ immediate_depth = 50 }).immediate_depth)  --> 50
---```
---@param settings? obs.Limits
---@return obs.Limits
function obs.limits(settings) end

---Leaves C modules alone, or shows them observed tables again: by the names under which they are
---required, and before that.
---
---    obs.native { luv = false }
---
---A C module sees of an observed table what a script sees, and what it writes raw is heard at the
---next write, call of `obs`, flush, or read of a value that is computed from it (M1). One that is
---left alone sees the unobserved keys only, and what it writes raw hides the observed ones until
---somebody meets it (M2): give it `obs.raw(t)`.
---```lua
---obs.native { luv = false }                -- The module `luv` sees unobserved keys only.
---```
---@param modules table<string, boolean>
function obs.native(modules) end

---@class (exact) obs.Stats
---@field turns integer
---@field calls integer
---@field watchers integer
---@field observed integer  objects
---@field pending integer   watchers that wait for the flush
---@field errors integer
---@field seconds number    in flushes

---What the loop has done so far.
---```lua
---local t = { n = 1 }
---obs.observe(t, "n", function() end)
---print(obs.stats().watchers)               --> 1
---```
---@return obs.Stats
function obs.stats() end

---@class (exact) obs.RawOptions
---@field computed? boolean  compute and include the lazy ones

---A deep plain copy of the stored properties, cycles kept, for code that needs plain tables;
---`{ computed = true }` computes and includes the lazy ones.
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

---One change below an object, as plain data: it goes through any JSON library and comes back.
---@class (exact) obs.DeepChange
---@field path any[]  keys from the object; the last one is what changed; that of a set for a member
---@field kind "set"|"insert"|"remove"|"move"
---@field old any  what was there; nil where nothing was
---@field new any  what is there now, plain data; nil where the key is gone
---@field from? integer  of a move
---@field ref? any[]|obs.PathAfter  in place of `new`: an object that has another way already
---@field old_ref? any[]|obs.PathAfter  in place of `old`: an object that is still there
---@field model? string  of an instance, as data
---@field type? "array"|"dictionary"|"set"  of a collection, as data
---@field site? string  where it was written last, with `{ site = true }`

---The path of an object after the changes.
---@class (exact) obs.PathAfter
---@field after any[]

---@class (exact) obs.ChangeOptions
---@field observer? obs.Observed  as for `observe`
---@field once? boolean
---@field name? string
---@field on_end? fun(path: string)
---@field path? obs.PathLike  restricts the changes: "items.**"
---@field site? boolean  adds the place of the last write
---@field skip? any  leaves out what this origin wrote last

---@class (exact) obs.Delivery
---@field turn integer  the number of the turn, as `obs.stats().turns` has it at its end
---@field origins any[]  who has applied changes since the last call, but for the origin of `skip`

---Calls the callback at the end of each turn in which something below the object changed, with the
---net changes since the last call, in an order in which they can be applied.
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
---@field force? boolean  skips what does not fit
---@field origin? any  who made the changes, for watchers with this `skip`; any value but NaN

---Makes the changes, as the writes of one turn. One that does not fit, as its `old` is not there,
---is an error that names it, and nothing is applied.
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
---@return integer skipped  how many did not fit
function obs.apply(target, changes, options) end

---The changes that take back what these do.
---```lua
---local a, b = { n = 1 }, { n = 2 }
---local undo = obs.invert(obs.diff(a, b))
---obs.apply(b, undo)
---print(b.n)                                --> 1
---```
---@param changes obs.DeepChange[]
---@return obs.DeepChange[]
function obs.invert(changes) end

---The changes that make a tree like `a` equal to `b`, by content and sharing.
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

---Makes `target` equal to plain data with the fewest writes; objects that are there stay. Elements
---of lists are matched by position, or by the property that `key` names.
---```lua
---local users = { { id = 1, name = "Ada" } }
---local ada = users[1]
---obs.merge(users, { { id = 2, name = "Grace" }, { id = 1, name = "Ada" } }, { key = "id" })
---print(users[2] == ada, users[1].name)     --> true	Grace
---```
---@param target obs.Observed
---@param data table
---@param options? obs.MergeOptions
function obs.merge(target, data, options) end

---Undo and redo: each turn that changed something is a step; in a sandbox, each turn in which it
---wrote something. Where others have written the same key since, their value stays, which is
---reported. Inside a transaction only `stop` may be called.
---@class obs.History
---@field can_undo boolean  observable, as is can_redo
---@field can_redo boolean
local History = {}
---Takes the last step back, or all up to a mark; false where nothing was left.
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
---  obs.flush()
---  if n == 2 then history:mark("two") end
---end
---history:undo("two")
---print(t.n)                                --> 2
---```
---@param name string
function History:mark(name) end

---What follows is one step, until `commit`; a name marks it then.
---```lua
---local t = { n = 1 }
---local history = obs.history(t)
---history:begin()
---for n = 2, 4 do
---  t.n = n
---  obs.flush()
---end
---history:commit()
---history:undo()
---print(t.n)                                --> 1
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
---@field limit? integer  how many steps are kept
---@field group? number   turns within so many seconds are one step

---Records what turns change below an object, for undo and redo.
---```lua
---local t = { n = 1 }
---local history = obs.history(t, { limit = 100 })
---t.n = 2
---obs.flush()
---history:undo()
---print(t.n, history.can_redo)              --> 1	true
---```
---@param target obs.Observed
---@param options? obs.HistoryOptions
---@return obs.History
function obs.history(target, options) end

---Makes a table a leaf for `**` in key paths, from the next flush on. Returns it. An error where
---another sandbox observes the table.
---```lua
---local t = { cache = obs.opaque {} }
---obs.observe(t, "**", function() print "changed" end)
---t.cache.key = 1                           -- no call
---```
---@generic T: table
---@param object T
---@return T
function obs.opaque(object) end

---Calls `f`. If it raises, is stopped, or calls `obs.abort`, every write below the roots that was
---made inside of it is taken back, and watchers are not called for it; in a sandbox, only the
---sandbox's own writes.
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
---@return any ...  what `f` returned, or the error
function obs.transaction(roots, f) end

---Ends the innermost transaction: raises an error that cannot save it when caught.
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
---@field active boolean  false once it was called for the last time, or stopped
local Timer = {}
---It is not called any more.
---```lua
---local timer = obs.after(1, function() print "never" end)
---timer:stop()
---print(timer.active)                       --> false
---```
function Timer:stop() end

---The loop goes on while it is active, as it does for every timer that `unref` was not called for.
---```lua
---local timer = obs.after(0.01, function() print "late" end):unref()
---timer:ref()                               --> late
---```
---@return obs.Timer self
function Timer:ref() end

---The loop may end while it is active.
---```lua
---obs.every(60, function() print "tick" end):unref()  -- The program ends at once.
---```
---@return obs.Timer self
function Timer:unref() end

---Calls the function once, so many seconds from now.
---```lua
---obs.after(0.01, function() print "later" end)
---print "now"                               --> now --> later
---```
---@param seconds number
---@param callback fun()
---@return obs.Timer
function obs.after(seconds, callback) end

---Calls the function again and again.
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

---Calls the function once, in the turn after this one.
---```lua
---local t = { n = 0 }
---obs.observe(t, "n", function(t) print("turn", t.n) end)
---t.n = 1                                   --> turn	1
---obs.next_turn(function() t.n = 2 end)     --> turn	2
---```
---@param callback fun()
---@return obs.Timer
function obs.next_turn(callback) end

---Seconds, monotonic, of the loop's clock (virtual under --virtual-time).
---```lua
---local start = obs.now()
---obs.after(0.01, function() print(obs.now() - start >= 0.01) end)  --> true
---```
---@return number seconds
function obs.now() end

---A callback for a file or descriptor that is ready.
---@class obs.Handler: userdata
---@field active boolean  false once it was stopped, or what it waits for was found closed
local Handler = {}
---It is not called any more. What it waits for stays open.
---```lua
---local file = assert(io.open("/dev/null"))
---local handler = obs.on_readable(file, function() end)
---handler:stop()
---print(handler.active)                     --> false
---```
function Handler:stop() end

---The loop goes on while it is active, unless `unref` was called for it.
---```lua
---local file = assert(io.open("/dev/null"))
---local handler = obs.on_readable(file, function() end):unref()
---handler:ref():stop()
---```
---@return obs.Handler self
function Handler:ref() end

---The loop may end while it is active.
---```lua
---obs.on_readable(io.stdin, function() end):unref()  -- The program ends without input, too.
---```
---@return obs.Handler self
function Handler:unref() end

---Calls the function in a turn of its own whenever the file can be read or is at its end, again and
---again while there is something to read. What the file has buffered counts.
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

---Calls the function in a turn of its own whenever the file can be written to without waiting.
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
---Inside another task: gives what the body returned or raises its error; false on timeout.
---```lua
---obs.task(function()
---  local child = obs.task(function() obs.sleep(0.01); return 42 end)
---  print(child:await())                    --> 42
---end)
---```
---@param timeout? number  seconds
---@return any ...
function Task:await(timeout) end

---Ends it where it waits; its variables with `<close>` are closed.
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

---Starts a coroutine that may use the waiting functions. An error in it is reported like a
---watcher's.
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

---Inside a task; elsewhere an error.
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

---Inside a task: waits for the next delivery; false on timeout.
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
---@return boolean in_time
function obs.next_change(observed, path, timeout) end

---Inside a task: calls `start` with a function, and waits until that is called: any function that
---takes a callback can be waited for. Later calls of it do nothing; `start` must not wait for it.
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
---@return any ...  what `done` was called with; false on timeout
function obs.await(start, timeout) end

---@alias obs.LoopKind "timer"|"handler"|"luv"|"task"|"exit"|"loop"

---@alias obs.ErrorKind "watcher"|"immediate"|"getter"|"hook"|obs.LoopKind

---Where an error was raised that no code caught.
---@class (exact) obs.ErrorPlace
---@field kind obs.ErrorKind
---@field name? string
---@field site? string
---@field turn integer
---@field traceback? string
---@field cause? string  the place of the write, where one is known

---Replaces the report on stderr, and the script goes on (T14); nil brings the report back.
---Interruptions (I2) are no errors.
---```lua
---obs.on_error(function(message, where) print(where.kind, message) end)
---local t = { n = 0 }
---obs.observe(t, "n", function() error("no display", 0) end)
---t.n = 1                                   --> watcher	no display
---```
---@param callback? fun(error: any, where: obs.ErrorPlace)
function obs.on_error(callback) end

---Calls the callback when the program ends: by itself, by an error, `os.exit`, a signal or the time
---limit, which leaves it a tenth of its time (I2, I7). A second signal skips it.
---```lua
---obs.on_exit(function() print "bye" end)
---print "hello"                             --> hello --> bye
---```
---@param callback fun()
function obs.on_exit(callback) end

return obs
