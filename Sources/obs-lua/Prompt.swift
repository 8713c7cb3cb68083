internal import CLua
internal import Glibc

/// The prompt: asks for lines until they make a chunk.
struct Prompt {
  private typealias Line = [CChar]

  /// A global that may hold a prompt, and the prompt if it doesn't.
  private struct Sign {
    var global: StaticString
    var text: StaticString

    static let first = Sign(global: "_PROMPT", text: "> ")
    static let continuation = Sign(global: "_PROMPT2", text: ">> ")
  }

  let interpreter: Interpreter
  let state: OpaquePointer

  /// Reads a chunk, as an expression if it is one, and returns how it loaded; nil at the end of the
  /// input. [-0, +1, -], or +0 at the end
  func load() throws(Interpreter.Raised) -> CInt? {
    guard var line = try read(.first) else { return nil }
    if line.first == CChar(ascii: "=") { line.replaceSubrange(..<1, with: Self.returnKeyword) }
    if load(Self.returnKeyword + line + [CChar(ascii: ";")]) == LUA_OK {
      if !line.isEmpty { remember(line) }
      return LUA_OK
    }
    clua_pop(state, 1)
    while true {
      let status = load(line)
      guard isIncomplete(status), let next = try read(.continuation) else {
        remember(line)
        return status
      }
      clua_pop(state, 1)
      line += [CChar(ascii: "\n")] + next
    }
  }

  /// Loads a text and returns how. [-0, +1, -]
  private func load(_ text: Line) -> CInt {
    luaL_loadbufferx(state, text, text.count, "=stdin", nil)
  }

  /// Whether the error message on top of the stack complains of an early end. [-0, +0, -]
  private func isIncomplete(_ status: CInt) -> Bool {
    guard status == LUA_ERRSYNTAX, let message = lua_tolstring(state, -1, nil) else { return false }
    let mark = "<eof>"
    let length = Int(strlen(message))
    return length >= mark.utf8.count && strcmp(message + length - mark.utf8.count, mark) == 0
  }

  /// Reads a line, without its end; nil at the end of the input. [-0, +0, -]
  private func read(_ sign: Sign) throws(Interpreter.Raised) -> Line? {
    lua_pushlightuserdata(state, UnsafeMutableRawPointer(mutating: sign.global.utf8Start))
    try interpreter.protect(clua_prompt, arguments: 1, results: 1)
    // The text belongs to the value on the stack.
    defer { clua_pop(state, 1) }
    let custom = lua_type(state, -1) == LUA_TSTRING ? lua_tolstring(state, -1, nil) : nil
    let standard = UnsafeRawPointer(sign.text.utf8Start).assumingMemoryBound(to: CChar.self)
    guard let text = clua_readline(custom ?? standard) else { return nil }
    defer { free(text) }
    return Line(UnsafeBufferPointer(start: text, count: Int(strlen(text))))
  }

  private func remember(_ line: Line) {
    clua_addhistory(line + [0])
  }

  private static let returnKeyword = "return ".utf8.map { CChar($0) }
}
