/// An observable object that is a leaf for `**` in key paths (X1): a path doesn't go through it,
/// and changes inside it don't notify the path's watchers.
///
/// It is for caches, connections, and other objects that belong to no tree:
///
/// ```swift
/// final class Cache: ObservableModel, OpaqueObject { … }
/// ```
///
/// If an opaque object is itself observed by `**`, the path covers one level. To make a single
/// property opaque, use ``Property/opaque``.
public protocol OpaqueObject: AnyObject {}
