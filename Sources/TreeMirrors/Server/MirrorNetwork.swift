package import Observables

/// What a mirror needs from outside its process: connections and random numbers.
package protocol MirrorNetwork {
  /// - Throws: `MirrorError` that names the library which is missing.
  func check(_ address: RedisAddress) throws(MirrorError)
  /// Starts to connect; bytes can be sent at once.
  ///
  /// - Throws: `ConnectionFailure`, or `MirrorError` if trying again does not help.
  func connect(to address: RedisAddress, on loop: Loop) throws -> any ByteStream
  func random() -> UInt64
}

extension MirrorNetwork {
  /// A random name, which no other process makes.
  func newName() -> String {
    let text = String(random(), radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}

/// Bytes to a server and back.
///
/// Used on the loop's thread. Each call of the client is in a separate turn.
package protocol ByteStream: AnyObject {
  var client: (any ByteStreamClient)? { get set }
  var isConnected: Bool { get }
  /// Takes bytes, which are written soon; false if they cannot be kept.
  func send(_ bytes: [UInt8]) -> Bool
  /// Writes what was sent, as far as this is possible without waiting.
  func write()
  func close()
}

package protocol ByteStreamClient: AnyObject {
  func received(_ bytes: UnsafeRawBufferPointer)
  /// Called after the other side has taken something.
  func streamProceeded()
  /// Called once, when the connection ends other than by `close`.
  func streamEnded(_ reason: String)
}
