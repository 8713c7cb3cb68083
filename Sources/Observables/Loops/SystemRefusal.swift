import Glibc

/// The system has refused what a loop needs: the process has no more of it, or may have no more.
package struct SystemRefusal: Error, CustomStringConvertible {
  /// What was asked for: "a pipe for the loop".
  let resource: String
  /// The number of the system's error.
  package let number: Int32

  package init(_ resource: String, number: Int32) {
    (self.resource, self.number) = (resource, number)
  }

  package var description: String {
    let reason = String(cString: strerror(number))
    guard let name = Self.names[number] else { return "the system refused \(resource): \(reason)" }
    return "the system refused \(resource): \(reason) (\(name))"
  }

  private static let names: [Int32: String] = [
    EMFILE: "EMFILE", ENFILE: "ENFILE", ENOMEM: "ENOMEM", EAGAIN: "EAGAIN", EPERM: "EPERM",
    EINVAL: "EINVAL",
  ]
}
