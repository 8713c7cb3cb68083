internal import Lua
internal import Observables

/// The arguments of a method or a function, taken in order.
struct ScriptArguments {
  private let objects: HostObjects
  private let L: LuaStack
  private let function: String
  private let first: CInt
  private var index: CInt

  /// The arguments behind the first `count` values on the stack.
  init(_ objects: HostObjects, _ L: LuaStack, _ function: String, after count: CInt) {
    (self.objects, self.L, self.function) = (objects, L, function)
    (first, index) = (count, count)
  }

  mutating func next<Argument>(_ type: Argument.Type) throws -> Argument {
    index += 1
    do { return try objects.take(at: index, of: L) } catch let misfit as Misfit {
      throw LuaError(
        .type, "bad argument #\(index - first) to '\(function)' (\(misfit.reason))",
        underlying: misfit.underlying)
    }
  }
}
