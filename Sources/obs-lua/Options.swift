internal import Observables

/// The options that `lua` lacks, with a property for each; all have long names.
struct Options {
  /// The effect on the loop of an error that no code catches.
  enum ErrorAction: String, CaseIterable {
    case stop, `continue`
  }

  /// A limit on the program's time.
  struct TimeLimit {
    var seconds: Double
    /// The number as the user wrote it.
    var text: UnsafePointer<CChar>
  }

  enum Name: String, CaseIterable {
    case help = "--help"
    case version = "--version"
    case error = "--error"
    case virtualTime = "--virtual-time"
    case timeout = "--timeout"
    case maxMemory = "--max-memory"
    case turnTime = "--turn-time"
    case sandbox = "--sandbox"
    case test = "--test"
    case tap = "--tap"
    case junit = "--junit"
    case filter = "--filter"
    case tags = "--tags"
    case excludeTags = "--exclude-tags"
    case list = "--list"
    case shuffle = "--shuffle"
    case `repeat` = "--repeat"
    case coverage = "--coverage"
    case jobs = "--jobs"
    case failFast = "--fail-fast"
    case leaks = "--leaks"
    case watch = "--watch"
    case record = "--record"
    case recordLast = "--record-last"
    case noInputs = "--no-inputs"
    case replay = "--replay"
    case until = "--until"
    case bisect = "--bisect"
    case trust = "--trust"
    case report = "--report"
    case trace = "--trace"
    case inspect = "--inspect"

    /// The value after the `=`; nil if the option takes none.
    var value: String? {
      switch self {
      case .help, .version, .virtualTime, .test, .tap, .failFast, .leaks, .list, .noInputs, .trust:
        nil
      case .watch: "reload"
      case .error: "stop|continue"
      case .timeout: "SECONDS"
      case .maxMemory: "BYTES"
      case .turnTime: "TIME"
      case .sandbox: "FOLDER|strict"
      case .junit, .coverage: "FILE"
      case .filter: "TEXT"
      case .tags, .excludeTags: "NAMES"
      case .shuffle: "SEED"
      case .record, .replay, .report, .trace: "FILE"
      case .recordLast: "TURNS"
      case .until: "TURN"
      case .bisect: "EXPRESSION"
      case .inspect: "PORT"
      case .jobs, .repeat: "N"
      }
    }

    /// What the value is, where its name does not say it.
    var valueRule: String? {
      switch self {
      case .timeout: "a number above 0"
      case .maxMemory: "a number of bytes, as 65536, 64M or 1G"
      case .turnTime: "a number and its unit, as 50ms or 2s"
      case .inspect: "a number up to 65535"
      case .recordLast, .until, .jobs, .repeat: "a whole number from 1 on"
      case .shuffle: "a whole number from 0 on"
      default: nil
      }
    }

    /// Whether `arg` has the option.
    var isSeenByScripts: Bool { ![.record, .recordLast, .noInputs, .inspect].contains(self) }

    /// Whether the command line in a recording may have the option.
    var isRecorded: Bool {
      [.error, .virtualTime, .timeout, .maxMemory, .turnTime, .sandbox].contains(self)
    }

    /// Whether the option needs something that only Linux has: timers of threads, inotify, or
    /// functions of the program that take precedence over those of Lua's library.
    var needsLinux: Bool {
      [.turnTime, .sandbox, .watch, .replay, .until, .bisect, .trust].contains(self)
    }

    /// Whether the value may be omitted.
    var isValueOptional: Bool {
      [.sandbox, .inspect, .watch, .shuffle, .coverage].contains(self)
    }

    var summary: String {
      switch self {
      case .help: "show this text"
      case .version: "show the versions of obs-lua and Lua"
      case .error: "after an error: end the loop with status 1 (stop), or go on"
      case .virtualTime: "timers don't wait: time passes when nothing else is left to do"
      case .timeout: "end with status 124 after this time; with --test a limit for each file (10)"
      case .maxMemory: "let scripts use this much memory, as 64M or 1G; more is an error"
      case .turnTime: "stop scripts that take longer in a turn, as 50ms or 2s"
      case .sandbox:
        "safe libraries, modules of FOLDER, a locked process (strict: or end)"
      case .test: "run the self-checking scripts at the paths that follow"
      case .tap: "with --test: write TAP on a terminal, too"
      case .junit: "with --test: write the results to FILE, too, as XML"
      case .filter: "with --test: only files and cases with TEXT in their names"
      case .tags: "with --test: only cases with one of these #tags in their sentences"
      case .excludeTags: "with --test: no cases with one of these #tags in their sentences"
      case .list: "with --test: print the sentences of the cases, and run none"
      case .shuffle: "with --test: random order of files, and of the cases in a describe"
      case .repeat: "with --test: run everything N times"
      case .coverage: "with --test: count the lines that run; details in FILE (lcov.info)"
      case .jobs: "with --test: run up to N files at once; otherwise as many as cores"
      case .failFast: "with --test: end after the first failure"
      case .leaks: "with --test: watchers, timers and tasks that a case leaves are failures"
      case .watch:
        "run changed scripts or tests again; reload: load only changed modules again"
      case .record: "record the run to FILE, for --report and --replay"
      case .noInputs: "with --record: no inputs such as files and the time, and no replay"
      case .replay: "repeat the run that FILE has recorded, with the same inputs and output"
      case .until: "with --replay: stop after this turn, at a prompt"
      case .bisect: "with --replay: find the first turn after which this is false"
      case .trust: "with --replay: the recording is yours; C modules and bytecode may run"
      case .report: "make FILE, a page that shows the recording that follows"
      case .trace: "make FILE from the recording that follows: trace events for Chrome"
      case .recordLast: "with --record: keep the newest turns, between TURNS and twice as many"
      case .inspect: "show the running program in a browser, at an address of this machine"
      }
    }

    /// The option as the help shows it.
    var usage: String {
      guard let value else { return rawValue }
      return isValueOptional ? "\(rawValue)[=\(value)]" : "\(rawValue)=\(value)"
    }
  }

  private(set) var asksForHelp = false
  private(set) var asksForVersion = false
  /// The effect of an uncaught error.
  ///
  /// With `--watch=reload` the program continues by default: a reload may mend the error.
  var errorAction: ErrorAction { chosenErrorAction ?? (reloads ? .continue : .stop) }
  private var chosenErrorAction: ErrorAction?
  private(set) var usesVirtualTime = false
  private(set) var timeLimit: TimeLimit?
  /// The bytes that scripts may use.
  private(set) var memoryLimit: Int?
  private(set) var turnTime: Duration?
  /// Whether scripts get only the safe libraries.
  private(set) var isSandboxed = false
  /// The folder with the sandbox's modules.
  private(set) var moduleFolder: String?
  /// Whether scripts run only in a locked process.
  private(set) var needsLock = false
  /// Whether the script runs again when a file has changed.
  private(set) var watches = false
  /// Whether changed modules are loaded again while the script runs.
  private(set) var reloads = false
  /// The file to which the run is recorded.
  private(set) var recordFile: String?
  /// Whether inputs are recorded, too.
  private(set) var recordsInputs = true
  /// The recording to replay.
  private(set) var replayFile: String?
  /// The turn after which the replay stops.
  private(set) var lastTurn: Int?
  /// The expression for which the replay finds a turn.
  private(set) var bisection: String?
  /// Whether the recording is the user's own.
  private(set) var trusts = false
  /// All options that were given.
  private(set) var given: [Name] = []
  /// The number of turns that the recording keeps at least.
  private(set) var recordedTurns: Int?
  /// The port of the inspector, 0 for any; nil without an inspector.
  private(set) var inspectorPort: Int?
  /// `--report` or `--trace`, and the file that it writes.
  private(set) var recordingTool: (name: Name, file: String)?
  private(set) var testing = TestOptions()
  /// The first option that needs `--test`.
  private(set) var testOption: Name?

  /// Parses an option, and returns its name.
  ///
  /// - Throws: `Misuse` if there is no such option, or if its value is wrong.
  mutating func take(_ argument: UnsafePointer<CChar>) throws(Misuse) -> Name {
    let text = String(cString: argument)
    let equals = text.utf8.firstIndex(of: UInt8(ascii: "="))
    let written = String(text[..<(equals ?? text.endIndex)])
    guard let name = Name(rawValue: written) else {
      throw .unknownOption(written, nearest: Self.nearest(to: written))
    }
    #if !os(Linux)
      if name.needsLinux { throw .needsLinux(name) }
    #endif
    let value = equals.map { String(text[text.index(after: $0)...]) }
    guard name.value != nil || value == nil,
      value != nil || name.value == nil || name.isValueOptional
    else { throw .wrongValue(name) }
    func nonEmpty() throws(Misuse) -> String {
      guard let value, !value.isEmpty else { throw .wrongValue(name) }
      return value
    }
    func count() throws(Misuse) -> Int {
      guard let number = value.flatMap({ Int($0) }), number > 0 else { throw .wrongValue(name) }
      return number
    }
    given.append(name)
    switch name {
    case .test:
      testing.isOn = true
    case .tap, .junit, .filter, .tags, .excludeTags, .list, .shuffle, .repeat, .coverage, .jobs,
      .failFast, .leaks:
      testOption = testOption ?? name
      guard testing.take(name, value) else { throw .wrongValue(name) }
    case .watch:
      guard value == nil || value == "reload" else { throw .wrongValue(name) }
      (watches, reloads) = (true, value != nil)
    case .record:
      recordFile = try nonEmpty()
    case .recordLast:
      recordedTurns = try count()
    case .noInputs:
      recordsInputs = false
    case .replay:
      replayFile = try nonEmpty()
    case .until:
      lastTurn = try count()
    case .bisect:
      bisection = try nonEmpty()
    case .trust:
      trusts = true
    case .inspect:
      guard let port = value.map({ Int($0) }) ?? 0, 0...65535 ~= port else {
        throw .wrongValue(name)
      }
      inspectorPort = port
    case .report, .trace:
      recordingTool = (name, try nonEmpty())
    case .help:
      asksForHelp = true
    case .version:
      asksForVersion = true
    case .virtualTime:
      usesVirtualTime = true
    case .error:
      guard let action = value.flatMap(ErrorAction.init(rawValue:)) else { throw .wrongValue(name) }
      chosenErrorAction = action
    case .maxMemory:
      guard let bytes = value.flatMap(Self.bytes) else { throw .wrongValue(name) }
      memoryLimit = bytes
    case .turnTime:
      guard let time = value.flatMap(Self.duration) else { throw .wrongValue(name) }
      turnTime = time
    case .sandbox:
      isSandboxed = true
      switch value {
      case "": throw .wrongValue(name)
      case "strict": needsLock = true
      case let folder?: moduleFolder = folder
      case nil: break
      }
    case .timeout:
      guard let seconds = value.flatMap(Double.init), seconds > 0, seconds <= 1e9 else {
        throw .wrongValue(name)
      }
      let prefix = name.rawValue.utf8.count + 1
      timeLimit = TimeLimit(seconds: seconds, text: argument + prefix)
    }
    return name
  }

  /// Parses a number of bytes such as 65536, 512K, 64M or 1G; nil if it is invalid.
  private static func bytes(in text: String) -> Int? {
    let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let unit = text.last.flatMap { units[$0] }
    guard let number = Int(unit == nil ? text[...] : text.dropLast()), number > 0 else {
      return nil
    }
    let (bytes, overflows) = number.multipliedReportingOverflow(by: unit ?? 1)
    return overflows ? nil : bytes
  }

  /// Parses a time such as 50ms or 0.5s; nil if it is invalid.
  private static func duration(in text: String) -> Duration? {
    let isMilliseconds = text.hasSuffix("ms")
    guard text.hasSuffix("s"), let number = Double(text.dropLast(isMilliseconds ? 2 : 1)),
      number > 0, number <= 1e9
    else { return nil }
    return isMilliseconds ? .milliseconds(number) : .seconds(number)
  }

  private static func nearest(to written: String) -> Name? {
    nearestName(to: written, among: Name.allCases.map(\.rawValue)).flatMap(Name.init)
  }
}
