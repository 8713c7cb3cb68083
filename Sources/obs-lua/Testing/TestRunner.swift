internal import CCommandLine
internal import FixtureChecks
internal import LibC
internal import LuaObservables

/// Runs files that check themselves, each in a separate process, and reports in their order.
struct TestRunner {
  private let options: Options
  private let name: String
  private let paths: [String]

  init(_ arguments: Arguments, name: String) {
    options = arguments.options
    self.name = name
    paths = arguments.operands
  }

  /// The time limit of a file, in seconds.
  private var timeLimit: Double { options.timeLimit?.seconds ?? 10 }

  /// Runs all files, and returns the exit status; with `--watch` it continues until a signal ends
  /// it.
  func run() -> CInt {
    signal(SIGPIPE, SIG_IGN)
    let files = TestFiles(at: paths)
    for path in files.missing { ccl_writeerror(name, "there is no file or folder '\(path)'") }
    if !files.missing.isEmpty { return 2 }
    guard !files.paths.isEmpty else {
      let places = paths.map { "'\($0)'" }.joined(separator: ", ")
      ccl_writeerror(
        name, paths.isEmpty ? "'--test' needs files or folders" : "there is no *.lua in \(places)")
      return 2
    }
    guard options.watches else { return status(of: runAndReport(files.paths)) }
    guard let watch = FileWatch() else {
      ccl_writeerror(name, "the system cannot watch files")
      return 1
    }
    var known = TestDependencies()
    var waiting = files.paths
    while true {
      // Folders are watched before the files run: files that change during the run are run again.
      for path in paths + TestFiles(at: paths).folders { watch.add(path) }
      for file in waiting { watch.addWithFolder(file) }
      if !waiting.isEmpty { known.note(runAndReport(waiting), by: watch) }
      let changes = watch.waitForChanges(settling: .milliseconds(50))
      waiting = known.files(
        among: TestFiles(at: paths).paths, after: Set(changes.map(\.path)), by: watch)
    }
  }

  private func runAndReport(_ paths: [String]) -> [TestResult] {
    let testing = options.testing
    let usesTap = testing.writesTap || isatty(1) == 0
    var report: any TestReport = usesTap ? TapReport() : LineReport()
    if testing.lists { report = ListReport() }
    let seed = testing.shuffles ? testing.seed ?? .random(in: 0..<1_000_000) : nil
    write(report.begin())
    if let seed { write(report.text(of: "shuffled with --shuffle=\(seed)\n")) }
    let results = run(jobs(for: paths, seed: seed)) { result in write(report.text(for: result)) }
    write(report.end())
    if testing.coverageFile != nil {
      write(report.text(of: Coverage(of: results, in: self.paths).summary))
    }
    return results
  }

  /// A run of a file; the seed determines the order of its cases.
  private struct Job {
    let path: String
    let seed: UInt64?
  }

  /// All runs: each repetition has another order.
  private func jobs(for paths: [String], seed: UInt64?) -> [Job] {
    (0..<UInt64(options.testing.repetitions)).flatMap { repetition in
      guard let seed = seed.map({ $0 &+ repetition }) else {
        return paths.map { Job(path: $0, seed: nil) }
      }
      var random = ShuffleGenerator(seed: seed)
      return paths.shuffled(using: &random).map { Job(path: $0, seed: seed) }
    }
  }

  /// Writes a text completely: output of a script may have zeros, which end a C string.
  private func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { ccl_writebytes($0.baseAddress, $0.count) }
    }
  }

  private func status(of results: [TestResult]) -> CInt {
    // A reader that misses results must not take them for good ones.
    guard ccl_checkoutput(name) else { return 2 }
    if let file = options.testing.resultFile, !writeFile(JUnitReport.text(of: results), to: file) {
      return 2
    }
    if let file = options.testing.coverageFile,
      !writeFile(Coverage(of: results, in: paths).lcov, to: file)
    {
      return 2
    }
    if results.contains(where: { !$0.didLoad }) { return 1 }
    if options.testing.lists { return 0 }
    if results.contains(where: \.hasFailed) { return 3 }
    guard results.contains(where: { !$0.shownCases.isEmpty }) else {
      let filter = options.testing.filter
      ccl_writeerror(
        name,
        filter.isEmpty
          ? "no case is left by the tags" : "no file or case has '\(filter)' in its name")
      return 2
    }
    return 0
  }

  /// Writes a file; reports a failure and returns false.
  private func writeFile(_ text: String, to path: String) -> Bool {
    if let file = fopen(path, "w") {
      let isWritten = fputs(text, file) >= 0
      if fclose(file) == 0 && isWritten { return true }
    }
    ccl_writeerror(name, "cannot write '\(path)': \(String(cString: strerror(errno)))")
    return false
  }

  /// Runs the files concurrently, and reports their results in order.
  private func run(_ jobs: [Job], report: (TestResult) -> Void) -> [TestResult] {
    let cores = max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))
    let width = min(options.testing.jobs ?? cores, jobs.count)
    var waiting = Array(jobs.enumerated())[...]
    var running: [TestProcess] = []
    var done: [Int: TestResult] = [:]
    var results: [TestResult] = []
    while results.count < jobs.count {
      while running.count < width, let (index, job) = waiting.popFirst() {
        if let process = TestProcess(job.path, at: index, seed: job.seed, options: options) {
          running.append(process)
        } else {
          var result = TestResult(path: job.path)
          result.end(because: "no process could be started: \(String(cString: strerror(errno)))")
          done[index] = result
        }
      }
      for result in step(&running) { done[result.index] = result.result }
      while let result = done.removeValue(forKey: results.count) {
        results.append(result)
        report(result)
        if options.testing.endsAtFailure, result.hasFailed {
          for var process in running { _ = process.finish(because: "ended by --fail-fast") }
          return results
        }
      }
    }
    return results
  }

  /// Waits for data from a process, and returns the finished results.
  private func step(_ running: inout [TestProcess]) -> [(index: Int, result: TestResult)] {
    guard !running.isEmpty else { return [] }
    var polled = running.flatMap(\.descriptors).map { descriptor in
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    }
    let next = running.map { $0.remaining(of: timeLimit) }.min() ?? 0
    let wait = CInt(max(0, min(next + 1, 1e9)))
    if poll(&polled, nfds_t(polled.count), wait) < 0 { polled = [] }
    let ready = Set(polled.filter { $0.revents != 0 }.map(\.fd))
    var finished: [(index: Int, result: TestResult)] = []
    var others: [TestProcess] = []
    for var process in running {
      if process.read(from: ready) {
        finished.append((process.index, process.finish()))
      } else if process.remaining(of: timeLimit) <= 0 {
        let limit = options.timeLimit.map { String(cString: $0.text) } ?? "10"
        let reason = "hung: no end within \(limit) s (--timeout=\(limit))"
        finished.append((process.index, process.finish(because: reason)))
      } else {
        others.append(process)
      }
    }
    running = others
    return finished
  }
}
