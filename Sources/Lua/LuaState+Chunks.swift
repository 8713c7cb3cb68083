internal import CLua

extension LuaState {
  /// The kinds of chunks to accept.
  public enum ChunkKind: Sendable {
    /// Source text only: malicious bytecode can crash a process.
    case text
    /// Bytecode only, from a trusted source.
    case bytecode
    /// Either, from a trusted source.
    case any

    fileprivate var mode: String {
      switch self {
      case .text: "t"
      case .bytecode: "b"
      case .any: "bt"
      }
    }
  }

  /// Compiles a chunk.
  ///
  /// `name` is the chunk's name in errors: after `@` the path of a file, after `=` a literal name;
  /// otherwise, and by default, the text itself.
  /// - Throws: `syntax`, `memory`, `closed`.
  /// - Complexity: O(*n*).
  public func load(_ source: String, name: String? = nil) throws(LuaError) -> LuaFunction {
    try load(Array(source.utf8), name: name ?? source)
  }

  /// Compiles a chunk of bytes.
  ///
  /// - Throws: `syntax`, also for a chunk of another kind; `memory`, `closed`.
  /// - Complexity: O(*n*).
  public func load(
    _ source: [UInt8], name: String, kind: ChunkKind = .text
  ) throws(LuaError) -> LuaFunction {
    try withStack { L throws(LuaError) in
      let status = source.withUnsafeBufferPointer { source in
        source.withMemoryRebound(to: CChar.self) { source in
          clua_try_load(L.pointer, source.baseAddress, source.count, name, kind.mode)
        }
      }
      try check(status, L)
      return LuaFunction(pin: try pin(L))
    }
  }

  /// Compiles the chunk in a file, without its first line if that begins with `#`.
  ///
  /// - Throws: `file` if it cannot be read, `syntax`, `memory`, `closed`.
  /// - Complexity: O(*n*).
  public func loadFile(
    _ path: String, kind: ChunkKind = .text
  ) throws(LuaError) -> LuaFunction {
    guard !path.utf8.contains(0) else {
      throw LuaError(.file, "cannot open \(path): the path contains a zero byte")
    }
    return try withStack { L throws(LuaError) in
      try check(clua_try_loadfile(L.pointer, path, kind.mode), L)
      return LuaFunction(pin: try pin(L))
    }
  }

  /// Compiles the text of a file that was already read, like ``loadFile(_:kind:)``.
  package func load(contents: [UInt8], of path: String) throws(LuaError) -> LuaFunction {
    var length = contents.count
    let start = contents.withUnsafeBufferPointer { contents in
      contents.withMemoryRebound(to: CChar.self) { contents in
        contents.baseAddress.map { clua_skipheading($0, &length) - $0 } ?? 0
      }
    }
    return try load(Array(contents[start..<start + length]), name: "@" + path)
  }

  /// Compiles and runs a chunk of text, and returns its results.
  ///
  /// - Throws: `syntax`, `runtime`, `memory`, `handler`, `closed`.
  @discardableResult
  public func run(_ source: String, name: String? = nil) throws(LuaError) -> [LuaValue] {
    try load(source, name: name).callPlainly()
  }

  /// Compiles and runs a chunk of text, and returns its first result.
  ///
  /// - Throws: `syntax`, `runtime`, `memory`, `handler`, `closed`; `type` if the result has another
  ///   type.
  public func run<Result: LuaDecodable>(
    _ source: String, name: String? = nil, as type: Result.Type
  ) throws(LuaError) -> Result {
    try load(source, name: name).callPlainly(as: type)
  }

  /// Compiles and runs the chunk in a file, which receives `arguments` as `...`.
  ///
  /// - Throws: `file`, `syntax`, `runtime`, `memory`, `handler`, `closed`.
  @discardableResult
  public func runFile(
    _ path: String, arguments: [LuaValue] = []
  ) throws(LuaError) -> [LuaValue] {
    try loadFile(path).callPlainly(arguments: arguments)
  }
}
