internal import Lua
internal import Observables
internal import TreeMirrors

/// A tree of tables that a script mirrors; the prelude writes and reads the tables.
final class TableMirror: MirroredTree {
  private let host: HostReference
  private let site: String
  private let owner: ScriptOwner
  private var name = ""
  private let functions: [LuaFunction]
  private(set) var session: MirrorSession!

  init(_ host: LuaHost, _ site: String, _ functions: [LuaFunction]) {
    (self.host, self.site, self.functions) = (host.reference, site, functions)
    owner = host.sandboxes.owner
  }

  func connect(_ name: String, at url: String, _ options: MirrorOptions) throws {
    guard let loop = host.host?.loop else { return }
    self.name = name
    session = try MirrorSession(of: self, named: name, at: url, options, on: loop)
  }

  /// Ends the session of a host that closes.
  func end() {
    isClosing = true
    session.stop()
  }

  private var isClosing = false

  private func call(
    _ index: Int,
    _ push: (LuaState, LuaStack) throws(LuaError) -> CInt = { _, _ throws(LuaError) in 0 }
  ) {
    if isClosing { return }
    host.use { host in
      host.module.reports.run(
        functions[index], .handler, name: "obs.mirror", site: site, in: owner
      ) { L throws(LuaError) in try push(host.state, L) }
    }
  }

  func collect() { call(0) }

  func perform(_ step: MirrorStep, from writer: String) {
    let sources = host.host?.sources
    sources?.enter(writer: "mirror \(name)" + (writer.isEmpty ? "" : ", writer \(writer)"))
    defer { sources?.enter(writer: nil) }
    call(1) { state, L throws(LuaError) in
      try state.push(bytes: step.bytes, to: L)
      return 1
    }
  }

  func rejected(_ rejections: MirrorRejections) {
    call(2) { state, L throws(LuaError) in
      try state.push(bytes: rejections.bytes, to: L)
      return 1
    }
  }

  func statusDidChange() { call(3) }

  func report(_ error: MirrorError) {
    guard !isClosing, let host = host.host else { return }
    host.module.reports.report(
      LuaError(error.description), .handler, name: "obs.mirror", site: site)
  }

  func warn(_ text: String) {
    guard !isClosing, let host = host.host else { return }
    writeError("\(host.programName): \(site): warning: \(text.printable)\n")
  }
}
