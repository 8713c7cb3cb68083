internal import CCommandLine
internal import CLua
internal import LibC
internal import Lua
internal import LuaObservables

/// The prompt's additional features on a terminal: lines have places, values are shown in full, Tab
/// completes, and the history is saved.
///
/// On a pipe the prompt behaves like `lua`.
final class TerminalSession {
  private let host: LuaHost
  private let L: LuaStack
  /// The table of the prompt's global variables; nil if it uses the scripts' globals.
  private var globals: LuaTable?
  /// The library's `print`, which a script may replace.
  private let print: UnsafeRawPointer?
  /// The place of the next line.
  private var line = 1

  /// Makes a session.
  ///
  /// - Throws: `memory`.
  init(_ host: LuaHost, hasScript: Bool) throws(LuaError) {
    self.host = host
    L = host.state.stack
    L.height = 0
    print = TerminalSession.addressOfPrint(L)
    try host.pushModule(to: L)
    if hasScript {
      L.height = 0
    } else {
      try host.state.check(clua_protect(L.pointer, ccl_promptglobals, 1, 1), L)
      globals = LuaTable(pin: try host.state.pin(at: -1, of: L))
      L.height = 0
    }
    ccl_openhistory()
    ccl_setcompleter(
      { context, line, length in
        Unmanaged<TerminalSession>.fromOpaque(context!).takeUnretainedValue()
          .candidates(for: line!, length)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { ccl_setcompleter(nil, nil) }

  // MARK: Lines

  /// Loads an entry with its place as the chunk's name and with the prompt's globals; status as
  /// luaL_loadbufferx. [-0, +1, -]
  func load(_ text: [CChar]) -> CInt {
    host.enter(("prompt", line))
    let placed = [CChar](repeating: CChar(ascii: "\n"), count: line - 1) + text
    let status = luaL_loadbufferx(L.pointer, placed, placed.count, "=prompt", "t")
    guard status == LUA_OK, let globals else { return status }
    if (try? host.state.push(globals.pin, to: L)) != nil { lua_setupvalue(L.pointer, -2, 1) }
    return status
  }

  /// Called when no entry is running any more.
  func leave() { host.enter(nil) }

  /// Called when an entry was loaded or abandoned: the next one has another place.
  func pass(_ entry: [CChar]) {
    line += 1 + entry.count { $0 == CChar(ascii: "\n") }
  }

  // MARK: Values

  private static func addressOfPrint(_ L: LuaStack) -> UnsafeRawPointer? {
    guard clua_protect(L.pointer, ccl_getprint, 0, 1) == LUA_OK else {
      L.pop()
      return nil
    }
    defer { L.pop() }
    return lua_topointer(L.pointer, -1)
  }

  /// Shows the values above `base`; returns false if a script has its own `print`, which should
  /// show them. [-n, +0, -] or [-0, +0, -]
  func show(above base: CInt) -> Bool {
    // Without room for one more value no function could be called, either.
    if L.hasRoom(), let own = TerminalSession.addressOfPrint(L), own != print { return false }
    do {
      let isPaged = ccl_canpage()
      try host.describeValues(
        above: base, columns: TerminalStyle.columns(of: STDOUT_FILENO),
        isColoured: TerminalStyle.isColoured(STDOUT_FILENO), isPaged: isPaged, L)
      write(host.state.bytes(at: -1, of: L) + [UInt8(ascii: "\n")], inPages: isPaged)
    } catch {
      ccl_writeerror(nil, error.message)
    }
    L.height = base
    return true
  }

  private func write(_ bytes: [UInt8], inPages isPaged: Bool) {
    let write = isPaged ? ccl_writepages : ccl_writebytes
    bytes.withUnsafeBytes { bytes in
      write(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
  }

  // MARK: Commands

  /// Runs an entry that is a command, and returns the command; nil for other entries.
  func run(_ entry: [CChar]) -> PromptCommand? {
    let text = String(decoding: entry.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let command = PromptCommand(text, isGlobal: isGlobal) else { return nil }
    if command == .help { ccl_writeoutput(PromptCommand.helpText(at: line)) }
    return command
  }

  /// Whether scripts or the prompt have a global variable with this name, even through a metatable.
  ///
  /// True also if a metamethod fails: the entry will show the error.
  private func isGlobal(_ name: String) -> Bool {
    let height = L.height
    defer { L.height = height }
    if let globals {
      guard (try? host.state.push(globals.pin, to: L)) != nil else { return true }
    } else {
      L.pushGlobals()
    }
    guard (try? host.state.push(text: name, to: L)) != nil else { return true }
    guard clua_try_gettable(L.pointer, -2) == LUA_OK else { return true }
    return !L.isNil(at: -1)
  }

  // MARK: Completion

  private func candidates(for line: UnsafePointer<CChar>, _ length: Int) -> ccl_candidates {
    let none = ccl_candidates(start: 0, count: 0, texts: nil)
    let text = UnsafeBufferPointer(start: line, count: length).map { UInt8(bitPattern: $0) }
    let found = try? host.state.withStack { L throws(LuaError) in
      let height = L.height
      defer { L.height = height }
      guard L.hasRoom() else { return none }
      try host.state.push(bytes: text, to: L)
      if let globals { try host.state.push(globals.pin, to: L) } else { L.pushGlobals() }
      lua_pushcclosure(L.pointer, ccl_listfolder, 0)
      try host.complete(L)
      let start = Int(L.integer(at: -2) ?? 0)
      let count = L.rawLength(at: -1)
      let texts = calloc(count + 1, MemoryLayout<UnsafeMutablePointer<CChar>?>.stride)
      guard let texts = texts?.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self) else {
        return none
      }
      for position in 0..<count {
        L.rawGet(index: position + 1, at: -1)
        texts[position] = strdup(lua_tolstring(L.pointer, -1, nil))
        L.pop()
      }
      return ccl_candidates(start: start, count: count, texts: texts)
    }
    return found ?? none
  }
}
