internal import CLua
internal import Lua

/// A place in a script: a source and a line, in eight bytes.
struct Site {
  var source: Int32 = 0
  var line: Int32 = 0
}

/// The names of sources, each kept once.
final class SourceNames {
  @exclusivity(unchecked) private var names: [[CChar]] = [[]]
  @exclusivity(unchecked) private var indices: [[CChar]: Int32] = [:]
  @exclusivity(unchecked) private var last: Int32 = 0

  /// Functions whose source is known, held weakly, by the last digits of their addresses: who
  /// writes is mostly who wrote before.
  @exclusivity(unchecked) private var functions: CInt = 0
  private let known: UnsafeMutablePointer<Int32>
  private static let slots = 16
  /// The source that the functions of the module `obs` name.
  private var prelude: Int32 = -1

  init() {
    known = .allocate(capacity: SourceNames.slots + 1)
    known.initialize(repeating: 0, count: SourceNames.slots + 1)
    prelude = intern("obs")
  }

  deinit { known.deallocate() }

  func install(_ state: LuaState, _ L: LuaStack) throws(LuaError) {
    try state.check(clua_try_makeweak(L.pointer, &functions), L)
    // The slots are made here: putting a function into one allocates nothing later.
    for slot in 1...SourceNames.slots {
      lua_rawgeti(L.pointer, CLUA_REGISTRYINDEX, lua_Integer(functions))
      lua_pushinteger(L.pointer, lua_Integer(slot))
      lua_pushboolean(L.pointer, 0)
      try state.check(clua_try_rawset(L.pointer, -3), L)
      clua_pop(L.pointer, 1)
    }
  }

  /// The innermost Lua function that is running, and the line it is at.
  func current(_ L: LuaStack) -> Site {
    let line = clua_currentfunction(L.pointer)
    if line == 0 { return Site() }
    let address = UInt(bitPattern: lua_topointer(L.pointer, -1))
    let slot = Int(address >> 5) & (SourceNames.slots - 1) + 1
    lua_rawgeti(L.pointer, CLUA_REGISTRYINDEX, lua_Integer(functions))
    lua_rawgeti(L.pointer, -1, lua_Integer(slot))
    if lua_rawequal(L.pointer, -1, -3) == 0 {
      known[slot] = definition(-3, L).source
      lua_pushvalue(L.pointer, -3)
      lua_rawseti(L.pointer, -3, lua_Integer(slot))
    }
    clua_pop(L.pointer, 3)
    return known[slot] == prelude ? caller(L) : Site(source: known[slot], line: line)
  }

  /// What the module `obs` does in Lua, it does for its caller.
  private func caller(_ L: LuaStack) -> Site {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      let line = clua_where(L.pointer, buffer.baseAddress!)
      return line == 0 ? Site() : Site(source: intern(buffer.baseAddress!), line: line)
    }
  }

  /// Where the function at `index` is defined.
  func definition(_ index: CInt, _ L: LuaStack) -> Site {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      let line = clua_definition(L.pointer, index, buffer.baseAddress!)
      // A main chunk is defined at line 0.
      return line < 0 ? Site() : Site(source: intern(buffer.baseAddress!), line: line)
    }
  }

  private func intern(_ name: UnsafePointer<CChar>) -> Int32 {
    // Writes come from the same file again and again.
    let isLast = names[Int(last)].withUnsafeBufferPointer { known in
      known.count > 0 && clua_equaltext(known.baseAddress!, name)
    }
    if isLast { return last }
    var text: [CChar] = []
    var position = name
    while position.pointee != 0 {
      text.append(position.pointee)
      position += 1
    }
    text.append(0)
    if let index = indices[text] {
      last = index
    } else {
      last = Int32(names.count)
      names.append(text)
      indices[text] = last
    }
    return last
  }

  /// "file:line", or "?" where no Lua function was running.
  func text(_ site: Site) -> String {
    guard site.line > 0 else { return "?" }
    let name = names[Int(site.source)].dropLast().map { UInt8(bitPattern: $0) }
    return "\(String(decoding: name, as: UTF8.self)):\(site.line)"
  }
}
