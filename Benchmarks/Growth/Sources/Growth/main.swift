import CCounter
import Observables

// Growth small large name…: measures the rows of Rows.swift. Without names, it lists them.
let operations = 4
let sizes = CommandLine.arguments[1...2].map { Int($0)! }
let wanted = Set(CommandLine.arguments.dropFirst(3))
if wanted.isEmpty { for name in Set(rows.map(\.name)).sorted() { print(name) } }
for row in rows where wanted.contains(row.name) {
  for size in sizes {
    let loop = Loop()
    let operate = try row.make(size, loop)
    for i in 1...2 {
      try operate(i)
      loop.flush()
    }
    counter_begin()
    for i in 3..<(3 + operations) {
      try operate(i)
      loop.flush()
    }
    counter_end("\(row.name)\t\(row.size)\t\(row.order)\t\(size)\t\(operations)")
  }
}
