import Observables
import Observation
import OpenCombine

/// A path of three components, and registrations.
func addPathRows(to harness: inout Harness) throws {
  let count = 200_000
  let loop = Loop()
  let path: Path = "next.next.value"
  let (root, middle, leaf) = (opaque(Leaf()), Leaf(), Leaf())
  root.next = middle
  middle.next = leaf
  var calls = 0
  let watcher = try root.observe(path, in: loop) { _ in calls += 1 }
  var value = 0
  let written = harness.time(count) {
    for _ in 0..<$0 {
      value += 1
      leaf.value = value
      loop.flush()
    }
  }
  check(calls == value, "one call for each write of the leaf")
  harness.add("3 components: leaf", "Observables", written, limit: 60)

  // Both chains have been observed before, as usual when objects are exchanged.
  let (second, secondLeaf) = (Leaf(), Leaf())
  second.next = secondLeaf
  calls = 0
  var isSecond = false
  var replacements = 0
  let replaced = harness.time(count) {
    for _ in 0..<$0 {
      isSecond.toggle()
      replacements += 1
      root.next = isSecond ? second : middle
      loop.flush()
    }
  }
  check(calls == replacements, "one call for each replacement")
  harness.add("3 components: middle replaced", "Observables", replaced, limit: 200)
  watcher.stop()
  loop.endTurn()

  let fresh = harness.time(count) {
    for _ in 0..<$0 { try! root.observe(path, in: loop) { _ in }.stop() }
  }
  harness.add("3 components: register + end", "Observables", fresh, limit: 200)
  let one: Path = "value"
  let single = harness.time(count) {
    for _ in 0..<$0 { try! root.observe(one, in: loop) { _ in }.stop() }
  }
  harness.add("1 component: register + end", "Observables", single)
  loop.endTurn()
  check(loop.statistics.watchers == 0, "all watchers ended")

  addPeers(to: &harness, count / 20)
  try addMemory(to: &harness)
}

private func addPeers(to harness: inout Harness, _ count: Int) {
  let (root, middle, leaf) = (SubjectLeaf(), SubjectLeaf(), SubjectLeaf())
  root.next.value = middle
  middle.next.value = leaf
  var heard = 0
  func register() -> AnyCancellable {
    root.next
      .map { $0!.next.map { $0!.value }.switchToLatest() }
      .switchToLatest()
      .sink { _ in heard += 1 }
  }
  let sink = register()
  harness.add(
    "3 components: leaf", "OpenCombine, map + switchToLatest twice",
    harness.time(count) { for i in 1...$0 { leaf.value.value = i } })
  let second = SubjectLeaf()
  second.next.value = SubjectLeaf()
  harness.add(
    "3 components: middle replaced", "OpenCombine, map + switchToLatest twice",
    harness.time(count) { for i in 1...$0 { root.next.value = i % 2 == 0 ? middle : second } })
  sink.cancel()
  check(heard > count, "OpenCombine delivers")
  harness.add(
    "3 components: register + end", "OpenCombine, map + switchToLatest twice",
    harness.time(count) { for _ in 0..<$0 { register().cancel() } })
  harness.add(
    "1 component: register + end", "OpenCombine CurrentValueSubject",
    harness.time(count) { for _ in 0..<$0 { leaf.value.sink { _ in heard += 1 }.cancel() } })

  let (a, b, c) = (TrackedLeaf(), TrackedLeaf(), TrackedLeaf())
  a.next = b
  b.next = c
  func arm() {
    withObservationTracking {
      _ = a.next!.next!.value
    } onChange: {
    }
  }
  harness.add(
    "3 components: leaf", "Observation, armed again each time",
    harness.time(count) {
      for i in 1...$0 {
        arm()
        c.value = i
      }
    })
}

/// A million watchers come and go.
private func addMemory(to harness: inout Harness) throws {
  let loop = Loop()
  let leaf = Leaf()
  let path: Path = "value"
  func round() throws {
    var watchers: [Watcher] = []
    watchers.reserveCapacity(1_000_000)
    for _ in 0..<1_000_000 { watchers.append(try leaf.observe(path, in: loop) { _ in }) }
    for watcher in watchers { watcher.stop() }
    loop.endTurn()
  }
  try round()
  let before = residentBytes()
  try round()
  let left = Double(max(0, residentBytes() - before)) / 1024
  harness.add(
    "1,000,000 watchers registered and stopped", "memory left", left, unit: "KB", limit: 1024)
}
