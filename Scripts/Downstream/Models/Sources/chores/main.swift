import ObservableModels

@ObservableModel final class Person {
  var name: String

  init(_ name: String) { self.name = name }
}

@ObservableModel final class Chore {
  var title: String
  var isDone = false
  var owner: Person?

  init(_ title: String) { self.title = title }
}

let loop = Loop()
let dishes = Chore("dishes")

dishes.observe(#path(\.owner?.name)) { chore in
  print("\(chore.title): \(chore.owner?.name ?? "nobody")")
}

loop.turn {
  dishes.owner = Person("Ada")
  dishes.owner?.name = "Ada Lovelace"
}
loop.turn { dishes.owner = nil }

@ObservableModel final class Household {
  let chores: ObservableArray<Chore> = []

  @Computed("chores.isDone") var summary: String
  private func makeSummary() -> String {
    "\(chores.filter(\.isDone).count) of \(chores.count) done"
  }
}

let household = Household()
try household.observe("summary") { print($0.summary) }

let shopping = Chore("shopping")
loop.turn { household.chores.append(contentsOf: [dishes, shopping]) }
loop.turn { dishes.isDone = true }
loop.turn { (dishes.isDone, shopping.isDone) = (false, true) }

let titles = try household.value(at: #path(\.chores.unionOfObjects.title))
let isAllDone = try household.value(at: #path(\.chores.all.isDone))
print(titles.joined(separator: ", "), isAllDone)

household.observe(#path(\.chores.every.owner?.name), #path(\.chores.count)) { _ in
  print("other owners")
}
loop.turn { shopping.owner = Person("Grace") }

do {
  try household.observe("summery") { _ in }
} catch {
  print(error)
}
