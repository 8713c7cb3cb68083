/// The cells of lazy keys, for the parts of this target that deal with them only.
#ifndef CLUA_OBSERVED_CELLS_H
#define CLUA_OBSERVED_CELLS_H

#include "lazy.h"

/* There is room for the fields of a cell from the beginning: setting them takes no memory. */
enum {
  GETTER = 1, STORE, KEY, TABLE, DECLARATION, FAILURE, TRACE, FLAGS, VALUE, BASE, NUMBER,
  // Only keys whose values are kept have a base; the others need to know the coroutine in which
  // their getter runs.
  RUNNING = BASE
};

/* A value that is compared with others: the value itself, or a field of its cell. */
typedef struct clua_kept {
  union {
    lua_Integer integer;
    lua_Number number;
  };
  enum { KEPT_NIL, KEPT_FALSE, KEPT_TRUE, KEPT_INTEGER, KEPT_NUMBER, KEPT_IN_CELL } kind;
} clua_kept;

/* The values that are kept for one number; number 0 is for a declaration that was taken back and
   still computes. */
struct clua_lazyvalues {
  clua_kept value, base;
  unsigned declaration;  // distinguishes declarations that have the number one after another
};

/// Pushes a cell; false and nil where it is gone. [-0, +1, -]
bool clua_pushcell(lua_State *L, lua_Integer number);
/// Adds the cell at `cell` to the list by its number, and makes room for its values. [-0, +0, m]
void clua_listcell(lua_State *L, int cell, lua_Integer number);
/// Pushes the last value of the cell at `cell`, or its base. [-0, +1, -]
void clua_pushkept(lua_State *L, int cell, bool base);
/// Pops a value and keeps it as the last one of `values`, which belong to the cell. [-1, +0, -]
void clua_keep(lua_State *L, struct clua_lazyvalues *values, int cell);
/// Compares the value at `value` with the one that is kept for `number`, and keeps it; its cell is
/// at `cell`. [-0, +0, -]
clua_computation clua_compare(lua_State *L, clua_shared *shared, lua_Integer number, int value,
                              int cell, int compare);
/// The flags of the declaration.
int clua_cellflags(lua_State *L, int cell);
/// store[key] = the value at `value`, or nil for 0, which takes no memory. [-0, +0, m]
void clua_setstored(lua_State *L, int cell, int value);
/// Makes the value on top the present one; it is put into the store when it is read next.
/// [-1, +0, -]
clua_computation clua_take(lua_State *L, int cell, int compare);
/// The declaration was taken back: a getter that is running stores nothing in the table.
/// [-0, +0, -]
void clua_retirecell(lua_State *L, int cell);
/// Keeps the error on top, and the traceback that was left. [-1, +0, -]
void clua_keeperror(lua_State *L, int cell);

#endif
