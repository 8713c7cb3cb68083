/// An observable object that is a leaf for `**` in key paths (X1): a path does not go through it,
/// and does not hear what changes in it.
///
/// For caches, connections, and other objects that belong to no tree:
///
/// ```swift
/// final class Cache: ObservableModel, OpaqueObject { … }
/// ```
///
/// An opaque object that is itself observed by `**` is observed one level. A property alone is
/// opaque by ``Property/opaque``.
public protocol OpaqueObject: AnyObject {}
