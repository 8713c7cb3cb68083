internal import CCommandLine
internal import LibC

/// A process that runs a file, from its parent's point of view.
struct TestProcess {
  /// The index of the file in the list of all files.
  let index: Int
  let id: pid_t
  private var output: TestPipe
  private var records: TestPipe
  private let beginning = ContinuousClock.now
  private(set) var result: TestResult

  /// Starts the process; nil if the system refuses.
  init?(_ path: String, at index: Int, seed: UInt64?, options: Options) {
    let process = ccl_fork()
    if process.id == 0 {
      TestChild(path: path, options: options, seed: seed, descriptor: process.records).run()
      ccl_endfork(0)
    }
    guard process.id > 0 else { return nil }
    (self.index, id) = (index, process.id)
    output = TestPipe(process.output)
    records = TestPipe(process.records)
    result = TestResult(path: path)
  }

  /// The descriptors to wait for.
  var descriptors: [CInt] { [output.descriptor, records.descriptor].filter { $0 >= 0 } }

  /// The milliseconds until the file's time is up.
  func remaining(of seconds: Double) -> Double {
    let taken = (ContinuousClock.now - beginning) / .seconds(1)
    return (seconds - taken) * 1000
  }

  /// Reads from the descriptors that are ready.
  ///
  /// Returns whether the process has sent all its records.
  mutating func read(from ready: Set<CInt>) -> Bool {
    if ready.contains(output.descriptor) { output.read() }
    if ready.contains(records.descriptor) { records.read() }
    // Programs started by the script may keep the output open.
    return records.isAtEnd
  }

  /// Ends the process and its child processes, and returns the result.
  ///
  /// `reason` says why the file did not reach its end, if it did not.
  mutating func finish(because reason: String? = nil) -> TestResult {
    var status: CInt = 0
    if reason != nil { kill(-id, SIGKILL) }
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    kill(-id, SIGKILL)
    output.drain()
    records.drain()
    for line in records.text.split(separator: "\n") {
      if let record = TestRecord(line) { result.take(record) }
    }
    result.output = output.text
    result.seconds = (ContinuousClock.now - beginning) / .seconds(1)
    if !result.isComplete { result.end(because: reason ?? Self.reason(status)) }
    output.close()
    records.close()
    return result
  }

  private static func reason(_ status: CInt) -> String {
    let signal = status & 0x7f
    guard signal == 0 else {
      return "the process was ended by signal \(signal) (\(String(cString: strsignal(signal))))"
    }
    return "the process ended with status \(status >> 8 & 0xff) before the file's end"
  }
}

/// One end of a pipe, and the data received so far.
struct TestPipe {
  private(set) var descriptor: CInt
  private var bytes: [UInt8] = []
  private(set) var isAtEnd = false

  init(_ descriptor: CInt) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Reads one portion; returns false if none is available.
  @discardableResult
  mutating func read() -> Bool {
    guard descriptor >= 0 else { return false }
    var portion = [UInt8](repeating: 0, count: 65536)
    let count = LibC.read(descriptor, &portion, portion.count)
    if count > 0 {
      bytes += portion[..<count]
      return true
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return false }
    isAtEnd = true
    close()
    return false
  }

  mutating func drain() { while read() {} }

  mutating func close() {
    if descriptor >= 0 { LibC.close(descriptor) }
    descriptor = -1
  }
}
