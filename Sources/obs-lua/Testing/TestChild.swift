internal import CCommandLine
internal import FixtureChecks
internal import Glibc
internal import LuaObservables
internal import Observables

/// The work of the process that runs one file.
struct TestChild {
  let path: String
  let options: Options
  /// The descriptor to which records are written.
  let descriptor: CInt

  func run() {
    do {
      let run = try FixtureRun(path)
      ccl_showtables()
      run.host.showTablesToModules { name, isShown in ccl_setnative(name, isShown) }
      var limits = ScriptLimits()
      if let memory = options.memoryLimit { limits.memory = memory }
      if let time = options.turnTime { limits.turnTime = time }
      try run.host.limit(to: limits)
      if options.watches { sendLoads() }
      perform(run)
      run.close()
    } catch {
      write(.failed(0, "\(path): \(error)"))
    }
    write(.complete)
  }

  private func perform(_ run: FixtureRun) {
    let filter = options.testing.filter
    let runsAll = filter.isEmpty || TestFilter.contains(path, filter)
    if !runsAll {
      write(.leftOut)
      run.needsChecks = false
    }
    run.findsLeaks = options.testing.findsLeaks
    run.runsCase = { [unowned run] sentence in
      guard runsAll || TestFilter.contains(sentence, filter) else { return false }
      return !options.testing.endsAtFailure || run.failures.isEmpty
    }
    run.onEvent = { event in
      switch event {
      case .began(_, let sentence): write(.began(sentence))
      case .failed(let number, let failure): write(.failed(number, failure.text))
      case .ended(let number): write(.ended(number))
      }
    }
    run.perform(timeLimit: 3600)
    if run.loadError != nil { write(.notLoaded) }
  }

  private func sendLoads() {
    ccl_onload(
      { context, path in
        TestChild.write(.loads(String(cString: path!)), to: CInt(Int(bitPattern: context)))
      }, UnsafeMutableRawPointer(bitPattern: Int(descriptor)))
  }

  private func write(_ record: TestRecord) { Self.write(record, to: descriptor) }

  private static func write(_ record: TestRecord, to descriptor: CInt) {
    var line = record.line
    _ = line.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
  }
}

/// The test for `--filter`.
enum TestFilter {
  static func contains(_ name: String, _ text: String) -> Bool {
    let (name, text) = (Array(name.utf8), Array(text.utf8))
    guard name.count >= text.count else { return false }
    return (0...name.count - text.count).contains { name[$0...].starts(with: text) }
  }
}
