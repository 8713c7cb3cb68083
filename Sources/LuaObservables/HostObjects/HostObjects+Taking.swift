internal import Lua
internal import Observables

/// The error for a script value that does not fit a Swift type.
struct Misfit: Error {
  /// The expected and the given type.
  let reason: String
  /// Whether the reason has more detail than the two types, such as a part of a table, or a range.
  let saysMore: Bool
  /// An error thrown by a conversion of the host program.
  var underlying: (any Error)?
}

/// A value composed of several parts, some of them perhaps without a Lua representation.
private protocol Composite {
  /// The types of its parts.
  static var parts: [Any.Type] { get }
  static func compose(at index: CInt, of L: LuaStack, _ objects: HostObjects) throws -> Self
}

/// Conversion of script values to Swift.
extension HostObjects {
  /// Returns the value at an index, converted to a type known only at run time. [-0, +0, -]
  func take(_ type: Any.Type, at index: CInt, of L: LuaStack) throws -> Any {
    func open<Value>(_ type: Value.Type) throws -> Any { try take(type, at: index, of: L) as Value }
    return try _openExistential(type, do: open)
  }

  /// Returns the value at an index, converted to a Swift type. [-0, +0, -]
  ///
  /// - Throws: `Misfit` if the value does not fit the type; `LuaError` from a metamethod, or if a
  ///   conversion fails for another reason.
  func take<Value>(
    _ type: Value.Type = Value.self, at index: CInt, of L: LuaStack
  ) throws -> Value {
    guard L.hasRoom() else { throw L.noRoom(to: "take a value") }
    let isThere = index <= L.height
    let object = isThere ? object(at: index, of: L) : nil
    var misfit: Misfit?
    if let type = type as? any LuaDecodable.Type {
      let value = isThere ? try host.state.value(at: index, of: L) : .nil
      do throws(LuaError) {
        if let value = try type.init(luaValue: value) as? Value { return value }
      } catch {
        guard error.isOfConversion else { throw error }
        // The object's class says more than its Lua type.
        if object == nil { misfit = Misfit(error, value, isThere) }
      }
    }
    if !isThere || L.isNil(at: index) {
      if let optional = type as? any ExpressibleByNilLiteral.Type,
        let value = optional.init(nilLiteral: ()) as? Value
      {
        return value
      }
    } else {
      for case let value? in try candidates(at: index, of: L) {
        if let value = fitting(value, Value.self) { return value }
      }
      if object == nil, let value = try composed(type, at: index, of: L, &misfit) { return value }
    }
    throw misfit
      ?? Misfit(
        reason:
          "\(readable(type)) expected, got \(isThere ? given(index, for: type, L) : "no value")",
        saysMore: false)
  }

  /// Converts a value to a list, a dictionary, a set, an optional of a type without a Lua
  /// representation, or by `Codable`.
  private func composed<Value>(
    _ type: Value.Type, at index: CInt, of L: LuaStack, _ misfit: inout Misfit?
  ) throws -> Value? {
    if type is any LuaDecodable.Type { return nil }
    if let type = type as? any Composite.Type {
      let height = L.height
      do { return try type.compose(at: L.absolute(index), of: L, self) as? Value } catch let
        inner as Misfit where !inner.saysMore
      {
        // An error about the whole type says more than one about a part.
        L.height = height
        return nil
      }
    }
    // An enumeration with raw values was already looked up by its raw values.
    guard let type = type as? any Decodable.Type, !(type is any RawRepresentable.Type) else {
      return nil
    }
    let value = try host.state.value(at: index, of: L)
    do throws(LuaError) { return try value.decode(type) as? Value } catch {
      guard error.isOfConversion else { throw error }
      misfit = Misfit(error, value, true)
      return nil
    }
  }

  /// Describes the value at an index, for errors about a type: for an enumeration with raw values,
  /// by the value itself, as the enumeration may lack such a case. [-0, +0, -]
  func given(_ index: CInt, for type: Any.Type, _ L: LuaStack) -> String {
    guard unwrapped(type) is any RawRepresentable.Type else { return given(index, L) }
    switch L.type(at: index) {
    case .number:
      return L.integer(at: index).map { "\($0)" } ?? "\(L.number(at: index))"
    case .string:
      let text = host.state.text(at: index, of: L)
      return text.count > 40 ? "'\(text.prefix(40))…'" : "'\(text)'"
    default: return given(index, L)
    }
  }

  /// The name of a type in errors; for an optional, the name of the wrapped type with "or nil".
  private func readable(_ type: Any.Type) -> String {
    expectation(of: type) + (type is any ExpressibleByNilLiteral.Type ? " or nil" : "")
  }

  /// Returns the elements of the list at an absolute index.
  fileprivate func list<Element>(
    of type: Element.Type, at index: CInt, of L: LuaStack
  ) throws -> [Element] {
    guard L.isTable(at: index) else {
      throw Misfit(reason: "table expected, got \(given(index, L))", saysMore: false)
    }
    let length = try host.state.length(at: index, of: L)
    // A `__len` metamethod may return any number.
    guard length < 1 << 26 else { throw LuaError("\(length) elements are too many") }
    do throws(LuaError) { try host.state.checkList(length, at: index, of: L) } catch {
      guard error.isOfConversion else { throw error }
      throw Misfit(reason: error.message, saysMore: true)
    }
    var elements: [Element] = []
    for position in 1..<Swift.max(1, length + 1) {
      try host.state.pushElement(position, at: index, of: L)
      elements.append(try element("element \(position)", L))
    }
    return elements
  }

  /// Pops a part of a value; an error names the part. [-1, +0, -]
  fileprivate func element<Element>(_ name: String, _ L: LuaStack) throws -> Element {
    defer { L.pop() }
    do { return try take(at: L.height, of: L) } catch let misfit as Misfit {
      throw Misfit(
        reason: "\(name): \(misfit.reason)", saysMore: true, underlying: misfit.underlying)
    }
  }
}

extension Misfit {
  /// Makes a misfit from an error that a conversion of `value` threw.
  init(_ error: LuaError, _ value: LuaValue, _ isThere: Bool) {
    let message = error.message
    reason = isThere ? message : absent(message)
    saysMore = !message.hasSuffix("expected, got \(value.typeName)") || message.contains(": ")
    underlying = error.underlying
  }
}

extension Array: Composite {
  fileprivate static var parts: [Any.Type] { [Element.self] }
  fileprivate static func compose(
    at index: CInt, of L: LuaStack, _ objects: HostObjects
  ) throws -> [Element] {
    try objects.list(of: Element.self, at: index, of: L)
  }
}

extension Set: Composite {
  fileprivate static var parts: [Any.Type] { [Element.self] }
  fileprivate static func compose(
    at index: CInt, of L: LuaStack, _ objects: HostObjects
  ) throws -> Set {
    Set(try objects.list(of: Element.self, at: index, of: L))
  }
}

extension Dictionary: Composite {
  fileprivate static var parts: [Any.Type] { [Key.self, Value.self] }
  fileprivate static func compose(
    at index: CInt, of L: LuaStack, _ objects: HostObjects
  ) throws -> [Key: Value] {
    guard L.isTable(at: index) else {
      throw Misfit(reason: "table expected, got \(objects.given(index, L))", saysMore: false)
    }
    var entries: [Key: Value] = [:]
    L.pushNil()
    while true {
      try objects.host.state.pushNextEntry(at: index, of: L)
      guard !L.isNil(at: -2) else {
        L.pop(2)
        return entries
      }
      let name = objects.host.state.keyName(at: -2, of: L)
      let value: Value = try objects.element("value of '\(name)'", L)
      L.pushCopy(at: -1)
      entries[try objects.element("key '\(name)'", L)] = value
    }
  }
}

extension Optional: Composite {
  fileprivate static var parts: [Any.Type] { [Wrapped.self] }
  fileprivate static func compose(
    at index: CInt, of L: LuaStack, _ objects: HostObjects
  ) throws -> Wrapped? {
    .some(try objects.take(Wrapped.self, at: index, of: L))
  }
}

/// Whether some script value could be converted to the type.
///
/// For a class or a protocol, this depends on the script's object, so the answer is true.
func canBeTaken(_ type: Any.Type) -> Bool {
  if type is any LuaDecodable.Type || type is any Decodable.Type || type is AnyClass { return true }
  if let type = type as? any Composite.Type { return type.parts.allSatisfy(canBeTaken) }
  if let type = type as? any RawRepresentable.Type { return canBeTaken(rawType(of: type)) }
  // The metadata of a type begins with its kind, whose numbers are part of the ABI. No conformance
  // distinguishes protocol types from tuples and functions.
  return unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee == 0x303
}

private func rawType<Raw: RawRepresentable>(of type: Raw.Type) -> Any.Type { Raw.RawValue.self }
