/// The collection operators (C9).
package enum Operation: String, CaseIterable, Sendable {
  case count, sum, avg, min, max, first, last, any, all
  case unionOfObjects, distinctUnionOfObjects
  case unionOfArrays, distinctUnionOfArrays
  case unionOfSets, distinctUnionOfSets

  /// Whether the operator combines the values of all members; false for operators that give one
  /// element or the size.
  package var isAggregate: Bool { self != .first && self != .last && self != .count }

  /// Whether the values are the members of the collections that the path leads to.
  var isUnionOfCollections: Bool {
    switch self {
    case .unionOfArrays, .distinctUnionOfArrays, .unionOfSets, .distinctUnionOfSets: true
    default: false
    }
  }

  /// Whether the value is a list.
  var isUnion: Bool { isDistinct || self == .unionOfObjects || self == .unionOfArrays }

  /// Whether the value is a list in the order of the members.
  var keepsOrder: Bool { self == .unionOfObjects || self == .unionOfArrays }

  /// Whether the list contains each value once.
  package var isDistinct: Bool {
    switch self {
    case .distinctUnionOfObjects, .distinctUnionOfArrays, .unionOfSets, .distinctUnionOfSets: true
    default: false
    }
  }

  /// The values that the operator accepts, in the words of an error message.
  package var expectation: String {
    switch self {
    case .sum, .avg: "which takes numbers"
    case .min, .max: "which takes either numbers or strings"
    default: "which takes anything"
    }
  }
}
