import Synchronization

/// A key path: a list of components, starting at the observed object (P1, P2).
///
/// Text is split at `.`. A dot in a name is written `\.`, and a backslash `\\`. A path can be used
/// for any number of registrations; parsing is O(length of the text).
///
/// A Swift path counts from 0, and a Lua path from 1. The object to which a component is applied
/// decides the meaning of the component: <doc:KeyPaths>. A path can be used on any thread.
public final class Path: Sendable {
  /// The components, starting at the root; never empty.
  public let components: [Component]

  /// The steps that the engine follows: the components, with an added `*` in two cases.
  ///
  /// After a union of collections, the `*` means the members of the collections that the path leads
  /// to. The other case is a path that ends with `**`.
  package let steps: [Component]
  /// The kind of each step.
  let kinds: [Component.Kind]
  /// Whether some component is an operator.
  let hasOperators: Bool
  /// The first step that combines many values (`@sum`); the steps behind it belong to its
  /// computation.
  let aggregateStep: Int
  /// The first step that is `**`, or `Int.max`.
  let deepStep: Int
  /// The number of bytes of all components.
  let size: Int
  /// The text of `description`, byte for byte.
  package let text: [UInt8]

  /// A cache for the meaning of each component in the kind of object to which it was applied last.
  ///
  /// An entry has the number of the kind and its answer. Any thread may read and replace an entry.
  // The memory is only accessed atomically and freed with the path.
  private nonisolated(unsafe) let answers: UnsafeMutablePointer<Atomic<UInt64>>
  /// Whether some component consists of digits.
  let hasElements: Bool

  /// An object that a bridge keeps with this path, and that is released with it.
  package let attachment: (any AnyObject & Sendable)?

  /// Parses `text`.
  ///
  /// - Throws: ``PathError`` for empty text, an empty component, a trailing dot, and `#` without a
  ///   number. Its description shows the path and points at the component.
  /// - Complexity: O(length of the text).
  public convenience init(_ text: String) throws(PathError) {
    try self.init(parsing: Array(text.utf8))
  }

  /// Parses `bytes`, which don't have to be valid UTF-8.
  package convenience init(parsing bytes: [UInt8]) throws(PathError) {
    var parser = PathParser(bytes: bytes)
    self.init(components: try parser.parse())
  }

  /// Parses the components of a script's path, which doesn't have to be valid UTF-8.
  package static func components(
    ofScript bytes: [UInt8]
  ) throws(PathError) -> [Component] {
    var parser = PathParser(bytes: bytes, language: .lua)
    return try parser.parse()
  }

  /// Parses an unfinished path of a script; returns its components without the last one, and the
  /// position in `bytes` at which the last one begins.
  package static func beginning(
    ofScript bytes: [UInt8]
  ) throws(PathError) -> (components: [Component], last: Int) {
    var parser = PathParser(bytes: bytes, language: .lua)
    return try parser.parseBeginning()
  }

  /// Makes a path with exactly these components, whatever their notation.
  package init(components: [Component], attachment: (any AnyObject & Sendable)?) {
    precondition(!components.isEmpty, "A key path has at least one component")
    self.components = components
    self.attachment = attachment
    self.hasOperators = components.contains { $0.kind == .operation }
    let operations = components.map(\.operation)
    self.aggregateStep = operations.firstIndex { $0?.isAggregate == true } ?? Int.max
    let isUnion = operations.contains { $0?.isUnionOfCollections == true }
    self.deepStep = components.firstIndex { $0.kind == .deep } ?? Int.max
    self.steps = isUnion || components.last!.kind == .deep ? components + [.every] : components
    self.kinds = steps.map(\.kind)
    self.hasElements = components.contains { $0.kind == .element }
    self.size = components.reduce(0) { $0 + $1.bytes.count }
    var text = components[0].text
    for component in components.dropFirst() {
      text.append(UInt8(ascii: "."))
      text += component.text
    }
    self.text = text
    answers = .allocate(capacity: steps.count)
    for step in steps.indices { (answers + step).initialize(to: Atomic(0)) }
  }

  deinit {
    answers.deinitialize(count: steps.count)
    answers.deallocate()
  }

  /// The last answer that was remembered for this component, if it came from the kind with this
  /// number.
  @inline(__always)
  func answer(at step: Int, of kind: UInt32) -> Int? {
    let entry = answers[step].load(ordering: .relaxed)
    return entry >> 32 == UInt64(kind) ? Int(entry & 0xFFFF_FFFF) : nil
  }

  func remember(_ answer: Int, at step: Int, of kind: UInt32) {
    answers[step].store(UInt64(kind) << 32 | UInt64(answer), ordering: .relaxed)
  }

  /// Makes a path of exactly these property names, which can contain dots.
  public convenience init(names: [String]) {
    self.init(components: names.map { Component(kind: .name, bytes: Array($0.utf8)) })
  }
}

extension Path {
  /// Makes a path of exactly these components: `Path("green.tea", 3)`.
  ///
  /// A literal is a name, which can contain dots, or an integer key. Write other keys as `.key(…)`.
  /// Do the same for a path with a single name, because `Path("green.tea")` is parsed.
  public convenience init(_ first: Component, _ more: Component...) {
    self.init(components: [first] + more)
  }

  /// Makes a path of exactly these components.
  ///
  /// - Precondition: `components` is not empty.
  public convenience init(components: [Component]) {
    self.init(components: components, attachment: nil)
  }

  /// The index of a list's first element: paths of scripts count from 1.
  package var firstIndex: Int { attachment == nil ? 0 : 1 }
}

extension Path: ExpressibleByStringLiteral {
  /// Parses a literal.
  ///
  /// A malformed literal is a programming error and traps with the description of the error that
  /// `init(_:)` would throw.
  public convenience init(stringLiteral text: String) {
    do {
      self.init(components: try Path(text).components)
    } catch {
      preconditionFailure(error.description)
    }
  }
}

extension Path: CustomStringConvertible {
  /// The text from which this path can be parsed.
  public var description: String {
    components.map(\.description).joined(separator: ".")
  }
}

extension Path: Equatable {
  /// Two paths are equal if their components are.
  public static func == (a: Path, b: Path) -> Bool {
    a === b || a.components == b.components
  }
}
