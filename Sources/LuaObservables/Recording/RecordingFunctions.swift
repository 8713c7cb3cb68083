internal import Lua
internal import Observables

/// `start_recording` (D1–D4).
final class RecordingFunctions: ModuleSlice {
  private var recordings = NumberedObjects<RunRecording>()

  override var functions: [NamedFunction] {
    [
      .init("begin_recording", begin),
      .init(
        "stop_recording",
        { [self] L in
          recordings.remove(namedBy: L)?.stop()
          return 0
        }
      ),
      .init(
        "is_recording",
        { [self] L in
          L.push(recordings.named(by: L)?.isActive == true)
          return 1
        }
      ),
    ]
  }

  override func end() {
    for recording in recordings.removeAll() { recording.stop() }
  }

  /// begin_recording(path, values, last or nil, hidden keys) → number, or nil and a message.
  private func begin(_ L: LuaStack) throws -> CInt {
    if host.module.isShared {
      throw LuaError("a host with safe libraries records only for the program")
    }
    var options = RunRecordingOptions()
    options.values = RunRecordingOptions.Values(rawValue: state.text(at: 2, of: L)) ?? .short
    options.last = L.integer(at: 3).map { Int($0) }
    for index in stride(from: 1, through: L.rawLength(at: 4), by: 1) {
      if L.rawGet(index: index, at: 4) == .string {
        options.hiddenKeys.insert(state.wholeText(at: -1, of: L))
      }
      L.pop()
    }
    do {
      let recording = try host.loop.startRecording(to: state.wholeText(at: 1, of: L), options)
      L.push(recordings.add(recording))
      return 1
    } catch {
      L.pushNil()
      try state.push(text: "\(error)", to: L)
      return 2
    }
  }
}
