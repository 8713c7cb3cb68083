internal import CLua
package import Lua
internal import Observables

/// The requests of an inspector about watchers and objects, which it names by number (D2).
///
/// Except for `assign` and `evaluate`, these functions run no code of the program. Called between
/// turns.
extension LuaHost {
  /// Makes the inspectors of `obs.inspect`; nil until `Inspector.install(in:)` is called.
  package var makeInspector: ((LuaHost, InspectorRequest) throws -> any ScriptInspector)? {
    get { module.inspectors.make }
    set { module.inspectors.make = newValue }
  }

  /// Ends the inspector when the host closes.
  package func add(_ inspector: any ScriptInspector) { module.inspectors.add(inspector) }

  package func remove(_ inspector: any ScriptInspector) { module.inspectors.remove(inspector) }

  /// Whether `record` is on for all scripts.
  package var isRecording: Bool { module.debugging.isRecording(for: sandboxes.main) }

  /// The text of `why`; nil if no watcher ever had the number.
  package func why(_ watcher: UInt64) -> String? {
    try? state.withStack { _ throws(LuaError) in module.debugging.why(watcher) }
  }

  /// The text of `whynot`; nil if no watcher ever had the number.
  package func whyNot(_ watcher: UInt64) -> String? {
    try? state.withStack { _ throws(LuaError) in module.debugging.whyNot(watcher) }
  }

  /// The text of `describe`; nil if no observed object has the number.
  package func describe(_ object: UInt64) -> String? {
    try? state.withStack { _ throws(LuaError) in try module.inspection.describe(object) }
  }

  /// The number of an object; nil if it is not observed.
  package func number(of object: LuaValue) -> UInt64? {
    let number = try? state.withStack { L throws(LuaError) in
      let height = L.height
      defer { L.height = height }
      try state.push(object, to: L)
      if L.isTable(at: -1) { return TableKind.existingNode(at: -1, of: L)?.pointee.number }
      let object = objects.object(at: -1, of: L) as? any KeyPathObservable
      return object?.currentNode(in: engine)?.pointee.number
    }
    return number ?? nil
  }

  /// Whether an observed object has the number.
  package func isObserved(_ object: UInt64) -> Bool { engine.nodes.numbered(object) != nil }

  /// Assigns to a key of an object, in a turn.
  ///
  /// - Throws: `LuaError` if no observed object has the number, and for an error of script code.
  package func assign(
    _ value: LuaValue, to key: LuaValue, of object: UInt64
  ) throws(LuaError) {
    guard let node = engine.nodes.numbered(object),
      // Tables of other hosts are not values of these scripts.
      observed.isTable(node) || node.kind.object(of: node) != nil
    else {
      throw LuaError("no observed object has the number \(object)")
    }
    let target = try state.withStack { L throws(LuaError) in
      let height = L.height
      defer { L.height = height }
      observed.push(node, to: L)
      return try state.value(at: -1, of: L)
    }
    try inspectorTurn { () throws(LuaError) in
      let code = "local object, key, value = ... object[key] = value"
      let chunk = try state.load(code, name: "=inspector")
      _ = try chunk.callPlainly(arguments: [target, key, value])
    }
  }

  /// Runs code, or evaluates an expression, in a turn, and returns its results as the prompt would
  /// show them.
  ///
  /// - Throws: `LuaError` for a syntax error, and an error of the code.
  package func evaluate(_ code: String) throws(LuaError) -> String {
    let main = sandboxes.main
    try main.quotas.checkChunk(code.utf8.count, "=inspector")
    return try inspectorTurn { () throws(LuaError) in
      let chunk: LuaFunction
      do throws(LuaError) {
        chunk = try state.load("return " + code, name: "=inspector")
      } catch {
        guard error.code == .syntax else { throw error }
        chunk = try state.load(code, name: "=inspector")
      }
      try bind(chunk, to: main)
      let results = try chunk.callPlainly(arguments: [])
      if results.isEmpty { return "" }
      return try state.withStack { L throws(LuaError) in
        let height = L.height
        defer { L.height = height }
        try pushModule(to: L)
        L.pop()
        // Of more than a hundred, only the number of the others is shown.
        let hasRoom = L.hasRoom(for: CInt(clamping: results.count + 20))
        let shown = hasRoom ? results[...] : results.prefix(101)
        for result in shown { try state.push(result, to: L) }
        try describeValues(above: height, columns: 100, isColoured: false, L)
        return state.wholeText(at: -1, of: L)
      }
    }
  }

  private func inspectorTurn<Result>(
    _ body: () throws(LuaError) -> Result
  ) throws(LuaError) -> Result {
    try state.checkThread()
    defer { recorder?.drain() }
    return try loop.turn(.inspector) { () throws(LuaError) in
      try sandboxes.entered(sandboxes.main.number) { () throws(LuaError) in
        try state.withStack { L throws(LuaError) in state.collectBeforeTurn(L) }
        return try body()
      }
    }
  }
}
