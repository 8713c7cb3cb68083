import Observables
import Observation
import OpenCombine

/// The machine's current cost of basic operations: other programs may be running.
func addScaleRows(to harness: inout Harness) {
  let count = 1_000_000
  var leaf: PlainLeaf? = nil
  let made = harness.time(count) { for _ in 0..<$0 { leaf = makeLeaf() } }
  harness.add("for scale", "a small object made and freed (34 ns where the limits were set)", made)
  let unmanaged = Unmanaged.passUnretained(leaf!)
  let counted = harness.time(count) {
    for _ in 0..<$0 {
      retain(unmanaged)
      release(unmanaged)
    }
  }
  harness.add("for scale", "a retain and a release (10 ns where the limits were set)", counted)
}

@inline(never)
private func retain(_ leaf: Unmanaged<PlainLeaf>) { _ = leaf.retain() }

@inline(never)
private func release(_ leaf: Unmanaged<PlainLeaf>) { leaf.release() }

@inline(never)
private func makeLeaf() -> PlainLeaf { PlainLeaf() }

@inline(never)
private func write(_ value: Int, to leaf: PlainLeaf) { leaf.value = value }

@inline(never)
private func write(_ value: Int, to leaf: Leaf) { leaf.value = value }

/// One property: unobserved, pending, and delivered to one closure.
func addWriteRows(to harness: inout Harness) throws {
  let count = 1_000_000
  let plain = opaque(PlainLeaf())
  let floor = harness.time(count) { for i in 1...$0 { write(i, to: plain) } }
  harness.add("write, unobserved", "plain class (P)", floor)

  let loop = Loop()
  let never = opaque(Leaf())
  let unobserved = harness.time(count) { for i in 1...$0 { write(i, to: never) } }
  harness.add("write, unobserved", "Observables", unobserved, limit: 2 * floor, "≤ 2 P")

  let other = opaque(Leaf())
  try other.observe("other", in: loop) { _ in }
  let before = residentBytes()
  let otherKey = harness.time(count) { for i in 1...$0 { write(i, to: other) } }
  harness.add(
    "write, unobserved", "Observables, another property is observed", otherKey,
    limit: 2 * floor, "≤ 2 P")
  harness.add(
    "write, unobserved", "memory after a million writes", Double(max(0, residentBytes() - before)),
    unit: "bytes", limit: 16384)

  let tracked = opaque(TrackedLeaf())
  harness.add(
    "write, unobserved", "Observation",
    harness.time(count / 10) { for i in 1...$0 { tracked.value = i } })
  let published = opaque(PublishedLeaf())
  harness.add(
    "write, unobserved", "OpenCombine @Published",
    harness.time(count / 10) { for i in 1...$0 { published.value = i } })
  let subject = opaque(SubjectLeaf())
  harness.add(
    "write, unobserved", "OpenCombine CurrentValueSubject",
    harness.time(count / 10) { for i in 1...$0 { subject.value.value = i } })

  let pending = opaque(Leaf())
  var sum = 0
  try pending.observe("value", in: loop) { sum += $0.value }
  pending.value = -1
  let whilePending = harness.time(count) { for i in 1...$0 { write(i, to: pending) } }
  harness.add(
    "write, pending", "Observables", whilePending, limit: floor + 5, "≤ P + 5 ns")
  loop.flush()
  check(sum == count, "one call for all writes")

  let observed = opaque(Leaf())
  var calls = 0
  try observed.observe("value", in: loop) { _ in calls += 1 }
  var value = 0
  let delivered = harness.time(count) {
    for _ in 0..<$0 {
      value += 1
      observed.value = value
      loop.flush()
    }
  }
  check(calls == value, "one call for each write")
  harness.add("write + delivery", "Observables", delivered, limit: 40)

  var heard = 0
  let single = opaque(TrackedLeaf())
  let counter = Counter()
  func arm() {
    withObservationTracking {
      _ = single.value
    } onChange: {
      counter.count += 1
    }
  }
  let observation = harness.time(count / 100) {
    for _ in 0..<$0 {
      arm()
      single.value += 1
    }
  }
  check(counter.count == single.value, "Observation fires once for each write")
  harness.add("write + delivery", "Observation, armed again each time", observation)
  let publishedSink = published.$value.sink { _ in heard += 1 }
  harness.add(
    "write + delivery", "OpenCombine @Published",
    harness.time(count / 10) { for i in 1...$0 { published.value = i } })
  let subjectSink = subject.value.sink { _ in heard += 1 }
  harness.add(
    "write + delivery", "OpenCombine CurrentValueSubject",
    harness.time(count / 10) { for i in 1...$0 { subject.value.value = i } })
  check(heard > 0, "OpenCombine delivers")
  publishedSink.cancel()
  subjectSink.cancel()

  let leaves = (0..<10_000).map { _ in Leaf() }
  calls = 0
  for leaf in leaves { try leaf.observe("value", in: loop) { _ in calls += 1 } }
  var round = 0
  let many = harness.time(1) { _ in
    round += 1
    for leaf in leaves { leaf.value = round }
    loop.flush()
  }
  check(calls == round * 10_000, "each of 10,000 objects is heard")
  harness.add("10,000 objects, one flush", "Observables", many / 1e6, unit: "ms", limit: 0.4)
  let subjects = (0..<10_000).map { _ in SubjectLeaf() }
  let sinks = subjects.map { $0.value.sink { _ in heard += 1 } }
  let combine = harness.time(1) { _ in
    round += 1
    for subject in subjects { subject.value.value = round }
  }
  for sink in sinks { sink.cancel() }
  harness.add(
    "10,000 objects, one flush", "OpenCombine, not coalesced", combine / 1e6, unit: "ms")
}

/// Counts calls from a sendable closure.
private final class Counter: @unchecked Sendable {
  // Only the benchmark's thread uses it.
  var count = 0
}
