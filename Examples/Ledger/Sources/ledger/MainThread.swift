import ObservableRecords

/// The calls that the reading thread may make on the loop's thread.
enum MainThread {
  static func perform(_ line: String, _ done: @escaping @Sendable () -> Void) {
    MainActor.assumeIsolated {
      print("> \(line)")
      app.perform(line)
      // The turn is saved, then the list changes, then the window is drawn.
      loop.nextTurn { loop.nextTurn { done() } }
    }
  }

  static func end() { MainActor.assumeIsolated { loop.stop() } }
}
