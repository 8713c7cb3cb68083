/// All arguments that are left, or any number of results, of a ``Method`` or a ``Function``.
///
/// ```swift
/// Method("log") { (journal, level: Int, words: Variadic<String>) in
///   journal.add(level, words.joined(separator: " "))
/// }
/// Method("all") { journal in Variadic(journal.lines) }
/// ```
///
/// As an argument it is the last one. A script that gives none of them gives an empty one; each is
/// converted as an argument of the element's type, and errors count it. Elements of the type
/// `LuaValue` are whatever the script gives, nil included.
public struct Variadic<Element>: RandomAccessCollection, ExpressibleByArrayLiteral {
  private let elements: [Element]

  /// Makes arguments or results of the elements of a sequence.
  ///
  /// - Complexity: O(n), O(1) from an array.
  public init(_ elements: some Sequence<Element>) { self.elements = Array(elements) }

  /// Makes arguments or results of a list.
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

/// Why no script could call a function with arguments of these types; nil where one can.
func argumentFault<each Argument>(_ types: repeat (each Argument).Type) -> String? {
  var list: [Any.Type] = []
  repeat list.append(each types)
  for (index, type) in list.enumerated() {
    let rest = type as? any RestOfArguments.Type
    if rest != nil, index + 1 < list.count {
      return "argument \(index + 1) takes all that are left, and is not the last"
    }
    if !canBeTaken(rest?.element ?? type) {
      return "argument \(index + 1) is of type \(type), which no value of a script can be "
        + "converted to; make the type LuaDecodable or Decodable"
    }
  }
  return nil
}
