package import Lua

/// An inspector of a host's running scripts.
package protocol ScriptInspector: AnyObject {
  /// The address of its page, with the token.
  var url: String { get }
  /// Ends it; does nothing if it has ended.
  func stop()
}

/// The arguments of `obs.inspect`.
package struct InspectorRequest {
  /// 0 for any free port.
  package let port: Int
  package let allowsWrites: Bool
  package let roots: [String: LuaValue]
}
