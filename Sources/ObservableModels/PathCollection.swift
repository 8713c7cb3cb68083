public import Observables

/// A collection that `#path` leads into: its elements, and operators over them.
///
/// What this protocol adds to a collection exists for the compiler, which checks the key path that
/// `#path` spells as text: `\.items.every.price` is `items.*.price`. Outside of `#path` it traps.
/// `count`, `first` and `last` are those of the collection itself.
public protocol PathCollection<PathElement> {
  /// What wildcards and operators go over: the elements of a list or set, the values of a
  /// dictionary.
  associatedtype PathElement
}

extension PathCollection {
  /// `*`: each element.
  public var every: PathEvery<PathElement> { onlyInPath() }
  /// `@sum`: the sum of numbers.
  public var sum: PathSum<PathElement> { onlyInPath() }
  /// `@avg`: the average of numbers; nil where there are none.
  public var avg: PathAverage<PathElement> { onlyInPath() }
  /// `@min`: the smallest number or string; nil where there is none.
  public var min: PathExtreme<PathElement> { onlyInPath() }
  /// `@max`: the largest number or string; nil where there is none.
  public var max: PathExtreme<PathElement> { onlyInPath() }
  /// `@any`: whether one of the values is true.
  public var any: PathTest<PathElement> { onlyInPath() }
  /// `@all`: whether all of the values are true.
  public var all: PathTest<PathElement> { onlyInPath() }
  /// `@unionOfObjects`: the values as a list.
  public var unionOfObjects: PathUnion<PathElement> { onlyInPath() }
  /// `@distinctUnionOfObjects`: the values as a list, each once.
  public var distinctUnionOfObjects: PathUnion<PathElement> { onlyInPath() }
  /// `@unionOfArrays`: the elements of lists, as one list.
  public var unionOfArrays: PathUnionOfCollections<PathElement> { onlyInPath() }
  /// `@distinctUnionOfArrays`: the elements of lists, as one list, each once.
  public var distinctUnionOfArrays: PathUnionOfCollections<PathElement> { onlyInPath() }
  /// `@unionOfSets`: the elements of sets, as a list, each once.
  public var unionOfSets: PathUnionOfCollections<PathElement> { onlyInPath() }
  /// `@distinctUnionOfSets`: the elements of sets, as a list, each once.
  public var distinctUnionOfSets: PathUnionOfCollections<PathElement> { onlyInPath() }

  /// `#n`: the slot n of a list, whatever is in it, or nothing.
  ///
  /// An index without this label is the object that is there at registration.
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
  preconditionFailure("'\(name)' is for '#path' alone: there it stands for a part of the path")
}
