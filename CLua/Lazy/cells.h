/// The cells of lazy keys, as the parts of this target that deal with them see them. Not for
/// others.
#ifndef CLUA_OBSERVED_CELLS_H
#define CLUA_OBSERVED_CELLS_H

#include "lazy.h"

/* There is room for the fields of a cell from the beginning: setting them takes no memory. */
enum {
  GETTER = 1, STORE, KEY, TABLE, DECLARATION, FAILURE, TRACE, FLAGS, VALUE, BASE, NUMBER,
  RUNNING = BASE  // of a key without a value: the coroutine in which its getter is
};

/* What belongs to one number in the list of the cells: what each computation and invalidation needs
   is there directly. */
enum { CELL_GETTER, CELL_TABLE, CELL_KEY, CELL_STORE, CELL, CELL_PARTS };

/* A value that is compared with others: by itself, or in a field of its cell. */
typedef struct clua_kept {
  union {
    lua_Integer integer;
    lua_Number number;
  };
  enum { KEPT_NIL, KEPT_FALSE, KEPT_TRUE, KEPT_INTEGER, KEPT_NUMBER, KEPT_IN_CELL } kind;
} clua_kept;

/* What is kept for one number; for number 0 what a declaration that was taken back still
   computes. */
struct clua_lazyvalues {
  clua_kept value, base;
  unsigned declaration;  // tells those that had the number one after another
};

/// Pushes a cell; false and nil where it is gone. [-0, +1, -]
bool clua_pushcell(lua_State *L, lua_Integer number);
/// Makes the cell at `cell` known by its number, for which there are values then. [-0, +0, m]
void clua_listcell(lua_State *L, int cell, lua_Integer number);
/// Pushes the last value of the cell at `cell`, or its base. [-0, +1, -]
void clua_pushkept(lua_State *L, int cell, bool base);
/// Pops a value and keeps it as the last one. [-1, +0, -]
void clua_keep(lua_State *L, int cell);
/// Compares the value at `value` with what is kept for `number`, and keeps it; its cell is at
/// `cell`. [-0, +0, -]
clua_computation clua_compare(lua_State *L, clua_shared *shared, lua_Integer number, int value,
                              int cell, int compare);
/// The flags of the declaration.
int clua_cellflags(lua_State *L, int cell);
/// store[key] = the value at `value`, or nil for 0, which takes no memory. [-0, +0, m]
void clua_setstored(lua_State *L, int cell, int value);
/// Takes the value on top for the present one; the store gets it when it is read next. [-1, +0, -]
clua_computation clua_take(lua_State *L, int cell, int compare);
/// The declaration was taken back: a getter that is running stores nothing in the table.
/// [-0, +0, -]
void clua_retirecell(lua_State *L, int cell);
/// Keeps the error on top, and the traceback that was left. [-1, +0, -]
void clua_keeperror(lua_State *L, int cell);

#endif
