public import Lua
internal import Observables

extension ScriptEnvironment {
  /// Loads a module of the scripts again, while they run (H1–H5).
  ///
  /// The module's chunk runs as a turn. Then the watchers, timers, tasks and properties of the
  /// former loading end, and the functions in the module's table are replaced. Tables keep their
  /// identity. The same as `obs.reload` in a script.
  ///
  /// - Throws: `LuaError` if the module was not required, does not compile, or fails. The former
  ///   code goes on then.
  /// - Complexity: O(watchers of the host, and the functions and tables of the module).
  public func reload(_ module: String) throws(LuaError) {
    let scope = try scriptScope()
    _ = try scope.host.turn { () throws(LuaError) in
      try scope.entered { () throws(LuaError) in try scope.host.module.reloading.reload(module) }
    }
  }
}

/// The effect of a changed file on the modules.
package enum FileReload {
  /// No module was loaded from it.
  case unknown
  /// The modules were loaded again; the texts name functions that hold former functions.
  case reloaded([String], copies: [String])
  case failed(String, LuaError)
}

extension LuaHost {
  /// Runs the main script so that ``reload(file:)`` can load it again.
  package func runMain<Result>(
    _ path: String, _ arguments: [String], _ body: () -> Result
  ) -> Result {
    sandboxes.modules.runMain(path, arguments, body)
  }

  /// Loads the modules again that were loaded from a file, whose path has no links.
  package func reload(file path: String) -> FileReload {
    let names = sandboxes.modules.names(ofFile: path)
    if names.isEmpty { return .unknown }
    var copies: [String] = []
    for name in names {
      do throws(LuaError) {
        copies += try turn { () throws(LuaError) in try module.reloading.reload(name) }
      } catch {
        return .failed(name, error)
      }
    }
    return .reloaded(names, copies: copies)
  }
}
