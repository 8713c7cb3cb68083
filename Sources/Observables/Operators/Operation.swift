/// The collection operators (C9).
package enum Operation: String, CaseIterable, Sendable {
  case count, sum, avg, min, max, first, last, any, all
  case unionOfObjects, distinctUnionOfObjects
  case unionOfArrays, distinctUnionOfArrays
  case unionOfSets, distinctUnionOfSets
}
