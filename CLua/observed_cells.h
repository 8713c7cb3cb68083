/// The cells of lazy keys, as the parts of this target that deal with them see them. Not for others.
#ifndef CLUA_OBSERVED_CELLS_H
#define CLUA_OBSERVED_CELLS_H

#include "observed_internal.h"

/* The fields of a cell are there from the beginning: setting them takes no memory. */
enum { GETTER = 1, STORE, KEY, TABLE, DECLARATION, FAILURE, TRACE, FLAGS, EVALUATOR, NUMBER };

/* Its upvalues, in the order in which it mentions them. `object` says that the value is one that `==`
   might ask a metamethod about. */
enum { UP_GET = 1, UP_TABLE, UP_KEY, UP_OBJECT, UP_RAWEQUAL, UP_VALUE, UP_STORE, UP_BASE };

/* What belongs to one number in the list of the cells: what each computation and invalidation needs is
   there directly. */
enum { CELL_EVALUATOR, CELL, CELL_STORE, CELL_KEY, CELL_PARTS };

/// Pushes a cell; false and nil where it is gone. [-0, +1, -]
bool clua_pushcell(lua_State *L, lua_Integer number);
/// Makes the cell at `cell` known by its number. [-0, +0, m]
void clua_listcell(lua_State *L, int cell, lua_Integer number);
/// Pushes an upvalue of the evaluator of the cell at `cell`. [-0, +1, -]
void clua_pushkept(lua_State *L, int cell, int upvalue);
/// Pops a value into one. [-1, +0, -]
void clua_keep(lua_State *L, int cell, int upvalue);
/// The flags of the declaration.
int clua_cellflags(lua_State *L, int cell);
/// store[key] = the value at `value`, or nil for 0, which takes no memory. [-0, +0, m]
void clua_setstored(lua_State *L, int cell, int value);
/// Takes the value on top for the present one; the store gets it when it is read next. [-1, +0, -]
clua_computation clua_take(lua_State *L, int cell, int compare);
/// The declaration was taken back: a getter that is running stores nothing in the table. [-0, +0, -]
void clua_retirecell(lua_State *L, int cell);
/// Keeps the error on top, and the traceback that was left. [-1, +0, -]
void clua_keeperror(lua_State *L, int cell);

#endif
