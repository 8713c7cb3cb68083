import Observables
import Testing

@testable import TreeMirrors
@testable import mirror_simulation

/// A4: batches of two processes that move, remove and insert elements of the same lists.
@Suite struct `Moves in mirrors` {
  /// "1 2 / =3 / -" are a list of the objects 1 and 2, one of the value 3, and no third list.
  private static let lists = """
    local keys = { "a", "b", "c" }
    -- Makes the lists those of a text, with the objects that are there.
    function change(text)
      local known, place = {}, 0
      for _, key in ipairs(keys) do
        for _, element in ipairs(root[key] or {}) do
          if type(element) == "table" then known[element.name] = element end
        end
      end
      for part in (text .. "/"):gmatch "([^/]*)/" do
        place = place + 1
        local list, new = root[keys[place]] or {}, {}
        for name in part:gmatch "%S+" do
          local value = math.tointeger(tonumber(name:match "^=(.*)"))
          new[#new + 1] = value or known[name] or { name = name }
        end
        for i = #list, #new + 1, -1 do list[i] = nil end
        for i = 1, #new do list[i] = new[i] end
        root[keys[place]] = not part:find "-" and list or nil
      end
    end
    function lists()
      local parts = {}
      for i, key in ipairs(keys) do
        local names = {}
        for j, element in ipairs(root[key] or { { name = "-" } }) do
          names[j] = type(element) == "table" and element.name or "=" .. element
        end
        parts[i] = table.concat(names, " ")
      end
      return table.concat(parts, " / ")
    end
    """

  @Test(arguments: [
    // A removal, and a sort that passes the element.
    ("1 5 4 2 3 / / ", "1 4 2 3 / / ", "1 2 3 4 5 / / ", "1 2 3 4 /  / "),
    ("1 2 3 / / ", "1 3 / 2 / ", "2 1 3 / / ", "1 3 / 2 / "),
    // Two moves of the same object: the first one stays.
    ("1 2 / / ", "2 / 1 / ", "2 / / 1", "2 / 1 / "),
    // Two lists exchange elements, of which one has gone.
    ("1 / 2 / ", " / 2 / ", "2 / 1 / ", "2 /  / "),
    ("1 / 2 / 3", "1 / 2 / ", "2 / 3 / 1", "2 /  / 1"),
    // The list that an object was moved to has gone, so the object goes back.
    ("1 2 / 3 / ", "1 2 / - / ", "2 / 3 1 / ", "1 2 / - / "),
    // A new element in the place of one that has gone.
    ("1 2 / / ", "2 / / ", "3 2 / / ", "3 2 /  / "),
    // Values are sorted if they are all there, and otherwise stay as they are.
    ("=3 =1 =2 / / ", "=1 =2 / / ", "=1 =2 =3 / / ", "=1 =2 /  / "),
    ("=3 =1 =2 / / ", "=3 =1 / / ", "=1 =2 =3 / / ", "=1 =3 /  / "),
    ("=3 =1 =2 =9 / / ", "=3 =1 =2 =8 / / ", "=1 =2 =3 =9 / / ", "=1 =2 =3 =8 /  / "),
    ("=0 =0 =1 / / ", "=0 =7 =1 / / ", "=1 =0 =0 / / ", "=1 =7 =0 /  / "),
  ])
  func `what nobody removed stays`(before: String, first: String, second: String, after: String)
    throws
  {
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let replicas = try (0..<2).map { _ in
      let replica = try Replica(on: loop, at: network.url, through: network, "{ root = {} }")
      try replica.run(Self.lists)
      try settle([replica])
      return replica
    }
    try replicas[0].run("change '\(before)'")
    try settle(replicas)
    // Neither copy knows of the other's change, and the first change arrives first.
    try replicas[0].run("change '\(first)'")
    try replicas[1].run("change '\(second)'")
    try settle(replicas)
    for replica in replicas { #expect(try replica.text("lists()") == after) }
  }

  // A7: a server may have lost the batch that made a list.
  @Test func `a batch may reorder a list that nobody knows`() throws {
    let (one, other) = (MirrorDocument(), MirrorDocument())
    let list = one.makeNode(.plain, model: [], handle: 1)
    let batch = one.add([
      .reorder(
        list, [.remove(list, at: 0, old: .integer(1)), .insert(list, at: 1, .integer(1))])
    ])
    #expect(try other.batch(from: one.bytes(of: batch)).operations.count == 1)
  }
}
