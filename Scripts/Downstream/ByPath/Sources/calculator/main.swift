import Lua

let state = try LuaState(libraries: [.base, .math, .string, .table])
let answer = try state.run("return 6 * 7", as: Int.self)
print(answer)

try state.globals.set("rate", to: 1.25)
try state.globals.set("prices", to: ["tea": 4, "honey": 6])
try state.run(
  """
  function gross(name)
    local price = prices[name] or error("no price for " .. name)
    return price * rate
  end
  """)
let gross: LuaFunction = try state.globals.get("gross")
print(try gross.call("tea", as: Double.self))

let half = try state.function("half") { (number: Double) in number / 2 }
try state.globals.set("half", to: half)
print(try state.run("return half(gross 'honey')", as: Double.self))

for text in ["return gross 'milk'", "return half 'a'", "return half("] {
  do {
    try state.run(text, name: "=input")
  } catch {
    print(error.code, "–", error.message)
  }
}

struct Order: Codable {
  var customer: String
  var items: [String]
}

let order = Order(customer: "Ada", items: ["tea", "honey"])
try state.globals.set("order", to: state.encode(order))
try state.run("table.insert(order.items, 'rice')")
let changed = try state.globals["order"].decode(Order.self)
print(changed.items)

let list = try state.run("return { 3, 1, 2 }", as: LuaTable.self)
list[4] = "four"
print(try list.length, try list.get(1, as: Int.self), try list.get(4, as: String.self))

state.memoryLimit = state.memoryInUse + 1_000_000
do {
  try state.run("local text = 'x' while true do text = text .. text end")
} catch {
  print(error.code)
}
