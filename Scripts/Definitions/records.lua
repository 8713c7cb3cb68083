---@meta
-- The interface of `ScriptRecords` in the library LuaRecords; the host chooses its global name.

---The store of a database.
---@class obs.RecordStore
local RecordStore = {}

---@class obs.RecordQuery
---@field where? string columns, `?`, literals, comparisons, and, or, not, in, like, between, null
---@field args? (string|number|boolean)[] the values of the `?`, in order
---@field order? string columns with `asc` or `desc`, separated by commas
---@field limit? integer the maximum number of rows

---Returns the rows of a class, as a list that is kept up to date. Changing the list is an error:
---`insert` and `delete` add and delete rows.
---@param class string
---@param options? obs.RecordQuery
---@return any
function RecordStore:query(class, options) end

---Returns the row with a primary key; nil if there is no such row.
---@param class string
---@param key string|number
---@return any
function RecordStore:find(class, key) end

---Inserts a row; it is saved at the end of the turn.
---@param class string
---@param values table<string, any> by the names of columns and of properties with referenced rows
---@return any
function RecordStore:insert(class, values) end

---Deletes a row at the end of the turn.
---@param row any
function RecordStore:delete(row) end

---Saves all changes now; raises an error if they cannot be saved.
function RecordStore:save() end

return RecordStore
