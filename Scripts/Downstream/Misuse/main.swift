// `Scripts/downstream` compiles it for release, with the library's file that ends programs.
func remove(_ count: Int, of list: [Int]) {
  precondition(count <= list.count, "Cannot remove \(count) elements of \(list.count)")
  print("removed")
}

remove(CommandLine.arguments.count, of: [])
