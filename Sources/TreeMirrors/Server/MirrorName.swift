/// Names of mirrors, writers, states and texts, which keys of the server contain.
package enum MirrorName {
  /// Whether a mirror can have a name.
  package static func isValid(_ name: some Collection<UInt8>) -> Bool {
    !name.isEmpty && name.count <= 200
      && name.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "-")...UInt8(ascii: ":"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}

extension String {
  var bytes: [UInt8] { Array(utf8) }
}
