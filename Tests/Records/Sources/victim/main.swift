import ObservableRecords

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

// A program to be killed: in each turn it moves things between boxes, and counts.

@ObservableModel final class Box: ObservableRecord {
  var id: Int64?
  var name: String
  @HasMany(\Thing.boxID) var things: ObservableArray<Thing>
  @Computed("things.@sum.weight") @Stored var weight: Int
  private func makeWeight() -> Int { things.reduce(0) { $0 + $1.weight } }
}

@ObservableModel final class Thing: ObservableRecord {
  var id: Int64?
  var weight: Int
  var turn: Int
  var boxID: Int64
}

@ObservableModel final class Counter: ObservableRecord {
  var id: Int64?
  var turns: Int
}

func makeTables(_ db: Database) throws {
  try db.execute(
    sql: """
      CREATE TABLE IF NOT EXISTS box(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, weight INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE IF NOT EXISTS thing(
        id INTEGER PRIMARY KEY, weight INTEGER NOT NULL, turn INTEGER NOT NULL,
        boxID INTEGER NOT NULL REFERENCES box(id));
      CREATE TABLE IF NOT EXISTS counter(id INTEGER PRIMARY KEY, turns INTEGER NOT NULL);
      """)
}

let loop = Loop()
let isPool = CommandLine.arguments.count > 2
let path = CommandLine.arguments[1]
let database: any DatabaseWriter =
  isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
try database.write(makeTables)
let store = try RecordStore(database, loop: loop, records: [Box.self])
store.onError = { error in
  print("error: \(error)")
  exit(1)
}

var boxes = try store.fetch(Box.order(Column("id")))
let counter: Counter
if let known = try store.find(Counter.self, 1) {
  counter = known
} else {
  counter = Counter(id: 1, turns: 0)
  try loop.turn {
    try store.insert(counter)
    for name in ["a", "b", "c"] {
      let box = Box(name: name)
      try store.insert(box)
      boxes.append(box)
    }
    for _ in 0..<30 {
      boxes[0].things.append(Thing(weight: 10, turn: 0, boxID: 0))
    }
  }
  try store.save()
}

var turn = counter.turns
loop.every(0.0001) {
  turn += 1
  counter.turns = turn
  // Weight moves from one thing to another, a thing moves to another box, a thing splits, or two
  // things merge: the sum stays the same.
  let things = boxes.flatMap { $0.things.elements }.filter { $0.id != nil }
  guard things.count > 2 else { return }
  let (one, other) = (things[turn % things.count], things[(turn * 7 + 3) % things.count])
  if one !== other {
    one.weight -= 1
    other.weight += 1
  }
  let target = boxes[turn % 3]
  if one.boxID != target.id {
    boxes.first { $0.id == one.boxID }?.things.removeValue(one)
    target.things.append(one)
  }
  one.turn = turn
  if turn % 5 == 0, one.weight > 2 {
    let half = one.weight / 2
    one.weight -= half
    target.things.append(Thing(weight: half, turn: turn, boxID: 0))
  } else if turn % 5 == 3, things.count > 20, one !== other {
    one.weight += other.weight
    store.delete(other)
  }
  // Written without a buffer, as a sign for the test that kills the process.
  var sign = UInt8(ascii: "t")
  write(STDOUT_FILENO, &sign, 1)
}
loop.run()
