-- The shapes of graphs: which properties are computed, and how often.
local function chain(...)
  local nodes = {{"a", 1}}
  local before = "a"
  for i, name in ipairs {...} do
    nodes[i + 1] = {name, "sum", left = before, source = 1}
    before = name
  end
  return nodes
end

return {
  {"Z1", "a chain is computed when its end is read, each node once, and kept", 
    nodes = chain("b", "c", "d"),
    steps = {
      {"runs", {}}, {"valid", "d", false},
      {"read", "d", 4}, {"runs", {a = 1, b = 1, c = 1, d = 1}},
      {"read", "d", 4}, {"read", "b", 2}, {"runs", {a = 0}},
      {"valid", "a", true}, {"valid", "d", true},
    }},
  {"Z2", "a write at the start of a chain reaches its end at once",
    nodes = chain("b", "c", "d"),
    steps = {
      {"read", "d", 4}, {"runs", {b = 1, c = 1, d = 1}},
      {"write", "a", 10}, {"valid", "a", false}, {"valid", "d", false}, {"runs", {a = 0}},
      {"read", "d", 13}, {"runs", {a = 1, b = 1, c = 1, d = 1}},
      {"write", "a", 10}, {"valid", "d", true},
      {"write", "c", 0}, {"valid", "b", true}, {"valid", "c", false},
      {"read", "d", 12}, {"runs", {c = 1, d = 1}},
    }},
  {"Z3", "writes without reads between them compute nothing",
    nodes = chain("b", "c"),
    steps = {
      {"read", "c", 3}, {"runs", {b = 1, c = 1}},
      {"write", "a", 2}, {"write", "a", 3}, {"write", "b", 5}, {"write", "a", 4}, {"runs", {a = 0}},
      {"read", "b", 9}, {"runs", {a = 1, b = 1}},
      {"read", "c", 10}, {"runs", {c = 1}},
    }},
  {"Z4", "the end of a diamond is computed once and calls once",
    nodes = {
      {"a", 1}, {"b", "sum", left = "a"}, {"c", "sum", left = "a", source = 10},
      {"d", "sum", left = "b", right = "c"},
    },
    steps = {
      {"watch", "w", "d"}, {"runs", {b = 1, c = 1, d = 1}},
      {"write", "a", 2}, {"runs", {}}, {"flush", "w"}, {"runs", {a = 1, b = 1, c = 1, d = 1}},
      {"read", "d", 14}, {"flush", ""}, {"runs", {}},
      {"write", "c", 20}, {"flush", "w"}, {"runs", {a = 0, c = 1, d = 1}}, {"read", "d", 24},
    }},
  {"Z4", "a jagged diamond, with sides of unequal length",
    nodes = {
      {"a", 1}, {"b", "sum", left = "a"}, {"c", "sum", left = "b"}, {"d", "sum", left = "c"},
      {"e", "sum", left = "a"}, {"f", "sum", left = "d", right = "e"},
      {"g", "sum", left = "f"}, {"h", "sum", left = "f", right = "a"},
    },
    steps = {
      {"watch", "u", "g"}, {"watch", "v", "h"},
      {"runs", {b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1}},
      {"write", "a", 2}, {"flush", "u v"},
      {"runs", {b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1}},
      {"read", "g", 4}, {"read", "h", 6}, {"runs", {}},
      {"write", "e", 7}, {"flush", "u v"}, {"runs", {e = 1, f = 1, g = 1, h = 1}},
    }},
  {"Z4", "a triangle: every node of a chain is read by the last",
    nodes = {
      {"a", 1}, {"b", "sum", left = "a"}, {"c", "sum", left = "b"}, {"d", "sum", left = "c"},
      {"e", "sum", inputs = {"a", "b", "c", "d"}},
    },
    steps = {
      {"watch", "w", "e"}, {"runs", {b = 1, c = 1, d = 1, e = 1}}, {"read", "e", 4},
      {"write", "a", 3}, {"flush", "w"}, {"runs", {a = 1, b = 1, c = 1, d = 1, e = 1}},
      {"read", "e", 12},
      {"write", "d", 1}, {"flush", "w"}, {"runs", {a = 0, d = 1, e = 1}}, {"read", "e", 13},
    }},
  {"Z10", "a node that is read many times by one is one dependency",
    nodes = {{"a", 1}, {"b", "sum", left = "a", right = "a", inputs = {"a", "a", "a"}}},
    steps = {
      {"watch", "w", "b"}, {"read", "b", 5}, {"runs", {b = 1}},
      {"write", "a", 2}, {"flush", "w"}, {"runs", {a = 1, b = 1}}, {"read", "b", 10},
      {"remove", "b", 2}, {"flush", "w"}, {"read", "b", 8}, {"runs", {a = 0, b = 1}},
      {"write", "a", 3}, {"flush", "w"}, {"read", "b", 12}, {"runs", {a = 1, b = 1}},
    }},
  {"Z4", "an equal new value does not spread",
    nodes = {
      {"a", 1}, {"s", "sign", left = "a"}, {"t", "sum", left = "s"}, {"u", "sum", left = "t"},
    },
    steps = {
      {"watch", "w", "u"}, {"runs", {s = 1, t = 1, u = 1}},
      {"write", "a", 2}, {"flush", ""}, {"runs", {a = 1, s = 1}},
      {"write", "a", 3}, {"write", "a", 4}, {"flush", ""}, {"runs", {a = 1, s = 1}},
      {"write", "a", -4}, {"flush", "w"}, {"runs", {a = 1, s = 1, t = 1, u = 1}},
      {"read", "u", -1},
    }},
  {"Z2", "an equal new value does not spread, unwatched",
    nodes = {{"a", 1}, {"s", "sign", left = "a"}, {"t", "sum", left = "s"}},
    steps = {
      {"read", "t", 1}, {"runs", {s = 1, t = 1}},
      {"write", "a", 2}, {"read", "t", 1}, {"runs", {a = 1, s = 1}},
      {"write", "a", 0}, {"read", "t", 0}, {"runs", {a = 1, s = 1, t = 1}},
    }},
  {"T5", "a change there and back in one turn calls no watcher",
    nodes = chain("b", "c"),
    steps = {
      {"watch", "w", "c"}, {"write", "a", 5}, {"write", "a", 1}, {"flush", ""}, {"read", "c", 3},
      {"write", "a", 5}, {"read", "c", 7}, {"write", "a", 1}, {"read", "c", 3}, {"flush", ""},
      {"write", "a", 2}, {"flush", "w"},
    }},
  {"Z10", "a branch that is not taken is not a tracked dependency",
    unless = "is_mixed",
    nodes = {
      {"a", 1}, {"x", 5}, {"r", "sum", left = "x"},
      {"c", "choose", left = "a", right = "r", source = 7},
    },
    steps = {
      {"watch", "w", "c"}, {"read", "c", 5}, {"runs", {r = 1, c = 1}},
      {"write", "c", 8}, {"flush", ""}, {"runs", {c = {declared = 1, tracked = 0}}},
      {"write", "x", 6}, {"flush", "w"}, {"runs", {r = 1, c = 1}}, {"read", "c", 6},
      {"write", "a", 0}, {"flush", "w"}, {"runs", {c = 1}}, {"read", "c", 8},
      {"write", "x", 7}, {"flush", ""}, {"runs", {r = {declared = 1, tracked = 0},
        c = {declared = 1, tracked = 0}}},
      {"write", "c", 9}, {"flush", "w"}, {"runs", {c = 1}}, {"read", "c", 9},
      {"write", "a", 2}, {"flush", "w"}, {"runs", {r = {declared = 0, tracked = 1}, c = 1}},
      {"read", "c", 7},
      {"write", "x", 8}, {"flush", "w"}, {"read", "c", 8},
    }},
  {"Z10", "dependencies switch at every write",
    nodes = {
      {"a", 1}, {"x", 5}, {"y", 6}, {"c", "choose", left = "a", right = "x"},
      {"d", "choose", left = "a", right = "c", source = 3},
    },
    steps = {
      {"watch", "w", "d"}, {"read", "d", 5},
      {"write", "a", 0}, {"flush", "w"}, {"read", "d", 3},
      {"write", "a", 1}, {"flush", "w"}, {"read", "d", 5},
      {"write", "a", 0}, {"write", "x", 9}, {"flush", "w"}, {"read", "d", 3},
      {"link", "c", "right", "y"}, {"write", "a", 4}, {"flush", "w"}, {"read", "d", 6},
      {"write", "x", 10}, {"flush", ""},
      {"write", "y", 11}, {"flush", "w"}, {"read", "d", 11},
    }},
  {"Z3", "half of a graph is read: the other half is not computed",
    nodes = {
      {"a", 1}, {"b", "sum", left = "a"}, {"c", "sum", left = "b"}, {"d", "sum", left = "b"},
      {"e", "sum", left = "d"},
    },
    steps = {
      {"watch", "w", "c"}, {"runs", {b = 1, c = 1}},
      {"write", "a", 2}, {"flush", "w"}, {"runs", {b = 1, c = 1}}, {"valid", "e", false},
      {"read", "e", 2}, {"runs", {d = 1, e = 1}},
      {"write", "a", 3}, {"valid", "e", false}, {"flush", "w"}, {"runs", {a = 1, b = 1, c = 1}},
      {"read", "e", 3}, {"runs", {d = 1, e = 1}},
    }},
  {"Z2", "a broad graph: many nodes of one",
    nodes = {
      {"a", 1}, {"b1", "sum", left = "a"}, {"b2", "sum", left = "a"}, {"b3", "sum", left = "a"},
      {"c1", "sum", left = "b1"}, {"c2", "sum", left = "b2"}, {"c3", "sum", left = "b3"},
    },
    steps = {
      {"watch", "w1", "c1"}, {"watch", "w2", "c2"}, {"watch", "w3", "c3"},
      {"runs", {b1 = 1, b2 = 1, b3 = 1, c1 = 1, c2 = 1, c3 = 1}},
      {"write", "a", 2}, {"flush", "w1 w2 w3"},
      {"runs", {a = 1, b1 = 1, b2 = 1, b3 = 1, c1 = 1, c2 = 1, c3 = 1}},
      {"stop", "w2"}, {"write", "a", 3}, {"flush", "w1 w3"},
      {"runs", {a = 1, b1 = 1, b3 = 1, c1 = 1, c3 = 1}},
      {"write", "b2", 1}, {"flush", ""}, {"read", "c2", 4}, {"runs", {a = 0, b2 = 1, c2 = 1}},
    }},
  {"Z11", "a ring is an error that names its members, not a hang",
    nodes = {
      {"a", "sum", left = "c"}, {"b", "sum", left = "a"}, {"c", "sum", left = "b"},
      {"d", "sum", left = "a"}, {"x", 1},
    },
    steps = {
      {"fails", "a", "value → value → value → value"}, {"fails", "c", "value → value"},
      {"fails", "d", "value → value"}, {"valid", "a", false}, {"valid", "d", false},
      {"link", "a", "left", "x"}, {"read", "d", 1}, {"read", "c", 1},
      {"link", "a", "left", "c"}, {"fails", "d", "value → value"},
      {"link", "b", "left", "x"}, {"read", "d", 1}, {"valid", "c", true},
    }},
  {"Z11", "a node that reads itself",
    nodes = {{"a", "sum", source = 2}, {"b", "sum", left = "a"}},
    steps = {
      {"read", "b", 2}, {"link", "a", "left", "a"}, {"fails", "a", "value → value"},
      {"fails", "b", "value → value"}, {"link", "a", "left", false}, {"read", "b", 2},
    }},
  {"Z11", "a ring through a branch that is not taken is not an error", only = "tracked",
    nodes = {
      {"x", 0}, {"a", "choose", left = "x", right = "b", source = 3}, {"b", "sum", left = "a"},
    },
    steps = {
      {"read", "b", 3}, {"write", "x", 1}, {"fails", "b", "value → value"},
      {"write", "x", 0}, {"read", "b", 3},
    }},
}
