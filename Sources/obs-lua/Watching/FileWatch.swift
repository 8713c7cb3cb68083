internal import CCommandLine
internal import Glibc

/// A file in a watched folder, whatever the path by which it was found.
struct WatchedFile: Hashable {
  let folder: CInt
  let name: String
}

/// Folders that are watched for files that are written in place, or replaced.
final class FileWatch {
  /// Readable when something has changed.
  let descriptor: CInt

  /// Changes count as one while each follows the last one in so many milliseconds, up to a number.
  private static let settling: CInt = 50
  private static let patience = 20

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
    let folder = ccl_watchfolder(descriptor, slash.map { String(path[...$0]) } ?? ".")
    let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
    return folder < 0 ? nil : WatchedFile(folder: folder, name: String(name))
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
          { context, folder, name in
            let found = context!.assumingMemoryBound(to: Set<WatchedFile>.self)
            found.pointee.insert(WatchedFile(folder: folder, name: String(cString: name!)))
          }, pointer)
      }
      var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&input, 1, Self.settling) <= 0 { break }
    }
    return found
  }
}
