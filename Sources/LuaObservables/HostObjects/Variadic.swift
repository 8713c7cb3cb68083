/// All remaining arguments, or any number of results, of a ``Method`` or a ``Function``.
///
/// ```swift
/// Method("log") { (journal, level: Int, words: Variadic<String>) in
///   journal.add(level, words.joined(separator: " "))
/// }
/// Method("all") { journal in Variadic(journal.lines) }
/// ```
///
/// As an argument, it must be the last one; it is empty if the script passes no more arguments.
/// Each element is converted like an argument of the element's type, and errors give its position.
/// Elements of the type `LuaValue` take any script value, nil included.
public struct Variadic<Element>: RandomAccessCollection, ExpressibleByArrayLiteral {
  private let elements: [Element]

  /// Makes arguments or results from a sequence.
  ///
  /// - Complexity: O(n), O(1) from an array.
  public init(_ elements: some Sequence<Element>) { self.elements = Array(elements) }

  /// Makes arguments or results from a list.
  public init(arrayLiteral elements: Element...) { self.elements = elements }

  /// The position of the first element, 0.
  public var startIndex: Int { 0 }
  /// The number of elements.
  public var endIndex: Int { elements.count }
  /// The element at a position.
  public subscript(position: Int) -> Element { elements[position] }
}

/// A `Variadic` as the type of the last argument.
protocol RestOfArguments {
  static var element: Any.Type { get }
  static func take(_ arguments: inout ScriptArguments) throws -> Self
}

/// A `Variadic` as a result.
protocol SeveralResults {
  var values: [Any?] { get }
}

extension Variadic: RestOfArguments, SeveralResults {
  static var element: Any.Type { Element.self }
  static func take(_ arguments: inout ScriptArguments) throws -> Variadic {
    Variadic(try arguments.rest())
  }
  var values: [Any?] { elements }
}

/// The reason why no script could call a function with arguments of these types; otherwise nil.
func argumentFault<each Argument>(_ types: repeat (each Argument).Type) -> String? {
  var list: [Any.Type] = []
  repeat list.append(each types)
  for (index, type) in list.enumerated() {
    let rest = type as? any RestOfArguments.Type
    if rest != nil, index + 1 < list.count {
      return "argument \(index + 1) takes all remaining arguments, but is not the last"
    }
    if !canBeTaken(rest?.element ?? type) {
      return "argument \(index + 1) is of type \(type), which no value of a script can be "
        + "converted to; make the type LuaDecodable or Decodable"
    }
  }
  return nil
}
