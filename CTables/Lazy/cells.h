/// The cells of lazy keys, private to the files that implement them.
#ifndef CLUA_OBSERVED_CELLS_H
#define CLUA_OBSERVED_CELLS_H

#include "lazy.h"

/* A cell has room for its fields from the beginning, so setting them needs no memory. */
enum {
  GETTER = 1, STORE, KEY, TABLE, DECLARATION, FAILURE, TRACE, FLAGS, VALUE, BASE, NUMBER,
  // Only keys whose values are kept have a base; other keys need the coroutine in which their
  // getter runs.
  RUNNING = BASE
};

/* A value to be compared: the value itself, or a field of its cell. */
typedef struct clua_kept {
  union {
    lua_Integer integer;
    lua_Number number;
  };
  enum { KEPT_NIL, KEPT_FALSE, KEPT_TRUE, KEPT_INTEGER, KEPT_NUMBER, KEPT_IN_CELL } kind;
} clua_kept;

/* The kept values of one number. Number 0 is for a declaration that was removed and still
   computes. */
struct clua_lazyvalues {
  clua_kept value, base;
  unsigned declaration;  // distinguishes successive declarations with the same number
};

/// Pushes a cell; returns false and pushes nil if the cell is gone. [-0, +1, -]
bool clua_pushcell(lua_State *L, lua_Integer number);
/// Adds the cell at `cell` to the list by its number, and makes room for its values. [-0, +0, m]
void clua_listcell(lua_State *L, int cell, lua_Integer number);
/// Pushes the last value of the cell at `cell`, or its base. [-0, +1, -]
void clua_pushkept(lua_State *L, int cell, bool base);
/// Pops a value and keeps it as the last value in `values`, which belongs to the cell. [-1, +0, -]
void clua_keep(lua_State *L, struct clua_lazyvalues *values, int cell);
/// Compares the value at `value` with the kept value of `number`, and keeps the new one; the cell
/// is at `cell`. [-0, +0, -]
clua_computation clua_compare(lua_State *L, clua_shared *shared, lua_Integer number, int value,
                              int cell, int compare);
/// The flags of the declaration.
int clua_cellflags(lua_State *L, int cell);
/// Sets store[key] to the value at `value`; index 0 sets nil, which needs no memory. [-0, +0, m]
void clua_setstored(lua_State *L, int cell, int value);
/// Makes the value on top the current value; the next read puts it into the store. [-1, +0, -]
clua_computation clua_take(lua_State *L, int cell, int compare);
/// Called when the declaration was removed: a getter that is still running stores nothing in the
/// table. [-0, +0, -]
void clua_retirecell(lua_State *L, int cell);
/// Keeps the error on top and the traceback that was left for it. [-1, +0, -]
void clua_keeperror(lua_State *L, int cell);

#endif
