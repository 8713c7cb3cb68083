internal import LibC

/// Finding the code that writes.
extension KeyPathObservable {
  /// Stops the program in the debugger inside each write to an element of `path`, after the value
  /// is stored (W3).
  ///
  /// The writing code is among the callers. Without a debugger, a line about the change is written
  /// to the standard error stream. Call it on the loop's thread. It ends like any other watcher.
  ///
  /// - Precondition: a loop is given, or exactly one is selected.
  /// - Throws: ``PathError`` for a component that its object cannot have (P9).
  /// - Complexity: O(length of the path).
  @discardableResult
  public func breakOnChange(
    _ path: Path, in loop: Loop? = nil, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Watcher {
    try observeImmediately(
      path, in: loop, options: WatcherOptions(name: "break on change"), file: file, line: line
    ) { _, change in
      if isInDebugger {
        raise(SIGTRAP)
      } else {
        report(change, "\(file):\(line)")
      }
    }
  }
}

/// Whether a debugger traces the process.
private var isInDebugger: Bool {
  #if canImport(Darwin)
    var name = [CTL_KERN, KERN_PROC, KERN_PROC_PID, getpid()]
    var process = kinfo_proc()
    var size = MemoryLayout<kinfo_proc>.size
    let status = sysctl(&name, UInt32(name.count), &process, &size, nil, 0)
    return status == 0 && process.kp_proc.p_flag & P_TRACED != 0
  #else
    guard let file = fopen("/proc/self/status", "r") else { return false }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
      let text = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      guard text.starts(with: "TracerPid:".utf8) else { continue }
      return text.contains { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
    }
    return false
  #endif
}

private func report(_ change: ModelChange, _ site: String) {
  func text(_ value: Any?) -> String { value.map { "\($0)" } ?? "nil" }
  let line =
    "break on change of '\(change.path)' (registered at \(site)): "
    + "\(change.key): \(text(change.old)) → \(text(change.new))\n"
  _ = line.withCString { LibC.write(STDERR_FILENO, $0, strlen($0)) }
}
