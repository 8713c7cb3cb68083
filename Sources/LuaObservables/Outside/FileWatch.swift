import LibC

/// Watched paths: files and folders, which need not exist.
///
/// The idea: a path is followed through folders and links, from the root to its end or as far as it
/// exists. Each folder on this way is watched for the entry by which the way continues. Whatever
/// happens to such an entry, the paths that lead through it are followed again, and a path has
/// changed if another file is at its end. So it does not matter whether the file was replaced, or a
/// folder or a link on the way.
///
/// Used in one thread.
package final class FileWatch {
  /// A change of a watched path, or of an entry of the folder there.
  package struct Change: Hashable {
    /// The path as `add` returned it.
    package let watched: String
    package let entry: String?

    package var path: String { entry.map { watched + "/" + $0 } ?? watched }
  }

  /// An entry of a watched folder.
  private struct Step: Hashable {
    let folder: CInt
    let name: String
  }

  /// The file or folder at the end of a path.
  private struct Target: Equatable {
    let device, inode, size, seconds, nanoseconds: Int
    /// The number of a folder; -1 for other files.
    ///
    /// A new folder may get the inode of a former one, but not its number.
    let folder: CInt
  }

  private struct Way {
    var steps: [Step] = []
    /// The last step if the way ends with it, and not before something that does not exist.
    var end: Step?
    var target: Target?
  }

  /// Readable when something has happened.
  package var descriptor: CInt { events.descriptor }

  private let events: FolderEvents
  private let isDetailed: Bool
  private var ways: [String: Way] = [:]
  /// The paths that lead through an entry.
  private var followers: [Step: Set<String>] = [:]
  /// The paths that end at a folder.
  private var ends: [CInt: Set<String>] = [:]
  /// The files that had changed before they were watched.
  private var changed: Set<String> = []

  /// Starts watching; nil if the system cannot watch files.
  ///
  /// - Parameter isDetailed: whether each write and removal is a change. Otherwise a file changes
  ///   when it is complete: it was closed after writes, or put into its place.
  package init?(isDetailed: Bool = false) {
    guard let events = FolderEvents(isDetailed: isDetailed) else { return nil }
    (self.events, self.isDetailed) = (events, isDetailed)
  }

  /// Watches a path, and returns it as an absolute one; nil, with `errno`, if the last folder of it
  /// that exists cannot be watched.
  ///
  /// - Parameter stamp: the earlier `stamp(of:)` of a file: if it is another one now, and the path
  ///   was not watched, the file has changed.
  /// - Complexity: O(*n*), where *n* is the number of folders and links on the way.
  @discardableResult
  package func add(_ path: String, stamp: String? = nil) -> String? {
    let path = Self.absolute(path)
    if ways[path] != nil { return path }
    ways[path] = Way()
    guard follow(path) else {
      let error = errno
      remove(path)
      errno = error
      return nil
    }
    if let stamp, stamp != Self.stamp(of: path) { changed.insert(path) }
    return path
  }

  /// The identity, the size and the time of a file; empty if there is none.
  package static func stamp(of path: String) -> String {
    var status = stat()
    guard stat(path, &status) == 0 else { return "" }
    let time = time(of: status)
    return "\(status.st_ino):\(status.st_size):\(time.tv_sec):\(time.tv_nsec)"
  }

  /// Whether `takeChanges` returns changes, although the descriptor may not be readable.
  package var hasChanges: Bool { !changed.isEmpty }

  /// Stops watching a path that `add` has returned.
  package func remove(_ path: String) {
    leave(path)
    ways[path] = nil
    forgetFolders()
  }

  /// Waits until there are changes, and returns them like `takeChanges`.
  package func waitForChanges(settling: Duration) -> Set<Change> {
    while true {
      while !hasChanges && !waits(milliseconds: -1) {}
      let changes = takeChanges(settling: settling)
      if !changes.isEmpty { return changes }
    }
  }

  /// The changes since the last call.
  ///
  /// - Parameter settling: changes within this time after the last one belong to it, for up to 20
  ///   times as long.
  package func takeChanges(settling: Duration = .zero) -> Set<Change> {
    var found: [FolderEvents.Event] = []
    var quiet = ContinuousClock.now
    let end = quiet + settling * 20
    repeat {
      let new = events.take().filter(concerns)
      if !new.isEmpty { quiet = min(.now + settling, end) }
      found += new
    } while quiet > .now && waits(milliseconds: ((quiet - .now) / .milliseconds(1)).rounded(.up))
    var changes = Set(changed.map { Change(watched: $0, entry: nil) })
    changed = []
    // The paths to follow again, and whether something has happened to the file at the end itself.
    var suspects: [String: Bool] = [:]
    for event in found { note(event, &changes, &suspects) }
    for (path, isTouched) in suspects {
      let before = ways[path]?.target
      follow(path)
      let now = ways[path]?.target
      let isChanged = now == nil ? isDetailed && before != nil : isTouched || now != before
      if isChanged { changes.insert(Change(watched: path, entry: nil)) }
      // If a folder was renamed, its files may come back as they are.
      if now == nil, !isDetailed, !isTouched { ways[path]?.target = before }
    }
    if !suspects.isEmpty { forgetFolders() }
    return changes
  }

  private func waits(milliseconds: Double) -> Bool {
    var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&input, 1, CInt(milliseconds)) > 0
  }

  /// Whether an event is about a watched path.
  private func concerns(_ event: FolderEvents.Event) -> Bool {
    event.isLoss || ends[event.folder] != nil
      || followers[Step(folder: event.folder, name: event.name)] != nil
  }

  private func note(
    _ event: FolderEvents.Event, _ changes: inout Set<Change>, _ suspects: inout [String: Bool]
  ) {
    if event.isLoss {
      for path in ways.keys { suspects[path] = suspects[path] ?? false }
      for path in ends.values.joined() { changes.insert(Change(watched: path, entry: nil)) }
      return
    }
    if isDetailed || !event.isRemoval {
      for path in ends[event.folder] ?? [] {
        changes.insert(Change(watched: path, entry: event.name))
      }
    }
    let step = Step(folder: event.folder, name: event.name)
    for path in followers[step] ?? [] {
      suspects[path] = ways[path]?.end == step || suspects[path] ?? false
    }
  }

  // MARK: Following

  private static let mostLinks = 40

  /// Follows a path to its end, and watches the folders on the way.
  ///
  /// Returns whether the last folder that exists could be watched; otherwise sets `errno`.
  @discardableResult
  private func follow(_ path: String) -> Bool {
    leave(path)
    var (folder, links, isWatched) = ("", 0, true)
    var rest = Self.names(in: path)
    while let name = rest.popLast() {
      if name == ".." {
        folder = String(folder[..<(folder.lastIndex(of: "/") ?? folder.endIndex)])
        continue
      }
      // Watched first: whatever happens after the look is an event.
      let number = events.add(folder + "/", withWrites: rest.isEmpty)
      isWatched = number >= 0
      let step = Step(folder: number, name: name)
      if isWatched { ways[path]?.steps.append(step) }
      if isWatched { followers[step, default: []].insert(path) }
      ways[path]?.end = rest.isEmpty ? step : nil
      let place = folder + "/" + name
      if let target = Self.target(ofLink: place) {
        links += 1
        if links > Self.mostLinks { return isWatched }
        if target.first == "/" { folder = "" }
        rest += Self.names(in: target)
      } else if access(place + (rest.isEmpty ? "" : "/"), F_OK) != 0 {
        return isWatched
      } else {
        folder = place
      }
    }
    let number = events.add(folder + "/", withWrites: true)
    if number >= 0 { ends[number, default: []].insert(path) }
    ways[path]?.target = Self.target(at: folder + (number < 0 ? "" : "/"), folder: number)
    return isWatched
  }

  /// Undoes `follow`.
  private func leave(_ path: String) {
    for step in ways[path]?.steps ?? [] {
      followers[step]?.remove(path)
      if followers[step]?.isEmpty == true { followers[step] = nil }
    }
    if let folder = ways[path]?.target?.folder, folder >= 0 {
      ends[folder]?.remove(path)
      if ends[folder]?.isEmpty == true { ends[folder] = nil }
    }
    ways[path] = Way()
  }

  /// Stops watching folders through which no path leads.
  private func forgetFolders() {
    events.keep(Set(followers.keys.map(\.folder)).union(ends.keys))
  }

  // MARK: Paths

  /// A path from the root, without unnecessary slashes and points.
  package static func absolute(_ path: String) -> String {
    var base = ""
    if path.first != "/", let folder = getcwd(nil, 0) {
      base = String(cString: folder) + "/"
      free(folder)
    }
    return "/" + names(in: base + path).reversed().joined(separator: "/")
  }

  /// The names in a path, the last one first.
  private static func names(in path: String) -> [String] {
    path.split(separator: "/").filter { $0 != "." }.reversed().map(String.init)
  }

  private static func target(ofLink path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &bytes, bytes.count)
    if count < 0 { return nil }
    return String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static func target(at path: String, folder: CInt) -> Target? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    if folder >= 0 {
      // Its size and time change with each of its entries.
      return Target(
        device: Int(status.st_dev), inode: Int(status.st_ino), size: 0, seconds: 0, nanoseconds: 0,
        folder: folder)
    }
    let time = time(of: status)
    return Target(
      device: Int(status.st_dev), inode: Int(status.st_ino), size: Int(status.st_size),
      seconds: time.tv_sec, nanoseconds: time.tv_nsec, folder: -1)
  }

  private static func time(of status: stat) -> timespec {
    #if os(Linux)
      status.st_mtim
    #else
      status.st_mtimespec
    #endif
  }
}
