internal import Lua
