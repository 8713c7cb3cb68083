/// A record of what observes what, and what depends on what, at one moment; it holds only values
/// and keeps no object alive.
package struct ObservationGraph {
  /// One observed key of an object, or a lazy property.
  package struct Key {
    let name: String
    var lazy: LazyKey?
  }

  /// The information about a lazy property in a graph.
  package struct LazyKey {
    let state: LazyState
    /// The place of its getter, as "file:line".
    var site: String?
    /// Whether the property depends on the values that its getter read in its last run.
    var isTracked = false

    init(state: LazyState) { self.state = state }

    init(_ lazy: WatcherRef) {
      let traits = lazy.pointee.traits
      state = traits.contains(.uncached) ? .uncached : lazy.pointee.isPending ? .invalid : .valid
      site = lazy.pointee.receiver.takeUnretainedValue().label(lazy).site
      isTracked = traits.contains(.tracking)
    }
  }

  /// Whether the value of a lazy property is up to date.
  package enum LazyState: String {
    case valid, invalid
    /// The property keeps no value.
    case uncached
  }

  /// One object: its type, and where it was found.
  package struct Object {
    let type: String
    /// The keys that lead to it from the root: empty for a root, nil if no keys lead to it.
    let place: String?
    var keys: [Key] = []
  }

  package struct Watcher {
    let name: String
    /// The place of registration, as "file:line", if it is known.
    let site: String?
    /// Special states, such as "pending" or "paused".
    let notes: [String]
  }

  /// One end of an edge, by positions in the lists.
  package enum End: Hashable {
    case watcher(Int)
    case object(Int)
    case key(object: Int, key: Int)
  }

  package struct Edge: Hashable {
    package enum Kind: String {
      /// From a watcher to a key that it watches.
      case watches
      /// From a computed property to a key that it depends on.
      case depends
      /// From a key to an object that is stored there, directly or as a member.
      case holds
    }

    let kind: Kind
    let from: End
    let to: End
    /// The path that leads there; nil for an edge of kind `holds`.
    let path: String?
    /// False if the path leads no further, or is not followed before the first computation.
    let isWhole: Bool
  }

  var objects: [Object] = []
  var watchers: [Watcher] = []
  var edges: [Edge] = []
  /// Whether the text is no longer needed, so that it can be left incomplete.
  var isStopped: () -> Bool = { false }

  /// The approximate number of bytes that the graph and its text take.
  package var size: Int {
    let keys = objects.lazy.flatMap(\.keys)
    let texts =
      objects.reduce(0) { $0 + $1.type.utf8.count + ($1.place?.utf8.count ?? 0) }
      + keys.reduce(0) { $0 + $1.name.utf8.count }
      + watchers.reduce(0) { $0 + $1.name.utf8.count + ($1.site?.utf8.count ?? 0) }
      + edges.reduce(0) { $0 + ($1.path?.utf8.count ?? 0) }
    return 4 * texts + 300 * (objects.count + watchers.count + edges.count)
  }

  /// The graph as text, with a line break at its end.
  package func text(_ format: GraphFormat) -> String {
    switch format {
    case .dot: dot
    case .json: json
    case .mermaid: mermaid
    }
  }

  /// The elements for the text; the sequence ends early when the text is no longer needed.
  func wanted<Elements: Sequence>(_ elements: Elements) -> LazyPrefixWhileSequence<Elements> {
    elements.lazy.prefix { _ in !isStopped() }
  }

  /// The identifier of an end, the same in every format.
  func id(_ end: End) -> String {
    switch end {
    case .watcher(let index): "w\(index + 1)"
    case .object(let index): "o\(index + 1)"
    case .key(let object, let key): "o\(object + 1)k\(key + 1)"
    }
  }

  /// The title of an object: its place and its type.
  func title(_ object: Object) -> String {
    guard let place = object.place, !place.isEmpty else { return object.type }
    return "\(place): \(object.type)"
  }

  /// The text of a key: its name, and whether it is valid.
  func title(_ key: Key) -> String {
    key.name + (key.lazy.map { " (\($0.state.rawValue))" } ?? "")
  }

  /// The text of a watcher: its name and its special states.
  func title(_ watcher: Watcher) -> String {
    watcher.name + (watcher.notes.isEmpty ? "" : " (\(watcher.notes.joined(separator: ", ")))")
  }
}
