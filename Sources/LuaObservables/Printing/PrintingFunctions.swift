internal import CLua
internal import Lua
internal import Observables

/// The module's functions for prompts: texts of values, candidates for completion, and the lines of
/// the debugging prompt.
///
/// Their Lua code is loaded when a prompt first needs it.
final class PrintingFunctions: ModuleSlice {
  private var printer: LuaFunction?
  private var completer: LuaFunction?
  private var debugPrompt: LuaFunction?

  override var functions: [NamedFunction] {
    [
      .init(
        .printing, "metatable",
        { L in
          L.pushOwnMetatable(at: 1) ? 1 : 0
        }
      ),
      .init(.printing, "definition", definition), .init(.printing, "math_type", numberKind),
      .init(.printing, "math_integer", wholeNumber),
      .init(.printing, "path_beginning", pathBeginning),
      .init(.printing, "operators", operators),
    ]
  }

  override func end() {
    (printer, completer, debugPrompt) = (nil, nil, nil)
  }

  /// definition(function) → the place of its definition, or nil for a function in C.
  private func definition(_ L: LuaStack) throws -> CInt {
    let text = host.sources.text(host.sources.definition(1, L))
    guard text != "?" else { return 0 }
    try state.push(text: text, to: L)
    return 1
  }

  /// math_type(value) → "integer" for an integer, nil for any other value.
  private func numberKind(_ L: LuaStack) throws -> CInt {
    guard L.isNumber(at: 1), L.isInteger(at: 1) else { return 0 }
    try state.push(text: "integer", to: L)
    return 1
  }

  /// math_integer(digits) → the number; nil for nil, and for a number that is too large.
  private func wholeNumber(_ L: LuaStack) throws -> CInt {
    guard L.isString(at: 1), let number = Int(state.text(at: 1, of: L)) else { return 0 }
    L.push(number)
    return 1
  }

  /// path_beginning(text) → the number of bytes before the last component, and the keys of the
  /// components before it; nothing if the text does not begin a path.
  ///
  /// The key `false` means the elements of a collection.
  private func pathBeginning(_ L: LuaStack) throws -> CInt {
    let bytes = state.bytes(at: 1, of: L)
    guard let (components, last) = try? Path.beginning(ofScript: bytes) else { return 0 }
    L.push(last)
    try state.pushTable(elements: components.count, to: L)
    for (step, component) in components.enumerated() {
      switch component.kind {
      case .every, .deep, .operation: L.push(false)
      case .slot, .element: L.push(component.number)
      case .name, .member, .key: try state.push(bytes: component.bytes, to: L)
      }
      // The array part already exists, so this allocates nothing.
      L.rawSet(index: step + 1, at: -2)
    }
    return 2
  }

  /// operators() → the names of the collection operators, in no order.
  private func operators(_ L: LuaStack) throws -> CInt {
    try state.pushTable(elements: Operation.allCases.count, to: L)
    for (place, operation) in Operation.allCases.enumerated() {
      try state.push(text: "@\(operation)", to: L)
      L.rawSet(index: place + 1, at: -2)
    }
    return 1
  }

  // MARK: Code in Lua

  /// Pushes the function that makes texts of values. [-0, +1, -]
  func pushPrinter(to L: LuaStack) throws(LuaError) {
    try loadPrinter(L)
    try push(printer, to: L)
  }

  /// Loads the printer, which also gives the order of names to other code. [-0, +0, -]
  private func loadPrinter(_ L: LuaStack) throws(LuaError) {
    if printer != nil { return }
    printer = try run("printing", with: nil, L)
  }

  /// Pushes the function that completes a text. [-0, +1, -]
  func pushCompleter(to L: LuaStack) throws(LuaError) {
    if completer == nil {
      try loadPrinter(L)
      completer = try run("completion", with: host.module.pin, L)
    }
    try push(completer, to: L)
  }

  /// Pushes the function that opens a debugging prompt. [-0, +1, -]
  func pushDebugPrompt(to L: LuaStack) throws(LuaError) {
    if debugPrompt == nil {
      try loadPrinter(L)
      debugPrompt = try run("debugprompt", with: printer?.pin, L)
    }
    try push(debugPrompt, to: L)
  }

  private func push(_ function: LuaFunction?, to L: LuaStack) throws(LuaError) {
    guard let function else { throw LuaError("the module 'obs' is not complete") }
    try state.push(function.pin, to: L)
  }

  /// Runs a file with the functions of the prelude, and returns the function that it returns.
  private func run(
    _ file: String, with other: LuaPin?, _ L: LuaStack
  ) throws(LuaError) -> LuaFunction? {
    // The program may describe values before a script requires the module.
    // Loading leaves more on the stack than the module.
    let height = L.height
    _ = try host.module.load(L)
    L.height = height
    guard let core = host.module.core else { return nil }
    try state.pushProgramFile(file, to: L)
    host.module.setGlobals(ofFunctionAt: -1, L)
    try state.push(core.pin, to: L)
    if let other { try state.push(other, to: L) } else { L.pushNil() }
    try state.tracedCall(arguments: 2, results: 1, L)
    defer { L.pop() }
    return LuaFunction(pin: try state.pin(at: -1, of: L))
  }
}
