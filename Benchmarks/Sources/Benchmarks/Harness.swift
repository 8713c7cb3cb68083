#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// One line of the report.
struct Row {
  let concept: String
  let name: String
  let value: Double
  let unit: String
  /// The upper limit, and its text in the report; nil for floors and peers.
  var limit: (value: Double, text: String)?
}

/// Measures closures: the median of repeated runs, each long enough for the clock.
struct Harness {
  private(set) var rows: [Row] = []
  private let runs = 15

  static func nanoseconds(of clock: clockid_t = CLOCK_MONOTONIC) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  /// The median time of one of `count` operations of `body`, in nanoseconds.
  ///
  /// Only this thread's processor time counts, as other programs may be running.
  func time(_ count: Int, _ body: (_ count: Int) -> Void) -> Double {
    body(count)
    let times = (0..<runs).map { _ in
      let start = Self.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID)
      body(count)
      return Self.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) - start
    }
    return times.sorted()[runs / 2] / Double(count)
  }

  mutating func add(
    _ concept: String, _ name: String, _ value: Double, unit: String = "ns",
    limit: Double? = nil, _ text: String? = nil
  ) {
    add(
      Row(
        concept: concept, name: name, value: value, unit: unit,
        limit: limit.map { ($0, text ?? "≤ \(formatted($0)) \(unit)") }))
  }

  mutating func add(_ row: Row) { rows.append(row) }
}

/// Two digits after the point for small numbers, none for large ones.
func formatted(_ value: Double) -> String {
  if value >= 100 { return "\(Int(value.rounded()))" }
  return "\((value * 100).rounded() / 100)"
}

/// Stops the program if a benchmark did not do the work that it measures.
func check(_ isRight: Bool, _ what: String) {
  precondition(isRight, "The answer is wrong: \(what)")
}

/// Keeps the optimizer from computing a value in advance.
@inline(never)
@_optimize(none)
func opaque<Value>(_ value: Value) -> Value { value }

/// The resident memory of the process in bytes, after the C heap has returned free memory.
func residentBytes() -> Int {
  if let trim = dlsym(nil, "malloc_trim") {
    _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> Int32).self)(0)
  }
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 128)
  guard fgets(&line, 128, file) != nil else { return 0 }
  let fields = line.prefix { $0 != 0 }.split(separator: CChar(UInt8(ascii: " ")))
  let pages = fields[1].reduce(0) { $0 * 10 + Int($1) - 48 }
  return pages * sysconf(Int32(_SC_PAGESIZE))
}
