internal import CLua
internal import Lua
internal import Observables

/// The C record of a class's properties: C finds a property by the address of its name, and reads
/// its value through these functions.
final class HostClass {
  let record: UnsafeMutablePointer<clua_class>
  /// The objects that the record refers to.
  private var accesses: [AnyObject] = []

  /// Makes the record of a class; fails if memory runs out.
  ///
  /// The table that keeps the names is on top of the stack. [-0, +0, -]
  init?(_ type: any ObservableModel.Type, _ host: LuaHost, _ L: LuaStack) {
    let properties = type.properties
    let methods = (type as? any ScriptModel.Type)?.methods.names ?? []
    guard let record = clua_class_make(properties.names.count + methods.count) else { return nil }
    self.record = record
    record.pointee.accessors = HostClass.accessors
    record.pointee.current = UnsafeMutableRawPointer(host.state.current)
      .assumingMemoryBound(to: OpaquePointer?.self)
    record.pointee.stamp = UnsafePointer(host.engine.tracking.stamp)
    record.pointee.pins = host.state.pinTable
    let isGuarded = host.writeGuard?.concerns(type) ?? false
    for (slot, name) in properties.names.enumerated() {
      guard let (kind, access, writable) = HostClass.access(properties, slot, host) else {
        continue
      }
      accesses.append(access)
      let property = clua_property(
        name: nil, access: Unmanaged.passUnretained(access).toOpaque(), kind: kind, pin: 0,
        writable: writable && !isGuarded && properties.isWritable(slot))
      guard add(property, name, host, L) else { return nil }
    }
  }

  /// Lets C find a method by its name; the host keeps `function` for its lifetime.
  ///
  /// The table that keeps the names is on top of the stack. [-0, +0, -]
  func add(_ function: LuaFunction, _ name: String, _ host: LuaHost, _ L: LuaStack) {
    _ = add(
      clua_property(
        name: nil, access: nil, kind: CLUA_PROPERTY_METHOD,
        pin: function.pin.slot, writable: false),
      name, host, L)
  }

  private func add(
    _ property: clua_property, _ name: String, _ host: LuaHost, _ L: LuaStack
  ) -> Bool {
    guard (try? host.state.push(text: name, to: L)) != nil else { return false }
    if clua_try_class_add(L.pointer, record, property) == LUA_OK { return true }
    L.pop()
    return false
  }

  deinit { clua_class_free(record) }

  private static func access(
    _ properties: ModelProperties, _ slot: Int, _ host: LuaHost
  ) -> (clua_property_kind, AnyObject, Bool)? {
    let objects: HostObjects = host.objects
    switch properties.directAccess(slot) {
    case .integer(let get, let set):
      return (CLUA_PROPERTY_INTEGER, IntegerAccess(get, set), set != nil)
    case .number(let get, let set):
      return (CLUA_PROPERTY_NUMBER, NumberAccess(get, set), set != nil)
    case .boolean(let get, let set):
      return (CLUA_PROPERTY_BOOLEAN, BooleanAccess(get, set), set != nil)
    case .text(let get, let set):
      return (CLUA_PROPERTY_TEXT, TextAccess(get, set), set != nil)
    case .optional(let get, let set):
      return (CLUA_PROPERTY_OPTIONAL, OptionalAccess(host, get, set), set != nil)
    case .object(let get, let set):
      let push: ObjectAccess.Push = { [unowned(unsafe) objects] L, object in
        guard let value = get(object) else { return L.pushNil() }
        try objects.push(value, to: L)
      }
      return (CLUA_PROPERTY_OBJECT, ObjectAccess(host, push, set), set != nil)
    case .none:
      guard let read = properties.plainRead(slot) else { return nil }
      let name = properties.names[slot]
      let push: ObjectAccess.Push = { [unowned(unsafe) objects] L, object in
        try objects.push(try read(object), of: name, properties, to: L)
      }
      return (CLUA_PROPERTY_OBJECT, ObjectAccess(host, push, nil), false)
    }
  }

  // The record is made once and never changes, so C can keep its address.
  private nonisolated(unsafe) static let accessors: UnsafePointer<clua_accessors> = {
    let accessors = UnsafeMutablePointer<clua_accessors>.allocate(capacity: 1)
    accessors.initialize(
      to: clua_accessors(
        integer: { object, access in
          with(object, access, IntegerAccess.self) { lua_Integer($1.get($0)) }
        },
        number: { object, access in with(object, access, NumberAccess.self) { $1.get($0) } },
        boolean: { object, access in with(object, access, BooleanAccess.self) { $1.get($0) } },
        text: { object, access, buffer, room in
          with(object, access, TextAccess.self) { HostClass.copy($1.get($0), buffer, room) }
        },
        optional: { L, object, access in
          with(object, access, OptionalAccess.self) {
            $1.push($0, to: LuaStack(L.unsafelyUnwrapped))
          }
        },
        object: { L, object, access in
          with(object, access, ObjectAccess.self) { $1.push($0, to: LuaStack(L.unsafelyUnwrapped)) }
        },
        set_integer: { object, access, value in
          with(object, access, IntegerAccess.self) { $1.set($0, Int(value)) }
        },
        set_number: { object, access, value in
          with(object, access, NumberAccess.self) { $1.set($0, value) }
        },
        set_boolean: { object, access, value in
          with(object, access, BooleanAccess.self) { $1.set($0, value) }
        },
        set_text: { object, access, bytes, length in
          let bytes = UnsafeRawBufferPointer(start: bytes, count: length)
            .assumingMemoryBound(to: UInt8.self)
          guard let text = String(utf8: bytes) else { return false }
          with(object, access, TextAccess.self) { $1.set($0, text) }
          return true
        },
        set_optional: { L, object, access in
          with(object, access, OptionalAccess.self) {
            $1.take($0, at: 3, of: LuaStack(L.unsafelyUnwrapped))
          }
        },
        set_object: { object, access, value in
          with(object, access, ObjectAccess.self) { object, access in
            value == nil
              ? access.set(object, nil) : HostObjects.withObject(value) { access.set(object, $0) }
          }
        }))
    return UnsafePointer(accessors)
  }()

  private static func copy(
    _ text: String, _ buffer: UnsafeMutablePointer<CChar>?, _ room: Int
  ) -> Int {
    var text = text
    return text.withUTF8 { bytes in
      if bytes.count <= room, let start = bytes.baseAddress {
        UnsafeMutableRawPointer(buffer!).copyMemory(from: start, byteCount: bytes.count)
      }
      return bytes.count
    }
  }
}

/// Runs `body` with the object of a handle and the access to one of its properties, without
/// retaining them: other code keeps both alive.
@inline(__always)
private func with<Access: AnyObject, Result>(
  _ object: UnsafeMutableRawPointer?, _ access: UnsafeMutableRawPointer?, _ type: Access.Type,
  _ body: (AnyObject, Access) -> Result
) -> Result {
  Unmanaged<Access>.fromOpaque(access.unsafelyUnwrapped)._withUnsafeGuaranteedRef { access in
    HostObjects.withObject(object) { body($0, access) }
  }
}

// These are not one generic class, which would call its closures through other closures. The
// closures are not optional for the same reason; C does not call `set` of a read-only property.

private final class IntegerAccess {
  let get: (AnyObject) -> Int
  let set: (AnyObject, Int) -> Void
  init(_ get: @escaping (AnyObject) -> Int, _ set: ((AnyObject, Int) -> Void)?) {
    self.get = get
    if let set { self.set = set } else { self.set = { _, _ in } }
  }
}

private final class NumberAccess {
  let get: (AnyObject) -> Double
  let set: (AnyObject, Double) -> Void
  init(_ get: @escaping (AnyObject) -> Double, _ set: ((AnyObject, Double) -> Void)?) {
    self.get = get
    if let set { self.set = set } else { self.set = { _, _ in } }
  }
}

private final class BooleanAccess {
  let get: (AnyObject) -> Bool
  let set: (AnyObject, Bool) -> Void
  init(_ get: @escaping (AnyObject) -> Bool, _ set: ((AnyObject, Bool) -> Void)?) {
    self.get = get
    if let set { self.set = set } else { self.set = { _, _ in } }
  }
}

private final class TextAccess {
  let get: (AnyObject) -> String
  let set: (AnyObject, String) -> Void
  init(_ get: @escaping (AnyObject) -> String, _ set: ((AnyObject, String) -> Void)?) {
    self.get = get
    if let set { self.set = set } else { self.set = { _, _ in } }
  }
}

private final class OptionalAccess {
  unowned(unsafe) private let host: LuaHost
  private let get: (AnyObject) -> DirectValue
  private let set: (AnyObject, DirectValue) -> Bool

  init(
    _ host: LuaHost, _ get: @escaping (AnyObject) -> DirectValue,
    _ set: ((AnyObject, DirectValue) -> Bool)?
  ) {
    (self.host, self.get) = (host, get)
    if let set { self.set = set } else { self.set = { _, _ in false } }
  }

  /// Pushes the value; returns false with an error pushed instead. [-0, +1, -]
  func push(_ object: AnyObject, to L: LuaStack) -> Bool {
    switch get(object) {
    case .nothing: L.pushNil()
    case .integer(let value): L.push(value)
    case .number(let value): L.push(value)
    case .boolean(let value): L.push(value)
    case .text(let value):
      do throws(LuaError) { try host.state.push(text: value, to: L) } catch {
        host.state.pushError(error, to: L)
        return false
      }
    }
    return true
  }

  /// Sets the value at an index; returns false if its type does not fit. [-0, +0, -]
  func take(_ object: AnyObject, at index: CInt, of L: LuaStack) -> Bool {
    switch L.type(at: index) {
    case .nil: return set(object, .nothing)
    case .number:
      return set(
        object, L.integer(at: index).map { .integer(Int($0)) } ?? .number(L.number(at: index)))
    case .boolean: return set(object, .boolean(L.boolean(at: index)))
    case .string:
      guard let text = host.state.validText(at: index, of: L) else { return false }
      return set(object, .text(text))
    default: return false
    }
  }
}

/// A property whose type is an object, or any other type without a C representation.
private final class ObjectAccess {
  typealias Push = (LuaStack, AnyObject) throws -> Void

  unowned(unsafe) private let host: LuaHost
  private let push: Push
  let set: (AnyObject, AnyObject?) -> Bool

  init(_ host: LuaHost, _ push: @escaping Push, _ set: ((AnyObject, AnyObject?) -> Bool)?) {
    (self.host, self.push) = (host, push)
    if let set { self.set = set } else { self.set = { _, _ in false } }
  }

  /// Pushes the value; returns false with an error pushed instead. [-0, +1, -]
  func push(_ object: AnyObject, to L: LuaStack) -> Bool {
    let height = L.height
    do {
      try push(L, object)
      return true
    } catch {
      L.height = height
      host.state.pushError(error, to: L)
      return false
    }
  }
}
