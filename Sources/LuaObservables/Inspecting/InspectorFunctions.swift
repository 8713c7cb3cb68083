internal import Lua
internal import Observables

/// `inspect` (V1–V4).
///
/// The library LuaInspector makes the inspectors.
final class InspectorFunctions: ModuleSlice {
  /// Makes an inspector; nil without the library.
  var make: ((LuaHost, InspectorRequest) throws -> any ScriptInspector)?
  /// The inspectors that end when the host closes, of scripts and of the program.
  private var running: [any ScriptInspector] = []
  private var ofScripts = NumberedObjects<any ScriptInspector>()

  func add(_ inspector: any ScriptInspector) { running.append(inspector) }

  func remove(_ inspector: any ScriptInspector) { running.removeAll { $0 === inspector } }

  override func end() {
    for inspector in running { inspector.stop() }
    running = []
    _ = ofScripts.removeAll()
  }

  override var functions: [NamedFunction] {
    [
      .init("begin_inspecting", begin),
      .init(
        "stop_inspecting",
        { [self] L in
          ofScripts.remove(namedBy: L)?.stop()
          return 0
        }
      ),
    ]
  }

  /// begin_inspecting(port, whether the page may write, names, roots) → number and URL, or nil and
  /// a message.
  private func begin(_ L: LuaStack) throws -> CInt {
    if host.module.isShared {
      throw LuaError("a host with safe libraries is inspected only by the program")
    }
    guard let make else {
      throw LuaError("obs.inspect needs the library LuaInspector: Inspector.install(in: host)")
    }
    var roots: [String: LuaValue] = [:]
    for index in stride(from: 1, through: L.rawLength(at: 3), by: 1) {
      L.rawGet(index: index, at: 3)
      L.rawGet(index: index, at: 4)
      roots[state.wholeText(at: -2, of: L)] = try state.value(at: -1, of: L)
      L.pop(2)
    }
    host.loop.outside?.refuse("an inspector")
    guard host.loop.outside.exchange("inspector", { RunInput() }).result == 0 else {
      throw LuaError("obs.inspect is not available after a replay, which opens no socket")
    }
    let request = InspectorRequest(
      port: Int(L.integer(at: 1) ?? 0), allowsWrites: L.boolean(at: 2), roots: roots)
    do {
      let inspector = try make(host, request)
      L.push(ofScripts.add(inspector))
      try state.push(text: inspector.url, to: L)
      return 2
    } catch let error as LuaError {
      throw error
    } catch {
      L.pushNil()
      try state.push(text: "\(error)", to: L)
      return 2
    }
  }
}
