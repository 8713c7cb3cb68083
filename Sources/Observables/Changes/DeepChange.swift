/// One change somewhere below an object, as plain data (X2).
///
/// Changes come in a list, in an order in which they can be applied. Scripts use the same encoding:
/// `obs.apply` accepts changes from a Swift program, and Swift accepts changes from scripts. As in
/// scripts, positions in lists count from 1.
public struct DeepChange: Codable, Equatable {
  /// The kinds of changes.
  public enum Kind: String, Codable, Sendable {
    /// The value of a key was changed, added or removed.
    case set
    /// An element was inserted at a position, or a member was added to a set.
    case insert
    /// An element was removed from a position, or a member from a set.
    case remove
    /// An element was moved to a position from another one.
    case move
  }

  /// The kind of a collection that a change contains as data.
  public enum CollectionType: String, Codable, Sendable {
    /// A list; its data is a list, too.
    case array
    /// A dictionary of values by keys.
    case dictionary
    /// A set; its data is a list of the members.
    case set
  }

  /// A reference to an object that another path already leads to.
  public enum Reference: Equatable, Sendable {
    /// The path of the object before the first change.
    case before([Key])
    /// The path of the object after the last change.
    case after([Key])
  }

  /// The keys from the root to the change.
  ///
  /// The last key is the changed one. For a member of a set, it is the path of the set.
  public var path: [Key]
  /// The kind of the change.
  public var kind: Kind
  /// The previous value; nil if there was none, or if `oldReference` is set.
  public var old: ChangeValue?
  /// The new value; nil if the key is removed, or if `reference` is set.
  public var new: ChangeValue?
  /// The position from which a move takes its element.
  public var from: Int?
  /// The new object, instead of `new`.
  public var reference: Reference?
  /// The previous object, instead of `old`.
  public var oldReference: Reference?
  /// The model of the added or removed object, which is contained as data.
  public var model: String?
  /// The type of the added or removed collection, which is contained as data.
  public var type: CollectionType?
  /// The place in the program that wrote last, as "file:line", if the watcher asked for it.
  public var site: String?

  /// Makes a change of one key; arguments that you omit are nil.
  public init(
    path: [Key], kind: Kind = .set, old: ChangeValue? = nil, new: ChangeValue? = nil,
    from: Int? = nil, reference: Reference? = nil, oldReference: Reference? = nil,
    model: String? = nil, type: CollectionType? = nil
  ) {
    (self.path, self.kind, self.old, self.new, self.from) = (path, kind, old, new, from)
    (self.reference, self.oldReference) = (reference, oldReference)
    (self.model, self.type) = (model, type)
  }

  private enum CodingKeys: String, CodingKey {
    case path, kind, old, new, from, model, type, site
    case reference = "ref"
    case oldReference = "old_ref"
  }
}

extension DeepChange {
  /// One step of a path.
  public enum Key: Hashable, Sendable {
    /// A property, or a key of a dictionary.
    case name(String)
    /// A position in a list, counted from 1, or a key that is an integer.
    case index(Int)
    /// A key that is another number.
    case number(Double)
    /// A key that is a boolean.
    case boolean(Bool)
  }
}

extension DeepChange.Key: Codable {
  /// Reads text, a number, or a boolean.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let name = try? container.decode(String.self) {
      self = .name(name)
    } else if let flag = try? container.decode(Bool.self) {
      self = .boolean(flag)
    } else if let index = try? container.decode(Int.self) {
      self = .index(index)
    } else {
      self = .number(try container.decode(Double.self))
    }
  }

  /// Writes text, a number, or a boolean.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .name(let name): try container.encode(name)
    case .index(let index): try container.encode(index)
    case .number(let number): try container.encode(number)
    case .boolean(let flag): try container.encode(flag)
    }
  }
}

extension DeepChange.Key: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  /// A property, or a key of a dictionary.
  public init(stringLiteral name: String) { self = .name(name) }
  /// A position in a list, counted from 1.
  public init(integerLiteral index: Int) { self = .index(index) }
}

extension DeepChange.Key: CustomStringConvertible {
  /// The key in the form in which a path contains it.
  public var description: String {
    switch self {
    case .name(let name): name
    case .index(let index): "\(index)"
    case .number(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    }
  }
}

extension DeepChange.Reference: Codable {
  private enum CodingKeys: CodingKey { case after }

  /// Reads a list of keys, or an object with such a list as `after`.
  public init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: CodingKeys.self),
      let path = try? container.decode([DeepChange.Key].self, forKey: .after)
    {
      self = .after(path)
    } else {
      self = .before(try [DeepChange.Key](from: decoder))
    }
  }

  /// Writes a list of keys, or an object with such a list as `after`.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .before(let path): try path.encode(to: encoder)
    case .after(let path):
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(path, forKey: .after)
    }
  }
}
