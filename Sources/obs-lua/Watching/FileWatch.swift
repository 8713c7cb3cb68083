internal import CCommandLine
internal import LibC

/// A file or a folder in a watched folder, independent of the path by which it was found.
struct WatchedFile: Hashable {
  let folder: CInt
  let name: String
  var isFolder = false

  /// Whether a failed script may have been missing it.
  var mayBeModule: Bool { isFolder || name.hasSuffix(".lua") }
}

/// Watched folders, for files that are written in place or replaced.
final class FileWatch {
  /// Readable when something has changed.
  let descriptor: CInt

  /// Changes within this many milliseconds of the last one belong to it, up to `patience` times.
  private let settling: CInt
  private static let patience = 20

  /// The paths of the folders.
  private var paths: [CInt: String] = [:]

  /// Starts watching; nil if the system cannot watch files.
  init?(settling: CInt = 50) {
    self.settling = settling
    descriptor = ccl_openwatch()
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  /// Watches the file at a path, which need not exist; nil if its folder does not exist.
  @discardableResult
  func add(_ path: String) -> WatchedFile? {
    let slash = path.lastIndex(of: "/")
    let parent = slash.map { String(path[...$0]) } ?? "./"
    let folder = ccl_watchfolder(descriptor, parent)
    if folder < 0 { return nil }
    paths[folder] = parent
    let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
    return WatchedFile(folder: folder, name: String(name))
  }

  /// Watches the changed folders.
  func addFolders(of changes: Set<WatchedFile>) {
    for change in changes where change.isFolder {
      if let parent = paths[change.folder] { add(parent + change.name + "/") }
    }
  }

  /// Waits until something has changed, and no more changes come.
  func waitForChanges() -> Set<WatchedFile> {
    var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&input, 1, -1) <= 0 {}
    return takeChanges()
  }

  /// Waits until no more changes come, and returns the changes since the last call.
  func takeChanges() -> Set<WatchedFile> {
    var found: Set<WatchedFile> = []
    for _ in 0..<Self.patience {
      withUnsafeMutablePointer(to: &found) { pointer in
        ccl_readwatch(
          descriptor,
          { context, folder, name, isFolder in
            let found = context!.assumingMemoryBound(to: Set<WatchedFile>.self)
            found.pointee.insert(
              WatchedFile(folder: folder, name: String(cString: name!), isFolder: isFolder))
          }, pointer)
      }
      var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&input, 1, settling) <= 0 { break }
    }
    return found
  }
}
