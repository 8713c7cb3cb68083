-- Errors in the middle of a graph.
return {
  {"Z8", "an error in the middle is raised for each reader of the end, every time",
    nodes = {
      {"a", -1}, {"b", "root", left = "a"}, {"c", "sum", left = "b"}, {"d", "sum", left = "c"},
    },
    steps = {
      {"fails", "d", "no root of -1"}, {"runs", {b = 1, c = 1, d = 1}},
      {"valid", "b", false}, {"valid", "d", false}, {"valid", "a", true},
      {"fails", "d", "no root of -1"}, {"fails", "b", "no root of -1"},
      {"write", "a", 4}, {"read", "d", 4}, {"valid", "b", true}, {"valid", "d", true},
      {"write", "a", -4}, {"valid", "d", false}, {"fails", "d", "no root of -4"},
      {"write", "a", 5}, {"read", "d", 5},
    }},
  {"Z8", "a node that handles the error computes, also when the former value is back",
    nodes = {
      {"a", -1}, {"b", "root", left = "a"}, {"e", "sum", left = "b"}, {"c", "careful", left = "e"},
      {"d", "sum", left = "c"},
    },
    steps = {
      {"read", "d", -1000}, {"valid", "c", true}, {"valid", "b", false},
      {"write", "a", 3}, {"read", "d", 3},
      {"write", "a", -3}, {"read", "d", -1000}, {"write", "a", 3}, {"read", "d", 3},
      {"write", "a", -3}, {"read", "d", -1000},
      {"write", "a", -2}, {"read", "d", -1000}, {"set", "b", 2}, {"read", "d", 2},
      {"write", "a", -4}, {"read", "d", -1000}, {"set", "e", 2}, {"read", "d", 2},
      {"write", "a", 2}, {"read", "d", 2},
      {"watch", "w", "d"}, {"write", "a", -1}, {"flush", "w"}, {"read", "d", -1000},
      {"write", "a", 2}, {"flush", "w"}, {"read", "d", 2},
      {"write", "a", -1}, {"write", "a", 2}, {"flush", ""},
    }},
  {"Z8", "watched, it is reported once for each change, and the watcher stays",
    nodes = {{"a", 1}, {"b", "root", left = "a"}, {"c", "sum", left = "b"}},
    steps = {
      {"watch", "w", "c"}, {"write", "a", -1}, {"flush", ""}, {"reported", 1},
      {"flush", ""}, {"reported", 0},
      {"write", "a", 2}, {"flush", "w"}, {"read", "c", 2}, {"reported", 0},
      {"write", "a", -2}, {"flush", ""}, {"reported", 1},
      -- The value that was delivered last.
      {"write", "a", 2}, {"flush", ""}, {"reported", 0}, {"active", "w", true},
      {"write", "a", 3}, {"flush", "w"},
    }},
  {"Z8", "at registration it is reported, and the watcher stays",
    nodes = {{"a", -1}, {"b", "root", left = "a"}, {"c", "sum", left = "b"}},
    steps = {
      {"watch", "w", "c"}, {"reported", 1}, {"active", "w", true},
      {"write", "a", 2}, {"flush", "w"}, {"read", "c", 2}, {"write", "a", 3}, {"flush", "w"},
    }},
  {"Z8", "an error in one side of a diamond leaves the other computed",
    nodes = {
      {"a", -1}, {"b", "sum", left = "a"}, {"c", "root", left = "a"},
      {"d", "sum", left = "b", right = "c"},
    },
    steps = {
      {"fails", "d", "no root"}, {"valid", "b", true}, {"runs", {b = 1, c = 1, d = 1}},
      {"write", "a", 1}, {"read", "d", 2}, {"runs", {a = 1, b = 1, c = 1, d = 1}},
    }},
  {"Z5", "overriding the node with the error heals the end",
    nodes = {{"a", -1}, {"b", "root", left = "a"}, {"c", "sum", left = "b"}},
    steps = {
      {"fails", "c", "no root"}, {"set", "b", 9}, {"read", "c", 9}, {"runs", {b = 1, c = 2}},
      {"invalidate", "b"}, {"fails", "c", "no root"},
    }},
}
