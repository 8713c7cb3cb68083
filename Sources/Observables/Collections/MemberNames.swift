/// The names of a set's members in key paths (C6); a member with an exact text is named by it, and
/// any other member by a number.
struct MemberNames<Element: Hashable> {
  private var numbers: [Element: Int] = [:]
  private var members: [Int: Element] = [:]
  /// The numbers of objects; this does not keep the objects alive.
  private var objectNumbers: [ObjectIdentifier: Int] = [:]
  private var objects: [Int: WeakObject] = [:]
  private var last = 0

  private struct WeakObject {
    weak var object: AnyObject?
  }

  mutating func name(of member: Element) -> [UInt8] {
    switch member {
    case let text as String: return [UInt8(ascii: "'")] + Array(text.utf8)
    case let value as Bool: return Array("\(value)".utf8)
    case let number as any BinaryInteger: return Array("\(number)".utf8)
    default: return Array("object:\(number(of: member))".utf8)
    }
  }

  private mutating func number(of member: Element) -> Int {
    if let object = reference(of: member) {
      // A new object at the address of a dead one counts as different.
      if let known = objectNumbers[ObjectIdentifier(object)], objects[known]?.object != nil {
        return known
      }
      last += 1
      if last % 64 == 0 { dropDead() }
      objectNumbers[ObjectIdentifier(object)] = last
      objects[last] = WeakObject(object: object)
      return last
    }
    if let known = numbers[member] { return known }
    last += 1
    numbers[member] = last
    members[last] = member
    return last
  }

  private mutating func dropDead() {
    objects = objects.filter { $0.value.object != nil }
    objectNumbers = objectNumbers.filter { objects[$0.value] != nil }
  }

  func member(named name: [UInt8]) -> Element? {
    if name.first == UInt8(ascii: "'") {
      return String(decoding: name.dropFirst(), as: UTF8.self) as? Element
    }
    let text = String(decoding: name, as: UTF8.self)
    if text.hasPrefix("object:"), let number = Int(text.dropFirst("object:".count)) {
      return members[number] ?? objects[number]?.object as? Element
    }
    if let value = Bool(text), let member = value as? Element { return member }
    if let type = Element.self as? any BinaryInteger.Type {
      return MemberNames.integer(text, type) as? Element
    }
    // The set may have members of any type.
    return Int(text) as? Element ?? UInt(text) as? Element
  }

  private static func integer<Number: BinaryInteger>(
    _ text: String, _ type: Number.Type
  ) -> Number? {
    Int(text).flatMap { Number(exactly: $0) } ?? UInt(text).flatMap { Number(exactly: $0) }
  }
}
