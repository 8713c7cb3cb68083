internal import CCommandLine
internal import LibC
internal import Observables

/// The program's inputs, which a recording notes and a replay gives back.
///
/// Confined to the main thread.
enum Outside {
  /// Notes inputs, or gives them back; nil for neither.
  nonisolated(unsafe) private(set) static var inputs: (any RunInputs)?
  /// The bytes that C code reads until the next input.
  nonisolated(unsafe) private static var held: UnsafeMutableRawBufferPointer?

  /// Uses `inputs` from now on, also for Lua's libraries and C modules.
  ///
  /// - Parameter readsInput: whether scripts read the standard input, and not a prompt.
  static func use(_ inputs: any RunInputs, readsInput: Bool) {
    self.inputs = inputs
    let functions = ccl_outside(
      take: { Outside.take($0!, $1!) }, note: { Outside.note($0!, $1!) },
      refuse: { Outside.inputs?.refuse(String(cString: $0!)) })
    if !ccl_watchoutside(functions, readsInput) {
      inputs.refuse("a system that does not let the program see the calls of Lua's library")
    }
  }

  private static func take(
    _ kind: UnsafePointer<CChar>, _ input: UnsafeMutablePointer<ccl_input>
  ) -> Bool {
    let about = input.pointee.about.map { String(cString: $0) }
    guard let recorded = inputs?.take(String(cString: kind), about: about) else { return false }
    held?.deallocate()
    held = nil
    input.pointee.result = Int64(recorded.result)
    input.pointee.error = recorded.error
    if let bytes = recorded.bytes {
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + 1, alignment: 16)
      copy.copyBytes(from: bytes + [0])
      held = copy
      input.pointee.bytes = UnsafeRawPointer(copy.baseAddress)
      input.pointee.count = bytes.count
    }
    return true
  }

  private static func note(_ kind: UnsafePointer<CChar>, _ input: UnsafePointer<ccl_input>) {
    let about = input.pointee.about.map { String(cString: $0) }
    let bytes = input.pointee.bytes.map {
      Array(UnsafeRawBufferPointer(start: $0, count: input.pointee.count))
    }
    inputs?.note(
      String(cString: kind),
      RunInput(
        about: about, result: Int(input.pointee.result), error: input.pointee.error, bytes: bytes))
  }

  /// Variables of recorded runs, which live as long as the process.
  nonisolated(unsafe) private static var variables: [UnsafeMutablePointer<CChar>] = []

  /// A variable of the environment; the text lives as long as the process.
  static func variable(_ name: String) -> UnsafePointer<CChar>? {
    guard let recorded = inputs?.take("getenv", about: name) else {
      let value = UnsafePointer(getenv(name))
      let bytes = value.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0) + 1)) }
      inputs?.note("getenv", RunInput(about: name, bytes: bytes))
      return value
    }
    guard let bytes = recorded.bytes else { return nil }
    let text = (bytes + [0]).withUnsafeBytes {
      strdup($0.assumingMemoryBound(to: CChar.self).baseAddress!)!
    }
    variables.append(text)
    return UnsafePointer(text)
  }

  /// Handles signals between pieces of the script's work; returns whether the program has to end.
  static func settles() -> Bool {
    if let recorded = inputs?.take("settle", about: nil) {
      if recorded.result != 0 { ccl_requestexit(CInt(clamping: recorded.result)) }
      return recorded.result != 0
    }
    let isOver = ccl_settle()
    inputs?.note("settle", RunInput(result: isOver ? Int(ccl_exitrequest()) : 0))
    return isOver
  }

  static let interruption = "a signal or time limit that interrupts the script"

  /// Notes that the script was interrupted, if it was.
  ///
  /// - Parameter isStop: whether a limit has stopped it.
  static func noteInterruption(isStop: Bool) {
    if isStop || ccl_isasked() { inputs?.refuse(interruption) }
  }
}
