import LibC

/// The error when the system refuses a resource that a loop needs: the process has reached a limit,
/// or lacks the permission.
package struct SystemRefusal: Error, CustomStringConvertible {
  /// The name of the resource, such as "a pipe for the loop".
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
