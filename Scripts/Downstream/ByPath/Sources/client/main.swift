import Lua
import LuaObservables
import Observables

print("ByPath")
