internal import Lua
internal import Observables

/// Finds the modules that scripts require (S5).
final class ModuleLoader {
  /// Finds the host program's modules.
  @exclusivity(unchecked) var find: ((String) throws -> ScriptModule?)?
  private let reference: Unmanaged<LuaHost>
  /// The value of a module while it is being loaded.
  private static let loading = LuaValue.boolean(false)

  init(_ host: LuaHost) { reference = .passUnretained(host) }

  private var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }

  /// Returns the named module, loaded once per sandbox; nil if it does not exist.
  ///
  /// - Throws: errors of the program or the module's chunk, and an error for a module that requires
  ///   itself.
  func module(_ name: String, for sandbox: LuaSandbox) throws -> LuaValue? {
    if let known = sandbox.modules[name] {
      if known == Self.loading {
        throw LuaError("module '\(name)' is required while it is being loaded")
      }
      return known
    }
    guard let found = try find?(name) else { return nil }
    sandbox.modules[name] = Self.loading
    do {
      let value = try load(found, name, sandbox)
      sandbox.modules[name] = value
      return value
    } catch {
      sandbox.modules[name] = nil
      throw error
    }
  }

  /// Runs the chunk of a module.
  func load(
    _ module: ScriptModule, _ name: String, _ sandbox: LuaSandbox
  ) throws(LuaError) -> LuaValue {
    if case .value(let value) = module { return value }
    let chunk = try chunk(of: module, name, sandbox)
    let modules = host.sandboxes.modules
    let result = try modules.loading(name, of: sandbox.number) { () throws(LuaError) in
      try chunk.callPlainly(arguments: [.string(LuaString(name))]).first ?? .nil
    }
    return result == .nil ? .boolean(true) : result
  }

  /// Loads the chunk of a module, and does not run it.
  ///
  /// - Throws: an error if the module is a value.
  func chunk(
    of module: ScriptModule, _ name: String, _ sandbox: LuaSandbox
  ) throws(LuaError) -> LuaFunction {
    let state = host.state
    let chunk: LuaFunction
    switch module {
    case .value: throw LuaError("the module '\(name)' is a value of the host program")
    case .text(let text, let title):
      let bytes = Array(text.utf8)
      try sandbox.quotas.checkChunk(bytes.count, name)
      chunk = try state.load(bytes, name: title ?? "=" + name)
    case .contents(let bytes, let path):
      try sandbox.quotas.checkChunk(bytes.count, path)
      chunk = try state.load(contents: bytes, of: path)
    case .file(let path):
      try sandbox.quotas.checkFile(path)
      chunk = try state.loadFile(path)
    }
    try host.bind(chunk, to: sandbox)
    return chunk
  }
}
