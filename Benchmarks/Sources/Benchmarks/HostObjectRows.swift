import CPeer
import Lua
import LuaObservables
import Observables

private final class HostObject: ScriptModel {
  static let properties = ModelProperties(for: HostObject.self) {
    Property("integer", get: { $0.integer }, set: { $0.integer = $1 })
    Property("number", get: { $0.number }, set: { $0.number = $1 })
    Property("boolean", get: { $0.boolean }, set: { $0.boolean = $1 })
    Property("text", get: { $0.text }, set: { $0.text = $1 })
    Property("object", get: { $0.object }, set: { $0.object = $1 })
    Property("optional", get: { $0.optional }, set: { $0.optional = $1 })
  }
  static let methods = ModelMethods(for: HostObject.self) {
    Method("add") { (object, number: Int) in object.integer &+= number }
  }
  let observation = ModelObservation()
  var integer = 0 { didSet { observation.didSet(0, from: oldValue, to: integer) } }
  var number = 0.0 { didSet { observation.didSet(1, from: oldValue, to: number) } }
  var boolean = false { didSet { observation.didSet(2, from: oldValue, to: boolean) } }
  var text = "" { didSet { observation.didSet(3, from: oldValue, to: text) } }
  var object: HostObject? { didSet { observation.didSet(4, from: oldValue, to: object) } }
  var optional: Int? { didSet { observation.didSet(5, from: oldValue, to: optional) } }
}

/// Properties of Swift objects, read and written by scripts, compared with a userdata in C.
func addHostObjectRows(to harness: inout Harness) throws {
  let host = try LuaHost(loop: Loop(clock: .virtual))
  let object = HostObject()
  object.object = HostObject()
  host["object"] = object
  guard let peer = peer_make() else { return }
  let count = 100_000

  func script(_ body: String) -> String {
    """
    local object = object
    object.text = "hello"
    return function(n) local x for i = 1, n do \(body) end end
    """
  }
  func ours(_ body: String) throws -> Double {
    guard case .function(let function) = try host.run(script(body))[0] else { return 0 }
    return harness.time(count) { count in
      check((try? function.call(count)) != nil, "the script failed: \(body)")
    }
  }
  func theirs(_ body: String) -> Double {
    check(peer_load(peer, script(body)) != 0, "the peer doesn't load: \(body)")
    return harness.time(count) { count in
      check(peer_call(peer, Int64(count)) != 0, "the peer failed: \(body)")
    }
  }
  var floors: [String: Double] = [:]
  for (name, body, factor) in [
    ("read of an Int", "x = object.integer", 1.5), ("write of an Int", "object.integer = i", 1.5),
    ("read of a Double", "x = object.number", 1.5),
    ("write of a Double", "object.number = 0.5", 1.5),
    ("read of a Bool", "x = object.boolean", 1.5),
    ("write of a Bool", "object.boolean = true", 1.5),
    ("read of a String", "x = object.text", 1.5),
    ("write of a String", "object.text = 'hello'", 1.5),
    ("method with an Int", "object:add(1)", 2),
  ] {
    let floor = theirs(body)
    floors[name] = floor
    harness.add("Host objects in scripts", "\(name), userdata of C", floor)
    harness.add(
      "Host objects in scripts", "\(name), Swift", try ours(body), limit: factor * floor,
      "≤ \(factor == 2 ? "2" : "1.5") × userdata of C")
  }
  for (name, body, peer) in [
    ("read of an Int?", "x = object.optional", "read of an Int"),
    ("write of an Int?", "object.optional = i", "write of an Int"),
  ] {
    harness.add(
      "Host objects in scripts", name, try ours(body), limit: 1.5 * floors[peer]!,
      "≤ 1.5 × \(peer), userdata of C")
  }
  for (name, body) in [
    ("read of an object", "x = object.object"), ("write of an object", "object.object = object"),
  ] {
    harness.add("Host objects in scripts", name, try ours(body))
  }
  object.object = nil
  check(object.integer > 0 && object.text == "hello", "host objects")
}
