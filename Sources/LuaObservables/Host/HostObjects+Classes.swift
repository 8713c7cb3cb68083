internal import CLua
internal import Lua
internal import Observables

/// What C knows of the properties of a class: it finds them by the address of their names, and asks for
/// their values by these functions.
final class HostClass {
  let record: UnsafeMutablePointer<clua_class>
  /// What the record refers to.
  private var accesses: [AnyObject] = []

  /// nil where there is no memory for it.
  ///
  /// The table that keeps the names is on top of the stack. [-0, +0, -]
  init?(_ properties: ModelProperties, _ host: LuaHost, _ L: OpaquePointer) {
    guard let record = clua_class_make(properties.names.count) else { return nil }
    self.record = record
    record.pointee.accessors = HostClass.accessors
    record.pointee.current = UnsafeMutableRawPointer(host.state.current)
      .assumingMemoryBound(to: OpaquePointer?.self)
    record.pointee.stamp = UnsafePointer(host.engine.trackingStamp)
    for (slot, name) in properties.names.enumerated() {
      guard let (kind, access, writable) = HostClass.access(properties.directAccess(slot), host)
      else { continue }
      accesses.append(access)
      guard (try? host.state.push(text: name, to: L)) != nil else { return nil }
      let property = clua_property(
        name: nil, access: Unmanaged.passUnretained(access).toOpaque(), kind: kind,
        writable: writable)
      guard clua_try_class_add(L, record, property) == LUA_OK else {
        clua_pop(L, 1)
        return nil
      }
    }
  }

  deinit { clua_class_free(record) }

  private static func access(
    _ access: DirectAccess, _ host: LuaHost
  ) -> (clua_property_kind, AnyObject, Bool)? {
    switch access {
    case .none: nil
    case .integer(let get, let set): (CLUA_PROPERTY_INTEGER, Access(get, set), set != nil)
    case .number(let get, let set): (CLUA_PROPERTY_NUMBER, Access(get, set), set != nil)
    case .boolean(let get, let set): (CLUA_PROPERTY_BOOLEAN, Access(get, set), set != nil)
    case .text(let get, let set): (CLUA_PROPERTY_TEXT, Access(get, set), set != nil)
    case .object(let get): (CLUA_PROPERTY_OBJECT, ObjectAccess(get, host), false)
    }
  }

  // Immutable, and made once: C is given its address.
  private nonisolated(unsafe) static let accessors: UnsafePointer<clua_accessors> = {
    let accessors = UnsafeMutablePointer<clua_accessors>.allocate(capacity: 1)
    accessors.initialize(
      to: clua_accessors(
        integer: { lua_Integer(Access<Int>.value(of: $0, $1)) },
        number: { Access<Double>.value(of: $0, $1) },
        boolean: { Access<Bool>.value(of: $0, $1) },
        text: { HostClass.copy(Access<String>.value(of: $0, $1), $2, $3) },
        object: { L, object, access in ObjectAccess.push(object, access, L!) },
        set_integer: { Access<Int>.set(Int($2), of: $0, $1) },
        set_number: { Access<Double>.set($2, of: $0, $1) },
        set_boolean: { Access<Bool>.set($2, of: $0, $1) },
        set_text: { object, access, bytes, length in
          let bytes = UnsafeRawBufferPointer(start: bytes, count: length)
          guard let text = String(validating: bytes, as: UTF8.self) else { return false }
          Access<String>.set(text, of: object, access)
          return true
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

/// A property with values of one type.
private final class Access<Value> {
  private let get: (AnyObject) -> Value
  private let set: ((AnyObject, Value) -> Void)?

  init(_ get: @escaping (AnyObject) -> Value, _ set: ((AnyObject, Value) -> Void)?) {
    (self.get, self.set) = (get, set)
  }

  @inline(__always)
  static func value(
    of object: UnsafeMutableRawPointer?, _ access: UnsafeMutableRawPointer?
  ) -> Value {
    Unmanaged<Access>.fromOpaque(access.unsafelyUnwrapped)._withUnsafeGuaranteedRef { access in
      HostObjects.withObject(object) { access.get($0) }
    }
  }

  @inline(__always)
  static func set(
    _ value: Value, of object: UnsafeMutableRawPointer?, _ access: UnsafeMutableRawPointer?
  ) {
    Unmanaged<Access>.fromOpaque(access.unsafelyUnwrapped)._withUnsafeGuaranteedRef { access in
      HostObjects.withObject(object) { access.set.unsafelyUnwrapped($0, value) }
    }
  }
}

/// A property with an object, or nil.
private final class ObjectAccess {
  private let get: (AnyObject) -> AnyObject?
  unowned(unsafe) private let host: LuaHost

  init(_ get: @escaping (AnyObject) -> AnyObject?, _ host: LuaHost) {
    (self.get, self.host) = (get, host)
  }

  static func push(
    _ object: UnsafeMutableRawPointer?, _ access: UnsafeMutableRawPointer?, _ L: OpaquePointer
  ) -> Bool {
    Unmanaged<ObjectAccess>.fromOpaque(access.unsafelyUnwrapped)._withUnsafeGuaranteedRef { access in
      guard let value = HostObjects.withObject(object, { access.get($0) }) else {
        lua_pushnil(L)
        return true
      }
      do throws(LuaError) { try access.host.objects.push(value, to: L) } catch {
        access.host.state.pushError(error, to: L)
        return false
      }
      return true
    }
  }
}
