internal import CCommandLine
internal import CLua
internal import LibC
internal import Lua

/// The prompt: reads lines until they make a chunk.
struct Prompt {
  private typealias Line = [CChar]

  /// The result of reading a line.
  private enum Answer {
    case line(Line)
    /// The input has ended, or a signal ends the program.
    case end
    /// SIGINT: the typed text is dropped.
    case dropped
  }

  /// The result of reading a chunk.
  private enum Chunk {
    case loaded(CInt)
    case end
    case dropped
  }

  /// A global that may hold a prompt, and the default prompt.
  private struct Sign {
    var global: StaticString
    var text: StaticString

    static let first = Sign(global: "_PROMPT", text: "> ")
    static let continuation = Sign(global: "_PROMPT2", text: ">> ")
  }

  let interpreter: Interpreter
  let L: LuaStack
  /// The additional features for terminals; nil on a pipe.
  let session: TerminalSession?

  /// Reads a chunk, as an expression if possible, and returns its load status; nil at the end of
  /// the input. [-0, +1, -] , or +0 at the end
  func load() throws(Interpreter.Raised) -> CInt? {
    session?.leave()
    while true {
      switch try loadChunk() {
      case .loaded(let status): return status
      case .end: return nil
      case .dropped: continue
      }
    }
  }

  /// Reads and loads one chunk. [-0, +1, -] , or +0 without a chunk
  private func loadChunk() throws(Interpreter.Raised) -> Chunk {
    var line: Line
    switch try read(.first) {
    case .line(let first): line = first
    case .end: return .end
    case .dropped: return .dropped
    }
    switch session?.run(line) {
    case nil: break
    case .help:
      remember(line)
      return .dropped
    case .exit: return .end
    }
    defer { session?.pass(line) }
    if line.first == CChar(ascii: "=") { line.replaceSubrange(..<1, with: Self.returnKeyword) }
    if load(Self.returnKeyword + line + [CChar(ascii: ";")]) == LUA_OK {
      if !line.isEmpty { remember(line) }
      return .loaded(LUA_OK)
    }
    L.pop()
    while true {
      let status = load(line)
      let next = isIncomplete(status) ? try read(.continuation) : .end
      switch next {
      case .line(let next):
        L.pop()
        line += [CChar(ascii: "\n")] + next
      case .end:
        remember(line)
        return .loaded(status)
      case .dropped:
        L.pop()
        return .dropped
      }
    }
  }

  /// Loads a text and returns the status. [-0, +1, -]
  private func load(_ text: Line) -> CInt {
    if let session { return session.load(text) }
    return luaL_loadbufferx(L.pointer, text, text.count, "=stdin", nil)
  }

  /// Whether the error message on top of the stack complains about an early end. [-0, +0, -]
  private func isIncomplete(_ status: CInt) -> Bool {
    guard status == LUA_ERRSYNTAX, let message = lua_tolstring(L.pointer, -1, nil) else {
      return false
    }
    let mark = "<eof>"
    let length = Int(strlen(message))
    return length >= mark.utf8.count && strcmp(message + length - mark.utf8.count, mark) == 0
  }

  /// Reads a line, without its line break. [-0, +0, -]
  private func read(_ sign: Sign) throws(Interpreter.Raised) -> Answer {
    try push(sign)
    // The text belongs to the value on the stack.
    defer { L.pop() }
    let custom = L.isString(at: -1) ? lua_tolstring(L.pointer, -1, nil) : nil
    let standard = UnsafeRawPointer(sign.text.utf8Start).assumingMemoryBound(to: CChar.self)
    var text: UnsafeMutablePointer<CChar>?
    let answer = ccl_readline(custom ?? standard, &text)
    guard let text else { return answer == CCL_LINE_DROPPED ? .dropped : .end }
    defer { free(text) }
    return .line(Line(UnsafeBufferPointer(start: text, count: Int(strlen(text)))))
  }

  /// Pushes the value of a global that may hold a prompt. [-0, +1, -]
  ///
  /// On a terminal the prompt continues if reading an undefined global raises an error.
  private func push(_ sign: Sign) throws(Interpreter.Raised) {
    L.push(UnsafeMutableRawPointer(mutating: sign.global.utf8Start))
    do {
      try interpreter.protect(ccl_prompt, arguments: 1, results: 1)
    } catch {
      if session == nil { throw error }
      L.pop()
      L.pushNil()
    }
  }

  private func remember(_ line: Line) {
    ccl_addhistory(line + [0])
  }

  private static let returnKeyword = "return ".utf8.map { CChar($0) }
}
