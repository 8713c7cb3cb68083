#include "../Lazy/lazy.h"
#include "../Lists/lists.h"
#include "clua_models.h"
#include "shape.h"

static const clua_handlers handlers = {
  .fill = clua_fill,
  .metamethod_set = clua_metamethodset,
  .assign_array = clua_arrayassign,
  .check_array = clua_arraycheck,
  .assign_instance = clua_modelassign,
  .push_methods = clua_pushmethods,
  .assign_lazy = clua_assignlazy,
  .read_lazy = clua_readlazy,
  .index_behind = clua_indexbehind,
  .store_replaced = clua_storereplaced,
};

void clua_observation_install(lua_State *L, const clua_observation *observation) {
  clua_checkstack(L, 20, NULL);
  clua_shared *shared = clua_install_nodes(L, observation, &handlers);
  clua_install_metatables(L, lua_gettop(L));
  clua_install_base(L, shared);
  lua_pop(L, 1);
}
