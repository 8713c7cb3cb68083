/// Makes links, has them follow the objects, and takes them out.
package struct Wiring: Room {
  package let rooms: Rooms

  struct State {
    /// An object was met that another loop observes.
    fileprivate var hasMetForeign = false
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.wiring) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.wiring)
    }
  }

  /// An object was met that another loop observes.
  package var hasMetForeign: Bool {
    @inline(__always) get { state.hasMetForeign }
    nonmutating set { state.hasMetForeign = newValue }
  }

  /// The error where an object that another loop observes was met at a component.
  @inline(__always)
  func takeForeign(_ step: Int, of path: Path) -> PathError? {
    state.hasMetForeign ? makeForeign(step, of: path) : nil
  }

  private func makeForeign(_ step: Int, of path: Path) -> PathError {
    state.hasMetForeign = false
    return PathError(
      .otherLoop, path: String(decoding: path.text, as: UTF8.self), component: step + 1)
  }
}
