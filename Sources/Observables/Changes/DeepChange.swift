/// One change somewhere below an object, as plain data (X2).
///
/// Changes come in a list, in an order in which they can be applied. What is encoded is what
/// scripts have: `obs.apply` takes what a program in Swift has sent, and the other way round.
/// Positions in lists count from 1, as there.
public struct DeepChange: Codable, Equatable {
  /// What a change does.
  public enum Kind: String, Codable, Sendable {
    /// A key has another value, or one at all, or none any more.
    case set
    /// An element came to a position, or a member to a set.
    case insert
    /// An element left its position, or a member a set.
    case remove
    /// An element went to a position from another one.
    case move
  }

  /// The kind of a collection that a change carries as data.
  public enum CollectionType: String, Codable, Sendable {
    /// A list; its data is one, too.
    case array
    /// Values by keys.
    case dictionary
    /// Members; its data is a list of them.
    case set
  }

  /// An object that has another way already.
  public enum Reference: Equatable, Sendable {
    /// The path that it had before the first change.
    case before([Key])
    /// The path that it has after the last change.
    case after([Key])
  }

  /// Keys from the root; the last one is what changed.
  ///
  /// For a member of a set it is the path of the set.
  public var path: [Key]
  /// What the change does.
  public var kind: Kind
  /// What was there; nil where nothing was, or `oldReference` says it.
  public var old: ChangeValue?
  /// What is there now; nil where nothing is, or `reference` says it.
  public var new: ChangeValue?
  /// Where a move takes its element out.
  public var from: Int?
  /// The object that is there now, in place of `new`.
  public var reference: Reference?
  /// The object that was there, in place of `old`.
  public var oldReference: Reference?
  /// The model of the object that comes, or leaves, as data.
  public var model: String?
  /// The type of the collection that comes, or leaves, as data.
  public var type: CollectionType?
  /// Where the program has written that last, "file:line", if that is asked for.
  public var site: String?

  /// Makes a change of one key; what is not given is nil.
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
    /// A position in a list, from 1 on, or a number that is a key.
    case index(Int)
    /// Another number that is a key.
    case number(Double)
    /// A boolean that is a key.
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
  /// A position in a list, from 1 on.
  public init(integerLiteral index: Int) { self = .index(index) }
}

extension DeepChange.Key: CustomStringConvertible {
  /// The key as it stands in a path.
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

  /// Reads a list of keys, or one as `after`.
  public init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: CodingKeys.self),
      let path = try? container.decode([DeepChange.Key].self, forKey: .after)
    {
      self = .after(path)
    } else {
      self = .before(try [DeepChange.Key](from: decoder))
    }
  }

  /// Writes a list of keys, or one as `after`.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .before(let path): try path.encode(to: encoder)
    case .after(let path):
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(path, forKey: .after)
    }
  }
}
