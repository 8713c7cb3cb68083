import LibC

/// Changes of the entries of folders.
final class FolderEvents {
  struct Event {
    /// The number of the folder.
    let folder: CInt
    let name: String
    /// Whether the entry is gone, or has another name.
    var isRemoval = false
    /// Whether the system has dropped events.
    var isLoss = false
  }

  let descriptor: CInt
  private let isDetailed: Bool
  /// The paths of the watched folders, by their numbers.
  private var folders: [CInt: String] = [:]

  /// nil if the system cannot watch folders.
  init?(isDetailed: Bool) {
    #if os(Linux)
      descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
    #else
      descriptor = -1
      errno = ENOSYS
    #endif
    self.isDetailed = isDetailed
    if descriptor < 0 { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Watches a folder, and returns its number, which no other folder ever gets; -1, with `errno`,
  /// if it cannot be watched.
  func add(_ path: String, withWrites: Bool) -> CInt {
    #if os(Linux)
      var events = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR | IN_MASK_ADD
      if withWrites { events |= isDetailed ? IN_CLOSE_WRITE | IN_MODIFY : IN_CLOSE_WRITE }
      let number = inotify_add_watch(descriptor, path, UInt32(events))
      if number >= 0 { folders[number] = path }
      return number
    #else
      return -1
    #endif
  }

  /// Stops watching all other folders.
  func keep(_ numbers: Set<CInt>) {
    for number in folders.keys where !numbers.contains(number) {
      #if os(Linux)
        inotify_rm_watch(descriptor, number)
      #endif
      folders[number] = nil
    }
  }

  /// The events since the last call.
  func take() -> [Event] {
    #if os(Linux)
      var found: [Event] = []
      let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)
      defer { bytes.deallocate() }
      while true {
        let count = read(descriptor, bytes.baseAddress, bytes.count)
        if count <= 0 { break }
        var at = 0
        while at < count {
          let header = bytes.loadUnaligned(fromByteOffset: at, as: inotify_event.self)
          at += MemoryLayout<inotify_event>.size
          let name = bytes[at..<at + Int(header.len)].prefix { $0 != 0 }
          at += Int(header.len)
          let event = event(header, String(decoding: name, as: UTF8.self))
          if let event { found.append(event) }
        }
      }
      return found
    #else
      return []
    #endif
  }

  #if os(Linux)
    private func event(_ header: inotify_event, _ name: String) -> Event? {
      func has(_ events: CInt) -> Bool { header.mask & UInt32(events) != 0 }
      var event = Event(folder: header.wd, name: name)
      event.isLoss = has(IN_Q_OVERFLOW)
      event.isRemoval = has(IN_DELETE | IN_MOVED_FROM)
      if name.isEmpty && !event.isLoss { return nil }
      // A new file is complete when it is closed; this does not hold for links and folders.
      var status = stat()
      if has(IN_CREATE), !isDetailed, let folder = folders[header.wd],
        lstat(folder + name, &status) != 0
          || status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
      {
        return nil
      }
      return event
    }
  #endif
}
