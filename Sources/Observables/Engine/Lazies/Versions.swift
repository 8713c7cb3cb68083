/// The versions of the values of lazy properties: each value that differs from the one before gets
/// a new number.
struct Versions {
  private(set) var last = 0

  mutating func next() -> Int {
    last += 1
    return last
  }
}
