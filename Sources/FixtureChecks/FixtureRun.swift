package import Lua
package import LuaObservables
internal import Observables

/// One run of a script that checks itself, with a separate host and loop, and the failures found.
///
/// Eight of its properties are settings of the code that runs it.
package final class FixtureRun {
  /// An event in a run.
  ///
  /// Cases are numbered from 1; 0 is the file outside of all cases.
  package enum Event {
    case began(Int, sentence: String)
    case failed(Int, FixtureFailure)
    case skipped(Int, reason: String)
    /// A remark on a case that has not failed.
    case remarked(Int, String)
    case ended(Int)
  }

  package let host: LuaHost
  package private(set) var failures: [FixtureFailure] = []
  /// Called for every event.
  package var onEvent: (Event) -> Void = { _ in }
  /// Whether an outermost case should run.
  package var selects: (_ sentence: String) -> Bool = { _ in true }
  /// Whether cases are only listed, and not run.
  package var listsCases = false
  /// Shuffles the cases of a `describe`; nil to run them in their order.
  package var random: ShuffleGenerator?
  /// The error that kept the file from loading, which is a failure, too.
  package private(set) var loadError: LuaError?
  private let loop: Loop
  /// Whether a script without checks fails; false if some of its cases are skipped.
  package var needsChecks = true
  /// Whether no further outermost case runs after a failure.
  package var endsAtFailure = false
  /// Whether leaks make a case fail: watchers, timers, handlers and tasks that were made in it and
  /// have not ended.
  package var findsLeaks = false
  private var caseCount = 0
  /// The cases that have begun and not ended; errors in callbacks belong to the last one.
  private var openCases: [OpenCase] = []
  /// How many of the live objects were already reported by cases in concurrent tasks.
  private var reportedLeaks: [LiveObject: Int] = [:]
  private var checks = 0
  private let path: String
  /// The path of the script in messages, which shorten long paths.
  private var shownPath = ""
  /// Calls the functions that the script registered for its end.
  private var finish: LuaFunction?
  /// Whether callbacks of the loop are running: time must not pass in them.
  private var isRunningLoop = false
  /// The maximum number of reported failures per script, which may fail in a loop.
  private static let mostFailures = 100

  package init(_ path: String) throws {
    self.path = path
    loop = Loop(clock: .virtual)
    host = try LuaHost(loop: loop)
    host.operationExecutor = OperationThread.shared
    host.onError = { [unowned self] report in note(report) }
    loop.onError = { [unowned self] error in host.report(error) }
    try install()
  }

  package func close() { host.close() }

  /// Adds the checks, and makes `require` find the files beside the fixture.
  private func install() throws {
    let state = host.state
    let core = try state.makeTable()
    try core.set("checked", to: state.function("checked") { [unowned self] in checks += 1 })
    try core.set(
      "failed",
      to: state.function("failed") {
        [unowned self]
        (message: LuaString, file: LuaString, line: Int, number: Int) in
        fail(
          String(file.description.drop { $0 == "@" }), line, message.description, in: number)
      })
    try core.set(
      "raised",
      to: state.function("raised") {
        [unowned self] (sentence: LuaString, message: LuaString, traceback: LuaString, number: Int)
        in
        let shown = host.state.withoutOwnCode(traceback.description)
        fail(message.description, shown, after: sentence.description, in: number)
      })
    try core.set(
      "began",
      to: state.function("began") {
        [unowned self]
        (sentence: LuaString, outer: Int, isForced: Bool, first: Int, last: Int) in
        begin(
          sentence.description, in: outer, isForced: isForced, lines: first...max(first, last))
      })
    try core.set(
      "skipped",
      to: state.function("skipped") { [unowned self] (number: Int, reason: LuaString) in
        skip(number, because: reason.description)
      })
    try core.set(
      "ended",
      to: state.function("ended") { [unowned self] (number: Int, findsLeaks: Bool) in
        end(number, findsLeaks: findsLeaks)
      })
    try core.set(
      "selects",
      to: state.function("selects") { [unowned self] (sentence: LuaString) in
        select(sentence.description)
      })
    try core.set("lists", to: state.function("lists") { [unowned self] in listsCases })
    try core.set(
      "pick",
      to: state.function("pick") { [unowned self] (count: Int) -> Int? in
        random == nil ? nil : Int.random(in: 1...count, using: &random!)
      })
    try core.set(
      "nearest",
      to: state.function("nearest") { (name: LuaString, names: LuaString) in
        nearestName(
          to: name.description, among: names.description.split(separator: " ").map(String.init))
      })
    try core.set("settle", to: state.function("settle") { [unowned self] in settle() })
    try core.set("finds_leaks", to: state.function("finds_leaks") { [unowned self] in findsLeaks })
    try core.set(
      "advance",
      to: state.function("advance") { [unowned self] (seconds: Double) in advance(by: seconds) })
    shownPath = try state.loadProgramFile("checks").callPlainly(
      core, "@\(path)", as: String.self)
    finish = try state.loadProgramFile("cases").callPlainly(core, as: LuaFunction.self)
    for name in ["spies", "assertions"] { _ = try state.loadProgramFile(name).callPlainly(core) }
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let library = try state.globals.get("package", as: LuaTable.self)
    let pattern = folder.joined(separator: "/") + "/?.lua;"
    try library.set("path", to: pattern + library.get("path", as: String.self))
  }

  /// Runs the script, and the loop until nothing remains to do.
  package func perform(timeLimit: Double) {
    do {
      try host.run(file: path)
      if runLoop(for: timeLimit) { failOpenCases() }
      try finish?.call()
    } catch {
      if error.code == .syntax || error.code == .file { loadError = error }
      fail(error.message, error.traceback, in: 0)
    }
    if checks == 0, failures.isEmpty, needsChecks, !listsCases {
      fail(
        path, 1, "the script ended without a check, such as expect(value, \"what\")", in: 0)
    }
  }

  /// Returns whether the loop ended because nothing remains to do.
  private func runLoop(for seconds: Double) -> Bool {
    let end = loop.now + seconds
    isRunningLoop = true
    defer { isRunningLoop = false }
    while loop.step() {
      if let due = loop.nextDue, due > end {
        fail(
          path, 1,
          """
          \(seconds) s of virtual time after the script's end there are still timers; \
          stop repeating timers
          """, in: 0)
        return false
      }
      loop.wait(until: loop.nextDue)
    }
    return true
  }

  /// Fails cases in tasks that still wait at the end: they have not made all their checks.
  private func failOpenCases() {
    for open in openCases {
      fail(
        path, open.lines.lowerBound,
        "\(open.sentence): it did not finish: it waits for an event that never comes",
        in: open.number)
    }
  }

  /// Advances time; returns the reason if that is not possible here.
  private func advance(by seconds: Double) -> String? {
    if isRunningLoop || host.engine.isOccupied {
      return "advance cannot be called in a callback or a batch (a task may call obs.sleep)"
    }
    isRunningLoop = true
    defer { isRunningLoop = false }
    loop.advance(by: seconds)
    return nil
  }

  // MARK: Cases

  /// Whether an outermost case should run.
  private func select(_ sentence: String) -> Bool {
    if selects(sentence) { return !endsAtFailure || failures.isEmpty }
    needsChecks = false
    return false
  }

  /// Begins a case in an outer one, or in none, 0.
  ///
  /// Returns its number; nil if it should not run.
  private func begin(
    _ sentence: String, in outer: Int, isForced: Bool, lines: ClosedRange<Int>
  ) -> Int? {
    guard isForced || outer != 0 || select(sentence) else { return nil }
    caseCount += 1
    openCases.append(
      OpenCase(
        number: caseCount, outer: outer, sentence: sentence, lines: lines,
        begin: outer == 0 && findsLeaks ? host.moment : nil, checks: checks))
    onEvent(.began(caseCount, sentence: sentence))
    return caseCount
  }

  private func skip(_ number: Int, because reason: String) {
    change(number) { $0.needsCheck = false }
    onEvent(.skipped(number, reason: reason))
  }

  /// Ends a case: it fails if an inner case failed, and there is a remark if it made no check.
  private func end(_ number: Int, findsLeaks: Bool) {
    if findsLeaks { reportLeaks(in: number) }
    if let open = openCases.first(where: { $0.number == number }) {
      if open.needsCheck, !open.hasFailed, open.checks == checks, !listsCases {
        // This is no failure, as functions of the script may have checked something themselves.
        onEvent(.remarked(number, "the case made no check, such as expect(value, \"what\")"))
      }
      if open.hasFailed { failOuter(open.outer) }
    }
    openCases.removeAll { $0.number == number }
    if openCases.isEmpty { reportedLeaks = [:] }
    onEvent(.ended(number))
  }

  /// Reports that the case around a failed one has failed.
  ///
  /// `failures` already has the inner failure, so nothing is added.
  private func failOuter(_ number: Int) {
    guard let open = openCases.first(where: { $0.number == number }), !open.hasFailed else {
      return
    }
    change(number) { $0.hasFailed = true }
    let message = "\(open.sentence): an inner case failed"
    onEvent(
      .failed(
        number, FixtureFailure(file: path, line: open.lines.lowerBound, message: message)))
  }

  private func change(_ number: Int, _ body: (inout OpenCase) -> Void) {
    for index in openCases.indices where openCases[index].number == number {
      body(&openCases[index])
    }
  }

  /// Makes pending calls at the end of a case, so that watchers that end with their call have
  /// ended.
  private func settle() {
    if !host.engine.isOccupied { loop.flush() }
  }

  /// A case that has begun and not ended.
  private struct OpenCase {
    let number: Int
    /// The number of the case around it, or 0.
    let outer: Int
    let sentence: String
    /// The lines of its function.
    let lines: ClosedRange<Int>
    /// When it began; nil for a nested case, or if leaks are not checked.
    let begin: LuaHost.Moment?
    /// The number of checks before it.
    let checks: Int
    var needsCheck = true
    var hasFailed = false
  }

  /// Reports the leaks of an outermost case; garbage has already been collected.
  ///
  /// While other cases run in tasks, objects made in the lines of such a case belong to it.
  private func reportLeaks(in number: Int) {
    guard let own = openCases.first(where: { $0.number == number }), let begin = own.begin
    else { return }
    let others = openCases.filter { $0.number != number && $0.begin != nil }
    host.engine.watchers.stopOrphans()
    var (counts, order): ([LiveObject: Int], [LiveObject]) = ([:], [])
    for object in host.live(since: begin) {
      let line = line(of: shownPath, message: "", traceback: nil, site: object.site)
      if let line, others.contains(where: { $0.lines.contains(line) }) { continue }
      // Another case may be running in a task that is outside of all cases.
      let isOwn = line.map(own.lines.contains) ?? false
      if object.kind == .task, !others.isEmpty, !isOwn { continue }
      if counts[object] == nil { order.append(object) }
      counts[object, default: 0] += 1
    }
    for object in order {
      let count = counts[object, default: 0] - reportedLeaks[object, default: 0]
      if count <= 0 { continue }
      if !others.isEmpty { reportedLeaks[object, default: 0] += count }
      let message = "left behind: \(object)\(count == 1 ? "" : " (\(count) times)")"
      fail(
        path, line(of: shownPath, message: "", traceback: nil, site: object.site) ?? 1, message,
        in: number)
    }
  }

  // MARK: Findings

  private func note(_ report: LuaReport) {
    let error = report.error
    let line =
      line(
        of: shownPath, message: error.message, traceback: error.traceback, site: report.site) ?? 1
    fail(path, line, report.description, in: openCases.last?.number ?? 0)
  }

  private func fail(
    _ message: String, _ traceback: String?, after sentence: String = "", in number: Int
  ) {
    let line = line(of: shownPath, message: message, traceback: traceback) ?? 1
    fail(path, line, sentence + message + (traceback.map { "\n" + $0 } ?? ""), in: number)
  }

  private func fail(_ file: String, _ line: Int, _ message: String, in number: Int) {
    change(number) { $0.hasFailed = true }
    guard failures.count <= FixtureRun.mostFailures else { return }
    let isLast = failures.count == FixtureRun.mostFailures
    let failure = FixtureFailure(
      file: file, line: line, message: isLast ? "further failures are not shown" : message)
    failures.append(failure)
    onEvent(.failed(number, failure))
  }
}
