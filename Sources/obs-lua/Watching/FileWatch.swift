internal import CCommandLine
internal import Glibc

/// A file, or a folder, in a watched folder, whatever the path by which it was found.
struct WatchedFile: Hashable {
  let folder: CInt
  let name: String
  var isFolder = false

  /// Whether a script that has failed may have missed it.
  var mayBeModule: Bool { isFolder || name.hasSuffix(".lua") }
}

/// Folders that are watched for files that are written in place, or replaced.
final class FileWatch {
  /// Readable when something has changed.
  let descriptor: CInt

  /// Changes count as one while each follows the last one in so many milliseconds, up to a number.
  private static let settling: CInt = 50
  private static let patience = 20

  /// The paths of the folders.
  private var paths: [CInt: String] = [:]

  /// Nil where the system cannot watch files.
  init?() {
    descriptor = ccl_openwatch()
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  /// Watches the file at a path, which need not exist; nil where its folder does not.
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

  /// Watches the folders among what has changed.
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

  /// Waits until no more changes come, and returns those since the last call.
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
      if poll(&input, 1, Self.settling) <= 0 { break }
    }
    return found
  }
}
