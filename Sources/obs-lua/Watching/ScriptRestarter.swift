internal import CCommandLine
internal import LibC
internal import LuaObservables

/// Runs a script in a separate process, and again whenever the script or a file that it has loaded
/// changes.
///
/// With `reloads`, the process is asked to load the file again while it runs.
struct ScriptRestarter {
  private let name: String
  private let script: String
  private let reloads: Bool

  init(_ script: String, name: String, reloads: Bool) {
    (self.script, self.name, self.reloads) = (script, name, reloads)
  }

  /// What a process has to do after `run`.
  enum Task {
    /// Run the script. Files whose paths come from the descriptor `requests` are loaded again.
    case run(requests: CInt?)
    /// End with a status: a signal has asked for it.
    case end(CInt)
  }

  /// The time in which changes become one: short for reloads, which users wait for.
  private var settling: Duration { .milliseconds(reloads ? 10 : 50) }

  /// The texts that the process sends instead of a path: `restart` if a changed file is no module,
  /// and `done` for each path that it has handled.
  static let (restart, done) = ("\u{1}", "\u{2}")
  /// The milliseconds after which a process that does not answer is busy for ever.
  private static let patience: CInt = 2000

  /// Returns `run` in each new process, and `end` in this one.
  func run() -> Task {
    guard let watch = FileWatch(), let signals = EndSignals() else {
      ccl_writeerror(name, "the system cannot watch files")
      return .end(1)
    }
    var retried: Set<String> = []
    while true {
      // Files of the last run are still watched: a process that fails may load fewer.
      var files: Set<String> = []
      if let file = watch.addWithFolder(script) { files.insert(file) }
      let process = ccl_forkwatched()
      if process.id == 0 {
        signals.unblock()
        sendLoads(to: process.records)
        return .run(requests: reloads ? process.records : nil)
      }
      guard process.id > 0 else {
        ccl_writeerror(name, "no process could be started: \(String(cString: strerror(errno)))")
        return .end(1)
      }
      let end = wait(for: process, watch, signals, &files, &retried)
      close(process.records)
      if let end { return .end(end) }
    }
  }

  /// Waits until a file has changed, and ends the process; returns the status if a signal ends
  /// everything.
  ///
  /// After a failure any Lua file may be the missing one, even one that appeared while the process
  /// ran. A script that writes such files itself and fails would run forever, so the files for
  /// which it ran again are in `retried`, until another file has changed.
  private func wait(
    for process: ccl_process, _ watch: FileWatch, _ signals: EndSignals,
    _ files: inout Set<String>, _ retried: inout Set<String>
  ) -> CInt? {
    var paths: [UInt8] = []
    var isRunning = true
    var isRefused = false
    var unanswered = 0
    var hasFailed = false
    var missed: Set<String> = []
    while true {
      var polled = [watch.descriptor, signals.descriptor, isRunning ? process.records : -1]
        .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let found = poll(&polled, nfds_t(polled.count), unanswered > 0 ? Self.patience : -1)
      if found < 0 { continue }
      if found == 0 { isRefused = true }
      var hasEnded = false
      if polled[2].revents != 0 {
        isRunning = read(process.records, &paths, watch, &files, &isRefused, &unanswered)
        // The records end when the process ends.
        hasEnded = !isRunning
        if hasEnded {
          let status = reap(process.id)
          hasFailed = status != 0
          note(status: status)
          // It has ended without the changes.
          if unanswered > 0 { isRefused = true }
        }
      }
      if polled[1].revents != 0 {
        let (signal, isOwn) = signals.take()
        guard isRunning else { return 128 + signal }
        if isOwn { kill(process.id, signal) }
        return reap(process.id)
      }
      let changes = Set(
        polled[0].revents != 0 || watch.hasChanges
          ? watch.takeChanges(settling: settling).map(\.path) : [])
      missed.formUnion(changes.filter(FileWatch.mayBeModule))
      if hasFailed { watch.addFolders(among: missed) }
      let changed = files.intersection(changes).sorted()
      if hasEnded, hasFailed, !missed.isSubset(of: retried) {
        retried.formUnion(missed)
      } else if isRefused || hasFailed && !hasEnded && !missed.isEmpty {
        retried = []
      } else if !changed.isEmpty {
        retried = []
        if reloads, isRunning {
          for path in changed {
            _ = send(process.records, path, strlen(path) + 1, CInt(MSG_NOSIGNAL))
          }
          unanswered += changed.count
          missed.subtract(changes)
          continue
        }
      } else {
        if !isRunning { missed = [] }
        continue
      }
      if isRunning { end(process.id) }
      if isatty(STDERR_FILENO) != 0 { ccl_writeerror(name, "a file has changed: running again") }
      return nil
    }
  }

  /// Sends the stamps and paths of files that this process loads, each followed by a zero.
  private func sendLoads(to descriptor: CInt) {
    ccl_onload(
      { context, path in
        let (descriptor, path) = (CInt(Int(bitPattern: context)), String(cString: path!))
        let text = "\(FileWatch.stamp(of: path)) \(path)"
        // A pipe takes the text as a whole, or waits.
        _ = write(descriptor, text, strlen(text) + 1)
      }, UnsafeMutableRawPointer(bitPattern: Int(descriptor)))
  }

  /// Reads the paths of files that the process has loaded; returns false at the end.
  private func read(
    _ descriptor: CInt, _ paths: inout [UInt8], _ watch: FileWatch,
    _ files: inout Set<String>, _ isRefused: inout Bool, _ unanswered: inout Int
  ) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = LibC.read(descriptor, &bytes, bytes.count)
    if count < 0, errno == EINTR { return true }
    guard count > 0 else { return false }
    paths += bytes[..<count]
    while let end = paths.firstIndex(of: 0) {
      let text = String(decoding: paths[..<end], as: UTF8.self)
      if text == Self.restart {
        isRefused = true
      } else if text == Self.done {
        unanswered -= 1
      } else if let space = text.firstIndex(of: " ") {
        let (path, stamp) = (text[space...].dropFirst(), text[..<space])
        if let file = watch.addWithFolder(String(path), stamp: String(stamp)) { files.insert(file) }
      }
      paths.removeSubrange(...end)
    }
    return true
  }

  private func note(status: CInt) {
    guard isatty(STDERR_FILENO) != 0 else { return }
    ccl_writeerror(name, "ended with status \(status): waiting for a change; Ctrl-C ends it")
  }

  /// Asks a process to end, and kills it if it does not end within a second.
  private func end(_ id: pid_t) {
    kill(id, SIGTERM)
    for _ in 0..<100 {
      if waitpid(id, nil, WNOHANG) != 0 { return }
      usleep(10_000)
    }
    kill(id, SIGKILL)
    _ = reap(id)
  }

  /// Waits for the end of a process, and returns its status like a shell.
  private func reap(_ id: pid_t) -> CInt {
    var status: CInt = 0
    while waitpid(id, &status, 0) < 0 {
      if errno != EINTR { return 0 }
    }
    let signal = status & 0x7f
    return signal == 0 ? status >> 8 & 0xff : 128 + signal
  }
}

/// The signals that end a program, as a descriptor to wait for.
struct EndSignals {
  let descriptor: CInt
  private let before: sigset_t

  /// Blocks the signals; nil if the system has no descriptors left.
  init?() {
    var signals = sigset_t()
    var before = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, &before)
    self.before = before
    descriptor = ccl_signaldescriptor(&signals)
    if descriptor < 0 { return nil }
  }

  /// Unblocks the signals in a new process.
  func unblock() {
    var before = before
    pthread_sigmask(SIG_SETMASK, &before, nil)
    close(descriptor)
  }

  /// The signal that has arrived, and whether it was sent to this process alone.
  func take() -> (signal: CInt, isOwn: Bool) {
    var isOwn = false
    let signal = ccl_takesignal(descriptor, &isOwn)
    return (signal, isOwn)
  }
}
