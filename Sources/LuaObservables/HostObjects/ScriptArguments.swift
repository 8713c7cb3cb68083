internal import CLua
internal import Lua
internal import Observables

/// A method or function of the host program, as the scripts of one host call it.
final class ScriptCallee {
  // The host objects are not retained: they own the Lua function that has this callee.
  unowned(unsafe) let objects: HostObjects
  /// The name in errors.
  let name: String
  /// The number of stack values before the arguments: 1 for a method's object.
  let offset: CInt

  init(_ objects: HostObjects, _ name: String, offset: CInt) {
    (self.objects, self.name, self.offset) = (objects, name, offset)
  }
}

/// The arguments of a method or a function, taken in order.
struct ScriptArguments {
  // Calls retain nothing: the Lua function being called keeps its callee.
  unowned(unsafe) private let callee: ScriptCallee
  private let L: LuaStack
  private var index: CInt

  /// - Throws: `closed` if the calling script is closed: a library function such as `string.gsub`
  ///   may call this function before the script's next instruction, which would raise the error.
  init(of callee: ScriptCallee, _ L: LuaStack) throws(LuaError) {
    if callee.objects.host.state.interrupter.isClosing { throw .closed }
    (self.callee, self.L, index) = (callee, L, callee.offset)
  }

  /// Takes the next argument.
  ///
  /// Lua's types, and objects of exactly the requested class, skip the conversion, which takes many
  /// times as long as the call.
  mutating func next<Argument>(_ type: Argument.Type) throws -> Argument {
    index += 1
    // The types are the same, which the compiler cannot see.
    if Argument.self == Int.self {
      if let value = L.integer(at: index) { return unsafeBitCast(Int(value), to: Argument.self) }
    } else if Argument.self == Double.self {
      if L.isNumber(at: index) { return unsafeBitCast(L.number(at: index), to: Argument.self) }
    } else if Argument.self == Bool.self {
      if L.type(at: index) == .boolean {
        return unsafeBitCast(L.boolean(at: index), to: Argument.self)
      }
    } else if Argument.self == String.self {
      if let text = text { return unsafeBitCast(text, to: Argument.self) }
    } else if let object = L.isUserdata(at: index) ? callee.objects.object(at: index, of: L) : nil,
      ObjectIdentifier(Swift.type(of: object)) == ObjectIdentifier(Argument.self)
    {
      return unsafeBitCast(object, to: Argument.self)
    }
    return try converted()
  }

  /// Takes the next argument and all after it.
  mutating func rest<Element>() throws -> [Element] {
    // A conversion may use the stack, but leaves nothing on it.
    let last = L.height
    var values: [Element] = []
    index -= 1
    while index < last { values.append(try next(Element.self)) }
    return values
  }

  /// The argument as text; nil if it is no string, or not valid UTF-8.
  private var text: String? {
    guard L.isString(at: index) else { return nil }
    return callee.objects.host.state.validText(at: index, of: L)
  }

  private mutating func converted<Argument>() throws -> Argument {
    if let rest = Argument.self as? any RestOfArguments.Type {
      // The types are the same, which the compiler cannot see.
      return try rest.take(&self) as! Argument
    }
    do { return try callee.objects.take(at: index, of: L) } catch let misfit as Misfit {
      throw LuaError(
        .type, "bad argument #\(index - callee.offset) to '\(callee.name)' (\(misfit.reason))",
        underlying: misfit.underlying)
    }
  }
}
