import ObservableRecords

/// What the thread that reads may ask the thread of the loop for.
enum MainThread {
  static func perform(_ line: String, _ done: @escaping @Sendable () -> Void) {
    MainActor.assumeIsolated {
      print("> \(line)")
      app.perform(line)
      // The turn is saved, then the list changes, then that is drawn.
      loop.nextTurn { loop.nextTurn { done() } }
    }
  }

  static func end() { MainActor.assumeIsolated { loop.stop() } }
}
