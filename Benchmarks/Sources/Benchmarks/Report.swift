/// Prints the rows as one table, grouped by concept.
func report(_ rows: [Row]) {
  var concepts: [String] = []
  for row in rows where !concepts.contains(row.concept) { concepts.append(row.concept) }
  print("| What | | Measured | Hold | |")
  print("|---|---|---:|---|---|")
  for concept in concepts {
    for row in rows where row.concept == concept {
      let holds = row.limit.map { row.value <= $0.value ? "holds" : "misses" } ?? ""
      print(
        "| \(row.concept) | \(row.name) | \(formatted(row.value)) \(row.unit) "
          + "| \(row.limit?.text ?? "") | \(holds) |")
    }
  }
}
