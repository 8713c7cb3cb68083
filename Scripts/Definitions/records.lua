---@meta
-- What `ScriptRecords` of the library LuaRecords gives to scripts, under the name that the host
-- chooses.

---The store of a database.
---@class obs.RecordStore
local RecordStore = {}

---@class obs.RecordQuery
---@field where? string columns, `?`, literals, comparisons, and, or, not, in, like, between, null
---@field args? (string|number|boolean)[] the values of the `?`, in order
---@field order? string columns with `asc` or `desc`, separated by commas
---@field limit? integer how many rows at most

---The rows of a class, as a list that follows the database.
---@param class string
---@param options? obs.RecordQuery
---@return any
function RecordStore:query(class, options) end

---The row with a primary key; nil where there is none.
---@param class string
---@param key string|number
---@return any
function RecordStore:find(class, key) end

---A new row; it is saved at the end of the turn.
---@param class string
---@param values table<string, any> by the names of columns, and of properties that refer to rows
---@return any
function RecordStore:insert(class, values) end

---Deletes a row at the end of the turn.
---@param row any
function RecordStore:delete(row) end

---Saves all changes now; an error if they cannot be saved.
function RecordStore:save() end

return RecordStore
