internal import Lua
internal import Observables

/// The unfinished tasks, which the prelude knows.
final class LiveTasks: ModuleSlice {
  /// Returns the sites of the tasks after a number; nil until the module is loaded.
  private var list: LuaFunction?
  /// The number of the task that began last.
  private(set) var latest = 0

  override var functions: [NamedFunction] {
    [
      .init(
        .tasks, "began",
        { [self] L in
          latest += 1
          engine.recording.run?.beganTask(latest)
          L.push(latest)
          return 1
        }
      )
    ]
  }

  override func preludeDidRun(_ core: CInt, _ L: LuaStack) throws(LuaError) {
    try state.pushField("live_tasks", at: core, of: L)
    list = LuaFunction(pin: try state.pin(at: -1, of: L))
    L.pop()
  }

  override func end() { list = nil }

  /// Unfinished tasks that began after task `number`.
  func live(after number: Int) -> [LiveObject] {
    guard number < latest, let sites = try? list?.callPlainly(number, as: [String].self)
    else { return [] }
    return sites.map { LiveObject(kind: .task, name: "task", site: $0) }
  }
}
