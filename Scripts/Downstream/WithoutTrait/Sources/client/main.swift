import ObservableModels

@ObservableModel final class Person {
  var name = ""
}

Person().observe(#path(\.name)) { print($0.name) }
