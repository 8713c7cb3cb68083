/// Makes links, makes them follow the objects, and removes them.
package struct Wiring: Room {
  package let rooms: Rooms

  struct State {
    /// Whether an object was found that another loop observes.
    fileprivate var hasMetForeign = false
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.wiring) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.wiring)
    }
  }

  /// Whether an object was found that another loop observes.
  package var hasMetForeign: Bool {
    @inline(__always) get { state.hasMetForeign }
    nonmutating set { state.hasMetForeign = newValue }
  }

  /// The error if an object that another loop observes was found at a component; resets the mark.
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
