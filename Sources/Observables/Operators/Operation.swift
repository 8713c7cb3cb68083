/// The collection operators (C9).
package enum Operation: String, CaseIterable, Sendable {
  case count, sum, avg, min, max, first, last, any, all
  case unionOfObjects, distinctUnionOfObjects
  case unionOfArrays, distinctUnionOfArrays
  case unionOfSets, distinctUnionOfSets

  /// Puts the values of all members together: all but those that stand for one element, or the
  /// size.
  package var isAggregate: Bool { self != .first && self != .last && self != .count }

  /// Its values are the members of the collections that the path leads to.
  package var isUnionOfCollections: Bool {
    switch self {
    case .unionOfArrays, .distinctUnionOfArrays, .unionOfSets, .distinctUnionOfSets: true
    default: false
    }
  }

  /// Gives a list.
  package var isUnion: Bool { isDistinct || self == .unionOfObjects || self == .unionOfArrays }

  /// Gives the values in the order in which they are there.
  var keepsOrder: Bool { self == .unionOfObjects || self == .unionOfArrays }

  /// Gives each value once.
  package var isDistinct: Bool {
    switch self {
    case .distinctUnionOfObjects, .distinctUnionOfArrays, .unionOfSets, .distinctUnionOfSets: true
    default: false
    }
  }

  /// What an error says that its values have to be.
  package var expectation: String {
    switch self {
    case .sum, .avg: "which takes numbers"
    case .min, .max: "which takes either numbers or strings"
    default: "which takes anything"
    }
  }
}
