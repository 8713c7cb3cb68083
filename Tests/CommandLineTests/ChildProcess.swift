import Foundation
import LibC

/// A process with default signals, none of them blocked, an environment without Lua's variables,
/// and no descriptors but the standard ones.
struct ChildProcess {
  let id: pid_t
  #if canImport(Darwin)
    private static let ownSession = Int16(POSIX_SPAWN_SETSID)
  #else
    /// POSIX_SPAWN_SETSID, which glibc declares for GNU sources only.
    private static let ownSession: Int16 = 0x80

    // The C library's module does not declare this function for Swift.
    private static let addCloseFrom = unsafeBitCast(
      dlsym(nil, "posix_spawn_file_actions_addclosefrom_np")!,
      to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
  #endif

  /// Starts a program.
  ///
  /// The device `terminal` becomes its standard input, output and error, and its controlling
  /// terminal. `environment` overrides the standard variables.
  init(
    _ arguments: [String], terminal: String? = nil, environment: [String: String] = [:]
  ) throws {
    #if canImport(Darwin)
      var (attributes, actions): (posix_spawnattr_t?, posix_spawn_file_actions_t?)
    #else
      var (attributes, actions) = (posix_spawnattr_t(), posix_spawn_file_actions_t())
    #endif
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    var flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
    if terminal != nil { flags |= Self.ownSession }
    // The process does not get descriptors that other tests have open.
    #if canImport(Darwin)
      flags |= Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)
    #endif
    posix_spawnattr_setflags(&attributes, flags)

    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let terminal {
      // The first terminal that a session leader opens becomes the controlling terminal.
      posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
      for stream: Int32 in 1...2 { posix_spawn_file_actions_adddup2(&actions, 0, stream) }
    }
    #if canImport(Darwin)
      for stream: Int32 in 0...2 where terminal == nil {
        posix_spawn_file_actions_addinherit_np(&actions, stream)
      }
    #else
      _ = Self.addCloseFrom(&actions, 3)
    #endif

    // Without a state folder the prompt keeps no history.
    let standard = [
      "LC_ALL": "C", "TERM": "dumb", "HOME": "", "PATH": "/usr/local/bin:/usr/bin:/bin",
    ]
    let inherited = ProcessInfo.processInfo.environment
      .filter { $0.key == "LD_LIBRARY_PATH" || $0.key.hasSuffix("SAN_OPTIONS") }
    let variables = standard.merging(inherited) { $1 }.merging(environment) { $1 }
    let argumentPointers = Self.cStrings(arguments)
    let environmentPointers = Self.cStrings(variables.map { "\($0.key)=\($0.value)" })
    defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }

    var id: pid_t = 0
    let error = posix_spawn(
      &id, argumentPointers[0]!, &actions, &attributes, argumentPointers, environmentPointers)
    guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO) }
    self.id = id
  }

  /// Copies texts into a list that ends with nil; the caller frees them.
  private static func cStrings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
    var pointers = texts.map { text in strdup(text) }
    pointers.append(nil)
    return pointers
  }

  /// Waits for the end and returns the status as a shell reports it: 128 + n after signal n.
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0 && errno == EINTR {}
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : 128 + signal
  }
}
