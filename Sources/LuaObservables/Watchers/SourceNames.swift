internal import CLua
internal import Lua
internal import Observables

/// A place in a script: a source and a line, in eight bytes.
struct Site: Equatable {
  var source: Int32 = 0
  var line: Int32 = 0

  /// The line of a source that has no lines.
  static let none: Int32 = -1
}

/// The names of sources.
///
/// Each is kept once and never removed, because places refer to it by number.
/// Scripts pay for the names of their chunks (S3). If the memory for a name is refused, places in
/// this chunk are unknown.
final class SourceNames: PlaceSource {
  @exclusivity(unchecked) private var names: [[CChar]] = [
    [], Array("obs".utf8CString), Array("obs.prompt".utf8CString),
  ]
  /// The positions of other names in `names`; a program that observes nothing needs no dictionary.
  @exclusivity(unchecked) private var indices: [[CChar]: Int32] = [:]
  @exclusivity(unchecked) private var last: Int32 = 0

  /// A weak cache of functions with known sources, by the last digits of their addresses: the
  /// writing function is mostly the previous one.
  @exclusivity(unchecked) private var functions: CInt = 0
  private let known: UnsafeMutablePointer<Int32>
  private static let slots = 16
  /// Bytes of a name besides its text.
  private static let nameSize = 100
  /// The names of the module's sources, as in clua_ismodule.
  private static let module: ClosedRange<Int32> = 1...2

  /// A cache of the texts of places, by the last bits of line + source.
  @exclusivity(unchecked) private var texts = Array(
    repeating: (site: Site(), text: ""), count: SourceNames.slots)

  /// The state whose places recordings ask for.
  unowned var state: LuaState?

  /// The place of the running script, for recordings.
  var currentPlace: RunRecorder.Place? {
    guard let state, state.stack.isRunning, state.stack.hasRoom(for: 8) else { return nil }
    let site = current(state.stack)
    guard site.line > 0 else { return nil }
    let number = Int(site.source) << 32 | Int(site.line)
    return (ObjectIdentifier(self), number, { [unowned self] in text(site) })
  }

  /// The calls under way in the running script, a line for each.
  var currentCalls: String {
    guard let state, state.stack.isRunning else { return "" }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { text in
      clua_calls(state.stack.pointer, text.baseAddress!, text.count)
      return String(cString: text.baseAddress!)
    }
  }

  init() {
    known = .allocate(capacity: SourceNames.slots + 1)
    known.initialize(repeating: 0, count: SourceNames.slots + 1)
  }

  deinit { known.deallocate() }

  func install(_ state: LuaState, _ L: LuaStack) throws(LuaError) {
    functions = try state.makeReference(isWeak: true, L)
    // The slots are made here, so that storing a function later allocates nothing.
    for slot in 1...SourceNames.slots {
      L.pushReference(functions)
      L.push(slot)
      L.push(false)
      try state.rawSet(of: L)
      L.pop()
    }
  }

  /// The place of a running prompt line, for use after a tail call has removed its function.
  private var entry = Site()

  /// Sets the line of a prompt that runs from now on; nil for no line.
  func enter(_ place: (source: String, line: Int)?) {
    entry = place.map { Site(source: $0.source.withCString(intern), line: CInt($0.line)) } ?? Site()
  }

  /// Sets what writes from now on although no script does; nil for nothing.
  func enter(writer: String?) {
    entry = writer.map { Site(source: $0.withCString(intern), line: Site.none) } ?? Site()
  }

  /// The place of the innermost running Lua code outside of the module; `entry` if there is none.
  func current(_ L: LuaStack) -> Site {
    // Level 0 is the C function that calls this.
    var level: CInt = 0
    var line = clua_currentfunction(L.pointer, &level)
    while line != 0 {
      let source = sourceOfFunction(L)
      if !SourceNames.module.contains(source) { return Site(source: source, line: line) }
      // Lua code of the module works for its caller.
      line = clua_runningfunction(L.pointer, &level)
    }
    return entry
  }

  /// Pops a function; returns its source.
  private func sourceOfFunction(_ L: LuaStack) -> Int32 {
    let address = UInt(bitPattern: L.address(at: -1))
    let slot = Int(address >> 5) & (SourceNames.slots - 1) + 1
    L.pushReference(functions)
    L.rawGet(index: slot, at: -1)
    if !L.rawEqual(-1, -3) {
      known[slot] = definition(-3, L).source
      L.pushCopy(at: -3)
      L.rawSet(index: slot, at: -3)
    }
    L.pop(3)
    return known[slot]
  }

  /// The place where the function at `index` is defined.
  func definition(_ index: CInt, _ L: LuaStack) -> Site {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      let line = clua_definition(L.pointer, index, buffer.baseAddress!)
      // A main chunk is defined at line 0.
      return line < 0 ? Site() : Site(source: intern(buffer.baseAddress!), line: line)
    }
  }

  /// The first line of the function at `index`.
  func beginning(_ index: CInt, _ L: LuaStack) -> Site {
    var site = definition(index, L)
    // A main chunk is defined at line 0, and a C function has no line.
    if site.source != 0 { site.line = max(site.line, 1) }
    return site
  }

  private func intern(_ name: UnsafePointer<CChar>) -> Int32 {
    // Most writes come from the same file as the previous one.
    if isName(last, name) { return last }
    for source in SourceNames.module where isName(source, name) { return source }
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
      let cost = Self.nameSize + text.count
      guard let state, state.hasMemory(for: cost, in: state.share) else { return 0 }
      state.chargeAfterwards(cost, to: state.share)
      last = Int32(names.count)
      names.append(text)
      indices[text] = last
    }
    return last
  }

  private func isName(_ index: Int32, _ name: UnsafePointer<CChar>) -> Bool {
    names[Int(index)].withUnsafeBufferPointer { known in
      known.count > 0 && clua_equaltext(known.baseAddress!, name)
    }
  }

  /// "file:line", or "?" if no Lua function was running.
  func text(_ site: Site) -> String {
    guard site.line != 0, site.source != 0 else { return "?" }
    let slot = Int(site.line &+ site.source) & (SourceNames.slots - 1)
    if texts[slot].site != site { texts[slot] = (site, spelled(site)) }
    return texts[slot].text
  }

  private func spelled(_ site: Site) -> String {
    let bytes = names[Int(site.source)].dropLast().map { UInt8(bitPattern: $0) }
    let name = String(decoding: bytes, as: UTF8.self)
    return site.line == Site.none ? name : "\(name):\(site.line)"
  }
}
