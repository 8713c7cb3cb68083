internal import CCommandLine
internal import FixtureChecks
internal import LibC
internal import Lua
internal import LuaObservables
internal import Observables

/// The work of the process that runs one file.
struct TestChild {
  let path: String
  let options: Options
  /// The seed of the order of cases; nil to run them in their order.
  let seed: UInt64?
  /// The descriptor to which records are written.
  let descriptor: CInt

  func run() {
    do {
      let run = try FixtureRun(path)
      showTablesToModules(run.host)
      var limits = ScriptLimits()
      if let memory = options.memoryLimit { limits.memory = memory }
      if let time = options.turnTime { limits.turnTime = time }
      try run.host.limit(to: limits)
      if options.watches { sendLoads() }
      let counts = options.testing.coverageFile != nil
      if counts { try run.host.state.withStack { L in ccl_countlines(L.pointer) } }
      perform(run)
      run.close()
      if counts { sendCoverage() }
    } catch {
      write(.failed(0, "\(path): \(error)"))
    }
    write(.complete)
  }

  private func perform(_ run: FixtureRun) {
    let testing = options.testing
    let runsAll = testing.filter.isEmpty || TestFilter.contains(path, testing.filter)
    if !runsAll || testing.choosesByTags {
      write(.leftOut)
      run.needsChecks = false
    }
    run.findsLeaks = testing.findsLeaks
    run.endsAtFailure = testing.endsAtFailure
    run.listsCases = testing.lists
    run.random = seed.map(ShuffleGenerator.init)
    run.selects = { sentence in
      guard runsAll || TestFilter.contains(sentence, testing.filter) else { return false }
      let tags = TestFilter.tags(in: sentence)
      return !testing.excludedTags.contains(where: tags.contains)
        && (testing.tags.isEmpty || testing.tags.contains(where: tags.contains))
    }
    run.onEvent = { event in
      switch event {
      case .began(_, let sentence): write(.began(sentence))
      case .failed(let number, let failure): write(.failed(number, failure.text))
      case .skipped(let number, let reason): write(.skipped(number, reason))
      case .remarked(let number, let text): write(.remarked(number, text))
      case .ended(let number): write(.ended(number))
      }
    }
    run.perform(timeLimit: 3600)
    if run.loadError != nil { write(.notLoaded) }
  }

  private func sendLoads() {
    ccl_onload(
      { context, path in
        let path = String(cString: path!)
        TestChild.write(
          .loads(path, stamp: FileWatch.stamp(of: path)), to: CInt(Int(bitPattern: context)))
      }, UnsafeMutableRawPointer(bitPattern: Int(descriptor)))
  }

  private func sendCoverage() {
    let coverage = ChildCoverage()
    for (path, counts) in coverage.files { write(.covered(path, counts)) }
  }

  private func write(_ record: TestRecord) { Self.write(record, to: descriptor) }

  private static func write(_ record: TestRecord, to descriptor: CInt) {
    var line = record.line
    _ = line.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
  }
}

/// The tests for `--filter` and `--tags`.
enum TestFilter {
  /// The tags of a sentence, such as `slow` in "it waits #slow".
  static func tags(in sentence: String) -> Set<String> {
    let words = sentence.split(separator: "#", omittingEmptySubsequences: false).dropFirst()
    return Set(
      words.map { word in
        String(word.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" })
      })
  }

  static func contains(_ name: String, _ text: String) -> Bool {
    let (name, text) = (Array(name.utf8), Array(text.utf8))
    guard name.count >= text.count else { return false }
    return (0...name.count - text.count).contains { name[$0...].starts(with: text) }
  }
}
