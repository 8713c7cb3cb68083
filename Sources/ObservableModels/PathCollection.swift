public import Observables

/// A collection as a part of a `#path`: its elements, and operators over them.
///
/// The members that this protocol adds to a collection exist for the compiler, which checks the key
/// path that `#path` spells as text: `\.items.every.price` is `items.*.price`. Outside of `#path`
/// they trap. `count`, `first` and `last` are the ordinary members of the collection.
public protocol PathCollection<PathElement> {
  /// The members that wildcards and operators go over: the elements of a list or set, the values of
  /// a dictionary.
  associatedtype PathElement
}

extension PathCollection {
  /// `*`: each element.
  public var every: PathEvery<PathElement> { onlyInPath() }
  /// `@sum`: the sum of numbers.
  public var sum: PathSum<PathElement> { onlyInPath() }
  /// `@avg`: the average of numbers; nil for an empty collection.
  public var avg: PathAverage<PathElement> { onlyInPath() }
  /// `@min`: the smallest number or string; nil for an empty collection.
  public var min: PathExtreme<PathElement> { onlyInPath() }
  /// `@max`: the largest number or string; nil for an empty collection.
  public var max: PathExtreme<PathElement> { onlyInPath() }
  /// `@any`: whether at least one value is true.
  public var any: PathTest<PathElement> { onlyInPath() }
  /// `@all`: whether all values are true.
  public var all: PathTest<PathElement> { onlyInPath() }
  /// `@unionOfObjects`: a list of the values.
  public var unionOfObjects: PathUnion<PathElement> { onlyInPath() }
  /// `@distinctUnionOfObjects`: a list of the distinct values.
  public var distinctUnionOfObjects: PathUnion<PathElement> { onlyInPath() }
  /// `@unionOfArrays`: the elements of all lists, in one list.
  public var unionOfArrays: PathUnionOfCollections<PathElement> { onlyInPath() }
  /// `@distinctUnionOfArrays`: the distinct elements of all lists, in one list.
  public var distinctUnionOfArrays: PathUnionOfCollections<PathElement> { onlyInPath() }
  /// `@unionOfSets`: a list of the distinct elements of all sets.
  public var unionOfSets: PathUnionOfCollections<PathElement> { onlyInPath() }
  /// `@distinctUnionOfSets`: a list of the distinct elements of all sets.
  public var distinctUnionOfSets: PathUnionOfCollections<PathElement> { onlyInPath() }

  /// `#n`: the slot `n` of a list, which may be empty.
  ///
  /// An index without this label follows the object that has this index at registration.
  public subscript(slot index: Int) -> PathElement? { onlyInPath() }
}

extension ObservableArray: PathCollection {
  /// The elements.
  public typealias PathElement = Element
}

extension ObservableDictionary: PathCollection {
  /// The values.
  public typealias PathElement = Value
}

extension ObservableSet: PathCollection {
  /// The elements.
  public typealias PathElement = Element
}

extension Array: PathCollection {
  /// The elements.
  public typealias PathElement = Element
}

extension Dictionary: PathCollection {
  /// The values.
  public typealias PathElement = Value
}

extension Set: PathCollection {
  /// The elements.
  public typealias PathElement = Element
}

/// Ends the program where something is called that exists for the compiler alone.
func onlyInPath(_ name: String = #function) -> Never {
  preconditionFailure("'\(name)' can only be used in '#path', as a part of the path")
}
